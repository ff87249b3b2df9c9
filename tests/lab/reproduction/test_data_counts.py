"""One pass over the data, in chunks, gives every count that the experiments ask for."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError, SourceError
from locentropy.core.locations import Locations
from locentropy.core.shares import ShareRule
from locentropy.mechanisms.shares.measurements import UNIT, ShareQueries
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS
from locentropy.visits.queries import open_queries
from locentropy_lab.reproduction.data_counts import Chunk, DataCounts, count
from locentropy_lab.reproduction.paper_data import counted, identity, new_york
from locentropy_lab.reproduction.settings import FAST, FULL
from locentropy_lab.reproduction.share_counts import ShareCounts
from locentropy_lab.zipf import ZipfVisits
from tests.examples import examples
from tests.mechanisms.shares.recording import Recorder

IDS = np.arange(1, 41)
SMALL = replace(FAST, locations=len(IDS), m_grid=(1, 2, 5), c_grid=(1, 2, 5, 7), epsilons=(1.0, 5.0))


def visits_of(users: int, seed: int = 0) -> pa.Table:
    return ZipfVisits(users, len(IDS), max_places=12, max_visits=30, seed=seed).table()


def chunk(table: pa.Table) -> Chunk:
    return Chunk(le.Visits(table), 0)


def test_the_grid_of_bounds_is_what_the_engine_says() -> None:
    table = visits_of(300)
    data = count("some", [chunk(table)], IDS, SMALL, "most-visited")
    with open_queries(le.Visits(table), locations=pa.array(IDS)) as queries:
        grid = [
            Bounds(m, c, keep)
            for keep in ("lowest-id", "most-visited")
            for m in SMALL.m_grid
            for c in SMALL.c_grid
        ]
        for bounds, profile in zip(grid, queries.profiles(grid), strict=True):
            assert data.profile(bounds).equals(profile), bounds
            assert data.profile(bounds).bounds == bounds
        exact = queries.exact_profile()
        assert data.locations_per_user().tolist() == queries.locations_per_user().tolist()
        for ours, theirs in zip(
            data.largest_visits_per_user(), queries.largest_visits_per_user(), strict=True
        ):
            assert ours.tolist() == theirs.tolist()
    assert data.entropy.tolist() == exact.entropy.tolist()
    assert data.user_counts.tolist() == exact.user_counts.tolist()
    assert data.users == 300


@settings(max_examples=examples(5))
@given(st.lists(st.integers(1, 299), max_size=3, unique=True), st.integers(0, 100))
def test_chunks_of_users_add_up(cuts: list[int], seed: int) -> None:
    table = visits_of(300, seed)
    edges = [0, *sorted(cuts), 300]
    parts = [
        table.filter(pc.and_(pc.greater(table["user"], low), pc.less_equal(table["user"], high)))
        for low, high in pairwise(edges)
    ]
    whole = count("some", [chunk(table)], IDS, SMALL, "most-visited")
    added = count("some", map(chunk, parts), IDS, SMALL, "most-visited")
    for key, array in whole.arrays().items():
        assert np.array_equal(array, added.arrays()[key]), key


def test_what_was_counted_survives_a_file() -> None:
    data = count("some", [chunk(visits_of(200))], IDS, SMALL, "most-visited")
    again = DataCounts.from_arrays(data.arrays())
    assert again.arrays().keys() == data.arrays().keys()
    for key, array in data.arrays().items():
        assert np.array_equal(array, again.arrays()[key]), key
    assert again.keep("paper") == "lowest-id"
    assert again.keep("release") == "most-visited"


def test_what_was_not_counted_is_refused() -> None:
    data = count("some", [chunk(visits_of(50))], IDS, SMALL, "most-visited")
    for bounds in (Bounds(5, 8, "lowest-id"), Bounds(3, 5, "lowest-id"), Bounds(5, 5, "first")):
        with pytest.raises(ParameterError, match="beyond what was counted"):
            data.profile(bounds)
    with pytest.raises(ParameterError, match="not counted"):
        data.look(ShareRule(UNIT, 17, LOOK_WEIGHTS))
    with pytest.raises(ParameterError, match="not counted"):
        data.look(ShareRule(UNIT, UNIT, LOOK_WEIGHTS, "l2"))
    with pytest.raises(ParameterError, match="not counted"):
        data.presence(ShareRule(UNIT, UNIT), np.zeros(len(IDS), dtype=np.int64), (18,), ())
    with pytest.raises(ParameterError):
        data.exact_profile()


def test_shares_measures_the_same_of_counts_as_of_data() -> None:
    """Every stage, whatever came out before; also where users came in chunks."""
    table = visits_of(300)
    halves = [table.filter(pc.less_equal(table["user"], 100)), table.filter(pc.greater(table["user"], 100))]
    data = count("some", map(chunk, halves), IDS, SMALL, "most-visited")
    with open_queries(le.Visits(table), locations=pa.array(IDS)) as queries:
        for epsilon in SMALL.epsilons:
            for seed in range(4):
                here, there = (Recorder(seed), Recorder(seed))
                le.Shares(epsilon).measure(data, Locations(pa.array(IDS)), here)
                le.Shares(epsilon).measure(queries, Locations(pa.array(IDS)), there)
                assert here.drawn == there.drawn
                assert len(here.drawn) == 4


def test_shares_of_different_questions_do_not_add_up() -> None:
    with open_queries(le.Visits(visits_of(50)), locations=pa.array(IDS)) as queries:
        one, other = (ShareCounts.of(queries, ShareQueries(epsilon)) for epsilon in (1.0, 5.0))
    assert (one + one).look.tolist() == (2 * one.look).tolist()
    with pytest.raises(ParameterError, match="do not add up"):
        one + other


def test_sparse_and_dense_are_the_generator_s() -> None:
    small = replace(FAST, sparse_users=500, dense_users=1500, locations=200, m_grid=(5,), c_grid=(5,))
    said: list[float | None] = []
    data = counted("dense", small, None, lambda _, part: said.append(part))
    table = ZipfVisits(1500, 200).table()
    with open_queries(le.Visits(table), locations=pa.array(np.arange(1, 201))) as queries:
        assert data.entropy.tolist() == queries.exact_profile().entropy.tolist()
    per_user = table.group_by("user").aggregate([("visits", "sum")])["visits_sum"]
    assert data.most_visits_of_a_user == pc.max(per_user).as_py()
    assert said == [0.0, 1.0]
    assert data.users == 1500
    assert counted("sparse", small, None, lambda *_: None).users == 500


def test_other_data_has_another_identity() -> None:
    assert identity("dense", FAST, None) != identity("dense", FULL, None)
    assert identity("sparse", FAST, None) == identity("sparse", replace(FAST, label="x", seeds=3), None)


def test_new_york_is_cut_out_of_snap_s_file(tmp_path: Path) -> None:
    lines = [
        "7\t2010-10-19T23:55:27Z\t40.75\t-73.99\t22847",
        "7\t2010-10-18T22:17:43Z\t30.26\t-97.74\t420315",  # Austin
        "8\t2010-10-17T23:42:03Z\t40.6991117951\t-74.0270912647\t316637",  # the corner belongs to it
    ]
    path = tmp_path / "loc-gowalla_totalCheckins.txt.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    assert new_york(path)["location"].to_pylist() == [22847, 316637]


def test_what_is_no_gowalla_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("user,location\n1,2\n")
    with pytest.raises(SourceError, match="time, lat, lon"):
        new_york(tmp_path / "bare.csv")
    head = "user,time,lat,lon,location\n"
    (tmp_path / "away.csv").write_text(head + "1,2010-01-01T00:00:00Z,10.5,10.5,3\n")
    with pytest.raises(SourceError, match="New York"):
        new_york(tmp_path / "away.csv")
    (tmp_path / "words.csv").write_text(head + "1,2010-01-01T00:00:00Z,40.75,-73.99,bar\n")
    with pytest.raises(SourceError, match="whole numbers"):
        new_york(tmp_path / "words.csv")


def test_gowalla_new_york(gowalla: Path) -> None:
    small = replace(FAST, m_grid=(5,), c_grid=(5,))
    data = counted("gowalla", small, gowalla, lambda *_: None)
    assert (data.users, len(data), int(data.visit_counts.sum())) == (5_800, 14_058, 101_438)
    assert data.release_keep == "first"
