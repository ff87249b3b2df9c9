"""Exact privacy loss of discrete Laplace noise on the integers, as a lower and an upper bound on δ(ε).

``hockey_stick(pairs, epsilon)`` takes one ``(value, scale, other_value, other_scale)`` per location that differs
between two neighbours and bounds sup_A P(A) − e^ε·Q(A), and the same with P and Q exchanged. A claim is accepted
when the upper bound is within δ, and refuted when the lower bound is above it; between the two nothing is said.
The bounds are those of the audit, which tests/lab/audit/test_privacy_loss.py compares with sums over all outputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from locentropy_lab.audit.privacy_loss import Between as Bounds
from locentropy_lab.audit.privacy_loss import Component, PrivacyLoss

if TYPE_CHECKING:
    from collections.abc import Iterable

Pair = tuple[int, float, int, float]


class BothWays(NamedTuple):
    """δ(ε) of P against Q and of Q against P."""

    forward: Bounds
    backward: Bounds

    @property
    def lower(self) -> float:
        return max(self.forward.lower, self.backward.lower)

    @property
    def upper(self) -> float:
        return max(self.forward.upper, self.backward.upper)


def hockey_stick(pairs: Iterable[Pair], epsilon: float, *, cells: int = 2**18) -> BothWays:
    pairs = list(pairs)
    swapped = [(other, other_scale, value, scale) for value, scale, other, other_scale in pairs]
    return BothWays(one_way(pairs, epsilon, cells=cells), one_way(swapped, epsilon, cells=cells))


def one_way(pairs: Iterable[Pair], epsilon: float, *, cells: int = 2**18) -> Bounds:
    """Bounds on δ(ε) of P = (value, scale) against Q = (other_value, other_scale)."""
    return PrivacyLoss.between((Component(*pair) for pair in pairs), cells=cells).delta(epsilon)
