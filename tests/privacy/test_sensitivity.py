"""One user never moves the entropy of a location by more than the sensitivity says, and can move it that far."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.oracles.sensitivity import GLOBAL, LN2_UP_TO, LOCAL, LOCAL_5, PUBLISHED_THEOREM_1_EXCESS

from locentropy.core.errors import ParameterError
from locentropy.privacy.sensitivity import (
    FLOAT_ERROR,
    MAX_TABULATED_VISITS,
    global_sensitivity,
    increase_bound,
    largest_change,
    largest_decrease,
    local_sensitivity,
    simple_increase_bound,
    supremum_from,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy of each row of counts; 0 for rows without users."""
    counts = np.asarray(counts, dtype=float)
    if counts.shape[-1] == 0:
        return np.zeros(counts.shape[:-1])
    total = counts.sum(axis=-1)
    return np.log(total) - (counts * np.log(counts)).sum(axis=-1) / total


def brute_local(max_visits: int, users: int) -> float:
    """Largest |change| over all multisets of counts of n users, over all who could come and all who could go."""
    everyone = np.array(list(itertools.combinations_with_replacement(range(1, max_visits + 1), users)))
    everyone = everyone.reshape(len(everyone), users)
    before = entropy(everyone)
    others = [
        np.hstack([everyone, np.full((len(everyone), 1), count)]) for count in range(1, max_visits + 1)
    ] + [np.delete(everyone, user, axis=1) for user in range(users)]
    return max(float(np.abs(entropy(other) - before).max()) for other in others)


def increase_over_all_totals(max_visits: int, users: int) -> float:
    """Largest increase over every j (users at C), every odd count x and every c: no cell is left out."""
    full = np.arange(users, dtype=float)[:, None]
    odd = np.arange(1, max_visits + 1, dtype=float)
    total = users + full * (max_visits - 1) + odd - 1
    weight = full * max_visits * math.log(max_visits) + odd * np.log(odd)
    best = 0.0
    for c in range(1, max_visits + 1):
        after = np.log(total + c) - (weight + c * math.log(c)) / (total + c)
        best = max(best, float((after - np.log(total) + weight / total).max()))
    return best


# --- oracle numbers -----------------------------------------------------------------------------------------


def test_global_sensitivity_is_ln_2_up_to_14_visits():
    for max_visits in range(1, LN2_UP_TO + 1):
        assert global_sensitivity(max_visits) == math.log(2)
    assert global_sensitivity(LN2_UP_TO + 1) > math.log(2)


@pytest.mark.parametrize(("max_visits", "value"), GLOBAL.items())
def test_global_sensitivity(max_visits, value):
    assert global_sensitivity(max_visits) == pytest.approx(value, abs=6e-7)


@pytest.mark.parametrize(("users", "value"), LOCAL_5.items())
def test_local_sensitivity_of_five_visits(users, value):
    assert local_sensitivity(5, users) == pytest.approx(value, abs=6e-6)


@pytest.mark.parametrize(("case", "value"), LOCAL.items())
def test_local_sensitivity_of_more_visits(case, value):
    assert local_sensitivity(*case) == pytest.approx(value, abs=6e-6)


def test_one_visit_each_has_a_closed_form():
    users = np.arange(2, 1000)
    assert local_sensitivity(1, users) == pytest.approx(np.log(users / (users - 1)), rel=1e-12)


def test_no_users_and_one_user():
    for max_visits in (1, 2, 5, 1000):
        assert largest_change(max_visits, 0) == 0.0
        assert local_sensitivity(max_visits, 0) == 0.0
        assert local_sensitivity(max_visits, 1) == pytest.approx(math.log(2), abs=1e-12)


# --- against search -----------------------------------------------------------------------------------------


def agrees_with_brute_force(local: Callable[[int, int], float], max_visits: int, users: int) -> bool:
    return abs(local(max_visits, users) - brute_local(max_visits, users)) < 1e-12


@pytest.mark.parametrize("max_visits", range(1, 7))
@pytest.mark.parametrize("users", range(8))
def test_equals_brute_force_over_all_counts(max_visits, users):
    assert agrees_with_brute_force(lambda c, n: float(local_sensitivity(c, n)), max_visits, users)


def published_local(max_visits: int, users: int) -> float:
    """The paper's Theorem 2 for C = 1, which forgets that a user may leave."""
    return math.log(2) if users == 1 else math.log((users + 1) / users)


def test_brute_force_rejects_the_published_sensitivity_of_one_visit():
    assert agrees_with_brute_force(published_local, 1, 1)
    assert not agrees_with_brute_force(published_local, 1, 2)
    assert published_local(1, 2) < 0.41 < 0.69 < brute_local(1, 2)


@pytest.mark.parametrize("max_visits", [2, 3, 4, 7, 13])
def test_one_cell_of_the_grid_is_enough(max_visits):
    for users in range(1, 60):
        expected = increase_over_all_totals(max_visits, users)
        decrease = float(largest_decrease(max_visits, np.array([float(users)]))[0])
        assert largest_change(max_visits, users) == pytest.approx(max(expected, decrease), abs=1e-12)


@pytest.mark.parametrize(
    ("max_visits", "users"), [(60, 2), (60, 3), (60, 400), (29, 151), (3, 400), (2, 399)]
)
def test_one_cell_is_enough_for_many_users(max_visits, users):
    expected = increase_over_all_totals(max_visits, users)
    decrease = float(largest_decrease(max_visits, np.array([float(users)]))[0])
    assert largest_change(max_visits, users) == pytest.approx(max(expected, decrease), abs=1e-12)


def some_counts(random: np.random.Generator, max_visits: int, users: int) -> np.ndarray:
    """Counts of one of several shapes, the extreme ones often."""
    shape = random.integers(4)
    if shape == 0:
        return random.integers(1, max_visits + 1, users)
    if shape == 1:
        return np.minimum(random.zipf(1.5, users), max_visits)
    counts = np.ones(users, dtype=int)
    if shape == 2:
        counts[: random.integers(users + 1)] = max_visits
        counts[-1] = random.integers(1, max_visits + 1)
    return counts


def test_never_below_a_random_search():
    random = np.random.default_rng(20161031)
    for _ in range(6000):
        max_visits, users = int(random.integers(1, 61)), int(random.integers(1, 401))
        counts = some_counts(random, max_visits, users)
        joins = random.choice([1, max_visits, random.integers(1, max_visits + 1)])
        change = abs(entropy(np.append(counts, joins)) - entropy(counts))
        assert change <= largest_change(max_visits, users) + 1e-12
        assert change <= local_sensitivity(max_visits, users) + 1e-12
        assert change <= local_sensitivity(max_visits, users + 1) + 1e-12


# --- what the proofs say ------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_visits", [2, 3, 4, 5, 14, 15, 20, 60])
def test_increase_bounds_are_ordered_and_fall(max_visits):
    users = np.arange(1.0, 500.0)
    sharp, simple = increase_bound(max_visits, users), simple_increase_bound(max_visits, users)
    exact = np.array([increase_over_all_totals(max_visits, int(m)) for m in users[:40]])
    assert (exact <= sharp[:40] + 1e-13).all()
    assert (sharp <= simple + 1e-13).all()
    assert (np.diff(sharp) <= 0).all()
    assert (np.diff(simple) <= 0).all()


@pytest.mark.parametrize("max_visits", [4, 5, 14, 15, 60, 1000])
def test_beyond_one_crossing_the_decrease_is_all_there_is(max_visits):
    users = np.arange(1.0, 200_000.0)
    leads = largest_decrease(max_visits, users) >= simple_increase_bound(max_visits, users)
    first = int(np.argmax(leads))
    assert leads[first:].all()
    peak = max_visits / (math.log(max_visits) - 1)
    tail = users[max(first, math.ceil(peak)) :].astype(int)
    assert (largest_change(max_visits, tail) == largest_decrease(max_visits, tail.astype(float))).all()
    assert (np.diff(largest_change(max_visits, tail)) <= 0).all()


@pytest.mark.parametrize("max_visits", [1, 2, 3, 4, 5, 20, 60])
def test_supremum_is_the_largest_change_from_there_on(max_visits):
    change = largest_change(max_visits, np.arange(20_000))
    for start in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 100, 333, 1000, 9999):
        assert supremum_from(max_visits, start) == change[start:].max()


def test_supremum_of_many_users_is_found_at_once():
    assert supremum_from(2, 10**12) == pytest.approx(float(largest_change(2, 10**12)), rel=1e-9)
    assert supremum_from(1000, 10**12) == largest_change(1000, 10**12)


def exact_decrease(max_visits: int, users: int) -> Decimal:
    with localcontext(prec=60):
        m, c = Decimal(users), Decimal(max_visits)
        return (m / (m + c)).ln() + c / (m + c) * c.ln()


@pytest.mark.parametrize("max_visits", [4, 5, 20, 1000, MAX_TABULATED_VISITS])
@pytest.mark.parametrize("users", [50, 170, 10**4, 10**7, 2**52])
def test_floats_are_as_close_as_promised(max_visits, users):
    error = Decimal(float(largest_change(max_visits, users))) - exact_decrease(max_visits, users)
    assert abs(error) < Decimal(FLOAT_ERROR) / 1000


def test_published_global_sensitivity_is_close_above_for_two_visits_and_more():
    for max_visits in range(2, 400):
        log = math.log(max_visits)
        published = max(math.log(2), log - math.log(log) - 1)
        excess = published / global_sensitivity(max_visits) - 1
        assert -1e-12 <= excess <= PUBLISHED_THEOREM_1_EXCESS


# --- shapes and refusals ------------------------------------------------------------------------------------


def test_shape_and_order_of_the_users_do_not_matter():
    users = np.array([[7, 0, 1], [10**7, 3, 7]])
    values = local_sensitivity(5, users)
    assert values.shape == users.shape
    assert [local_sensitivity(5, int(n)) for n in users.ravel()] == values.ravel().tolist()
    assert local_sensitivity(5, []).shape == (0,)


@pytest.mark.parametrize("max_visits", [0, -1, 1.5, True, MAX_TABULATED_VISITS + 1])
def test_refuses_a_bound_that_is_none(max_visits):
    with pytest.raises(ParameterError, match="max_visits"):
        local_sensitivity(max_visits, 3)


def test_global_sensitivity_is_a_closed_form_and_has_no_small_limit():
    assert global_sensitivity(MAX_TABULATED_VISITS * 100) == pytest.approx(
        math.log(1e6) - math.log(math.log(1e6)) - 1, rel=1e-4
    )
    with pytest.raises(ParameterError, match="max_visits"):
        global_sensitivity(0)


@pytest.mark.parametrize("users", [-1, 1.5, [3, -2], 2**53 + 1, True])
def test_refuses_what_is_not_a_number_of_users_without_showing_it(users):
    with pytest.raises(ParameterError, match="users must") as error:
        local_sensitivity(5, users)
    assert "-2" not in str(error.value)
