"""The rule for uncertain rows: a place whose standard error is above a limit has no value in the table.

It is a function of noisy values, so it costs no budget, and it never decides whether there is a release. It is for
readers, who may take a number without looking at its error bar, and it protects nobody: the measurements that the
values are computed from are published beside the table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.core.language import ENGLISH
from locentropy.release.count_words import has_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.estimates import Estimates, Method
    from locentropy.core.language import Words
    from locentropy.release.statement import Statement

_CALL: Final = 'publish(visits, Shares(epsilon=1.0), places, max_std_error=0.5, ledger="city.ledger")'
MOST: Final = 1e6
"""The largest limit; no entropy is near it."""

NO_PROTECTION: Final = ENGLISH("uncertain.protection")


def check_max_std_error(limit: Any) -> float | None:
    """The limit in nats, or None for no rule; raises ParameterError for anything else."""
    if limit is None:
        return None
    number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if not number or not (math.isfinite(limit) and 0 < limit <= MOST):
        raise ParameterError(
            f"must be a number of nats above 0 and at most {MOST:g}.",
            parameter="max_std_error",
            value=limit,
            example=_CALL,
        )
    return float(limit)


def check_has_errors(method: Method, mechanism: str) -> None:
    """Raise ParameterError for a mechanism whose rows the rule cannot tell apart."""
    if "std_error" not in method.columns:
        raise ParameterError(
            f"is a rule about standard errors, and {mechanism} publishes none: they could tell how many people were "
            "at a place. Leave it out, or use a mechanism that has them.",
            parameter="max_std_error",
            example=_CALL,
        )
    if method.error_bars == "constant":
        raise ParameterError(
            f"is a rule about standard errors, and that of {mechanism} is the same at every place: it would leave out "
            "all places or none. Leave it out.",
            parameter="max_std_error",
            example=_CALL,
        )


def too_uncertain(estimates: Estimates, limit: float | None) -> NDArray[np.bool_]:
    """The places that are not shown; those that the mechanism withholds are not among them."""
    if limit is None:
        return np.zeros(len(estimates), dtype=bool)
    if estimates.std_error is None:
        raise ParameterError(
            "is a rule about standard errors, and there are none.", parameter="max_std_error"
        )
    return estimates.std_error > limit


def rule_in_words(limit: float | None, method: Method) -> str:
    """The rule, for a plan of a mechanism with this method."""
    return (
        ""
        if limit is None
        else f"Places whose standard error is above {limit:g} nats get no value{_but_counts(method)}. {NO_PROTECTION}"
    )


def stated_in_words(statement: Statement, say: Words = ENGLISH) -> str:
    """The rule, for readers of a release; empty where there is none."""
    limit = statement.max_std_error
    if limit is None:
        return ""
    return say(
        "uncertain.rule",
        limit=say(
            "uncertain.limit",
            of=statement.entropy_unit,
            nats=say.number(limit, "g"),
            bits=say.number(limit / math.log(2), ".4g"),
        ),
        counts=_but_counts(statement.method, say),
        protection=say("uncertain.protection"),
    )


def _but_counts(method: Method, say: Words = ENGLISH) -> str:
    """That the rule is about entropies, where there is something else."""
    return say("uncertain.counts") if has_counts(method) else ""
