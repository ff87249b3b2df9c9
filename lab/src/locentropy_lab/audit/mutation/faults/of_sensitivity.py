"""Too little noise: sensitivities, scales and smoothing that miss something."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from locentropy.mechanisms.moments import mechanism as moments
from locentropy.mechanisms.paper import limit, limit_ss
from locentropy.privacy.moments import MomentsTable
from locentropy.privacy.noise import LATTICE
from locentropy.privacy.sensitivity import local_sensitivity, supremum_from
from locentropy_lab.audit.mutation.planting import Change, Fault


def _local_scales(calibration: Any, smooth: Any, users: Any) -> Any:
    units = local_sensitivity(smooth.max_visits, users) * LATTICE + 2
    return np.maximum(calibration.smallest_scale, calibration.max_locations * units / calibration.epsilon_1)


FAULTS: Final = (
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
        "a millionth less noise than promised",
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
