"""OpenDP's Context API on Polars: how many users each place has, with Laplace noise.

As its documentation advises, the keys are scanned from a file, not held in the plan. One row for each user
and place is kept first, then M rows for each user: `truncate_num_groups(M)` of OpenDP 0.16 is as fast, but
keeps M - 1 places. Much of the time on small tables goes into its search for the scale of the noise.
"""

from __future__ import annotations

import opendp.prelude as dp
import polars as pl
from turn import EPSILON, M, take_turn

dp.enable_features("contrib")


def scan(path: str) -> pl.LazyFrame:
    return pl.scan_csv(path) if path.endswith(".csv") else pl.scan_parquet(path)


def counts(visits: str, places: str) -> pl.DataFrame:
    context = dp.Context.compositor(
        data=scan(visits).select("user", "location"),
        privacy_unit=dp.unit_of(contributions=1, identifier="user"),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
    )
    return (
        context.query()
        .truncate_per_group(1, by=["location"], keep="first")
        .truncate_per_group(M, keep="first")
        .group_by("location")
        .agg(users=dp.len(signed=True))
        .with_keys(scan(places))
        .release()
        .collect()
    )


if __name__ == "__main__":
    take_turn(counts, pl.DataFrame.write_parquet, ["opendp", "polars"])
