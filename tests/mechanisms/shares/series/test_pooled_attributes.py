"""Attributes in a series: a place leans on the whole past of its like, and nothing is gained from attributes of none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.estimator.attributes import Attribute
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.mechanisms.shares.series.smoothing import Smoothed, Smoother
from tests.mechanisms.shares.made_up import Table, entropies
from tests.mechanisms.shares.test_inference import check

MOST = 20_000
LISTED, KINDS = 180, 12
MONTHS = 4
KIND_OF = np.arange(LISTED) % KINDS


def table(number: int) -> tuple[Table, np.ndarray]:
    """A month in which places of one kind are alike, and which kinds are busy lasts; and the truth."""
    kinds = np.random.default_rng(2).normal(0, 1.2, KINDS)
    popular = np.exp(kinds[KIND_OF] + np.random.default_rng(3).normal(0, 0.8, LISTED))
    draw = np.random.default_rng([4, number])
    many = draw.integers(1, 6, 700)
    user = np.repeat(np.arange(700), many)
    place = draw.choice(LISTED, user.size, p=popular / popular.sum())
    user, place = np.unique(np.stack([user, place]), axis=1)
    visits = np.ones(user.size, dtype=np.int64)
    return Table(user, place, visits, LISTED), entropies(place, visits, LISTED)


def series(
    epsilon: float, kind_of: np.ndarray | None, listed: Locations
) -> tuple[list[Smoothed], np.ndarray]:
    mechanism = Shares(epsilon, max_users=MOST)
    attributes = () if kind_of is None else (Attribute("kind", kind_of),)
    smoother, found, truths = Smoother(MOST, attributes), [], []
    for number in range(MONTHS):
        here, truth = table(number)
        measured = mechanism.measure(here, listed, SimulatedNoise(number))
        found.append(smoother.conclude(mechanism.answers(measured, listed)))
        truths.append(truth)
    return found, np.array(truths)


def error(found: list[Smoothed], truth: np.ndarray, name: str) -> float:
    """The mean squared error after the first month."""
    values = np.array([getattr(each, name).entropy for each in found])
    return float(((values - truth) ** 2)[1:].mean())


@pytest.fixture(scope="module")
def with_kinds() -> tuple[list[Smoothed], np.ndarray]:
    return series(1.0, KIND_OF, Locations(pa.array(np.arange(LISTED))))


def test_the_past_of_other_places_of_its_kind_brings_a_place_closer_to_the_truth(with_kinds) -> None:
    found, truth = with_kinds
    without, _ = series(1.0, None, Locations(pa.array(np.arange(LISTED))))
    assert error(found, truth, "smoothed") < 0.85 * error(found, truth, "alone")
    assert error(found, truth, "smoothed") < 0.95 * error(without, truth, "smoothed")


def test_what_the_kind_explains_is_learnt_from_all_months(with_kinds) -> None:
    found, _ = with_kinds
    (effect,) = found[-1].smoothed.leans_on
    assert effect.name == "kind"
    assert effect.explained > 0.4


def test_kinds_that_mean_nothing_do_no_harm(with_kinds) -> None:
    _, truth = with_kinds
    listed = Locations(pa.array(np.arange(LISTED)))
    without, _ = series(1.0, None, listed)
    shuffled, _ = series(1.0, np.random.default_rng(9).permutation(KIND_OF), listed)
    assert error(shuffled, truth, "smoothed") < 1.05 * error(without, truth, "smoothed")


def test_sums_by_kind_are_read_where_they_were_asked() -> None:
    kinds = pa.array([f"kind {kind:02}" for kind in KIND_OF])
    listed = Locations(pa.array(np.arange(LISTED)), attributes={"kind": kinds})
    found, truth = series(0.5, KIND_OF, listed)
    check(found[-1].smoothed, LISTED, MOST)
    assert error(found, truth, "smoothed") < error(found, truth, "alone")
