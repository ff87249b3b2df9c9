"""The guarantee of Shares: its loss for the worst neighbours, exactly; that nothing but noise is read."""

from __future__ import annotations

import ast
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.locations import Locations
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.shares import estimator, measurements
from locentropy.mechanisms.shares.measurements import UNIT
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.concentrated import admissible_rho
from locentropy.privacy.guarantee import exact
from tests.examples import AT_NIGHT, examples
from tests.test_randomness_lint import randomness
from tests.visits.reference import Row

from .gaussian_loss import delta_of
from .recording import PlainQueries, Recorder, asked, cost, leaks, wrong_with

PURE = tuple(Shares(each) for each in (0.001, 0.1, 0.3, 1 / 3, 1.0, 1.7, 2.5, 5.0, 7.3, 10.0, 123.4))
WITH_DELTA = tuple(
    Shares(epsilon, delta=delta, max_users=1000)
    for epsilon, delta in ((0.001, 1e-8), (0.1, 1e-8), (0.5, 1e-6), (1.0, 1e-8), (5.0, 1e-12), (123.4, 1e-8))
)
EVERY = (*PURE, *WITH_DELTA)
PLACES = list(range(128))
ATTRIBUTES = {
    "category": pa.array([f"c{at % 5}" if at % 9 else None for at in PLACES]),
    "level": pa.array([at // 64 for at in PLACES]),
}


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


def worst(shares: Shares) -> list[Row]:
    """A user whose shares add up to all of Q in the norm of the noise, who returned to every place."""
    at_least = 1 if shares.delta else max(1, -(-exact(shares.epsilon) // 2))
    places = 4 ** (((at_least - 1).bit_length() + 1) // 2)
    return [Row("somebody", at, None, 3) for at in range(places)]


# --- the loss ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", EVERY, ids=str)
@pytest.mark.parametrize("attributes", [None, ATTRIBUTES], ids=["plain", "attributes"])
def test_the_worst_neighbours_cost_what_is_promised_and_no_more(shares: Shares, attributes: Any) -> None:
    here, there = neighbours(worst(shares))
    found = cost(shares, here, there, all_clear=True, attributes=attributes)
    assert found <= 1
    # With a δ a user of several levels does not reach the bound of the sums: ℓ₂ is below ℓ₁.
    assert found > (1 - Fraction(1, 10**10) if attributes is None or not shares.delta else Fraction(9, 10))
    assert cost(shares, there, here, all_clear=True, attributes=attributes) == found
    assert wrong_with(shares, here, there, attributes=attributes) == set()


visited = st.lists(st.tuples(st.sampled_from(PLACES), st.integers(1, 12) | st.integers(1, 2**40)), min_size=1)


@given(st.sampled_from(EVERY), visited, st.integers(0, 2**32), st.booleans(), st.booleans())
@settings(max_examples=examples(80))
def test_nobody_costs_more_than_promised_whatever_came_out_before(
    shares: Shares, places: list[tuple[int, int]], seed: int, all_clear: bool, described: bool
) -> None:
    rows = [Row("somebody", at, None, visits) for at, visits in places]
    attributes = ATTRIBUTES if described else None
    assert 0 < cost(shares, *neighbours(rows), seed, all_clear=all_clear, attributes=attributes) <= 1


@given(visited, st.integers(0, 2**32))
@settings(max_examples=examples(40))
def test_each_query_moves_by_at_most_one_unit(places: list[tuple[int, int]], seed: int) -> None:
    """As integers: Σ|d| ≤ Q with Laplace noise, Σd² ≤ Q² with Gaussian noise, for every query by itself."""
    rows = [Row("somebody", at, None, visits) for at, visits in places]
    for shares in (Shares(0.5), Shares(0.5, delta=1e-8)):
        one, other = (asked(shares, each, Recorder(seed), ATTRIBUTES).drawn for each in neighbours(rows))
        for mine, theirs in zip(one, other, strict=True):
            apart = [abs(a - b) for a, b in zip(mine.values, theirs.values, strict=True)]
            parts = [apart[:6], apart[6:]] if len(apart) == 8 else [apart]  # the sums of each attribute
            for part in parts:
                if shares.delta:
                    assert sum(each * each for each in part) <= UNIT**2
                else:
                    assert sum(part) <= UNIT


SIZES = range(1, 70) if AT_NIGHT else (1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 49, 50, 60, 61, 64, 65, 69)
"""Of one user: at least those at which a part more is rounded away, and the first that have nothing on a lattice."""


@pytest.mark.longer_at_night
@pytest.mark.parametrize("unit", [1, 7, 16, 60])
@pytest.mark.parametrize("shares", [Shares(0.5), Shares(3.0), Shares(10.0), Shares(1.0, delta=1e-9)], ids=str)
def test_users_of_every_size_on_a_coarse_lattice(
    unit: int, shares: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rounding down takes much, and who is at more places than there are lattice points has nothing."""
    monkeypatch.setattr(measurements, "UNIT", unit)
    found = {}
    for size in SIZES:
        here, there = neighbours([Row("somebody", at, None, 3) for at in range(size)])
        found[size] = cost(shares, here, there, all_clear=True)
    assert max(found.values()) <= 1
    most = unit if not shares.delta else unit * unit
    assert {size for size, loss in found.items() if loss == 0} == {size for size in SIZES if size > most}


def test_every_scale_is_public_and_every_answer_is_there_whatever_the_data() -> None:
    full, empty = PlainQueries(others(), PLACES), PlainQueries([Row(1, 1)], PLACES)
    for shares in (Shares(0.5), Shares(0.5, delta=1e-8)):
        one, other = (asked(shares, each, Recorder(1), ATTRIBUTES).drawn for each in (full, empty))
        assert [(a.kind, a.shape, a.scale) for a in one] == [(b.kind, b.shape, b.scale) for b in other]
        listed = Locations(full.locations, attributes=ATTRIBUTES)
        assert [a.scale for a in one] == list(shares.public_scales(listed).values())
        assert shares.query_names(listed) == ("look", "sums", "sizes", "visits", "split")


def test_the_answers_state_the_noise_that_was_drawn() -> None:
    for shares in (Shares(1.0), Shares(1.0, delta=1e-8)):
        drawn, answers = asked(shares, PlainQueries(others(), PLACES), Recorder(1))
        stated = (answers.look_scale, answers.sizes_scale, answers.visits_scale, answers.split_scale)
        assert stated == tuple(each.scale / UNIT for each in drawn)
        assert {each.kind for each in drawn} == {answers.noise}
        assert answers.sums == ()


# --- with δ: the loss as a distribution ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.5, 1e-4), (1.0, 1e-6), (1.0, 1e-8), (4.0, 1e-6), (8.0, 1e-8)]
)
def test_the_worst_neighbours_keep_delta(
    epsilon: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """δ(ε) of all draws together, bounded above by numerical convolution; the lattice is coarse so that it can be."""
    monkeypatch.setattr(measurements, "UNIT", 64)
    shares = Shares(epsilon, delta=delta, max_users=1000)
    # One place: every query moves by Q in one entry, which is the worst for any ρ.
    one, other = (
        asked(shares, each, Recorder(1, all_clear=True)).drawn
        for each in neighbours([Row("somebody", 3, None, 3)])
    )
    moves = [
        (a - b, mine.scale)
        for mine, theirs in zip(one, other, strict=True)
        for a, b in zip(mine.values, theirs.values, strict=True)
        if a != b
    ]
    assert sorted(abs(distance) for distance, _ in moves) == [64] * 4
    found = delta_of(moves, epsilon)
    assert delta / 20 < found <= delta, "or the calibration is loose"
    assert delta_of(moves, epsilon, above=False) <= found
    # Less noise by a tenth breaks it, so that the check can see: zCDP is not exact, but near.
    assert delta_of([(d, scale * 0.8) for d, scale in moves], epsilon, above=False) > delta


def test_one_query_against_the_sum_over_all_integers() -> None:
    """The convolution agrees with the definition, Σ max(0, P(z) − e^ε·P'(z)), where there is one entry."""
    scale, distance, epsilon = 21.5, 16, 0.9
    points = np.arange(-1000, 1000)
    here, there = (np.exp(-(((points - at) / scale) ** 2) / 2) for at in (distance, 0))
    direct = np.maximum(0.0, here / here.sum() - np.exp(epsilon) * there / there.sum()).sum()
    assert delta_of([(distance, scale)], epsilon) >= direct * (1 - 1e-9)
    assert delta_of([(distance, scale)], epsilon, above=False) <= direct * (1 + 1e-9)
    assert delta_of([(distance, scale)], epsilon) == pytest.approx(direct, rel=1e-2)


def test_parts_of_rho_are_within_what_the_guarantee_admits() -> None:
    for shares in WITH_DELTA:
        for attributes in (0, 1, 8):
            budget = measurements.ShareQueries(shares.epsilon, shares.delta, attributes).budget
            parts = [budget.look, budget.sizes, budget.visits, budget.split]
            parts += [budget.sums] * budget.attributes
            assert sum(parts) == admissible_rho(shares.epsilon, shares.delta)
            assert min(parts) > 0


# --- the crossing -------------------------------------------------------------------------------------------------


def released(queries: Any, seed: int, shares: Shares) -> Any:
    """All of the mechanism, with the inference: what would be published if the noise came out like this."""
    listed = Locations(queries.locations)
    return shares.estimate(shares.measure(queries, listed, Recorder(seed)), listed).to_arrow()


@pytest.mark.parametrize("shares", [Shares(0.1), Shares(10.0), Shares(1.0, delta=1e-8)], ids=str)
def test_what_is_published_is_a_function_of_the_noisy_integers(shares: Shares) -> None:
    crowd = [Row(user, at, None, 9) for user in range(300) for at in (3, 5, 8)]
    full, empty = PlainQueries(others() + crowd, PLACES), PlainQueries([], PLACES)
    shown = released(full, 1, shares)
    assert shown.equals(released(empty, 1, shares))
    assert shown.equals(released(full, 1, shares)), "and draws nothing itself"
    assert not shown.equals(released(full, 2, shares)), "or this tests nothing"


def test_what_was_measured_is_read_again_in_the_same_way() -> None:
    """Bands, the cut and the clear places are computed from the kept integers, not kept beside them."""
    queries = PlainQueries(others(), PLACES)
    listed = Locations(queries.locations, attributes=ATTRIBUTES)
    for shares in (Shares(0.5), Shares(0.5, delta=1e-8)):
        measured = shares.measure(queries, listed, Recorder(5))
        answers = shares.queries_about(listed).answers(measured.values, listed)
        assert answers.sizes.shape[0] == len(answers.size_edges) + 1
        assert answers.visits.shape[0] == len(answers.visit_edges) + 1
        assert answers.split.shape == answers.split_at.shape
        assert [len(each) for each in answers.sums] == [6, 2]
        again = shares.queries_about(listed).answers(dict(measured.values), listed)
        assert np.array_equal(again.split_at, answers.split_at)


PUBLIC_THINGS = {
    "locentropy.core.attributes": {"COORDINATES"},
    "locentropy.core.estimates": {"AttributeEffect"},
    "locentropy.core.locations": {"Locations"},
}
"""Of modules that others need for more: the public list, and words about it."""

ESTIMATOR = sorted(Path(estimator.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", ESTIMATOR, ids=lambda file: file.stem)
def test_the_inference_has_neither_data_nor_chance_within_reach(file: Path) -> None:
    """It imports nothing that holds visits, asks for them or draws noise."""
    code = file.read_text(encoding="utf-8")
    assert randomness(code) == []
    own = "locentropy.mechanisms.shares"
    public = {f"{own}.answers", f"{own}.stages", f"{own}.weights", f"{own}.levels"}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            assert {name.name for name in node.names} <= {"math", "numpy"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("locentropy"):
            assert node.level == 0
            names = {name.name for name in node.names}
            assert (
                node.module in public
                or f"{node.module}.".startswith(f"{own}.estimator.")
                or names <= PUBLIC_THINGS.get(str(node.module), set())
            )


def test_there_is_an_estimator_to_look_at() -> None:
    assert len(ESTIMATOR) > 5


# --- together with others -------------------------------------------------------------------------------------------


def test_a_selection_before_it_adds_its_own_price() -> None:
    select = SelectLocations(0.2, delta=1e-8, max_locations=20)
    promise = select.followed_by(Shares(0.1).guarantee)
    assert (promise.epsilon, promise.delta) == (Fraction(3, 10), Fraction(1, 10**8))
    promise = select.followed_by(Shares(0.1, delta=1e-9).guarantee)
    assert (promise.epsilon, promise.delta) == (Fraction(3, 10), Fraction(11, 10**9))
    assert Shares(0.1).guarantee.kind == "pure"
    assert Shares(0.1).guarantee.delta == 0
    assert Shares(0.1, delta=1e-9).guarantee.kind == "approximate"


def test_visits_elsewhere_do_not_count_as_places() -> None:
    """Restricted to a list, a user has the shares of who was nowhere else."""
    listed = [3, 5]
    at_both = [Row("somebody", 3, None, 2), Row("somebody", 5, None, 2)]
    everywhere = at_both + [Row("somebody", at) for at in range(10, 90)]
    for shares in (Shares(1.0), Shares(1.0, delta=1e-8)):
        one, other = (
            asked(shares, PlainQueries(rows, listed), Recorder(1)).drawn for rows in (at_both, everywhere)
        )
        assert one == other


def test_nothing_leaks_between_tables_that_are_no_neighbours() -> None:
    full, empty = PlainQueries(others(), PLACES), PlainQueries([], PLACES)
    for shares in (Shares(0.5), Shares(5.0), Shares(0.5, delta=1e-8)):
        assert leaks(shares, full, empty, attributes=ATTRIBUTES) == set()
