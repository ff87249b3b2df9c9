"""Parquet by somebody else: the same table as Arrow's own reader gives, and never one much larger than its file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from locentropy.core.parquet import TooLargeError, read_bounded

ROWS = 1_000
TABLE = pa.table(
    {
        "id": range(ROWS),
        "category": [str(number % 7) for number in range(ROWS)],
        "none": pa.array([None] * ROWS, pa.string()),
        "list": [[str(number), None] for number in range(ROWS)],
        "large": pa.array(["a"] * ROWS, pa.large_string()),
        "shape": [b"\x00\x01"] * ROWS,
        "fixed": pa.array([b"ab"] * ROWS, pa.binary(2)),
        "value": np.linspace(0, 1, ROWS),
        "flag": [True, False] * (ROWS // 2),
        "coded": pa.array(["u", "v"] * (ROWS // 2)).dictionary_encode(),
    }
).replace_schema_metadata({"about": "it"})


def written(table: pa.Table, **options: Any) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def forged(content: pa.Buffer, true: int, false: int) -> pa.Buffer:
    """The file with another number wherever its footer has this one."""
    raw = content.to_pybytes()
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    bytes_ = _number(true, 0)
    assert bytes_ in raw[footer:]
    return pa.py_buffer(raw[:footer] + raw[footer:].replace(bytes_, _number(false, len(bytes_))))


def _number(value: int, length: int) -> bytes:
    """A whole number in Thrift's compact protocol, with zeros in front until it is so long."""
    value <<= 1
    parts = []
    while value or len(parts) < max(length, 1):
        parts.append(value & 127)
        value >>= 7
    return bytes(part | 128 for part in parts[:-1]) + bytes(parts[-1:])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False},
        {"data_page_version": "2.0"},
        {"compression": "none", "row_group_size": 100},
        {"compression": "zstd", "data_page_size": 50},
        {"write_page_checksum": True, "write_page_index": True},
        {"store_schema": False},
    ],
    ids=str,
)
def test_the_table_is_that_of_arrows_own_reader(options: dict[str, Any]) -> None:
    content = written(TABLE, **options)
    whole = pq.read_table(content)
    assert read_bounded(content).equals(whole, check_metadata=True)
    assert read_bounded(content, ["category", "id"]).equals(whole.select(["category", "id"]))


def test_a_table_without_rows_or_groups_is_read(tmp_path: Path) -> None:
    for content in (written(TABLE.slice(0, 0)), written(pa.table({}))):
        (tmp_path / "t.parquet").write_bytes(content)
        assert read_bounded(tmp_path / "t.parquet").equals(pq.read_table(content))


MANY = 50_000_017
HUGE = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000_000, np.int32)), pa.array(["x" * 100_000]))


def zeros() -> pa.Buffer:
    """One run of a number: 200 kB for 400 MB."""
    return written(pa.table({"a": np.zeros(MANY, np.int64)}))


def one_long_text() -> pa.Buffer:
    """20 kB for 300 GB."""
    return written(pa.table({"a": HUGE}), store_schema=False)


def long_texts_in_a_list() -> pa.Buffer:
    lists = pa.ListArray.from_arrays(pa.array([0, len(HUGE)], pa.int32()), HUGE)
    return written(pa.table({"a": lists}), store_schema=False)


def lists_in_lists() -> pa.Buffer:
    """Each level takes as much memory again, and no byte more than one level in the file: 30 kB for 400 MB."""
    offsets, lists = pa.array(np.arange(2_000_001, dtype=np.int32)), pa.array(np.zeros(2_000_000, np.int8))
    for _ in range(48):
        lists = pa.ListArray.from_arrays(offsets, lists)
    return written(pa.table({"a": lists}))


def packed() -> pa.Buffer:
    """Some kB for 30 MB, by compression."""
    texts = pa.table({"a": [b"\0" * (1 << 20)] * 30})
    return written(texts, compression="zstd", use_dictionary=False, write_statistics=False)


@pytest.mark.parametrize("hostile", [zeros, one_long_text, long_texts_in_a_list, lists_in_lists, packed])
def test_a_small_file_that_stands_for_a_huge_table_is_refused_before_it_is_one(
    hostile: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = hostile()
    assert content.size < 1_000_000
    if hostile is packed:
        monkeypatch.setattr("locentropy.core.parquet._FREE", 1 << 20)
    read, unpacked = pq.ParquetFile.read_row_group, []
    monkeypatch.setattr(
        pq.ParquetFile,
        "read_row_group",
        lambda *how, **more: unpacked.append(read(*how, **more)) or unpacked[-1],
    )
    with pytest.raises(TooLargeError):
        read_bounded(content)
    assert sum(table.nbytes for table in unpacked) < 50_000_000


@pytest.mark.parametrize("nested", [False, True])
def test_a_footer_that_states_too_little_is_refused(nested: bool) -> None:
    """Of a list, the decoder would go on for as long as the page has values: 600 bytes became 400 MB."""
    values = pa.array(np.zeros(MANY, np.int64))
    lists = pa.ListArray.from_arrays(pa.array([0, MANY], pa.int32()), values)
    content = written(pa.table({"a": lists if nested else values}), row_group_size=MANY)
    with pytest.raises(ValueError, match="its footer and its pages say different things"):
        read_bounded(forged(content, MANY, 1_000))


def test_texts_that_repeat_each_other_are_not_read() -> None:
    content = written(
        pa.table({"a": ["x" * 1_000 + str(number) for number in range(9)]}),
        use_dictionary=False,
        column_encoding={"a": "DELTA_BYTE_ARRAY"},
    )
    with pytest.raises(ValueError, match="encoded in a way"):
        read_bounded(content)


def test_more_values_than_there_may_be() -> None:
    content = written(pa.table({"a": range(10), "b": range(10)}))
    assert len(read_bounded(content, most_values=20)) == 10
    with pytest.raises(TooLargeError):
        read_bounded(content, most_values=19)


def test_a_damaged_file_never_ends_the_process() -> None:
    """Arrow's Python names for what a footer says do, for some of these."""
    draw = random.Random(1)  # a fixed sequence of damages
    content = written(TABLE.slice(0, 200)).to_pybytes()
    refused = 0
    for _ in range(1_500):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            read_bounded(pa.py_buffer(bytes(damaged)))
        except Exception:  # whatever it is: the process goes on
            refused += 1
    assert refused > 500
