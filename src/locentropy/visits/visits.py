"""Visits: where a table of visits is, and the roles of its columns."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from locentropy.core.errors import ParameterError
from locentropy.core.spelling import AS_THEY_ARE, Spelling
from locentropy.core.windows import Window
from locentropy.visits.columns import AUTO, ROLES, Choice, format_named
from locentropy.visits.readers.encodings import encoding_named
from locentropy.visits.writing import DecimalMark, check_decimal, check_time_format

if TYPE_CHECKING:
    from collections.abc import Sequence

BadRows = Literal["fail", "drop"]
MissingIds = Literal["drop", "keep"]
TimeType = Literal["local", "utc", "s", "ms", "us", "ns"]
_LONGEST_WORD: Final = 100
DELIMITERS: Final = (",", "\t", ";", "|")


@dataclass(frozen=True, eq=False)
class Visits:
    """A table of visits: one row for each visit, or pre-counted rows with a `visits` column.

    `source` is a path (CSV, TSV, JSON lines, gzip of these, Parquet, a workbook, a DuckDB database), a folder or a
    pattern of files, or a pandas, Polars, Arrow, Ibis or Spark table. Nothing is read until it is needed. A column that
    is not named is found by its usual name.

        Visits("checkins.parquet", user="uid", location="venue", time="at")
    """

    source: Any
    user: Choice = AUTO
    """The column of user ids. All rows of a person must have the same id: this is who is protected."""
    location: Choice = AUTO
    """The column of location ids."""
    time: Choice = AUTO
    """The column of times; None to use no times."""
    visits: Choice = AUTO
    """The column of numbers of visits, in pre-counted tables; without one, a row is one visit."""
    lat: Choice = AUTO
    """The column of latitudes, in degrees."""
    lon: Choice = AUTO
    """The column of longitudes, in degrees."""
    table: str | None = None
    """The table's name, if `source` is a DuckDB database with several, or the sheet's, if it is such a workbook."""
    views: bool = False
    """Whether `table` may be a view of a DuckDB database. A view is a query: say so of your own databases only. No
    other file is opened for it."""
    format: str | None = None
    """The name of a published format: gowalla, brightkite or foursquare."""
    header: bool | None = None
    """Whether a text file begins with a header; None: it does unless its columns are named."""
    columns: tuple[str, ...] | None = None
    """The columns' names, in order, of a text file without a header."""
    delimiter: str | None = None
    """The separator of fields in a text file: a comma, a tab, a semicolon or a bar. If None, it is taken from the
    header; without a header it is a tab in `.tsv` files and a comma in others. It is never guessed from data rows."""
    encoding: str | None = None
    """The encoding of a text file, such as "cp1252"; None for UTF-8. If the file is not in it, the error says so. It
    must be one in which every line can be read by itself."""
    decimal: DecimalMark | None = None
    """The decimal mark of numbers that are texts: "." or ",". If None, it is a point; where semicolons or tabs
    separate the fields, a comma is read as well, each row by itself."""
    time_format: str | None = None
    """How times are written that are texts, as for `datetime.strptime`: "%d/%m/%Y %H:%M". If None, ISO 8601, whole
    numbers and 31.01.2026 08:00 are recognised."""
    bad_rows: BadRows = "fail"
    """What to do with rows that break a rule (no location id, an invalid time, visits below one, …): "fail" or
    "drop". Decided before anything is read. The number of dropped rows goes to the private log only."""
    missing_ids: MissingIds = "drop"
    """What to do with rows whose user id is missing: null, empty, or the text nan, NULL, None, NA or n/a in upper or
    lower case. "drop" leaves out each of them; they would count as one person, and many people would share one
    protection. "keep" takes these texts for ids, and null and empty ids for bad rows. How many were left out goes to
    the private log only."""
    missing_id_words: Sequence[str] = ()
    """Further words that stand for a missing user id, in upper or lower case: words that programs write, never the id
    of a person, for they are published."""
    ids: str | Sequence[str] = AS_THEY_ARE
    """How ids of users and locations are compared: "as-they-are", by type and value; or by a list of "text", as they
    are written, for files that store the same id as a number in one place and as a text in another; "trim", without
    blanks at either end; and "fold", without regard to upper and lower case."""
    time_type: TimeType | None = None
    """What times are whose type does not tell, which windows need to know: "local", times without a zone, as the clock
    of the window's zone showed them; "utc", times without a zone that are in UTC; "s", "ms", "us" or "ns", whole
    numbers that count these since 1970 in UTC. A text of another kind is then a bad row."""
    window: Window | None = None
    """Only visits that began in this window; set by `during`."""

    def __post_init__(self) -> None:
        if isinstance(self.source, os.PathLike):
            object.__setattr__(self, "source", Path(self.source))
        choices = {"bad_rows": BadRows, "missing_ids": MissingIds}
        for name, options in ((name, get_args(choice)) for name, choice in choices.items()):
            if getattr(self, name) not in options:
                raise ParameterError(
                    f"is not one of {', '.join(options)}.",
                    parameter=name,
                    value=getattr(self, name),
                    example=f'Visits("checkins.csv", {name}="{options[-1]}")',
                )
        object.__setattr__(self, "ids", str(Spelling.of(self.ids)))
        object.__setattr__(self, "missing_id_words", _checked_words(self.missing_id_words, self.missing_ids))
        if self.time_type is not None and self.time_type not in get_args(TimeType):
            raise ParameterError(
                f"is not one of {', '.join(get_args(TimeType))}.",
                parameter="time_type",
                value=self.time_type,
                example='Visits("checkins.csv", time_type="local")',
            )
        if self.window is not None and not isinstance(self.window, Window):
            raise ParameterError(
                "must be a Window.",
                parameter="window",
                example='Visits("checkins.csv").during(Window("2026-05", zone="Europe/Berlin"))',
            )
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            raise ParameterError(
                f"is not one of {', '.join(map(repr, DELIMITERS))}.",
                parameter="delimiter",
                value=self.delimiter,
                example='Visits("checkins.csv", delimiter=",")',
            )
        check_decimal(self.decimal)
        check_time_format(self.time_format)
        if self.encoding is not None:
            encoding_named(self.encoding)
        if self.format is not None:
            format_named(self.format)
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))

    def __repr__(self) -> str:
        """The options that are set; of a table in memory only its type, never its rows."""
        shown = self.source if self.is_path else type(self.source).__name__
        set_ = (f.name for f in fields(self)[1:] if getattr(self, f.name) != f.default)
        return f"Visits({', '.join([repr(shown), *(f'{name}={getattr(self, name)!r}' for name in set_)])})"

    def during(self, window: Window) -> Visits:
        """The visits that began in a window, as if the table held no others.

        Visits("checkins.parquet").during(Window("2026-05", zone="Europe/Berlin"))
        """
        if self.window is not None and self.window != window:
            raise ParameterError(
                "The visits are already those of a window. Begin with all of them.",
                example='Visits("checkins.csv").during(Window("2026-05", zone="Europe/Berlin"))',
            )
        return replace(self, window=window)

    @property
    def spelling(self) -> Spelling:
        """How ids are spelled before they are compared."""
        return Spelling.of(self.ids)

    @property
    def is_path(self) -> bool:
        """Whether the source is a path, a folder or a pattern."""
        return isinstance(self.source, str | Path)

    def choices_for(self, required: Sequence[str]) -> dict[str, Choice]:
        """The choice for each role. Columns that nothing uses are not looked for: location ids, where a grid locates
        visits, and coordinates where none does, unless they were named.
        """
        if "location" not in required:
            return self.choices | {"location": None}
        unused = {
            role: None for role in ("lat", "lon") if self.choices[role] is AUTO and role not in required
        }
        return self.choices | (unused if len(unused) == 2 else {})

    def without_unused_times(self) -> Visits:
        """The same visits without their times, unless a window needs them or something was said about them."""
        said = self.time is not AUTO or self.time_format is not None or self.time_type is not None
        return self if said or self.window is not None else replace(self, time=None)

    @property
    def choices(self) -> dict[str, Choice]:
        """The choice for each role."""
        return {role: getattr(self, role) for role in ROLES}

    def required_with(self, required: Sequence[str]) -> tuple[str, ...]:
        """The roles that must have a column: a window needs times."""
        return (*required, "time") if self.window is not None else tuple(required)


def _checked_words(words: Any, missing_ids: MissingIds) -> tuple[str, ...]:
    """Words for missing ids, each once and without blanks around; ParameterError unless they can be published."""
    found = tuple(word.strip() if isinstance(word, str) else "" for word in words)
    example = 'Visits("checkins.csv", missing_id_words=["GAST", "TEST"])'
    if isinstance(words, str) or not all(
        word and word.isprintable() and len(word) <= _LONGEST_WORD for word in found
    ):
        raise ParameterError(
            f"must be a list of printable words of at most {_LONGEST_WORD} characters.",
            parameter="missing_id_words",
            example=example,
        )
    if found and missing_ids == "keep":
        raise ParameterError(
            "are words for ids that are missing, and missing_ids='keep' (--missing-ids keep) says that none are. "
            "Leave one of them out.",
            parameter="missing_id_words",
            example=example,
        )
    return tuple(sorted({*found}))
