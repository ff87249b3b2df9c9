"""Every metric against a plain definition, and what must hold whatever the numbers are."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.evaluation import metrics

NAN = float("nan")
entropies = st.floats(0, 12, allow_nan=False)
coarse = st.integers(0, 4).map(float)  # with many ties


def pairs(values=entropies, *, withheld=True, least=1, most=12):
    published = st.one_of(values, st.just(NAN)) if withheld else values
    rows = st.lists(st.tuples(values, published), min_size=least, max_size=most)
    return rows.map(lambda each: tuple(np.array(column) for column in zip(*each, strict=True)))


@given(pairs())
def test_error_and_bias_over_all_places(pair):
    true, published = pair
    distances = [(0.0 if math.isnan(p) else p) - t for t, p in zip(true, published, strict=True)]
    assert metrics.mse(true, published) == pytest.approx(sum(d * d for d in distances) / len(true))
    assert metrics.bias(true, published) == pytest.approx(sum(distances) / len(true))
    assert metrics.bias(true, published) ** 2 <= metrics.mse(true, published) * (1 + 1e-9) + 1e-12


@given(pairs())
def test_a_withheld_place_counts_as_zero_and_is_not_published(pair):
    true, published = pair
    zeros = np.nan_to_num(published)
    assert metrics.mse(true, published) == metrics.mse(true, zeros)
    assert metrics.published_ratio(published) == sum(not math.isnan(p) for p in published) / len(published)
    assert metrics.published_ratio(zeros) == 1


def test_the_truth_has_no_error():
    true = np.array([0.0, 1.0, 3.0])
    assert (metrics.mse(true, true), metrics.bias(true, true)) == (0, 0)
    assert metrics.kl_divergence(true, true) == 0
    assert metrics.spearman(true, true) == 1
    assert metrics.found_at_top(true, true, 2) == 1


class TestKL:
    def test_is_that_of_the_published_values_from_the_true_ones(self):
        true, published = np.array([1.0, 3.0]), np.array([2.0, 2.0])
        assert metrics.kl_divergence(true, published) == pytest.approx(
            0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
        )
        assert metrics.kl_divergence(published, true) != pytest.approx(metrics.kl_divergence(true, published))

    @given(pairs(st.floats(0.01, 12), withheld=False))
    def test_is_never_negative_where_nothing_is_skipped(self, pair):
        true, published = pair
        assert metrics.kl_divergence(true, published) >= -1e-12

    @given(pairs(st.floats(0.01, 12), withheld=False), st.floats(0.001, 1000))
    def test_looks_at_shares_only(self, pair, factor):
        true, published = pair
        assert metrics.kl_divergence(true, factor * published) == pytest.approx(
            metrics.kl_divergence(true, published), abs=1e-9
        )
        assert metrics.kl_divergence(true, factor * true) == pytest.approx(0, abs=1e-9)

    def test_skips_what_the_paper_skips(self):
        """A place of true entropy 0 would make it infinite; a withheld or negative one adds nothing."""
        true, published = np.array([0.0, 1.0, 1.0, 2.0]), np.array([2.0, 2.0, NAN, -5.0])
        assert metrics.kl_divergence(true, published) == pytest.approx(0.5 * math.log(0.5 / 0.25))

    def test_has_no_meaning_without_any_entropy(self):
        assert math.isnan(metrics.kl_divergence(np.array([1.0]), np.array([NAN])))
        assert math.isnan(metrics.kl_divergence(np.array([0.0]), np.array([1.0])))


class TestRanks:
    @given(st.lists(coarse, min_size=1, max_size=12))
    def test_equal_values_share_the_mean_of_their_ranks(self, values):
        ranks = metrics.average_ranks(np.array(values))
        for value, rank in zip(values, ranks, strict=True):
            below = sum(other < value for other in values)
            assert rank == below + (values.count(value) + 1) / 2

    def test_spearman_by_hand(self):
        # Differences of ranks 1, −1, 0, 0: 1 − 6·2/(4·15).
        true, published = np.array([1.0, 2.0, 3.0, 4.0]), np.array([20.0, 10.0, 30.0, 40.0])
        assert metrics.spearman(true, published) == pytest.approx(0.8)

    @given(pairs(st.integers(0, 30).map(float), withheld=False, least=2))
    def test_spearman_knows_the_order_only(self, pair):
        true, published = pair
        found = metrics.spearman(true, published)
        if len(set(true)) == 1 or len(set(published)) == 1:
            assert math.isnan(found)
            return
        assert -1 <= found <= 1
        assert metrics.spearman(np.exp(true), published**3) == pytest.approx(found)
        assert metrics.spearman(true, 100 - published) == pytest.approx(-found)
        assert metrics.spearman(published, true) == pytest.approx(found)


class TestTop:
    @given(pairs(coarse, most=6), st.integers(1, 8))
    def test_is_the_mean_over_all_ways_to_break_ties(self, pair, k):
        true, published = pair
        k_here = min(k, len(true))
        edge = sorted(true)[-k_here]
        there = [place for place in range(len(true)) if not math.isnan(published[place])]
        shares = []
        for order in permutations(there):
            ranked = sorted(order, key=lambda place: -published[place])  # stable: ties as in `order`
            shares.append(sum(true[place] >= edge for place in ranked[:k_here]) / k_here)
        assert metrics.found_at_top(true, published, k) == pytest.approx(np.mean(shares))

    def test_withheld_places_are_not_found(self):
        true = np.array([5.0, 4.0, 1.0, 0.0])
        assert metrics.found_at_top(true, np.array([NAN, 4.0, NAN, NAN]), 2) == 0.5
        assert metrics.found_at_top(true, np.full(4, NAN), 2) == 0

    def test_a_constant_finds_what_chance_finds(self):
        assert metrics.found_at_top(np.arange(50.0), np.full(50, 3.0), 10) == pytest.approx(10 / 50)


class TestIntervals:
    TRUE = np.array([1.0, 2.0, 3.0, 4.0])
    LOW, HIGH = np.array([1.0, 2.5, NAN, 0.0]), np.array([1.5, 3.0, NAN, 4.0])

    def test_ends_count_and_withheld_ones_do_not(self):
        assert metrics.coverage(self.TRUE, self.LOW, self.HIGH) == pytest.approx(2 / 3)
        assert metrics.interval_width(self.LOW, self.HIGH) == pytest.approx((0.5 + 0.5 + 4) / 3)

    def test_without_intervals(self):
        assert math.isnan(metrics.coverage(self.TRUE, None, None))
        assert math.isnan(metrics.interval_width(None, None))
        assert math.isnan(metrics.coverage(self.TRUE, np.full(4, NAN), np.full(4, NAN)))

    @given(pairs(withheld=False), st.floats(0, 3), st.floats(0, 3))
    def test_wider_intervals_never_cover_less(self, pair, reach, more):
        true, at = pair
        narrow = metrics.coverage(true, at - reach, at + reach)
        assert narrow <= metrics.coverage(true, at - reach - more, at + reach + more)


class TestOctaves:
    @given(st.lists(st.integers(0, 2**40), min_size=1))
    def test_every_place_is_in_exactly_one(self, users):
        counts = np.array(users)
        found = metrics.octaves(counts)
        inside = np.array([metrics.within(counts, octave) for octave in found])
        assert (inside.sum(axis=0) == 1).all()
        assert inside.any(axis=1).all(), "none without places"
        assert [octave.low for octave in found] == sorted(octave.low for octave in found)

    def test_edges(self):
        found = metrics.octaves(np.array([0, 1, 2, 3, 4, 7, 8, 1024, 2047]))
        assert [octave.label for octave in found] == ["0", "1", "2–3", "4–7", "8–15", "1,024–2,047"]


def test_nothing_to_judge_has_no_meaning():
    none = np.zeros(0)
    for metric in (metrics.mse, metrics.bias, metrics.kl_divergence, metrics.spearman):
        assert math.isnan(metric(none, none))
    assert math.isnan(metrics.published_ratio(none))
    assert math.isnan(metrics.found_at_top(none, none, 10))
