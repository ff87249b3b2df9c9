"""The variations of the city: each is unlike the usual one, and unlike what a model of fair samples takes for granted.

The model: whoever visits a place is drawn from all (visitor, place) pairs of the city, as to how many places the
visitor has and how often the visitor comes. Dealing these numbers out again at random makes that true; so a city in
which dealing changes much is one in which it was not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from locentropy.datasets import City

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from locentropy.datasets._crowd import Habits

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

PEOPLE, PLACES = 6000, 1000
VARIATIONS: tuple[Habits, ...] = ("clustered", "homes", "regulars")


@dataclass(frozen=True)
class Pairs:
    """One entry for each person and each place they were at."""

    place: Ints
    visits: Ints
    reach: Ints
    """How many places the person has in all."""
    kinds: list[str]

    def per_place(self, values: npt.ArrayLike) -> Floats:
        return np.bincount(self.place, weights=values, minlength=len(self.kinds))

    @property
    def visitors(self) -> Floats:
        return self.per_place(np.ones(len(self.place)))

    def entropy(self, visits: Ints) -> Floats:
        total = np.maximum(self.per_place(visits), 1.0)
        return np.log(total) - self.per_place(visits * np.log(visits)) / total


@cache
def pairs_of(habits: Habits) -> Pairs:
    city = City(people=PEOPLE, places=PLACES, habits=habits)
    listed = city.places()
    number = {location: index for index, location in enumerate(listed["location"].to_pylist())}
    counted = city.visits().group_by(["user", "location"]).aggregate([("time", "count")])
    counted = counted.sort_by([("user", "ascending"), ("location", "ascending")])
    place = np.array([number[location] for location in counted["location"].to_pylist()])
    user = np.unique(counted["user"].to_pylist(), return_inverse=True)[1]
    return Pairs(place, counted["time_count"].to_numpy(), np.bincount(user)[user], listed["kind"].to_pylist())


def dealt(values: Ints, seed: int = 0) -> Ints:
    return np.random.default_rng(seed).permutation(values)


def alike(pairs: Pairs, reach: Ints) -> float:
    """The part of the variance of the logarithm of the reach that lies between places: 1 if visitors are all alike."""
    logs = np.log(reach)
    visitors = pairs.visitors
    means = pairs.per_place(logs) / np.maximum(visitors, 1.0)
    return float(visitors @ (means - logs.mean()) ** 2 / len(logs) / logs.var())


def off(pairs: Pairs, chosen: npt.NDArray[np.bool_]) -> float:
    """By how much, in nats, a place's entropy is off what its number of visitors lets one expect, beyond chance."""
    real, expected, again = (
        pairs.entropy(v) for v in (pairs.visits, dealt(pairs.visits), dealt(pairs.visits, 1))
    )
    by_model, by_chance = (np.mean((entropy - expected)[chosen] ** 2) for entropy in (real, again))
    return float(np.sqrt(max(by_model - by_chance, 0.0)))


def test_the_visitors_of_one_place_are_alike_where_people_are_clustered() -> None:
    clustered, usual = pairs_of("clustered"), pairs_of("usual")
    assert alike(clustered, clustered.reach) > 0.8
    # Neither by chance nor in the usual city.
    assert alike(clustered, dealt(clustered.reach)) < 0.05
    assert alike(usual, usual.reach) < 0.1
    means = clustered.per_place(clustered.reach) / np.maximum(clustered.visitors, 1.0)
    low, high = np.percentile(means[clustered.visitors >= 20], [10, 90])
    assert high > 4 * low


def test_communities_have_few_bridges() -> None:
    city = City(people=PEOPLE, places=PLACES, habits="clustered")
    crowd = city._townsfolk
    ties, strolls = crowd.ties.rate.sum(), crowd.strolls.sum()  # type: ignore[attr-defined]
    assert 0 < strolls < 0.01 * ties


def test_small_places_are_homes_ruled_by_one_person() -> None:
    pairs = pairs_of("homes")
    homes = np.array(pairs.kinds) == "home"
    assert homes.mean() > 0.6
    residents = pairs.per_place(pairs.visits >= 12)[homes]
    assert (residents == 1).mean() > 0.7
    guests = pairs.visits[homes[pairs.place] & (pairs.visits < 12)]
    assert (guests == 1).mean() > 0.9
    assert 2 <= len(guests) / homes.sum() <= 5
    most = np.zeros(PLACES)
    np.maximum.at(most, pairs.place, pairs.visits)
    small = (pairs.visitors >= 2) & (pairs.visitors <= 10)
    assert np.median((most / np.maximum(pairs.per_place(pairs.visits), 1.0))[small]) > 0.8
    # A model of fair samples takes these places for shared ones.
    assert (pairs.entropy(dealt(pairs.visits)) - pairs.entropy(pairs.visits))[small].mean() > 0.4


def test_regulars_rule_some_venues_and_are_missing_at_others() -> None:
    pairs = pairs_of("regulars")
    regular = pairs.visits >= 5
    busy = pairs.visitors >= 40
    share = (pairs.per_place(regular) / np.maximum(pairs.visitors, 1.0))[busy]
    paid = pairs.per_place(pairs.visits)[busy]
    paid_by_them = pairs.per_place(pairs.visits * regular)[busy] / paid
    none, only = share < 0.01, share > 0.8
    assert 0.1 < none.mean() < 0.4
    assert only.sum() >= 3
    some = ~none & ~only
    assert np.percentile(share[some], 5) < 0.06
    assert share[some].max() < 0.45
    # A few percent to a third of the visitors make most of the visits.
    assert np.median(paid_by_them[some]) > 0.7
    assert (paid_by_them[some] > 0.5).mean() > 0.8


@pytest.mark.parametrize("habits", ["homes", "regulars"])
def test_entropies_are_further_off_than_in_the_usual_city(habits: Habits) -> None:
    varied, usual = pairs_of(habits), pairs_of("usual")

    def affected(pairs: Pairs) -> npt.NDArray[np.bool_]:
        visitors = pairs.visitors
        return (visitors >= 2) & (visitors < 20) if habits == "homes" else visitors >= 20

    assert off(varied, affected(varied)) > 1.3 * off(usual, affected(usual))
    assert off(varied, affected(varied)) > 0.5


@pytest.mark.parametrize("habits", VARIATIONS)
def test_a_variation_is_a_city_like_any_other(habits: Habits) -> None:
    short = City(people=300, places=150, days=2, habits=habits)
    again = City(people=300, places=150, days=2, habits=habits)
    assert short.visits().equals(again.visits())
    assert short.places().equals(again.places())
    longer = City(people=300, places=150, days=4, habits=habits)
    assert longer.visits().slice(0, short.visits().num_rows).equals(short.visits())
    assert not short.visits().equals(City(people=300, places=150, days=2, seed=1, habits=habits).visits())
    assert short.places().equals(City(people=1, places=150, habits=habits).places())
    if habits != "homes":
        assert short.places().equals(City(places=150).places())


@pytest.mark.parametrize("habits", VARIATIONS)
def test_there_are_small_places_and_busy_ones(habits: Habits) -> None:
    visitors = pairs_of(habits).visitors
    assert (visitors >= 20).mean() > 0.1
    assert ((visitors >= 1) & (visitors < 20)).mean() > 0.2


def test_the_command_knows_habits(tmp_path: Path) -> None:
    made = locentropy("--habits", "regulars", "--out", str(tmp_path / "made"))
    assert made.returncode == 0, made.stderr
    City(people=50, days=2, habits="regulars").write(tmp_path / "expected")
    for name in ("visits.parquet", "places.csv"):
        assert (tmp_path / "made" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()
    refused = locentropy("--habits", "odd", "--out", str(tmp_path / "odd"))
    assert refused.returncode == 2
    assert "--habits odd is not one of usual, clustered, homes, regulars" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "odd").exists()


def locentropy(*options: str) -> subprocess.CompletedProcess[str]:
    start = "from locentropy.cli.main import run; run()"
    command = [sys.executable, "-c", start, "datasets", "city", "--people", "50", "--days", "2", *options]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
