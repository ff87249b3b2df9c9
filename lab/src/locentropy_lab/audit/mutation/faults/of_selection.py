"""Places named too soon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.locations import Locations
from locentropy.mechanisms import limit_ptr
from locentropy.mechanisms import select as select_locations
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.listed_estimates import ENTROPY
from locentropy.mechanisms.paper import limit_cb
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import to_lattice
from locentropy.privacy.selection import SelectionCurve
from locentropy_lab.audit.mutation.planting import Change, Fault


def _most_popular_first(true: Any) -> Any:
    def measure(self: LimitPTR, queries: Any, locations: Any, noise: Any) -> Any:
        measured = true(self, queries, locations, noise)
        users = _users(self, queries)
        order = np.argsort([-users[name] for name in measured.locations.to_pylist()], kind="stable")
        return replace(
            measured,
            locations=measured.locations.take(order),
            values={name: values[order] for name, values in measured.values.items()},
        )

    return measure


def _cut_by_the_data(true: Any) -> Any:
    def measure(self: LimitPTR, queries: Any, locations: Any, noise: Any) -> Any:
        measured = true(self, queries, locations, noise)
        users = _users(self, queries)
        most = to_lattice(np.log([max(1, users[name]) for name in measured.locations.to_pylist()]))
        return replace(measured, values={ENTROPY: np.minimum(measured.values[ENTROPY], most)})

    return measure


def _users(mechanism: LimitPTR, queries: Any) -> dict[Any, int]:
    profile = queries.profile(mechanism.bounds)
    return dict(zip(profile.locations.to_pylist(), profile.user_counts.tolist(), strict=True))


def _all_locations_listed() -> tuple[Change, ...]:
    """`measure` takes the locations of the data along, `estimate` takes them for a public list."""
    seen: list[Locations] = []

    def remembering(true: Any) -> Any:
        def measure(self: LimitPTR, queries: Any, locations: Any, noise: Any) -> Any:
            seen[:] = [Locations(queries.locations)]
            return true(self, queries, locations, noise)

        return measure

    def listing(true: Any) -> Any:
        def estimate(self: LimitPTR, measurements: Any, locations: Any) -> Any:
            return true(self, measurements, locations or seen[0])

        return estimate

    return Change(LimitPTR, "measure", remembering), Change(LimitPTR, "estimate", listing)


FAULTS: Final = (
    Fault(
        "selection threshold off by one",
        "a place is named for one user fewer than promised, at worst for one who is there alone",
        "selection stops at the threshold",
        (
            Change(
                SelectionCurve,
                "select",
                lambda true: lambda self, users, noise: true(self, users + 1, noise),
            ),
        ),
    ),
    Fault(
        "selection curve for one location",
        "a user in M places makes all of them likelier at the price of one",
        "cost of crowds, limit-ptr",
        (
            Change(
                limit_ptr, "SelectionCurve", lambda true: lambda epsilon, delta, many: true(epsilon, delta, 1)
            ),
        ),
    ),
    Fault(
        "δ spent in every location",
        "M rare events of probability δ each are not one",
        "cost of crowds, select-locations",
        (
            Change(
                select_locations,
                "SelectionCurve",
                lambda true: lambda epsilon, delta, many: true(epsilon, delta * many, many),
            ),
        ),
    ),
    Fault(
        "M forgotten in the values of Limit-PTR",
        "choosing is paid for, and the values are not",
        "cost of crowds, limit-ptr",
        (Change(limit_ptr, "laplace_scale", lambda true: lambda moved, epsilon: true(moved // 5, epsilon)),),
    ),
    Fault(
        "selection on counts that are hardly bounded",
        "a user in a thousand places makes all of them likelier at the price of M",
        "cost in the engine, limit-ptr",
        (
            Change(
                LimitPTR, "bounds", lambda _: property(lambda self: Bounds(1000, self.max_visits, self.keep))
            ),
        ),
    ),
    Fault(
        "the most popular place first",
        "the order of the rows has no noise",
        "places are in an order of their own",
        (Change(LimitPTR, "measure", _most_popular_first),),
    ),
    Fault(
        "values cut at the logarithm of how many were there",
        "a value that was cut tells how many, exactly",
        "what is published is computed from noisy numbers alone",
        (Change(LimitPTR, "measure", _cut_by_the_data),),
    ),
    Fault(
        "withheld places listed without a number",
        "the list names every place that anybody has been to",
        "withheld places are not named",
        _all_locations_listed(),
    ),
    Fault(
        "Limit-CB with a promise",
        "which places appear is decided by single users, and a guarantee denies it",
        "cost of crowds, limit-cb",
        (
            Change(
                limit_cb.LimitCB, "guarantee", lambda _: property(lambda self: Guarantee.pure(self.epsilon))
            ),
        ),
    ),
)
