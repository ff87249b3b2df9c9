"""A city that changes: what happens is what `changes()` says, and the city that does not change is untouched."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.datasets.test_city import check_days, check_nobody_is_in_two_places, check_places_and_hours
from tests.examples import examples

from locentropy.core.errors import ParameterError
from locentropy.datasets import City
from locentropy.datasets._changes import FESTIVAL_BEGINS, FESTIVAL_DAYS, VENUES
from locentropy.datasets._crowd import Habits
from locentropy.datasets._places import KINDS
from locentropy.datasets.city import CHANGES_FILE, FEWEST_PLACES, FILES, VISITS_SCHEMA

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def city() -> City:
    return City(people=1500, places=300, days=365, start=date(2025, 1, 1), seed=1, changing=True)


@pytest.fixture(scope="module")
def visits(city: City) -> pd.DataFrame:
    return city.visits().to_pandas()


@pytest.fixture(scope="module")
def changes(city: City) -> pd.DataFrame:
    return city.changes().to_pandas()


def visitors_by_month(visits: pd.DataFrame) -> pd.DataFrame:
    return visits.groupby(["location", visits["time"].dt.month])["user"].nunique().unstack(fill_value=0)


@settings(max_examples=examples(15), deadline=None)
@given(
    people=st.integers(1, 30),
    places=st.integers(FEWEST_PLACES, 100),
    days=st.integers(1, 70),
    start=st.dates(date(2024, 1, 1), date(2026, 12, 31)),
    seed=st.integers(0, 2**63 - 1),
    habits=st.sampled_from(get_args(Habits)),
)
def test_what_always_holds(
    people: int, places: int, days: int, start: date, seed: int, habits: Habits
) -> None:
    city = City(people, places, days, seed, start, habits, changing=True)
    table, changes = city.visits(), city.changes().to_pandas()
    assert table.schema == VISITS_SCHEMA
    assert table.equals(City(people, places, days, seed, start, habits, changing=True).visits())
    visits = table.to_pandas()
    assert visits["time"].is_monotonic_increasing
    check_places_and_hours(visits, city.places().to_pandas().set_index("location"))
    check_days(visits, city)
    check_nobody_is_in_two_places(visits)
    assert changes["location"].isin(city.places()["location"].to_pylist()).all()
    end = start + timedelta(days=days - 1)
    assert changes["first_day"].between(start, end).all()
    assert changes["last_day"].dropna().between(start, end).all()


def test_a_city_that_changes_has_the_same_places_and_people(city: City) -> None:
    still = City(people=1500, places=300, days=3, start=date(2025, 1, 1), seed=1)
    assert city.places().equals(still.places())
    assert still.changes().num_rows == 0
    assert still.changes().schema == city.changes().schema


def test_venues_open_and_close_when_it_is_said(visits: pd.DataFrame, changes: pd.DataFrame) -> None:
    day = visits["time"].dt.date
    moved = changes[changes["what"] != "festival"]
    assert {"opens", "closes"} == set(moved["what"])
    assert moved["location"].is_unique
    for change in moved.itertuples():
        assert change.first_day.day == 1
        assert change.location.split("-")[0] in VENUES
        days = day[visits["location"] == change.location]
        assert (days >= change.first_day).all() if change.what == "opens" else (days < change.first_day).all()
        assert len(days)


def test_some_of_the_closing_venues_are_busy(visits: pd.DataFrame, changes: pd.DataFrame) -> None:
    by_month = visitors_by_month(visits)
    closing = changes[changes["what"] == "closes"]
    before = [by_month.loc[each.location, each.first_day.month - 1] for each in closing.itertuples()]
    assert max(before) >= 60


def test_those_who_find_it_shut_go_to_the_nearest_of_its_kind(visits: pd.DataFrame, city: City) -> None:
    """So closings do not empty a kind: in a year, nearly as many visits are made to cafes as in a still city."""
    still = City(people=1500, places=300, days=365, start=date(2025, 1, 1), seed=1).visits().to_pandas()
    kind, usual = (each["location"].str.split("-").str[0].value_counts() for each in (visits, still))
    assert 0.6 < kind["bakery"] / usual["bakery"] < 1.0


def test_there_is_a_festival_in_june(visits: pd.DataFrame, changes: pd.DataFrame) -> None:
    festival = changes[changes["what"] == "festival"]
    first = date(2025, *FESTIVAL_BEGINS)
    assert festival["first_day"].tolist() == [first]
    assert festival["last_day"].tolist() == [first + timedelta(days=FESTIVAL_DAYS - 1)]
    by_month = visitors_by_month(visits).loc[festival["location"].iloc[0]]
    assert by_month[6] > 1.5 * by_month.drop(6).max()


def test_parks_have_their_season_in_summer_and_museums_in_winter(visits: pd.DataFrame) -> None:
    kind, month = visits["location"].str.split("-").str[0], visits["time"].dt.month
    seen = visits.groupby([kind, month]).size().unstack()
    assert seen.loc["park", 7] > 1.5 * seen.loc["park", 1]
    assert seen.loc["museum", 1] > 1.2 * seen.loc["museum", 7]
    assert set(seen.index) == {each.name for each in KINDS}


def test_people_go_on_holiday_once_a_year(visits: pd.DataFrame) -> None:
    home = visits[visits["location"].str.startswith("home-")]
    per_day = home["time"].dt.day_of_year.value_counts().sort_index()
    assert per_day.loc[190:220].mean() < 0.9 * per_day.loc[30:90].mean()


def test_popularity_moves_from_month_to_month(visits: pd.DataFrame, changes: pd.DataFrame) -> None:
    counted = visits.groupby(["location", visits["time"].dt.month]).size().unstack(fill_value=0)
    steady = ~counted.index.isin(changes["location"]) & (counted.min(axis=1) >= 150)
    kind = counted[steady].index.str.split("-").str[0]
    steps = np.diff(np.log(counted[steady]), axis=1)
    assert steps[kind == "restaurant"].std() > 1.5 * steps[kind == "station"].std()


def test_what_changes_is_written(tmp_path: Path) -> None:
    city = City(people=20, places=60, days=70, changing=True)
    city.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, CHANGES_FILE}
    written = pyarrow.csv.read_csv(tmp_path / CHANGES_FILE)
    assert written["location"].to_pylist() == city.changes()["location"].to_pylist()


@pytest.mark.parametrize("changing", [1, "yes", None])
def test_changing_is_yes_or_no(changing: object) -> None:
    with pytest.raises(ParameterError, match=r"changing.*City\(people=3000, days=365, changing=True\)"):
        City(changing=changing)  # type: ignore[arg-type]
