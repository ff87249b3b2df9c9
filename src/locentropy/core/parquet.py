"""Parquet that anybody may have written, read with a limit on what it becomes.

A small file can stand for a huge table: by compression, by runs of one value, by one long text that many rows name. Its
footer says how much it holds, and may lie. The decoder goes by the headers of pages, so these are read first, before
any page is unpacked; and texts stay numbers into their dictionary until it is known how long they are all together.
Footer and headers are read here, a few lines of Thrift: Arrow's Python names for them end the process for some files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FREE: Final = 256 << 20
"""Bytes that any file may become."""
_TIMES: Final = 200
"""A larger table may take so many times its file: much more than honest ones, whose ids and noisy numbers differ."""
_GROUPS, _CHUNKS, _ABOUT, _VALUES, _PACKED, _DATA_BEGINS, _DICTIONARY_BEGINS = 4, 1, 3, 5, 7, 9, 11
"""Fields of the footer: groups of rows, their columns, what is said about one, and of that what is needed here."""
_DICTIONARY: Final = 2
_OF_PAGE: Final = {0: (5, 2), 3: (8, 4)}
"""Of each kind of page with values: the field of its header that is about them, and in that the one of the encoding."""
_KNOWN: Final = frozenset({0, 2, 3, 4, 5, 6, 8, 9})
"""Encodings; not DELTA_BYTE_ARRAY, in which each of many texts may repeat most of one long text."""


class TooLargeError(ValueError):
    """A file stands for more than it may."""


def read_bounded(
    source: Path | pa.Buffer, columns: Sequence[str] | None = None, *, most_values: int | None = None
) -> pa.Table:
    """The table, or some of its columns; TooLargeError, before much is unpacked, if it is too large for its file.

    `most_values` is a limit on the values of all columns together, besides that on bytes. Any other exception means
    that the file cannot be read: it may hold anything, and its reader may fail in any way.
    """
    content = _content(source) if isinstance(source, Path) else source
    most = max(_FREE, _TIMES * content.size)
    # In this thread alone: one that reads ahead may outlive an interruption, and then the process aborts.
    with pq.ParquetFile(content, pre_buffer=False) as file:
        schema, groups = file.schema_arrow, file.num_row_groups
        leaves = list(map(file.schema.column, range(len(file.schema))))
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns], schema.metadata)
    found = [
        chunk
        for chunk in _chunks(memoryview(content).cast("B"), leaves)
        if chunk.path.split(".")[0] in schema.names
    ]
    values = sum(chunk.values for chunk in found)
    if sum(chunk.size for chunk in found) > most or (most_values is not None and values > most_values):
        raise TooLargeError("it stands for more than such a file can")
    listed = list({chunk.path for chunk in found if chunk.has_dictionary and chunk.is_text})
    tables, texts = [schema.empty_table()], 0
    with pq.ParquetFile(content, pre_buffer=False, read_dictionary=listed) as file:
        for number in range(groups):  # each by itself: nested texts can be kept as numbers in no other way
            table = file.read_row_group(number, schema.names, use_threads=False)
            texts += sum(_text_bytes(chunk) for column in table.columns for chunk in column.chunks)
            if texts > most:
                raise TooLargeError("its texts are longer than those of such a file can be")
            tables.append(table.cast(schema))
    return pa.concat_tables(tables)


def _content(path: Path) -> pa.Buffer:
    # Arrow's own file: its threads hold on to one of Python's beyond the end of the interpreter, which then aborts.
    with pa.OSFile(str(path), "rb") as file:
        return file.read_buffer()


@dataclass(frozen=True)
class _Chunk:
    """A column of a group of rows, by the headers of its pages."""

    path: str
    values: int
    size: int
    """Bytes in memory, packed or not, but for texts that are named by their number in a dictionary."""
    has_dictionary: bool
    is_text: bool


def _chunks(content: memoryview, leaves: list[pq.ColumnSchema]) -> Iterator[_Chunk]:
    footer = _Thrift(content, len(content) - 8 - int.from_bytes(content[-8:-4], "little")).struct()
    for group in footer[_GROUPS]:
        for leaf, chunk in zip(leaves, group[_CHUNKS], strict=True):
            yield _chunk(content, leaf, chunk[_ABOUT])


def _chunk(content: memoryview, leaf: pq.ColumnSchema, about: dict[int, Any]) -> _Chunk:
    starts = (about[_DATA_BEGINS], about.get(_DICTIONARY_BEGINS, 0))
    at = min((start for start in starts if start > 0), default=0)
    end = at + about[_PACKED]
    values = size = 0
    has_dictionary = False
    while at < end:
        header = _Thrift(content, at)
        page = header.struct()
        kind, unpacked, packed = page[1], page[2], page[3]
        if unpacked < 0 or packed < 0:
            raise ValueError("a page has no size")
        has_dictionary |= kind == _DICTIONARY
        if kind in _OF_PAGE:
            field, encoding = _OF_PAGE[kind]
            if page[field][encoding] not in _KNOWN or page[field][1] < 0:
                raise ValueError("a page is encoded in a way that is not read")
            values += page[field][1]
        size += unpacked
        at = header.at + packed
    if (
        values != about[_VALUES]
    ):  # the decoder stops, or does not, where the footer says that there are no more
        raise ValueError("its footer and its pages say different things")
    width = leaf.length if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8
    # Where lists hold lists, each has a place in memory, and in the file they may take none.
    width += 8 * leaf.max_repetition_level + leaf.max_definition_level
    return _Chunk(
        leaf.path, values, max(size, values * width), has_dictionary, leaf.physical_type == "BYTE_ARRAY"
    )


class _Thrift:
    """Reads structs of Thrift's compact protocol, in which Parquet describes itself."""

    def __init__(self, content: memoryview, at: int) -> None:
        if at < 0:
            raise ValueError("it begins before the file does")
        self._content = content
        self.at = at

    def struct(self) -> dict[int, Any]:
        """The values by the numbers of their fields; those of texts are None."""
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            if field in found:
                raise ValueError("a field is there twice")
            found[field] = (head & 15) == 1 if head & 15 in (1, 2) else self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # in a list, true and false take a byte each
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (9, 10):
            head = self._byte()
            return [self._value(head & 15) for _ in range(self._natural() if head >> 4 == 15 else head >> 4)]
        if kind == 12:
            return self.struct()
        if kind not in (7, 8):
            raise ValueError("it has values that Parquet does not have")
        length = 8 if kind == 7 else self._natural()
        self.at += length
        return None

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _natural(self) -> int:
        number = shift = 0
        while shift < 70:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
        raise ValueError("a number has no end")

    def _integer(self) -> int:
        number = self._natural()
        return (number >> 1) ^ -(number & 1)


def _text_bytes(values: pa.Array) -> int:
    """Bytes of all texts that are named by their number in a dictionary."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        return _text_bytes(values.flatten())
    if not pa.types.is_dictionary(values.type) or not _is_text(values.type.value_type):
        return 0
    lengths = pc.binary_length(values.dictionary).cast(pa.int64()).take(values.indices)
    total: int = pc.sum(lengths, min_count=0).as_py()
    return total


def _is_text(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_binary,
            pa.types.is_large_string,
            pa.types.is_large_binary,
        )
    )
