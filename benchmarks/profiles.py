"""How fast a profile is made: ours against the same query written by hand, in one run.

    python benchmarks/profiles.py                # 10 million rows, and 100 million under a 1 GB limit
    python benchmarks/profiles.py --rows 1000000 --repeats 3 --no-large

Every contender answers the same question about the same Parquet file (10 million visits of 1 million
users to 100,000 locations, both by Zipf's law): keep the first M = 5 locations of each user, count at most
C = 5 visits, and count users by location and visits. Ties are broken by the md5 of the id, so that there
is one right answer, and every contender must give it. Contenders take turns, each turn in a process of its
own that first answers the question for a few rows, so that loading libraries does not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(__file__).parent.parent / ".benchmarks"
M = C = 5
CHUNK = 5_000_000


def zipf(random: np.random.Generator, size: int, count: int) -> np.ndarray:
    cumulative = np.cumsum(1 / np.arange(1, size + 1))
    return np.searchsorted(cumulative, random.random(count) * cumulative[-1]) + 1


def make(rows: int) -> Path:
    path = FOLDER / f"visits-{rows}.parquet"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    users, locations = max(rows // 10, 1), max(rows // 100, 1)
    # Ids in random order: neither people nor places are numbered by how active they are.
    user_id, location_id = random.permutation(users), random.permutation(locations)
    schema = pa.schema([("user", pa.int64()), ("location", pa.int64()), ("time", pa.timestamp("us"))])
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, schema) as writer:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            second = random.integers(0, 90 * 86_400, count)
            columns = [
                user_id[zipf(random, users, count) - 1],
                location_id[zipf(random, locations, count) - 1],
                pa.array(second * 1_000_000, pa.timestamp("us")),
            ]
            writer.write_table(pa.table(columns, schema=schema))
    part.rename(path)
    return path


def ours(path: Path) -> pa.Table:
    import locentropy as le

    return le.private.profile(le.Visits(path), le.private.Bounds(M, C)).to_arrow()


def duckdb_sql(path: Path, sql: str) -> pa.Table:
    import duckdb

    with duckdb.connect() as con:
        return con.sql(sql.replace("FILE", f"'{path}'")).to_arrow_table()


def duckdb_by_hand(path: Path) -> pa.Table:
    return duckdb_sql(
        path,
        """
        WITH pairs AS (
            SELECT "user", location, count(*) AS visits, min(time) AS first FROM FILE GROUP BY ALL),
        ranked AS (
            SELECT location, least(visits, 5) AS visits,
                   row_number() OVER (PARTITION BY "user" ORDER BY first, md5(location::VARCHAR)) AS rank
            FROM pairs)
        SELECT location, visits, count(*) AS users FROM ranked WHERE rank <= 5 GROUP BY ALL""",
    )


def duckdb_our_plan(path: Path) -> pa.Table:
    """Our own plan in one statement, without checks: what the layers on top of DuckDB cost."""
    return duckdb_sql(
        path,
        """
        WITH places AS MATERIALIZED (
            SELECT location, row_number() OVER (ORDER BY md5(location::VARCHAR)) AS code
            FROM (SELECT DISTINCT location FROM FILE)),
        pairs AS (
            SELECT "user", code, count(*) AS visits, min(time) AS first
            FROM FILE JOIN places USING (location) GROUP BY ALL),
        ranked AS (
            SELECT code, least(visits, 5) AS visits,
                   row_number() OVER (PARTITION BY "user" ORDER BY first, code) AS rank
            FROM pairs),
        counted AS (SELECT code, visits, count(*) AS users FROM ranked WHERE rank <= 5 GROUP BY ALL)
        SELECT location, visits, users FROM counted JOIN places USING (code)""",
    )


def polars_by_hand(path: Path) -> pa.Table:
    import polars as pl

    visits = pl.scan_parquet(path)
    pairs = visits.group_by("user", "location").agg(visits=pl.len(), first=pl.col("time").min()).collect()
    places = pairs.select("location").unique()
    text = places["location"].cast(str).to_list()
    places = places.with_columns(tie=pl.Series([hashlib.md5(each.encode()).digest() for each in text]))
    places = places.with_columns(tie=pl.col("tie").rank("ordinal"))
    order = pairs.join(places, on="location").sort("user", "first", "tie")
    kept = order.group_by("user", maintain_order=True).head(M)
    counted = kept.group_by("location", pl.col("visits").clip(upper_bound=C)).agg(users=pl.len())
    return counted.to_arrow()


def pandas_by_hand(path: Path) -> pa.Table:
    import pandas as pd

    visits = pd.read_parquet(path)
    pairs = visits.groupby(["user", "location"], sort=False)["time"].agg(["size", "min"]).reset_index()
    places = pairs["location"].unique()
    digest = pd.Series([hashlib.md5(str(each).encode()).hexdigest() for each in places], index=places)
    pairs["tie"] = pairs["location"].map(digest.rank())
    kept = pairs.sort_values(["user", "min", "tie"]).groupby("user", sort=False).head(M)
    kept = pd.DataFrame({"location": kept["location"], "visits": kept["size"].clip(upper=C)})
    counted = kept.groupby(["location", "visits"]).size().reset_index(name="users")
    return pa.Table.from_pandas(counted, preserve_index=False)


def scan(path: Path) -> pa.Table:
    return duckdb_sql(path, 'SELECT sum("user"), sum(location), max(epoch_us(time)) FROM FILE')


CONTENDERS = {
    "locentropy": ours,
    "DuckDB, by hand": duckdb_by_hand,
    "DuckDB, our plan by hand": duckdb_our_plan,
    "Polars, by hand": polars_by_hand,
    "pandas, by hand": pandas_by_hand,
    "plain scan (DuckDB)": scan,
}


def fingerprint(answer: pa.Table) -> str:
    if answer.column_names != ["location", "visits", "users"]:
        return "scan"
    columns = [answer[name].cast(pa.int64()).to_numpy() for name in answer.column_names]
    order = np.lexsort((columns[1], columns[0]))
    return hashlib.sha256(b"".join(column[order].tobytes() for column in columns)).hexdigest()


def turn(name: str, path: Path, warm: Path) -> None:
    """One turn, in this process; prints what it took."""
    CONTENDERS[name](warm)
    began = time.perf_counter()
    answer = CONTENDERS[name](path)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "answer": fingerprint(answer)}))


def one_turn(name: str, path: Path, warm: Path) -> dict[str, float | str]:
    command = [sys.executable, __file__, "--turn", name, "--file", str(path), "--warm", str(warm)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float | str] = json.loads(done.stdout)
    return result


def compare(rows: int, repeats: int) -> None:
    path, warm = make(rows), make(10_000)
    turns: dict[str, list[dict[str, float | str]]] = {name: [] for name in CONTENDERS}
    for round_ in range(repeats):
        for name in CONTENDERS:
            print(f"\rround {round_ + 1} of {repeats}: {name:<30}", end="", file=sys.stderr, flush=True)
            turns[name].append(one_turn(name, path, warm))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    answers = {turn["answer"] for name in CONTENDERS for turn in turns[name]} - {"scan"}
    assert len(answers) == 1, "the contenders disagree"
    base = turns["DuckDB, by hand"]
    print(f"{rows:,} rows, M = C = {M}, median of {repeats} turns; all contenders gave the same answer\n")
    print(f"{'':<28}{'seconds':>9}{'ratio':>8}{'peak MB':>9}{'ratio':>8}")
    for name, mine in turns.items():
        seconds = statistics.median(turn["seconds"] for turn in mine)
        peak = statistics.median(turn["peak"] for turn in mine)
        # Ratios of neighbours in time, so that a busy machine weighs on both alike.
        ratio = statistics.median(a["seconds"] / b["seconds"] for a, b in zip(mine, base, strict=True))
        memory = statistics.median(a["peak"] / b["peak"] for a, b in zip(mine, base, strict=True))
        print(f"{name:<28}{seconds:>9.2f}{ratio:>8.2f}{peak:>9.0f}{memory:>8.2f}")


def large(rows: int, limit: str) -> None:
    """Ours on many rows under a memory limit."""
    import locentropy as le

    path = make(rows)
    began = time.perf_counter()
    profile = le.private.profile(
        le.Visits(path), le.private.Bounds(M, C), resources=le.Resources(memory=limit)
    )
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{rows:,} rows under a limit of {limit}: {seconds:.1f} s, peak of the process {peak:,.0f} MB,")
    print(f"{len(profile):,} locations, {profile.users.sum():,} pairs kept")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--no-large", action="store_true", help="leave out the 100 million rows")
    parser.add_argument("--large-only", action="store_true", help="only the 100 million rows")
    for internal in ("--turn", "--file", "--warm"):
        parser.add_argument(internal, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.turn:
        turn(chosen.turn, Path(chosen.file), Path(chosen.warm))
        return
    if not chosen.large_only:
        compare(chosen.rows, chosen.repeats)
    if not chosen.no_large:
        large(100_000_000, "1GB")


if __name__ == "__main__":
    main()
