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


def counts(visits: str, places: str) -> pl.DataFrame:
    context = dp.Context.compositor(
        data=pl.scan_parquet(visits).select("user", "location"),
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
        .with_keys(pl.scan_parquet(places))
        .release()
        .collect()
    )


if __name__ == "__main__":
    take_turn(counts, pl.DataFrame.write_parquet, ["opendp", "polars"])
