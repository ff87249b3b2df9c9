"""datapackage.json: what catalogues harvest, by the words of the standard and true of the files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import locentropy as le
from locentropy.release.data_package import data_package
from locentropy.release.statement import UNSAID
from tests.release.making import not_private, release, statement

frictionless = pytest.importorskip("frictionless")

MOMENTS = le.Moments(epsilon=1.0, max_locations=3, max_visits=2)
"""Estimates in no time, where it does not matter which."""


def package_in(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "datapackage.json").read_text()))


def publish(folder: Path, **options: Any) -> Path:
    """A release with columns of every type, published for real."""
    places = pa.table(
        {
            "location": ["a", "b", "c", "d"],
            "name": ['one "name"', "zwei; drei", "Ünï", None],
            "lat": [1.0, 2.0, 3.0, None],
            "lon": [1.0, 2.0, 3.0, None],
            "district": ["x", "x", "y", "y"],
            "opened": pa.array([0, None, 20_000, 1], pa.date32()),
            "seats": pa.array([1, 2, None, 2**40], pa.int64()),
            "area": [1.5, None, 3.25, 1e300],
            "open": [True, False, None, True],
        }
    )
    visits = pa.table(
        {"user": ["u", "v"], "location": ["a", "b"], "time": pa.array([0, 1], pa.timestamp("us", "UTC"))}
    )
    listed = le.PublicLocations(
        places,
        provenance="the city's register",
        levels=options.pop("levels", []),
        publish_columns=["district", "opened", "seats", "area", "open"],
    )
    mechanism = options.pop("mechanism", MOMENTS)
    about = le.About(title="Map of May", curator="The city", region="Berlin", publication_date="2026-06-01")
    le.publish(
        le.Visits(visits),
        mechanism,
        listed,
        ledger=None,
        about=about,
        out=folder / "r",
        **options,
    )
    return folder / "r"


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": le.Shares(epsilon=1.0)},
        {"also": ["geojson", "gpkg", "excel-comma"]},
        {"levels": ["place", "district", "all"], "also": ["excel-point", "geojson"]},
        {"window": le.Window("1970-01", zone="UTC")},
        {"window": le.Window("1970-01/1970-03", zone="UTC"), "windows": "month"},
    ],
    ids=["plain", "further formats", "levels", "window", "several windows"],
)  # fmt: skip
def test_frictionless_finds_nothing_wrong(options: dict[str, Any], tmp_path: Path) -> None:
    """Names, types and rows: the schema is that of the very table, and every cell fits it."""
    folder = publish(tmp_path, **dict(options))
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten(["title", "message"])
    found = package_in(folder)
    tables = [each for each in found["resources"] if "schema" in each]
    assert len(tables) == max(1, len(options.get("levels", [])))
    assert le.verify(folder).ok


def test_frictionless_can_find_something_wrong(tmp_path: Path) -> None:
    folder = publish(tmp_path)
    path = folder / "release.csv"
    path.write_text(path.read_text().replace("1.5", "much"))
    report = frictionless.validate(str(folder / "datapackage.json"))
    types = {kind for (kind,) in report.flatten(["type"])}
    assert {"hash-count", "type-error"} <= types, types


def test_types_of_columns(tmp_path: Path) -> None:
    [table] = [each for each in package_in(publish(tmp_path))["resources"] if "schema" in each]
    types = {field["name"]: field["type"] for field in table["schema"]["fields"]}
    assert types | {"location": "string", "lat": "number", "opened": "date", "seats": "integer"} == types
    assert types | {"area": "number", "open": "boolean", "entropy": "number"} == types
    assert table["schema"]["primaryKey"] == ["location"]


def test_it_names_the_files_and_says_what_the_manifest_says(tmp_path: Path) -> None:
    folder = publish(tmp_path, also=["geojson"])
    found = package_in(folder)
    named = {each["path"]: each["hash"] for each in found["resources"]}
    others = {"details.yaml", "datapackage.json", "measurements.parquet"}
    assert set(named) == {path.name for path in folder.iterdir()} - others
    for path, known in named.items():
        assert known == f"sha256:{hashlib.sha256((folder / path).read_bytes()).hexdigest()}"
    assert (found["title"], found["contributors"]) == ("Map of May", [{"title": "The city"}])
    said = found["locentropy"]
    assert (said["epsilon"], said["privacy_unit"], said["region"]) == (1.0, "person", "Berlin")
    assert said["publication_date"] == "2026-06-01"
    assert "the city's register" in found["sources"][0]["title"]


def test_the_same_release_gives_the_same_bytes() -> None:
    hashes = {"release.csv": "00", "report.html": "11"}
    assert data_package(release(), hashes) == data_package(release(), dict(reversed(hashes.items())))
    assert b"created" not in data_package(release(), hashes), "nothing in it comes from a clock"


def test_what_nobody_said_is_left_out() -> None:
    found = json.loads(data_package(release(), {}))
    assert ("contributors" in found) == (statement().curator != UNSAID)


def test_without_a_guarantee_it_is_marked(tmp_path: Path) -> None:
    folder = not_private().save(tmp_path / "r")
    found = json.loads((folder / "datapackage.NOT-PRIVATE.json").read_text())
    assert found["title"].startswith("NOT PRIVATE")
    assert found["locentropy"]["status"] == "NOT PRIVATE"
