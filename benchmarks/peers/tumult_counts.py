"""Tumult Analytics on Spark, one machine: how many users each place has, with geometric noise.

Starting Spark is not part of the time, and told apart. A few partitions suit a few cores; the default is 200.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)
from turn import EPSILON, M, take_turn


def start(scratch: str) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    cores = os.cpu_count() or 1
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "8g",
        "spark.local.dir": scratch,
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.warehouse.dir": scratch,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(scratch: str) -> None:
    began = time.perf_counter()
    spark = start(scratch)
    started = time.perf_counter() - began

    def read(path: str) -> DataFrame:
        return spark.read.csv(path, header=True) if path.endswith(".csv") else spark.read.parquet(path)

    def counts(visits: str, places: str) -> pd.DataFrame:
        session = Session.from_dataframe(
            privacy_budget=PureDPBudget(EPSILON),
            source_id="visits",
            dataframe=read(visits).select("user", "location"),
            protected_change=AddRowsWithID("user"),
        )
        query = (
            QueryBuilder("visits")
            .enforce(MaxGroupsPerID("location", M))
            .enforce(MaxRowsPerGroupPerID("location", 1))
            .groupby(KeySet.from_dataframe(read(places)))
            .count(name="users")
        )
        return session.evaluate(query, PureDPBudget(EPSILON)).toPandas()

    packages = ["tmlt.analytics", "pyspark"]
    # Java works in a process that nobody waits for: its processor time is not known.
    notes = {"start_seconds": started, "processor_seconds": None}
    take_turn(counts, pd.DataFrame.to_parquet, packages, lambda: notes)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
