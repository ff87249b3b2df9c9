"""The Bayes risk of a look: against a simulation of the same model, and what must hold for any numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.bayes_risk import BUSY, WIDTHS, LookNoise, family, risk

KINDS = st.sampled_from(["laplace", "gaussian"])


def test_a_look_without_noise_leaves_what_presence_scatters() -> None:
    found = risk(LookNoise("laplace", 1e-3, 1.0), 200.0, 5.0, 1.3, 0.0)
    assert 0.01 < math.sqrt(found.error) < 0.35
    assert found.error < 0.1 * found.spread


def test_a_look_that_is_all_noise_leaves_everything() -> None:
    found = risk(LookNoise("gaussian", 1e6, 1.0), 20.0, 5.0, 1.3, 0.3)
    assert found.error == pytest.approx(found.spread, rel=0.01)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_nobody_can_do_better_and_who_knows_the_law_does_as_well(kind: str, scale: float) -> None:
    """A million places of the model; the best function of the look, by its own bins, errs as much as is told."""
    draw = np.random.default_rng(1)
    noise, each, width = LookNoise(kind, scale, 1.0), 4.0, 1.3
    share, square = noise.shares(each)
    around = np.exp(draw.normal(math.log(30) - width**2 / 2, width, 1_000_000))
    visitors = draw.poisson(around)
    deviation = np.sqrt(visitors * (square - share**2) + (0.2 * share * visitors) ** 2)
    presence = np.maximum(visitors * share + deviation * draw.normal(size=visitors.size), 0.0)
    drawn = draw.laplace(size=visitors.size) if kind == "laplace" else draw.normal(size=visitors.size)
    entropy = np.log(np.maximum(visitors, 1))
    order = np.argsort(presence + scale * drawn)
    best = (
        sum(((part - part.mean()) ** 2).sum() for part in np.array_split(entropy[order], 2000)) / entropy.size
    )
    assert risk(noise, 30.0, each, width, 0.0).error == pytest.approx(best, rel=0.1)


@given(KINDS, st.floats(1e-3, 1e5), st.floats(1e-4, 1e6), st.one_of(st.none(), st.floats(0.5, 1e4)))
def test_any_numbers(kind: str, scale: float, people: float, each: float | None) -> None:
    for found in family(LookNoise(kind, scale, 1.0), people, each):
        assert 0 <= found.error <= found.spread * 1.001
        assert np.isfinite([found.error, found.spread]).all()
        assert math.isnan(found.busy) or found.busy >= 0


def test_more_is_left_of_the_spread_with_more_noise() -> None:
    for width in WIDTHS:
        left = [
            found.error / found.spread
            for scale in (0.1, 1.0, 10.0, 100.0)
            for found in [risk(LookNoise("laplace", scale, 1.0), 30.0, 6.0, width, 0.1)]
        ]
        assert left == sorted(left)


def test_places_without_a_crowd_have_no_busy_ones() -> None:
    assert math.isnan(risk(LookNoise("laplace", 1.0, 1.0), BUSY / 100, 3.0, 0.8, 0.1).busy)


@given(st.floats(1.0, 1000.0))
def test_a_person_has_one_unit(each: float) -> None:
    """Visitors of one place bring a share each; over all places of a person they add up to one, in ℓ₁ or in ℓ₂."""
    share, square = LookNoise("laplace", 1.0, 1.0).shares(each)
    assert share**2 <= square * (1 + 1e-9)
    assert share <= 1
    _, square = LookNoise("gaussian", 1.0, 1.0).shares(each)
    assert square <= 1
