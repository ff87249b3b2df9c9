"""Ids: whole numbers or texts, of one type, and out as they came in."""

from __future__ import annotations

import pyarrow as pa

from locentropy.core.errors import ParameterError


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
    try:
        return ids.cast(pa.string() if as_text else pa.int64())
    except pa.ArrowInvalid:
        raise ParameterError("The listed locations hold numbers beyond 64 bits; the visits do not.") from None


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
