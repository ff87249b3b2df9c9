"""The private statistics for advice: what one user can change, brute force; planted faults; what is told."""

from __future__ import annotations

import ast
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import EngineError, ParameterError
from locentropy.core.locations import Locations
from locentropy.core.visit_profile import VisitProfile
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms import survey as activity
from locentropy.mechanisms.survey import PARTS, Activity, ActivitySurvey, by_octave, octave_ends
from locentropy.privacy.noise import OpenDPNoise, laplace_scale

Table = dict[str, dict[str, int]]
"""Who was where how often."""

PLACES = [f"place-{at}" for at in range(6)]
SURVEY = ActivitySurvey(epsilon=0.3, max_locations=3, busy_users=2)


class PlainQueries:
    """`Queries` on a small table, in plain Python."""

    def __init__(self, table: Table) -> None:
        self.table = {user: rows for user, rows in table.items() if rows}
        self.locations = pa.array(PLACES)

    def profile(self, bounds: le.private.Bounds) -> VisitProfile:
        cells: Counter[tuple[int, int]] = Counter()
        for rows in self.table.values():
            kept = sorted(rows, key=lambda place: (-rows[place], place))[: bounds.max_locations]
            cells.update((PLACES.index(place), min(rows[place], bounds.max_visits)) for place in kept)
        columns = np.array([[*key, users] for key, users in cells.items()], dtype=np.int64).reshape(-1, 3)
        resolved = bounds.resolved(has_time=False)
        return VisitProfile.from_rows(self.locations, *np.ascontiguousarray(columns.T), resolved)

    def locations_per_user(self) -> np.ndarray:
        found = np.zeros(len(PLACES) + 1, dtype=np.int64)
        for rows in self.table.values():
            found[len(rows)] += 1
        return found

    def largest_visits_per_user(self) -> tuple[np.ndarray, np.ndarray]:
        found = Counter(max(rows.values()) for rows in self.table.values())
        return np.array(sorted(found), dtype=np.int64), np.array(
            [found[v] for v in sorted(found)], dtype=np.int64
        )


class Recorder:
    """`Noise` that adds nothing and remembers what it was asked for."""

    private = False

    def __init__(self) -> None:
        self.drawn: list[tuple[list[int], float]] = []

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        self.drawn.append((values.tolist(), scale))
        return values.copy()


def drawn(table: Table, survey: ActivitySurvey = SURVEY) -> list[tuple[list[int], float]]:
    noise = Recorder()
    survey.measure(PlainQueries(table), Locations(pa.array(PLACES)), noise)
    return noise.drawn


def loss(here: list[tuple[list[int], float]], there: list[tuple[list[int], float]]) -> Fraction:
    """The largest |ln P/Q| between two releases of integers with discrete Laplace noise: exact."""
    whole = Fraction(0)
    for (values, scale), (others, other_scale) in zip(here, there, strict=True):
        assert scale == other_scale, "scales are public"
        assert len(values) == len(others), "and so are the cells"
        whole += sum(abs(v - w) for v, w in zip(values, others, strict=True)) / Fraction(scale)
    return whole


def some_table(draw: random.Random) -> Table:
    return {
        f"u{user}": {
            place: draw.choice([1, 1, 2, 3, 5, 900])
            for place in draw.sample(PLACES, draw.randint(1, len(PLACES)))
        }
        for user in range(draw.randint(1, 8))
    }


WORST = {
    "u1": dict.fromkeys(PLACES[:3], 1),
    "u2": {**dict.fromkeys(PLACES[:3], 4), PLACES[4]: 1},
}
"""Three places have exactly the two users that make them busy: whoever leaves takes M of them along."""


def worst_loss(survey: ActivitySurvey = SURVEY, tables: int = 150) -> Fraction:
    """The largest loss over one user's coming or going, on many small tables."""
    draw = random.Random(5)
    found = Fraction(0)
    for table in [WORST, *(some_table(draw) for _ in range(tables))]:
        whole = drawn(table, survey)
        for user in table:
            without = drawn({u: rows for u, rows in table.items() if u != user}, survey)
            found = max(found, loss(whole, without))
    return found


class TestOneUser:
    def test_never_costs_more_than_promised_and_may_cost_that(self) -> None:
        promised = SURVEY.guarantee.epsilon
        assert promised == Fraction(3, 10)
        found = worst_loss()
        assert found <= promised
        assert found > promised * Fraction(999, 1000), "the bound is attained, or this tests little"

    @pytest.mark.parametrize("max_locations", [1, 2, 5])
    def test_for_other_bounds(self, max_locations: int) -> None:
        survey = ActivitySurvey(0.05, max_locations, 1)
        assert worst_loss(survey, 60) <= Fraction(5, 100)

    def test_cells_by_quantiles_of_the_data_are_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def by_quantile(values: np.ndarray, users: np.ndarray, cells: int) -> np.ndarray:
            everybody = np.repeat(values, users)
            ends = np.quantile(everybody, np.linspace(0, 1, cells)[:-1]) if everybody.size else np.zeros(1)
            found = np.zeros(cells, dtype=np.int64)
            np.add.at(found, np.searchsorted(ends, everybody, side="left"), 1)
            return found

        monkeypatch.setattr(activity, "by_octave", by_quantile)
        assert worst_loss() > SURVEY.guarantee.epsilon

    def test_a_user_in_two_cells_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def twice(values: np.ndarray, users: np.ndarray, cells: int) -> np.ndarray:
            found = by_octave(values, users, cells)
            return found + by_octave(values + 1, users, cells)

        monkeypatch.setattr(activity, "by_octave", twice)
        assert worst_loss() > SURVEY.guarantee.epsilon

    def test_noise_for_one_place_instead_of_m_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(activity, "laplace_scale", lambda _, epsilon: laplace_scale(1, epsilon))
        assert worst_loss(ActivitySurvey(0.3, 3, 2)) > SURVEY.guarantee.epsilon

    def test_users_in_more_than_m_places_are_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = PlainQueries.profile

        def unbounded(self: PlainQueries, bounds: le.private.Bounds) -> VisitProfile:
            loose = whole(self, le.private.Bounds(len(PLACES), bounds.max_visits))
            return VisitProfile(
                loose.locations, loose.index, loose.visits, loose.users, bounds.resolved(has_time=False)
            )

        monkeypatch.setattr(PlainQueries, "profile", unbounded)
        survey = ActivitySurvey(0.3, 2, 2)
        assert worst_loss(survey) > survey.guarantee.epsilon

    def test_the_parts_are_all_of_epsilon(self) -> None:
        assert sum(PARTS.values()) == 1
        for epsilon in (0.05, 0.1, 1, 0.3):
            survey = ActivitySurvey(epsilon, 4, 10)
            spent = sum(
                Fraction(move) / Fraction(survey.scales[name])
                for name, move in (("places", 1), ("visits", 1), ("busy", 4))
            )
            assert spent <= survey.guarantee.epsilon
            assert spent > survey.guarantee.epsilon * Fraction(999_999, 1_000_000)


class TestThroughTheEngine:
    """The same on real tables, read and bounded by the engine."""

    @staticmethod
    def drawn(table: Table) -> list[tuple[list[int], float]]:
        rows = [(u, place, visits) for u, at in table.items() for place, visits in at.items()]
        users, places, visits = (list(column) for column in zip(*rows, strict=True))
        source = le.Visits(pa.table({"user": users, "location": places, "visits": visits}))
        noise = Recorder()
        with le.private.open_queries(source, locations=PLACES) as queries:
            SURVEY.measure(queries, Locations(queries.locations), noise)
        return noise.drawn

    def test_answers_are_those_of_plain_python_and_cost_no_more(self) -> None:
        draw = random.Random(3)
        for table in [WORST, *(some_table(draw) for _ in range(3))]:
            whole = self.drawn({**table, "elsewhere": {"moon": 7}})
            assert [values for values, _ in whole[:2]] == [values for values, _ in drawn(table)[:2]]
            for user in table:
                rest = {u: rows for u, rows in table.items() if u != user}
                assert loss(whole, self.drawn({**rest, "elsewhere": {"moon": 7}})) <= Fraction(3, 10)


def test_the_most_visits_of_each_user_through_the_engine() -> None:
    """As plain Python finds them, huge numbers included; within the list, and within a part of it."""
    draw = random.Random(8)
    table = {**{f"v{at}": some_table(draw)["u0"] for at in range(40)}, "heavy": {PLACES[1]: 2 * 10**9}}
    rows = [(u, place, many) for u, at in table.items() for place, many in [*at.items(), ("moon", 2**31 - 1)]]
    users, places, visits = (list(column) for column in zip(*rows, strict=True))
    source = le.Visits(pa.table({"user": users, "location": places, "visits": visits}))
    part = PLACES[1:3]
    within = {u: {place: n for place, n in at.items() if place in part} for u, at in table.items()}
    with le.private.open_queries(source, locations=PLACES) as queries:
        for found, expected in (
            (queries, PlainQueries(table)),
            (queries.restricted_to(Locations(pa.array(part))), PlainQueries(within)),
        ):
            for seen, known in zip(
                found.largest_visits_per_user(), expected.largest_visits_per_user(), strict=True
            ):
                assert seen.dtype == np.int64
                assert seen.tolist() == known.tolist()


class TestCells:
    def test_octaves(self) -> None:
        assert octave_ends(5) == (1, 2, 4, 8)
        values = np.array([1, 2, 3, 4, 5, 8, 9, 10**12], dtype=np.int64)
        users = np.array([1, 10, 100, 1000, 1, 2, 4, 8], dtype=np.int64)
        assert by_octave(values, users, 5).tolist() == [1, 10, 1100, 3, 12]
        assert by_octave(values[:0], users[:0], 5).tolist() == [0] * 5

    @given(st.lists(st.tuples(st.integers(1, 2**62), st.integers(1, 2**30)), max_size=30))
    def test_every_user_is_in_exactly_one_cell(self, rows: list[tuple[int, int]]) -> None:
        values, users = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 1))
        found = by_octave(values, users, 13)
        assert found.sum() == users.sum()
        for value, many in rows:
            at = min((value - 1).bit_length(), 12)
            assert found[at] >= many


class TestActivity:
    def test_what_it_says(self) -> None:
        found = SURVEY.measure(PlainQueries(WORST), Locations(pa.array(PLACES)), OpenDPNoise())
        assert found.private
        assert found.guarantee == SURVEY.guarantee
        assert (found.n_locations, found.max_locations, found.busy_users) == (6, 3, 2)
        assert (len(found.places), len(found.visits)) == (14, 13)
        assert all(isinstance(each, int) for each in (*found.places, *found.visits, found.busy))
        told = found.to_dict()
        assert told["epsilon"] == "0.3"
        assert list(told["users_by_places"])[:4] == ["1", "2", "3–4", "5–8"]
        assert list(told["users_by_places"])[-1] == "4097 and more"
        assert sum(told["users_by_most_visits"].values()) == sum(found.visits)

    def test_margins_hold_as_often_as_they_say(self) -> None:
        queries, listed = PlainQueries(WORST), Locations(pa.array(PLACES))
        within = {"places": 0, "visits": 0, "busy": 0}
        for seed in range(600):
            found = SURVEY.measure(queries, listed, SimulatedNoise(seed))
            within["places"] += abs(found.places[0]) <= found.places_margin
            within["visits"] += abs(found.visits[0] - 1) <= found.visits_margin
            within["busy"] += abs(found.busy - 3) <= found.busy_margin
        for many in within.values():
            assert 0.92 * 600 < many < 0.98 * 600, "95 %, four standard deviations either way"

    def test_simulated_noise_is_not_private(self) -> None:
        found = SURVEY.measure(PlainQueries(WORST), Locations(pa.array(PLACES)), SimulatedNoise(1))
        assert not found.private

    def test_is_made_in_one_place_only(self) -> None:
        """What is not noised must not be told as if it were."""
        package = Path(activity.__file__).parent.parent
        makers = {
            path.relative_to(package).as_posix()
            for path in package.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call)
            and (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) == Activity.__name__
        }
        assert makers == {"mechanisms/survey.py"}


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ((0, 5, 10), "epsilon=0"),
            ((0.05, 0, 10), "max_locations=0"),
            ((0.05, 5, 0), "busy_users=0"),
            ((0.05, 5, 10, "best"), "most-visited"),
        ],
    )
    def test_parameters(self, parameters: tuple, words: str) -> None:
        with pytest.raises(ParameterError, match=words):
            ActivitySurvey(*parameters)

    def test_no_list(self) -> None:
        with pytest.raises(ParameterError, match="public list"):
            SURVEY.measure(PlainQueries(WORST), None, Recorder())

    def test_another_list(self) -> None:
        with pytest.raises(ParameterError, match="not opened with the public list"):
            SURVEY.measure(PlainQueries(WORST), Locations(pa.array(PLACES[::-1])), Recorder())

    def test_histograms_of_different_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fewer = PlainQueries({"u1": {PLACES[0]: 1}}).largest_visits_per_user()
        monkeypatch.setattr(PlainQueries, "largest_visits_per_user", lambda _: fewer)
        noise = Recorder()
        with pytest.raises(EngineError, match="same users"):
            SURVEY.measure(PlainQueries(WORST), Locations(pa.array(PLACES)), noise)
        assert noise.drawn == []
