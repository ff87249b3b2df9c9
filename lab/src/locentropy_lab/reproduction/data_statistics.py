"""Numbers that need no noise: Table 2, activity and sparsity, the published ratio, and the rule for dense data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.evaluation.advice.density import DENSE_SHARE
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy_lab.reproduction.paper_data import DENSE, GOWALLA, SPARSE
from locentropy_lab.reproduction.sensitivities import crossings
from locentropy_lab.reproduction.simulations import FIRST_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy_lab.reproduction.data_counts import DataCounts
    from locentropy_lab.reproduction.settings import Settings


@dataclass(frozen=True)
class Row:
    """A row of Table 2."""

    name: str
    printed: dict[str, float]
    tolerance: float
    """How far another draw, or rounding in print, may be off, as a part of the printed value."""
    labelled: str
    """The statistic that the row's label names."""
    meant: dict[str, str]
    """The statistic that the printed number is, by data set, where it is another one."""


def _each(sparse: float, dense: float, gowalla: float) -> dict[str, float]:
    return {SPARSE: sparse, DENSE: dense, GOWALLA: gowalla}


TABLE_2: Final = (
    Row("locations", _each(10_000, 10_000, 14_058), 0.0, "locations", {}),
    Row("users", _each(100_000, 10_000_000, 5_800), 0.0, "users", {}),
    Row("max LE", _each(9.93, 14.53, 6.45), 0.01, "max entropy", {}),
    Row("min LE", _each(1.19, 6.70, 0.04), 0.15, "min entropy", {GOWALLA: "min entropy, 2 users or more"}),
    Row("avg LE", _each(3.19, 7.79, 1.45), 0.01, "mean entropy", {GOWALLA: "mean entropy, 2 users or more"}),
    Row(
        "variance of LE", _each(1.01, 0.98, 0.6), 0.05, "variance of entropy",
        {GOWALLA: "variance of entropy, 2 users or more"},
    ),
    Row("max locations per user", _each(100, 100, 1407), 0.0, "max locations per user", {}),
    Row("avg locations per user", _each(19.28, 19.28, 13.5), 0.01, "mean locations per user", {}),
    Row(
        "max visits to a loc. per user", _each(20_813, 24_035, 162), 0.15, "max visits of a user to a location",
        {SPARSE: "max visits of a user", DENSE: "max visits of a user"},
    ),
    Row(
        "avg visits to a loc. per user", _each(2578.0, 2575.8, 7.2), 0.01, "mean visits of a user to a location",
        {SPARSE: "mean visits of a user", DENSE: "mean visits of a user", GOWALLA: "mean visits of a location"},
    ),
    Row("avg users per loc.", _each(192.9, 19_278, 5.6), 0.01, "mean users of a location", {}),
)  # fmt: skip


def statistics(data: DataCounts) -> dict[str, float]:
    """Return every statistic that a number of Table 2 may be."""
    shared = data.entropy[data.user_counts > 1]
    pairs, visits = float(data.user_counts.sum()), float(data.visit_counts.sum())
    return {
        "locations": len(data),
        "users": data.users,
        "max entropy": float(data.entropy.max()),
        "min entropy": float(data.entropy.min()),
        "min entropy, 2 users or more": float(shared.min()),
        "mean entropy": float(data.entropy.mean()),
        "mean entropy, 2 users or more": float(shared.mean()),
        "variance of entropy": float(data.entropy.var()),
        "variance of entropy, 2 users or more": float(shared.var()),
        "max locations per user": len(data.users_by_places) - 1,
        "mean locations per user": pairs / data.users,
        "max visits of a user to a location": int(data.largest_visits[0].max()),
        "max visits of a user": data.most_visits_of_a_user,
        "mean visits of a user to a location": visits / pairs,
        "mean visits of a user": visits / data.users,
        "mean visits of a location": visits / len(data),
        "mean users of a location": float(data.user_counts.mean()),
    }


def table_2(sets: Sequence[DataCounts]) -> pa.Table:
    """Table 2, printed and recomputed: by each row's label, and by what the number is."""
    rows: list[dict[str, Any]] = []
    for data in sets:
        known = statistics(data)
        for row in TABLE_2:
            meant = row.meant.get(data.name, row.labelled)
            rows.append({
                "data": data.name, "row": row.name, "printed": float(row.printed[data.name]),
                "ours": float(known[row.labelled]), "meant": meant, "ours_meant": float(known[meant]),
                "tolerance": row.tolerance,
            })  # fmt: skip
    return pa.Table.from_pylist(rows)


def activity(data: DataCounts) -> pa.Table:
    """Users by locations, and by their most visits to one location."""
    places = np.flatnonzero(data.users_by_places)
    visits, users = data.largest_visits
    return pa.concat_tables([
        pa.table({"what": ["locations"] * len(places), "value": places, "users": data.users_by_places[places]}),
        pa.table({"what": ["largest visits"] * len(visits), "value": visits, "users": users}),
    ])  # fmt: skip


def sparsity(data: DataCounts) -> pa.Table:
    """Locations by their number of users."""
    users, locations = np.unique(data.user_counts, return_counts=True)
    return pa.table({"users": users, "locations": locations})


# --- published ratio and recommendations --------------------------------------------------------------------------

EVERY = "limit, every location"
LEFT = "limit, locations with a user left"


def published_ratios(sets: Sequence[DataCounts], settings: Settings) -> pa.Table:
    """By data, first-M rule, line and k. Eligible are locations of at least K users, before bounding."""
    rows: list[dict[str, Any]] = []
    s = settings
    for data in sets:
        eligible = data.user_counts >= s.eligible
        for first_m in FIRST_MS:
            bounds = Bounds(s.max_locations, s.max_visits, data.keep(first_m))
            users = data.profile(bounds).user_counts[eligible]
            for k in s.k_grid:
                test = LimitPTR(
                    s.epsilon,
                    delta=s.delta,
                    max_locations=s.max_locations,
                    max_visits=s.max_visits,
                    min_users=k,
                )
                shares = {
                    "limit-cb": float(np.mean(users >= k)),
                    "limit-ptr": float(np.mean(test.curve.probability(users - k))),
                    EVERY: 1.0,  # Algorithm 2 publishes all of L
                    LEFT: float(np.mean(users >= 1)),
                }
                rows += [
                    {"data": data.name, "first_m": first_m, "mechanism": name, "min_users": k, "ratio": ratio}
                    for name, ratio in shares.items()
                ]
    return pa.Table.from_pylist(rows)


def recommendations(sets: Sequence[DataCounts], settings: Settings) -> pa.Table:
    """For each data set, way of finding n_CB and first-M rule: is it dense, and what does the rule advise?"""
    rows: list[dict[str, Any]] = []
    for data in sets:
        for first_m in FIRST_MS:
            bounds = Bounds(settings.max_locations, settings.max_visits, data.keep(first_m))
            bounded = data.profile(bounds).user_counts
            for compared, n_cb in crossings(settings).items():
                there = np.inf if n_cb is None else n_cb
                share = float(np.mean(bounded >= there))
                dense = share >= DENSE_SHARE
                rows.append({
                    "data": data.name, "first_m": first_m, "compared": compared, "n_cb": n_cb,
                    "share": share, "share_before_bounding": float(np.mean(data.user_counts >= there)),
                    "dense": dense, "advised": "limit-ss" if dense else "limit-cb",
                })  # fmt: skip
    return pa.Table.from_pylist(rows)
