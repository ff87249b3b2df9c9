"""How ε or ρ is divided, what is asked with the parts, and the cells of the histograms: public numbers, for every ε."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.mechanisms.shares.budget import ShareBudget
from locentropy.mechanisms.shares.levels import public_levels
from locentropy.mechanisms.shares.measurements import UNIT, ShareQueries
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.mechanisms.shares.stages import (
    LOOK_WEIGHTS,
    SIZE_OCTAVES,
    SPLIT_WEIGHTS,
    VISIT_OCTAVES,
    VISIT_THRESHOLDS,
)
from locentropy.privacy.concentrated import admissible_rho
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import OpenDPNoise, gaussian_rho, laplace_epsilon
from tests.examples import examples
from tests.mechanisms.recording import CrowdQueries

epsilons = st.floats(1e-3, 1000.0) | st.sampled_from(
    [1e-3, 0.1, 0.3, 1 / 3, 1, 2, 2.0000000000000004, 10, 1000]
)
deltas = st.sampled_from([1e-12, 1e-8, 1e-6, 0.01])
attributes = st.integers(0, 8)


def parts(budget: ShareBudget) -> list[Fraction]:
    return [budget.look, budget.sizes, budget.visits, budget.split, *[budget.sums] * budget.attributes]


class TestBudget:
    @given(epsilons | st.fractions(Fraction(1, 1000), 1000), attributes)
    def test_parts_of_epsilon_are_positive_and_add_up_exactly(
        self, epsilon: float | Fraction, many: int
    ) -> None:
        """ε as it was written: one tenth, not the float next to it."""
        budget = ShareQueries(epsilon, 0, many).budget
        assert sum(parts(budget)) == exact(epsilon)
        assert min(parts(budget)) > 0
        if isinstance(epsilon, float):
            assert sum(parts(budget)) == Shares(epsilon).guarantee.epsilon

    @given(epsilons, deltas, attributes)
    def test_parts_of_rho_are_positive_and_add_up_exactly(
        self, epsilon: float, delta: float, many: int
    ) -> None:
        budget = ShareQueries(epsilon, delta, many).budget
        assert sum(parts(budget)) == admissible_rho(epsilon, delta)
        assert min(parts(budget)) > 0

    @given(epsilons, epsilons, st.sampled_from([0, 1e-8]))
    def test_more_budget_is_more_for_the_look(self, one: float, other: float, delta: float) -> None:
        less, more = (ShareQueries(epsilon, delta).budget for epsilon in sorted([one, other]))
        assert less.look <= more.look * (1 + Fraction(1, 10**10))

    @given(epsilons, st.sampled_from([0, 1e-8]), attributes)
    def test_sums_are_asked_below_one_only_and_never_take_most(
        self, epsilon: float, delta: float, many: int
    ) -> None:
        asking = ShareQueries(epsilon, delta, many)
        budget = asking.budget
        assert ("sums" in asking.names) == (epsilon < 1 and many > 0)
        assert budget.attributes * budget.sums <= Fraction(3, 2) * budget.look + Fraction(1, 10**12)


class TestScales:
    @given(epsilons, attributes)
    @settings(max_examples=examples(25))
    def test_laplace_noise_is_as_much_as_the_parts_demand_and_no_more(
        self, epsilon: float, many: int
    ) -> None:
        """By OpenDP's own map."""
        asking = ShareQueries(epsilon, 0, many)
        for name, scale in asking.scales.items():
            part = getattr(asking.budget, name)
            assert laplace_epsilon(UNIT, scale) <= part
            assert laplace_epsilon(UNIT, scale * (1 - 1e-12)) > part

    @given(epsilons, deltas, attributes)
    @settings(max_examples=examples(25))
    def test_gaussian_noise_is_as_much_as_the_parts_demand_and_no_more(
        self, epsilon: float, delta: float, many: int
    ) -> None:
        asking = ShareQueries(epsilon, delta, many)
        for name, scale in asking.scales.items():
            part = getattr(asking.budget, name)
            assert Fraction(gaussian_rho(UNIT, scale)) <= part
            assert Fraction(UNIT) ** 2 / (2 * Fraction(scale) ** 2) <= part, (
                "and by the theorem, as fractions"
            )
            assert Fraction(gaussian_rho(UNIT, math.nextafter(scale, 0.0))) > part

    @pytest.mark.parametrize("epsilon", [1e-6, 1e-12, 1e-300, 10**400])
    @pytest.mark.parametrize("delta", [0.0, 1e-8])
    def test_an_impossible_budget_is_refused_before_anything_is_asked(
        self, epsilon: float, delta: float
    ) -> None:
        queries = CrowdQueries([{1: 3}, {2: 1}])
        with pytest.raises(ParameterError):
            Shares(epsilon, delta=delta).measure(queries, Locations(queries.locations), OpenDPNoise())
        assert queries.asked == []

    @pytest.mark.parametrize("delta", [-1e-8, 1.0, 2.0, math.nan, math.inf, "x", True])
    def test_a_delta_that_is_none_is_refused(self, delta: object) -> None:
        with pytest.raises(ParameterError):
            Shares(1.0, delta=delta)  # type: ignore[arg-type]


def cell(thresholds: tuple[int, ...], value: int) -> int:
    return sum(value >= each for each in thresholds)


class TestCells:
    @given(epsilons, st.sampled_from([0, 1e-8]))
    def test_thresholds_of_sizes_are_ascending_integers(self, epsilon: float, delta: float) -> None:
        thresholds = ShareQueries(epsilon, delta).size_thresholds
        assert len(thresholds) == SIZE_OCTAVES - 1
        assert all(type(each) is int and each >= 2 for each in thresholds)
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
        assert ShareQueries(epsilon, 1e-8).largest == UNIT

    @given(epsilons, st.integers(1, 10**6))
    def test_octaves_of_places_are_multiples_of_m(self, epsilon: float, places: int) -> None:
        questions = ShareQueries(epsilon)
        octave = cell(questions.size_thresholds, places)
        assert places <= questions.cap * 2**octave or octave == SIZE_OCTAVES - 1
        assert octave == 0 or places > questions.cap * 2 ** (octave - 1)


class TestPublicThings:
    def test_weights_are_what_they_say(self) -> None:
        assert all(w * w * v <= 2**30 < (w + 1) ** 2 * v for v, w in enumerate(LOOK_WEIGHTS, start=1))
        assert SPLIT_WEIGHTS == (0, 0, 1)

    def test_levels_are_those_of_the_list_with_unknown_as_one(self) -> None:
        locations = Locations(
            pa.array([1, 2, 3, 4]),
            attributes={"kind": pa.array(["cafe", None, "cafe", "park"]), "floor": pa.array([2, 2, 3, None])},
        )
        kind, floor = public_levels(locations)
        assert (kind.name, kind.of_place.tolist(), kind.count) == ("kind", [0, 1, 0, 2], 3)
        assert (floor.name, floor.of_place.tolist(), floor.count) == ("floor", [0, 0, 1, 2], 3)
        assert public_levels(Locations(pa.array([1, 2]))) == ()
