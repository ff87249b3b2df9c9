"""Writing: how numbers and times are written in texts, and the SQL that reads them.

Each text is read by itself: one that can be taken in one way only is taken so, and all others are bad rows. No row
decides how another one is read, for a row belongs to somebody. So dots mean the day first (31.01.2026), because they
do wherever dates are written with them; but 03/04/2026 is March or April, depending on the country, and is read only
if the caller says how: `time_format`. A later row with a 31 in it does not settle that for others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Self, get_args

from locentropy.core.errors import ParameterError
from locentropy.visits.sql import list_literal, literal

if TYPE_CHECKING:
    from locentropy.visits.engines.base import Clock

DecimalMark = Literal[".", ","]

TIME_EXAMPLE: Final = "%d/%m/%Y %H:%M"
"""How times are often written that cannot be recognised."""

_TSMC_TIME: Final = "'%a %b %d %H:%M:%S %z %Y'"
_DAYS: Final = "Mon Tue Wed Thu Fri Sat Sun"
_LONG_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_LONG_MONTHS: Final = "January February March April May June July August September October November December"

# The engine's strptime takes less than four digits for a year and blanks at either end; Python's does not. What is read
# must fit these patterns first, so that both agree.
_DIRECTIVES: Final = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "(?:1[0-2]|0?[1-9])",
    "d": "(?:3[01]|[12][0-9]|0?[1-9])",
    "H": "(?:2[0-3]|[01]?[0-9])",
    "I": "(?:1[0-2]|0?[1-9])",
    "M": "[0-5]?[0-9]",
    "S": "[0-5]?[0-9]",
    "f": "[0-9]{1,6}",
    "p": "(?i:[ap]m)",
    "b": f"(?i:{'|'.join(_MONTHS.split())})",
    "B": f"(?i:{'|'.join(_LONG_MONTHS.split())})",
    "a": f"(?i:{'|'.join(_DAYS.split())})",
    "A": f"(?i:{'|'.join(_LONG_DAYS.split())})",
    "z": "[+-][0-9]{2}:?[0-5][0-9]",
    "%": "%",
}
_DAY: Final = (("Y", "y"), ("m", "b", "B"), ("d",))
"""What a time needs at least, each in one of these ways: year, month, day."""

_DAY_FIRST: Final = (
    rf"{_DIRECTIVES['d']}\.{_DIRECTIVES['m']}\.[0-9]{{4}}"
    rf"(?:,? {_DIRECTIVES['H']}:[0-5][0-9](?::[0-5][0-9])?)?"
)
"""31.01.2026, 31.01.2026 08:00 and 31.1.2026, 8:00:30."""
_DAY_FIRST_FORMATS: Final = ["%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y"]


@dataclass(frozen=True)
class Writing:
    """How numbers and times are written in texts."""

    decimal: DecimalMark | None = "."
    """The decimal mark; None reads a comma as well as a point, each text by itself."""

    time_format: str | None = None
    """A strptime format; None recognises what can be taken in one way only."""

    def said(self, decimal: DecimalMark | None, time_format: str | None) -> Self:
        """The same, with what the caller says in the place of what was recognised."""
        return replace(self, decimal=decimal or self.decimal, time_format=time_format or self.time_format)

    @property
    def described(self) -> dict[str, str]:
        """In words, for whoever wants to know before anything is spent: of numbers, and of times."""
        numbers = {
            ".": "decimals with a point",
            ",": "decimals with a comma",
            None: "decimals with a comma or a point",
        }
        times = "ISO 8601, or day first as in 31.01.2026 08:00"
        return {"numbers": numbers[self.decimal], "times": self.time_format or times}

    @property
    def clock(self) -> Clock | None:
        """What the times are, if that was said; if not, each text tells by itself."""
        if self.time_format is None:
            return None
        return "instant" if "z" in _directives(self.time_format) else "local"

    @property
    def only_dates(self) -> bool:
        """Whether it was said that times have no time of day."""
        return self.time_format is not None and not {"H", "I"} & set(_directives(self.time_format))

    def number_sql(self, text: str) -> str:
        """A text as a number; null if it is none."""
        point = f"TRY_CAST({text} AS DOUBLE)"
        if self.decimal == ".":
            return point
        comma = f"TRY_CAST(replace({text}, ',', '.') AS DOUBLE)"
        if self.decimal == ",":
            return f"CASE WHEN NOT contains({text}, '.') THEN {comma} END"
        return f"CASE WHEN contains({text}, ',') AND NOT contains({text}, '.') THEN {comma} ELSE {point} END"

    def time_sql(self, text: str) -> str:
        """A text as a time, in microseconds since 1970 (in UTC without an offset), or a whole number; else null."""
        if self.time_format is not None:
            fitting = (
                f"CASE WHEN regexp_full_match({text}, {literal(_pattern(self.time_format))}) THEN {text} END"
            )
            return _microseconds(f"try_strptime({fitting}, {literal(self.time_format)})")
        # DuckDB also reads words such as "epoch" and "infinity" as times; a time has a hyphen or a colon.
        iso = f"TRY_CAST(CASE WHEN contains({text}, '-') THEN {text} END AS TIMESTAMPTZ)"
        # A time that names no zone is in UTC, and is read in a third of the time if it says so. One that names a zone
        # is none with a second one, and is read as it is.
        may_lack_zone = f"contains({text}, '-') AND contains({text}, ':') AND NOT contains({text}, 'Z')"
        in_utc = f"TRY_CAST(CASE WHEN {may_lack_zone} THEN {text} || 'Z' END AS TIMESTAMPTZ)"
        tsmc = _microseconds(f"try_strptime(CASE WHEN contains({text}, ':') THEN {text} END, {_TSMC_TIME})")
        formats = list_literal(_DAY_FIRST_FORMATS)
        fitting = f"CASE WHEN {self.day_first_sql(text)} THEN replace({text}, ',', '') END"
        day_first = _microseconds(f"try_strptime({fitting}, {formats})")
        # A CASE tries the others only where the first does not fit. Of a "coalesce" the engine evaluates all on every
        # row, which takes four times as long.
        others = f"coalesce({tsmc}, {whole_number_sql(text)}, {day_first})"
        return (
            f"CASE WHEN isfinite({in_utc}) THEN epoch_us({in_utc}) WHEN isfinite({iso}) THEN epoch_us({iso}) "
            f"ELSE {others} END"
        )

    def is_number_sql(self, text: str) -> str:
        """A condition: a time is written as a whole number, rather than as a moment."""
        if self.time_format is not None:
            return "false"
        # Most times have a colon, and no number has: a cast that fails takes long.
        return f"CASE WHEN contains({text}, ':') THEN false ELSE ({whole_number_sql(text)} IS NOT NULL) END"

    def is_date_sql(self, text: str) -> str:
        """A condition: a recognised time has no time of day."""
        if self.time_format is not None:
            return str(self.only_dates).lower()
        return f"NOT contains({text}, ':') AND NOT {self.is_number_sql(text)}"

    def is_local_sql(self, text: str) -> str:
        """A condition: a recognised time is a moment and names no zone, so that a zone could still follow."""
        # DuckDB reads times with blanks after them, but no blank before a zone.
        zoned = f"regexp_replace({text}, '\\s+$', '') || 'Z'"
        zone_fits = f"NOT contains({text}, ':') OR TRY_CAST({zoned} AS TIMESTAMPTZ) IS NOT NULL"
        iso = f"contains({text}, '-') AND ({zone_fits}) AND {whole_number_sql(text)} IS NULL"
        return f"({iso} OR {self.day_first_sql(text)})"

    def day_first_sql(self, text: str) -> str:
        """A condition: a time is written with dots, the day first."""
        if self.time_format is not None:
            return "false"
        # The cheap test comes first, in a CASE: for an AND the engine may evaluate both sides on every row.
        fits = f"regexp_full_match({text}, {literal(_DAY_FIRST)})"
        return f"CASE WHEN contains({text}, '.') THEN {fits} ELSE false END"


def whole_number_sql(text: str) -> str:
    """A text as a 64-bit integer if it is written as one is, else null: "07" and "7.0" are null."""
    return f"CASE WHEN CAST(TRY_CAST({text} AS BIGINT) AS VARCHAR) = {text} THEN CAST({text} AS BIGINT) END"


def check_decimal(decimal: Any) -> None:
    """Raise ParameterError unless this is a decimal mark, or None."""
    if decimal is not None and decimal not in get_args(DecimalMark):
        raise ParameterError(
            "is not one of '.', ','.",
            parameter="decimal",
            value=decimal,
            example='Visits("checkins.csv", decimal=".")',
        )


def check_time_format(time_format: Any) -> None:
    """Raise ParameterError unless this is a strptime format that tells year, month and day, or None."""
    if time_format is None:
        return
    example = f'Visits("export.csv", time_format="{TIME_EXAMPLE}")'
    if not isinstance(time_format, str):
        raise ParameterError("must be a text.", parameter="time_format", value=time_format, example=example)
    used = _directives(time_format)
    unknown = [each for each in used if each not in _DIRECTIVES]
    if unknown:
        known = ", ".join(f"%{each}" for each in _DIRECTIVES)
        raise ParameterError(
            f"has %{unknown[0]}, which is not one of {known}.",
            parameter="time_format",
            value=time_format,
            example=example,
        )
    missing = [ways for ways in _DAY if len(set(ways) & set(used)) != 1]
    if missing or len({*used} - {"%"}) != len([each for each in used if each != "%"]):
        raise ParameterError(
            "must have the year, the month and the day, and each part once.",
            parameter="time_format",
            value=time_format,
            example=example,
        )
    if ("I" in used) != ("p" in used) or {"H", "I"} <= set(used):
        raise ParameterError(
            "must have hours as %H, from 0 to 23, or as %I with %p, from 1 to 12 and AM or PM.",
            parameter="time_format",
            value=time_format,
            example=example,
        )


def _directives(time_format: str) -> list[str]:
    """The letter of each directive of a format, in order; empty for a last % that has none."""
    return re.findall(r"%(.|$)", time_format, re.DOTALL)


def _pattern(time_format: str) -> str:
    """A regular expression of the texts that a format reads."""
    parts = re.split(r"%(.)", time_format)
    return "".join(_DIRECTIVES[part] if at % 2 else re.escape(part) for at, part in enumerate(parts))


def _microseconds(moment: str) -> str:
    """A moment as a number; null if it is infinite."""
    return f"CASE WHEN isfinite({moment}) THEN epoch_us({moment}) END"
