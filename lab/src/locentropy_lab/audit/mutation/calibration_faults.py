"""Faults in what sets the noise: sensitivities, scales, smoothing, and the selection of locations."""

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
from locentropy.mechanisms.moments import mechanism as moments
from locentropy.mechanisms.paper import limit, limit_cb, limit_ss
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.moments import MomentsTable
from locentropy.privacy.noise import LATTICE, to_lattice
from locentropy.privacy.selection import SelectionCurve
from locentropy.privacy.sensitivity import local_sensitivity, supremum_from
from locentropy_lab.audit.mutation.planting import Change, Fault


def _local_scales(calibration: Any, smooth: Any, users: Any) -> Any:
    units = local_sensitivity(smooth.max_visits, users) * LATTICE + 2
    return np.maximum(calibration.smallest_scale, calibration.max_locations * units / calibration.epsilon_1)


_SENSITIVITY: Final = (
    Fault(
        "sensitivity one user short",
        "the largest change is taken from two users on, and forgets who comes second",
        "cost of crowds, limit",
        (Change(limit, "global_sensitivity", lambda _: lambda visits: supremum_from(visits, 2)),),
    ),
    Fault(
        "M forgotten in the noise of Limit",
        "a user in M places is protected as if in one",
        "cost of crowds, limit",
        (Change(limit, "laplace_scale", lambda true: lambda moved, epsilon: true(moved // 5, epsilon)),),
    ),
    Fault(
        "sensitivity for C − 1 visits",
        "users with all C visits move entropy further than the noise allows for",
        "cost of crowds, baseline",
        (Change(limit, "global_sensitivity", lambda true: lambda visits: true(visits - 1)),),
    ),
    Fault(
        "no room for rounding to the lattice",
        "two values that round apart are one lattice point further apart than their entropies",
        "cost of crowds, limit",
        (Change(limit, "lattice_sensitivity", lambda _: lambda change: int(change * LATTICE)),),
    ),
    Fault(
        "M forgotten in the noise of Moments",
        "a user in M places is protected as if in one",
        "cost of crowds, moments",
        (Change(moments, "laplace_scale", lambda true: lambda moved, epsilon: true(moved // 5, epsilon)),),
    ),
    Fault(
        "a millionth less noise than needed",
        "ε is exceeded by a millionth of it: a rounding in the wrong direction",
        "cost of crowds, moments",
        (Change(moments, "laplace_scale", lambda true: lambda *given: true(*given) * (1 - 1e-6)),),
    ),
    Fault(
        "weights of Moments not normalised",
        "the sums grow twice as fast as their noise",
        "cost of crowds, moments",
        (Change(MomentsTable, "sums", lambda true: lambda *given: 2 * true(*given)),),
    ),
    Fault(
        "sensitivity of Moments one lattice point short",
        "the norm is taken of other integers than those that are added up",
        "cost of crowds, moments",
        (
            Change(
                moments,
                "laplace_scale",
                lambda true: lambda moved, epsilon: true(5 * (moved // 5 - 1), epsilon),
            ),
        ),
    ),
    Fault(
        "scale per location from the wrong n",
        "places of few users get the noise of the largest",
        "cost of crowds, limit-ss",
        (
            Change(
                limit_ss,
                "lattice_scales",
                lambda true: (
                    lambda calibration, smooth, n: true(calibration, smooth, np.full_like(n, np.max(n)))
                ),
            ),
        ),
    ),
    Fault(
        "scales follow the local sensitivity, not the smooth one",
        "the scale itself tells how many users there are",
        "cost of crowds, limit-ss",
        (Change(limit_ss, "lattice_scales", lambda _: _local_scales),),
    ),
    Fault(
        "Limit-SS calibrated for one location",
        "M scales that move at once cost more than one",
        "cost of crowds, limit-ss",
        (
            Change(
                limit_ss,
                "calibrate",
                lambda true: lambda epsilon, delta, many, split: true(epsilon, delta, 1, split=split),
            ),
        ),
    ),
    Fault(
        "ε of Limit-SS counted twice",
        "values and scales both get all of ε",
        "cost of crowds, limit-ss",
        (
            Change(
                limit_ss,
                "calibrate",
                lambda true: lambda epsilon, delta, many, split: true(2 * epsilon, delta, many, split=split),
            ),
        ),
    ),
)


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
    """`measure` keeps the locations of the data, and `estimate` uses them as if they were a public list."""
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


_SELECTION: Final = (
    Fault(
        "selection threshold off by one",
        "a place is named for one user fewer than guaranteed, at worst for one who is there alone",
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
        "Limit-CB with a guarantee",
        "which places appear is decided by single users, and a guarantee denies it",
        "cost of crowds, limit-cb",
        (
            Change(
                limit_cb.LimitCB, "guarantee", lambda _: property(lambda self: Guarantee.pure(self.epsilon))
            ),
        ),
    ),
)

_STATED: Final = (
    Fault(
        "the bound for one record stated for two",
        "a belief of 50:50 between two records of one person can reach 88 %, and 73 % is stated",
        "two records of one person cost what is stated",
        (Change(Guarantee, "for_replaced_record", lambda _: lambda self: self),),
    ),
)

FAULTS: Final = (*_SENSITIVITY, *_SELECTION, *_STATED)
