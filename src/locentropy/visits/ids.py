"""Ids: whole numbers or texts, of one type, and out as they came in."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError


def listed(locations: Any) -> pa.Array:
    """A list of location ids as an array of whole numbers or texts; repeats and gaps are refused."""
    wrong = ParameterError(
        "locations must be a list of ids, all whole numbers or all texts, as in the visits. "
        'For example: locations=["cafe-1", "park-2"]'
    )
    try:
        ids = locations if isinstance(locations, pa.Array | pa.ChunkedArray) else pa.array(locations)
    except (pa.ArrowException, TypeError, ValueError):
        raise wrong from None
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if len(ids) == 0 or ids.null_count:
        raise ParameterError("locations must name at least one location, and every entry must have an id.")
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if pa.types.is_large_string(ids.type) or pa.types.is_string_view(ids.type):
        ids = ids.cast(pa.string())
    if not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)):
        raise wrong
    if len(pc.unique(ids)) != len(ids):
        raise ParameterError("locations names a location twice. List each location once.")
    return ids


def comparable(ids: pa.Array, *, as_text: bool, typed: bool) -> pa.Array:
    """Listed ids in the type that the engine compares by.

    Ids that were read as written (from text files) may be compared with numbers: 7 is written "7".
    """
    are_texts = pa.types.is_string(ids.type)
    if typed and are_texts != as_text:
        mine, theirs = ("texts", "whole numbers") if are_texts else ("whole numbers", "texts")
        raise ParameterError(
            f"The listed locations are {mine} but the visits' location ids are {theirs}: none would match. "
            'Give both the same type, or compare how they are written: ids="text" (--ids text).'
        )
    return ids.cast(pa.string() if as_text else pa.int64())


def presented(ids: pa.Array, *, typed: bool) -> pa.Array:
    """Ids as they came in: those read as written are numbers again if every one of them is one."""
    if typed:
        return ids
    for number in (pa.int64(), pa.uint64()):
        try:
            numbers = ids.cast(number)
        except pa.ArrowInvalid:
            continue
        if numbers.cast(pa.string()).equals(ids):
            return numbers
    return ids
