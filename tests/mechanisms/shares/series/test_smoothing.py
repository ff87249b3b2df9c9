"""Smoothing: a first period is published as it is, later ones are closer to the truth, and changes are noticed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.answers import Answers
from locentropy.mechanisms.shares.estimator.attributes import declared_attributes
from locentropy.mechanisms.shares.estimator.inference import infer
from locentropy.mechanisms.shares.measurements import ShareQueries
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.mechanisms.shares.series import rate_filter
from locentropy.mechanisms.shares.series.smoothing import Smoothed, Smoother, smooth
from tests.examples import at_night, examples
from tests.mechanisms.shares.made_up import Table, entropies, garbage, of_people, population, reordered
from tests.mechanisms.shares.test_inference import ANY, any_answers, check

MOST = 20_000
LISTED = 150
CLOSES, OPENS = 140, 141
"""The places that change: from month CHANGED on, one is shut and one is open."""
CHANGED = 4
PURE, CONCENTRATED = ShareQueries(1.0), ShareQueries(1.0, 1e-8)
NOISE = {"pure": PURE, "delta": CONCENTRATED}
WHATEVER_THE_NOISE = pytest.mark.parametrize("months", ["pure", *at_night("delta")], indirect=True)
"""For what does not depend on the kind of noise."""


def month(number: int, asked: ShareQueries, changed: int = CHANGED) -> tuple[Answers, np.ndarray]:
    """Answers of a month in which people choose places by a popularity that lasts; and the truth."""
    popular = np.exp(np.random.default_rng(0).normal(0, 1.2, LISTED))
    popular[[CLOSES, OPENS]] = 25.0
    popular[CLOSES if number >= changed else OPENS] = 0.0
    draw = np.random.default_rng([1, number])
    many = np.minimum(np.ceil(np.exp(draw.normal(0.8, 0.8, 1500))), 30).astype(np.int64)
    user = np.repeat(np.arange(1500), many)
    place = draw.choice(LISTED, user.size, p=popular / popular.sum())
    user, place = np.unique(np.stack([user, place]), axis=1)
    visits = np.ceil(np.exp(draw.normal(0, 1.0, user.size))).astype(np.int64)
    return of_people(user, place, visits, LISTED, asked, number), entropies(place, visits, LISTED)


@pytest.fixture(scope="module", params=NOISE)
def months(request) -> list[tuple[Answers, np.ndarray]]:
    return [month(number, NOISE[request.param]) for number in range(8)]


@pytest.fixture(scope="module")
def releases(months) -> list[Smoothed]:
    smoother = Smoother(MOST)
    return [smoother.conclude(answers) for answers, _ in months]


def same(one: Smoothed, other: Smoothed, order: np.ndarray | slice = slice(None), atol: float = 0.0) -> None:
    for inferred, again in ((one.smoothed, other.smoothed), (one.alone, other.alone)):
        for values, expected in zip(inferred[:4], again[:4], strict=True):
            np.testing.assert_allclose(values, expected[order], atol=atol, rtol=0)
    assert one.change.tolist() == other.change[order].tolist()
    np.testing.assert_allclose(one.change_probability, other.change_probability[order], atol=atol, rtol=0)
    assert one.since.tolist() == other.since[order].tolist()


@settings(max_examples=examples(3, nightly=300), deadline=None)
@given(answers=any_answers())
def test_a_single_period_is_published_as_it_is(answers: Answers) -> None:
    found, expected = smooth([answers], MOST), infer(answers, MOST)
    for values, alone, published in zip(found.smoothed[:4], found.alone[:4], expected[:4], strict=True):
        np.testing.assert_array_equal(values, published)
        np.testing.assert_array_equal(alone, published)
    assert set(found.change.tolist()) == {"none"}
    assert not found.change_probability.any()


@st.composite
def any_series(draw) -> list[Answers]:
    places = draw(st.integers(1, 8))
    series = []
    for _ in range(draw(st.integers(2, 4))):
        asked = ShareQueries(draw(st.sampled_from([0.1, 1.0, 100.0])), draw(st.sampled_from([0, 1e-8])))
        look = draw(st.lists(ANY, min_size=places, max_size=places))
        series.append(garbage(look, *(draw(st.lists(ANY, min_size=1, max_size=20)) for _ in range(3)), asked))
    return series


@settings(max_examples=examples(3, nightly=300), deadline=None)
@given(series=any_series(), max_users=st.sampled_from([2, 50, 3000, 10**6]))
def test_any_series_gives_a_sane_release(series: list[Answers], max_users: int) -> None:
    found = smooth(series, max_users)
    places = series[0].look.size
    check(found.smoothed, places, max_users)
    check(found.alone, places, max_users)
    assert set(found.change.tolist()) <= {"none", "rose", "fell", "closed"}
    assert ((found.change_probability >= 0) & (found.change_probability <= 1)).all()
    assert (found.since[found.change == "none"] == 0).all()
    assert set(found.since.tolist()) <= {0, 1, 3}


def test_the_latest_of_several_is_the_same_whether_earlier_ones_were_published_or_skipped(
    months, releases
) -> None:
    same(smooth([answers for answers, _ in months[:3]], MOST), releases[2])


def test_the_value_of_a_period_alone_is_that_of_a_release_of_its_own(months, releases) -> None:
    expected = infer(months[5][0], MOST)
    for alone, published in zip(releases[5].alone[:4], expected[:4], strict=True):
        np.testing.assert_array_equal(alone, published)


@WHATEVER_THE_NOISE
def test_places_in_another_order_have_the_same_values(months, releases) -> None:
    order = np.random.default_rng(5).permutation(LISTED)
    found = smooth([reordered(answers, order) for answers, _ in months[:4]], MOST)
    same(found, releases[3], order, atol=1e-5)  # laws are kept in single precision


@WHATEVER_THE_NOISE
def test_work_in_small_blocks_changes_nothing(months, releases, monkeypatch) -> None:
    monkeypatch.setattr(rate_filter, "BLOCK", 7)
    monkeypatch.setattr(rate_filter, "CELLS", 5)
    same(smooth([answers for answers, _ in months[:4]], MOST), releases[3], atol=1e-5)


@WHATEVER_THE_NOISE
def test_what_all_have_in_common_may_be_learnt_from_some_places(months, releases, monkeypatch) -> None:
    monkeypatch.setattr(rate_filter, "LEARNERS", LISTED // 3)
    found = smooth([answers for answers, _ in months[:4]], MOST)
    assert np.abs(found.smoothed.entropy - releases[3].smoothed.entropy).mean() < 0.1


def test_later_periods_are_closer_to_the_truth_than_releases_of_their_own(months, releases) -> None:
    error = np.array(
        [(each.smoothed.entropy - truth) ** 2 for each, (_, truth) in zip(releases, months, strict=True)]
    )
    alone = np.array(
        [(each.alone.entropy - truth) ** 2 for each, (_, truth) in zip(releases, months, strict=True)]
    )
    assert error[5:].mean() < 0.8 * alone[5:].mean()


def test_intervals_hold_and_are_no_wider(months, releases) -> None:
    inside = [
        (each.smoothed.low <= truth) & (truth <= each.smoothed.high)
        for each, (_, truth) in zip(releases, months, strict=True)
    ]
    assert np.mean(inside) >= 0.93
    width, alone = (
        np.mean([getattr(each, name).high - getattr(each, name).low for each in releases[1:]])
        for name in ("smoothed", "alone")
    )
    assert width < alone


def test_a_closing_and_an_opening_are_noticed_within_two_periods(releases) -> None:
    within_two = releases[CHANGED : CHANGED + 2]
    assert any(each.change[CLOSES] in ("fell", "closed") for each in within_two)
    assert any(each.change[OPENS] == "rose" for each in within_two)


def test_of_places_that_stay_as_they_are_nothing_is_told(releases) -> None:
    still = np.delete(np.arange(LISTED), [CLOSES, OPENS])
    false = np.array([each.change[still] != "none" for each in releases])
    assert false.mean() <= 0.005  # of a place and month; chance makes some
    for before in releases[:CHANGED]:
        assert set(before.change[[CLOSES, OPENS]].tolist()) == {"none"}


def test_a_change_is_told_against_three_periods_ago_at_the_latest(releases) -> None:
    """Three periods after a change, both sides of it are the new ones."""
    assert releases[CHANGED + 3].change[CLOSES] == "none"
    assert releases[CHANGED + 3].change[OPENS] == "none"


def test_after_a_closing_the_smoothed_value_follows_within_a_few_periods(releases) -> None:
    entropy = [each.smoothed.entropy[CLOSES] for each in releases]
    assert entropy[CHANGED - 1] > 3.0
    assert entropy[CHANGED + 2] < 1.5


@WHATEVER_THE_NOISE
def test_a_place_with_an_attribute_is_smoothed_too(months) -> None:
    kinds = pa.array(["even" if place % 2 else "odd" for place in range(LISTED)])
    listed = Locations(pa.array(np.arange(LISTED)), attributes={"kind": kinds})
    # Noise of the sums is none of these answers': at ε = 1 sums are not asked.
    found = smooth([answers for answers, _ in months[:3]], MOST, declared_attributes(listed))
    check(found.smoothed, LISTED, MOST)
    assert found.smoothed.leans_on


def test_noise_of_both_kinds_can_be_in_one_series() -> None:
    series = [month(number, PURE if number % 2 else CONCENTRATED)[0] for number in range(3)]
    check(smooth(series, MOST).smoothed, LISTED, MOST)


def test_shares_smooths_what_it_measured() -> None:
    mechanism, listed = Shares(1.0, max_users=MOST), Locations(pa.array(np.arange(40)))
    draw = np.random.default_rng(3)
    smoother = mechanism.smoother(listed)
    for number in range(2):
        table = Table(*population(draw, 300, 40, 1.0), 40)
        measured = mechanism.measure(table, listed, SimulatedNoise(number))
        found = smoother.conclude(mechanism.answers(measured, listed))
        published = mechanism.estimate(measured, listed)
        np.testing.assert_array_equal(found.alone.entropy, published.entropy)
        assert np.array_equal(found.smoothed.entropy, published.entropy) == (number == 0)


@WHATEVER_THE_NOISE
def test_lists_must_be_the_same(months) -> None:
    (first, _), _ = next(pairwise(months))
    shorter = garbage([0] * 5, [0], [0], [0], PURE)
    with pytest.raises(ParameterError, match="one list"):
        smooth([first, shorter], MOST)
    with pytest.raises(ParameterError, match="one period at least"):
        smooth([], MOST)


def test_no_place_at_all() -> None:
    nothing = garbage([], [0], [0], [0], PURE)
    found = smooth([nothing, nothing], MOST)
    assert found.smoothed.entropy.size == found.change.size == 0
