"""Inference: whatever the answers are, what is published is sane, and says nothing about the order of the list."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.inference import Inferred, infer
from locentropy.mechanisms.shares.measurements import SIZE_OCTAVES, VISIT_OCTAVES, Answers
from tests.examples import examples

from .made_up import garbage, of_people, of_the_model, reordered

MOST = 1_000_000
"""A public bound on people. A smaller one than the default makes the same work quicker."""


def check(found: Inferred, places: int, max_users: int) -> None:
    """All that must hold of any reading."""
    most = math.log(max_users)
    for values in found:
        assert values.shape == (places,)
        assert np.isfinite(values).all()
        assert (values >= 0).all()
    for values in (found.entropy, found.entropy_busy, found.low, found.high):
        assert (values <= most).all()
    assert (found.low <= found.entropy).all()
    assert (found.entropy <= found.high).all()
    assert (found.entropy_busy <= found.high).all()


# --- any answers at all -------------------------------------------------------------------------------------------

ANY = st.one_of(st.floats(-1e7, 1e7), st.floats(-30, 30), st.floats(-1e-3, 1e-3))


@st.composite
def any_answers(draw) -> Answers:
    places = draw(st.integers(1, 12))
    look = draw(st.lists(ANY, min_size=places, max_size=places))
    if draw(st.booleans()):
        look = [-abs(each) for each in look]
    sizes = draw(st.lists(ANY, min_size=SIZE_OCTAVES, max_size=SIZE_OCTAVES))
    visits = draw(st.lists(ANY, min_size=VISIT_OCTAVES, max_size=VISIT_OCTAVES))
    split = draw(st.lists(st.tuples(ANY, ANY), min_size=places, max_size=places))
    epsilon = draw(st.sampled_from([0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 100.0]))
    return garbage(look, sizes, visits, split, epsilon)


@settings(max_examples=examples(25))
@given(answers=any_answers(), max_users=st.sampled_from([2, 8, 50, 300, 3000, 10**6]))
def test_any_answers_give_a_sane_release(answers, max_users):
    check(infer(answers, max_users), answers.look.size, max_users)


LEVELS = {"nothing": 0.0, "below": -1e3, "far below": -1e9, "above": 1e3, "far above": 1e9}


@pytest.mark.parametrize("pair", LEVELS)
@pytest.mark.parametrize("level", LEVELS)
def test_answers_that_contradict_each_other_are_survived(level, pair):
    look, split = np.full(5, LEVELS[level]), np.full((5, 2), LEVELS[pair])
    flat = np.full(SIZE_OCTAVES, LEVELS[level]), np.full(VISIT_OCTAVES, -LEVELS[pair])
    for epsilon in (0.01, 100):
        check(infer(garbage(look, *flat, split, epsilon), 300), 5, 300)


# --- the list -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def usual() -> Answers:
    draw = np.random.default_rng(0)
    return of_the_model(draw, draw.poisson(np.exp(draw.normal(2, 1.2, 300))), 1.0, seed=1)[0]


def test_the_same_answers_give_the_same_release(usual):
    for here, there in zip(infer(usual, MOST), infer(usual, MOST), strict=True):
        assert (here == there).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_places_in_another_order_have_the_same_values(usual, seed):
    order = np.random.default_rng(seed).permutation(usual.look.size)
    for here, there in zip(infer(usual, MOST), infer(reordered(usual, order), MOST), strict=True):
        assert there == pytest.approx(here[order], abs=1e-9)


def test_a_place_answers_for_itself(usual):
    """More presence at one place, and what is said of it rises; what is said of the others hardly changes."""
    at = int(np.argsort(usual.look)[150])
    look = usual.look.copy()
    look[at] += 40
    split = usual.split.copy()
    split[at] *= look[at] / max(usual.look[at], 1.0)
    before, after = infer(usual, MOST), infer(dataclasses.replace(usual, look=look, split=split), MOST)
    assert after.entropy[at] > before.entropy[at] + 1
    others = np.arange(usual.look.size) != at
    assert np.abs(after.entropy - before.entropy)[others].mean() < 0.1


@pytest.mark.parametrize("max_users", [2, 8, 100, 126, 300, 10**10])
def test_the_bound_on_people_is_kept(usual, max_users):
    check(infer(usual, max_users), 300, max_users)


def test_crowds_of_a_whole_continent_are_read():
    look = np.full(3, 5e7)
    sizes, visits = np.zeros(SIZE_OCTAVES), np.zeros(VISIT_OCTAVES)
    sizes[0] = visits[0] = look.sum()
    found = infer(garbage(look, sizes, visits, look[:, None] * [0.63, -0.18], 1.0), 10**10)
    check(found, 3, 10**10)
    assert found.entropy == pytest.approx(math.log(5e7), abs=0.5)


def test_a_bound_far_above_all_crowds_changes_little(usual):
    few, many = infer(usual, 100_000), infer(usual, 10**9)
    assert many.entropy == pytest.approx(few.entropy, abs=0.1)


# --- lists that are not like others -----------------------------------------------------------------------------

PEOPLE = 500


def city(epsilon: float, seed: int, place: np.ndarray, listed: int) -> Inferred:
    """Everybody at one place, given for each person, three times."""
    rows = np.arange(place.size), place, np.full(place.size, 3)
    return infer(of_people(*rows, listed, epsilon, seed), MOST)


@pytest.mark.parametrize("epsilon", [0.5, 1, 10])
def test_one_place_alone(epsilon):
    found = city(epsilon, 1, np.zeros(PEOPLE, dtype=np.int64), 1)
    check(found, 1, MOST)
    assert found.low[0] <= math.log(PEOPLE) <= found.high[0]
    assert found.entropy[0] == pytest.approx(math.log(PEOPLE), abs=1.5)


@pytest.mark.parametrize("epsilon", [0.1, 1])
@pytest.mark.parametrize("listed", [1, 2, 50])
def test_nobody_anywhere(epsilon, listed):
    found = city(epsilon, 2, np.zeros(0, dtype=np.int64), listed)
    check(found, listed, MOST)
    assert (found.low == 0).mean() > 0.9
    if epsilon >= 1 and listed >= 50:
        assert found.entropy.mean() < 0.7


@pytest.mark.parametrize("epsilon", [0.5, 1, 10])
def test_everybody_at_one_place_of_many(epsilon):
    found = city(epsilon, 3, np.zeros(PEOPLE, dtype=np.int64), 200)
    check(found, 200, MOST)
    assert found.low[0] <= math.log(PEOPLE) <= found.high[0]
    assert found.entropy[0] > found.entropy[1:].max() + 2
    assert np.median(found.entropy[1:]) < 1


def test_empty_places_come_out_lower_than_visited_ones():
    draw = np.random.default_rng(4)
    found = city(1.0, 4, draw.integers(0, 100, 4000), 200)
    check(found, 200, MOST)
    assert found.entropy[:100].mean() > found.entropy[100:].mean() + 2
