"""Estimates again: a release from its own measurements, with the inference of this version."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.attributes import COORDINATES
from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.locations import Locations
from locentropy.core.version import __version__
from locentropy.core.window_split import PlaceWindows, split
from locentropy.mechanisms.parameters import LargeDeltaWarning, read_parameters
from locentropy.mechanisms.registry import class_called, parameter_names
from locentropy.mechanisms.window_parts import by_part
from locentropy.release.columns import row_ids
from locentropy.release.release import Release
from locentropy.release.signal import signal_of

if TYPE_CHECKING:
    from locentropy.core.estimates import Estimates, Measurements
    from locentropy.mechanisms.base import Mechanism
    from locentropy.release.statement import Statement

TOLERANCE = 1e-6
"""Nats: by so much estimates of one inference may differ between machines, whose arithmetic rounds differently."""


def reestimated(release: Release) -> Release:
    """The release that the inference of this version computes from the same measurements, by the same rules."""
    release = release.with_earlier_found()
    estimates = estimated_again(release)
    mechanism, listed = mechanism_of(release.statement), listed_in(release)
    assert release.measurements is not None  # noqa: S101  # or there would be no estimates
    statement = replace(
        release.statement,
        inference=mechanism.inference,
        inferred_by=__version__,
        signal=signal_of(mechanism, release.measurements.measurements, listed),
    )
    again = Release.of(estimates, listed, statement, release.measurements)
    again = again.with_levels(map(reestimated, release.further)).with_earlier(release.earlier)
    return again.with_background(release.background)


def estimated_again(release: Release) -> Estimates:
    """What the mechanism estimates from the measurements, before any rule leaves values out."""
    if release.measurements is None:
        raise ReleaseError(
            "This release has no measurements to compute estimates from: it was made by an early version, or by a "
            "mechanism whose measurements are not published."
        )
    mechanism, own = mechanism_of(release.statement), release.measurements.measurements
    earlier = _earlier_measurements(release)
    try:
        if earlier:
            return mechanism.estimate_after(earlier, own, listed_in(release))
        return mechanism.estimate(own, listed_in(release))
    except Exception as error:  # the measurements may come from anywhere, and fit the mechanism or not
        raise ReleaseError(
            f"{release.statement.mechanism} cannot compute estimates from these measurements: {type(error).__name__}."
        ) from None


def _earlier_measurements(release: Release) -> list[Measurements]:
    """Those of all earlier releases of its series, the first first; none if it is the first, or in no series."""
    note = release.statement.series
    if note is None:
        return []
    found = [each.measurements.measurements for each in release.earlier if each.measurements is not None]
    if len(found) != note.number - 1:
        raise ReleaseError(
            f"This is release {note.number} of a series, and its values lean on all earlier ones, which are not all "
            "beside it. Put their directories beside its own."
        )
    return found


def mechanism_of(statement: Statement) -> Mechanism:
    """The mechanism that a statement describes; ReleaseError if it is not installed here."""
    kind = class_called(statement.mechanism)
    if kind is None or kind.__module__.startswith("locentropy.") != statement.built_in:
        raise ReleaseError(
            f"{statement.mechanism} is not installed here, so its estimates cannot be computed again. Install the "
            "package that it comes with."
        )
    known = parameter_names(kind.name)
    given = {name: value for name, value in statement.parameters.items() if name in known}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LargeDeltaWarning)  # who published has been warned
            stated = kind(**read_parameters(kind, given))
    except (LocentropyError, TypeError) as error:
        raise ReleaseError(
            f"{statement.mechanism} does not take the parameters that are stated: {error}"
        ) from None
    return by_part(stated, statement.guarantee.unit) if statement.windows is not None else stated


def listed_in(release: Release) -> Locations | None:
    """The public list of a release; None where the mechanism chose the locations by itself."""
    table, statement = release.to_arrow(), release.statement
    if statement.locations_source.startswith(("private selection by the mechanism", "unprotected selection")):
        return None
    names = table.column_names

    def column(name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        return table[name].to_numpy().astype(np.float64) if name in names else None

    ids, paired = table["location"].combine_chunks(), None
    if statement.windows is not None:
        ids, paired = row_ids(table), PlaceWindows(ids, split(statement.window, statement.windows))
    return Locations(
        ids,
        table["name"].combine_chunks() if "name" in names else None,
        column("lat"),
        column("lon"),
        {name: table[name].combine_chunks() for name in statement.attributes if name != COORDINATES},
        COORDINATES in statement.attributes,
        {name: table[name].combine_chunks() for name in statement.listed_columns},
        outlines=release.outlines,
        in_windows=paired,
    )
