"""What the mechanisms' parameters have in common: checks, a warning, and the list of public inputs."""

from __future__ import annotations

import math
import warnings
from dataclasses import fields
from numbers import Integral
from typing import TYPE_CHECKING, Any

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole, positive_integer
from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import PublicInput

if TYPE_CHECKING:
    from locentropy.core.bounds import Keep

MOST_VISITS = 1_000_000
"""Largest C for which the float entropy is accurate enough for the lattice: docs/proofs/lattice.md."""

LISTED = PublicInput("locations", "the list, which was not made from the visits")
SELECTED = PublicInput("locations", "the list, if one is given; without one, places are selected privately")
COUNTED = PublicInput(
    "locations", "the list, if one is given; without one, places are named without protection"
)

_KEEP = "first where the table has a time column, else most-visited"


class LargeDeltaWarning(UserWarning):
    """δ is so large that it would allow publishing somebody's whole record now and then."""


def make_plain(mechanism: Any) -> None:
    """Turn NumPy's numbers among the parameters into Python's, whose products do not overflow."""
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        if isinstance(value, Integral) and not isinstance(value, bool):
            object.__setattr__(mechanism, field.name, int(value))
        elif isinstance(value, float):
            object.__setattr__(mechanism, field.name, float(value))


def check_bounds(
    call: str, max_locations: int, max_visits: int, keep: Keep | None, most_visits: int = MOST_VISITS
) -> None:
    """Refuse bounds that are none, or a C beyond what the proofs cover."""
    positive_integer("max_locations", max_locations, call)
    check_whole(call, "max_visits", max_visits, 1, most_visits)
    Bounds(max_locations, max_visits, keep)


def check_epsilon(call: str, epsilon: float) -> None:
    """Refuse an ε that is not a finite number above 0.

    Narrow floats are refused as well: their text and their value differ by more than the margins for rounding.
    """
    if not _is_number(epsilon) or not 0 < epsilon < math.inf:
        raise ParameterError(f"epsilon={epsilon!r} must be a finite number above 0. A correct call: {call}")


def check_share(call: str, name: str, value: float) -> None:
    """Refuse what does not lie strictly between 0 and 1: a δ, a split."""
    if not _is_number(value) or not 0 < value < 1:
        raise ParameterError(f"{name}={value!r} must be a number above 0 and below 1. A correct call: {call}")


def check_max_users(call: str, max_users: int | None) -> None:
    """Refuse a public bound on the number of users that is none."""
    if max_users is not None:
        positive_integer("max_users", max_users, call)


def check_min_users(call: str, min_users: int, least: int) -> None:
    """Refuse a threshold k below `least`."""
    check_whole(call, "min_users", min_users, least, 2**31 - 1)


def warn_of_large_delta(delta: float, max_users: int | None) -> None:
    """Warn where δ is above 1/max_users: publishing one user in every 1/δ, chosen at random, would be allowed."""
    if max_users is not None and delta * max_users > 1:
        warnings.warn(
            f"delta={delta!r} is above 1/max_users = {1 / max_users:.3g}: a promise that weak allows publishing "
            f"somebody's whole record. Choose it far smaller, for example delta={1e-2 / max_users:.0e}.",
            LargeDeltaWarning,
            stacklevel=4,  # here, __post_init__, __init__, the caller
        )


def public_inputs(mechanism: Any, locations: PublicInput) -> list[PublicInput]:
    """Every parameter of a mechanism, as what its guarantee takes to be known; and the list of locations."""
    listed = [locations]
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        if field.name == "keep":
            value = value or _KEEP
        if value is not None and field.name != "accept_no_guarantee":
            listed.append(PublicInput(field.name, str(value)))
    return listed


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
