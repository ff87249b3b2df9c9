"""Sparse and Dense: the paper's Table 2, the law of the draws, and files that are whole or not there."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from locentropy.core.errors import ParameterError
from locentropy.datasets.random_stream import stream
from locentropy_lab import zipf
from locentropy_lab.zipf import ZipfVisits

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

SMALL = ZipfVisits(users=200, locations=300, max_places=40, max_visits=50)


def columns(table: pa.Table) -> list[npt.NDArray[np.int64]]:
    return [table[name].to_numpy() for name in ("user", "location", "visits")]


def distinct_pairs(table: pa.Table) -> int:
    return table.group_by(["user", "location"]).aggregate([]).num_rows


@pytest.fixture(scope="module")
def sparse() -> pa.Table:
    return ZipfVisits.sparse().table()


def test_sparse_has_the_statistics_of_table_2(sparse: pa.Table) -> None:
    user, location, visits = columns(sparse)
    total = np.bincount(location, weights=visits, minlength=10_001)[1:]
    share = visits / total[location - 1]
    entropy = np.bincount(location, weights=-share * np.log(share), minlength=10_001)[1:]
    assert entropy.max() == pytest.approx(9.93, abs=0.05)
    assert entropy.mean() == pytest.approx(3.19, abs=0.05)
    assert entropy.var() == pytest.approx(1.01, abs=0.05)
    assert entropy.min() == pytest.approx(1.19, abs=0.2)
    assert len(user) / 100_000 == pytest.approx(19.28, rel=0.01)
    assert len(user) / 10_000 == pytest.approx(192.9, rel=0.01)
    assert visits.sum() / 100_000 == pytest.approx(2576, rel=0.01)


def test_sparse_is_well_formed(sparse: pa.Table) -> None:
    user, location, visits = columns(sparse)
    assert sparse.schema == zipf.SCHEMA
    assert distinct_pairs(sparse) == sparse.num_rows
    assert (np.unique(user) == np.arange(1, 100_001)).all()
    assert np.bincount(user).max() == 100
    assert (location.min(), location.max()) == (1, 10_000)
    assert (visits.min(), visits.max()) == (1, 1000)


def test_dense_is_ten_million_users_unless_told_otherwise() -> None:
    assert ZipfVisits.dense() == ZipfVisits(users=10_000_000)
    assert ZipfVisits.dense(seed=3, users=1000) == ZipfVisits(users=1000, seed=3)


def test_the_seed_decides() -> None:
    again = ZipfVisits(users=200, locations=300, max_places=40, max_visits=50)
    other = ZipfVisits(users=200, locations=300, max_places=40, max_visits=50, seed=1)
    assert SMALL.table().equals(again.table())
    assert not SMALL.table().equals(other.table())


@pytest.mark.parametrize("users", [1, 6, 7, 8, 14, 20])
def test_every_user_is_wholly_in_one_chunk(users: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipf, "USERS_PER_CHUNK", 7)
    chunks = list(ZipfVisits(users=users, locations=50, max_places=20, max_visits=9).chunks())
    seen = [user for chunk in chunks for user in pc.unique(chunk["user"]).to_pylist()]
    assert seen == list(range(1, users + 1))
    assert len(chunks) == -(-users // 7)
    assert all(distinct_pairs(chunk) == chunk.num_rows for chunk in chunks)


def test_chunks_have_streams_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipf, "USERS_PER_CHUNK", 100)
    first, second = SMALL.chunks()
    assert not first["location"].equals(second["location"])
    # More users do not change the ones in chunks before.
    longer = ZipfVisits(users=250, locations=300, max_places=40, max_visits=50)
    assert next(longer.chunks()).equals(first)


@pytest.mark.parametrize("size", [1, 2, 3, 100, 1000])
def test_the_table_of_cells_is_exact(size: int) -> None:
    law = zipf._Zipf(size)
    uniform = stream(5).random(200_000)
    cumulative = np.cumsum(1 / np.arange(1, size + 1))
    expected = np.searchsorted(cumulative / cumulative[-1], uniform, side="right") + 1
    assert (law.draw(stream(5), 200_000) == expected).all()


def test_a_user_can_have_every_place() -> None:
    drawn = zipf._draw_distinct(stream(0), zipf._Zipf(6), users=50, size=6)
    assert (np.sort(drawn, axis=1) == np.arange(1, 7)).all()


# Three places of five in order: 60 outcomes. A chi-square with 59 degrees of freedom exceeds 135 with
# probability below 1e-6.
TRIPLES = list(permutations(range(1, 6), 3))
LIMIT = 135.0


def law_of_drawing_one_after_the_other() -> npt.NDArray[np.float64]:
    p = np.concatenate([[0.0], 1 / np.arange(1, 6)])
    p /= p.sum()
    return np.array([p[a] * p[b] / (1 - p[a]) * p[c] / (1 - p[a] - p[b]) for a, b, c in TRIPLES])


def chi_square(drawn: npt.NDArray[np.int32]) -> float:
    index = {triple: i for i, triple in enumerate(TRIPLES)}
    found = np.bincount([index[tuple(row)] for row in drawn.tolist()], minlength=len(TRIPLES))
    expected = len(drawn) * law_of_drawing_one_after_the_other()
    return float(((found - expected) ** 2 / expected).sum())


def test_redrawing_repeats_is_drawing_one_after_the_other() -> None:
    assert chi_square(zipf._draw_distinct(stream(1), zipf._Zipf(5), users=200_000, size=3)) < LIMIT


def test_drawing_one_after_the_other_by_hand_follows_the_same_law() -> None:
    values = iter(zipf._Zipf(5).draw(stream(2), 400_000).tolist())
    rows: list[list[int]] = []
    for _ in range(40_000):
        row: list[int] = []
        while len(row) < 3:
            value = next(values)
            if value not in row:
                row.append(value)
        rows.append(row)
    assert chi_square(np.array(rows, dtype=np.int32)) < LIMIT


def test_the_check_notices_another_way_of_redrawing() -> None:
    rows = zipf._Zipf(5).draw(stream(3), 600_000).reshape(-1, 3)
    whole_rows_redrawn = rows[(np.diff(np.sort(rows, axis=1), axis=1) > 0).all(axis=1)]
    assert chi_square(whole_rows_redrawn) > 2 * LIMIT


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"users": 0}, "users=0"),
        ({"users": -5}, "users=-5"),
        ({"users": 2.5}, "users=2.5"),
        ({"users": True}, "users=True"),
        ({"users": 10, "locations": 0}, "locations=0"),
        ({"users": 10, "locations": 2_000_000}, "locations=2000000"),
        ({"users": 10, "locations": 50}, "max_places=100"),
        ({"users": 10, "max_places": 0}, "max_places=0"),
        ({"users": 10, "max_visits": 0}, "max_visits=0"),
        ({"users": 10, "seed": -1}, "seed=-1"),
        ({"users": 10, "seed": "7"}, "seed='7'"),
    ],
)
def test_bad_parameters_are_named_with_a_correct_call(parameters: dict[str, int], name: str) -> None:
    with pytest.raises(ParameterError, match=name) as caught:
        ZipfVisits(**parameters)
    assert "ZipfVisits(users=100_000" in str(caught.value)


def test_write_gives_the_same_rows_and_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipf, "USERS_PER_CHUNK", 80)
    told: list[float] = []
    (tmp_path / "z.parquet").write_text("an older file")
    SMALL.write(tmp_path / "z.parquet", progress=told.append)
    assert pq.read_table(tmp_path / "z.parquet").equals(SMALL.table())
    assert told == [0.4, 0.8, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["z.parquet"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    def interrupt(fraction: float) -> None:
        raise failure

    with pytest.raises(failure):
        SMALL.write(tmp_path / "z.parquet", progress=interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["missing/z.parquet", "."])
def test_a_path_that_cannot_be_a_file_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ParameterError, match="For example"):
        SMALL.write(tmp_path / path)
