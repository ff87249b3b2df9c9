"""Ids: whole numbers or texts, of one type, and out as they came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def in_order(ids: pa.Array) -> NDArray[np.int64]:
    """The place of each id in their order: by the length of its text and then byte by byte, as 0, 1, … are by value.

    Numbers too: whether ids are numbers or texts depends on all files, and so on other people's rows, but which of
    two ids a user keeps must not.
    """
    texts = ids.cast(pa.string())
    keyed = pa.table({"length": pc.utf8_length(texts), "id": texts})
    order = pc.sort_indices(keyed, [("length", "ascending"), ("id", "ascending")])
    places = np.empty(len(ids), dtype=np.int64)
    places[order.to_numpy()] = np.arange(len(ids))
    return places
