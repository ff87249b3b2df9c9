"""The reading as a statistic: errors and error bars over people who follow the model, under simulated noise."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator.attributes import location_cells
from locentropy.mechanisms.shares.estimator.inference import Inferred, infer
from locentropy.mechanisms.shares.measurements import ShareQueries

from .made_up import entropies, of_people, population

MOST = 100_000
KINDS = {
    "sparse": (3000, 2000, 1.3),
    "usual": (5000, 1000, 1.0),
    "dense": (20_000, 400, 1.0),
    "short": (800, 150, 1.2),
}
"""How many people and places, and the deviation of the logarithm of how popular places are."""
DELTA = 1e-8


@dataclass(frozen=True, eq=False)
class Run:
    """One reading, and the truth."""

    found: Inferred
    truth: np.ndarray
    crowds: np.ndarray

    def covered(self, least: int = 0) -> float:
        held = (self.found.low <= self.truth) & (self.truth <= self.found.high)
        return float(held[self.crowds >= least].mean())

    @property
    def error(self) -> float:
        return float(np.mean((self.found.entropy - self.truth) ** 2))

    @property
    def constant(self) -> float:
        """The error of the best constant."""
        return float(self.truth.var())


@cache
def people(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    users, listed, spread = KINDS[kind]
    return population(np.random.default_rng(11), users, listed, spread)


@cache
def run(kind: str, epsilon: float, delta: float = 0) -> Run:
    rows, listed = people(kind), KINDS[kind][1]
    found = infer(of_people(*rows, listed, ShareQueries(epsilon, delta), seed=12), MOST)
    return Run(found, entropies(*rows[1:], listed), np.bincount(rows[1], minlength=listed))


@pytest.mark.parametrize("delta", [0, DELTA])
@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [("sparse", 0.5), ("sparse", 1.0), ("sparse", 5.0), ("usual", 1.0), ("dense", 1.0), ("short", 1.0)],
)
def test_intervals_hold_and_the_error_is_below_that_of_a_constant(kind, epsilon, delta):
    here = run(kind, epsilon, delta)
    assert here.covered() >= 0.92
    assert here.covered(20) >= 0.9
    assert here.error < (0.8 if epsilon >= 1 else 0.9) * here.constant
    # The standard error is an honest one, on the safe side.
    assert (here.found.std_error**2).mean() > 0.8 * here.error


@pytest.mark.parametrize("delta", [0, DELTA])
def test_more_budget_means_less_error(delta):
    errors = [run("usual", epsilon, delta).error for epsilon in (0.1, 0.5, 1.0, 5.0)]
    assert (np.diff(errors) < 0).all()


@pytest.mark.parametrize("kind", ["usual", "sparse"])
@pytest.mark.parametrize("delta", [0, DELTA])
def test_even_a_tiny_budget_is_hardly_worse_than_a_constant(kind, delta):
    here = run(kind, 0.1, delta)
    assert here.error < 1.05 * here.constant


def test_noise_that_is_not_what_it_is_said_to_be_is_seen():
    """Planted: the scale of the look's noise is told a tenth of what it is. Then intervals no longer hold."""
    rows, listed = people("sparse"), KINDS["sparse"][1]
    answers = of_people(*rows, listed, ShareQueries(0.5), seed=7)
    wrong = dataclasses.replace(answers, look_scale=answers.look_scale / 10)
    truth, crowds = entropies(*rows[1:], listed), np.bincount(rows[1], minlength=listed)
    told, right = (Run(infer(each, MOST), truth, crowds) for each in (wrong, answers))
    assert right.covered() >= 0.92 > told.covered()


@pytest.mark.parametrize("delta", [0, DELTA])
def test_two_places_with_the_same_visitors_come_apart_where_the_noise_allows(delta):
    """One place is visited once by everybody, the other ruled by some: at a large ε the split must tell them apart.

    In the mean of some draws of noise: so little of it is left that a few of the simulated places decide each.
    """
    draw = np.random.default_rng(5)
    users, listed, twins = 3000, 200, 400
    user, place, visits = population(draw, users, listed, 0.8)
    # Places differ in how often people come, so that a difference is believed.
    visits = np.ceil(visits * np.exp(draw.normal(0, 1, listed))[place]).astype(np.int64)
    even, ruled = np.ones(twins, dtype=np.int64), np.where(np.arange(twins) < 100, 30, 1)
    rows = (
        np.concatenate([user, np.tile(np.arange(twins) * 7, 2)]),
        np.concatenate([place, np.repeat([listed, listed + 1], twins)]),
        np.concatenate([visits, even, ruled]),
    )
    truth = entropies(*rows[1:], listed + 2)
    asked = ShareQueries(20.0, delta)
    found = np.mean(
        [infer(of_people(*rows, listed + 2, asked, seed), MOST).entropy[-2:] for seed in range(5, 9)], axis=0
    )
    assert truth[-2] - truth[-1] > 0.8
    assert found[0] - found[1] > 0.2 * (truth[-2] - truth[-1])


@pytest.mark.parametrize("delta", [0, DELTA])
def test_empty_cells_that_lean_on_cells_nearby_are_published_near_zero(delta):
    """A grid that is mostly water, with a town in the corner of it."""
    side, town = 50, 18
    row, column = np.divmod(np.arange(town**2), town)
    user, place, visits = population(np.random.default_rng(13), 4000, town**2, 1.3)
    place = (side * row + column)[place]
    truth, crowds = entropies(place, visits, side**2), np.bincount(place, minlength=side**2)
    lat, lon = (0.002 * each.astype(np.float64) for each in np.divmod(np.arange(side**2), side))
    answers = of_people(user, place, visits, side**2, ShareQueries(1.0, delta), seed=14)
    plain, cells = (
        Run(each, truth, crowds)
        for each in (infer(answers, MOST), infer(answers, MOST, location_cells(lat, lon), cells=True))
    )
    empty = crowds == 0
    assert empty.mean() > 0.8
    assert cells.error < 0.75 * plain.error
    assert cells.found.entropy[empty].mean() < min(0.08, 0.5 * plain.found.entropy[empty].mean())
    # Nobody may be there: however little the value is above 0, the interval begins at 0.
    assert (cells.found.low[empty] <= 0).mean() > 0.99
    assert cells.covered() >= 0.92
    assert cells.covered(20) >= 0.9
