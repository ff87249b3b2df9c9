"""The table of Moments: the figures it must give, that no other matrix is better, and its sensitivity by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.moments import MATRIX_5, SENSITIVITY_5, SEPARATELY, TABLE_5

from locentropy.core.errors import ParameterError
from locentropy.privacy import moments
from locentropy.privacy.moments import MAX_MOMENTS_VISITS, MomentsTable, moments_matrix

SPREAD = [2, 3, 4, 5, 7, 10, 15, 30, 60, 100]

OFTEN = [1, 2, 3, 4, 5, 7, 10, 16, 25, 50, 99, 100]
EVERY = [
    pytest.param(visits, marks=[] if visits in OFTEN else pytest.mark.nightly)
    for visits in range(1, MAX_MOMENTS_VISITS + 1)
]
"""Every C; in the daily run a dozen of them: the smallest, the ends, and some in between."""


def curve(max_visits: int) -> np.ndarray:
    visits = np.arange(1, max_visits + 1)
    return np.array([[x, x * math.log(x)] for x in visits.tolist()])


def norm(matrix: np.ndarray, max_visits: int) -> float:
    """The most that one user moves, in ℓ₁."""
    return float(np.abs(curve(max_visits) @ matrix.T).sum(axis=1).max())


def variance(matrix: np.ndarray, max_visits: int) -> float:
    """The mean over a of |B⁻ᵀ·u_a|², added up slope by slope, times what one user moves, squared."""
    slopes = (np.arange(2000) + 0.5) / 2000 * math.log(max_visits)
    along = np.stack([1 + slopes, -np.ones(2000)])
    return float((np.linalg.solve(matrix.T, along) ** 2).sum(axis=0).mean()) * norm(matrix, max_visits) ** 2


# --- the matrix -------------------------------------------------------------------------------------------------


def test_the_figures_for_five_visits():
    assert moments_matrix(5) == pytest.approx(np.array(MATRIX_5), abs=5e-5)
    table = MomentsTable(5)
    assert table.unit == 2**16
    assert table.rows.tolist() == [list(row) for row in TABLE_5]
    assert table.sensitivity == SENSITIVITY_5


def test_better_than_noising_visits_and_logs_separately():
    """The best diagonal matrix, in the direction where it matters most and where it matters least."""
    best = min(
        variance(np.diag([1.0, ratio]), 5) for ratio in np.geomspace(1e-3, 1e3, 400).tolist()
    ) / variance(moments_matrix(5), 5)
    low, high = SEPARATELY
    assert low <= math.sqrt(best) <= high


@pytest.mark.parametrize("max_visits", EVERY)
def test_nobody_moves_more_than_one_and_somebody_that_far(max_visits):
    assert norm(moments_matrix(max_visits), max_visits) == pytest.approx(1.0, rel=1e-12)


def searched(max_visits: int, seed: int, crowd: int = 400, rounds: int = 250) -> float:
    """The least variance that a blind search finds: random matrices that take random steps, ever smaller ones."""
    draw = np.random.default_rng(seed)
    points = curve(max_visits)
    most = math.log(max_visits)
    weight = np.array([[1 + most + most**2 / 3, -1 - most / 2], [-1 - most / 2, 1]])
    root = np.linalg.cholesky(weight).T

    def scores(inverses: np.ndarray) -> np.ndarray:
        corners = root @ inverses
        moved = np.abs(np.linalg.inv(inverses) @ points.T).sum(axis=1).max(axis=1)
        return (corners**2).sum(axis=(1, 2)) * moved**2

    found = np.linalg.inv(root) @ draw.normal(size=(crowd, 2, 2))
    best = scores(found)
    for round_ in range(rounds):
        size = np.linalg.norm(root @ found, axis=(1, 2), keepdims=True)
        step = np.linalg.inv(root) @ draw.normal(size=(crowd, 2, 2)) * size * 0.5 * 0.97**round_
        tried = scores(found + step)
        better = tried < best
        found[better] += step[better]
        best = np.minimum(best, tried)
    return float(best.min())


@pytest.mark.parametrize("max_visits", SPREAD)
def test_no_other_matrix_is_better(max_visits):
    ours = variance(moments_matrix(max_visits), max_visits)
    blind = searched(max_visits, seed=max_visits)
    assert ours <= 1.001 * blind
    assert blind <= 1.05 * ours, "or the search finds nothing, and the test says nothing"


@pytest.mark.parametrize("max_visits", SPREAD)
def test_the_best_of_several_starts_is_reached_from_more_than_one(max_visits, monkeypatch):
    """More starts give the same result: it does not depend on one lucky start."""
    ours = variance(moments_matrix(max_visits), max_visits)
    monkeypatch.setattr(moments, "_STARTS", 12)
    assert variance(moments_matrix.__wrapped__(max_visits), max_visits) == pytest.approx(ours, rel=1e-3)


def test_the_search_is_the_same_each_time():
    assert moments_matrix.__wrapped__(20).tolist() == moments_matrix(20).tolist()


@pytest.mark.parametrize("max_visits", EVERY[1:])
def test_rows_and_signs_are_in_one_order(max_visits):
    (first, _), (second, last) = moments_matrix(max_visits)
    assert first > abs(second)
    assert last > 0


def test_one_visit_needs_one_coordinate():
    table = MomentsTable(1)
    assert table.rows.tolist() == [[2**16, 0]]
    assert table.sensitivity == 2**16
    assert table.moments(np.array([[7 * 2**16, 12345]])).tolist() == [[7.0, 0.0]]


# --- the table --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [2**12, 2**16, 2**20])
@pytest.mark.parametrize("max_visits", [1, 2, 5, 20, 100])
def test_no_user_moves_the_sums_by_more_than_the_sensitivity(max_visits, unit):
    """Every number of visits that a user can have, at random locations, through the sums themselves."""
    table = MomentsTable(max_visits, unit)
    draw = np.random.default_rng(max_visits)
    moved = []
    for visits, _ in itertools.product(range(1, max_visits + 1), range(3)):
        crowd = draw.integers(0, 1000, max_visits)
        with_one = crowd.copy()
        with_one[visits - 1] += 1
        before, after = (sums_of(table, each) for each in (crowd, with_one))
        moved.append(sum(abs(a - b) for a, b in zip(before, after, strict=True)))
    assert max(moved) == table.sensitivity


def sums_of(table: MomentsTable, crowd: np.ndarray) -> list[int]:
    visits = np.flatnonzero(crowd) + 1
    index = np.zeros(len(visits), dtype=np.int64)
    return table.sums(index, visits, crowd[visits - 1], 1)[0].tolist()


@given(st.integers(1, 100), st.lists(st.integers(0, 10**12), min_size=1, max_size=100))
def test_sums_are_exact_at_any_size(max_visits, users):
    table = MomentsTable(max_visits)
    crowd = np.zeros(max_visits, dtype=np.int64)
    crowd[: len(users)] = users[:max_visits]
    expected = [
        sum(int(u) * t for u, t in zip(crowd, column, strict=True)) for column in table.rows.T.tolist()
    ]
    assert sums_of(table, crowd) == expected


def test_sums_go_to_their_locations():
    table = MomentsTable(3)
    sums = table.sums(np.array([0, 0, 2]), np.array([1, 3, 2]), np.array([5, 2, 1]), 4)
    one, two, three = table.rows
    assert sums.tolist() == [(5 * one + 2 * three).tolist(), [0, 0], two.tolist(), [0, 0]]


@pytest.mark.parametrize("max_visits", [2, 5, 20, 100])
def test_sums_tell_visits_and_logs(max_visits):
    crowd = np.random.default_rng(1).integers(0, 50, max_visits)
    table = MomentsTable(max_visits, 2**20)
    visits, logs = table.moments(np.array(sums_of(table, crowd)))
    exact = crowd @ curve(max_visits)
    assert visits == pytest.approx(exact[0], rel=2e-4)
    assert logs == pytest.approx(exact[1], rel=2e-4)


def test_nobody_can_write_to_what_is_kept():
    table = MomentsTable(5)
    for array in (moments_matrix(5), table.rows, table.matrix, table.inverse):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@pytest.mark.parametrize("arguments", [(0,), (101,), (2.0,), (True,), (5, 0), (5, 2**31), (5, 1.5)])
def test_refuses_with_a_correct_call(arguments):
    with pytest.raises(ParameterError, match=r"MomentsTable\(max_visits=5\)"):
        MomentsTable(*arguments)


def test_the_matrix_refuses_too():
    with pytest.raises(ParameterError, match="max_visits=101"):
        moments_matrix(101)
