"""Stand-ins for all that examples in messages name: files in a folder, and variables."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

import locentropy as le
from locentropy.datasets.city import City
from locentropy.ledger.ledger import new_id
from locentropy.privacy.calibration import calibrate
from tests.places.maps import districts, geojson


def stand_ins(folder: Path) -> Path:
    """Write the files that examples name."""
    city = City(people=30, places=30, days=2)
    visits, places = _in_the_box(city.visits()), _in_the_box(city.places())
    visits = visits.rename_columns({"user": "uid", "location": "venue"})
    pq.write_table(visits, folder / "checkins.parquet")
    pyarrow.csv.write_csv(visits, folder / "checkins.csv")
    pyarrow.csv.write_csv(visits, folder / "trips.csv")
    pyarrow.csv.write_csv(
        visits.set_column(
            visits.column_names.index("time"), "time", pc.strftime(visits["time"], "%d/%m/%Y %H:%M")
        ),
        folder / "export.csv",
    )
    (folder / "days").mkdir()
    pyarrow.csv.write_csv(visits, folder / "days" / "monday.csv")
    places = places.append_column("category", places["kind"])
    for name in ("places.csv", "venues.csv"):
        pyarrow.csv.write_csv(places, folder / name)
    pyarrow.csv.write_csv(places.slice(0, 1).select(["location"]), folder / "clinics.csv")
    districts(folder / "districts.geojson")
    coast = [
        [lon, lat] for lon, lat in zip(places["lon"].to_pylist(), places["lat"].to_pylist(), strict=True)
    ][:2]
    line = {"type": "LineString", "coordinates": coast}
    geojson(folder / "coast.geojson", {"type": "Feature", "properties": {}, "geometry": line})
    # As the published dump is: user, time, latitude, longitude, location.
    rows = zip(*(visits[name].to_pylist() for name in ("uid", "time", "lat", "lon", "venue")), strict=True)
    (folder / "checkins.txt").write_text(
        "".join(
            f"{user}\t{time:%Y-%m-%dT%H:%M:%SZ}\t{lat}\t{lon}\t{place}\n"
            for user, time, lat, lon, place in rows
        )
    )
    with duckdb.connect(folder / "city.duckdb") as con:
        con.execute(
            "CREATE TABLE checkins AS SELECT * FROM read_parquet(?)", [str(folder / "checkins.parquet")]
        )
    le.Ledger.create(folder / "city.ledger", "riders of the city", epsilon=40, delta=1e-3, large_epsilon=True)
    le.plan(le.Shares(epsilon=1.0), n_locations=len(places)).to_yaml(folder / "approved.yaml")
    listed = le.PublicLocations(folder / "places.csv")
    le.publish(
        le.Visits(folder / "checkins.parquet"),
        le.Shares(epsilon=1.0),
        listed,
        ledger=folder / "city.ledger",
        out=folder / "release",
    )
    return folder


def _in_the_box(table: pa.Table) -> pa.Table:
    """The same rows, moved to where examples have their grid."""
    box = {"lat": (40.70, 40.80), "lon": (-74.03, -73.92)}
    for name, (low, high) in box.items():
        column = table[name].to_numpy()
        spread = float(np.ptp(column)) or 1.0
        moved = low + (high - low) * (0.1 + 0.8 * (column - column.min()) / spread)
        table = table.set_column(table.column_names.index(name), name, pa.array(moved))
    return table


class Names(dict[str, Any]):
    """What examples in Python take for given, made when it is first used."""

    def __init__(self, folder: Path, **known: Any) -> None:
        super().__init__(known)
        self._folder = folder

    def __missing__(self, name: str) -> Any:
        if name not in MADE:
            raise KeyError(name)
        self[name] = MADE[name](self, self._folder)
        return self[name]


_OPEN = ExitStack()
"""What is open until the process ends."""

MADE: dict[str, Callable[[Names, Path], Any]] = {
    "le": lambda names, folder: le,
    "np": lambda names, folder: np,
    "date": lambda names, folder: date,
    "visits": lambda names, folder: le.Visits(folder / "checkins.parquet"),
    "places": lambda names, folder: le.PublicLocations(folder / "places.csv"),
    "locations": lambda names, folder: names["places"].load(),
    "mechanisms": lambda names, folder: [le.Shares(epsilon=1.0)],
    "guarantee": lambda names, folder: le.Guarantee.pure(0.5),
    "ledger": lambda names, folder: le.Ledger.open(folder / "city.ledger"),
    "spend": lambda names, folder: names["ledger"].spend(names["guarantee"], purpose="map of May"),
    "release_id": lambda names, folder: new_id(),
    "survey": lambda names, folder: le.private.survey_for(1.0, 0.5),
    "activity": lambda names, folder: le.private.measure_activity(
        names["visits"], names["places"], names["survey"], ledger=names["ledger"]
    ),
    "queries": lambda names, folder: _OPEN.enter_context(le.private.open_queries(names["visits"])),
    "calibration": lambda names, folder: calibrate(1.0, 1e-8, 5),
    "con": lambda names, folder: ibis.duckdb.connect(folder / "city.duckdb"),
}
