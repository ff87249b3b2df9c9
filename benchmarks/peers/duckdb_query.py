"""The same question without privacy, as one hand-written DuckDB query: what reading and counting cost anyway."""

from __future__ import annotations

import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from turn import C, M, take_turn

QUERY = f"""
    WITH pairs AS (
        SELECT "user", location, count(*) AS visits, min(time) AS first FROM 'VISITS' GROUP BY ALL),
    ranked AS (
        SELECT location, least(visits, {C}) AS visits,
               row_number() OVER (PARTITION BY "user" ORDER BY first, TIE) AS rank
        FROM pairs)
    SELECT location, ln(sum(visits)) - sum(visits * ln(visits)) / sum(visits) AS entropy
    FROM ranked WHERE rank <= {M} GROUP BY location"""

TIES = {"id": "location", "md5": "md5(location::VARCHAR)"}


def entropies(visits: str, places: str) -> pa.Table:
    """Of every visited place; all visited places are listed."""
    with duckdb.connect() as con:
        return con.sql(QUERY.replace("VISITS", visits).replace("TIE", TIES[sys.argv[1]])).to_arrow_table()


if __name__ == "__main__":
    take_turn(entropies, pq.write_table, ["duckdb"])
