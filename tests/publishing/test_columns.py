"""Public columns and groups on their way to a release: plan, guarantee, files, page, and values computed again."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import BadRowsError, ParameterError, ReleaseError
from locentropy.planning.plans import Plan
from locentropy.publishing.notices import LeftOutWarning, UngroupedWarning, left_out_words
from locentropy.publishing.request import Request
from locentropy.release.columns import public_columns
from locentropy.release.release import Release
from tests.publishing.making import Killed, visits_in

PLACES = pa.table(
    {
        "place": ["bar", "cafe", "park", "pier"],
        "lat": [1.0, 2.0, 3.0, 4.0],
        "lon": [1.0, 2.0, 3.0, 4.0],
        "kind": ['=HYPERLINK("x")', "</script><b>", "", None],
        "opened": [1990, 1990, 2001, None],
        "size": [1.5, None, 1e300, -2.0],
        "lit": [True, False, True, None],
        "since": [date(2020, 1, 2), None, date(1, 1, 1), date(9999, 12, 31)],
        "district": ["South", "South", "North", "North"],
    }
)
COLUMNS = ("kind", "opened", "size", "lit", "since", "district")
MOMENTS = le.Moments(1.0, max_locations=2, max_visits=2)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def places(**options: Any) -> le.PublicLocations:
    return le.PublicLocations(PLACES, provenance="the register", **options)


def published(folder: Path, mechanism: Any = MOMENTS, **options: Any) -> Release:
    options = {"publish_columns": COLUMNS} | options
    return le.publish(visits_in(folder), mechanism, places(**options), ledger=None, out=folder / "may")


def test_nothing_of_a_column_that_nobody_named_is_in_any_file(tmp_path: Path) -> None:
    register = PLACES.append_column("phone", [["555-0101", "555-0102", "555-0103", "555-0104"]])
    listed = le.PublicLocations(register, levels=["place", "district"], publish_columns=["kind"])
    with pytest.warns(LeftOutWarning, match="left out: 'opened', 'size', 'lit', 'since', 'phone'"):
        release = le.publish(
            visits_in(tmp_path),
            le.Shares(1.0),
            listed,
            ledger=None,
            out=tmp_path / "may",
            also=["geojson", "gpkg", "excel-comma"],
        )
    assert release.statement.listed_columns == ("kind", "district"), "a level is named as well"
    assert release.levels["district"].statement.listed_columns == ()
    for path in (tmp_path / "may").iterdir():
        assert b"555-01" not in path.read_bytes(), path.name
        assert b"phone" not in path.read_bytes(), path.name
    assert (
        b"555-0101" not in pq.read_table(tmp_path / "may" / "release.parquet").to_pandas().to_csv().encode()
    )
    assert le.verify(tmp_path / "may").ok


def test_what_will_be_public_is_told_before_the_spend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def read(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr("locentropy.publishing.publish.carry_out", read)
    listed = places(publish_columns=["kind", "opened"], levels=["place", "district"])
    with (
        caplog.at_level("INFO", "locentropy.reading"),
        pytest.warns(LeftOutWarning, match=r"'size', 'lit', 'since'\. To publish one, name it"),
        pytest.raises(Killed),
    ):
        le.publish(visits_in(tmp_path), MOMENTS, listed, ledger=None)
    assert caplog.messages[-2:] == [
        "To be published at the level place, beside the values: id, coordinates, kind, opened, district.",
        "To be published at the level district, beside the values: id, coordinates.",
    ]


def test_with_all_columns_named_nothing_is_said_to_be_left_out() -> None:
    assert left_out_words(Request(MOMENTS, places(publish_columns=COLUMNS))) is None
    assert left_out_words(Request(MOMENTS, le.PublicLocations(["bar"]))) is None
    assert left_out_words(Request(MOMENTS, le.Grid(1.0, 1.0, 1.1, 1.1, cell=5000))) is None
    wide = pa.table({"place": ["a"]} | {f"{at:03}{'x' * 99}": [1] for at in range(70)})
    told = left_out_words(Request(MOMENTS, le.PublicLocations(wide)))
    assert told is not None
    assert "'049" in told
    assert "'050" not in told
    assert "x', and 20 more. To publish" in told
    assert len(told) < 4000
    grouped = Request(MOMENTS, places(group="district", publish_columns=["size", *COLUMNS]))
    told = left_out_words(grouped)
    assert told == (
        "Left out, because places of one group differ in them: 'kind', 'opened', 'size', 'lit', 'since'."
    )


@pytest.mark.parametrize("mechanism", [MOMENTS, le.Shares(1.0)], ids=["moments", "shares"])
def test_columns_travel(mechanism: Any, tmp_path: Path) -> None:
    release = published(tmp_path, mechanism)
    table = release.to_arrow()
    assert release.statement.listed_columns == COLUMNS
    assert table.column_names[:4] == ["location", "lat", "lon", "kind"]
    for name in COLUMNS:
        assert table[name].combine_chunks().equals(PLACES[name].combine_chunks())
    stored = pq.read_table(tmp_path / "may" / "release.parquet")
    assert stored.select(COLUMNS).equals(PLACES.select(COLUMNS))
    report = le.verify(tmp_path / "may")
    assert report.ok
    assert any("begin like formulas" in each for each in report.notes)
    again = Release.load(tmp_path / "may").reestimate()
    assert again.statement.listed_columns == COLUMNS
    assert again.to_arrow().select(COLUMNS).equals(table.select(COLUMNS))


def test_they_are_named_as_public(tmp_path: Path) -> None:
    published(
        tmp_path, le.Shares(1.0), attributes=["opened"], publish_columns=["kind", "lit", "since", "district"]
    )
    details = yaml.safe_load((tmp_path / "may" / "details.yaml").read_text())
    assert details["locations"]["attributes"] == ["opened"]
    assert details["locations"]["columns"] == ["kind", "lit", "since", "district"]
    assert (
        details["table"]["columns"]["kind"] == "kind of the place, from the public list; no value leans on it"
    )
    assert "lean on" in details["table"]["columns"]["opened"]
    manifest = yaml.safe_load((tmp_path / "may" / "manifest.yaml").read_text())
    unprotected = manifest["deployment"]["dp_variant"]["unprotected_quantities"]
    assert "its columns 'kind', 'lit', 'since', 'district', published as they are" in unprotected
    assert "size" not in (tmp_path / "may" / "release.csv").read_text()


@pytest.mark.parametrize("column", ["place", "name", "kind", "district"])
def test_a_text_that_a_geopackage_would_cut_is_refused_before_the_spend(tmp_path: Path, column: str) -> None:
    """A release that was paid for would not verify."""
    visits, ledger = visits_in(tmp_path), le.Ledger.create(tmp_path / "city.ledger", "riders", epsilon=4)
    named = PLACES.append_column("name", PLACES["place"])
    at = named.column_names.index(column)
    values = ["a\0b", *named[column].to_pylist()[1:]]
    listed = le.PublicLocations(
        named.set_column(at, column, pa.array(values)), publish_columns=["kind", "district"]
    )
    with pytest.raises(BadRowsError, match="NUL"):
        le.publish(visits, MOMENTS, listed, ledger=ledger, out=tmp_path / "may", also=["gpkg"])
    assert ledger.remaining.epsilon == 4


def test_the_page_shows_and_filters_them(tmp_path: Path) -> None:
    published(tmp_path)
    page = (tmp_path / "may" / "report.html").read_text()
    assert "</script><b>" not in page, "texts of the list stay texts"
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found
    data = json.loads(found[1])
    assert data["attributes"] == list(COLUMNS)
    assert data["filters"] == [True] * len(COLUMNS)
    assert sorted(data["columns"]["a5"]) == ["North", "North", "South", "South"]
    assert "Columns of the public list" in page
    assert "createFilters" in page


def test_columns_with_many_values_have_no_filter(tmp_path: Path) -> None:
    ids = [f"place-{at}" for at in range(100)]
    table = pa.table({"place": ids, "code": [f"c{at}" for at in range(100)], "same": ["x"] * 100})
    release = le.publish(
        visits_in(tmp_path),
        MOMENTS,
        le.PublicLocations(table, publish_columns=["code", "same"]),
        ledger=None,
        out=tmp_path / "may",
    )
    page = (tmp_path / "may" / "report.html").read_text()
    assert '"filters":[false,false]' in page.replace(" ", "")
    assert release.statement.listed_columns == ("code", "same")


def test_a_release_that_says_otherwise_is_refused(tmp_path: Path) -> None:
    release = published(tmp_path)
    with pytest.raises(ReleaseError, match="columns that a release does not have"):
        Release(release.table.drop_columns("kind"), release.statement)
    with pytest.raises(ReleaseError, match="columns that a release does not have"):
        Release(release.table.append_column("extra", [["x"] * 4]), release.statement)
    at = release.table.column_names.index("size")
    odd = release.table.set_column(at, "size", pa.array([1.0, float("inf"), 2.0, 3.0]))
    with pytest.raises(ParameterError, match="not finite"):
        Release(odd, release.statement)
    long = release.table.set_column(release.table.column_names.index("kind"), "kind", [["x" * 201] * 4])
    with pytest.raises(ParameterError, match="more than 200 characters"):
        Release(long, release.statement)


def test_another_list_is_another_request() -> None:
    def identity(**options: Any) -> dict[str, str]:
        return dict(Request(MOMENTS, places(**options)).identity(None))

    plain, whole = identity(), identity(publish_columns=COLUMNS)
    assert not {"columns", "publish_columns"} & plain.keys(), "as attempts of version 0.1 have it"
    assert json.loads(whole["columns"]) == list(COLUMNS)
    assert whole == identity(publish_columns=COLUMNS[::-1])
    assert identity(publish_columns=COLUMNS[1:])["list"] not in (whole["list"], plain["list"])
    assert identity(group="district") != plain


# --- groups -------------------------------------------------------------------------------------------------------

EVERY = [
    le.Shares(1.0),
    MOMENTS,
    le.LimitPTR(1.0, delta=0.1, max_locations=2, max_visits=2, min_users=1),
    le.paper.Limit(1.0, max_locations=2, max_visits=2),
    le.paper.Baseline(1.0, max_users=100, max_locations=2, max_visits=2),
    le.paper.LimitSS(1.0, delta=1e-3, max_locations=2, max_visits=2),
]


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda mechanism: mechanism.name)
def test_groups_are_published(mechanism: Any, tmp_path: Path) -> None:
    release = published(tmp_path, mechanism, group="district")
    assert release.to_arrow()["location"].to_pylist() == ["South", "North"]
    assert release.statement.grouped_by == "district"
    assert public_columns(release.statement) == (), "no column agrees within the groups"
    assert le.verify(tmp_path / "may").ok
    if release.measurements is not None:
        again = Release.load(tmp_path / "may").reestimate()
        assert again.to_arrow().equals(release.to_arrow())


def test_everybody_is_told_of_groups(tmp_path: Path) -> None:
    release = published(tmp_path, group="district")
    assert "group = places are grouped by their district, of the list" in str(release.statement.guarantee)
    assert release.statement.locations_source == "public list, its places grouped by their district"
    manifest = (tmp_path / "may" / "manifest.yaml").read_text()
    assert "Places were grouped by their public district" in " ".join(manifest.split())
    details = yaml.safe_load((tmp_path / "may" / "details.yaml").read_text())
    assert details["locations"]["grouped_by"] == "district"
    assert "their district in the public list" in details["table"]["columns"]["location"]
    assert "Groups of places" in (tmp_path / "may" / "report.html").read_text()


def test_places_without_a_group_are_told_of(tmp_path: Path) -> None:
    with pytest.warns(UngroupedWarning, match="1 place of the list has no opened"):
        published(tmp_path, group="opened")


def test_exclusions_name_places(tmp_path: Path) -> None:
    release = le.publish(
        visits_in(tmp_path),
        MOMENTS,
        places(group="district"),
        ledger=None,
        exclude=le.PublicLocations(["bar", "cafe"]),
    )
    assert release.to_arrow()["location"].to_pylist() == ["North"]
    assert (
        "grouped by their district, less places that the owner excluded" in release.statement.locations_source
    )


def test_plans_have_groups(tmp_path: Path) -> None:
    made = le.plan(le.Shares(1.0), n_locations=7, group="district")
    assert "7 groups of places of a public list by their district" in str(made)
    assert "group" in {each.name for each in made.guarantee.public_inputs}
    made.to_yaml(tmp_path / "plan.yaml")
    assert Plan.from_yaml(tmp_path / "plan.yaml") == made
    assert made.to_dict()["locations"] == {"kind": "public-list", "group": "district"}
    for wrong in ("", "entropy", 7):
        with pytest.raises(ParameterError, match="must be a column of the public list"):
            le.plan(le.Shares(1.0), group=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="is a column of a public list"):
        le.plan(le.Shares(1.0), locations="grid", group="district")


def test_requests_plan_with_groups() -> None:
    assert Request(MOMENTS, places(group="district")).plan.group == "district"
