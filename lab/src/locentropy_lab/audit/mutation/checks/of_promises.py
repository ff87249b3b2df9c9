"""Checks of what neighbours cost: the audit's own searches and attack, at the defaults and where faults show best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.paper.limit import Limit
from locentropy.privacy.guarantee import exact
from locentropy_lab.audit.mutation.check import Check, check
from locentropy_lab.audit.numerical.search import crowd_search, table_search
from locentropy_lab.audit.recording import crowd_queries, law_of
from locentropy_lab.audit.statistical.draws import attack_on_draws
from locentropy_lab.audit.subjects import SELECTION, SURVEY, at_defaults, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from locentropy_lab.audit.numerical.search import Cost
    from locentropy_lab.audit.subjects import Subject

DRAWS: Final = 200_000
"""Enough to tell noise at two thirds of its scale from noise as promised."""
SURE: Final = 1 - 1e-4
"""A check must not complain by chance."""


def _subjects(name: str) -> list[Subject]:
    """The defaults, and parameters at which nothing hides a fault."""
    found = [at_defaults(name)]
    if name == "limit":  # an entropy that lies next to a lattice point
        found.append(subject_of(name, Limit(epsilon=1.0, max_locations=1, max_visits=15)))
    if name == "limit-ptr":  # where the noise of the values has nothing to spare
        found.append(
            subject_of(
                name, LimitPTR(1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=5000, split=0.3)
            )
        )
    return found


def _too_dear(subjects: list[Subject], search: Callable[[Subject], Cost]) -> list[str]:
    wrong = []
    for subject in subjects:
        cost = search(subject)
        if subject.guarantee.private and not cost.kept:
            wrong.append(
                f"{subject.name} promises ε = {float(subject.guarantee.epsilon or 0):g}, and {cost.worst} costs "
                f"{cost.epsilon:.9g}"
            )
    return wrong


def _crowds(name: str) -> Check:
    return Check(f"cost of crowds, {name}", lambda: _too_dear(_subjects(name), crowd_search))


def _tables(name: str) -> Check:
    return Check(f"cost in the engine, {name}", lambda: _too_dear([at_defaults(name)], table_search))


COSTS: Final = (
    *map(_crowds, ("limit", "baseline", "moments", "limit-ss", "limit-ptr", "limit-cb", SELECTION)),
    *map(_tables, ("limit", "moments", "limit-ptr", "shares", SURVEY)),
)


@check("attack on draws, limit")
def attacked() -> list[str]:
    """The lower bound of an attack is no more than the claim."""
    shown = attack_on_draws(at_defaults("limit"), DRAWS, confidence=SURE).attack.epsilon
    return [f"an attack shows ε ≥ {shown:.3g}, and 1 is promised"] if shown > 1.0 else []


@check("selection stops at the threshold")
def threshold() -> list[str]:
    """Up to k users a place is never named, and with one more hardly ever."""
    wrong = []
    for name in ("limit-ptr", SELECTION):
        subject = at_defaults(name)
        least = int(getattr(subject.holder, "min_users", 0))
        crowds = [{1: users} for users in range(max(0, least - 3), least + 2)]
        chances = law_of(subject, crowd_queries(crowds)).chances or ()
        if any(chances[:-1]):
            wrong.append(f"{name} names places of at most {least} users")
        if not 0 < chances[-1] <= exact(subject.holder.delta) / subject.max_locations:
            wrong.append(f"{name} names places of {least + 1} users with a probability above δ/M")
    return wrong


@check("scales and questions are public")
def scales() -> list[str]:
    """How much noise there is, and for how many numbers, is the same whatever the data; Limit-SS says otherwise."""
    wrong = []
    for name in ("shares", "moments", "limit", "limit-ptr"):
        subject = at_defaults(name)
        few, many = (law_of(subject, crowd_queries([{1: users}, {2: 2 * users}, {}])) for users in (60, 900))
        same_shape = few.scales.shape == many.scales.shape
        if not same_shape or not np.array_equal(few.scales, many.scales):
            wrong.append(f"the noise of {name} depends on the data")
    return wrong
