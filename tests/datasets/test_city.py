"""The synthetic city: what always holds, and what makes it worth looking at."""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import sys
from datetime import date, datetime
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from locentropy.core.errors import ParameterError
from locentropy.datasets import City
from locentropy.datasets._crowd import Habits
from locentropy.datasets._people import MINUTES_BETWEEN, NO_WORK
from locentropy.datasets._places import KINDS
from locentropy.datasets._town import BRIDGES, is_land, river_x, walks
from locentropy.datasets.city import FEWEST_PLACES, FILES, VISITS_SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


@pytest.fixture(scope="module")
def city() -> City:
    return City()


@pytest.fixture(scope="module")
def visits(city: City) -> pd.DataFrame:
    return city.visits().to_pandas()


@pytest.fixture(scope="module")
def places(city: City) -> pd.DataFrame:
    return city.places().to_pandas().set_index("location")


@settings(max_examples=examples(25), deadline=None)
@given(
    people=st.integers(1, 40),
    places=st.integers(FEWEST_PLACES, 120),
    days=st.integers(1, 9),
    seed=st.integers(0, 2**63 - 1),
    habits=st.sampled_from(get_args(Habits)),
)
@example(people=1, places=FEWEST_PLACES, days=1, seed=0, habits="usual")
@example(people=500, places=FEWEST_PLACES, days=7, seed=1, habits="usual")
@example(people=1, places=400, days=28, seed=2, habits="usual")
@example(people=1, places=FEWEST_PLACES, days=1, seed=154, habits="usual")  # nobody goes anywhere
@example(people=1, places=FEWEST_PLACES, days=1, seed=0, habits="clustered")
@example(people=500, places=FEWEST_PLACES, days=7, seed=1, habits="homes")
@example(people=1, places=400, days=28, seed=2, habits="regulars")
def test_what_always_holds(people: int, places: int, days: int, seed: int, habits: Habits) -> None:
    city = City(people=people, places=places, days=days, seed=seed, habits=habits)
    table = city.visits()
    assert table.schema == VISITS_SCHEMA
    listed = city.places().to_pandas()
    visits = table.to_pandas()
    assert len(listed) == places
    assert listed["location"].is_unique
    assert listed["name"].is_unique
    assert set(listed["kind"]) == {kind.name for kind in KINDS}
    assert (listed["opens"] < listed["closes"]).all()
    assert visits["user"].nunique() <= people
    assert visits["time"].is_monotonic_increasing
    check_places_and_hours(visits, listed.set_index("location"))
    check_days(visits, city)
    check_nobody_is_in_two_places(visits)


def check_places_and_hours(visits: pd.DataFrame, places: pd.DataFrame) -> None:
    assert visits["location"].isin(places.index).all()
    there = places.loc[visits["location"]].reset_index()
    assert (there["lat"] == visits["lat"]).all()
    assert (there["lon"] == visits["lon"]).all()
    clock = visits["time"].dt.strftime("%H:%M")
    assert (there["opens"] <= clock).all()
    assert (clock < there["closes"]).all()


def check_days(visits: pd.DataFrame, city: City) -> None:
    first = pd.Timestamp(city.start)
    assert ((visits["time"] >= first) & (visits["time"] < first + pd.Timedelta(days=city.days))).all()


def check_nobody_is_in_two_places(visits: pd.DataFrame) -> None:
    ordered = visits.sort_values(["user", "time"])
    user, time = ordered["user"].to_numpy(), ordered["time"].to_numpy()
    day = time.astype("datetime64[D]")
    again = (user[1:] == user[:-1]) & (day[1:] == day[:-1])
    assert (np.diff(time)[again] >= np.timedelta64(MINUTES_BETWEEN, "m")).all()


def test_the_data_of_a_city_are_what_they_were() -> None:
    """Equal parameters give equal data, from one version to the next as well."""
    city = City(people=500, places=120, days=7, seed=3)
    digest = hashlib.sha256()
    for table in (city.places().drop_columns("district"), city.visits()):  # districts came later
        for column in table.columns:
            digest.update(str(column.to_pylist()).encode())
    assert digest.hexdigest()[:24] == "5bceb8f8e9830a72e23dd6b1"


@pytest.mark.parametrize(
    ("people", "places", "days", "seed", "habits", "expected"),
    [
        (200, 60, 3, 0, "usual", "117a96c445c291b524513e33"),
        (150, 80, 2, 7, "homes", "56dd09845220f1bd868e0eb1"),
        (150, 80, 2, 7, "clustered", "d98d2eaf98db5f762ea27b4c"),
        (150, 80, 2, 3, "regulars", "29018e456b940b2fb76eb8c2"),
    ],
)
def test_districts_changed_no_visit(
    people: int, places: int, days: int, seed: int, habits: Habits, expected: str
) -> None:
    """Hashes of the visits from before there were districts."""
    table = City(people, places, days, seed, habits=habits).visits()
    digest = hashlib.sha256()
    for name in table.column_names:
        digest.update(name.encode())
        digest.update("\n".join(map(str, table[name].to_pylist())).encode())
    assert digest.hexdigest().startswith(expected)


def crossings(lat: float, lon: float, ring: list[list[float]]) -> int:
    """How many sides of a ring a line to the north crosses."""
    found = 0
    for (x1, y1), (x2, y2) in itertools.pairwise(ring):
        if (x1 > lon) != (x2 > lon):
            found += y1 + (lon - x1) * (y2 - y1) / (x2 - x1) > lat
    return found


@pytest.mark.parametrize("seed", [0, 5])
def test_every_place_is_in_the_district_that_it_names(seed: int) -> None:
    city = City(people=1, places=500, seed=seed)
    rings = {
        feature["properties"]["name"]: feature["geometry"]["coordinates"][0]
        for feature in city.districts()["features"]
    }
    assert len(rings) == 7
    for place in city.places().to_pylist():
        found = [name for name, ring in rings.items() if crossings(place["lat"], place["lon"], ring) % 2]
        assert found == [place["district"]]


def test_districts_are_a_sound_map() -> None:
    """Rings are closed and counter-clockwise, as RFC 7946 has it, and districts leave no gap and do not overlap."""
    features = City(people=1).districts()["features"]
    areas, edges = 0.0, []
    for feature in features:
        [ring] = feature["geometry"]["coordinates"]
        assert ring[0] == ring[-1]
        assert len({tuple(point) for point in ring}) == len(ring) - 1, "no corner twice"
        x, y = np.array(ring).T
        area = (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2
        assert area > 0
        areas += area
        edges += [tuple(point) for point in ring]
    points = np.array(edges)
    box = np.ptp(points[:, 0]) * np.ptp(points[:, 1])
    assert 0.85 < areas / box < 1, "all of the box but the sea"
    random = np.random.default_rng(0)
    inside = []
    for lon, lat in random.uniform(points.min(0), points.max(0), (2000, 2)):
        rings = [feature["geometry"]["coordinates"][0] for feature in features]
        inside.append(sum(crossings(lat, lon, ring) % 2 for ring in rings))
    assert set(inside) <= {0, 1}
    assert np.mean(inside) == pytest.approx(areas / box, abs=0.03)


def test_the_seed_decides() -> None:
    small = City(people=50, places=60, days=3)
    assert small.visits().equals(City(people=50, places=60, days=3).visits())
    assert small.places().equals(City(people=50, places=60, days=3).places())
    other = City(people=50, places=60, days=3, seed=1)
    assert not small.visits().equals(other.visits())
    assert not small.places().equals(other.places())


def test_places_do_not_depend_on_people_and_days_not_on_later_days() -> None:
    short, long = City(people=30, places=60, days=2), City(people=30, places=60, days=5)
    assert long.visits().slice(0, short.visits().num_rows).equals(short.visits())
    assert City(people=5, places=60).places().equals(short.places())


def test_a_city_shows_how_it_is_called_and_compares_by_its_parameters() -> None:
    city = City(people=5, places=60, days=3, seed=1)
    assert eval(repr(city), {"City": City, "datetime": sys.modules["datetime"]}) == city  # noqa: S307
    assert city != City(people=5, places=61, days=3, seed=1)
    odd = City(people=5, places=60, days=3, seed=1, habits="homes")
    assert eval(repr(odd), {"City": City, "datetime": sys.modules["datetime"]}) == odd != city  # noqa: S307
    assert len({city, City(people=5, places=60, days=3, seed=1)}) == 1


def test_identifiers_look_as_promised(visits: pd.DataFrame, places: pd.DataFrame) -> None:
    assert visits["user"].str.fullmatch(r"p\d{5}").all()
    assert places.index.str.fullmatch(r"[a-z]+-\d{3}").all()
    assert "cafe-007" in places.index


def test_the_town_stands_on_land(city: City) -> None:
    built = city.places().to_pandas()["kind"] != "park"
    assert is_land(city._places.x[built], city._places.y[built]).all()


def test_one_crosses_the_river_by_a_bridge() -> None:
    y = np.array(BRIDGES[0])
    west, east = river_x(y) - 200.0, river_x(y) + 200.0
    at_bridge, away = np.array([BRIDGES[0]]), np.array([BRIDGES[0] + 600.0])
    assert walks(np.array([west]), at_bridge, np.array([east]), at_bridge) == pytest.approx(400.0)
    bank = river_x(away)
    assert walks(bank - 200.0, away, bank - 100.0, away) == pytest.approx(100.0)
    assert walks(bank - 200.0, away, bank + 200.0, away) > 1200.0


def test_people_go_to_places_near_home_or_work(city: City, visits: pd.DataFrame) -> None:
    town, people = city._places, city._people
    trips = visits[visits["location"].str.match("bakery|cafe|supermarket")]
    place = pd.Index(town.location).get_indexer(trips["location"])
    person = trips["user"].str[1:].astype(int).to_numpy() - 1
    base = np.where(people.work == NO_WORK, people.home, people.work)

    def median_walk(person: npt.NDArray[np.int64]) -> float:
        walk = walks(town.x, town.y, town.x, town.y)
        return float(np.median(np.minimum(walk[people.home[person], place], walk[base[person], place])))

    # The same trips, made by somebody else.
    assert median_walk(person) < 0.5 * median_walk(person[::-1])


def test_it_is_the_city_that_was_asked_for(visits: pd.DataFrame, places: pd.DataFrame) -> None:
    visitors = visits.groupby("location")["user"].nunique().reindex(places.index, fill_value=0)
    paid = visits.groupby("location").size().reindex(places.index, fill_value=0)
    assert visits["user"].nunique() == 3000
    # The public list has places that nobody visits, but not many.
    assert 1 <= (visitors == 0).sum() <= 12
    # Everybody passes the central station and the large park.
    assert visitors["station-001"] > 1500
    assert visitors[places["kind"] == "park"].max() > 1000
    # Homes are shared.
    assert visitors[places["kind"] == "home"].median() > 10
    # Popularity has a long tail.
    shops = paid[places["kind"] == "shop"]
    assert shops.max() > 4 * shops.median()


def test_a_few_regulars_rule_some_venues(visits: pd.DataFrame) -> None:
    venues = visits[visits["location"].str.contains("cafe|bar|gym|shop-")]
    counts = venues.groupby(["location", "user"]).size().sort_values(ascending=False)
    by_five = counts.groupby("location").head(5).groupby("location").sum()
    everyone, visitors = counts.groupby("location").sum(), counts.groupby("location").size()
    ruled = (by_five / everyone > 0.3) & (visitors >= 15)
    assert ruled.sum() >= 3


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"people": 0}, "people=0"),
        ({"people": 1.0}, "people=1.0"),
        ({"places": FEWEST_PLACES - 1}, f"places={FEWEST_PLACES - 1}"),
        ({"places": 1_000_000}, "places=1000000"),
        ({"days": 0}, "days=0"),
        ({"seed": -1}, "seed=-1"),
        ({"start": "2025-03-03"}, "start='2025-03-03'"),
        ({"start": datetime(2025, 3, 3, 12)}, "start="),
        ({"start": date(9999, 12, 30)}, "start="),
        ({"habits": "odd"}, "habits='odd' is not one of usual, clustered, homes, regulars"),
    ],
)
def test_bad_parameters_are_named_with_a_correct_call(parameters: dict[str, int], name: str) -> None:
    with pytest.raises(ParameterError, match=name) as caught:
        City(**parameters)
    assert "City(people=3000" in str(caught.value)


def test_write_gives_both_files_and_touches_nothing_else(tmp_path: Path) -> None:
    city = City(people=20, places=60, days=4)
    folder = tmp_path / "new" / "city"
    city.write(folder)
    (folder / "notes.txt").write_text("mine")
    told: list[float] = []
    city.write(folder, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert pq.read_table(folder / "visits.parquet").equals(city.visits())
    text = pyarrow.csv.ConvertOptions(column_types={"opens": pa.string(), "closes": pa.string()})
    assert pyarrow.csv.read_csv(folder / "places.csv", convert_options=text).equals(city.places())
    assert {path.name for path in folder.iterdir()} == {"notes.txt", *FILES}
    assert json.loads((folder / "districts.geojson").read_text()) == city.districts()


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        City(people=20, places=60, days=4).write(tmp_path / "city", progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ParameterError, match="For example"):
        City(people=1).write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, locentropy.datasets; assert not {'numpy', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_there_is_no_other_dataset() -> None:
    import locentropy.datasets as datasets

    with pytest.raises(AttributeError, match="Gowalla"):
        datasets.Gowalla  # noqa: B018
