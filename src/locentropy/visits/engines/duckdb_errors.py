"""Errors of DuckDB in plain words: they quote data, so what they say goes to the private log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from locentropy.core.errors import BadRowsError, EngineError, LocentropyError, SourceError
from locentropy.core.missing import missing_module
from locentropy.visits.private_log import PRIVATE_LOG
from locentropy.visits.readers.encodings import not_utf8
from locentropy.visits.readers.json_lines import JsonLinesPart
from locentropy.visits.readers.text import SWALLOWED

if TYPE_CHECKING:
    from locentropy.visits.readers.base import Part


def unreadable_row(part: Part, message: str, *, drop: bool) -> LocentropyError:
    """An error for a text file, without the content of the line, which is somebody's visit."""
    label = part.label
    if isinstance(part, JsonLinesPart):
        return part.unreadable_line(drop=drop)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    where = f"line {line[1]}" if line else "a line"
    if SWALLOWED in message:
        return BadRowsError(
            f"{label}: a field runs over several lines and holds a separator after a line break, as after a stray "
            "quotation mark that swallows other people's rows. That cannot be dropped. Fix the quotation marks or, if "
            "the text is meant so, remove its line breaks."
        )
    if "unicode" in message:
        return SourceError(f"{not_utf8(Path(label))} (It is {where}.)")
    why = f" (it has {fields[2]} fields, not {fields[1]})" if fields else ""
    # Only a wrong number of fields concerns a single line, which can be dropped.
    droppable = fields is not None and not drop
    advice = ', or drop such lines: bad_rows="drop" (--bad-rows drop)' if droppable else ""
    return BadRowsError(
        f"{label}: {where} cannot be read as a row{why}. Are all quotation marks closed, and do all lines end alike? "
        f"Fix the file{advice}."
    )


def explained(error: Exception, label: str) -> LocentropyError:
    """A plain error for an engine's error; the original, which may quote data, goes to the private log."""
    PRIVATE_LOG.info("%s: %s", label, error)
    missing = missing_module(error)
    if missing:
        return EngineError(f"{label}: {missing}")
    # An error in a stream has lost its type on the way.
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or "out of memory" in str(error).lower():
        return EngineError(
            f"{label}: the engine ran out of memory. Allow it more (--memory 4GB), fewer threads (--threads 1), "
            "or a spill folder on a disk with more space (--spill DIR)."
        )
    return EngineError(
        f"{label}: the engine stopped ({type(error).__name__}). Is the file complete, and is there space on the disk? "
        "The private log (--private-log FILE) has the details."
    )
