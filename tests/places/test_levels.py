"""Levels of a public list: what their names mean, and that a level counts what groups count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError
from locentropy.core.levels import check_levels, file_stem
from locentropy.core.locations import Locations
from locentropy.places.levels import Level
from locentropy.publishing.chosen_locations import ChosenLocations
from locentropy.visits import expressions
from tests.examples import examples
from tests.places.test_groups import PLACES, in_groups
from tests.visits.reference import Row
from tests.visits.test_profile import as_table, bounds, tables

NO_CITY = PLACES.drop_columns(["city"])


def levels(*names: str, table: Any = PLACES, **options: Any) -> tuple[Level, ...]:
    return le.PublicLocations(table, levels=names, **options).load_levels()


def ids(found: tuple[Level, ...]) -> list[Any]:
    return [level.locations.ids.to_pylist() for level in found]


def test_names_of_levels_say_what_they_are() -> None:
    found = levels("place", "district", "all")
    assert [(level.name, level.scope) for level in found] == [
        ("place", "place"),
        ("district", "column"),
        ("all", "list"),
    ]
    assert ids(found) == [["a", "b", "c", "d", "e"], ["North", "South"], ["all"]]
    places, districts, whole = (level.locations for level in found)
    assert places.members is None
    assert "district" in places.columns, "places say which district they are in"
    assert districts.members is not None
    assert districts.members.ungrouped == 1
    assert "district" not in districts.columns
    assert whole.members is not None
    assert whole.members.ids.to_pylist() == ["a", "b", "c", "d", "e"], "also the place that is in no district"
    assert le.PublicLocations(PLACES).load_levels() == ()


def test_a_city_is_a_column_or_else_the_whole_list() -> None:
    [_, column] = levels("place", "city")
    assert (column.scope, column.locations.ids.to_pylist()) == ("column", ["X"])
    [_, whole] = levels("place", "city", table=NO_CITY)
    assert (whole.scope, whole.locations.ids.to_pylist()) == ("list", ["city"])
    assert ids(levels("place", "all", table=["a", "b"])) == [["a", "b"], ["all"]], (
        "a plain list of ids has a whole"
    )


def test_words_that_could_mean_two_things_are_refused() -> None:
    for word in ("place", "all"):
        table = PLACES.append_column(word, pa.array(list("vwxyz")))
        with pytest.raises(
            ColumnError, match=f"it has a column '{word}', and as a level that word.*Rename the column"
        ):
            levels(word, "district", table=table, location="venue")
    with pytest.raises(ColumnError, match="names the whole list twice"):
        levels("place", "city", "all", table=NO_CITY)
    ids_called_city = NO_CITY.rename_columns(["city", *NO_CITY.column_names[1:]])
    with pytest.raises(ColumnError, match="the level 'city' is its column of ids, names or coordinates"):
        levels("place", "city", table=ids_called_city, location="city")
    assert levels("place", "district", table=NO_CITY.rename_columns(["place", *NO_CITY.column_names[1:]]))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["place", "ward"], "the level 'ward' is not a column of the list"),
        (["place", "lit"], "must be texts or whole numbers"),
        (["place"], "must be 2 to 5 levels"),
        (["place", " "], "has a level without a name"),
        (["place", "a", "b", "c", "d", "all"], "must be 2 to 5 levels"),
        (["district", "District"], "names a level twice"),
        (["place", "entropy"], "every release has a column of that name"),
        (["place", "=x"], "begins like a formula"),
        (["place", "a,b"], "no , or ="),
        (["place", 3], "must be names of levels"),
        ("place", "must be names of levels"),
    ],
)
def test_wrong_levels(names: Any, message: str) -> None:
    table = PLACES.append_column("lit", pa.array([True] * 5))
    with pytest.raises(LocentropyError, match=message):
        le.PublicLocations(table, levels=names).load_levels()


def test_levels_beside_other_parameters() -> None:
    with pytest.raises(ParameterError, match="names one level, and levels several"):
        le.PublicLocations(PLACES, group="district", levels=["place", "district"])
    [places, cities] = levels("place", "city", publish_columns=["city", "side", "kind"])
    assert list(places.locations.columns) == ["city", "side", "kind"]
    assert list(cities.locations.columns) == [], "where all places of the city agree"
    with pytest.raises(ParameterError, match="a plain list of ids has none"):
        le.PublicLocations(["a", "b"], levels=["place", "district"]).load()
    with pytest.raises(ParameterError, match="so it has no levels"):
        ChosenLocations(le.PublicLocations(PLACES), le.PublicLocations(PLACES, levels=["place", "city"]))
    [places, districts] = levels("place", "district", attributes=["kind", "coordinates"])
    assert list(places.locations.attributes) == ["kind"]
    assert districts.locations.attribute_names == (), "estimates lean on attributes at the level of places"


def test_excluded_places_are_excluded_at_every_level() -> None:
    listed = le.PublicLocations(PLACES, levels=["place", "district", "all"])
    found = ChosenLocations(listed, le.PublicLocations(["a", "b", "e"])).levels
    assert ids(found) == [["c", "d"], ["South"], ["all"]]
    assert found[-1].locations.place_ids.to_pylist() == ["c", "d"]
    assert ChosenLocations(listed).ungrouped == {"district": 1}


def test_files_are_called_as_levels_if_they_can_be() -> None:
    assert file_stem("district", 2) == "district"
    for name in (
        "release",
        "Details",
        "measurements",
        "opening year",
        "../x",
        "a.b",
        "Straße",
        "-x",
        "x" * 61,
    ):
        assert file_stem(name, 3) == "level-3"
    assert check_levels({"place": 0.7, "all": "0.3"}).written == "place=0.7,all=0.3"
    assert not check_levels([])


# --- counting -----------------------------------------------------------------------------------------------------


def answers(queries: Any, limit: Any) -> list[Any]:
    found = queries.profile(limit), queries.exact_profile(), queries.locations_per_user().tolist()[1:]
    rule = le.Shares(1.0).share_queries.look_rule
    bands = np.arange(len(queries.locations)) % 2
    cells = queries.presence(rule, bands, (2, 3), (2, 4)).tolist()
    return [found[0].to_arrow(), found[1].to_arrow(), found[2], queries.look(rule).tolist(), cells]


@given(tables(counted=True), bounds, st.integers(1, 4))
@settings(max_examples=examples(8, nightly=1000))
def test_a_level_counts_what_visits_read_by_group_count(rows: list[Row], limit: Any, count: int) -> None:
    """Brute force: grouping the pairs of one reading gives every answer that another reading by group gives."""
    listed, _ = in_groups(rows, count)
    places = Locations(listed.place_ids)
    visits = le.Visits(as_table(rows, counted=True))
    with le.private.open_queries(visits, locations=listed, refuse_empty=False) as queries:
        expected = answers(queries, limit)
    with le.private.open_queries(visits, locations=places, refuse_empty=False) as queries:
        first = queries.look(le.Shares(1.0).share_queries.look_rule).tolist()
        assert answers(queries.restricted_to(listed), limit) == expected
        again = queries.look(le.Shares(1.0).share_queries.look_rule).tolist()
        assert again == first, "the places are counted as before"


def test_the_check_sees_pairs_that_are_not_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: who was at three places of a district would be three of its visitors."""
    monkeypatch.setattr(
        expressions,
        "pairs_by_group",
        lambda pairs, members: pairs.inner_join(members, "code").drop("code").rename(code="group"),
    )
    rows = [Row("u", f"place-{at}", 0, 1) for at in range(9)]
    listed, _ = in_groups(rows, 2)
    with le.private.open_queries(le.Visits(as_table(rows)), locations=Locations(listed.place_ids)) as queries:
        grouped = queries.restricted_to(listed)
        assert grouped.locations_per_user().tolist()[1:] != [0] * (len(listed) - 1) + [1]


def test_queries_group_only_what_they_count() -> None:
    listed, _ = in_groups([Row("u", "a", 0, 1)], 1)
    visits = le.Visits(pa.table({"user": ["u"], "location": ["z"]}))
    with (
        le.private.open_queries(visits, locations=Locations.of(["z"])) as queries,
        pytest.raises(ParameterError, match="only to locations that they already count"),
    ):
        queries.restricted_to(listed)


def test_every_level_has_files_of_its_own() -> None:
    """Of a level whose name files cannot have they are numbered, and no level is called like that by itself."""
    for names in (
        ("place", "é", "level-2"),
        ("place", "level-3", "é"),
        ("place", "é", "LEVEL-2"),
        ("place", "a", "level-9"),
    ):
        stems = [file_stem(name, number) for number, name in enumerate(names, 1)]
        assert len({stem.casefold() for stem in stems[1:]}) == len(names) - 1


LISTED = pa.table(
    {
        "location": ["shop", "clinic", "bar", "pier"],
        "district": ["x", "x", "y", None],
        "opened": [1990, 2001, 1990, 1990],
        "lat": [43.0, 43.02, 43.5, 43.6],
        "lon": [10.0, 10.04, 10.5, 10.6],
    }
)


def test_an_excluded_place_is_in_nothing_that_is_said_of_its_group() -> None:
    excluded, named = le.PublicLocations(["clinic"]), {"publish_columns": ["opened"]}
    for listed in (
        ChosenLocations(le.PublicLocations(LISTED, group="district", **named), excluded).listed,
        ChosenLocations(le.PublicLocations(LISTED, levels=["place", "district"], **named), excluded)
        .levels[1]
        .locations,
    ):
        assert listed is not None
        assert listed.lat is not None
        assert listed.lon is not None
        assert listed.ids.to_pylist() == ["x", "y"]
        assert (listed.lat[0], listed.lon[0]) == (43.0, 10.0), "where its other place is"
        assert listed.columns["opened"].to_pylist() == [1990, 1990], "what its other places have in common"


def test_a_level_without_places_is_refused() -> None:
    excluded = le.PublicLocations(["shop", "clinic", "bar"])
    chosen = ChosenLocations(le.PublicLocations(LISTED, levels=["place", "district"]), excluded)
    with pytest.raises(BadRowsError, match="'district' is empty at every place that may be published"):
        _ = chosen.levels


def test_the_list_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All levels, and the places, are about the same rows, whatever happens to the file."""
    reads = []
    read = le.PublicLocations.read
    monkeypatch.setattr(
        le.PublicLocations, "read", lambda self, **options: (reads.append(self), read(self, **options))[1]
    )
    chosen = ChosenLocations(le.PublicLocations(LISTED, levels=["place", "district"]))
    assert chosen.listed is not None
    assert len(chosen.levels) == 2
    chosen.warn_of_exclusions()
    assert len(reads) == 1
