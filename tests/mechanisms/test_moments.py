"""Moments: the errors it must reach, its promise for neighbours, and planted faults that are seen."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from locentropy import Moments
from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.mechanisms import base
from locentropy.mechanisms.moments import mechanism as moments
from locentropy.privacy.guarantee import exact
from locentropy.privacy.moments import MomentsTable, visit_moments
from locentropy.privacy.noise import LATTICE, OpenDPNoise
from tests.oracles.moments import ERRORS

from .neighbours import every_crowd, joined
from .recording import Crowd, CrowdQueries, Recorder
from .spread import crowds, estimated

# --- errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "expected"), ERRORS.items())
def test_errors_are_those_of_the_theory(case, expected):
    epsilon, users = case
    queries = crowds(users, 6000)
    off = (
        estimated(Moments(epsilon, max_locations=5, max_visits=5), queries).entropy
        - queries.profile(Bounds(5, 5)).entropy
    )
    assert math.sqrt((off**2).mean()) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("max_visits", [1, 2, 5, 20, 100])
def test_without_noise_the_entropy_comes_out(max_visits):
    draw = np.random.default_rng(max_visits)
    found = [
        {int(v): int(draw.integers(1, 90)) for v in draw.integers(1, max_visits + 1, 5)} for _ in range(50)
    ]
    queries = CrowdQueries([*found, {}, {max_visits: 1}, {1: 1}])
    shown = Moments(1.0, max_locations=5, max_visits=max_visits).estimate(
        Moments(1.0, max_locations=5, max_visits=max_visits).measure(
            queries, Locations(queries.locations), Recorder()
        ),
        Locations(queries.locations),
    )
    assert shown.entropy == pytest.approx(queries.profile(Bounds(5, max_visits)).entropy, abs=2e-4)


def test_one_visit_at_most_gives_the_logarithm_of_noisy_users():
    noise = Recorder()
    queries = CrowdQueries([{1: 40}, {3: 7}, {}])
    shown = Moments(1.0, max_locations=5, max_visits=1).estimate(
        Moments(1.0, max_locations=5, max_visits=1).measure(queries, Locations(queries.locations), noise),
        Locations(queries.locations),
    )
    assert noise.values.tolist() == [[40 * LATTICE, 0], [7 * LATTICE, 0], [0, 0]]
    assert shown.entropy == pytest.approx([math.log(40), math.log(7), 0.0])


# --- the promise ------------------------------------------------------------------------------------------------


def recorded(mechanism, found: list[Crowd]) -> Recorder:
    noise = Recorder()
    queries = CrowdQueries(found)
    mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), noise), Locations(queries.locations)
    )
    return noise


def loss(mechanism, before: list[Crowd], after: list[Crowd]) -> Fraction:
    """The largest |ln P/Q| when the user is in M locations like the worst of these: exact.

    Noise of one scale on integers at ℓ₁ distance s has the loss s/scale at all outputs beyond both.
    """
    here, there = recorded(mechanism, before), recorded(mechanism, after)
    scales = set(here.scales.ravel()) | set(there.scales.ravel())
    assert len(scales) == 1, "one public scale for all"
    assert here.values.shape == there.values.shape == (len(before), 2)
    worst = np.abs(here.values - there.values).sum(axis=1).max()
    return mechanism.max_locations * int(worst) / Fraction(float(scales.pop()))


def neighbours(max_visits: int) -> tuple[list[Crowd], list[Crowd]]:
    """Crowds of all sizes, and each of them with one more user of 1, 2, …, C visits: the sums are linear, so that every
    user there can be is somebody's neighbour here."""
    draw = np.random.default_rng(max_visits)
    before = []
    for size in (0, 1, 3, 50, 3000):
        counts = draw.integers(0, size + 1, max_visits)
        before += [{v: int(n) for v, n in enumerate(counts, start=1) if n}] * max_visits
    return before, [joined(crowd, at % max_visits + 1) for at, crowd in enumerate(before)]


GRID = [(e, m, c) for e in (0.1, 1.0, 5.0, 10.0) for m in (1, 5, 30) for c in (1, 2, 5, 20, 100)]


@pytest.mark.parametrize(("epsilon", "max_locations", "max_visits"), GRID)
def test_keeps_its_promise_and_wastes_little(epsilon, max_locations, max_visits):
    found = loss(
        Moments(epsilon, max_locations=max_locations, max_visits=max_visits), *neighbours(max_visits)
    )
    assert found <= exact(epsilon)
    assert found > exact(epsilon) * Fraction(99_999, 100_000)


@pytest.mark.parametrize(("max_visits", "users"), [(2, 4), (3, 3), (5, 3)])
def test_keeps_its_promise_for_all_small_crowds(max_visits, users):
    before, after = (list(each) for each in zip(*every_crowd(max_visits, users), strict=True))
    assert loss(Moments(1.0, max_locations=3, max_visits=max_visits), before, after) <= 1


class OneShort(MomentsTable):
    """Planted: the most but one that a user can add."""

    @property
    def sensitivity(self) -> int:
        return sorted(np.abs(self.rows).sum(axis=1).tolist())[-1] - 1


class OtherTable(MomentsTable):
    """Planted: sums of a table that was rounded away from 0, noise for the one that was rounded to the nearest."""

    def sums(self, index, visits, users, locations):
        turned = visit_moments(self.max_visits) @ self.matrix.T
        other = MomentsTable(self.max_visits, self.unit)
        other.__dict__["rows"] = (np.sign(turned) * np.ceil(np.abs(turned))).astype(np.int64)
        return other.sums(index, visits, users, locations)


class FinerTable(MomentsTable):
    """Planted: the sums are in finer steps than those that the sensitivity was taken from."""

    @property
    def sensitivity(self) -> int:
        return MomentsTable(self.max_visits, self.unit // 2).sensitivity


class Steeper(MomentsTable):
    """Planted: sums with rows that the sensitivity does not know."""

    def sums(self, index, visits, users, locations):
        return super().sums(index, visits, users * np.where(visits == self.max_visits, 2, 1), locations)


FAULTS = {
    "sensitivity one short": ("MomentsTable", OneShort),
    "a finer table": ("MomentsTable", FinerTable),
    "another table": ("MomentsTable", OtherTable),
    "rows counted twice": ("MomentsTable", Steeper),
    "M ignored": ("laplace_scale", lambda s, e: moments_scale(s // 5, e)),
    "one coordinate forgotten": ("laplace_scale", lambda s, e: moments_scale(s // 2, e)),
    "a thousandth less": ("laplace_scale", lambda s, e: moments_scale(s, e) * 0.999),
}
moments_scale = moments.laplace_scale


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault, monkeypatch):
    before, after = neighbours(6)
    assert loss(Moments(1.0, max_locations=5, max_visits=6), before, after) <= 1
    monkeypatch.setattr(moments, *FAULTS[fault])
    assert loss(Moments(1.0, max_locations=5, max_visits=6), before, after) > 1


def test_visits_beyond_the_bound_are_not_summed(monkeypatch):
    """Asked for more visits than it has rows for, it must not get as far as a release."""
    queries = CrowdQueries([{9: 4}])
    monkeypatch.setattr(base, "Bounds", lambda m, c, k: Bounds(m, 2 * c, k))
    with pytest.raises(IndexError):
        Moments(1.0, max_locations=5, max_visits=5).estimate(
            Moments(1.0, max_locations=5, max_visits=5).measure(
                queries, Locations(queries.locations), Recorder()
            ),
            Locations(queries.locations),
        )


# --- what it refuses ----------------------------------------------------------------------------------------------


def test_more_than_a_hundred_visits_are_refused():
    with pytest.raises(ParameterError, match=r"max_visits=101.*Moments\("):
        Moments(1.0, max_locations=5, max_visits=101)


def test_an_impossible_budget_is_refused_before_anything_is_asked():
    queries = CrowdQueries([{1: 3}])
    with pytest.raises(ParameterError, match="too large"):
        Moments(1e-12, max_locations=1000, max_visits=5).estimate(
            Moments(1e-12, max_locations=1000, max_visits=5).measure(
                queries, Locations(queries.locations), OpenDPNoise()
            ),
            Locations(queries.locations),
        )
    assert queries.asked == []


def test_noise_fit_to_publish_goes_through():
    queries = crowds(2000, 20)
    found = Moments(1.0, max_locations=5, max_visits=5).estimate(
        Moments(1.0, max_locations=5, max_visits=5).measure(
            queries, Locations(queries.locations), OpenDPNoise()
        ),
        Locations(queries.locations),
    )
    assert found.private
    assert found.entropy == pytest.approx(queries.profile(Bounds(5, 5)).entropy, abs=0.3)
