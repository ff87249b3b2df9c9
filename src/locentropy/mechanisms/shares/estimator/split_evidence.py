"""What the split says: how strongly the visits of a place are tilted towards its regulars.

The presence of those who return, at the places that were asked, is compared with that of the simulated places. Its
level depends on how many such places a visitor has, which is not known well: it is fitted to all places together, so
that the split tells places apart and nothing else. How much places differ is learnt from all splits together, by
expectation-maximisation over strata of the simulated places' deviates.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from locentropy.mechanisms.shares.estimator.blocks import in_blocks
from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES
from locentropy.mechanisms.shares.estimator.noise_law import deviation, to_log_density
from locentropy.mechanisms.shares.estimator.visitor_laws import (
    ONE_KIND_STRATA,
    STRATUM,
    USUAL_STRATA,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.visitor_model import Fitted

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

WIDTH: Final = 0.35
"""Of a bin of the split: in units of its noise for small values, relative for large ones."""
MOST_CELLS: Final = 1500
MISMATCH: Final = 0.15
"""The presence of those who return may differ from what is simulated by this part."""
LEVEL: Final = 0.5
"""How well its level is known before anything is seen: standard deviation of its ratio to the truth."""
WIDTHS: Final = {0.06: 0.3, 0.12: 0.5, 0.2: 1.0, 0.3: 1.0, 0.4: 1.0, 0.55: 1.0, 0.8: 0.5}
"""Standard deviations between places of the tilt of visits, and how much each is believed;"""
ONE_KIND: Final = {0.01: 1.0, 0.05: 1.0, 0.1: 1.0, 0.2: 1.0, 0.35: 0.5, 0.6: 0.2}
"""the part of places where all come about equally often."""
RARE: Final = 1e-6
"""No stratum is rarer than about this, wherever the tilts are simulated."""


class Cells(NamedTuple):
    """Places with the same answers, but for what noise blurs far more."""

    bin_of: Indices
    """The bin of the look of each cell."""
    split: Reals
    """The mean split of each cell; NaN where none was asked."""
    places: Reals
    """How many places it has."""
    cell_of: Indices
    """The cell of each place."""


def make_cells(answers: Answers, bin_of: Indices) -> Cells:
    """Group places by the bin of their look and, where it was asked, by their split."""
    split = np.full(bin_of.size, np.nan)
    split[answers.split_at] = answers.split
    asked = ~np.isnan(split)
    width = WIDTH
    while True:
        key = np.rint(np.arcsinh(np.where(asked, split, 0.0) / answers.split_scale) / width).astype(np.int64)
        lowest, most = int(key.min(initial=0)), int(key.max(initial=0))
        # One number for all three, in the order of bin, asked or not, and split.
        packed = (2 * bin_of.astype(np.int64) + asked) * (most - lowest + 1) + np.where(
            asked, key - lowest, 0
        )
        unique, cell_of, places = np.unique(packed, return_inverse=True, return_counts=True)
        if unique.size <= max(MOST_CELLS, 3 * (int(bin_of.max()) + 1)):
            break
        width *= 1.5
    in_bin, was_asked = np.divmod(unique // (most - lowest + 1), 2)
    total = np.bincount(cell_of, weights=np.where(asked, split, 0.0))
    mean = np.where(was_asked == 1, total / places, np.nan)
    return Cells(in_bin.astype(np.intp), mean, places.astype(np.float64), cell_of)


class SplitEvidence(NamedTuple):
    """How the split changes the weights of simulated places."""

    answers: Answers
    fitted: Fitted
    cells: Cells
    level: float
    """The presence of those who return, over that of the simulated places."""

    @classmethod
    def fit(cls, answers: Answers, fitted: Fitted, cells: Cells) -> SplitEvidence:
        """With the level at which the simulated places agree with all that was measured."""
        evidence = cls(answers, fitted, cells, 1.0)
        return evidence._replace(level=evidence._level())

    @property
    def asked(self) -> Indices:
        """The cells that were asked for their split."""
        return np.flatnonzero(~np.isnan(self.cells.split))

    def weights(self, chosen: Indices) -> Reals:
        """The weight of each simulated place in the chosen cells, among those of its size: n × copy × cell."""
        seen = self.fitted.seen[:, :, self.cells.bin_of[chosen]]
        seen *= self.fitted.common[:, None]
        asked = np.flatnonzero(~np.isnan(self.cells.split[chosen]))
        if asked.size:
            seen[:, :, asked] *= self._split_likelihood(self.cells.split[chosen[asked]])
        return seen

    def _split_likelihood(self, split: Reals) -> Reals:
        expected = self.level * self.fitted.simulated.returning
        noise = self.answers.noise
        scale = np.hypot(self.answers.split_scale, MISMATCH * expected / deviation(noise))
        off = split - expected[:, :, None]
        off /= scale[:, :, None]
        logs = to_log_density(noise, off)
        logs -= np.log(scale / self.answers.split_scale)[:, :, None]
        return np.exp(logs, out=logs)

    def _level(self) -> float:
        """The ratio of all that was measured to all that is expected; near 1 where the noise hides it."""
        fitted, cells, asked = self.fitted, self.cells, self.asked
        if not asked.size:
            return 1.0
        weight = fitted.prior @ np.einsum("c,ncb->nb", fitted.common, fitted.seen)
        returning = fitted.prior @ np.einsum(
            "nc,ncb->nb", fitted.common * fitted.simulated.returning, fitted.seen
        )
        places = cells.places[asked]
        expected = float((returning / np.maximum(weight, 1e-300))[cells.bin_of[asked]] @ places)
        measured = float(cells.split[asked] @ places)
        variance = deviation(self.answers.noise) ** 2 * self.answers.split_scale**2 * float(places.sum())
        precision = expected**2 / variance
        ratio = (precision * measured / max(expected, 1e-300) + LEVEL**-2) / (precision + LEVEL**-2)
        return float(np.clip(ratio, 0.1, 10.0))

    def commonness(self) -> tuple[Reals, float]:
        """How common each of the copies is, and the standard deviation of tilts between places.

        That is how much places differ in their tilts, and how many are of one kind.

        Both are learnt from how likely they make the splits *given* the looks: places were asked because their look is
        high, and that depends on their visits too.
        """
        fitted, asked = self.fitted, self.asked
        members = np.bincount(STRATUM)
        shares, belief, widths = _possible_strata(fitted.laws.visit_scatter)
        if asked.size:
            places = self.cells.places[asked]
            by_look = self._by_stratum(fitted.seen)[:, self.cells.bin_of[asked]]
            by_both = np.concatenate(
                in_blocks(lambda block: self._by_stratum(self._unweighted(asked[block])), asked.size), axis=1
            )
            given = np.log(np.maximum(shares @ by_both, 1e-300)) - np.log(
                np.maximum(shares @ by_look, 1e-300)
            )
            belief = belief + given @ places
        weight = np.exp(belief - belief.max())
        weight /= weight.sum()
        common: Reals = (weight @ shares / members * COPIES)[STRATUM]
        return common, float(weight @ widths)

    def _unweighted(self, chosen: Indices) -> Reals:
        """The likelihood of each simulated place in the chosen cells: n × copy × cell."""
        seen = self.fitted.seen[:, :, self.cells.bin_of[chosen]]
        seen *= self._split_likelihood(self.cells.split[chosen])
        return seen

    def _by_stratum(self, likelihoods: Reals) -> Reals:
        """The likelihood of each cell in each stratum, whatever n: stratum × cell."""
        at_copy = np.tensordot(self.fitted.prior, likelihoods, 1)
        starts = np.flatnonzero(np.diff(STRATUM, prepend=-1))
        by_stratum: Reals = np.add.reduceat(at_copy, starts, axis=0) / np.bincount(STRATUM)[:, None]
        return by_stratum


def _possible_strata(simulated: float) -> tuple[Reals, Reals, Reals]:
    """How common strata may be, where tilts were simulated with a given standard deviation; with belief and width.

    There is a row for each width of the tilts and each part of places of one kind.
    """
    mixed = USUAL_STRATA.size - ONE_KIND_STRATA
    edges = ndtri(np.linspace(0, 1, mixed + 1))
    rows, beliefs, widths = [], [], []
    for width, likely in WIDTHS.items():
        of_mixed = np.diff(ndtr(edges * simulated / width)) + RARE
        of_mixed /= of_mixed.sum()
        for part, believed in ONE_KIND.items():
            of_one_kind = np.full(ONE_KIND_STRATA, part / ONE_KIND_STRATA)
            rows.append(np.concatenate([(1 - part) * of_mixed, of_one_kind]))
            beliefs.append(math.log(likely * believed))
            widths.append(width)
    return np.array(rows), np.array(beliefs), np.array(widths)
