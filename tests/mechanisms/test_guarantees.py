"""Each mechanism keeps its promise for the worst neighbours found, on a grid; and planted faults are seen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from locentropy.mechanisms import base, limit_ptr
from locentropy.mechanisms.paper import limit, limit_ss
from locentropy.mechanisms.paper import limit as baseline
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import LATTICE
from locentropy.privacy.sensitivity import largest_change, local_sensitivity

from .guarantees import (
    published_alike,
    smooth_conditions,
    smooth_delta,
    value_loss,
)
from .neighbours import entropy, every_crowd, joined, pairs, some_users, worst
from .recording import Measured, measured

DELTA = 1e-8
GRID = [(e, m, c) for e in (0.1, 1.0, 5.0, 10.0) for m in (1, 5, 30) for c in (1, 2, 5, 20)]
on_the_grid = pytest.mark.parametrize(("epsilon", "max_locations", "max_visits"), GRID)


def both(mechanism, users: tuple[int, ...]) -> tuple[Measured, Measured]:
    """The release without and with one user, at locations of each of these sizes."""
    before, after = pairs(mechanism.max_visits, users)
    return measured(mechanism, before), measured(mechanism, after)


# --- the neighbours -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_visits", [1, 2, 3, 5])
@pytest.mark.parametrize("users", [1, 2, 3, 4])
def test_no_other_neighbours_are_worse(max_visits, users):
    crowd, new = worst(max_visits, users)
    found = abs(entropy(joined(crowd, new)) - entropy(crowd))
    for before, after in every_crowd(max_visits, users):
        assert abs(entropy(after) - entropy(before)) <= found + 1e-12


@pytest.mark.parametrize("max_visits", [1, 2, 5, 20])
def test_the_neighbours_reach_the_sensitivity(max_visits):
    users = some_users(3000)
    before, after = pairs(max_visits, users)
    moved = [abs(entropy(b) - entropy(a)) for a, b in zip(before, after, strict=True)]
    assert moved == pytest.approx(largest_change(max_visits, np.array(users)), rel=1e-4, abs=1e-12)


# --- Limit and Baseline -----------------------------------------------------------------------------------------


def limit_keeps(mechanism) -> bool:
    before, after = both(mechanism, some_users(3000))
    loss = value_loss(before, after, mechanism.max_locations)
    return published_alike(before, after) and loss <= exact(mechanism.epsilon)


@on_the_grid
@pytest.mark.parametrize("kind", [limit.Limit, baseline.Baseline])
def test_limit_keeps_its_promise(kind, epsilon, max_locations, max_visits):
    assert limit_keeps(kind(epsilon, max_locations=max_locations, max_visits=max_visits))


@pytest.mark.parametrize("max_visits", [1, 5, 20])
def test_limit_wastes_little(max_visits):
    mechanism = limit.Limit(1.0, max_locations=5, max_visits=max_visits)
    assert value_loss(*both(mechanism, some_users(3000)), 5) > exact(1.0) * Fraction(99_999, 100_000)


@pytest.mark.parametrize(("max_visits", "users"), [(2, 4), (3, 3), (5, 3)])
def test_limit_keeps_its_promise_for_all_small_crowds(max_visits, users):
    mechanism = limit.Limit(1.0, max_locations=3, max_visits=max_visits)
    before, after = zip(*every_crowd(max_visits, users), strict=True)
    assert value_loss(measured(mechanism, list(before)), measured(mechanism, list(after)), 3) <= 1


LIMIT_FAULTS = {
    "sensitivity without M": (5, 5, "laplace_scale", lambda true: lambda s, e: true(s // 5, e)),
    "one user short": (5, 5, "global_sensitivity", lambda _: lambda c: limit_ptr.supremum_from(c, 2)),
    "wrong C": (5, 20, "global_sensitivity", lambda true: lambda c: true(c - 1)),
    "half the scale": (1, 2, "laplace_scale", lambda true: lambda s, e: true(s, e) / 2),
    "a thousandth less": (1, 5, "laplace_scale", lambda true: lambda s, e: true(s, e) * 0.999),
    "no room for rounding": (1, 15, "lattice_sensitivity", lambda _: lambda d: int(d * LATTICE)),
    "bounded to more visits": (5, 20, "Bounds", lambda true: lambda m, c, k: true(m, c * 2, k)),  # in base
}


@pytest.mark.parametrize("fault", LIMIT_FAULTS)
def test_faults_of_limit_are_seen(fault, monkeypatch):
    max_locations, max_visits, name, change = LIMIT_FAULTS[fault]
    mechanism = limit.Limit(1.0, max_locations=max_locations, max_visits=max_visits)
    home = base if name == "Bounds" else limit
    monkeypatch.setattr(home, name, change(getattr(home, name)))
    if name == "Bounds":  # the crowds must be such that the bound matters
        before, after = pairs(2 * max_visits, some_users(3000))
        assert value_loss(measured(mechanism, before), measured(mechanism, after), max_locations) > 1
    else:
        assert not limit_keeps(mechanism)


# --- Limit-SS ---------------------------------------------------------------------------------------------------


def smooth_keeps(mechanism) -> bool:
    before, after = both(mechanism, some_users(3000))
    found = smooth_delta(before, after, mechanism.epsilon, mechanism.max_locations)
    return published_alike(before, after) and all(bounds.upper <= mechanism.delta for bounds in found)


def smooth_breaks(mechanism) -> bool:
    before, after = both(mechanism, some_users(3000))
    found = smooth_delta(before, after, mechanism.epsilon, mechanism.max_locations)
    return any(bounds.lower > mechanism.delta for bounds in found)


@on_the_grid
def test_limit_ss_keeps_its_promise(epsilon, max_locations, max_visits):
    mechanism = limit_ss.LimitSS(epsilon, delta=DELTA, max_locations=max_locations, max_visits=max_visits)
    assert smooth_keeps(mechanism)
    before, after = both(mechanism, some_users(3000))
    assert all(smooth_conditions(before, after, mechanism.calibration).values())


@pytest.mark.parametrize("split", [0.1, 0.95])
@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_limit_ss_keeps_its_promise_for_other_splits_and_floors(split, floor):
    mechanism = limit_ss.LimitSS(1.0, delta=DELTA, max_locations=5, max_visits=5, floor=floor, split=split)
    assert smooth_keeps(mechanism)
    before, after = both(mechanism, some_users(30_000))
    assert all(smooth_conditions(before, after, mechanism.calibration).values())


def short_of(true, users: int):
    return lambda calibration, smooth, n: true(calibration, smooth, np.asarray(n) + users)


SMOOTH_FAULTS = {
    # ε, M, C, what is replaced, by what, whether (ε, δ) itself is broken, which conditions of its proof are
    "calibrated for one location": (
        10.0,
        30,
        5,
        "calibrate",
        lambda true: lambda e, d, m, split: true(e, d, 1, split=split),
        True,
        {"values"},
    ),
    "scales of five users more": (1.0, 5, 5, "lattice_scales", lambda t: short_of(t, 5), False, {"values"}),
    "half the scales": (
        1.0,
        1,
        5,
        "lattice_scales",
        lambda true: lambda *given: true(*given) / 2,
        True,
        {"values"},
    ),
    "wrong C": (
        1.0,
        5,
        20,
        "SmoothSensitivity",
        lambda true: lambda c, beta, floor: true(c // 4, beta, floor),
        True,
        {"values"},
    ),
    "ε spent twice": (
        1.0,
        1,
        1,
        "calibrate",
        lambda true: lambda e, d, m, split: true(2 * e, d, m, split=split),
        True,
        {"values", "scales"},
    ),
    "scales that follow the local sensitivity": (
        1.0,
        5,
        5,
        "lattice_scales",
        lambda true: (
            lambda calibration, smooth, n: np.maximum(
                100.0, 5 * (local_sensitivity(5, n) * LATTICE + 2) / calibration.epsilon_1
            )
        ),
        True,
        {"scales"},
    ),
}


@pytest.mark.parametrize("fault", SMOOTH_FAULTS)
def test_faults_of_limit_ss_are_seen(fault, monkeypatch):
    epsilon, max_locations, max_visits, name, change, breaks, conditions = SMOOTH_FAULTS[fault]
    sound = limit_ss.LimitSS(
        epsilon, delta=DELTA, max_locations=max_locations, max_visits=max_visits, floor=0.0
    )
    monkeypatch.setattr(limit_ss, name, change(getattr(limit_ss, name)))
    mechanism = limit_ss.LimitSS(
        epsilon, delta=DELTA, max_locations=max_locations, max_visits=max_visits, floor=0.0
    )
    met = smooth_conditions(*both(mechanism, some_users(3000)), sound.calibration)
    assert {condition for condition, holds in met.items() if not holds} >= conditions
    assert smooth_breaks(mechanism) == breaks
