"""The reading as a statistic: errors and error bars over places that follow the model, under simulated noise."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator.inference import Inferred, infer

from .made_up import entropies, of_people, of_the_model

MOST = 1_000_000
KINDS = {
    "sparse": (2000, 1.0, 1.3),
    "usual": (2000, 2.5, 1.0),
    "dense": (1000, 4.5, 1.0),
    "short": (200, 2.5, 1.2),
}
"""How many places, and mean and deviation of the logarithm of their crowds."""
BUSY = 20


@dataclass(frozen=True, eq=False)
class Run:
    """One reading, and the truth."""

    found: Inferred
    truth: np.ndarray
    crowds: np.ndarray

    @property
    def covered(self) -> float:
        return float(np.mean((self.found.low <= self.truth) & (self.truth <= self.found.high)))

    @property
    def error(self) -> float:
        return float(np.mean((self.found.entropy - self.truth) ** 2))

    @property
    def constant(self) -> float:
        """The error of the best constant."""
        return float(self.truth.var())


@cache
def run(kind: str, epsilon: float) -> Run:
    places, mean, deviation = KINDS[kind]
    draw = np.random.default_rng(11)
    crowds = draw.poisson(np.exp(draw.normal(mean, deviation, places)))
    answers, truth = of_the_model(draw, crowds, epsilon, seed=11)
    return Run(infer(answers, MOST), truth, crowds)


@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [("sparse", 0.5), ("sparse", 1.0), ("sparse", 5.0), ("usual", 1.0), ("dense", 1.0), ("short", 1.0)],
)
def test_intervals_hold_and_the_error_is_below_that_of_a_constant(kind, epsilon):
    here = run(kind, epsilon)
    assert here.covered >= 0.92
    assert here.error < 0.8 * here.constant
    # The standard error is an honest one, on the safe side.
    assert (here.found.std_error**2).mean() > 0.8 * here.error


def test_more_budget_means_less_error():
    errors = [run("sparse", epsilon).error for epsilon in (0.1, 0.5, 1.0, 5.0)]
    assert (np.diff(errors) < 0).all()


def test_even_a_tiny_budget_is_hardly_worse_than_a_constant():
    assert run("sparse", 0.1).error < 1.05 * run("sparse", 0.1).constant


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_busy_places_are_better_served_by_their_own_column(epsilon):
    """And the others by `entropy`: which is why there are two."""
    here = run("sparse", epsilon)
    busy = here.crowds >= BUSY
    plain, served = ((column - here.truth) ** 2 for column in (here.found.entropy, here.found.entropy_busy))
    assert served[busy].mean() < 0.9 * plain[busy].mean()
    assert served.mean() > plain.mean()


def test_noise_that_is_not_what_it_is_said_to_be_is_seen():
    """Planted: the scale of the look's noise is told a fifth of what it is. Then intervals no longer hold."""
    draw = np.random.default_rng(7)
    crowds = draw.poisson(np.exp(draw.normal(1.0, 1.3, 2000)))
    answers, truth = of_the_model(draw, crowds, 0.5, seed=7)
    wrong = dataclasses.replace(answers, look_scale=answers.look_scale / 5)
    told = Run(infer(wrong, MOST), truth, crowds)
    assert Run(infer(answers, MOST), truth, crowds).covered >= 0.92 > told.covered


def test_two_places_with_the_same_visitors_come_apart_where_the_noise_allows():
    """One place is visited once by everybody, the other ruled by a tenth: at a large ε the pair must tell them apart."""
    draw = np.random.default_rng(5)
    people, places, twins = 3000, 200, 200
    user, place = np.repeat(np.arange(people), 3), draw.integers(0, places, 3 * people)
    user, place = np.unique(np.stack([user, place]), axis=1)
    visits = np.maximum(1, np.rint(np.exp(draw.normal(0.7, 1.0, user.size)))).astype(np.int64)
    even, ruled = np.ones(twins, dtype=np.int64), np.where(np.arange(twins) < 20, 40, 1)
    rows = (
        np.concatenate([user, np.tile(np.arange(twins) * 10, 2)]),
        np.concatenate([place, np.repeat([places, places + 1], twins)]),
        np.concatenate([visits, even, ruled]),
    )
    truth = entropies(*rows[1:], places + 2)
    found = infer(of_people(*rows, places + 2, 10.0, seed=5), MOST)
    assert truth[-2] - truth[-1] > 1
    assert found.entropy[-2] - found.entropy[-1] > 0.25 * (truth[-2] - truth[-1])
