"""Inference: whatever the answers are, what is published is sane, and says nothing about the order of the list."""

from __future__ import annotations

import dataclasses
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.answers import Answers
from locentropy.mechanisms.shares.estimator.inference import Inferred, infer
from locentropy.mechanisms.shares.measurements import ShareQueries
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES
from tests.examples import at_night, examples

from .made_up import garbage, of_people, population, presence, reordered

MOST = 100_000
"""A public bound on people. A smaller one than the default makes the same work quicker."""
PURE, CONCENTRATED = ShareQueries(1.0), ShareQueries(1.0, 1e-8)
BOTH = pytest.mark.parametrize("asked", [PURE, CONCENTRATED], ids=["pure", "delta"])


def columns(found: Inferred) -> tuple[np.ndarray, ...]:
    return found.entropy, found.std_error, found.low, found.high


def check(found: Inferred, places: int, max_users: int) -> None:
    """All that must hold of any reading."""
    most = math.log(max_users)
    for values in columns(found):
        assert values.shape == (places,)
        assert np.isfinite(values).all()
        assert (values >= 0).all()
    for values in (found.entropy, found.low, found.high):
        assert (values <= most).all()
    assert (found.low <= found.entropy).all()
    assert (found.entropy <= found.high).all()


# --- any answers at all -------------------------------------------------------------------------------------------

ANY = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**26), 2**26), st.integers(-1000, 1000))


@st.composite
def any_answers(draw) -> Answers:
    epsilon = draw(st.sampled_from([0.01, 0.1, 1.0, 5.0, 100.0]))
    asked = ShareQueries(epsilon, draw(st.sampled_from([0, 1e-8])))
    look = draw(st.lists(ANY, min_size=1, max_size=12))
    if draw(st.booleans()):
        look = [-abs(each + 1) for each in look]
    values = [draw(st.lists(ANY, min_size=1, max_size=40)) for _ in range(3)]
    return garbage(look, *values, asked)


@settings(max_examples=examples(10, nightly=500), deadline=None)
@given(answers=any_answers(), max_users=st.sampled_from([2, 8, 50, 300, 3000, 10**6]))
def test_any_answers_give_a_sane_release(answers, max_users):
    check(infer(answers, max_users), answers.look.size, max_users)


LEVELS = {"nothing": 0, "below": -(2**30), "far below": -(2**62), "above": 2**30, "far above": 2**62}


OFTEN = [("nothing", "nothing"), ("above", "below"), ("far above", "far below"), ("far below", "far above")]
SELDOM = [pair for pair in product(LEVELS, LEVELS) if pair not in OFTEN]


@pytest.mark.parametrize("pair", [*OFTEN, *at_night(*SELDOM)], ids=" and ".join)
def test_answers_that_contradict_each_other_are_survived(pair):
    level, other = pair
    for asked in (ShareQueries(0.01), ShareQueries(100), ShareQueries(1.0, 1e-8)):
        answers = garbage([LEVELS[level]] * 5, [LEVELS[level]], [-LEVELS[other]], [LEVELS[other]], asked)
        check(infer(answers, 300), 5, 300)


# --- the list -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[PURE, CONCENTRATED], ids=["pure", "delta"])
def usual(request) -> Answers:
    rows = population(np.random.default_rng(0), 3000, 300, 1.2)
    return of_people(*rows, 300, request.param, seed=1)


def test_the_same_answers_give_the_same_release(usual):
    for here, there in zip(columns(infer(usual, MOST)), columns(infer(usual, MOST)), strict=True):
        assert (here == there).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_places_in_another_order_have_the_same_values(usual, seed):
    order = np.random.default_rng(seed).permutation(usual.look.size)
    there = columns(infer(reordered(usual, order), MOST))
    for one, other in zip(columns(infer(usual, MOST)), there, strict=True):
        assert other == pytest.approx(one[order], abs=1e-6)


def test_a_place_answers_for_itself(usual):
    """More presence at one place, and what is said of it rises; what is said of the others hardly changes."""
    at = int(np.argsort(usual.look)[150])
    look = usual.look.copy()
    look[at] += 40 * usual.look_scale
    before, after = infer(usual, MOST), infer(dataclasses.replace(usual, look=look), MOST)
    assert after.entropy[at] > before.entropy[at] + 1
    others = np.arange(usual.look.size) != at
    assert np.abs(after.entropy - before.entropy)[others].mean() < 0.1


@pytest.mark.parametrize("max_users", [2, 8, 100, 300, 10**10])
def test_the_bound_on_people_is_kept(usual, max_users):
    check(infer(usual, max_users), 300, max_users)


def test_a_bound_far_above_all_crowds_changes_little(usual):
    few, many = infer(usual, 100_000), infer(usual, 10**9)
    assert many.entropy == pytest.approx(few.entropy, abs=0.2)


def test_crowds_of_a_whole_continent_are_read():
    sizes, visits = np.zeros(SIZE_OCTAVES), np.zeros(2 * VISIT_OCTAVES)
    sizes[0] = visits[0] = 1.5e8
    answers = garbage(presence(np.full(3, 5e7)), presence(sizes), presence(visits), [0], PURE)
    found = infer(answers, 10**10)
    check(found, 3, 10**10)
    assert found.entropy == pytest.approx(math.log(5e7), abs=0.8)


# --- lists that are not like others -----------------------------------------------------------------------------

PEOPLE = 500


def city(asked: ShareQueries, seed: int, place: np.ndarray, listed: int) -> Inferred:
    """Everybody at one place, given for each person, three times."""
    rows = np.arange(place.size), place, np.full(place.size, 3)
    return infer(of_people(*rows, listed, asked, seed), MOST)


@BOTH
def test_no_place_at_all(asked):
    found = city(asked, 0, np.zeros(0, dtype=np.int64), 0)
    check(found, 0, MOST)


@BOTH
def test_one_place_alone(asked):
    found = city(asked, 1, np.zeros(PEOPLE, dtype=np.int64), 1)
    check(found, 1, MOST)
    assert found.low[0] <= math.log(PEOPLE) <= found.high[0]
    assert found.entropy[0] == pytest.approx(math.log(PEOPLE), abs=1.5)


@BOTH
@pytest.mark.parametrize("listed", [1, 2, 50])
def test_nobody_anywhere(asked, listed):
    found = city(asked, 2, np.zeros(0, dtype=np.int64), listed)
    check(found, listed, MOST)
    assert (found.low == 0).mean() > 0.9
    if listed >= 50:
        assert found.entropy.mean() < 0.7


@BOTH
def test_everybody_at_one_place_of_many(asked):
    found = city(asked, 3, np.zeros(PEOPLE, dtype=np.int64), 200)
    check(found, 200, MOST)
    assert found.low[0] <= math.log(PEOPLE) <= found.high[0]
    assert found.entropy[0] > found.entropy[1:].max() + 2
    assert np.median(found.entropy[1:]) < 1


@BOTH
def test_empty_places_come_out_lower_than_visited_ones(asked):
    draw = np.random.default_rng(4)
    found = city(asked, 4, draw.integers(0, 100, 4000), 200)
    check(found, 200, MOST)
    assert found.entropy[:100].mean() > found.entropy[100:].mean() + 2
