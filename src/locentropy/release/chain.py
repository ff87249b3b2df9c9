"""The chain of a series: from the latest release back to the first, each found by the fingerprint that the next names.

A release of a series names the SHA-256 of the details of the one before it, and details name that of every other file.
So the latest release vouches for all earlier ones, wherever they are. They are looked for beside it.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.strict_yaml import MAX_DOCUMENT_BYTES
from locentropy.mechanisms.registry import parameter_names
from locentropy.release.files import MARKED, PRIVATE
from locentropy.release.reading import sha256
from locentropy.release.reestimate import listed_in, mechanism_of
from locentropy.release.release import Release
from locentropy.release.statement import SeriesNote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.core.estimates import Measurements
    from locentropy.core.locations import Locations
    from locentropy.release.statement import Statement


class Chain(NamedTuple):
    """Releases of one series."""

    releases: tuple[Release, ...]
    """From the first on."""
    fingerprint: str
    """The SHA-256 of the details of the last."""

    @property
    def last(self) -> Release:
        """The latest of them."""
        return self.releases[-1]

    @property
    def note(self) -> SeriesNote:
        """What the next release says of them."""
        return SeriesNote(self.releases[0].statement.release_id, len(self.releases) + 1, self.fingerprint)

    @property
    def measurements(self) -> list[Measurements]:
        """Of all of them, the first first."""
        return [each.measurements.measurements for each in self.releases if each.measurements is not None]


class Earlier(NamedTuple):
    """What was found of the releases before one."""

    releases: tuple[Release, ...]
    """Those that were found, without a gap before the one that was asked about; the first of them first."""
    missing: int | None = None
    """The number in the series of the latest one that was not found; None if all were."""


def read_chain(directory: str | Path) -> Chain:
    """A release and all before it; raises ReleaseError if one is missing, was changed, or does not fit the others."""
    directory = Path(os.path.abspath(directory))  # noqa: PTH100  # without dots
    last = Release.load(directory)
    found = find_earlier(last.statement, directory)
    if found.missing is not None:
        raise ReleaseError(f"{directory}: {missing_words(last.statement, found.missing)}")
    releases = (*found.releases, last)
    problems = list(chain_problems(releases))
    if problems:
        raise ReleaseError(f"{directory}: {problems[0]}")
    return Chain(releases, fingerprint_of(directory))


def find_earlier(statement: Statement, directory: Path, after: Path | None = None) -> Earlier:
    """The releases before one, beside its directory; `after` names that of the previous one, if it is elsewhere."""
    note, releases = statement.series, list[Release]()
    beside = [directory.parent, *([after, after.parent] if after is not None else [])]
    known: dict[str, Path] | None = None
    while note is not None:
        known = _releases_in(beside) if known is None else known
        place = known.get(note.previous)
        if place is None:
            return Earlier(tuple(reversed(releases)), note.number - 1)
        before = Release.load(place)
        number = 1 if before.statement.series is None else before.statement.series.number
        if number != note.number - 1:
            raise ReleaseError(f"{place} is release {number} of a series, and must be {note.number - 1}.")
        releases.append(before)
        note = before.statement.series
    return Earlier(tuple(reversed(releases)))


def missing_words(statement: Statement, missing: int) -> str:
    """That an earlier release was not found, and how to name it."""
    number = 1 if statement.series is None else statement.series.number
    which = (
        f", whose details have the SHA-256 {statement.series.previous},"
        if statement.series and missing == number - 1
        else ""
    )
    return (
        f"it is release {number} of a series, and release {missing}{which} is not beside it. Earlier releases are "
        "found by their fingerprints: put their directories beside this one, or name the one before it: --after DIR"
    )


def fingerprint_of(directory: Path) -> str:
    """The SHA-256 of the details of a release."""
    return sha256(_details(directory))


def _details(directory: Path) -> Path:
    return next(
        directory / each.details for each in (PRIVATE, MARKED) if (directory / each.details).is_file()
    )


def _releases_in(folders: list[Path]) -> dict[str, Path]:
    """Every release in some folders, or which is one, by its fingerprint."""
    found = {}
    for folder in folders:
        for path in (folder, *sorted(folder.iterdir())):
            if path.is_dir() and not path.name.startswith("."):  # what begins with a dot is not published yet
                try:
                    if (
                        _details(path).stat().st_size <= MAX_DOCUMENT_BYTES
                    ):  # whatever lies beside is not read for long
                        found[fingerprint_of(path)] = path
                except (StopIteration, OSError):
                    continue
    return found


def chain_problems(releases: tuple[Release, ...]) -> Iterator[str]:
    """What keeps releases, from the first on, from being a series."""
    for number, (one, other) in enumerate(pairwise(releases), start=1):
        note = other.statement.series
        if note is None or note.series_id != releases[0].statement.release_id:
            yield f"release {number + 1} says that it belongs to another series."
        try:
            check_follows(one, other.statement, listed_in(other))
        except LocentropyError as error:
            yield f"release {number + 1} does not follow release {number}: {error}"
    for number, each in enumerate(releases, start=1):
        if each.measurements is None:
            yield f"release {number} has no measurements."


def check_follows(before: Release, statement: Statement, listed: Locations | None) -> None:
    """Raise ReleaseError, with the reason, unless a release with this statement and list can follow another."""
    earlier = before.statement
    if earlier.without_series is not None:
        raise ReleaseError(
            "the earlier release was finished without the series that it was to go on with (--without-series), so "
            "nothing follows it. Begin a new series: publish one release without after (--after)."
        )
    if earlier.window is None or statement.window is None:
        which = "the earlier release" if earlier.window is None else "the release"
        raise ReleaseError(f"{which} is not about a window of time. For example: --window 2026-05")
    if earlier.windows is not None or earlier.levels:
        raise ReleaseError("a release of several windows or levels cannot be part of a series.")
    if not earlier.private or not statement.private:
        # Nothing that is computed from unprotected numbers is protected.
        raise ReleaseError("a release without a guarantee cannot be part of a series.")
    if before.measurements is None:
        raise ReleaseError("the earlier release has no measurements, which are what a later one leans on.")
    _same("mechanism", earlier.mechanism, statement.mechanism)
    own = parameter_names(type(mechanism_of(earlier)).name)
    for name in own:
        _same(name, earlier.parameters.get(name), statement.parameters.get(name))
    for name, option in (("ids", "--ids"), ("missing_id_words", "--missing-id-words")):
        _same(option, earlier.parameters.get(name), statement.parameters.get(name))
    _same("unit of the guarantee", earlier.guarantee.unit, statement.guarantee.unit)
    _same("attributes (--attribute)", earlier.attributes, statement.attributes)
    window, later = earlier.window, statement.window
    for name, option in (("zone", "--time-zone"), ("weekdays", "--weekdays"), ("hours", "--hours")):
        _same(option, getattr(window, name), getattr(later, name))
    if later.start < window.end:
        raise ReleaseError(
            f"its window {later.text} (--window) does not begin after that of the earlier release, {window.text}: "
            "windows of a series follow one another."
        )
    _check_same_list(listed_in(before), listed)


def _same(what: str, one: object, other: object) -> None:
    if one != other:
        raise ReleaseError(f"its {what} is {_shown(other)}, and that of the earlier release {_shown(one)}.")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _check_same_list(one: Locations | None, other: Locations | None) -> None:
    """Raise ReleaseError unless both have the same places, in one order, with the same public things to lean on."""
    if one is None or other is None:
        raise ReleaseError(
            "places that a mechanism chose cannot be part of a series: it is about one public list."
        )
    if not one.ids.cast(pa.string()).equals(other.ids.cast(pa.string())):
        raise ReleaseError("its list (--places) has other places, or has them in another order.")
    same = all(one.attributes[name].equals(other.attributes[name]) for name in one.attributes)
    if one.leans_on_coordinates:
        for mine, yours in ((one.lat, other.lat), (one.lon, other.lon)):
            same = (
                same
                and mine is not None
                and yours is not None
                and bool(((mine == yours) | (mine != mine)).all())
            )
    if not same:
        raise ReleaseError(
            "its list (--places) has other attributes or coordinates than that of the earlier release."
        )
