"""Verify a series: the earlier releases that a release leans on, as far as they can be found.

A release of which an earlier one is not found is no worse for it: nothing is wrong that could be told. What was not
checked is said instead, and the value of the period alone is still computed again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.core.errors import LocentropyError
from locentropy.release.chain import chain_problems, find_earlier, fingerprint_of, missing_words
from locentropy.release.manifest import series_words
from locentropy.release.reestimate import TOLERANCE, listed_in, mechanism_of
from locentropy.release.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from locentropy.release.statement import Statement

_SERIES_TOLERANCE: Final = 1e-4
"""Nats: what is remembered of earlier periods is kept in single precision, and rounds more from machine to machine."""
_SURE: Final = 0.95
"""From this probability on a change is told; see docs/series.md."""


class Past(NamedTuple):
    """What was found of the releases before one."""

    statement: Statement
    releases: tuple[Release, ...] = ()
    missing: int | None = None
    """The number in the series of the latest release that was not found; None if all were."""
    error: str | None = None
    """Why they could not be read."""
    after: Path | None = None
    """Where the one before it was said to be."""

    @classmethod
    def of(cls, directory: Path, statement: Statement, after: str | Path | None) -> Past:
        """Look for them beside the directory, and where `after` is."""
        named = None if after is None else Path(after)
        try:
            found = find_earlier(statement, directory.absolute(), named)
        except LocentropyError as error:
            return cls(statement, error=str(error), after=named)
        except OSError as error:
            return cls(statement, error=f"{error.filename}: {error.strerror}.", after=named)
        return cls(statement, *found, after=named)

    @property
    def complete(self) -> bool:
        """Whether there is none, or all were found."""
        return self.missing is None and self.error is None

    @property
    def notes(self) -> list[str]:
        """What was not checked."""
        if self.statement.without_series is not None:
            return [series_words(self.statement)]
        if self.missing is None or self.statement.series is None:
            return []
        first = "release 1 was" if self.missing == 1 else f"releases 1 to {self.missing} were"
        return [
            f"Not all was checked: {missing_words(self.statement, self.missing)} So {first} not read: that they are "
            "the ones it leans on, and that entropy, change and their errors follow from them, was not checked; "
            "entropy_alone was."
        ]

    def named(self, release: Release) -> str:
        """An earlier release by its number and its directory."""
        series = release.statement.series
        where = "" if release.directory is None else f" ({release.directory.name})"
        return f"release {1 if series is None else series.number}{where}"

    def problems(self, directory: Path) -> Iterator[str]:
        """What is wrong with the chain, as far as it was found."""
        series = self.statement.series or self.statement.without_series
        if series is None:
            yield f"{directory} is in no series: it leans on no earlier release (after, --after)."
            return
        if self.error is not None:
            yield self.error
            return
        if self.after is not None:
            try:
                named = fingerprint_of(self.after)
            except (StopIteration, OSError):
                named = None
            if named != series.previous:
                yield f"{self.after} (--after) is not the release before it: its details have another SHA-256."
        if self.missing is None and self.statement.series is not None:
            yield from chain_problems((*self.releases, Release.load(directory)))

    def values_alone(self, release: Release) -> Iterator[str]:
        """Compare the values of this period alone, for which no other release is needed."""
        kept = release.measurements
        if kept is None:
            return
        again = mechanism_of(release.statement).estimate(kept.measurements, listed_in(release)).entropy
        bits = np.log(2.0) if release.statement.entropy_unit == "bits" else 1.0
        here = release.to_arrow()["entropy_alone"].to_numpy() * bits
        shown = ~np.isnan(here)
        if not np.allclose(here[shown], again[shown], rtol=0, atol=TOLERANCE):
            yield f"entropy_alone is not what the measurements give, within {TOLERANCE:g}."


def tolerance(statement: Statement) -> float:
    """By how much values may differ between machines, in nats."""
    return TOLERANCE if statement.series is None else _SERIES_TOLERANCE


def changes_differ(table: pa.Table, again: pa.Table) -> bool:
    """Whether changes are told that are not those of the measurements, but for those that rounding may decide."""
    clear = np.abs(again["change_probability"].to_numpy() - _SURE) > _SERIES_TOLERANCE
    here, there = (each["change"].to_numpy(zero_copy_only=False)[clear] for each in (table, again))
    return bool(here.tolist() != there.tolist())
