"""The columns of a published table: which there may be, of which type, and what they mean.

A mechanism declares which columns it publishes (`Method`). Error bars that are not declared are refused, because they
may depend on the data: the noise of LimitSS, for example, depends on how many people were at a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES
from locentropy.core.errors import ReleaseError
from locentropy.core.estimates import CHANGES, COUNTS, INTERVALS, OF_SERIES
from locentropy.core.public_columns import checked_columns, column_types
from locentropy.core.window_split import PlaceWindows, split
from locentropy.core.windows import shortest_text
from locentropy.release.count_words import described_count
from locentropy.release.statement import NOT_PRIVATE

if TYPE_CHECKING:
    from datetime import date

    from locentropy.release.statement import Statement

WINDOW: Final = ("window_start", "window_end")
"""The dates of the window that a row is about, where there are several, or earlier ones in a series."""

COLUMNS: Final = (
    "location",
    *WINDOW,
    "name",
    "lat",
    "lon",
    "entropy",
    "effective_visitors",
    "std_error",
    "low",
    "high",
    *OF_SERIES,
    "entropy_busy",
    *COUNTS,
    "not_private",
)
"""Every column there may be, in order; columns of the public list follow its coordinates."""

ERROR_BARS: Final = ("std_error", "low", "high")

MOST_NATS: Final = 700.0
"""The largest exponent of e^entropy: noise without a bound could make it overflow."""

_REQUIRED: Final = ("location", "entropy", "effective_visitors")
_TEXTS: Final = ("name", "change", "not_private")


def public_columns(statement: Statement) -> tuple[str, ...]:
    """The columns that come from the public list as they are: attributes that the mechanism used, and all others."""
    return (*(name for name in statement.attributes if name != COORDINATES), *statement.listed_columns)


def columns_of(statement: Statement) -> tuple[str, ...]:
    """Every column that a release with this statement may have, in order."""
    left_out = set(OF_SERIES) if statement.series is None else set()
    if not _tells_window(statement):
        left_out |= {*WINDOW}
    own = [name for name in COLUMNS if name not in left_out]
    listed = own.index("entropy")
    return (*own[:listed], *public_columns(statement), *own[listed:])


def _tells_window(statement: Statement) -> bool:
    """Whether rows tell the window that they are about."""
    return statement.windows is not None or statement.series is not None


def described(name: str, statement: Statement) -> str:
    """What a column holds, for somebody who has only the release."""
    unit = statement.entropy_unit
    withheld = "; empty where it is withheld"
    about = (
        "after every person was cut to the bounds stated with the mechanism"
        if statement.estimand == "bounded"
        else "an estimate of that of all visits; no bound was applied"
    )
    noised = "with noise" if statement.private else "without any guarantee of privacy"
    clipped = ", before values are clipped" if statement.method.error_bars == "constant" else ""
    held = ", by a model: how often such intervals hold it was measured on other data, and is not proved"
    inferred = held if statement.method.error_bars == "model" else ""
    smoothed = "" if statement.series is None else ", given also the measurements of earlier releases"
    if name in COUNTS:
        return described_count(name, statement)
    place = "place" if statement.grouped_by is None else "group of places"
    if name in statement.listed_columns:
        return f"{name} of the {place}, from the public list; no value leans on it"
    if name in public_columns(statement):
        return f"{name} of the {place}, from the public list; an attribute that the values lean on"
    if statement.part is not None and statement.part.scope == "list" and name in ("location", "lat", "lon"):
        return {
            "location": "the name of the level: all places of the public list are one location",
            "lat": "latitude in degrees (WGS 84) of the middle of all places, from the public list",
            "lon": "longitude in degrees (WGS 84) of the middle of all places, from the public list",
        }[name]
    if statement.grouped_by is not None and name in ("location", "lat", "lon"):
        return {
            "location": f"the id of the group of places: their {statement.grouped_by} in the public list",
            "lat": "latitude in degrees (WGS 84) of the middle of the group's places, from the public list",
            "lon": "longitude in degrees (WGS 84) of the middle of the group's places, from the public list",
        }[name]
    return {
        "window_start": "the first date of the window of time that the row is about",
        "window_end": "the date after the last of that window",
        "location": "the id of the place",
        "name": "the public name of the place",
        "lat": "latitude in degrees (WGS 84), from the public list or the grid",
        "lon": "longitude in degrees (WGS 84), from the public list or the grid",
        "entropy": f"location entropy in {unit}, {noised}, {about}{smoothed}{withheld}",
        "entropy_alone": f"the same in {unit}, from the measurements of this release alone{withheld}",
        "change": "rose, fell or closed where it is sure (probability at least 0.95) that the expected number of "
        "visitors of the place rose or fell by more than a quarter, or fell to less than a tenth, since the period "
        "before or three periods ago, and by more than that of all places together; else none; by a model",
        "change_probability": "how probable that change is, by the model; where it is none, how probable the "
        "likeliest one is",
        "effective_visitors": "e to the power of the entropy in nats: as many people, all visiting equally often, "
        f"would give this entropy; not a number of people; at most e^{MOST_NATS:g}{withheld}",
        "std_error": f"standard error of the entropy in {unit}{clipped}{withheld}",
        "low": f"lower end of a 95 % interval for the entropy, in {unit}{inferred}{withheld}",
        "high": f"upper end of a 95 % interval for the entropy, in {unit}{inferred}{withheld}",
        "entropy_busy": f"a second estimate of the same entropy, in {unit}, from the same noise: better for rankings "
        "of busy places, such as the top twenty, and worse for all places together. The main number is entropy, and "
        f"std_error, low and high belong to it{withheld}",
        "not_private": f"{NOT_PRIVATE} in every row: this table gives people away",
    }[name]


def check_table(table: pa.Table, statement: Statement) -> None:
    """Raise ReleaseError unless these are columns that a release with this statement may have."""
    names = table.column_names
    allowed, required = columns_of(statement), {*_REQUIRED, *public_columns(statement)}
    if _tells_window(statement):
        required |= {*WINDOW}
    if statement.series is not None:
        required |= {*OF_SERIES}
    if names != [name for name in allowed if name in names] or not required <= set(names):
        raise ReleaseError(
            f"The table has columns that a release does not have, lacks some, or has them in another order: "
            f"at most {', '.join(allowed)} are published, in this order."
        )
    if COORDINATES in statement.attributes and "lat" not in names:
        raise ReleaseError("The values lean on coordinates, and the table has none.")
    for one, other in (("lat", "lon"), *INTERVALS):
        if (one in names) != (other in names):
            raise ReleaseError(f"The table has {one} or {other} without the other.")
    _check_types(table, statement)
    further = {name: table[name].combine_chunks() for name in statement.listed_columns}
    checked_columns(further, table.num_rows, statement.attributes)
    _check_allowed(table, statement)
    if statement.windows is not None:
        _check_windows(table, statement)  # first: a file may hold any dates
    if statement.series is not None:
        _check_series(table, statement)
    _check_nulls(table, ruled=statement.max_std_error is not None)
    if ("not_private" in names) == statement.private:
        raise ReleaseError("The column not_private must be there exactly when there is no guarantee.")
    if "not_private" in names and pc.unique(table["not_private"]).to_pylist() not in ([], [NOT_PRIVATE]):
        raise ReleaseError(f"The column not_private must say {NOT_PRIVATE} in every row.")


def row_ids(table: pa.Table) -> pa.Array:
    """What each row is about, as text, as measurements name it: the id of the place, or of its pair with a window."""
    texts = table["location"].cast(pa.string()).combine_chunks()
    if WINDOW[0] not in table.column_names or OF_SERIES[0] in table.column_names:
        return texts
    dates = zip(*(table[name].to_pylist() for name in WINDOW), strict=True)
    known: dict[tuple[date, date], str] = {}
    windows = [known.get(each) or known.setdefault(each, shortest_text(*each)) for each in dates]
    return pc.binary_join_element_wise(pa.array(windows, pa.string()), texts, " ")


def _check_windows(table: pa.Table, statement: Statement) -> None:
    """Raise ReleaseError unless the rows are about every place in each of the windows, one window after the other."""
    windows = split(statement.window, statement.windows)
    ids = table["location"].combine_chunks()
    places = ids[: len(ids) // len(windows)]
    every = PlaceWindows(pa.concat_arrays([places] * len(windows)), windows)
    if not ids.equals(every.ids) or not all(
        table[name].combine_chunks().equals(dates) for name, dates in zip(WINDOW, every.dates(), strict=True)
    ):
        raise ReleaseError("The rows are not about every place in each of the windows that are stated.")


def _check_series(table: pa.Table, statement: Statement) -> None:
    """Raise ReleaseError unless all rows are about the window that is stated, and changes are changes."""
    window = statement.window
    dates = None if window is None else [window.start, window.end]
    if len(table) and [pc.unique(table[name]).to_pylist() for name in WINDOW] != [
        [each] for each in dates or ()
    ]:
        raise ReleaseError("The rows are not about the window that is stated.")
    if not set(pc.unique(table["change"]).to_pylist()) <= {*CHANGES, None}:
        raise ReleaseError(f"The column change must hold {', '.join(CHANGES)}, and nothing else.")
    chances = table["change_probability"].drop_null().to_numpy()
    if ((chances < 0) | (chances > 1)).any():
        raise ReleaseError("The column change_probability must hold numbers from 0 to 1.")


def _check_types(table: pa.Table, statement: Statement) -> None:
    listed = public_columns(statement)
    for field in table.schema:
        if field.name in statement.listed_columns:
            fits = field.type in column_types()
        elif field.name in listed:
            fits = field.type in (pa.string(), pa.int64(), pa.bool_())
        elif field.name in WINDOW:
            fits = field.type == pa.date32()
        elif field.name == "location":
            fits = pa.types.is_integer(field.type) or pa.types.is_string(field.type)
        else:
            fits = field.type == (pa.string() if field.name in _TEXTS else pa.float64())
        if not fits:
            raise ReleaseError(
                f"The column {field.name} has type {field.type}, which a release does not have."
            )
    for name in set(table.column_names) - {"location", *WINDOW, *_TEXTS, *listed}:
        if not pc.all(pc.is_finite(table[name]), min_count=0).as_py():
            raise ReleaseError(f"The column {name} holds something that is not a finite number.")


def _check_allowed(table: pa.Table, statement: Statement) -> None:
    declared = statement.method
    shown = [name for name in (*ERROR_BARS, "entropy_busy", *COUNTS) if name in table.column_names]
    undeclared = [name for name in shown if name not in declared.columns]
    if undeclared:
        raise ReleaseError(
            f"{', '.join(undeclared)} of {statement.mechanism} may not be published: the mechanism does not declare "
            "them, and error bars may tell how many people were at a place."
        )
    if "std_error" in shown and declared.error_bars == "constant":
        errors = table["std_error"].drop_null().to_numpy()
        if len(errors) and np.ptp(errors):
            raise ReleaseError(f"std_error of {statement.mechanism} must be one constant for all places.")


def _check_nulls(table: pa.Table, *, ruled: bool) -> None:
    if any(table[name].null_count for name in ("location", *WINDOW) if name in table.column_names):
        raise ReleaseError("The columns location, window_start and window_end must have no gaps.")
    ids = row_ids(table)
    if len(pc.unique(ids)) != len(ids):
        raise ReleaseError("The table must name each place once; each in every window, if there are several.")
    withheld = pc.is_null(table["entropy"])
    for name in ("effective_visitors", *ERROR_BARS, *OF_SERIES, "entropy_busy"):
        if name in table.column_names and not pc.is_null(table[name]).equals(withheld):
            raise ReleaseError(f"The column {name} must be empty exactly where the entropy is withheld.")
    for name in COUNTS:
        if name not in table.column_names:
            continue
        empty = pc.is_null(table[name])
        # The rule for uncertain rows is about entropies: counts stay.
        fits = (
            not pc.any(pc.and_not(empty, withheld), min_count=0).as_py() if ruled else empty.equals(withheld)
        )
        if not fits:
            raise ReleaseError(
                f"The column {name} is empty where the mechanism withholds nothing, or not where it does."
            )
        counted = pc.drop_null(table[name]).to_numpy()
        if (counted < 0).any() or (counted != np.floor(counted)).any():
            raise ReleaseError(f"The column {name} holds something that is not a count.")
