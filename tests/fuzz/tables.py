"""Tables of visits and lists of places, as text and as Parquet."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

import locentropy as le
from locentropy.core.errors import LocentropyError
from locentropy.visits.engines.base import Resources
from locentropy.visits.visits import BadRows
from tests.fuzz import mutating

MARKER = "zq73519"
"""In every user's id; in no name of a column, file or parameter."""
RESOURCES = Resources(memory="300MB", threads=1)
TABLE = b"user,location,time,visits,lat,lon,name\n" + b"".join(
    b"%s-%d,place-%d,2020-01-%02dT08:00:00Z,%d,%f,%f,Bar %d\n"
    % (MARKER.encode(), n % 7, n % 5, n + 1, 1 + n % 3, 40.7 + n / 1000, -74.0 + n / 1000, n)
    for n in range(12)
)


def csv_seeds() -> list[bytes]:
    numbers = b"uid\tvenue\n" + b"".join(b"%d\t%d\n" % (n % 7, n % 5) for n in range(12))
    quoted = b'"user";"place";"at"\r\n' + b'"%s ""x""";"a;b";"1577836800"\r\n' % MARKER.encode() * 3
    return [TABLE, numbers, quoted, gzip.compress(TABLE, mtime=0)]


def german_seeds() -> list[bytes]:
    """As Excel writes them in Germany, in the encodings that people have."""
    rows = "".join(
        f"{MARKER}-{n % 7};Café {n % 5};{n + 1:02}.01.2026 08:0{n % 10};{n % 3 + 1};52,{n:03};13,{n:03}\r\n"
        for n in range(12)
    )
    text = f"Kunde;Ort;Zeit;Besuche;Breite;Länge\r\n{rows}"
    return [text.encode(encoding) for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le")]


def json_seeds() -> list[bytes]:
    lines = [
        {
            "user": f"{MARKER}-{n % 7}",
            "location": n % 5,
            "time": f"2020-01-{n + 1:02}T08:00:00Z",
            "lat": n / 7,
            "lon": -n,
        }
        for n in range(12)
    ]
    plain = "".join(json.dumps(line) + "\n" for line in lines).encode()
    ragged = "".join(json.dumps(line | {"tags": [1, {"a": None}]}) + "\r\n" for line in lines[:3]).encode()
    return [plain, ragged, gzip.compress(plain, mtime=0)]


def workbook_seeds() -> list[bytes]:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["user", "location", "time", "lat", "lon"])
    for n in range(12):
        sheet.append([f"{MARKER}-{n % 7}", n % 5, datetime(2020, 1, n + 1, 8), n / 7, -n])
    book.properties.created = book.properties.modified = datetime(2020, 1, 1)
    sink = io.BytesIO()
    book.save(sink)
    return [_stored(sink.getvalue())]


def _stored(archive: bytes) -> bytes:
    """The same archive without compression or dates: changes then reach the sheet, and it is the same each time."""
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            content = re.sub(rb"<dcterms:modified.*?</dcterms:modified>", b"", old.read(name))
            new.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return sink.getvalue()


def parquet_seeds() -> list[bytes]:
    users = [f"{MARKER}-{n % 7}" for n in range(60)]
    plain = pa.table({"user": users, "location": [f"place-{n % 5}" for n in range(60)]})
    rich = pa.table(
        {
            "user": pa.array([n % 7 for n in range(60)], pa.int32()),
            "location": pa.array([n % 5 for n in range(60)], pa.uint64()),
            "time": pa.array(range(0, 60_000, 1000), pa.timestamp("ns", "Asia/Tokyo")),
            "visits": pa.array([1 + n % 3 for n in range(60)], pa.decimal128(9, 0)),
            "lat": np.linspace(40, 41, 60),
            "lon": pa.array([None, 1.5] * 30, pa.float32()),
            "other": pa.array([[n] for n in range(60)]),
        }
    )
    ways: list[dict[str, Any]] = [
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy", "row_group_size": 20},
        {"compression": "zstd", "data_page_version": "2.0", "write_statistics": False},
        {"compression": "gzip", "version": "1.0"},
    ]
    return [_parquet(table, **way) for table in (plain, rich) for way in ways]


def _parquet(table: pa.Table, **way: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **way)
    return sink.getvalue()


ENCODINGS = (None, "cp1252", "utf-16", "utf-8")


def read_german(folder: Path, content: bytes) -> None:
    """In one encoding or another: what it is in, mostly."""
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:20]
    encoding = "utf-16" if marked else ENCODINGS[len(content) % 4]
    read_visits(folder, content, "rows.csv", encoding=encoding)


def read_visits(folder: Path, content: bytes, name: str, **options: Any) -> None:
    path = folder / name
    path.write_bytes(content)
    rule: BadRows = "fail" if len(content) % 2 else "drop"
    visits = le.Visits(path, bad_rows=rule, **options)
    try:
        profile = le.private.profile(visits, le.private.Bounds(3, 2), resources=RESOURCES)
    except LocentropyError as error:
        # In a header it is the name of a column, which is told.
        if MARKER in str(error) and MARKER not in _header(content, options.get("encoding")):
            raise AssertionError(f"a private value in: {error}") from None
        raise
    assert (profile.visits <= 2).all()
    assert (profile.users > 0).all()
    assert profile.users.sum() <= len(content), "more users than the input has bytes"


def _header(content: bytes, encoding: str | None) -> str:
    return content.decode(encoding or "utf-8", errors="replace").partition("\n")[0]


def read_places(folder: Path, content: bytes) -> None:
    path = folder / "places"
    path.write_bytes(content)
    found = le.PublicLocations(path).load()
    assert len(found) == len(set(found.ids.to_pylist())) > 0
    for degrees, limit in ((found.lat, 90), (found.lon, 180)):
        assert degrees is None or bool(np.nanmax(np.abs(degrees), initial=0) <= limit)


def places_seeds() -> list[bytes]:
    listed = b"location,name,lat,lon\n" + b"".join(
        b"place-%d,Bar %d,%f,%f\n" % (n, n, 40 + n / 100, -74 + n / 100) for n in range(12)
    )
    table = pa.table(
        {
            "location": pa.array(range(12)),
            "name": pa.array([None, "Bar"] * 6),
            "lat": np.arange(12.0),
            "lon": np.arange(12.0),
        }
    )
    return [listed, b"1\n2\n3\n", b"id\na\nb\n", _parquet(table), _parquet(table.select(["location"]))]


def mutate_places(seeds: Sequence[bytes], draw: mutating.Random) -> bytes:
    tables = [seed for seed in seeds if seed.startswith(b"PAR1")]
    texts = [seed for seed in seeds if seed not in tables]
    return mutating.text(texts, draw) if draw.random() < 0.5 else mutating.binary(tables, draw)
