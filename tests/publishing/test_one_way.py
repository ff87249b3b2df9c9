"""One way: nothing of the data but the noisy values gets into a release, onto the screen or into an error."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.privacy.noise import OpenDPNoise
from tests.forking import locentropy
from tests.mechanisms.recording import Recorder
from tests.publishing.making import names
from tests.publishing.markers import DROPPED, HIDDEN, SPOTS, USER, Markers, write_visits

GRID = le.Grid(40.70, -74.00, 40.75, -73.95, cell=1000)
BOUNDED = ("--epsilon", 1, "--max-locations", 3, "--max-visits", 2)
LIMIT = ("--mechanism", "limit", *BOUNDED)
LISTED = ("--places", "places.csv")
SELECTED = ("--select-epsilon", 1, "--select-delta", "1e-7", "--select-max-locations", 2)
BOX = ("--grid", "40.70,-74.00,40.75,-73.95", "--cell", 1000)
WAYS = {
    "limit": (*LIMIT, *LISTED),
    "limit-ss": ("--mechanism", "limit-ss", *BOUNDED, "--delta", "1e-7", *LISTED),
    "limit-ptr": ("--mechanism", "limit-ptr", *BOUNDED, "--delta", "1e-7", "--min-users", 30),
    "selection": (*LIMIT, *SELECTED),
    "grid": (*LIMIT, *BOX),
    "moments": ("--mechanism", "moments", *BOUNDED, *LISTED),
    "shares": ("--epsilon", 1, *LISTED),
    "shares-selection": ("--epsilon", 1, *SELECTED),
    "shares-grid": ("--epsilon", 1, *BOX),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    write_visits(folder)
    (folder / "places.csv").write_text(
        "location,name,lat,lon\ncafe,Café,40.5,-73.5\npark,Park,40.6,-73.6\npier,,,\n"
    )
    return folder


@pytest.fixture(scope="module")
def markers(folder: Path) -> Markers:
    return Markers.of(folder / "secret-folder-51239" / "secret-input-51239.csv", GRID)


def published(way: str, told: str, made: Path, markers: Markers) -> list[tuple[str, str]]:
    """Publish, and look for markers on the screen, in every file and in the ledger."""
    made.mkdir()
    le.Ledger.create(made / "city.ledger", "riders", 4, "1e-6")
    done = locentropy(
        "publish", "../secret-folder-51239/secret-input-51239.csv", "--bad-rows", "drop",
        *(f"../{word}" if word == "places.csv" else word for word in WAYS[way]),
        "--ledger", "city.ledger", "--out", "may", *(["--json"] if told == "as JSON" else []), cwd=made,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert names(made) == ["city.ledger", "may"]
    found = {path.name: markers.in_file(path) for path in (made / "may").iterdir()}
    assert sorted(found) == [
        "datapackage.json",
        "details.yaml",
        "manifest.yaml",
        "measurements.parquet",
        "release.csv",
        "release.parquet",
        "report.html",
    ]
    found["screen"] = markers.in_text(done.stdout + done.stderr)
    found["ledger"] = markers.in_bytes((made / "city.ledger").read_bytes())
    return [(where, marker) for where, hits in found.items() for marker in hits]


@pytest.mark.parametrize(("way", "told"), [*((way, "on screen") for way in WAYS), ("limit-ptr", "as JSON")])
def test_nothing_is_found(way: str, told: str, folder: Path, markers: Markers) -> None:
    made = folder / f"{way}-{told[3:]}"
    found = published(way, told, made, markers)
    if found:
        # Once in some hundred runs a noisy number has the digits of a true one; what leaks is there every time.
        found = [each for each in published(way, told, made.with_suffix(".again"), markers) if each in found]
    assert found == []
    rows = le.Release.load(made / "may").to_arrow()["location"].to_pylist()
    if WAYS[way][-2:] == LISTED:
        assert rows == ["cafe", "park", "pier"]
    elif WAYS[way][-4:] == BOX:
        assert rows == list(range(GRID.rows * GRID.columns))
    else:
        assert rows == ["cafe", "park"], "those of many people"


@pytest.mark.parametrize(
    "ending", [f"{USER}-1", f"{USER},hidden-place-88213,north,1", f',"{SPOTS["cafe"][0]}']
)
def test_nothing_is_found_in_errors(ending: str, folder: Path, markers: Markers, tmp_path: Path) -> None:
    """Paths are told to who typed them; values never."""
    rows = (folder / "secret-folder-51239" / "secret-input-51239.csv").read_text()
    (tmp_path / "input.csv").write_text(rows + ending + "\n")
    done = locentropy(
        "publish", "input.csv", "--epsilon", 1, *BOX, "--out", "may", "--no-ledger", cwd=tmp_path
    )
    assert done.returncode in (3, 5), done.stderr
    assert markers.in_text(done.stdout + done.stderr) == []
    assert names(tmp_path) == ["input.csv"]


class TestTheSearchCanFind:
    def test_texts(self, markers: Markers) -> None:
        for leak in (
            f"by {USER.upper()}-17",
            "dropped 619 rows",
            "1,327 users",
            "n=541.",
            "hidden-place-88213",
        ):
            assert markers.in_text(f"Published. {leak}"), leak
        for number in markers.numbers:
            shown = f"{number:.0f}" if number.is_integer() else repr(number)
            assert markers.in_text(json.dumps({"leak": shown})), number
        assert markers.in_text("0.1327 and 13270 and a1327f") == [], "parts of other numbers are none"

    def test_values_of_a_table(self, markers: Markers, tmp_path: Path) -> None:
        leaks = [[1, DROPPED], [0.5, max(markers.numbers)], ["a", f"{USER}-3"], [b"x", markers.raw[2]]]
        for leak in leaks:
            pq.write_table(pa.table({"column": leak}), tmp_path / "release.parquet", compression="zstd")
            assert markers.in_file(tmp_path / "release.parquet"), leak

    def test_metadata(self, markers: Markers, tmp_path: Path) -> None:
        table = pa.table({"column": [1]}).replace_schema_metadata({"rows": f"{HIDDEN}"})
        pq.write_table(table, tmp_path / "release.parquet")
        assert markers.in_file(tmp_path / "release.parquet")

    def test_values_that_got_no_noise(
        self, folder: Path, markers: Markers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A planted fault, all the way: the release looks like any other, and is not."""
        monkeypatch.setattr(OpenDPNoise, "laplace", lambda self, values, scale: values)
        visits = le.Visits(folder / "secret-folder-51239" / "secret-input-51239.csv", bad_rows="drop")
        places = le.PublicLocations(folder / "places.csv")
        le.publish(
            visits,
            le.paper.Limit(1, max_locations=3, max_visits=2),
            places,
            out=tmp_path / "may",
            ledger=None,
        )
        assert le.verify(tmp_path / "may").ok
        assert markers.in_file(tmp_path / "may" / "release.csv")
        assert markers.in_file(tmp_path / "may" / "release.parquet")

    def test_noise_that_only_says_it_is_private_is_not_believed(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Impostor(Recorder):
            private = True

        monkeypatch.setattr("locentropy.publishing.publication.JournaledNoise", lambda journal: Impostor())
        visits = le.Visits(folder / "secret-folder-51239" / "secret-input-51239.csv", bad_rows="drop")
        with pytest.raises(le.LocentropyError, match="not private"):
            le.publish(
                visits,
                le.paper.Limit(1, max_locations=3, max_visits=2),
                le.PublicLocations(folder / "places.csv"),
                out=tmp_path / "may",
                ledger=None,
            )
        assert not (tmp_path / "may").exists()
