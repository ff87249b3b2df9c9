"""How sure a rank is: chances that come true as often as they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.release.report.rank_posterior import (
    DeconvolvedPosterior,
    ModelPosterior,
    StepDensity,
    deconvolve,
    distribution,
    variation,
)
from locentropy.release.report.ranking import TOP, ranking_of, ranks, top_chances
from tests.examples import at_night

from .making import town

NUMBERS = st.floats(-50, 3000)
ERRORS = st.one_of(st.just(0.0), st.floats(1e-6, 900))
PLACES = st.lists(st.tuples(NUMBERS, ERRORS), min_size=TOP + 1, max_size=40)


@given(PLACES, st.sampled_from([DeconvolvedPosterior, ModelPosterior.of]))
def test_chances_are_shares_of_ten(places: list[tuple[float, float]], law: Callable[..., Any]) -> None:
    posterior = law(*np.array(places).T)
    found = top_chances(posterior)
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() == pytest.approx(TOP, abs=1e-6)
    certainty = posterior.certainty()
    assert ((certainty >= 0) & (certainty <= 1)).all()


@given(st.lists(NUMBERS, min_size=TOP + 1, max_size=30), st.floats(0.01, 50))
def test_with_one_error_for_all_higher_is_never_less_likely(values: list[float], error: float) -> None:
    value = np.array(values)
    for posterior in (
        DeconvolvedPosterior(value, np.full(len(value), error)),
        ModelPosterior.of(value, np.full(len(value), error)),
    ):
        found = top_chances(posterior)[np.argsort(value)]
        assert (np.diff(found) >= -1e-9).all()


@given(PLACES, NUMBERS, st.sampled_from([DeconvolvedPosterior, ModelPosterior.of]))
def test_some_places_are_asked_as_all_are(
    places: list[tuple[float, float]], line: float, law: Callable[..., Any]
) -> None:
    posterior = law(*np.array(places).T)
    some = np.arange(0, len(places), 3)
    assert posterior.above(line, some) == pytest.approx(posterior.above(line)[some], abs=1e-15)


def test_where_nothing_is_open_the_ten_are_certain() -> None:
    value = np.arange(30.0)
    for posterior in (DeconvolvedPosterior(value, np.zeros(30)), ModelPosterior.of(value, np.zeros(30))):
        assert top_chances(posterior) == pytest.approx([0.0] * 20 + [1.0] * 10)


def test_where_all_is_noise_nobody_is_ahead() -> None:
    generator = np.random.default_rng(0)
    value = 2.0 + 5.0 * generator.laplace(size=400) / np.sqrt(2)
    found = top_chances(DeconvolvedPosterior(value, np.full(400, 5.0)))
    naive = top_chances(ModelPosterior.of(value, np.full(400, 5.0)))
    assert found.max() < 0.1 < 0.7 < naive.max()
    assert found[np.argsort(-value)[:TOP]].sum() < 1, "a quarter of one would be right by chance"
    assert DeconvolvedPosterior(value, np.full(400, 5.0)).certainty().max() < 0.2


def test_the_law_of_a_truth_is_bayes_rule() -> None:
    generator = np.random.default_rng(3)
    value = generator.gamma(1.0, 1.5, 300) + generator.laplace(size=300) * 0.5
    posterior = DeconvolvedPosterior(value, np.full(300, 0.5 * np.sqrt(2)))
    law = deconvolve(value, np.full(300, 0.5))
    grid = np.linspace(law.edges[0], law.edges[-1], 640_001)
    middle = (grid[1:] + grid[:-1]) / 2
    prior = np.repeat(law.weights, 10_000)
    for at in (0, 7, int(value.argmax()), int(value.argmin())):
        density = prior * np.exp(-np.abs(value[at] - middle) / 0.5)
        for line in (-0.3, 0.1, 1.0, value[at], 2.7, 5.5):
            known = density[middle > line].sum() / density.sum()
            assert posterior.above(line)[at] == pytest.approx(known, abs=1e-4)


def test_a_law_is_learnt_that_no_normal_one_describes() -> None:
    """Most places quiet, one in fifty far out: the shape that cities have."""
    generator = np.random.default_rng(4)
    truth = np.where(
        np.arange(5000) % 50 == 0, generator.normal(6.0, 0.3, 5000), generator.normal(1.0, 0.3, 5000)
    )
    law = deconvolve(truth + 0.5 * generator.laplace(size=5000), np.full(5000, 0.5))
    middle = (law.edges[1:] + law.edges[:-1]) / 2
    assert law.weights.sum() == pytest.approx(1.0)
    assert law.weights[(middle > 4.5) & (middle < 7.5)].sum() == pytest.approx(0.02, abs=0.006)
    assert law.weights[(middle > -0.5) & (middle < 2.5)].sum() == pytest.approx(0.98, abs=0.03)
    assert law.variance == pytest.approx(truth.var(), rel=0.4)
    assert StepDensity(np.array([0.0, 6.0]), np.ones(1)).variance == pytest.approx(3.0)


def test_longer_lists_give_the_same_law() -> None:
    generator = np.random.default_rng(5)
    value = generator.gamma(1.0, 1.5, 60_000)
    value[:2] = 0.0, 20.0
    some = np.concatenate([value[:2], value[2::4]])
    longer, shorter = (deconvolve(each, np.full(len(each), 0.4)) for each in (value, some))
    assert (longer.edges == shorter.edges).all()
    assert np.abs(np.cumsum(longer.weights) - np.cumsum(shorter.weights)).max() < 0.02


def test_the_law_of_noise() -> None:
    draws = np.random.default_rng(6).laplace(size=200_000)
    for at in (-3.0, -0.5, 0.0, 0.2, 4.0):
        assert distribution(np.array(at)) == pytest.approx((draws <= at).mean() - 0.5, abs=0.004)


def test_variation_is_found() -> None:
    generator = np.random.default_rng(1)
    error = generator.uniform(0.1, 3.0, 20_000)
    value = generator.normal(2.0, 1.5, 20_000) + generator.laplace(size=20_000) * error / np.sqrt(2)
    mean, variance = variation(value, error)
    assert mean == pytest.approx(2.0, abs=0.05)
    assert variance == pytest.approx(2.25, rel=0.06)
    assert variation(np.array([3.0]), np.array([1.0])) == (3.0, 0.0)


Draw = Callable[[np.random.Generator], Any]
DRAWN: dict[str, Draw] = {
    "normal": lambda generator: generator.normal(2.0, 1.0, 300),
    "skewed": lambda generator: generator.gamma(0.5, 2.0, 300),
}


def calibration(law: Callable[..., Any], error: float, draw: Draw = DRAWN["normal"]) -> tuple[float, float]:
    """Said and seen: of places that are said to be likely among the ten, how many are."""
    generator = np.random.default_rng(2)
    said, seen = [], []
    for _ in range(300):
        truth = draw(generator)
        value = truth + generator.laplace(size=300) * error / np.sqrt(2)
        chance = top_chances(law(value, np.full(300, error)))
        highest = truth >= np.sort(truth)[-TOP]
        likely = chance > 0.3
        said.append(chance[likely])
        seen.append(highest[likely])
    return float(np.concatenate(said).mean()), float(np.concatenate(seen).mean())


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("error", [0.1, 0.8, *at_night(0.4)])
def test_chances_come_true_as_often_as_they_say(error: float, drawn: str) -> None:
    said, seen = calibration(DeconvolvedPosterior, error, DRAWN[drawn])
    assert said == pytest.approx(seen, abs=0.05)


def test_a_naive_chance_would_not() -> None:
    """The planted fault: take noisy values for what they are, and luck for merit."""
    said, seen = calibration(ModelPosterior.of, 0.8)
    assert said > seen + 0.1


@pytest.mark.parametrize("shared", ["unknown", "nothing", "nearly all"])
def test_what_all_places_share_changes_no_order(shared: str) -> None:
    """Chances come true on average where the shared part of an error may be anything, and are between the extremes."""
    generator = np.random.default_rng(4)
    error, said, seen = np.full(300, 0.5), [], []
    for _ in range(400):
        value = generator.gamma(2.0, 1.2, 300)
        part = {"unknown": generator.uniform(), "nothing": 0.0, "nearly all": 0.97}[shared]
        own, common = generator.normal(size=300) * np.sqrt(1 - part), generator.normal() * np.sqrt(part)
        truth = value + error * (own + common)
        chance = top_chances(ModelPosterior.of(value, error))
        likely = chance > 0.3
        said.append(chance[likely])
        seen.append((truth >= np.sort(truth)[-TOP])[likely])
    difference = float(np.concatenate(said).mean() - np.concatenate(seen).mean())
    assert {
        "unknown": abs(difference) < 0.02,
        "nothing": difference > 0.02,
        "nearly all": difference < -0.02,
    }[shared]


def test_a_side_is_as_wide_as_the_interval_and_never_wider_than_the_error() -> None:
    value, error = np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0])
    posterior = ModelPosterior.of(
        value, error, value - 1.96 * np.array([0.5, 1, 2]), value + 1.96 * np.array([2, 1, 0.5])
    )
    assert posterior.up.tolist() == pytest.approx([1.0, 1.0, 0.5])
    assert posterior.down.tolist() == pytest.approx([0.5, 1.0, 1.0])
    assert posterior.above(1.0) == pytest.approx([0.5] * 3)
    assert posterior.above(2.0)[2] < posterior.above(2.0)[0]


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_ranks(values: list[float]) -> None:
    found = ranks(np.array(values))
    assert found.tolist() == [1 + sum(other > value for other in values) for value in values]


def test_of_a_release() -> None:
    made = town(50, mechanism="LimitPTR")
    places = ranking_of(made)
    withheld = np.isnan(made.to_arrow()["entropy"].to_numpy())
    assert (places.rank[withheld] == 0).all()
    assert places.published == 33
    assert places.chance is not None
    assert np.isnan(places.chance[withheld]).all()
    assert np.nansum(places.chance) == pytest.approx(TOP)
    assert (places.rank[places.order[:33]] > 0).all()
    assert places.expected_right == pytest.approx(places.chance[places.order[:TOP]].sum())
    of_shares = town(50, mechanism="Shares")
    assert (ranking_of(of_shares).value == of_shares.to_arrow()["entropy"].to_numpy()).all()
    assert ranking_of(town(50, mechanism="LimitSS")).chance is None


def test_luck_is_counted_where_values_are_noisy_and_only_there() -> None:
    made = town(500, mechanism="Limit")
    places, error = ranking_of(made), np.full(500, 0.5)
    value = made.to_arrow()["entropy"].to_numpy()
    assert places.chance == pytest.approx(top_chances(DeconvolvedPosterior(value, error)))
    assert places.chance != pytest.approx(top_chances(ModelPosterior.of(value, error)), abs=0.05)
    inferred = town(500, mechanism="Shares")
    table = inferred.to_arrow()
    known = ModelPosterior.of(*(table[name].to_numpy() for name in ("entropy", "std_error", "low", "high")))
    assert ranking_of(inferred).chance == pytest.approx(top_chances(known))
