"""Places by a map, as they are said on the command line: which cells the options mean, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import locentropy as le
from locentropy.cli.error_format import as_command
from locentropy.cli.place_options import PlaceOptions
from locentropy.core.errors import ParameterError
from tests.cli.running import Done, in_process
from tests.places.maps import BOX, districts

EDGES = ",".join(map(str, BOX))
ZONES = ("--zones", "districts.geojson", "--zone-id", "name")
RUN = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    districts(tmp_path / "districts.geojson", 4)
    rng = np.random.default_rng(2)
    rows = 2000
    visits = {
        "user": [f"u{each}" for each in rng.integers(0, 150, rows)],
        "location": [f"p{each}" for each in rng.integers(0, 12, rows)],
        "lat": rng.uniform(BOX[0], BOX[2], rows),
        "lon": rng.uniform(BOX[1], BOX[3], rows),
    }
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    listed = "\n".join(f"p{each},{'north' if each % 3 else 'south'}" for each in range(12))
    (tmp_path / "places.csv").write_text(f"location,district\n{listed}\n")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> RUN:
    return lambda *words: in_process(*words, cwd=folder)


@pytest.fixture
def chosen(folder: Path) -> Callable[..., Any]:
    def choosing(**options: Any) -> Any:
        if "zones" in options:
            options["zones"] = str(folder / options["zones"])
        return PlaceOptions(**options).chosen()

    return choosing


def test_options_mean_what_python_says(chosen: Callable[..., Any], folder: Path) -> None:
    zones = le.Zones(str(folder / "districts.geojson"), id="name")
    on_a_map = {"zones": "districts.geojson", "zone_id": "name"}
    named = le.Zones(str(folder / "districts.geojson"), id="name", name="label")
    assert chosen(**on_a_map) == zones
    assert chosen(**on_a_map, zone_name="label") == named
    assert chosen(h3=8, box=EDGES) == le.H3Cells(8, within=BOX)
    assert chosen(h3=8, **on_a_map) == le.H3Cells(8, within=zones)
    assert chosen(inspire="1km", box="52.3,13.0,52.7,13.8") == le.InspireSquares(
        "1km", (52.3, 13.0, 52.7, 13.8)
    )
    assert chosen(grid=EDGES, cell=500.0) == le.Grid(*BOX, 500.0)
    assert chosen(grid=EDGES, cell=500.0, **on_a_map) == le.Grid(*BOX, 500.0, within=zones)
    assert chosen(cell=500.0, **on_a_map) == le.Grid.over(zones, 500.0)
    assert chosen(h3=8, box=EDGES, attributes=[""]) == le.H3Cells(8, within=BOX, attributes=[])
    assert chosen(h3=8, box=EDGES, attributes=["coordinates"]) == le.H3Cells(8, within=BOX)
    assert chosen() is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"zones": "districts.geojson"}, "--zones needs --zone-id"),
        ({"zone_id": "name"}, "--zone-id describes a map, and none is given"),
        ({"zone_layer": "a"}, "--zone-layer describes a map"),
        ({"box": EDGES}, "--box is for --h3 or --inspire"),
        ({"box": EDGES, "cell": 500.0}, "The box of square cells is --grid"),
        ({"h3": 8}, "need one region"),
        ({"inspire": "1km"}, "need one region"),
        ({"h3": 8, "box": EDGES, "zones": "districts.geojson", "zone_id": "name"}, "need one region"),
        ({"h3": 8, "inspire": "1km", "box": EDGES}, "choose one of --h3 and --inspire"),
        ({"h3": 8, "cell": 500.0, "grid": EDGES}, "choose one of --grid and --h3"),
        ({"h3": 8, "cell": 500.0}, "choose one of --cell and --h3"),
        ({"cell": 500.0}, "A grid needs the size of its cells and its box"),
        ({"grid": EDGES}, "A grid needs the size of its cells and its box"),
        ({"h3": 8, "box": "1,2,3"}, "must be four numbers"),
        ({"h3": 8, "box": EDGES, "places": "places.csv"}, "Choose one way to say which places"),
        ({"h3": 8, "box": EDGES, "attributes": ["category"]}, "Cells and zones have none"),
        ({"attributes": ["coordinates"]}, "--attribute coordinates needs places"),
        ({"h3": 16, "box": EDGES}, "must be a whole number from 0 to 15"),
    ],
)
def test_options_that_do_not_fit_together(
    chosen: Callable[..., Any], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        chosen(**options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--zones", "none.geojson", "--zone-id", "name"),
            "none.geojson: there is no such file. For example: locen",
        ),
        (("--inspire", "1km", "--box", EDGES), "--box must lie in Europe"),
        (("--h3", 15, "--box", EDGES), "--h3 15 gives about"),
        (("--cell", 10**6, *ZONES), "--zones has no zone with the centre of a cell in it"),
    ],
)
def test_errors_about_maps_show_options_and_commands(
    run: RUN, folder: Path, words: tuple[Any, ...], said: str
) -> None:
    done = run("publish", "visits.parquet", "--epsilon", 1, *words, "--no-ledger", "--out", "may")
    told = " ".join(done.stderr.split())
    assert done.returncode in (2, 3)
    assert said in told
    assert "For example: locentropy publish checkins.parquet --epsilon 1" in told
    assert not any(call in told for call in ("Zones(", "H3Cells(", "InspireSquares(", "Grid(", "within="))
    assert not (folder / "may").exists()


def test_exact_values_evaluation_and_advice_take_the_places_of_a_release(run: RUN, folder: Path) -> None:
    told = json.loads(run("entropy", "visits.parquet", *ZONES, "--json").stdout)
    zones = le.Zones(folder / "districts.geojson", id="name")
    with le.private.open_queries(le.Visits(folder / "visits.parquet"), locations=zones) as queries:
        exact = queries.exact_profile()
    found = {row["location"]: row["exact_users"] for row in told["locations"]}
    assert found == dict(zip(exact.locations.to_pylist(), exact.user_counts.tolist(), strict=True))
    refused = run("entropy", "visits.parquet", "--places", "places.csv", "--levels", "place,city")
    assert "--levels is for a release" in refused.stderr
    from_office = (*ZONES, "--provenance", "the land office")
    seen = run("evaluate", "visits.parquet", "--epsilon", 1, "--seeds", 1, *from_office)
    assert seen.returncode == 0, seen.stderr
    advice = run("advise", "--epsilon", 1, "--n-users", 500, *from_office)
    assert "--provenance 'the land office'" in " ".join(advice.stdout.split())


def test_publish_by_zones_and_by_cells_within_them(run: RUN, folder: Path) -> None:
    for out, words in {
        "zones": ZONES,
        "h3": ("--h3", 7, *ZONES),
        "squares": ("--cell", 2000, *ZONES),
        "alone": ("--cell", 2000, *ZONES, "--attribute", ""),
    }.items():
        done = run(
            "publish",
            "visits.parquet",
            "--epsilon",
            1,
            *words,
            "--provenance",
            "the office",
            "--no-ledger",
            "--out",
            out,
        )
        assert done.returncode == 0, done.stderr
        details = yaml.safe_load((folder / out / "details.yaml").read_text())
        assert "the office" in json.dumps(details)
        assert le.Release.load(folder / out).statement.attributes == (
            ("coordinates",) if out != "alone" else ()
        )
        assert run("verify", out).returncode == 0


def test_of_a_map_nothing_is_published_but_ids_names_and_outlines(run: RUN, folder: Path) -> None:
    told = json.loads((folder / "districts.geojson").read_text())
    for each in told["features"]:
        each["properties"]["phone"] = "555-0101"
    (folder / "contacts.geojson").write_text(json.dumps(told))
    publish = ("publish", "visits.parquet", "--epsilon", 1, "--provenance", "the office", "--no-ledger")
    zones = ("--zones", "contacts.geojson", "--zone-id", "name")
    for out, words, shown in (
        ("zones", zones, "id, coordinates, outline"),
        (
            "named",
            (*zones, "--zone-name", "label", "--outline", "contacts.geojson"),
            "id, name, coordinates, outline",
        ),
        ("squares", ("--cell", 2000, *zones), "id, name, coordinates"),
    ):
        tried, done = run(*publish, *words, "--dry-run"), run(*publish, *words, "--out", out)
        assert done.returncode == 0, done.stderr
        public = f"To be published of each place, beside the values: {shown}."
        assert public in tried.stdout.splitlines()
        assert public in done.stderr.splitlines()
        left_out = (
            "columns of the map are left out: 'label', 'phone'"
            if out == "zones"
            else "columns of the map are left out: 'phone'"
        )
        assert (left_out in done.stderr) == (left_out in tried.stderr) == (out != "squares")
        assert not any(b"555-0101" in path.read_bytes() for path in (folder / out).iterdir())
    refused = run(*publish, *zones, "--publish-column", "phone", "--out", "no")
    assert refused.returncode == 2
    assert "Of a map, ids, names (--zone-name) and outlines are published" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("kind", ["geojson", "gpkg", "shp", "parquet"])
def test_every_kind_of_map_says_what_it_is_not_to_publish(kind: str, folder: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.read_file(folder / "districts.geojson").assign(phone="555-0101", size=1)
    path = folder / f"contacts.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_file(path)
    own = {"fid"} & {*le.Zones(path, id="name").left_out}  # numbers of rows, which a GeoPackage keeps
    assert {*le.Zones(path, id="name").left_out} - own == {"label", "phone", "size"}
    assert {*le.Zones(path, id="name", name="label").left_out} - own == {"phone", "size"}
    assert not le.Zones(path, id="name", name="label").locations().columns


def test_mistakes_are_told_in_options(run: RUN) -> None:
    done = run(
        "publish", "visits.parquet", "--epsilon", 1, "--h3", 16, "--box", EDGES, "--no-ledger", "--out", "x"
    )
    assert done.returncode != 0
    assert "--h3 16 must be a whole number from 0 to 15" in done.stderr
    assert "--h3 9 --box 40.70,-74.03,40.80,-73.92" in done.stderr.replace("\n", " ")
    done = run(
        "publish",
        "visits.parquet",
        "--epsilon",
        1,
        "--zones",
        "none.geojson",
        "--zone-id",
        "name",
        "--no-ledger",
    )
    assert done.returncode != 0
    assert "none.geojson" in done.stderr


@pytest.mark.parametrize("words", [ZONES, ("--h3", "7", *ZONES), ("--cell", "2500", *ZONES)])
def test_an_approved_plan_holds_for_its_cells_alone(run: RUN, folder: Path, words: tuple[str, ...]) -> None:
    made = run("plan", "--epsilon", 1, *words, "--out", "plan.yaml")
    assert made.returncode == 0, made.stderr
    plan = yaml.safe_load((folder / "plan.yaml").read_text())
    assert plan["locations"]["attributes"] == ["coordinates"]
    publish = ("publish", "visits.parquet", "--plan", "plan.yaml", "--no-ledger")
    other = run(*publish, *words[:-1], "label", "--out", "other")  # of the same map, but by other ids
    assert other.returncode != 0
    assert "plan.yaml is about the" in other.stderr
    same = run(*publish, *words, "--out", "same")
    assert same.returncode == 0, same.stderr
    (folder / "moved").mkdir()
    (folder / "districts.geojson").write_text((folder / "districts.geojson").read_text() + "\n")
    changed = run(*publish, *words, "--out", "changed")
    assert changed.returncode != 0
    assert "plan.yaml is about the" in changed.stderr
    assert not (folder / "changed").exists()


def test_a_plan_of_another_kind(run: RUN) -> None:
    done = run("plan", "--epsilon", 1, "--places-kind", "grid", *ZONES)
    assert done.returncode != 0
    assert "--places-kind grid contradicts" in done.stderr


def test_advise_and_evaluate_by_zones_and_by_groups(run: RUN, folder: Path) -> None:
    grouped = ("--places", "places.csv", "--group-by", "district")
    quick = ("--mechanism", "moments", "--max-locations", 2, "--max-visits", 3, "--seeds", 2)
    for words, number in ((ZONES, 16), (grouped, 2), (("--h3", 6, *ZONES), None)):
        done = run("evaluate", "visits.parquet", *words, *quick, "--json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert number is None or number in _numbers(told), told
    le.Ledger.create(folder / "city.ledger", "people of the city", 4)
    for words in (ZONES, grouped):
        paid = ("--epsilon", 1, "--spend", "0.05", "--ledger", "city.ledger")
        done = run("advise", "visits.parquet", *words, *paid)
        assert done.returncode == 0, done.stderr
        assert " ".join(words) in done.stdout.replace("\n", " ")  # the command to publish has them again


def _numbers(told: Any) -> set[Any]:
    """Every number in a JSON document."""
    if isinstance(told, dict):
        return set().union(*(_numbers(each) for each in told.values()))
    if isinstance(told, list):
        return set().union(*(_numbers(each) for each in told))
    return {told}


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (
            "H3Cells(resolution=9, within=(40.70, -74.03, 40.80, -73.92))",
            "locentropy publish checkins.parquet --epsilon 1 --ledger city.ledger --out may --h3 9 --box "
            "40.70,-74.03,40.80,-73.92",
        ),
        (
            'InspireSquares("1km", within=(52.34, 13.09, 52.68, 13.76))',
            "locentropy publish checkins.parquet --epsilon 1 --ledger city.ledger --out may --inspire 1km --box "
            "52.34,13.09,52.68,13.76",
        ),
        (
            'Zones("districts.geojson", id="name")',
            "locentropy publish checkins.parquet --epsilon 1 --ledger city.ledger --out may --zones districts.geojson "
            "--zone-id name",
        ),
        (
            'Grid.over(Zones("districts.geojson", id="name"), cell=500)',
            "locentropy publish checkins.parquet --epsilon 1 --ledger city.ledger --out may --zones districts.geojson "
            "--zone-id name --cell 500",
        ),
        (
            "Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)",
            "locentropy publish checkins.parquet --epsilon 1 --ledger city.ledger --out may --grid "
            "40.70,-74.03,40.80,-73.92 --cell 500",
        ),
    ],
)
def test_examples_in_python_become_commands(call: str, command: str) -> None:
    names = ("epsilon", "places", "ledger", "out", "grid", "cell", "h3", "inspire", "box", "zones")
    options = {name: f"--{name}" for name in names} | {"zone_id": "--zone-id"}
    assert as_command(call, "publish", options) == command
