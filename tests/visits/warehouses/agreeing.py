"""What every engine must answer alike: all queries about some tables, compared with the embedded engine."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import locentropy as le
from locentropy.core.errors import ColumnError
from locentropy.core.locations import Members
from locentropy.core.queries import Queries
from locentropy.core.shares import ShareRule
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS, SPLIT_WEIGHTS
from locentropy_lab.zipf import ZipfVisits

from ..test_profile import AWKWARD, KEEPS

Stored = Callable[[pa.Table], le.Visits]
"""Brings a table to an engine and returns the visits there."""

# Besides those that other tests know: letters that SQL dialects take for escapes, and pairs that collations merge.
IDS = [
    *AWKWARD,
    "vf",
    "fv",
    "f",
    "v",
    "\\n",
    "\\x41",
    "x\\",
    "$1",
    "İ",
    "ı",
    "ﬁ",
    "fi",
    "Å",
    "Å",
    "日本",
    "-7",
    "0",
    "a b",
]


# Ids that are left out; the blanks of some would be refused, if they were not.
NOBODY = [
    "",
    "None",
    "n/A",
    " nan",
    "NULL\t",
    "\u00a0NaN\u2003",
    "Na\x0c",
    "\n",
    "\x85",
    "\u2028none\ufeff",
    "\x1fnull\x7f",
]
ALMOST = ["nana", "nul", "NoneType", "n/a/", "annan", "n a", "na\u0301", "ｎａｎ"]


def awkward(seed: int, *, numbers: bool = False) -> pa.Table:
    """Visits with awkward ids, many ties in time, a count for each row, and coordinates."""
    draw = random.Random(seed)
    known: list[Any] = (
        [draw.randrange(-(2**63), 2**63) for _ in range(20)] if numbers else [*IDS, *ALMOST, *NOBODY]
    )
    people = [*known, None]
    venues: list[Any] = [*range(-5, 30), 2**63 - 1, -(2**63)] if numbers else IDS[::-1]
    rows = 800
    return pa.table(
        {
            "user": [draw.choice(people) for _ in range(rows)],
            "location": [draw.choice(venues) for _ in range(rows)],
            "time": pa.array([draw.randrange(4) * 86_400_000_001 for _ in range(rows)], pa.timestamp("us")),
            "visits": [draw.randrange(1, 5) for _ in range(rows)],
            "lat": [draw.uniform(-1, 1) for _ in range(rows)],
            "lon": [draw.uniform(-1, 1) for _ in range(rows)],
        }
    )


def require_java() -> None:
    """Skip without Java, but where Spark is required."""
    if shutil.which("java") is None:
        if os.environ.get("LOCENTROPY_SPARK") == "required":
            pytest.fail("Spark is required, and there is no Java")
        pytest.skip("there is no Java (Debian: apt install openjdk-17-jre-headless)")


SHORT_LIVED_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Half the work for a session of a minute: Java optimises no code that hardly runs."""


SOME, ALL = 40_000, 400_000
"""Rows of the paper's sparse data."""


def sparse(rows: int) -> pa.Table:
    return ZipfVisits.sparse().table().slice(0, rows)


def gowalla_table(path: Path) -> pa.Table:
    """The rows as a warehouse would hold them: numbers and timestamps."""
    return pa.csv.read_csv(path)


def answers(queries: Queries) -> list[Any]:
    """Everything that can be asked, in a form that compares."""
    bounds = [
        le.private.Bounds(m, c, keep)
        for keep in KEEPS
        for m, c in ((1, 1), (3, 2), (5, 5))
        if _has(queries, keep)
    ]
    unit, bands = 2**20, np.arange(len(queries.locations)) % 3
    look = [ShareRule(unit, unit // 4, LOOK_WEIGHTS), ShareRule(unit, unit, LOOK_WEIGHTS, "l2")]
    split = [ShareRule(unit, unit, SPLIT_WEIGHTS, norm) for norm in ("l1", "l2")]
    some = le.mechanisms.Locations.of(queries.locations[::3])
    within = queries.restricted_to(some)
    return [
        *(each.to_arrow() for each in queries.profiles(bounds)),
        queries.exact_profile().to_arrow(),
        queries.locations,
        *(queries.look(rule).tolist() for rule in (*look, *split)),
        queries.presence(ShareRule(unit, unit // 4), bands, (2, 3, 5), (2, 3)).tolist(),
        queries.locations_per_user().tolist(),
        [array.tolist() for array in queries.largest_visits_per_user()],
        within.profile(le.private.Bounds(2, 3, "most-visited")).to_arrow(),
        *(within.look(rule).tolist() for rule in split),
    ]


def _has(queries: Any, keep: str) -> bool:
    return keep != "first" or "first" in queries._pairs.columns


def must_agree(
    table: pa.Table, stored: Stored, resources: le.Resources, locations: Any | None = None
) -> None:
    """All answers about a table are the embedded engine's, bit by bit."""
    with le.private.open_queries(le.Visits(table), locations=locations) as embedded:
        expected = answers(embedded)
    with le.private.open_queries(stored(table), locations=locations, resources=resources) as elsewhere:
        found = answers(elsewhere)
    _must_be(found, expected)


def levels_must_agree(
    table: pa.Table, stored: Stored, resources: le.Resources, groups: le.mechanisms.Locations
) -> None:
    """Places grouped after one reading, twice, answer what the embedded engine answers that reads them by group."""
    with le.private.open_queries(le.Visits(table), locations=groups) as embedded:
        expected = answers(embedded)
    places = le.mechanisms.Locations(groups.place_ids)
    with le.private.open_queries(stored(table), locations=places, resources=resources) as elsewhere:
        for _ in range(2):
            _must_be(answers(elsewhere.restricted_to(groups)), expected)


def _must_be(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for at, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        same = mine.equals(theirs) if isinstance(mine, pa.Table | pa.Array) else mine == theirs
        assert same, f"answer {at} differs"


BOX = le.Grid(south=-0.7, west=-0.8, north=0.9, east=0.6, cell=20_000)


def listed(table: pa.Table) -> list[Any]:
    """Some of the places of a table, and one that nobody was at."""
    ids = np.array(table["location"].unique().to_pylist(), dtype=object)
    stranger: Any = "nobody's" if isinstance(ids[0], str) else 10**12
    return [*ids[::2], stranger]


def grouped(table: pa.Table, *, numbers: bool) -> le.mechanisms.Locations:
    """Some of the places of a table in groups with awkward ids, and a group at which nobody was."""
    places = pa.array(listed(table))
    names: list[Any] = [-3, 2**40, 7, 9] if numbers else ["Ω\u2009x", "it's", "a", "vf"]
    group = np.array([at % 3 for at in range(len(places) - 1)] + [3])
    return le.mechanisms.Locations(pa.array(names), members=Members(places, group))


def snippet(number: int) -> str:
    """A snippet of the page about Spark and warehouses, which needs one of them to run."""
    page = Path(__file__).parents[3] / "docs" / "scale.md"
    return re.findall(r"^```py\n(.*?)^```", page.read_text(), re.S | re.M)[number]


def with_other_names(folder: Path) -> pa.Table:
    """Visits as the page has them; a list of places and a ledger in a folder."""
    le.Ledger.create(folder / "city.ledger", "people of the page", epsilon=4)
    (folder / "venues.csv").write_text("location\nbar\npark\n")
    times = pa.array([1, 2, 3], pa.timestamp("us"))
    return pa.table({"uid": [1, 2, 2], "venue": ["bar", "bar", "park"], "at": times})


def check_person_column(stored: Stored, here: le.Resources) -> None:
    """A uid beside a member is not taken for the person, and the caller's choice is."""
    visits = stored(pa.table({"uid": ["t1", "t2"], "venue": ["a", "a"], "member": ["m", "m"]}))
    with pytest.raises(ColumnError, match="'uid' and 'member' could be"):
        le.private.exact_profile(visits, resources=here)
    [users] = le.private.exact_profile(replace(visits, user="member"), resources=here).users.tolist()
    assert users == 1


def input_checks_must_agree(stored: Stored, here: le.Resources) -> None:
    """A check of the input says of a table what it says of the same one in memory: of a list, of cells, in a window."""
    rows = range(300)
    table = pa.table(
        {
            "user": pa.array([None if row % 50 == 7 else f"u{row % 20}" for row in rows]),
            "location": [f"{row % 30:02d}" for row in rows],
            "time": pa.array(
                [None if row % 60 == 9 else datetime(2026, 4 + row % 3, 1 + row % 28) for row in rows],
                pa.timestamp("us"),
            ),
            "visits": [row % 4 for row in rows],
            "lat": [40.0 + row / 3000 for row in rows],
            "lon": [-74.0 + row / 3000 for row in rows],
        }
    )
    listed = le.PublicLocations([str(number) for number in range(25)], provenance="the register")
    box = le.Grid(south=40.0, west=-74.0, north=40.05, east=-73.95, cell=1000)
    may = le.Window("2026-05", zone="as-written")
    visits = stored(table)
    for places, window in ((listed, None), (listed, may), (box, may)):
        theirs, ours = (
            le.private.check(
                replace(each, bad_rows="drop"),
                le.Shares(1.0),
                places,
                ledger=None,
                window=window,
                resources=used,
            )
            for each, used in ((visits, here), (le.Visits(table), le.Resources()))
        )
        assert theirs.report() == ours.report()
        assert ours.found.left_out


PADDED = [
    "Ann",
    " ann",
    "ANN\u00a0",
    "\tann\r\n",
    "\x0bAnn\x0c",
    "\u200bänn\ufeff",
    "ÄNN",
    "Ann\u2028",
    "ann\u2028 ",
    " ",
    "\ufeff",
]
PADDED += [
    "GAST",
    "gast ",
    "Test.",
    "testx",
    "n.a",
    "ΑΣ",
    "ας",
    "ЁЖ",
    "ёж",
    "İ",
    "i",
    "ı",
    "ẞ",
    "ß",
    "DŽ",
    "a\tb",
    "a b",
]


def spellings_must_agree(stored: Stored, here: le.Resources) -> None:
    """Ids in each spelling, and words for missing ones, are the embedded engine's, and so is what is counted."""
    draw = random.Random(12)
    rows = [(draw.choice(PADDED), draw.choice(PADDED)) for _ in range(600)]
    table = pa.table({"user": [user for user, _ in rows], "location": [place for _, place in rows]})
    for said in ("trim", "fold", "text,trim,fold"):
        chosen: dict[str, Any] = {
            "ids": said,
            "missing_id_words": ("Gast", "TEST.", "[a]"),
            "bad_rows": "drop",
        }
        spelling = le.Visits(table, ids=said).spelling
        known = [each for each in PADDED if spelling.spelled(pa.array([each]))[0].as_py().strip(" ")]
        places = list(dict(zip(spelling.spelled(pa.array(known)).to_pylist(), known, strict=True)).values())
        found = []
        for visits, used in ((le.Visits(table), le.Resources()), (stored(table), here)):
            for locations in (None, places):
                queries = le.private.open_queries(
                    replace(visits, **chosen), locations=locations, resources=used
                )
                with queries as each:
                    found.append(
                        [each.exact_profile().to_arrow(), each.locations, each.locations_per_user().tolist()]
                    )
        _must_be(found[2], found[0])
        _must_be(found[3], found[1])
        assert found[1][1].to_pylist() == places, "ids of the list as it has them"
        people = {spelling.spelled(pa.array([user]))[0].as_py() for user in table["user"].to_pylist()}
        missing = ("", "gast", "test.", "\ufeff")
        assert sum(found[0][2]) == len([each for each in people if each.strip().lower() not in missing])
