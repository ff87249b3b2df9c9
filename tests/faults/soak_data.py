"""Random visits of people whose ids, times and unlisted places are not to be found anywhere else."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PLACES = [f"place-{number}" for number in range(14)]
MARKERS = ("zqperson", "zqhidden", "31536123")
"""Of user ids, of places that are on no list, and of times."""


def rows(draw: random.Random) -> list[tuple[str, str, str]]:
    made = [
        (f"zqperson{person}", draw.choice(PLACES), f"31536123{draw.randrange(1000):03}")
        for person in range(draw.randint(15, 150))
        for _ in range(draw.randint(1, 5))
    ]
    made.append((made[0][0], "zqhidden-place", made[0][2]))
    return made


def write(kind: str, table: list[tuple[str, str, str]], path: Path) -> None:
    if kind in ("parquet", "duckdb"):
        users, places, times = zip(*table, strict=True)
        columns = pa.table({"user": users, "location": places, "time": [int(each) for each in times]})
        if kind == "parquet":
            pq.write_table(columns, path)
        else:
            import duckdb

            with duckdb.connect(str(path)) as con:
                con.execute("CREATE TABLE visits AS FROM columns")
    else:
        text = "".join(",".join(row) + "\n" for row in [("user", "location", "time"), *table]).encode()
        path.write_bytes(gzip.compress(text) if kind == "gz" else text)


def write_tables(paths: list[Path], seed: int) -> None:
    """Some tables, of the kinds that their names say."""
    for path in paths:
        write(path.suffix[1:], rows(random.Random(f"{seed} {path.name}")), path)
