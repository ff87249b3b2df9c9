"""Baseline: noise for the most active user there could be.

Claim. Neighbours differ in all visits of one user. `Baseline` is ε-differentially private, with no δ.

Why. It is `Limit`, with bounds so wide that hardly anybody is cut: M_max locations and C_max visits, public constants
chosen before looking at the data, such as the 100 and 1000 of the paper. A user beyond them is cut to them all the
same, because a promise must hold for everybody; the data's own maxima never set the noise, because one user
decides them. Proof: docs/proofs/limit.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from locentropy.mechanisms.limit import Limit


@dataclass(frozen=True)
class Baseline(Limit):
    """`Limit` with bounds that are meant to cut nobody: `Baseline(1.0, max_locations=100, max_visits=1000)`."""
