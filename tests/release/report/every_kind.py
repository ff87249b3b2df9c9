"""Releases of every kind that a page can be about, for tests of its words.

What the owner says is in Greek letters and numbers, so that it is told from the page's own words.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import locentropy as le
from locentropy.core.background import Background
from locentropy.core.estimates import Estimates, Method
from locentropy.core.locations import Locations
from locentropy.mechanisms.paper.limit_cb import REASON
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.chain import find_earlier
from locentropy.release.release import Release
from locentropy.release.statement import About, LedgerNote
from tests.places.maps import BOX, districts

from ..making import LEDGER, statement
from .making import town

OWNER: dict[str, Any] = {
    "title": "Τόποι",
    "curator": "Δήμος",
    "description": "Περιγραφή.",
    "intended_use": "Χρήση.",
    "region": "Ελλάδα",
    "publication_date": "2026-11-15",
    "locations_provenance": "Μητρώο",
}
ABOUT = About(**{name: text for name, text in OWNER.items() if name != "locations_provenance"})
SILENT: dict[str, Any] = {name: getattr(About, name) for name in About.__dataclass_fields__}
PER_MONTH = LedgerNote(
    population="πληθυσμός",
    spend_id="c" * 32,
    total_epsilon="1",
    total_delta="1e-7",
    spent_epsilon="0.3",
    spent_delta="0",
    unit="person-month",
    cell="2026-01 to 2026-06",
    composition="concentrated",
    rho="0.0123",
    spent_rho="0.005",
    person_epsilon="6",
    person_delta="1e-6",
    person_spent_epsilon="1.5",
    person_spent_delta="2e-8",
    person_rho="0.4",
    person_spent_rho="0.02",
)
LAND = np.array([[-31.002, 42.99], [-30.987, 42.99], [-30.987, 43.02], [-31.002, 43.02], [-31.002, 42.99]])


def greek(count: int = 30, *, promised: Guarantee | None = None, **words: Any) -> Release:
    """A town with names of numbers, an owner who speaks Greek, and another guarantee if one is named."""
    made = town(count, **({"names": [f"№{number}" for number in range(count)]} | OWNER | words))
    return made if promised is None else replace(made, statement=replace(made.statement, guarantee=promised))


def stated() -> dict[str, Release]:
    """Releases that only say what they are; quickly made."""
    kinds = {"είδος": pa.array(["Α", "Β", None] * 10, pa.string())}
    note = replace(LEDGER, population="πληθυσμός")
    monthly = replace(
        Guarantee.approximate("0.3", "1e-8").for_unit("person-month"), rho=Guarantee.pure(1).epsilon
    )
    months = le.Window("2026-01/2026-07", zone="Europe/Berlin", weekdays="mon-fri", hours="07-10,16-19")
    third = Method("Μέθοδος.", ("std_error", "low", "high"), "noise", proof="απόδειξη")
    return {
        "moments": greek(mechanism="Moments"),
        "silent": greek(**SILENT),
        "shares": greek(mechanism="Shares", attributes=kinds, max_std_error=0.4, entropy_unit="bits", ledger=note),
        "counts": greek(mechanism="Shares", counts=True, max_std_error=0.5),
        "ptr": greek(mechanism="LimitPTR", promised=Guarantee.approximate(2, "1e-6")),
        "smooth": greek(mechanism="LimitSS"),
        "limit": greek(mechanism="Limit", tuned_unaccounted=True, refuse_empty=True, user_column="χρήστης"),
        "dropped": greek(mechanism="Limit", parameters={"bad_rows": "drop", "max_locations": "5", "max_visits": "4", "keep": "first"}),
        "none": greek(mechanism="LimitCB", guarantee=Guarantee.none(REASON), locations_source="unprotected selection", coordinates=False),
        "third": greek(mechanism="Ξένος", method=third, built_in=False),
        "large": greek(promised=Guarantee.pure(12)),
        "weak": greek(promised=Guarantee.pure(5)),
        "moderate": greek(promised=Guarantee.approximate("2.5", "1e-7")),
        "certain": greek(promised=Guarantee.approximate(9, "0.002")),
        "one": greek(1),
        "few": greek(5, coordinates=False),
        "alike": alike(),
        "monthly": greek(promised=monthly, window=months, ledger=PER_MONTH),
        "day": greek(promised=Guarantee.pure("0.3").for_unit("person-day"), window=le.Window("2026-05-03", zone="as-written")),
        "week": greek(promised=Guarantee.pure("0.3").for_unit("person-week"), window=le.Window("2026-W21", zone="UTC")),
        "outlined": greek(outline="lines of a public map with SHA-256 " + "0" * 64 + ", cut and simplified").with_background(
            Background(((LAND,),), ())
        ),
        "nobody": nobody(),
        "uncertain": all_uncertain(),
        "unplaced": unplaced(),
        "columns": columns(),
    }  # fmt: skip


def alike() -> Release:
    """All values are the same, and what is certain is certain."""
    made = greek(20)
    table = made.to_arrow()
    same = {"entropy": 2.0, "effective_visitors": np.exp(2.0), "std_error": 0.0, "low": 2.0, "high": 2.0}
    for name, value in same.items():
        table = table.set_column(table.column_names.index(name), name, [[value] * 20])
    return Release(table, made.statement)


def nobody() -> Release:
    """A selection that named no place."""
    source = (
        "private selection (epsilon=0.2, delta=1e-08, max_locations=20), less places that the owner excluded"
    )
    made = greek(12, locations_source=source, locations_provenance=source, coordinates=False)
    return Release(made.to_arrow().slice(0, 0).drop_columns(["name"]), made.statement)


def all_uncertain() -> Release:
    """All places are above the limit of the owner."""
    return greek(12, mechanism="Shares", max_std_error=0.01)


def unplaced() -> Release:
    """One place has no coordinates."""
    ids = pa.array(["1", "2", "3"], pa.string())
    listed = Locations(ids, ids, np.array([1.0, 2.0, np.nan]), np.array([1.0, 2.0, np.nan]))
    values = np.array([1.0, 2.0, 3.0])
    found = Estimates(ids, values, "bounded", True, std_error=values / 10, low=values / 2, high=values * 2)
    return Release.of(found, listed, statement(mechanism="Moments", **OWNER))


def columns() -> Release:
    """Further columns of the list, and one attribute among them."""
    ids = pa.array([str(at) for at in range(30)], pa.string())
    listed = Locations(
        ids, None, None, None, {}, columns={name: pa.array(["Α", None] * 15) for name in ("χώρα", "πόλη")}
    )
    values = np.linspace(1, 3, 30)
    found = Estimates(ids, values, "true", True, std_error=values / 10, low=values / 2, high=values * 2)
    return Release.of(found, listed, statement(mechanism="Shares", estimand="true", **OWNER))


def published(folder: Path) -> dict[str, Release]:
    """Releases with levels, windows, periods, groups, zones and cells, published from invented visits."""
    draw = np.random.default_rng(7)
    south, west, north, east = BOX
    rows = 600
    at = draw.integers(0, 12, rows)
    table = pa.table(
        {
            "χρήστης": draw.integers(0, 60, rows),
            "location": [str(each) for each in at],
            "lat": draw.uniform(south, north, rows),
            "lon": draw.uniform(west, east, rows),
            "time": np.datetime64("2026-01-01T12:00:00")
            + draw.integers(0, 89, rows).astype("timedelta64[D]"),
        }
    )
    visits = le.Visits(table, user="χρήστης", location="location", time="time")
    somewhere = le.Visits(table.drop_columns(["location"]), user="χρήστης", time="time")
    places = pa.table(
        {
            "location": [str(each) for each in range(12)],
            "lat": np.linspace(south, north, 12),
            "lon": np.linspace(west, east, 12),
            "συνοικία": ["Α", "Β", "Γ"] * 4,
        }
    )
    zones = le.Zones(districts(folder / "districts.geojson", 3), id="name", name="label", provenance="Χάρτης")
    shares = le.Shares(1.0, max_users=1000)
    quick = le.Moments(2.0, max_locations=5, max_visits=5)  # where the words do not depend on it
    quarter = le.Window("2026-01/2026-04", zone="as-written")

    def listed(**options: Any) -> le.PublicLocations:
        return le.PublicLocations(places, provenance="Μητρώο", **options)

    def made(name: str, where: Any, table: Any = visits, mechanism: Any = shares, **options: Any) -> Release:
        given = {"ledger": None, "about": ABOUT, "out": folder / name} | options
        return le.publish(table, mechanism, where, **given)

    people = le.Ledger.create(folder / "people.ledger", "πληθυσμός", 4, delta="1e-3")
    monthly = le.Ledger.create(
        folder / "month.ledger",
        "πληθυσμός",
        1,
        unit="person-month",
        person_epsilon=4,
        zone="as-written",
        another=True,
    )
    found = {
        "levels": made("levels", listed(levels=["place", "συνοικία", "city"])),
        "groups": made("groups", listed(group="συνοικία"), mechanism=quick),
        "leaning": made("leaning", listed(attributes=["συνοικία"])),
        "selected": made(
            "selected", le.SelectLocations(0.5, delta=1e-4, max_locations=5), ledger=people, mechanism=quick
        ),
        "excluded": made("excluded", listed(), exclude=le.PublicLocations(["1"]), mechanism=quick),
        "zones": made("zones", zones, somewhere, quick),
        "grid": made("grid", le.Grid.over(zones, cell=2000), somewhere),
        "box": made("box", le.Grid(*BOX, cell=2000), somewhere, mechanism=quick),
        "h3": made("h3", le.H3Cells(resolution=6, within=zones), somewhere, mechanism=quick),
        "inspire": made(
            "inspire", le.InspireSquares("1km", within=(49.9, 9.9, 50.0, 10.0)), somewhere, mechanism=quick
        ),
        "windows": made("windows", listed(), window=quarter, windows="month"),
        "by-month": made("by-month", listed(), window=quarter, windows="month", ledger=monthly),
        "mapped": made("mapped", listed(), outline=folder / "districts.geojson", mechanism=quick),
    }
    found["series"] = series(folder, listed(attributes=["συνοικία"]), visits)
    return found


def series(folder: Path, places: le.PublicLocations, visits: le.Visits) -> Release:
    """The third release of a series, with some changes to be shown."""
    le.Ledger.create(
        folder / "series.ledger",
        "πληθυσμός",
        1,
        unit="person-month",
        person_epsilon=4,
        zone="as-written",
        another=True,
    )
    before: Path | None = None
    for month in ("2026-01", "2026-02", "2026-03"):
        le.publish(
            visits,
            le.Shares(0.5, max_users=1000),
            places,
            ledger=folder / "series.ledger",
            window=le.Window(month, zone="as-written"),
            about=ABOUT,
            after=before,
            out=folder / month,
        )
        before = folder / month
    last = Release.load(folder / "2026-03")
    changes = ["rose", "fell", "closed", *["none"] * (len(last) - 3)]
    at = last.table.column_names.index("change")
    shown = replace(last, table=last.table.set_column(at, "change", pa.array(changes)))
    return shown.with_earlier(find_earlier(last.statement, folder / "2026-03").releases)
