"""What the split says: how strongly the visits of a place are tilted towards its regulars.

The presence of those who return, at the places that were asked, is compared with that of the simulated places. Its
level depends on how many such places a visitor has, which is not known well: it is fitted to all places together, so
that the split tells places apart and nothing else. How much places differ is learnt from all splits together, by
expectation-maximisation over strata of the simulated places' deviates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.noise_law import deviation, log_density
from locentropy.mechanisms.shares.estimator.simulated_places import COPIES

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
STRATA: Final = 8
ROUNDS: Final = 60
CAUTION: Final = 40.0
"""Strata begin as if so many places had been seen to be as common as expected."""


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
        both = np.stack([bin_of, asked, np.where(asked, key, 0)])
        unique, cell_of, places = np.unique(both, axis=1, return_inverse=True, return_counts=True)
        if unique.shape[1] <= max(MOST_CELLS, 3 * (int(bin_of.max()) + 1)):
            break
        width *= 1.5
    total = np.bincount(cell_of, weights=np.where(asked, split, 0.0))
    mean = np.where(unique[1] == 1, total / places, np.nan)
    return Cells(unique[0], mean, places.astype(np.float64), cell_of.ravel())


class SplitEvidence(NamedTuple):
    """How the split changes the weights of simulated places."""

    answers: Answers
    fitted: Fitted
    cells: Cells
    level: float
    """The presence of those who return, over that of the simulated places."""
    common: Reals
    """How common each simulated place is among those of its size: n × copy, mean 1."""

    @classmethod
    def learn(cls, answers: Answers, fitted: Fitted, cells: Cells) -> SplitEvidence:
        """Fit the level, then how much places differ."""
        evidence = cls(answers, fitted, cells, 1.0, np.ones_like(fitted.simulated.presence))
        asked = np.flatnonzero(~np.isnan(cells.split))
        if not asked.size:
            return evidence
        evidence = evidence._replace(level=evidence._level(asked))
        return evidence._replace(common=evidence._commonness(asked))

    def weights(self, chosen: Indices) -> Reals:
        """The likelihood of each simulated place in the chosen cells: n × copy × cell."""
        seen = self.fitted.seen[:, :, self.cells.bin_of[chosen]] * self.common[:, :, None]
        asked = np.flatnonzero(~np.isnan(self.cells.split[chosen]))
        if asked.size:
            seen[:, :, asked] *= self._split_likelihood(self.cells.split[chosen[asked]])
        return seen

    def _split_likelihood(self, split: Reals) -> Reals:
        expected = self.level * self.fitted.simulated.returning
        noise = self.answers.noise
        scale = np.hypot(self.answers.split_scale, MISMATCH * expected / deviation(noise))
        logs = (
            log_density(noise, (split - expected[:, :, None]) / scale[:, :, None])
            - np.log(scale / self.answers.split_scale)[:, :, None]
        )
        return np.exp(logs, out=logs)

    def _level(self, asked: Indices) -> float:
        """The ratio of all that was measured to all that is expected; near 1 where the noise hides it."""
        fitted, cells = self.fitted, self.cells
        weight = fitted.prior[:, None] * fitted.seen.mean(axis=1)
        by_bin = np.einsum("nc,ncb->nb", fitted.simulated.returning, fitted.seen) / COPIES
        expected_in = (fitted.prior @ by_bin) / np.maximum(weight.sum(axis=0), 1e-300)
        places = cells.places[asked]
        expected = float(expected_in[cells.bin_of[asked]] @ places)
        measured = float(cells.split[asked] @ places)
        variance = deviation(self.answers.noise) ** 2 * self.answers.split_scale**2 * float(places.sum())
        precision = expected**2 / variance
        ratio = (precision * measured / max(expected, 1e-300) + LEVEL**-2) / (precision + LEVEL**-2)
        return float(np.clip(ratio, 0.1, 10.0))

    def _commonness(self, asked: Indices) -> Reals:
        """Expectation-maximisation over strata of the deviate of visits."""
        fitted, cells = self.fitted, self.cells
        rank = np.argsort(np.argsort(fitted.simulated.deviate, axis=1), axis=1)
        stratum = rank * STRATA // COPIES
        fit = np.empty((STRATA, asked.size))
        step = 256
        for start in range(0, asked.size, step):
            part = self.weights(asked[start : start + step]) * fitted.prior[:, None, None]
            for each in range(STRATA):
                fit[each, start : start + step] = part[stratum == each].sum(axis=0)
        fit /= np.maximum(fit.max(axis=0), 1e-300)
        places = cells.places[asked]
        shares = np.full(STRATA, 1 / STRATA)
        for _ in range(ROUNDS):
            belongs = shares[:, None] * fit
            belongs /= np.maximum(belongs.sum(axis=0), 1e-300)
            shares = belongs @ places + CAUTION / STRATA
            shares /= shares.sum()
        return STRATA * shares[stratum]
