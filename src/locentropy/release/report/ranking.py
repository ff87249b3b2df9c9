"""The ranking of places and how sure it is: ranks, the chance of being among the first ten, and certainty.

Everything is computed from the published columns. The line between the tenth and the eleventh is put where ten places
are expected above it; the chance of a place is the probability that its true value is above the line, given its
value and its error bar (rank_posterior.py). So chances add up to ten. docs/report.md says how good that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.release.report.rank_posterior import (
    DeconvolvedPosterior,
    ModelPosterior,
    chances,
    upward,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.estimates import Method
    from locentropy.release.release import Release
    from locentropy.release.report.rank_posterior import Posterior

    Reals = NDArray[np.float64]
    Integers = NDArray[np.int64]

TOP: Final = 10
"""How many places count as the top of the list."""

_REACH: Final = 40.0
"""How many standard errors beyond the values the line is searched."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """One entry for each place of the release; NaN, or rank 0, where the value is withheld."""

    value: Reals
    """The published entropy, by which places are ranked."""
    rank: Integers
    """From 1; equal values share the best of their ranks."""
    chance: Reals | None
    """Of being truly among the first ten; None without error bars, or where there are no more than ten places."""
    certainty: Reals | None
    """From 0, nothing but noise, to 1; None without error bars."""

    @property
    def published(self) -> int:
        """How many places have a value."""
        return int((self.rank > 0).sum())

    @cached_property
    def order(self) -> Integers:
        """Published places from the first to the last, then withheld ones; equal ones as in the table."""
        last = np.iinfo(np.int64).max
        return np.argsort(np.where(self.rank > 0, self.rank, last), kind="stable")

    @property
    def expected_right(self) -> float | None:
        """How many of the ten places that are listed first are expected to be truly among the first ten."""
        return None if self.chance is None else float(self.chance[self.order[:TOP]].sum())


def ranking_of(release: Release) -> Ranking:
    """Rank the places of a release."""
    table = release.to_arrow()
    value = numbers(table, "entropy")
    known = ~np.isnan(value)
    rank = np.zeros(len(value), dtype=np.int64)
    rank[known] = ranks(value[known])
    if "std_error" not in table.column_names or not known.any():
        return Ranking(value, rank, None, None)
    shown, error = value[known], numbers(table, "std_error")[known]
    ends = [numbers(table, name)[known] if name in table.column_names else None for name in ("low", "high")]
    posterior = posterior_of(release.statement.method, shown, error, *ends)
    chance = _everywhere(known, top_chances(posterior)) if len(shown) > TOP else None
    return Ranking(value, rank, chance, _everywhere(known, posterior.certainty()))


def posterior_of(
    method: Method, value: Reals, error: Reals, low: Reals | None = None, high: Reals | None = None
) -> Posterior:
    """The posterior of true values: errors from a model describe it already, others describe the noise."""
    if method.error_bars == "model":
        return ModelPosterior.of(value, error, low, high)
    if method.error_bars == "noise":
        # Where little is seen of a place, an error is wide because the value may be far too high. The top of the list
        # asks whether it may be too low.
        return DeconvolvedPosterior(value, upward(value, error, high))
    return DeconvolvedPosterior(value, error)


def top_chances(posterior: Posterior) -> Reals:
    """The chance of each place to be truly among the first ten."""
    reach = _REACH * float(posterior.error.max()) + 1.0
    low, high = float(posterior.value.min()) - reach, float(posterior.value.max()) + reach
    found: Reals = np.mean([chances(each, low, high, TOP) for each in posterior.cases()], axis=0)
    return found


def numbers(table: pa.Table, name: str) -> Reals:
    """A column as floats; NaN where it is empty."""
    values: Reals = table[name].to_numpy()
    return values.astype(np.float64)


def ranks(values: Reals) -> Integers:
    """From 1 for the highest; equal values share the best of their ranks."""
    ascending = np.sort(values)
    return (len(values) - np.searchsorted(ascending, values, side="right") + 1).astype(np.int64)


def _everywhere(known: NDArray[np.bool_], values: Reals) -> Reals:
    """Values of published places, and NaN for the others."""
    all_values = np.full(len(known), np.nan)
    all_values[known] = values
    return all_values
