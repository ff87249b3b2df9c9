"""Components and posterior, against sums over every made-up place."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator import posterior as parts
from locentropy.mechanisms.shares.estimator import posterior as places
from locentropy.mechanisms.shares.estimator.posterior import BANDS, components, law_shares, posterior
from locentropy.mechanisms.shares.estimator.simulated_places import SimulatedPlaces

COPIES = 6000
NOISE = 1.0
"""Scale of the noise of a pair."""


class Case(NamedTuple):
    """A cloud with one n in each band and two laws, in which entropy and pair are normal together."""

    cloud: SimulatedPlaces
    weights: np.ndarray
    shares: np.ndarray
    bin_of: np.ndarray
    split: np.ndarray


@pytest.fixture
def case(monkeypatch) -> Case:
    # A pair then differs from its component by noise alone, as in the sums below.
    monkeypatch.setattr(parts, "MISMATCH", 0.0)
    draw = np.random.default_rng(0)
    visitors = np.array([start + 2 for start in BANDS])
    laws = 2
    entropy = np.empty((visitors.size, laws, COPIES))
    pair = np.empty((visitors.size, laws, COPIES, 2))
    for at in range(visitors.size):
        for law in range(laws):
            mean = [4.0 + at - law, 5.0 * at + 6 * law, 2.0 * at - 3 * law]
            root = draw.normal(size=(3, 3)) * np.array([[0.4], [1.5], [1.0]])
            drawn = mean + draw.normal(size=(COPIES, 3)) @ root.T
            entropy[at, law], pair[at, law] = drawn[:, 0], drawn[:, 1:]
    presence = np.repeat(np.arange(visitors.size)[:, None] * 10.0, COPIES, axis=1)
    cloud = SimulatedPlaces(visitors, presence, entropy, pair)
    weights = draw.random((visitors.size, COPIES, 3)) ** 2 * draw.random((visitors.size, 1, 3))
    weights = weights.reshape(-1, 3)
    weights /= weights.sum(axis=0)
    shares = draw.dirichlet(np.ones(laws), len(BANDS))
    # Pairs that come about by themselves, so that many made-up places are near each of them.
    split = pair.reshape(-1, 2)[draw.integers(0, pair.size // 2, 40)] + draw.laplace(0, NOISE, (40, 2))
    return Case(cloud, weights, shares, draw.integers(0, 3, 40), split)


def every_made_up_place(case: Case, at: int) -> tuple[np.ndarray, np.ndarray]:
    """All made-up places: how likely each is for the given place, and its entropy. Noise counts as normal."""
    off = case.split[at] - case.cloud.pair
    fits = np.exp(-(off**2).sum(axis=-1) / (4 * NOISE**2))
    band = np.searchsorted(BANDS, case.cloud.visitors, side="right") - 1
    here = case.weights[:, case.bin_of[at]].reshape(case.cloud.presence.shape)
    likely = here[:, None, :] * case.shares[band][:, :, None] * fits
    return likely / likely.sum(), case.cloud.entropy


def test_the_posterior_is_that_of_all_made_up_places(case):
    found = posterior(components(case.cloud, case.weights, NOISE), case.shares, case.bin_of, case.split)
    for at in range(len(case.split)):
        likely, entropy = every_made_up_place(case, at)
        mean = (likely * entropy).sum()
        spread = math.sqrt((likely * entropy**2).sum() - mean**2)
        assert found.entropy[at] == pytest.approx(mean, abs=0.06)
        assert math.sqrt(found.variance[at]) == pytest.approx(spread, rel=0.08)


def test_the_pair_moves_the_estimate_and_shortens_the_interval(case):
    """Planted: pairs that say nothing. Then they must not move anything, and what is left is wider."""
    told = posterior(components(case.cloud, case.weights, NOISE), case.shares, case.bin_of, case.split)
    deaf = posterior(components(case.cloud, case.weights, 1e9), case.shares, case.bin_of, case.split)
    for at in np.unique(case.bin_of):
        assert np.ptp(deaf.entropy[case.bin_of == at]) < 1e-6
        assert np.ptp(told.entropy[case.bin_of == at]) > 0.5
    assert told.variance.mean() < 0.8 * deaf.variance.mean()
    assert (told.below + told.above).mean() < 0.9 * (deaf.below + deaf.above).mean()


def test_without_a_pair_one_component_has_its_own_quantiles(case):
    only = np.zeros_like(case.weights).reshape(*case.cloud.presence.shape, -1)
    only[1] = case.weights.reshape(only.shape)[1]
    weights = only.reshape(case.weights.shape) / only.sum(axis=(0, 1))
    shares = np.tile([1.0 - 1e-12, 1e-12], (len(BANDS), 1))
    found = posterior(components(case.cloud, weights, 1e9), shares, case.bin_of, case.split)
    entropy = case.cloud.entropy[1, 0]
    order = np.argsort(entropy)
    for at, here in enumerate(case.bin_of):
        reached = np.cumsum(only[1, order, here]) / only[1, :, here].sum()
        low, high = (entropy[order][np.searchsorted(reached, end)] for end in (0.025, 0.975))
        assert found.entropy[at] - found.below[at] == pytest.approx(low, abs=0.01)
        assert found.entropy[at] + found.above[at] == pytest.approx(high, abs=0.01)


def test_components_left_out_are_those_that_do_not_matter(case, monkeypatch):
    made = components(case.cloud, case.weights, NOISE)
    some = posterior(made, case.shares, case.bin_of, case.split)
    monkeypatch.setattr(places, "NEGLIGIBLE", 1e-300)
    every = posterior(made, case.shares, case.bin_of, case.split)
    for here, there in zip(some, every, strict=True):
        assert here == pytest.approx(there, abs=0.02)


def test_every_part_is_finite_where_a_band_is_impossible(case):
    """In a bin whose look only the largest band explains, the others have weight 0."""
    weights = case.weights.copy()
    weights[: 3 * COPIES] = 0.0
    made = components(case.cloud, weights / weights.sum(axis=0), NOISE)
    for part in made:
        assert np.isfinite(part).all()
    found = posterior(made, case.shares, case.bin_of, case.split)
    for value in found:
        assert np.isfinite(value).all()
    assert found.entropy.min() > 3.0


# --- how common laws are ----------------------------------------------------------------------------------------


def told(case: Case, planted: np.ndarray, count: int, weights: np.ndarray) -> np.ndarray:
    """Law shares as learnt from places drawn with the planted ones."""
    draw = np.random.default_rng(1)
    bin_of = draw.integers(0, 3, count)
    cells, laws = case.cloud.presence.shape[0], planted.shape[1]
    split = np.empty((count, 2))
    for at, here in enumerate(bin_of):
        band = draw.choice(cells, p=weights[:, here].reshape(cells, -1).sum(axis=1))
        law = draw.choice(laws, p=planted[band])
        split[at] = case.cloud.pair[band, law, draw.integers(COPIES)] + draw.laplace(0, NOISE, 2)
    return law_shares(components(case.cloud, weights, NOISE), bin_of, split, np.full(laws, 1 / laws))


def one_band(case: Case, band: int) -> np.ndarray:
    only = np.zeros((len(BANDS), COPIES, 3))
    only[band] = 1 / COPIES
    return only.reshape(-1, 3)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_planted_law_shares_are_found(case, share):
    planted = np.tile([share, 1 - share], (len(BANDS), 1))
    found = told(case, planted, 3000, one_band(case, 2))
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[2, 0] == pytest.approx(share, abs=0.07)


def test_bands_may_differ(case):
    """Homes do not set the law of venues."""
    planted = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    weights = np.full_like(case.weights, 1 / len(case.weights))
    found = told(case, planted, 4000, weights)
    assert (found[:2, 0] > 0.7).all()
    assert (found[2:, 0] < 0.3).all()


def test_few_places_hardly_move_what_was_expected(case):
    planted = np.tile([1.0, 0.0], (len(BANDS), 1))
    few, many = (told(case, planted, count, one_band(case, 2))[2, 0] for count in (3, 3000))
    assert few < 0.65
    assert many > 0.9
