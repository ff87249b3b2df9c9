"""Text files on Spark: lines as they are stored, taken apart by one strict rule.

Claim: the ids, times and numbers are those that the embedded engine reads from the same files, or there is an error.

Why: Spark's own CSV reader replaces bytes that are not UTF-8, closes quotation marks at the end of a line and passes
over lines of blanks, each without a word. So it is not asked. Lines come as bytes; those that both engines read in
the same way are read here, every field as a text, and all others raise:

- a field with a quotation mark is quoted from end to end, on one line, with marks inside it doubled;
- a time is a whole number or ISO 8601 in full digits; a number is written with digits, a point and an exponent;
- a line has no zero byte and no stray carriage return.

Layout and column names come from the headers, which are read here as for every engine (readers/text.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError, SourceError
from locentropy.visits.column_types import MAX_VISITS_PER_ROW
from locentropy.visits.readers import text
from locentropy.visits.readers.encodings import UTF8, encoding_named, opened
from locentropy.visits.readers.files import is_gzip
from locentropy.visits.readers.resolve import reject_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.visits.columns import Roles
    from locentropy.visits.readers.text import TextPart
    from locentropy.visits.visits import Visits

_ENDINGS: Final = (".csv", ".tsv", ".tab", ".txt")
_MAX_LINE: Final = 1 << 21
"""Bytes, as on the embedded engine."""

WHOLE_NUMBER: Final = "^(0|-?[1-9][0-9]{0,18})$"
"""Whole numbers as they are written; some of 19 digits are too large."""
_CLOCK: Final = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_ZONE: Final = r"(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)"
_TIME: Final = rf"^(?!0000)[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([ T]{_CLOCK}{_ZONE}?)?$"
_NUMBER: Final = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_MAYBE_NUMBER: Final = r"[0-9]|^\s*[+-]?[iI][nN][fF]"
"""Texts of which the embedded engine may make a number; of others it makes none."""

_RAISED: Final = re.compile(r"locentropy-text:(\w+):(\S*?);")
_QUOTES: Final = (
    "a quotation mark is not closed on its line, or stands in a field that is not quoted from end to end. On Spark "
    "neither is read, and it cannot be dropped: it may take other people's rows with it. Write such fields as "
    '"with ""marks"" doubled", on one line; or leave out --engine spark.'
)
_LINES: Final = {
    "utf8": "a line is not UTF-8 text. On Spark no other encoding is read: write the file as UTF-8, or leave out "
    "--engine spark.",
    "signs": "a line has a zero byte, or a carriage return where the others have none. Fix the file.",
    "length": f"a line is longer than {_MAX_LINE >> 20} MB. Is it a table of visits, one visit a line?",
    "quotes": _QUOTES,
    "fields": 'a line has too few or too many fields. Fix the file, or drop such lines: bad_rows="drop" '
    "(--bad-rows drop).",
}
_TIMES: Final = (
    "holds times that are written in other ways than 2026-01-31, 2026-01-31 08:00:00, 2026-01-31T08:00:00.5+01:00 or "
    "whole numbers. Programs read them differently, so on Spark they are refused. Write them so; use no times: "
    "time=None (--time ''); or leave out --engine spark."
)
_NUMBERS: Final = (
    "holds numbers that are written in other ways than 12, -0.5 or 1e-3. Programs read them differently, so on Spark "
    "they are refused. Write them so, or leave out --engine spark."
)


def text_parts(visits: Visits, paths: Sequence[Path]) -> list[TextPart]:
    """One part for each file, laid out as its header or the caller says; raise for what Spark cannot read alike."""
    reject_options(visits, ("table", "format"), "text files on Spark")
    for option in ("decimal", "time_format"):
        if getattr(visits, option) is not None:
            raise ParameterError(
                "is not read on Spark, where times are ISO 8601 and numbers have a point. Leave it out, or leave out "
                "--engine spark.",
                parameter=option,
                value=getattr(visits, option),
            )
    if encoding_named(visits.encoding or UTF8) != UTF8:
        raise ParameterError(
            "is not read on Spark: text files must be UTF-8 there. Convert them, or leave out --engine spark.",
            parameter="encoding",
            value=visits.encoding,
        )
    for path in paths:
        _check_name(path)
    options = text.TextOptions(visits.header, visits.columns, visits.delimiter, visits.chosen)
    parts = text.text_parts(paths, options, Path())  # of UTF-8 no copy is made anywhere
    for part in parts:
        if part.layout.lines_before:
            raise SourceError(
                f"{part.label}: begins with a line for Excel (sep=), which is not read on Spark. Remove that line, or "
                "leave out --engine spark."
            )
    return parts


def refuse_address(source: str) -> None:
    """Raise for text files at an address: their headers cannot be read from here."""
    if source.lower().removesuffix(".gz").endswith(_ENDINGS):
        raise SourceError(
            f"{source}: text files are read by their paths. For an address, give a frame whose types are said: "
            f'Visits(spark.read.csv("{source}", schema="user STRING, location STRING, time TIMESTAMP_NTZ", '
            'header=True, enforceSchema=False, mode="FAILFAST"))'
        )


def described(parts: Sequence[TextPart], roles: Roles) -> str:
    """How the rows are read. It follows from names and headers alone, and tells nothing of any row."""
    columns = ", ".join(f"{role} {name!r}" for role, name in roles.items())
    files = f"{len(parts):,} files, " if len(parts) > 1 else ""
    times = "; times: ISO 8601 or whole numbers" if "time" in roles else ""
    return f"Read as {files}{parts[0].described}; columns: {columns}{times}."


class TextLines:
    """The lines of text files in a Spark session."""

    def __init__(self, session: Any, parts: Sequence[TextPart]) -> None:
        self._session = session
        self._groups: dict[tuple[Any, bytes], list[TextPart]] = {}
        for part in parts:
            with opened(part.path) as file:
                first = file.readline().removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n")
            ending = first if part.layout.has_header else first[-1:] if first.endswith(b"\r") else b""
            self._groups.setdefault((part.layout, ending), []).append(part)
        self._labels = {str(part.path.resolve()): part.label for part in parts}

    def label_of(self, address: str) -> str:
        """The file's name as the caller knows it; `address` is what Spark calls it."""
        path = "/" + unquote(address.partition(":")[2]).lstrip("/")
        return self._labels.get(path, path)

    def rows(self, roles: Roles, *, drop_bad: bool) -> Any:
        """A frame with the roles as columns, `part` (the address of the file) and how each time is written."""
        from pyspark.sql import functions as f

        frames = []
        for (layout, first), parts in self._groups.items():
            lines = self._lines(layout.has_header, first, parts)
            line, width = f.col("line"), len(layout.columns)
            sound = (
                f.when(~f.is_valid_utf8(line), _raised("utf8"))
                .when(f.contains(line, f.lit("\0")) | f.contains(line, f.lit("\r")), _raised("signs"))
                .when(f.octet_length(line) > _MAX_LINE, _raised("length"))
                .when(f.contains(line, f.lit('"')) & ~_well_quoted(line, layout.delimiter), _raised("quotes"))
                .otherwise(True)
            )
            lines = lines.filter(~f.col("is_header") & (line != "")).filter(sound)
            fields = _once(lines, [_fields(line, layout.delimiter).alias("fields")])
            complete = _is_complete(f.col("fields"), width)
            kept = fields.filter(
                complete if drop_bad else f.when(~complete, _raised("fields")).otherwise(True)
            )
            texts = [
                _unquoted(f.get("fields", f.lit(layout.columns.index(name))), layout.delimiter).alias(role)
                for role, name in roles.items()
            ]
            frames.append(_once(_once(kept, texts), _typed(roles)))
        read = frames[0]
        for frame in frames[1:]:
            read = read.unionAll(frame)
        return read

    def check(self, *, drop_bad: bool) -> int:
        """How many lines are dropped for their number of fields. Raise SourceError if a line repeats the header."""
        from pyspark.sql import functions as f

        dropped = 0
        for (layout, first), parts in self._groups.items():
            if not (layout.has_header or drop_bad):
                continue
            lines = self._lines(layout.has_header, first, parts)
            complete = _is_complete(_fields(f.col("line"), layout.delimiter), len(layout.columns))
            incomplete = ~f.col("is_header") & (f.col("line") != "") & ~complete
            counts = lines.groupBy("part").agg(
                f.count_if(f.col("is_header")).alias("headers"),
                (f.count_if(incomplete) if drop_bad else f.lit(0)).alias("incomplete"),
            )
            for row in counts.collect():
                dropped += row.incomplete
                if layout.has_header and row.headers != 1:
                    raise SourceError(
                        f"{self.label_of(row.part)}: a line repeats the header, as where files were joined. It cannot "
                        "be told from a visit. Remove it."
                    )
        return dropped

    def _lines(self, has_header: bool, first: bytes, parts: Sequence[TextPart]) -> Any:
        """Lines without what ends them, and whether each is a header: equal to the first, where files begin."""
        from pyspark.sql import functions as f

        paths = [str(part.path.resolve()) for part in parts]
        reader = self._session.read.options(
            lineSep="\n", ignoreCorruptFiles="false", ignoreMissingFiles="false"
        )
        value = f.col("value")
        header = f.lit(first.decode()) if has_header else f.lit(None).cast("string")
        is_header = f.coalesce((f.col("_metadata.file_block_start") == 0) & (value == header), f.lit(False))
        line = f.when(value.endswith("\r"), f.expr("substring(value, 1, length(value) - 1)")).otherwise(value)
        return reader.text(paths).select(
            (line if first.endswith(b"\r") else value).alias("line"),
            f.col("_metadata.file_path").alias("part"),
            is_header.alias("is_header"),
        )


def explained(
    message: str, label: str, columns: Mapping[str, str], lines: TextLines
) -> LocentropyError | None:
    """The error in plain words that a query raised about text files; None if it is another one."""
    found = _RAISED.search(message)
    if found is None:
        return None
    what, file = found[1], lines.label_of(found[2]) if found[2] else label
    if what in _LINES:
        return (SourceError if what == "utf8" else BadRowsError)(f"{file}: {_LINES[what]}")
    rule = _TIMES if what == "time" else _NUMBERS
    return ColumnError(f"{file}: the {what} column {columns[what]!r} {rule}")


def _check_name(path: Path) -> None:
    """Raise unless Spark takes the file for what it is: it knows compressed files by their names."""
    name = path.name.lower()
    if not name.removesuffix(".gz").endswith(_ENDINGS) or name.endswith(".gz") != is_gzip(path):
        raise SourceError(
            f"{path}: Spark takes files by their names. Text files must end in {', '.join(_ENDINGS)}, and those "
            "compressed with gzip, and no others, in .gz besides. Rename the file, or leave out --engine spark."
        )


def _raised(what: str, kind: str = "boolean") -> Any:
    """An expression that stops the query, and says in which file and why, but nothing of the line."""
    from pyspark.sql import functions as f

    return f.raise_error(f.concat(f.lit(f"locentropy-text:{what}:"), f.col("part"), f.lit(";"))).cast(kind)


def _once(frame: Any, columns: Sequence[Any]) -> Any:
    """The files' addresses with these columns, each computed once, and before any condition on them is asked.

    Of a plain select, Spark moves conditions to the front, with what they are about written out in them again: lines
    would be taken apart several times, and times of lines that are dropped looked at. It moves none before a generator.
    """
    from pyspark.sql import functions as f

    return frame.select("part", f.inline(f.array(f.struct(*columns))))


def _split(line: Any, sign: str) -> Any:
    from pyspark.sql import functions as f

    return f.split(line, r"\|" if sign == "|" else sign, -1)


def _well_quoted(line: Any, delimiter: str) -> Any:
    """Whether each quoted field is so from end to end. Every other piece between two marks is outside of them."""
    from pyspark.sql import functions as f

    pieces = _split(line, '"')
    last = f.size(pieces) - 1

    def fits(piece: Any, at: Any) -> Any:
        begins, ends = (at == 0) | piece.startswith(delimiter), (at == last) | piece.endswith(delimiter)
        return (at % 2 == 1) | (piece == "") | (begins & ends)

    return (last % 2 == 0) & f.forall(f.transform(pieces, fits), lambda good: good)


def _fields(line: Any, delimiter: str) -> Any:
    """The fields as they are written; a separator within quotation marks is a zero byte, which no line has."""
    from pyspark.sql import functions as f

    def masked(piece: Any, at: Any) -> Any:
        return f.when(at % 2 == 1, f.replace(piece, f.lit(delimiter), f.lit("\0"))).otherwise(piece)

    quoted = f.array_join(f.transform(_split(line, '"'), masked), '"')
    return f.when(f.contains(line, f.lit('"')), _split(quoted, delimiter)).otherwise(_split(line, delimiter))


def _is_complete(fields: Any, width: int) -> Any:
    """Whether there are as many fields as columns. Empty ones at the end are passed over, as everywhere."""
    from pyspark.sql import functions as f

    beyond = f.slice(fields, width + 1, f.greatest(f.size(fields) - width, f.lit(0)))
    return (f.size(fields) >= width) & f.forall(beyond, lambda field: field.isin("", '""'))


def _unquoted(field: Any, delimiter: str) -> Any:
    """The text of a field; null if it is empty."""
    from pyspark.sql import functions as f

    inner = f.substring(field, f.lit(2), f.length(field) - 2)
    plain = f.replace(f.replace(inner, f.lit('""'), f.lit('"')), f.lit("\0"), f.lit(delimiter))
    return f.nullif(f.when(field.startswith('"'), plain).otherwise(field), f.lit(""))


def _typed(roles: Roles) -> list[Any]:
    """The texts of each role in the types of the roles, as the embedded engine has them."""
    from pyspark.sql import functions as f

    made = []
    for role in roles:
        if role == "time":
            made += _times(f.col(role))
        elif role in ("visits", "lat", "lon"):
            made.append(_number(role, f.col(role)).alias(role))
        else:
            made.append(f.col(role))
    return made


def _times(time: Any) -> list[Any]:
    """Microseconds since 1970 (in UTC without an offset) or whole numbers; and how each is written."""
    from pyspark.sql import functions as f

    # Spark takes 50 µs for a cast that fails, so texts that are no numbers are not cast.
    number = f.when(time.rlike(WHOLE_NUMBER), time.try_cast("bigint"))
    is_number = number.isNotNull()
    is_moment = f.coalesce(time.rlike(_TIME), f.lit(False))
    # Of zones, which come after 16 signs at least, Spark does not read every form: they are taken off. Its own is UTC.
    rest = f.substring(time, 17, 40)
    sign = f.greatest(f.instr(rest, "+"), f.instr(rest, "-"), f.instr(rest, "Z"))
    zone = f.substring(rest, sign, f.lit(6))
    clock = f.substring(time, f.lit(1), sign + 15)
    moment = f.when(sign == 0, f.unix_micros(time.try_cast("timestamp"))).otherwise(
        f.unix_micros(clock.try_cast("timestamp")) - _offset(zone)
    )
    # The embedded engine finds a time only in texts with one of these signs, or in whole numbers.
    may_be_read = f.coalesce(time.rlike("[-:.]"), f.lit(False))
    value = f.when(is_number, number).when(is_moment, moment).when(may_be_read, _raised("time", "bigint"))
    return [
        value.alias("time"),
        is_number.alias("time_is_number"),
        f.lit(False).alias("time_is_day_first"),
        (~is_number & (sign == 0)).alias("time_is_local"),
    ]


def _offset(zone: Any) -> Any:
    """Microseconds that a clock of this zone is ahead of UTC: +02, +0230, -02:30 or Z."""
    from pyspark.sql import functions as f

    digits = f.rpad(f.translate(zone, "+-:Z", ""), 4, "0")
    minutes = f.substring(digits, 1, 2).try_cast("bigint") * 60 + f.substring(digits, 3, 2).try_cast("bigint")
    return f.when(zone.startswith("-"), -minutes).otherwise(minutes) * 60_000_000


def _number(role: str, column: Any) -> Any:
    """A number; of visits 0, which the checks refuse, and of coordinates NaN, where a text is none."""
    from pyspark.sql import functions as f

    none = f.when(column.isNotNull(), f.lit(float("nan")))
    number = (
        f.when(column.rlike(_NUMBER), column.try_cast("double"))
        .when(column.rlike(_MAYBE_NUMBER), _raised(role, "double"))
        .otherwise(none)
    )
    if role != "visits":
        return number
    valid = number.between(1, MAX_VISITS_PER_ROW) & (number == f.floor(number))
    return f.when(valid, number.cast("bigint")).otherwise(f.lit(0).cast("bigint"))
