"""A release with an outline: kept, named as public, checked, drawn again; and what is refused before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import locentropy as le
from locentropy.core.errors import LocentropyError, ParameterError, ReleaseError, SourceError
from locentropy.publishing.request import Request
from locentropy.release.report.page import page
from tests.cli.running import in_process

from .making import LIMIT, ledger_in, visits_in

PLACES = "location,lat,lon\nbar,50.0,8.0\ncafe,50.1,8.1\npark,50.2,8.2\npier,50.3,8.0\n"
LINE = [[7.9, 50.0], [8.1, 50.2], [8.3, 50.1]]


@pytest.fixture
def outline(tmp_path: Path) -> Path:
    shape = {"type": "LineString", "coordinates": LINE}
    path = tmp_path / "coast.geojson"
    path.write_text(json.dumps({"type": "Feature", "properties": {"name": "coast"}, "geometry": shape}))
    return path


def places(folder: Path) -> le.PublicLocations:
    (folder / "places.csv").write_text(PLACES)
    return le.PublicLocations(folder / "places.csv", provenance="the register")


def published(folder: Path, outline: Path | None, out: str = "out") -> le.Release:
    return le.publish(
        visits_in(folder), LIMIT, places(folder), ledger=None, out=folder / out, outline=outline
    )


def test_the_release_keeps_the_outline_and_says_that_it_is_public(outline: Path, tmp_path: Path) -> None:
    release = published(tmp_path, outline)
    kept = json.loads((tmp_path / "out" / "outline.geojson").read_text())
    assert kept["features"][0]["geometry"]["coordinates"] == [LINE]
    assert release.background is not None
    words = release.statement.outline
    assert words is not None
    assert words.startswith("lines of a public map with SHA-256 ")
    for name in ("manifest.yaml", "details.yaml"):
        assert words in " ".join((tmp_path / "out" / name).read_text().split())
    public = {each.name: each.value for each in release.statement.guarantee.public_inputs}
    assert public["outline"] == words
    found = le.verify(tmp_path / "out")
    assert found.ok, found.checks
    assert (tmp_path / "out" / "report.html").read_bytes() == page(le.Release.load(tmp_path / "out"))
    told = in_process("report", "out", cwd=tmp_path)
    assert "shows its numbers" in told.stdout


def test_without_an_outline_nothing_is_said_of_one(tmp_path: Path) -> None:
    release = published(tmp_path, None)
    assert release.background is None
    assert "outline" not in yaml.safe_load((tmp_path / "out" / "details.yaml").read_text())
    assert not (tmp_path / "out" / "outline.geojson").exists()
    assert b'id="background"' not in (tmp_path / "out" / "report.html").read_bytes()


def test_an_outline_that_was_changed_is_found(outline: Path, tmp_path: Path) -> None:
    published(tmp_path, outline)
    path = tmp_path / "out" / "outline.geojson"
    path.write_text(path.read_text().replace("8.1", "8.2"))
    assert not le.verify(tmp_path / "out").ok
    with pytest.raises(ReleaseError, match=r"outline\.geojson is not the file"):
        le.Release.load(tmp_path / "out")
    path.unlink()
    assert not le.verify(tmp_path / "out").ok


def test_another_outline_is_another_request(outline: Path, tmp_path: Path) -> None:
    one = Request(LIMIT, places(tmp_path), outline=outline).identity(None)
    assert one != Request(LIMIT, places(tmp_path)).identity(None)
    outline.write_text(outline.read_text() + "\n")
    assert one != Request(LIMIT, places(tmp_path), outline=outline).identity(None)


def test_the_visits_are_no_outline(tmp_path: Path) -> None:
    visits_in(tmp_path).source.rename(tmp_path / "trips.geojson")  # type: ignore[union-attr]
    visits = le.Visits(tmp_path / "trips.geojson")
    with pytest.raises(ParameterError, match="The outline and the visits are the same file"):
        le.publish(visits, LIMIT, places(tmp_path), ledger=None, outline=tmp_path / "trips.geojson")


def test_refused_before_anything_is_spent(outline: Path, tmp_path: Path) -> None:
    ledger, visits = ledger_in(tmp_path), visits_in(tmp_path)
    bare = le.PublicLocations(["bar", "cafe"], provenance="the register")
    selected = le.SelectLocations(0.2, delta=1e-6, max_locations=3)
    far = tmp_path / "far.geojson"
    far.write_text(outline.read_text().replace("50.", "10."))
    for locations, given, error in (
        (bare, outline, SourceError),
        (selected, outline, ParameterError),
        (places(tmp_path), far, SourceError),
        (places(tmp_path), tmp_path / "gone.geojson", SourceError),
        (places(tmp_path), 3, ParameterError),
    ):
        with pytest.raises(error) as refused:
            le.publish(visits, LIMIT, locations, ledger=ledger, out=tmp_path / "out", outline=given)  # type: ignore[arg-type]
        assert isinstance(refused.value, LocentropyError)
    assert not ledger.read().spends
    assert not (tmp_path / "out").exists()


def test_on_the_command_line(outline: Path, tmp_path: Path) -> None:
    places(tmp_path)
    visits_in(tmp_path)
    command = ("publish", "visits.csv", "--epsilon", "1", "--places", "places.csv", "--no-ledger")
    done = in_process(*command, "--outline", "coast.geojson", "--out", "may", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert le.Release.load(tmp_path / "may").background is not None
    missing = in_process(*command, "--outline", "gone.geojson", "--dry-run", cwd=tmp_path)
    assert missing.returncode != 0
    assert "gone.geojson: there is no such file" in " ".join(missing.stderr.split())
    assert "Traceback" not in missing.stderr


def test_estimating_anew_keeps_it(outline: Path, tmp_path: Path) -> None:
    le.publish(
        visits_in(tmp_path),
        le.Moments(1.0, max_locations=3, max_visits=2),
        places(tmp_path),
        ledger=None,
        out=tmp_path / "out",
        outline=outline,
    )
    again = le.Release.load(tmp_path / "out").reestimate()
    again.save(tmp_path / "again")
    assert le.verify(tmp_path / "again").ok
    assert (tmp_path / "again" / "outline.geojson").read_bytes() == (
        tmp_path / "out" / "outline.geojson"
    ).read_bytes()
