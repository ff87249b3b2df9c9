"""Verify the values: whether they are what the measurements give, where this software has the inference for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from locentropy.core.errors import ReleaseError
from locentropy.core.parquet import read_bounded
from locentropy.release.columns import WINDOW, public_columns
from locentropy.release.measurements import measurements_parquet
from locentropy.release.reestimate import estimated_again, listed_in, mechanism_of, reestimated
from locentropy.release.signal import signal_of
from locentropy.release.verify_series import Past, changes_differ, tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.release.measurements import KeptMeasurements
    from locentropy.release.reading import Described
    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

_RULES: Final = frozenset({"bad_rows", "missing_ids"})
"""Rules for rows that measurements may state."""

_NOT_INFERRED: Final = frozenset(
    {"location", *WINDOW, "name", "not_private", "lat", "lon", "effective_visitors"}
)
"""Columns that do not come from the measurements, or follow from others that do."""


def measurement_problems(directory: Path, about: Described, release: Release, past: Past) -> Iterator[str]:
    """Compute the values of a level again from its measurements, where this software has the inference for it."""
    kept = release.measurements
    if kept is None:
        raise ReleaseError(f"{about.names.measurements} is missing.")
    if kept.user_column != about.statement.user_column:
        yield f"{about.names.measurements} names another column for the person than {about.names.details}."
    stated = {name: about.statement.parameters.get(name) for name in kept.rules}
    if any(stated[name] not in (None, rule) for name, rule in kept.rules.items()) or set(kept.rules) - _RULES:
        yield f"{about.names.measurements} states other rules for rows than {about.names.details}."
    yield from _declared(kept, listed_in(release), about)
    yield from _signal(release)
    found = read_bounded(directory / about.names.measurements)
    if not found.equals(pq.read_table(pa.BufferReader(measurements_parquet(kept)))):
        yield f"{about.names.measurements} holds more than measurements."
    if cannot_infer(about.statement) is not None:
        return
    if past.complete:
        yield from _values(release, reestimated(release.with_earlier(past.releases)))
    else:
        yield from past.values_alone(release)


def _values(release: Release, again: Release) -> Iterator[str]:
    """Compare values with those that the measurements give."""
    table, given = release.to_arrow(), again.to_arrow()
    if table.column_names != given.column_names:
        yield "The table has other columns than the measurements give."
        return
    compared, within = _sure_to_be_shown(again), tolerance(release.statement)
    for name in given.column_names:
        if name in _NOT_INFERRED or name in public_columns(release.statement):
            continue
        if name == "change":
            if changes_differ(table, given):
                yield "change is not what the measurements give."
            continue
        here, there = (each[name].to_numpy().astype(np.float64)[compared] for each in (table, given))
        if not np.allclose(here, there, rtol=0, atol=within, equal_nan=True):
            yield f"{name} is not what the measurements give, within {within:g}."
    said, found = (each.statement.leans_on for each in (release, again))
    if [effect.name for effect in said] != [effect.name for effect in found] or not np.allclose(
        [effect.explained for effect in said], [effect.explained for effect in found], rtol=0, atol=within
    ):
        yield "What is said about attributes is not what the measurements give."


def _sure_to_be_shown(release: Release) -> NDArray[np.bool_]:
    """The places whose standard error is not so close to the limit that another machine may round it across."""
    limit = release.statement.max_std_error
    errors = None if limit is None else estimated_again(release).std_error
    if limit is None or errors is None:
        return np.ones(len(release), dtype=bool)
    close: NDArray[np.bool_] = np.abs(errors - limit) <= tolerance(release.statement)
    return ~close


def _declared(kept: KeptMeasurements, locations: Locations | None, about: Described) -> Iterator[str]:
    """Compare queries and scales with those that the mechanism declares, where it is installed."""
    if not is_installed(about.statement):
        return
    mechanism = mechanism_of(about.statement)
    if dict(mechanism.public_scales(locations)) != dict(kept.scales):
        yield f"{about.names.measurements} states other scales than those that are public."
    names = mechanism.query_names(locations)
    if names and set(names) != set(kept.measurements.values):
        yield f"{about.names.measurements} has other queries than {about.statement.mechanism} has."


def _signal(release: Release) -> Iterator[str]:
    """Compare what is said of the signal with what the measurements give; earlier versions do not say it."""
    kept, said = release.measurements, release.statement.signal
    if said is None or kept is None or not is_installed(release.statement):
        return
    found = signal_of(mechanism_of(release.statement), kept.measurements, listed_in(release))
    if found is None or not found.close_to(said):
        yield "What is said of the signal is not what the measurements give."


def is_installed(statement: Statement) -> bool:
    """Whether this software has the mechanism of a release, with these parameters."""
    try:
        mechanism_of(statement)
    except ReleaseError:
        return False
    return True


def cannot_infer(statement: Statement) -> str | None:
    """Why this software cannot compute the values again; None if it can."""
    try:
        known = mechanism_of(statement).inference
    except ReleaseError as error:
        return str(error)
    if known != statement.inference:
        return (
            f"The values were inferred by version {statement.inference} of the inference of {statement.mechanism}, and "
            f"this software has version {known}, so they were not computed again."
        )
    return None
