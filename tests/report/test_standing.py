"""How sure a rank is: chances that come true as often as they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.report.beliefs import Noisy, Settled, chances, variation
from locentropy.report.standing import TOP, ranks, standing

from .making import town

NUMBERS = st.floats(-50, 3000)
ERRORS = st.one_of(st.just(0.0), st.floats(1e-6, 900))
PLACES = st.lists(st.tuples(NUMBERS, ERRORS), min_size=TOP + 1, max_size=40)


def chances_of(belief: Any) -> Any:
    reach = 40 * belief.error.max() + 1
    return chances(belief, belief.value.min() - reach, belief.value.max() + reach, TOP)


@given(PLACES, st.sampled_from([Noisy.of, Settled]))
def test_chances_are_shares_of_ten(places: list[tuple[float, float]], law: Callable[..., Any]) -> None:
    belief = law(*np.array(places).T)
    found = chances_of(belief)
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() == pytest.approx(TOP, abs=1e-6)
    certainty = belief.certainty()
    assert ((certainty >= 0) & (certainty <= 1)).all()


@given(st.lists(NUMBERS, min_size=TOP + 1, max_size=30), st.floats(0.01, 50))
def test_with_one_error_for_all_higher_is_never_less_likely(values: list[float], error: float) -> None:
    value = np.array(values)
    for belief in (Noisy.of(value, np.full(len(value), error)), Settled(value, np.full(len(value), error))):
        found = chances_of(belief)[np.argsort(value)]
        assert (np.diff(found) >= -1e-9).all()


def test_where_nothing_is_open_the_ten_are_certain() -> None:
    value = np.arange(30.0)
    for belief in (Noisy.of(value, np.zeros(30)), Settled(value, np.zeros(30))):
        assert chances_of(belief) == pytest.approx([0.0] * 20 + [1.0] * 10)


def test_where_all_is_noise_nobody_is_ahead() -> None:
    value = np.random.default_rng(0).normal(2, 1, 400)
    belief = Noisy.of(value, np.full(400, 5.0))
    assert belief.variance == 0
    assert chances_of(belief) == pytest.approx(np.full(400, TOP / 400))
    assert belief.certainty().max() == 0


def test_the_law_of_a_truth_is_bayes_rule() -> None:
    grid = np.linspace(-30, 30, 600_001)
    for value, error, mean, variance in ((1.0, 0.7, 0.2, 1.5), (6.0, 2.0, 0.0, 1.0), (-4.0, 0.3, 1.0, 0.5)):
        density = np.exp(-np.abs(value - grid) * np.sqrt(2) / error - (grid - mean) ** 2 / (2 * variance))
        belief = Noisy(np.array([value]), np.array([error]), mean, variance)
        for line in (-5.0, -1.0, 0.3, value, 2.0, 5.5):
            known = density[grid > line].sum() / density.sum()
            assert belief.above(line)[0] == pytest.approx(known, abs=1e-4)


def test_variation_is_found() -> None:
    generator = np.random.default_rng(1)
    error = generator.uniform(0.1, 3.0, 20_000)
    value = generator.normal(2.0, 1.5, 20_000) + generator.laplace(size=20_000) * error / np.sqrt(2)
    mean, variance = variation(value, error)
    assert mean == pytest.approx(2.0, abs=0.05)
    assert variance == pytest.approx(2.25, rel=0.06)
    assert variation(np.array([3.0]), np.array([1.0])) == (3.0, 0.0)


def calibration(law: Callable[..., Any], error: float) -> tuple[float, float]:
    """Said and seen: of places that are said to be likely among the ten, how many are."""
    generator = np.random.default_rng(2)
    said, seen = [], []
    for _ in range(300):
        truth = generator.normal(2.0, 1.0, 300)
        value = truth + generator.laplace(size=300) * error / np.sqrt(2)
        chance = chances_of(law(value, np.full(300, error)))
        highest = truth >= np.sort(truth)[-TOP]
        likely = chance > 0.3
        said.append(chance[likely])
        seen.append(highest[likely])
    return float(np.concatenate(said).mean()), float(np.concatenate(seen).mean())


@pytest.mark.parametrize("error", [0.1, 0.4, 0.8])
def test_chances_come_true_as_often_as_they_say(error: float) -> None:
    said, seen = calibration(Noisy.of, error)
    assert said == pytest.approx(seen, abs=0.05)


def test_a_naive_chance_would_not() -> None:
    """The planted fault: take noisy values for what they are, and luck for merit."""
    said, seen = calibration(Settled, 0.8)
    assert said > seen + 0.1


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_ranks(values: list[float]) -> None:
    found = ranks(np.array(values))
    assert found.tolist() == [1 + sum(other > value for other in values) for value in values]


def test_of_a_release() -> None:
    made = town(50, mechanism="LimitPTR")
    places = standing(made)
    withheld = np.isnan(made.to_arrow()["entropy"].to_numpy())
    assert (places.rank[withheld] == 0).all()
    assert places.published == 33
    assert places.chance is not None
    assert np.isnan(places.chance[withheld]).all()
    assert np.nansum(places.chance) == pytest.approx(TOP)
    assert (places.rank[places.order[:33]] > 0).all()
    assert places.expected_right == pytest.approx(places.chance[places.order[:TOP]].sum())
    assert standing(town(50, mechanism="Shares")).by == "entropy_busy"
    assert standing(town(50, mechanism="LimitSS")).chance is None


def test_luck_is_counted_where_values_are_noisy_and_only_there() -> None:
    made = town(500, mechanism="Limit")
    places, error = standing(made), np.full(500, 0.5)
    value = made.to_arrow()["entropy"].to_numpy()
    assert places.chance == pytest.approx(chances_of(Noisy.of(value, error)))
    assert places.chance != pytest.approx(chances_of(Settled(value, error)), abs=0.05)
    inferred = town(500, mechanism="Shares")
    table = inferred.to_arrow()
    known = Settled(table["entropy"].to_numpy(), table["std_error"].to_numpy())
    assert standing(inferred).chance == pytest.approx(chances_of(known))
