"""Columns of Python objects, whose values have types and whose column has none: each value becomes a text by itself.

A library that makes one type of such a column goes by the first value: a date there made midnights of everybody's later
times, and a time without a zone moved everybody else's. As texts, times are read as those of text files are.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from typing import Any

import pyarrow as pa


def texts_of_objects(frame: Any, name: str) -> pa.Array | None:
    """A column of objects in a pandas or Polars frame, as texts; None if the column has a type."""
    column = frame[name]
    of_categories = getattr(getattr(column.dtype, "categories", None), "dtype", column.dtype)
    if str(of_categories).lower() != "object":
        return None
    values = column.to_list()
    try:
        return pa.array(values, pa.string(), from_pandas=True)  # texts, as from many files: ten times as fast
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array(map(_text, values), pa.string())


def _text(value: Any) -> str | None:
    """A value as a text, which is no time and no number if the value is none; null if there is no value."""
    if isinstance(
        value, str
    ):  # its letters, as Arrow takes them: str() of an enum's member would be its name
        return str.__str__(value).encode(errors="replace").decode()
    with suppress(Exception):  # of what is neither equal nor unequal to itself, as pandas' NA, or an array
        if value is None or value != value:  # NaN, NaT
            return None
    if type(value).__name__ == "NAType":
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode(errors="replace")
    try:
        text = value.isoformat() if isinstance(value, date) else str(value)
    except Exception:  # as of a zone that is more than a day away from UTC; a value may be of any class
        return None
    return text if text.isascii() else text.encode(errors="replace").decode()
