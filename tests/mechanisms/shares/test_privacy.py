"""The promise of Shares: its loss for the worst neighbours, exactly; that nothing but noise is read; planted faults."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core import share_profile
from locentropy.core.locations import Locations
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.shares import estimator, measurements, mechanism
from locentropy.mechanisms.shares.measurements import (
    SPLIT_MAX_VISITS,
    TABLE,
    UNIT,
    Answers,
    ShareBudget,
    ShareQueries,
)
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.guarantee import exact
from locentropy.privacy.moments import MomentsTable
from locentropy.privacy.noise import LARGEST_VALUE
from tests.examples import examples
from tests.mechanisms.recording import CrowdQueries
from tests.test_randomness_lint import randomness
from tests.visits.reference import Row
from tests.visits.test_shares import two_cells

from .recording import PlainQueries, Recorder, cost, leaks, noised, wrong_with

EPSILONS = (0.001, 0.1, 0.3, 1 / 3, 1.0, 1.7, 2.5, 5.0, 7.3, 10.0, 123.4)
PLACES = list(range(128))
HEAVIEST = int(np.abs(TABLE.rows).sum(axis=1).argmax()) + 1
"""The visits to a place for which a share counts most."""


def others(seed: int = 4) -> list[Row]:
    """People besides the one who comes or goes."""
    draw = random.Random(seed)
    return [
        Row(user, at, None, draw.choice([1, 1, 2, 3, 7, 8, 9, 500]))
        for user in range(20)
        for at in draw.sample(PLACES, draw.choice([1, 1, 2, 3, 10, 100]))
    ]


def neighbours(one: list[Row]) -> tuple[PlainQueries, PlainQueries]:
    """With and without one user."""
    return PlainQueries(others() + one, PLACES), PlainQueries(others(), PLACES)


def worst(epsilon: float) -> list[Row]:
    """A user whose shares add up to all of Q, with the visits that count most."""
    places = 1 << (max(1, -(-exact(epsilon) // 2)) - 1).bit_length()
    return [Row("somebody", at, None, HEAVIEST) for at in range(places)]


# --- the loss ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_worst_neighbours_cost_what_is_promised_and_no_more(epsilon: float) -> None:
    here, there = neighbours(worst(epsilon))
    found = cost(epsilon, here, there)
    assert found <= 1
    assert found > 1 - Fraction(1, 10**12)
    assert cost(epsilon, there, here) == found
    assert leaks(epsilon, here, there) == set()


@given(
    st.sampled_from(EPSILONS),
    st.lists(st.tuples(st.sampled_from(PLACES), st.integers(1, 12) | st.integers(1, 2**40)), min_size=1),
)
@settings(max_examples=examples(60))
def test_nobody_costs_more_than_promised(epsilon: float, visited: list[tuple[int, int]]) -> None:
    found = cost(epsilon, *neighbours([Row("somebody", at, None, visits) for at, visits in visited]))
    assert 0 < found <= 1


@pytest.mark.parametrize("unit", [1, 7, 16, 60])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 10.0])
def test_users_of_every_size_on_a_coarse_lattice(
    unit: int, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rounding down takes much, and who is at more places than there are lattice points has nothing."""
    monkeypatch.setattr(measurements, "UNIT", unit)
    found = {}
    for size in range(1, 70):
        here, there = neighbours([Row("somebody", at, None, HEAVIEST) for at in range(size)])
        found[size] = cost(epsilon, here, there)
        given_out = size * min(max(1, int(unit / max(1, epsilon / 2))), unit // size)
        assert found[size] <= Fraction(given_out, unit)
        assert found[size] > Fraction(given_out, unit) - Fraction(1, 10**12)
    assert max(found.values()) <= 1
    assert {size for size, loss in found.items() if loss == 0} == set(range(unit + 1, 70))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("visits", [1, SPLIT_MAX_VISITS])
def test_sums_that_do_not_fit_are_held_back_on_both_sides(epsilon: float, visits: int) -> None:
    """One user more may be the one who does not fit any more."""
    most = LARGEST_VALUE // (ShareQueries(epsilon).largest * int(TABLE.rows[visits - 1].max()))
    moved = []
    for users in (most - 1, most, most + 1):
        before, after = ([{visits: each}, {1: 5}] for each in (users, users + 1))
        moved.append(cost(epsilon, CrowdQueries(before), CrowdQueries(after)))
    assert max(moved) <= 1
    assert moved[2] < moved[0], "or nothing was held back"


def test_every_scale_is_public_and_every_answer_is_there_whatever_the_data() -> None:
    here, there = PlainQueries(others(), PLACES), PlainQueries([Row(1, 1)], PLACES)
    one, other = (noised(1.0, each)[0] for each in (here, there))
    assert [scale for _, scale in one] == [scale for _, scale in other]
    assert [len(values) for values, _ in one] == [len(values) for values, _ in other]
    assert sorted(len(values) for values, _ in one) == sorted([128, 256, 14 + 13])


def test_the_answers_state_the_noise_that_was_drawn() -> None:
    drawn, answers = noised(1.0, PlainQueries(others(), PLACES))
    by_size = {len(values): scale for values, scale in drawn}
    assert answers.look_scale == by_size[128] / UNIT
    assert answers.profile_scale == by_size[27] / UNIT
    assert answers.split_scale == by_size[256] / (UNIT * TABLE.unit)


# --- planted faults -----------------------------------------------------------------------------------------------


class CoarserSensitivity(MomentsTable):
    """Planted: the sensitivity is taken from another table than the one that is added up."""

    @property
    def sensitivity(self) -> int:
        return MomentsTable(self.max_visits, self.unit // 2).sensitivity


class OneShort(MomentsTable):
    """Planted: one lattice point less than a share can count for."""

    @property
    def sensitivity(self) -> int:
        return MomentsTable(self.max_visits, self.unit).sensitivity - 1


class OtherRows(MomentsTable):
    """Planted: a table that was rounded away from 0 after its sensitivity was taken."""

    @property
    def rows(self) -> Any:
        rows = MomentsTable(self.max_visits, self.unit).rows
        return rows + np.sign(rows)

    @property
    def sensitivity(self) -> int:
        return MomentsTable(self.max_visits, self.unit).sensitivity


class Unshared(PlainQueries):
    """Planted: everybody has the largest share, wherever they were."""

    def shares(self, unit: int, largest: int, max_visits: int) -> Any:
        apart = [row._replace(user=(row.user, row.location)) for row in self.rows]
        return PlainQueries(apart, self.locations.to_pylist()).shares(unit, largest, max_visits)


honest_scale = measurements.laplace_scale
honest_privatize = ShareQueries.privatize


def for_one_histogram(sensitivity: int, epsilon: Any) -> float:
    return honest_scale(UNIT if sensitivity == 2 * UNIT else sensitivity, epsilon)


def without_the_table(sensitivity: int, epsilon: Any) -> float:
    return honest_scale(min(sensitivity, 2 * UNIT), epsilon)


def a_millionth_less(sensitivity: int, epsilon: Any) -> float:
    return honest_scale(sensitivity, epsilon) * (1 - 1e-6)


def too_much(epsilon: Any) -> ShareBudget:
    """The split is given out, but not taken off the look."""
    parts = BUDGET(epsilon)
    return replace(parts, look=parts.look + parts.split)


BUDGET = ShareBudget.of


def exactly(*names: str) -> Any:
    """Some of the answers as they are, without noise."""

    def privatize(self: ShareQueries, profile: Any, noise: Any) -> dict[str, Any]:
        bare, noisy = honest_privatize(self, profile, Recorder()), honest_privatize(self, profile, noise)
        return noisy | {name: bare[name] for name in names}

    return privatize


class Counted(ShareQueries):
    """Planted: a number that should be public is read off the data."""

    def privatize(self, profile: Any, noise: Any) -> dict[str, Any]:
        object.__setattr__(self, "seen", float(profile.look.sum()))
        return super().privatize(profile, noise)

    def answers(self, values: Any) -> Answers:
        return replace(super().answers(values), cap=self.seen)


FAULTS: dict[str, tuple[Any, str, Any, set[str]]] = {
    "a row in two cells": (share_profile, "_in_cells", two_cells, {"loss"}),
    "noise for one histogram": (measurements, "laplace_scale", for_one_histogram, {"loss"}),
    "the table's sensitivity forgotten": (measurements, "laplace_scale", without_the_table, {"loss"}),
    "a millionth less noise": (measurements, "laplace_scale", a_millionth_less, {"loss"}),
    "the sensitivity of another table": (
        measurements,
        "TABLE",
        CoarserSensitivity(TABLE.max_visits, TABLE.unit),
        {"loss"},
    ),
    "the sensitivity one short": (measurements, "TABLE", OneShort(TABLE.max_visits, TABLE.unit), {"loss"}),
    "other rows than the sensitivity's": (
        measurements,
        "TABLE",
        OtherRows(TABLE.max_visits, TABLE.unit),
        {"loss"},
    ),
    "parts of more than ε": (ShareBudget, "of", too_much, {"loss"}),
    "noise on the look only": (
        ShareQueries,
        "privatize",
        exactly("split", "profile"),
        {"split", "sizes", "visits"},
    ),
    "a look without noise": (ShareQueries, "privatize", exactly("look"), {"look"}),
    "a number of the data in between": (mechanism, "ShareQueries", Counted, {"cap"}),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_faults_are_seen(fault: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = neighbours(worst(epsilon))
    assert wrong_with(epsilon, here, there) == set()
    where, name, change, expected = FAULTS[fault]
    monkeypatch.setattr(where, name, change)
    assert wrong_with(epsilon, here, there) == expected


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_shares_that_do_not_add_up_to_one_are_seen(epsilon: float) -> None:
    few, many = ([Row("somebody", at) for at in range(size)] for size in (1, 100))
    for visited, expected in ((few, set()), (many, {"loss"})):
        here, there = Unshared(others() + visited, PLACES), Unshared(others(), PLACES)
        assert wrong_with(epsilon, here, there) == expected
    assert wrong_with(epsilon, *neighbours(many)) == set()


# --- the crossing -------------------------------------------------------------------------------------------------


def released(queries: Any, fixed: list[list[int]], epsilon: float = 1.0) -> Any:
    """All of the mechanism, with the inference: what would be published if the noise came out like this."""
    return (
        Shares(epsilon)
        .estimate(
            Shares(epsilon).measure(queries, Locations(queries.locations), Recorder(fixed)),
            Locations(queries.locations),
        )
        .to_arrow()
    )


def some_answers(seed: int, epsilon: float) -> list[list[int]]:
    """Noisy integers such as there might be for a table that is neither of those below."""
    draw = np.random.default_rng(seed)
    drawn, _ = noised(epsilon, PlainQueries(others(seed), PLACES))
    return [
        (np.array(values) + np.rint(draw.laplace(0.0, scale, len(values))).astype(np.int64)).tolist()
        for values, scale in drawn
    ]


@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_what_is_published_is_a_function_of_the_noisy_integers(epsilon: float) -> None:
    crowd = [Row(user, at, None, 9) for user in range(300) for at in (3, 5, 8)]
    full, empty = PlainQueries(others() + crowd, PLACES), PlainQueries([], PLACES)
    fixed = some_answers(1, epsilon)
    shown = released(full, fixed, epsilon)
    assert shown.equals(released(empty, fixed, epsilon))
    assert shown.equals(released(full, fixed, epsilon)), "and draws nothing itself"
    assert not shown.equals(released(full, some_answers(2, epsilon), epsilon)), "or this tests nothing"


def test_a_leak_shows_in_what_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShareQueries, "privatize", exactly("split"))
    crowd = [Row(user, 3, None, 1) for user in range(300)]
    fixed = some_answers(1, 1.0)
    assert not released(PlainQueries(crowd, PLACES), fixed).equals(released(PlainQueries([], PLACES), fixed))


ESTIMATOR = sorted(Path(estimator.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", ESTIMATOR, ids=lambda file: file.stem)
def test_the_inference_has_neither_data_nor_chance_within_reach(file: Path) -> None:
    """It imports nothing that holds visits, asks for them or draws noise."""
    code = file.read_text(encoding="utf-8")
    assert randomness(code) == []
    own = "locentropy.mechanisms.shares"
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            assert {name.name for name in node.names} <= {"math", "numpy"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("locentropy"):
            assert node.level == 0
            names = {name.name for name in node.names}
            if node.module == f"{own}.measurements":
                assert names <= {"TABLE", "Answers"}
            else:
                assert f"{node.module}.".startswith(f"{own}.estimator.")


def test_there_is_an_estimator_to_look_at() -> None:
    assert len(ESTIMATOR) > 5


# --- together with others -------------------------------------------------------------------------------------------


def test_a_selection_before_it_adds_its_own_price() -> None:
    promise = SelectLocations(0.2, delta=1e-8, max_locations=20).followed_by(Shares(0.1).guarantee)
    assert promise.epsilon == Fraction(3, 10)
    assert promise.delta == Fraction(1, 10**8)
    assert Shares(0.1).guarantee.kind == "pure"
    assert Shares(0.1).guarantee.delta == 0


def test_visits_elsewhere_do_not_count_as_places() -> None:
    """Restricted to a list, a user has the shares of who was nowhere else."""
    listed = [3, 5]
    at_both = [Row("somebody", 3, None, 2), Row("somebody", 5, None, 2)]
    everywhere = at_both + [Row("somebody", at) for at in range(10, 90)]
    one, other = (noised(1.0, PlainQueries(rows, listed))[0] for rows in (at_both, everywhere))
    assert one == other
