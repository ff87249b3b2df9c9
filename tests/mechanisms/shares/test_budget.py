"""How ε is divided, what is asked with the parts, and the cells of the profile: public numbers, for every ε."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.core.share_profile import share
from locentropy.mechanisms.shares.measurements import (
    SIZE_OCTAVES,
    TABLE,
    UNIT,
    VISIT_OCTAVES,
    VISIT_THRESHOLDS,
    ShareBudget,
    ShareQueries,
)
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import OpenDPNoise, laplace_epsilon
from tests.examples import examples
from tests.mechanisms.recording import CrowdQueries

epsilons = st.floats(1e-4, 1000.0) | st.sampled_from(
    [1e-4, 0.1, 0.3, 1 / 3, 1, 2, 2.0000000000000004, 10, 1000]
)
usable = st.floats(1e-3, 1000.0)


class TestBudget:
    @given(epsilons | st.fractions(Fraction(1, 10_000), 1000))
    def test_parts_are_positive_and_add_up_exactly(self, epsilon: float | Fraction) -> None:
        parts = ShareBudget.of(epsilon)
        assert parts.look + parts.profile + parts.split == exact(epsilon)
        assert min(parts.look, parts.profile, parts.split) > 0
        assert parts.look > exact(epsilon) / 2

    @given(epsilons.filter(lambda epsilon: epsilon >= 0.001))  # Shares refuses less
    def test_parts_are_what_the_promise_is_made_of(self, epsilon: float) -> None:
        """ε as it was written: one tenth, not the float next to it."""
        parts = ShareBudget.of(epsilon)
        assert parts.look + parts.profile + parts.split == Shares(epsilon).guarantee.epsilon

    @given(epsilons, epsilons)
    def test_more_budget_is_more_for_each(self, one: float, other: float) -> None:
        less, more = (ShareBudget.of(epsilon) for epsilon in sorted([one, other]))
        assert less.look <= more.look
        assert less.profile <= more.profile
        assert less.split <= more.split

    def test_values_at_one(self) -> None:
        parts = ShareBudget.of(1)
        assert (parts.look, parts.profile, parts.split) == (
            1 - Fraction(8, 100) - Fraction(16, 109),
            Fraction(8, 100),
            Fraction(16, 109),
        )


class TestScales:
    @given(usable)
    @settings(max_examples=examples(25))
    def test_noise_is_as_much_as_the_parts_demand_and_no_more(self, epsilon: float) -> None:
        """By OpenDP's own map."""
        parts = ShareBudget.of(epsilon)
        demands = [(UNIT, parts.look), (2 * UNIT, parts.profile), (UNIT * TABLE.sensitivity, parts.split)]
        for (sensitivity, part), scale in zip(demands, ShareQueries(epsilon).scales, strict=True):
            assert laplace_epsilon(sensitivity, scale) <= part
            assert laplace_epsilon(sensitivity, scale * (1 - 1e-12)) > part

    @pytest.mark.parametrize("epsilon", [1e-6, 1e-12, 1e-300, 10**400])
    def test_an_impossible_budget_is_refused_before_anything_is_asked(self, epsilon: float) -> None:
        queries = CrowdQueries([{1: 3}, {2: 1}])
        with pytest.raises(ParameterError):
            Shares(epsilon).estimate(
                Shares(epsilon).measure(queries, Locations(queries.locations), OpenDPNoise()),
                Locations(queries.locations),
            )
        assert queries.asked == []


def cell(thresholds: tuple[int, ...], value: int) -> int:
    return int(np.searchsorted(thresholds, value, side="right"))


class TestCells:
    @given(epsilons)
    def test_thresholds_of_sizes_are_ascending_integers(self, epsilon: float) -> None:
        thresholds = ShareQueries(epsilon).size_thresholds
        assert len(thresholds) == SIZE_OCTAVES - 1
        assert all(type(each) is int and each >= 1 for each in thresholds)
        assert all(low < high for low, high in pairwise(thresholds))

    def test_thresholds_of_visits(self) -> None:
        assert len(VISIT_THRESHOLDS) == VISIT_OCTAVES - 1
        ends = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
        for visits in range(1, 3000):
            octave = max(at for at, end in enumerate(ends) if visits > end)
            assert cell(VISIT_THRESHOLDS, visits) == octave

    @given(epsilons)
    def test_the_largest_share_is_that_of_m_places(self, epsilon: float) -> None:
        questions = ShareQueries(epsilon)
        assert questions.cap == max(1, exact(epsilon) / 2)
        assert questions.largest <= UNIT / questions.cap < questions.largest + 1
        assert 1 <= questions.largest <= UNIT

    @given(epsilons, st.integers(1, 2 * UNIT) | st.integers(1, 5000))
    def test_who_has_few_places_is_in_an_early_cell(self, epsilon: float, places: int) -> None:
        """Up to M places in the first, up to 2M no later than in the second, …; and never before who has fewer."""
        questions = ShareQueries(epsilon)
        mine, more = (
            SIZE_OCTAVES - 1 - cell(questions.size_thresholds, each)
            for each in share(np.array([places, places + 1]), UNIT, questions.largest).tolist()
        )
        octave = math.ceil(math.log2(places / questions.cap) - 1e-12) if places > questions.cap else 0
        if questions.cap < 64:  # beyond, thresholds of many places had to be moved apart
            assert mine <= min(octave, SIZE_OCTAVES - 1)
        assert mine <= more

    def test_at_small_budgets_they_are_users_by_octaves_of_places(self) -> None:
        questions = ShareQueries(1)
        sizes = np.arange(1, 20_000)
        shares = share(sizes, UNIT, questions.largest).tolist()
        found = [SIZE_OCTAVES - 1 - cell(questions.size_thresholds, each) for each in shares]
        wanted = [min((places - 1).bit_length(), SIZE_OCTAVES - 1) for places in sizes.tolist()]
        assert [places for places, a, b in zip(sizes.tolist(), found, wanted, strict=True) if a != b] == []
