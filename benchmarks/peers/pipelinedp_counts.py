"""PipelineDP on its local backend (one process): how many users each place has, with Laplace noise."""

from __future__ import annotations

import pipeline_dp as pdp
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from turn import EPSILON, M, take_turn


def read(path: str, columns: list[str]) -> pa.Table:
    if path.endswith(".csv"):
        return pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(include_columns=columns))
    return pq.read_table(path, columns=columns)


def counts(visits: str, places: str) -> list[tuple[int | str, float]]:
    table = read(visits, ["user", "location"])
    rows = list(zip(table["user"].to_pylist(), table["location"].to_pylist(), strict=True))
    del table
    # No mechanism here takes any of δ, which may not be 0.
    budget = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=1e-12)
    counted = pdp.DPEngine(budget, pdp.LocalBackend()).aggregate(
        rows,
        pdp.AggregateParams(
            metrics=[pdp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=pdp.NoiseKind.LAPLACE,
            max_partitions_contributed=M,
            max_contributions_per_partition=1,
        ),
        pdp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,
        ),
        public_partitions=read(places, ["location"])["location"].to_pylist(),
    )
    budget.compute_budgets()
    return [(place, metrics.privacy_id_count) for place, metrics in counted]


def write(answer: list[tuple[int | str, float]], path: str) -> None:
    pq.write_table(pa.table(dict(zip(("location", "users"), zip(*answer, strict=True), strict=True))), path)


if __name__ == "__main__":
    take_turn(counts, write, ["pipeline-dp", "python-dp"])
