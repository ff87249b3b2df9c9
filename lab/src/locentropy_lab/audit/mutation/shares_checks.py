"""Checks of Shares, whose questions depend on what came out before: neighbours under the same outcome, in fractions.

Both kinds of noise are checked, with public attributes, at an ε at which all queries are asked.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from locentropy.core.locations import Locations
from locentropy.mechanisms.shares.measurements import LOOK, SIZES, Plan
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy import concentrated
from locentropy_lab.audit.mutation.planting import check
from locentropy_lab.audit.neighbours import Town, asked
from locentropy_lab.audit.subjects import Recorder, far_above, spread_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy_lab.audit.neighbours import People
    from locentropy_lab.audit.subjects import Outcome

_OUTCOMES: Final = ((far_above, False), (far_above, True), (spread_out(1), True))
"""What came out of the noise, and whether the table has a row for each visit."""
_ADMITTED: Final = {
    ("0.5", "1e-8"): "0.0045781811",
    ("1", "1e-6"): "0.0243560",
    ("2", "1e-6"): "0.0881527",
    ("4", "1e-6"): "0.3110650",
}
"""ρ that (ε, δ) admits, rounded up; computed elsewhere."""


def _subjects() -> tuple[Shares, ...]:
    return Shares(0.5), Shares(0.5, delta=1e-8)


def _listed(many: int) -> Locations:
    """Places of three kinds, by their number."""
    return Locations(pa.array(range(many)), attributes={"kind": pa.array([at // 40 for at in range(many)])})


def _drawn(
    shares: Shares, people: People, listed: int, outcome: Outcome, *, row_each: bool = False
) -> Recorder:
    noise = Recorder(outcome=outcome)
    with asked(people, listed, row_each=row_each) as queries:
        shares.measure(queries, _listed(listed), noise)
    return noise


def _town(shares: Shares, outcome: Outcome) -> Town:
    """People of every size, and a place where one more lifts the exact look over an edge of bands."""
    made = Town()
    edge_place = made.places(1)[0]
    for size, visits in ((1, 3), (13, 3), (16, 3), (64, 3), (64, 1), (100, 9)):
        where = dict.fromkeys(made.places(size), visits)
        made.guest(f"a user with {visits} visits in each of {size} places", where)
    for at in range(1, made.listed, 7):
        made.people[len(made.people)] = {at: 2, max(1, (at + 3) % made.listed): 1}
    asking = shares.queries_about(_listed(made.listed))
    looks = outcome(1, np.full(made.listed, asking.scales[LOOK]))
    edges = Plan(asking, {LOOK: looks}).edges(SIZES)
    made.crowd(edge_place, {1: edges[0] // asking.largest if edges else 7})
    made.guest("a user who lifts a place over an edge", {edge_place: 1})
    return made


def _allowed(shares: Shares) -> tuple[Fraction, bool]:
    """ε and Laplace, or ρ and Gaussian: what the stated guarantee allows."""
    stated = shares.guarantee
    if not stated.delta:
        return stated.epsilon or Fraction(0), False
    return Fraction(_ADMITTED["0.5", "1e-8"]), True


def _cost(here: Recorder, there: Recorder, gaussian: bool) -> Fraction | None:
    """The loss (Laplace) or ρ (Gaussian), exactly; None if the draws are not comparable."""
    whole = Fraction(0)
    for mine, theirs in zip(here.draws, there.draws, strict=True):
        if (
            mine.values.shape != theirs.values.shape
            or mine.gaussian != gaussian
            or theirs.gaussian != gaussian
        ):
            return None
        apart = [abs(each) for each in (mine.values - theirs.values).ravel().tolist()]
        if not apart:
            continue
        scale = Fraction(float(mine.scales.flat[0]))
        whole += (
            Fraction(sum(each * each for each in apart)) / (2 * scale**2) if gaussian else sum(apart) / scale
        )
    return whole


@check("every outcome of Shares is within its guarantee")
def within() -> Iterator[str]:
    """For both noises, several outcomes and people of every kind, through the engine."""
    for shares in _subjects():
        allowed, gaussian = _allowed(shares)
        for outcome, row_each in _OUTCOMES:
            made = _town(shares, outcome)
            drawn = partial(_drawn, shares, listed=made.listed, outcome=outcome, row_each=row_each)
            whole = drawn(made.people)
            for who in made.guests:
                cost = _cost(whole, drawn(made.without(who)), gaussian)
                if cost is None or cost > allowed:
                    yield f"{shares}: {who} costs more than the guarantee allows"


def _counted_town() -> Town:
    """People at fewer places than count, at as many, and at far more; with few visits and with many."""
    made = Town()
    for size, visits in ((1, 1), (16, 3), (100, 9)):
        where = dict.fromkeys(made.places(size), visits)
        made.guest(f"a user with {visits} visits in each of {size} places", where)
    for at in range(0, made.listed, 7):
        made.people[len(made.people)] = {at: 2, (at + 3) % made.listed: 1}
    return made


@check("counts of Shares are within its guarantee")
def counted() -> list[str]:
    """For both noises and people of every kind, through the engine: shares and counts together."""
    wrong = []
    for plain in _subjects():
        shares = replace(plain, counts=0.5, max_locations=9, max_visits=2)
        allowed, gaussian = _allowed(shares)
        made = _counted_town()
        whole = _drawn(shares, made.people, made.listed, far_above)
        for who in made.guests:
            cost = _cost(whole, _drawn(shares, made.without(who), made.listed, far_above), gaussian)
            if cost is None or cost > allowed:
                wrong.append(f"{shares}: {who} costs more than the guarantee allows")
    return wrong


@check("ρ is what (ε, δ) admits")
def admitted() -> list[str]:
    """At the order that was chosen, δ is within the one asked for, to 55 digits; ρ is within values known elsewhere."""
    wrong = []
    for (epsilon, delta), most in _ADMITTED.items():
        rho = concentrated.admissible_rho(epsilon, delta)
        if rho > Fraction(most):
            wrong.append(f"ρ({epsilon}, {delta}) is above {most}")
        order = concentrated._best_order(Fraction(epsilon), Fraction(delta))
        if _delta_exceeded(
            concentrated.rho_at(Fraction(epsilon), Fraction(delta), order), epsilon, delta, order
        ):
            wrong.append(f"ρ({epsilon}, {delta}) is rounded towards the spender")
    return wrong


def _delta_exceeded(rho: Fraction, epsilon: str, delta: str, order: Fraction) -> bool:
    with localcontext() as context:
        context.prec = 60
        a, r = (Decimal(each.numerator) / Decimal(each.denominator) for each in (order, rho))
        found = (a - 1) * (a * r - Decimal(epsilon)) + a * (1 - 1 / a).ln() - (a - 1).ln()
        return found > Decimal(delta).ln()
