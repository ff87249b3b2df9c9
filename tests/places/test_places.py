"""Places: public lists, grids, and lists selected privately."""

from __future__ import annotations

from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.release.outlines import rings_of
from tests.examples import examples
from tests.visits.reference import Row, as_counter, profile
from tests.visits.test_profile import as_table, bounds, tables

BOX = le.Grid(south=0.0, west=10.0, north=0.1, east=10.1, cell=1111.95)


class TestLists:
    FRAME = pd.DataFrame(
        {
            "venue_id": ["007", "b"],
            "name": ["Bond's", None],
            "lat": [1.5, None],
            "lng": [2, 3],
            "secret": [1, 2],
        }
    )

    def check(self, places: le.PublicLocations) -> None:
        found = places.load()
        assert found.ids.to_pylist() == ["007", "b"]
        assert found.names is not None
        assert found.names.to_pylist() == ["Bond's", None]
        np.testing.assert_array_equal(found.lat, [1.5, np.nan])
        np.testing.assert_array_equal(found.lon, [2, 3])

    def test_files_and_frames(self, tmp_path: Path) -> None:
        self.check(le.PublicLocations(self.FRAME))
        self.FRAME.to_csv(tmp_path / "places.csv", index=False)
        self.check(le.PublicLocations(tmp_path / "places.csv"))
        pq.write_table(pa.Table.from_pandas(self.FRAME), tmp_path / "places.parquet")
        self.check(le.PublicLocations(tmp_path / "places.parquet"))

    def test_a_file_of_one_column_is_a_list_of_ids(self, tmp_path: Path) -> None:
        (tmp_path / "excluded.csv").write_text("Venue Nr\na\nb\n")
        assert le.PublicLocations(tmp_path / "excluded.csv").load().ids.to_pylist() == ["a", "b"]

    def test_a_plain_list_of_ids(self) -> None:
        assert le.PublicLocations([3, 1]).load().ids.to_pylist() == [3, 1]

    def test_numbers_in_a_text_file_are_numbers(self, tmp_path: Path) -> None:
        (tmp_path / "places.csv").write_text("place\n10\n9\n")
        assert le.PublicLocations(tmp_path / "places.csv").load().ids.to_pylist() == [10, 9]

    @pytest.mark.parametrize(
        ("content", "kind", "word"),
        [
            ("place\n1\n1\n", BadRowsError, "more than once"),
            ("place,name\n,x\n2,y\n", BadRowsError, "no id"),
            ("place\n", LocentropyError, "no rows"),
            ("where,what\nx,y\n", ColumnError, "--places-location"),
            ("place,lat,lon\na,north,1\n", BadRowsError, "lat"),
            ("place,lat,lon\na,91,1\n", BadRowsError, "-90 to 90"),
            ("place\na\nb,c\n", LocentropyError, "places.csv"),
        ],
    )
    def test_lists_that_cannot_be_right(
        self, content: str, kind: type[Exception], word: str, tmp_path: Path
    ) -> None:
        (tmp_path / "places.csv").write_text(content)
        with pytest.raises(kind, match=word):
            le.PublicLocations(tmp_path / "places.csv").load()

    def test_excluded_places(self) -> None:
        every = le.PublicLocations(self.FRAME).load()
        left = every.without(le.mechanisms.Locations.of(["007", "elsewhere"]))
        assert left.ids.to_pylist() == ["b"]
        assert left.lon is not None
        assert left.lon.tolist() == [3]
        assert le.mechanisms.Locations.of([7, 8]).without(
            le.mechanisms.Locations.of(["7"])
        ).ids.to_pylist() == [8]


class TestGrids:
    def test_every_cell_is_there_with_the_middle_of_it(self) -> None:
        cells = BOX.locations()
        assert (BOX.rows, BOX.columns, len(cells)) == (10, 10, 100)
        assert cells.names is not None
        assert cells.names[11].as_py() == "row 1, column 1"
        assert cells.lat is not None
        assert cells.lat[11] == pytest.approx(0.015, abs=1e-5)

    def test_visits_fall_into_cells(self) -> None:
        table = pa.table(
            {
                "user": [1, 1, 2, 3, 4, 5],
                "latitude": [0.005, 0.005, 0.005, 0.055, -0.001, 1e300],
                "longitude": [10.005, 10.005, 10.015, 10.095, 10.0, 10.0],
            }
        )
        for source in (table, ibis.memtable(table)):
            found = le.private.exact_profile(le.Visits(source), locations=BOX)
            assert len(found) == 100, "depends on the grid alone"
            assert as_counter(found) == {(0, 2): 1, (1, 1): 1, (59, 1): 1}

    @given(
        st.lists(
            st.tuples(st.integers(0, 3), st.floats(-0.02, 0.12), st.floats(9.98, 10.12)),
            min_size=1,
            max_size=30,
        )
    )
    @settings(max_examples=examples(12))
    def test_cells_as_python_computes_them(self, rows: list[tuple[int, float, float]]) -> None:
        users, lats, lons = zip(*rows, strict=True)
        table = pa.table(
            {"user": users, "lat": pa.array(lats, pa.float64()), "lon": pa.array(lons, pa.float64())}
        )
        expected: list[Row] = []
        for user, lat, lon in rows:
            row, column = (
                np.floor((lat - BOX.south) / BOX.lat_step),
                np.floor((lon - BOX.west) / BOX.lon_step),
            )
            if 0 <= row < BOX.rows and 0 <= column < BOX.columns:
                expected.append(Row(user, int(row * BOX.columns + column)))
        held = le.private.Bounds(2, 2, "most-visited")
        assert as_counter(le.private.profile(le.Visits(table), held, locations=BOX)) == profile(
            expected, held
        )

    @pytest.mark.parametrize(
        "grid",
        [
            le.Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500),
            le.Grid(south=-1e-7, west=0, north=3, east=180, cell=100_000.5),
            le.Grid(south=89.9, west=179.9, north=90, east=180, cell=7_000),
        ],
    )
    def test_the_words_of_a_release_tell_the_grid(self, grid: le.Grid) -> None:
        for words in (grid.described, f"{grid.described}, less places that the owner excluded"):
            found = le.Grid.of_description(words)
            assert found is not None
            assert found == grid
        for outline in found.outlines(grid.numbers()).to_pylist():
            [[ring]] = rings_of(outline)
            assert len(ring) == 5, "beyond the pole and the date line there is nothing"

    @pytest.mark.parametrize(
        "words",
        [
            "",
            "public list",
            "H3 cells of resolution 7",
            "grid of 3 × 3 square cells of 0 m, south 1, west 1, north 2, east 2",
            "grid of 3 × 3 square cells of 1.1.1 m, south 1, west 1, north 2, east 2",
            "grid of 3 × 3 square cells of 500 m, south 3, west 1, north 2, east 2",
        ],
    )
    def test_words_that_are_not_those_of_a_grid(self, words: str) -> None:
        assert le.Grid.of_description(words) is None

    def test_coordinates_are_needed(self) -> None:
        with pytest.raises(ColumnError, match="no lat column"):
            le.private.exact_profile(le.Visits(pa.table({"user": [1], "location": [2]})), locations=BOX)
        table = pa.table({"user": [1, 2], "lat": [0.05, None], "lon": [10.05, 10.05]})
        with pytest.raises(BadRowsError, match="lat"):
            le.private.exact_profile(le.Visits(table), locations=BOX)
        assert le.private.exact_profile(le.Visits(table, bad_rows="drop"), locations=BOX).users.sum() == 1

    @pytest.mark.parametrize(
        "change",
        [{"south": 1.0}, {"west": 11.0}, {"north": 91}, {"cell": 0}, {"cell": 0.01}, {"cell": float("nan")}],
    )
    def test_grids_that_cannot_be_right(self, change: dict[str, float]) -> None:
        with pytest.raises(ParameterError, match="For example"):
            le.Grid(**({"south": 0.0, "west": 10.0, "north": 0.1, "east": 10.1, "cell": 100} | change))


class TestRestriction:
    @given(tables(), bounds, st.data())
    @settings(max_examples=examples(10, nightly=400))
    def test_restricting_later_is_restricting_from_the_start(
        self, rows: list[Row], held: le.private.Bounds, data: st.DataObject
    ) -> None:
        present = list(dict.fromkeys(row.location for row in rows))
        chosen = data.draw(st.lists(st.sampled_from(present), unique=True))
        with le.private.open_queries(le.Visits(as_table(rows))) as queries:
            if not chosen:
                assert (
                    len(
                        queries.restricted_to(le.mechanisms.Locations(queries.locations.slice(0, 0))).profile(
                            held
                        )
                    )
                    == 0
                )
                return
            found = queries.restricted_to(le.mechanisms.Locations.of(chosen)).profile(held)
            whole = queries.profile(held)
        assert found.locations.to_pylist() == chosen
        assert as_counter(found) == profile(rows, held, set(chosen))
        assert as_counter(whole) == profile(rows, held), "the first queries are as they were"

    def test_to_places_that_are_not_there(self) -> None:
        visits = le.Visits(as_table([Row(1, 2, 3)]))
        with (
            le.private.open_queries(visits) as queries,
            pytest.raises(ParameterError, match="restricted only to locations"),
        ):
            queries.restricted_to(le.mechanisms.Locations.of([7]))


class TestSelection:
    def test_how_often_a_place_is_named_follows_the_curve(self) -> None:
        """300 places of 1, 2, 3, … users; fixed seeds, so this cannot flake."""
        rule = le.SelectLocations(epsilon=2.0, delta=0.01, max_locations=1)
        sizes = np.arange(1, 11)
        rows = [
            Row(f"{size}-{copy}-{user}", f"{size}-{copy}")
            for size in sizes
            for copy in range(30)
            for user in range(size)
        ]
        named: dict[int, int] = dict.fromkeys(sizes.tolist(), 0)
        with le.private.open_queries(le.Visits(as_table(rows, timed=False))) as queries:
            for seed in range(40):
                for place in rule.select(queries, SimulatedNoise(seed)).ids.to_pylist():
                    named[int(place.partition("-")[0])] += 1
        chances = rule.curve.probability(sizes)
        for size, chance in zip(sizes.tolist(), chances.tolist(), strict=True):
            spread = 5 * np.sqrt(1200 * chance * (1 - chance)) + 1
            assert abs(named[size] - 1200 * chance) <= spread

    def test_bounded_to_max_locations(self) -> None:
        """One user everywhere can make at most `max_locations` places appear."""
        rows = [Row("me", place) for place in range(50)]
        rule = le.SelectLocations(epsilon=5.0, delta=0.9, max_locations=2)
        with le.private.open_queries(le.Visits(as_table(rows, timed=False))) as queries:
            assert all(len(rule.select(queries, SimulatedNoise(seed))) <= 2 for seed in range(20))

    def test_ids_are_texts_in_the_order_of_texts(self) -> None:
        rows = [Row(user, place) for place in (9, 10, 100) for user in range(200)]
        with le.private.open_queries(le.Visits(as_table(rows, timed=False))) as queries:
            rule = le.SelectLocations(epsilon=5.0, delta=1e-3, max_locations=3)
            found = rule.select(queries, SimulatedNoise(1))
            assert found.ids.to_pylist() == ["10", "100", "9"]
            held = queries.restricted_to(found).exact_profile()
        assert held.user_counts.tolist() == [200, 200, 200]

    def test_nothing_may_be_selected(self) -> None:
        with le.private.open_queries(le.Visits(as_table([Row(1, 2)], timed=False))) as queries:
            rule = le.SelectLocations(epsilon=0.1, delta=1e-9, max_locations=1)
            found = rule.select(queries, SimulatedNoise(0))
            assert len(found) == 0
            estimates = le.paper.Limit(1.0, max_locations=1, max_visits=1).estimate(
                le.paper.Limit(1.0, max_locations=1, max_visits=1).measure(
                    queries.restricted_to(found), found, SimulatedNoise(0)
                ),
                found,
            )
        assert len(estimates.entropy) == 0

    def test_parameters(self) -> None:
        with pytest.raises(ParameterError, match="delta"):
            le.SelectLocations(epsilon=1.0, delta=0.0, max_locations=1)
