"""Limit-PTR keeps its promise for what it shows and what it withholds; Limit-CB, which makes none, breaks any."""

from __future__ import annotations

import math

import numpy as np
import pytest

from locentropy.mechanisms import limit_ptr
from locentropy.mechanisms.paper import limit_cb
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import laplace_scale, lattice_sensitivity
from locentropy.privacy.sensitivity import local_sensitivity

from .guarantees import NEGLIGIBLE, selective_delta, value_loss
from .recording import Measured, measured
from .test_guarantees import DELTA, both, on_the_grid


def sizes(mechanism) -> tuple[int, ...]:
    """Every number of users next to the threshold and to where the curve turns and ends, and some between."""
    threshold, certain = mechanism.min_users, mechanism.curve.certain_from
    some = set(range(max(0, threshold - 3), threshold + 60))
    some |= set(np.linspace(threshold, threshold + certain, 150).astype(int).tolist())
    some |= {threshold + certain + step for step in (-2, -1, 0, 1, 500)}
    turn = threshold + int(np.searchsorted(mechanism.curve.probability(np.arange(certain + 1)), 0.5))
    some |= {max(0, turn + step) for step in range(-3, 4)}
    return tuple(sorted(some))


def keeps(mechanism) -> bool:
    found = selective_delta(
        *both(mechanism, sizes(mechanism)), float(mechanism.epsilon), mechanism.max_locations
    )
    return found.upper <= mechanism.delta * (1 + NEGLIGIBLE)


def breaks(mechanism) -> bool:
    found = selective_delta(
        *both(mechanism, sizes(mechanism)), float(mechanism.epsilon), mechanism.max_locations
    )
    return found.lower > mechanism.delta * (1 + NEGLIGIBLE)


def values_keep(mechanism) -> bool:
    """Where both neighbours can publish, the values alone cost at most their part of ε; exactly."""
    spent = value_loss(*both(mechanism, sizes(mechanism)), mechanism.max_locations)
    return spent <= exact(mechanism.epsilon) * (1 - exact(mechanism.split))


@on_the_grid
@pytest.mark.parametrize("min_users", [0, 4, 50])
def test_limit_ptr_keeps_its_promise(epsilon, max_locations, max_visits, min_users):
    mechanism = limit_ptr.LimitPTR(
        epsilon, delta=DELTA, max_locations=max_locations, max_visits=max_visits, min_users=min_users
    )
    assert keeps(mechanism)
    assert values_keep(mechanism)


@pytest.mark.parametrize("split", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("delta", [1e-3, 0.2])
def test_limit_ptr_keeps_its_promise_for_other_splits_and_deltas(split, delta):
    mechanism = limit_ptr.LimitPTR(1.0, delta=delta, max_locations=5, max_visits=5, min_users=3, split=split)
    assert keeps(mechanism)
    assert values_keep(mechanism)


def test_limit_ptr_uses_up_its_delta_and_its_values_their_epsilon():
    mechanism = limit_ptr.LimitPTR(1.0, delta=DELTA, max_locations=5, max_visits=5, min_users=50)
    before, after = both(mechanism, sizes(mechanism))
    assert selective_delta(before, after, 1.0, 5).lower > DELTA * 0.4
    assert value_loss(before, after, 5) > exact(0.5) * exact(0.999)


@pytest.mark.parametrize("min_users", [0, 1, 50])
def test_limit_ptr_never_publishes_up_to_the_threshold(min_users):
    mechanism = limit_ptr.LimitPTR(1.0, delta=DELTA, max_locations=5, max_visits=5, min_users=min_users)
    crowds = [{1: n} for n in range(min_users + 3)]
    chances = measured(mechanism, crowds).chances
    assert chances[: min_users + 1] == [0] * (min_users + 1)
    assert 0 < chances[min_users + 1] <= exact(DELTA) / 5
    assert chances[min_users + 2] > chances[min_users + 1]


PTR_FAULTS = {
    # what is replaced, by what, whether it breaks (ε, δ) itself or only the proof
    "threshold one too low": (
        "SelectionCurve",
        lambda true: lambda *given: Shifted(true(*given)),
        False,
    ),
    "sensitivity from k + 2": ("supremum_from", lambda true: lambda c, m: true(c, m + 1), False),
    "sensitivity without M": ("laplace_scale", lambda true: lambda s, e: true(s // 5, e), True),
    "half the scale": ("laplace_scale", lambda true: lambda s, e: true(s, e) / 2, True),
    "a tenth less": ("laplace_scale", lambda true: lambda s, e: true(s, e) * 0.9, True),
    "selection without M": ("SelectionCurve", lambda true: lambda e, d, m: true(e, d, 1), True),
    "selection spends all of ε": ("SelectionCurve", lambda true: lambda e, d, m: true(2 * e, d, m), True),
    "selection spends twice δ": ("SelectionCurve", lambda true: lambda e, d, m: true(e, 2 * d, m), True),
    "wrong C": ("supremum_from", lambda true: lambda c, m: true(c - 1, m), True),
}


class Shifted:
    """A curve that counts one user too many."""

    def __init__(self, curve) -> None:
        self.curve, self.certain_from = curve, curve.certain_from

    def probability(self, users):
        return self.curve.probability(users + 1)

    def select(self, users, noise):
        return self.curve.select(users + 1, noise)


FAULT_SETTINGS = [(50, 0.5), (5000, 0.3)]
"""k and split. At the smaller k, places that are ever published have so many users beyond k that half the noise still
does; at the larger one, D hardly falls from the threshold to where places are published."""


@pytest.mark.parametrize("fault", PTR_FAULTS)
def test_faults_of_limit_ptr_are_seen(fault, monkeypatch):
    name, change, broken = PTR_FAULTS[fault]
    monkeypatch.setattr(limit_ptr, name, change(getattr(limit_ptr, name)))
    faulty = [
        limit_ptr.LimitPTR(1.0, delta=DELTA, max_locations=5, max_visits=5, min_users=k, split=split)
        for k, split in FAULT_SETTINGS
    ]
    assert not all(keeps(mechanism) and values_keep(mechanism) for mechanism in faulty)
    assert any(breaks(mechanism) for mechanism in faulty) == broken


@pytest.mark.parametrize(("min_users", "split"), FAULT_SETTINGS)
def test_without_a_fault_nothing_is_seen(min_users, split):
    mechanism = limit_ptr.LimitPTR(
        1.0, delta=DELTA, max_locations=5, max_visits=5, min_users=min_users, split=split
    )
    assert keeps(mechanism)
    assert values_keep(mechanism)


# --- Limit-CB -----------------------------------------------------------------------------------------------------


def test_limit_cb_has_no_promise_to_keep():
    """One user of k: published with, withheld without. No ε helps: δ is 1."""
    mechanism = limit_cb.LimitCB(1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True)
    found = selective_delta(*both(mechanism, (49,)), 1000.0, 1)
    assert found.lower > 0.49
    assert found.upper == 1.0
    before, after = both(mechanism, (49,))
    assert (before.chances, after.chances) == ([0], [1])
    assert mechanism.guarantee.kind == "none"


@pytest.mark.parametrize("max_visits", [1, 2, 5, 20])
@pytest.mark.parametrize("min_users", [1, 2, 9, 50])
def test_values_of_limit_cb_have_the_noise_they_claim(max_visits, min_users):
    """Given which locations are published, the values would cost ε; that this is given is the fault."""
    mechanism = limit_cb.LimitCB(
        1.0, max_locations=5, max_visits=max_visits, min_users=min_users, accept_no_guarantee=True
    )
    assert value_loss(*both(mechanism, tuple(range(min_users - 1, min_users + 200))), 5) <= 1


CB_FAULTS = {
    "sensitivity at k alone": ("supremum_from", lambda _: lambda c, m: float(local_sensitivity(c, m + 1))),
    "sensitivity without M": ("laplace_scale", lambda true: lambda s, e: true(s // 5, e)),
    "half the scale": ("laplace_scale", lambda true: lambda s, e: true(s, e) / 2),
}


@pytest.mark.parametrize("fault", CB_FAULTS)
def test_faults_of_limit_cb_are_seen(fault, monkeypatch):
    name, change = CB_FAULTS[fault]
    monkeypatch.setattr(limit_cb, name, change(getattr(limit_cb, name)))
    mechanism = limit_cb.LimitCB(1.0, max_locations=5, max_visits=50, min_users=5, accept_no_guarantee=True)
    assert value_loss(*both(mechanism, tuple(range(5, 40))), 5) > 1


def test_limit_cb_is_not_even_crowd_blending():
    """t is in A and B, k − 1 others in A alone and k − 1 in B alone.

    t blends with nobody: exchange t for anybody else, and one of the two locations is withheld. And without t, both are.
    """
    k = 5
    mechanism = limit_cb.LimitCB(1.0, max_locations=2, max_visits=5, min_users=k, accept_no_guarantee=True)

    def shown(in_a: int, in_b: int) -> list[bool]:
        return [chance == 1 for chance in measured(mechanism, [{1: in_a}, {1: in_b}]).chances]

    assert shown(k, k) == [True, True]  # with t
    assert shown(k - 1, k - 1) == [False, False]  # t removed
    assert shown(k, k - 1) == [True, False]  # t exchanged for one more in A
    assert shown(k - 1, k) == [False, True]  # t exchanged for one more in B


# --- the measure itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_locations", [1, 2])
@pytest.mark.parametrize(("p", "q"), [(0.0, 0.01), (0.2, 0.3), (0.9, 1.0), (1.0, 1.0)])
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_bounds_hold_the_sum_over_all_outputs(max_locations, p, q, epsilon):
    scale, shift = 9.0, 4
    here, there = (Measured([value], [scale], [exact(str(chance))]) for value, chance in ((0, p), (shift, q)))
    y = np.arange(-300, 305)
    noise = math.tanh(0.5 / scale)
    one = [
        np.append(chance * noise * np.exp(-np.abs(y - v) / scale), 1 - chance)
        for v, chance in ((0, p), (shift, q))
    ]
    laws = [law if max_locations == 1 else np.outer(law, law).ravel() for law in one]
    truth = max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in (laws, laws[::-1]))
    found = selective_delta(here, there, epsilon, max_locations)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12


@pytest.mark.parametrize("max_visits", [1, 5, 20, 50])
@pytest.mark.parametrize("k", [1, 2, 5, 10, 30])
def test_limit_cb_covers_every_n_from_k_on(max_visits: int, k: int) -> None:
    largest = local_sensitivity(max_visits, np.arange(k, 5000)).max()
    expected = laplace_scale(5 * lattice_sensitivity(float(largest)), 1.0)
    scale = limit_cb.LimitCB(
        1.0, max_locations=5, max_visits=max_visits, min_users=k, accept_no_guarantee=True
    ).scale
    assert scale == pytest.approx(expected, rel=1e-6)
    assert scale >= expected * (1 - 1e-9)
