"""The noisy answers that the inference of Shares reads, in units of presence: one user is 1.

The contract between `measurements.py`, which makes them, and `estimator/`, which sees them and public numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

NoiseKind = Literal["laplace", "gaussian"]
"""Discrete Laplace noise (pure ε) or discrete Gaussian noise (ε and δ)."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What was asked, with noise. Fit to publish. A scale is b of Laplace noise and σ of Gaussian noise."""

    look: Reals
    """The presence at each place."""
    sizes: Reals
    """Equal-share presence by band of the look and octave of the user's places, in multiples of M: band × octave."""
    visits: Reals
    """The same by band, few or many places, and octave of the user's visits to the place: band × 2 × octave."""
    split: Reals
    """How the visits of each place in `split_at` are split among its visitors: one number each."""
    split_at: Integers
    """The places that were asked for their split, as ascending positions."""
    sums: tuple[Reals, ...]
    """The presence at the places of each level, for each attribute that was asked."""
    size_edges: Reals
    """Looks at which the bands of `sizes` begin, without the lowest; ascending."""
    visit_edges: Reals
    """The same for `visits`."""
    many_from: int
    """Users in this octave of places and above have many places."""
    noise: NoiseKind
    """The kind of noise of all answers; public, as are the scales."""
    look_scale: float
    """The scale of the noise of the look,"""
    sizes_scale: float
    """of each cell of `sizes`,"""
    visits_scale: float
    """of each cell of `visits`,"""
    split_scale: float
    """of the split,"""
    sums_scale: float
    """and of the sums; 0 where there are none."""
    cap: float
    """M: a user counts at a place with at most 1/M (Laplace); 1 for Gaussian noise."""
