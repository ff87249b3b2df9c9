"""What one line of a file holds decides nothing about other people's lines, nor whether the file is read.

Held for every kind of file whose rows are lines, with bad rows dropped and ids as they are written: whatever the line
is and wherever it stands, also first, the others count as they do without it.
"""

from __future__ import annotations

import codecs
import gzip
import json
from datetime import date
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import LocentropyError, ParameterError, SourceError
from locentropy.visits.readers.encodings import _STATELESS, as_utf8, encoding_named

PEOPLE = [("ann", "park"), ("bob", "park"), ("bob", "zoo"), ("cem", "zoo"), ("dan", "zoo")]
PLACES = ["park", "zoo"]
EXPECTED = {"park": 2, "zoo": 3}
NAMES = ("user", "location", "time")
ODD: list[bytes] = [
    b"sep=;", b"x;y", b"sep=\t\r", b"user,location,time", b"user;location;time", b"eve,park,1", b"eve;park;1",
    b"eve,park", b"eve,park,1,2,3", b"", b"\r", b"eve\r,park,1", b"eve,park,1\r", b" ", b'"', b'"eve,park,1',
    b'eve,park,"1', b'eve, "park,1', b'eve,  "park,1', b'e"v"e,park,1', b'""",park,1', b"\xef\xbb\xbfeve,park,1",
    b'\xef\xbb\xbf"eve,park,1', b"\xff\xfe", b"\xfe\xff,park,1", b"\x81,park,1", b"eve\0,park,1", b"\x1b$B", b"~{",
    b"+AGE-", b"1.234,5;1;1", b"03/04/2026,park,03/04/2026", b"31.01.2026;park;31.01.2026", b"\x1f\x8b", b"PAR1",
    b"{", b"[1]", b"null", b'{"user": "eve"', b'{"*": 1, "user": {"a": 1}}', b'{"uid": "eve", "venue": "park"}',
    b'{"user": 1, "user": 2, "location": "park"}', b"," * 5000, b"e" * 3_000_000, b'"' + b"e" * 3_000_000,
]  # fmt: skip
FIRST = [
    b"sep=;",
    b"x;y",
    b'"eve,park,1',
    b"\xef\xbb\xbfeve",
    b"\xff\xfe",
    b"\x1f\x8b",
    b"PAR1",
    b"PK\x03\x04",
    b"eve\r",
]
FIRST += [b"12345678DUCK", b""]
LINE = st.binary(max_size=8).map(lambda some: some.replace(b"\n", b"")) | st.lists(
    st.sampled_from([b",", b'"', b"\r", b"a", b"park", b"\xff", b";", b"\t", b" ", b"\0", b"|", b"{", b"}"])
).map(b"".join)
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "no header": ("v.csv", {"columns": NAMES}),
    "no header, said": ("v.csv", {"columns": NAMES, "header": False}),
    "no header, time": ("v.csv", {"columns": NAMES, "time": "time", "time_format": "%Y-%m-%d"}),
    "no header, tabs": ("v.tsv", {"columns": NAMES}),
    "no header, gzip": ("v.csv.gz", {"columns": NAMES}),
    "no header, cp1252": ("v.csv", {"columns": NAMES, "encoding": "cp1252"}),
    "no header, gb18030": ("v.csv", {"columns": NAMES, "encoding": "gb18030"}),
    "header": ("v.csv", {}),
    "header, bars": ("v.txt", {"delimiter": "|"}),
    "header, shift_jis": ("v.csv", {"encoding": "shift_jis"}),
    "JSON lines": ("v.jsonl", {}),
    "a published format": ("v.txt", {"format": "brightkite"}),
}


def rows_of(way: str) -> tuple[list[bytes], list[bytes]]:
    """The lines before those of people, and theirs."""
    name, options = WAYS[way]
    if "jsonl" in name:
        return [], [json.dumps({"user": user, "location": place}).encode() for user, place in PEOPLE]
    if "format" in options:
        return [], [f"{user}\t2026-01-31T08:00:00Z\t1\t1\t{place}".encode() for user, place in PEOPLE]
    mark = options.get("delimiter", "\t" if name.endswith(".tsv") else ",")
    lines = [f"{user}{mark}{place}{mark}2026-01-31".encode() for user, place in PEOPLE]
    return [] if "columns" in options else [mark.join(NAMES).encode()], lines


def counted(way: str, odd: list[bytes], at: int) -> dict[str, int]:
    name, options = WAYS[way]
    before, lines = rows_of(way)
    content = b"".join(line + b"\n" for line in [*before, *lines[:at], *odd, *lines[at:]])
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
        visits = le.Visits(path, bad_rows="drop", ids="text", **{"time": None, **options})
        rows = le.private.exact_profile(visits, locations=PLACES).to_arrow().to_pylist()
    return {place: sum(row["users"] for row in rows if row["location"] == place) for place in PLACES}


def decides_nothing(way: str, odd: list[bytes], at: int) -> None:
    """The others are counted, and each of the lines at most as one person at one place."""
    more = [users - EXPECTED[place] for place, users in counted(way, odd, at).items()]
    assert min(more) >= 0
    assert sum(more) <= len(odd)


@pytest.mark.parametrize("way", WAYS)
def test_odd_lines(way: str) -> None:
    for at in (2, len(PEOPLE)):
        decides_nothing(way, ODD, at)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_an_odd_line_at_the_beginning(way: str) -> None:
    for odd in ODD if way == "no header" else FIRST:
        decides_nothing(way, [odd], 0)


@pytest.mark.slow
@given(st.sampled_from(list(WAYS)), st.lists(LINE, min_size=1, max_size=3), st.integers(0, len(PEOPLE)))
@example("no header", [b"sep=;", b"x;y"], 0)
def test_any_lines(way: str, odd: list[bytes], at: int) -> None:
    decides_nothing(way, odd, at)


def test_the_only_line_there_is(tmp_path: Path) -> None:
    """With it or without it there is an answer."""
    for name, options in (("v.csv", {"columns": NAMES, "time": None}), ("v.jsonl", {})):
        for line in ("", "eve,park,1\n", '{"user": "eve", "location": "park"}\n'):
            (tmp_path / name).write_text(line)
            for rule in ("drop", "fail") if not line else ("drop",):
                visits = le.Visits(tmp_path / name, bad_rows=rule, **options)
                with le.private.open_queries(visits, locations=PLACES, refuse_empty=False) as queries:
                    assert queries.exact_profile().users.sum() <= 1


def test_the_header_is_the_owners(tmp_path: Path) -> None:
    """It may be refused: it is nobody's row."""
    path = tmp_path / "v.csv"
    path.write_text('user,"location\nann,park\n')
    with pytest.raises(SourceError, match="quotation mark in the header"):
        le.private.exact_profile(le.Visits(path, bad_rows="drop"))


class Odd:
    """A value that cannot be compared or written."""

    def __ne__(self, other: object) -> bool:
        raise ArithmeticError

    def __str__(self) -> str:
        raise RecursionError

    def __repr__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    "odd",
    [
        7,
        7.5,
        True,
        b"x",
        [1],
        {"a": 1},
        None,
        float("nan"),
        "x",
        date(2026, 1, 1),
        object(),
        np.arange(2),
        Odd(),
    ],
    ids=lambda odd: type(odd).__name__,
)
@pytest.mark.parametrize("at", [0, 2, len(PEOPLE)])
def test_one_value_in_a_column_of_objects(at: int, odd: object) -> None:
    """Of ids as they are written, and of numbers, each is read by itself."""
    users, places = ([row[each] for row in PEOPLE] for each in (0, 1))
    columns = {"user": users, "location": places, "visits": ["1"] * 5, "lat": [1.0] * 5, "lon": [1] * 5}
    for column in columns:
        changed = {
            name: [*values[:at], odd if name == column else "1", *values[at:]]
            for name, values in columns.items()
        }
        frame = pd.DataFrame(changed, dtype=object)
        visits = le.Visits(frame, bad_rows="drop", ids="text", lat="lat", lon="lon")
        rows = le.private.exact_profile(visits, locations=PLACES).to_arrow().to_pylist()
        assert {row["location"]: row["users"] for row in rows} == EXPECTED


class Place(str, Enum):  # noqa: UP042  # of a StrEnum str() is the text
    """Texts of a class of their own, whose str() is another text."""

    PARK = "park"
    ZOO = "zoo"


@pytest.mark.parametrize("odd", [7, b"\xff", None])
def test_members_of_an_enumeration_are_the_texts_that_they_are(odd: object) -> None:
    """Beside one value of another type, too: once str() then made others of them."""
    rows = [*PEOPLE, ("eve", odd)]
    columns = {
        "user": [user for user, _ in rows],
        "location": [Place(p) if p in PLACES else p for _, p in rows],
    }
    visits = le.Visits(pd.DataFrame(columns, dtype=object), bad_rows="drop", ids="text")
    found = le.private.exact_profile(visits, locations=PLACES).to_arrow().to_pylist()
    assert {row["location"]: row["users"] for row in found} == EXPECTED


@pytest.mark.parametrize("size", [1 << 21, 40 << 20])
@pytest.mark.parametrize("first", [b"", b"\xef\xbb\xbf{}\n"])
def test_a_long_line_of_json_is_a_bad_row(size: int, first: bytes, tmp_path: Path) -> None:
    """Once it stopped the engine, or was read, by where in the file it stood."""
    _, lines = rows_of("JSON lines")
    longest = b'{"user": "eve", "location": "park", "more": "%s"}\n' % (b"e" * size)
    (tmp_path / "v.jsonl").write_bytes(first + longest + b"\n".join(lines))
    visits = le.Visits(tmp_path / "v.jsonl", bad_rows="drop", ids="text")
    found = le.private.exact_profile(visits, locations=PLACES).to_arrow().to_pylist()
    assert {row["location"]: row["users"] for row in found} == EXPECTED


class TestEncodings:
    @pytest.mark.parametrize(
        "name", ["hz", "iso2022_jp", "iso2022_kr", "utf-7", "unicode_escape", "punycode", "base64"]
    )
    def test_those_in_which_a_line_changes_the_next_are_not_read(self, name: str) -> None:
        with pytest.raises(ParameterError, match="every line can be read by itself"):
            encoding_named(name)

    @pytest.mark.parametrize("name", sorted(_STATELESS - {"utf-8", "utf-8-sig", "ascii"}))  # not copied
    def test_no_line_changes_the_next(self, name: str, tmp_path: Path) -> None:
        """Every one of two bytes, and some of more, in a line before one that is known."""
        feed, known = ("\n".encode(name), "ann,park\n".encode(name))
        if name in ("utf-16", "utf-32"):
            size = len(feed) // 2
            start, feed, known = feed[:size], feed[size:], known[size:]
        else:
            start = b""
        width = len(feed)
        odd = [bytes([*pair, *[0] * (width - 2)]) for pair in _pairs()] if width > 1 else map(bytes, _pairs())
        longer = (
            b"\x81\x30\x81",
            b"\x8f\xa1",
            b"~{",
            b"\x1b$B",
            b"\x0e",
            b"+AGE",
            b"\\u000a",
            b"\xe3\x81",
            b"\xf0\x90\x8d",
        )
        lines = [*odd, *(each.ljust(-(-len(each) // width) * width, b"\0") for each in longer)]
        # What ends a line itself is two lines, each of them its writer's.
        lines = [line for line in lines if feed not in line]
        path = tmp_path / "rows"
        path.write_bytes(start + b"".join(line + feed + known for line in lines))
        copy = as_utf8(path, codecs.lookup(name).name, tmp_path, drop_bad=True)
        assert copy.read_bytes().count(b"\nann,park\n") == len(lines)

    def test_without_a_header_the_order_of_bytes_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_bytes("ann,park\n".encode("utf-16-le"))
        with pytest.raises(ParameterError, match="--encoding utf-16-le"):
            le.private.exact_profile(le.Visits(path, encoding="utf-16", columns=NAMES[:2]))
        visits = le.Visits(path, encoding="utf-16-le", columns=NAMES[:2])
        assert le.private.exact_profile(visits).users.tolist() == [1]

    def test_a_line_that_cannot_be_read_is_a_bad_row(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_bytes(b"user,place\n1,Caf\xe9\n2,\x81\n3,Caf\xe9\n")
        with pytest.raises(LocentropyError, match="is not cp1252 text"):
            le.private.exact_profile(le.Visits(path, encoding="cp1252"))
        found = le.private.exact_profile(le.Visits(path, encoding="cp1252", bad_rows="drop"))
        assert found.locations.to_pylist() == ["Café"]
        assert found.users.tolist() == [2]


def _pairs() -> list[tuple[int, int]]:
    return [(first, second) for first in range(256) for second in range(0, 256, 5)]
