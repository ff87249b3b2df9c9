"""Groups of places: a visit to any of them is one to the group, on every path from the list to the guarantee."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError
from locentropy.core.locations import Locations, Members
from locentropy.core.visit_profile import VisitProfile
from locentropy.publishing.chosen_locations import ChosenLocations
from locentropy.visits import counting, one_pass
from locentropy.visits.engines.base import Engine
from locentropy.visits.runs import CountedPairs
from tests.examples import examples
from tests.mechanisms.recording import Recorder
from tests.mechanisms.shares.recording import Recorder as SharesRecorder
from tests.mechanisms.shares.recording import allowed, loss
from tests.visits.reference import Row
from tests.visits.test_profile import as_table, bounds, number, tables

PLACES = pa.table(
    {
        "venue": ["a", "b", "c", "d", "e"],
        "lat": [10.0, 20.0, 0.0, 0.0, 50.0],
        "lon": [5.0, 5.0, 179.0, -179.0, 50.0],
        "district": ["North", "North", "South", "South", None],
        "city": ["X", "X", "X", "X", "X"],
        "side": ["left", "left", "right", "right", "right"],
        "kind": ["bar", "cafe", "bar", "bar", "bar"],
        "number": [7, 7, 8, 8, 9],
    }
)


def groups(**options: Any) -> Locations:
    return le.PublicLocations(PLACES, **({"group": "district"} | options)).load()


def test_groups_are_what_is_published() -> None:
    found = groups(publish_columns=["number", "city", "side", "district"])
    assert found.ids.to_pylist() == ["North", "South"]
    assert found.members is not None
    assert found.members.ids.to_pylist() == ["a", "b", "c", "d"]
    assert found.members.group.tolist() == [0, 0, 1, 1]
    assert found.members.ungrouped == 1
    assert found.names is None
    assert {name: values.to_pylist() for name, values in found.columns.items()} == {
        "city": ["X", "X"],
        "side": ["left", "right"],
        "number": [7, 8],
    }
    assert not groups(publish_columns=["kind"]).columns, "in which the places of a group differ"
    assert not groups().columns


def test_a_group_is_drawn_in_the_middle_of_its_places() -> None:
    """Also across the date line."""
    found = groups()
    assert found.lat is not None
    assert found.lon is not None
    assert found.lat.tolist() == pytest.approx([15.0, 0.0], abs=0.1)
    assert found.lon.tolist() == pytest.approx([5.0, 180.0], abs=1e-5)
    table = PLACES.set_column(1, "lat", pa.array([None, None, 1.0, None, 1.0]))
    lat = le.PublicLocations(table, group="district").load().lat
    assert lat is not None
    assert str(lat.tolist()) == "[nan, 1.0]"


def test_groups_may_be_whole_numbers(tmp_path: Path) -> None:
    assert groups(group="number").ids.equals(pa.array([7, 8, 9]))
    (tmp_path / "p.csv").write_text("venue,ward\na,2\nb,1\nc,2\nd,\n")
    found = le.PublicLocations(tmp_path / "p.csv", group="ward").load()
    assert found.ids.equals(pa.array([2, 1]))
    (tmp_path / "p.csv").write_text("venue,ward\na,02\nb,1\n")
    assert le.PublicLocations(tmp_path / "p.csv", group="ward").load().ids.to_pylist() == ["02", "1"]


def test_attributes_of_groups_must_agree() -> None:
    found = groups(group="number", attributes=["side"])
    assert found.attributes["side"].to_pylist() == ["left", "right", "right"]
    with pytest.raises(ColumnError, match="'kind' differs within a group of places with the same 'district'"):
        groups(attributes=["kind"])
    with pytest.raises(ColumnError, match="a group has no coordinates of its own"):
        groups(attributes=["coordinates"])
    with pytest.raises(LocentropyError, match="the same value at every place"):
        groups(attributes=["city"])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1.5, 2.5], "must be texts or whole numbers"),
        ([True, False], "must be texts or whole numbers"),
        ([" x", "y"], "begin or end with blanks"),
        (["x" * 201, "y"], "more than 200 characters"),
        ([None, ""], "no place is in a group"),
    ],
)
def test_columns_that_cannot_be_groups(column: list[Any], message: str) -> None:
    table = pa.table({"venue": ["a", "b"], "group": column})
    with pytest.raises(LocentropyError, match=message):
        le.PublicLocations(table, group="group").load()


def test_wrong_calls() -> None:
    with pytest.raises(ColumnError, match=r"group='ward' \(--group-by ward\) is not a column of the list"):
        groups(group="ward")
    with pytest.raises(ColumnError, match="which is the location column"):
        groups(group="venue")
    with pytest.raises(ParameterError, match="must be the name of a column"):
        groups(group="")
    with pytest.raises(ParameterError, match="a plain list of ids has none"):
        le.PublicLocations(["a"], group="district").load()
    with pytest.raises(ParameterError, match="so it has no groups"):
        ChosenLocations(le.PublicLocations(PLACES), le.PublicLocations(PLACES, group="district"))
    with pytest.raises(ParameterError, match="Every group must have a member"):
        Locations(pa.array(["x", "y"]), members=Members(pa.array(["a"]), pa.array([0]).to_numpy()))


def test_excluded_places_leave_their_groups() -> None:
    """Exclusions name places; a group without places left is not published."""

    def less(*ids: str) -> Locations:
        listed = ChosenLocations(
            le.PublicLocations(PLACES, group="district", publish_columns=["side"]),
            le.PublicLocations(list(ids)),
        ).listed
        assert listed is not None
        return listed

    some = less("a")
    assert some.ids.to_pylist() == ["North", "South"]
    assert some.place_ids.to_pylist() == ["b", "c", "d"]
    one = less("c", "d")
    assert one.ids.to_pylist() == ["North"]
    assert one.columns["side"].to_pylist() == ["left"]
    with pytest.raises(ParameterError, match="Name places, not groups"):
        less("North")
    with pytest.raises(BadRowsError, match="so no place is in a group"):
        less("a", "b", "c", "d")
    with pytest.raises(ParameterError, match="All places of the list are excluded"):
        less("a", "b", "c", "d", "e")


# --- counting -----------------------------------------------------------------------------------------------------


def test_a_person_at_three_places_of_a_group_was_at_one_location() -> None:
    rows = [("u1", "a"), ("u1", "b"), ("u1", "c"), ("u2", "b"), ("u2", "b"), ("u2", "e"), ("u3", "z")]
    visits = le.Visits(pa.table({"user": [u for u, _ in rows], "venue": [v for _, v in rows]}))
    with le.private.open_queries(visits, locations=groups()) as queries:
        assert queries.locations_per_user().tolist() == [0, 1, 1]
        found = queries.exact_profile()
    assert found.to_arrow().equals(
        VisitProfile.from_rows(
            groups().ids, np.array([0, 1]), np.array([2, 1]), np.array([2, 1]), None
        ).to_arrow()
    ), "two people with two visits each in the north, one with one in the south"
    assert found.entropy.tolist() == pytest.approx([np.log(2), 0])


def in_groups(rows: list[Row], count: int) -> tuple[Locations, list[Row]]:
    """Groups of the places of some rows, one in three in none; and the rows with the group as their location."""
    places = sorted({row.location for row in rows}, key=str)
    of_place = {place: f"group {number(place) % count}" for place in places if number(place) % 3}
    names = sorted(set(of_place.values())) or ["nowhere"]
    members = pa.array(list(of_place) or [rows[0].location])
    at = [names.index(group) for group in of_place.values()] or [0]
    listed = Locations(pa.array(names), members=Members(members, pa.array(at).to_numpy()))
    if not of_place:
        of_place = {rows[0].location: "nowhere"}
    relabelled = [row._replace(location=of_place[row.location]) for row in rows if row.location in of_place]
    return listed, relabelled


@given(tables(counted=True), bounds, st.integers(1, 4))
@settings(max_examples=examples(8, nightly=1000))
def test_groups_count_as_if_visits_named_them(rows: list[Row], limit: le.private.Bounds, count: int) -> None:
    """Brute force: each row is given its group by hand, and every answer is the same."""
    listed, relabelled = in_groups(rows, count)
    with le.private.open_queries(
        le.Visits(as_table(rows, counted=True)), locations=listed, refuse_empty=False
    ) as queries:
        found = queries.profile(limit), queries.exact_profile(), queries.locations_per_user().tolist()
    with le.private.open_queries(
        le.Visits(as_table(relabelled or [Row("u", "elsewhere", 0, 1)], counted=True)),
        locations=listed.ids,
        refuse_empty=False,
    ) as queries:
        expected = queries.profile(limit), queries.exact_profile(), queries.locations_per_user().tolist()
    assert found[0].to_arrow().equals(expected[0].to_arrow())
    assert found[1].to_arrow().equals(expected[1].to_arrow())
    assert found[2][1:] == expected[2][1:]


# --- the guarantee ------------------------------------------------------------------------------------------------

CROWDED = [f"place-{at}" for at in range(40)]
IN_THREE = Locations(
    pa.array(["x", "y", "z"]), members=Members(pa.array(CROWDED), (pa.array(range(40)).to_numpy() % 3))
)
MECHANISMS = (
    le.paper.Limit(1.0, max_locations=2, max_visits=3),
    le.Moments(1.0, max_locations=2, max_visits=3),
)


def crowd(seed: int) -> list[tuple[int, str]]:
    """Ten people; some are at most places of a group, and one is everywhere, three times."""
    draw = random.Random(seed)
    rows = [(user, draw.choice(CROWDED)) for user in range(10) for _ in range(draw.choice([1, 3, 20, 60]))]
    return rows + [(10, place) for place in CROWDED for _ in range(3)]


def costs(rows: list[tuple[int, str]], user: int) -> list[Fraction]:
    """What leaving out one user costs each mechanism, as a part of what its guarantee allows, through the engine."""
    drawn: list[list[Any]] = []
    for kept in (rows, [row for row in rows if row[0] != user]):
        table = pa.table({"user": [u for u, _ in kept], "location": [at for _, at in kept]})
        with le.private.open_queries(le.Visits(table), locations=IN_THREE) as queries:
            noises: list[Any] = []
            for mechanism in MECHANISMS:
                noise = Recorder()
                mechanism.measure(queries, IN_THREE, noise)
                noises.append((noise.values.ravel().tolist(), noise.scales.ravel().tolist()))
            shares = SharesRecorder(1, all_clear=True)
            le.Shares(1.0).measure(queries, IN_THREE, shares)
            drawn.append([*noises, shares.drawn])
    here, there = drawn
    bounded = [
        sum((abs(v - w) / Fraction(b) for v, w, b in zip(mine, others, scales, strict=True)), Fraction(0))
        for (mine, scales), (others, _) in zip(here[:-1], there[:-1], strict=True)
    ]
    return [*bounded, loss(here[-1], there[-1]) / allowed(le.Shares(1.0))]


@pytest.mark.parametrize("user", [0, 5, 10])
def test_one_user_costs_no_more_than_promised(user: int) -> None:
    assert max(costs(crowd(1), user)) <= 1


def grouped_after_counting(_: Engine, there: ibis.Table, *__: object, **___: object) -> CountedPairs:
    """Planted: pairs are counted by place, and only then given the code of their group."""
    by_place = there.group_by(["user", "code", "location"]).aggregate(visits=there.count())
    return CountedPairs(by_place.drop("location"))


@pytest.mark.parametrize("passes", [1, 2])
def test_the_checks_see_grouping_after_counting(passes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was at three places of a group would be three visitors of it. Without the fault both pass: above."""
    monkeypatch.setattr(one_pass if passes == 1 else counting, "count_pairs", grouped_after_counting)
    if passes == 2:
        monkeypatch.setattr(
            counting, "count_in_one_pass", lambda *_, **__: None
        )  # as if anything were unusual
    with pytest.raises(AssertionError):
        test_a_person_at_three_places_of_a_group_was_at_one_location()
    rows = [Row("u", f"place-{at}", 0, 1) for at in range(9)]
    listed, relabelled = in_groups(rows, 2)
    assert len(relabelled) > len(listed)
    with le.private.open_queries(le.Visits(as_table(rows)), locations=listed) as queries:
        assert queries.locations_per_user().tolist()[1:] != [0] * (len(listed) - 1) + [1]
