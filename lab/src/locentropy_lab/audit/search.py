"""The worst neighbours that a search finds, and what they cost: ε(δ) beside the claim.

Two searches, each through the mechanism's own way from data to noise:

    crowds   locations of every size and shape, with one user more or less; M locations like the worst of them at once
    tables   real tables in the engine: people of every kind come and go, bounded, restricted and shared by the software

Both directions are tried throughout. Pure guarantees are compared in exact fractions; others by a privacy-loss
distribution that is rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.privacy.concentrated import admissible_rho
from locentropy_lab.audit.neighbours import asked, joined, pairs, some_users, town_of, turns_of
from locentropy_lab.audit.privacy_loss import Component, PrivacyLoss, components, exact_loss, exact_rho
from locentropy_lab.audit.subjects import Crowd, crowd_queries, law_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from locentropy.privacy.guarantee import Guarantee
    from locentropy_lab.audit.subjects import Law, Subject

    Pair = tuple[Crowd, Crowd]
    Row = list[Component] | None
    """Where the laws of one location differ; None if their coordinates are not the same."""

LARGEST_CROWD: Final = 3000
_COARSE: Final = 2**11  # cells, where neighbours are only compared with one another
_FINE: Final = 2**16
_FINALISTS: Final = 3
_RARE: Final = 1e-3


@dataclass(frozen=True)
class Cost:
    """What the worst neighbours of one search cost."""

    epsilon: float
    """An upper bound on ε(δ) for every pair of neighbours that was tried; for a pure guarantee the exact loss."""
    reached: float
    """A lower bound on it for the worst pair."""
    kept: bool
    """Whether it is within the claim, decided without rounding where the guarantee is pure."""
    tried: int
    """Pairs of neighbours, each in both directions."""
    worst: str
    """The worst pair in words."""


@dataclass(frozen=True)
class Numerical:
    """Both searches for one mechanism."""

    name: str
    claim: Guarantee
    crowds: Cost | None
    """None where a location by itself says nothing about the cost (Shares, the survey)."""
    tables: Cost

    @property
    def costs(self) -> tuple[Cost, ...]:
        """The searches that were made."""
        return (self.tables,) if self.crowds is None else (self.crowds, self.tables)

    @property
    def epsilon(self) -> float:
        """The larger of both."""
        return max(cost.epsilon for cost in self.costs)

    @property
    def kept(self) -> bool | None:
        """Whether the guarantee holds for all that was tried; None where there is none."""
        return all(cost.kept for cost in self.costs) if self.claim.private else None


def numerical(subject: Subject) -> Numerical:
    """Search for the worst neighbours of a mechanism."""
    crowds = _searched(crowd_search, subject) if subject.by_place else None
    return Numerical(subject.name, subject.guarantee, crowds, _searched(table_search, subject))


def _searched(search: Callable[[Subject], Cost], subject: Subject) -> Cost:
    """Run a search. One that stops on an error has shown nothing: the audit goes on, and fails."""
    try:
        return search(subject)
    except Exception as error:
        return Cost(math.inf, 0.0, kept=False, tried=0, worst=stopped(error))


def stopped(error: Exception) -> str:
    """Describe the error that stopped a part of the audit. The data is made up: nothing in it is private."""
    return f"stopped on {type(error).__name__}: {str(error)[:200]}"


def cost_of(
    subject: Subject, found: Sequence[Component] | None, cells: int = _FINE
) -> tuple[float, float, bool]:
    """(upper bound on ε(δ), lower bound, whether within the claim) of neighbours that differ in these components."""
    claim = subject.guarantee
    if found is None:
        return math.inf, math.inf, False
    loss = exact_loss(found)
    if loss is not None:
        return float(loss), float(loss), claim.epsilon is not None and loss <= claim.epsilon
    rho = exact_rho(found)
    if rho is not None:
        return _by_rho(rho, claim)
    return _by_distribution(found, float(claim.delta), cells, claim.epsilon)


def _by_rho(rho: Fraction, claim: Guarantee) -> tuple[float, float, bool]:
    """The same for Gaussian noise: ε(δ) by the best order above, and that of continuous noise, as a guide, below."""
    if not claim.delta or claim.epsilon is None:
        return math.inf, math.inf, False
    spent, log_delta = float(rho), math.log(claim.delta)
    orders = 1 + np.geomspace(1e-3, 1e6, 20_000)
    bounds = orders * spent + np.log1p(-1 / orders) - (log_delta + np.log(orders)) / (orders - 1)
    mean = math.sqrt(2 * spent)
    low, high = 0.0, float(bounds.min())
    while high - low > 1e-9:
        middle = (low + high) / 2
        rare = _upper_tail(middle / mean - mean / 2) - math.exp(middle) * _upper_tail(
            middle / mean + mean / 2
        )
        low, high = (middle, high) if rare > claim.delta else (low, middle)
    return float(bounds.min()), low, rho <= admissible_rho(claim.epsilon, claim.delta)


def _upper_tail(at: float) -> float:
    return 0.5 * math.erfc(at / math.sqrt(2))


def _by_distribution(
    found: Sequence[Component], delta: float, cells: int, claimed: Fraction | None
) -> tuple[float, float, bool]:
    precision = 1e-3 if cells == _COARSE else 1e-7
    both = [
        PrivacyLoss.between(way, cells=cells).epsilon(delta, precision)
        for way in (found, [each.turned() for each in found])
    ]
    upper = max(each.upper for each in both)
    kept = claimed is not None and upper <= claimed
    return upper, max(each.lower for each in both), kept


# --- crowds -------------------------------------------------------------------------------------------------------


def crowd_search(subject: Subject) -> Cost:
    """Search locations of every size; the user is in M like the worst, or half of them are like the second worst."""
    many = subject.max_locations
    tried, rows, ranked = _tried(subject, lambda row: cost_of(subject, _times(row, many), _COARSE)[0])
    finalists = ranked[:_FINALISTS]
    found = {at: cost_of(subject, _times(rows[at], many)) for at in finalists}
    if len(finalists) > 1:
        ways = [rows[finalists[number % 2]] for number in range(many)]
        found[-1] = cost_of(subject, None if None in ways else [each for way in ways for each in way or ()])
    worst = max(found, key=lambda at: found[at][0])
    return Cost(
        epsilon=found[worst][0],
        reached=found[worst][1],
        kept=all(kept for _, _, kept in found.values()),
        tried=len(tried),
        worst=_in_words(tried[ranked[0] if worst == -1 else worst], many),
    )


def worst_crowds(subject: Subject) -> tuple[list[Crowd], list[Crowd]]:
    """Return M locations without and with the user for whom the loss is largest: what an attacker would choose."""
    many = subject.max_locations
    tried, _, ranked = _tried(subject, lambda row: _visible(_times(row, many)))
    before, after = tried[ranked[0]]
    return [before] * many, [after] * many


def _tried(subject: Subject, cost: Callable[[Row], float]) -> tuple[list[Pair], list[Row], list[int]]:
    """Crowds without and with one user, what each means for the noise, and which are the worst.

    Of large crowds some are tried, and then all between the worst of them and its neighbours.
    """
    sizes = _sizes(subject)
    tried = pairs(_max_visits(subject), sizes) + _linear(subject)
    rows = _rows(subject, tried)
    ranked = _ranked(rows, cost)
    if ranked[0] < len(sizes):
        around = sizes[max(0, ranked[0] - 1) : ranked[0] + 2]
        between = tuple(users for users in range(around[0], around[-1]) if users not in around)
        more = pairs(_max_visits(subject), between, all_small=False)
        if more:
            tried += more
            rows += _rows(subject, more)
            ranked = _ranked(rows, cost)
    return tried, rows, ranked


def _rows(subject: Subject, tried: list[Pair]) -> list[Row]:
    return _by_place(*(law_of(subject, crowd_queries([pair[side] for pair in tried])) for side in (0, 1)))


def _times(row: Row, many: int) -> Row:
    return None if row is None else row * many


def _ranked(rows: list[Row], cost: Callable[[Row], float]) -> list[int]:
    """The locations, the worst first; where only values move, those that lead by some simple measure."""
    leaders = np.flatnonzero([row is None or bool(row) for row in rows])
    if all(exact_loss(row) is not None for row in rows):
        measures = np.array([_measures(row or []) for row in rows])
        leaders = np.unique(np.argsort(-measures, axis=0, kind="stable")[:_FINALISTS])
    costs = {int(at): cost(rows[at]) for at in leaders}
    return sorted(costs, key=lambda at: costs[at], reverse=True)


def _measures(row: list[Component]) -> list[float]:
    """How far values move in units of their noise, and that together with how far the scales move."""
    value = sum(abs(each.value - each.other) / min(each.scale, each.other_scale) for each in row)
    move = sum(math.log(each.scale / each.other_scale) for each in row)
    return [value + weight * move for weight in (0.0, 1.0, 5.0, 30.0, -1.0, -5.0, -30.0)]


def _visible(found: Row) -> float:
    """What an experiment can show: very rare losses, which δ allows, happen in none."""
    if found is None:
        return math.inf
    loss = exact_loss(found)
    return float(loss) if loss is not None else _by_distribution(found, _RARE, _COARSE, None)[1]


def _max_visits(subject: Subject) -> int:
    return int(getattr(subject.holder, "max_visits", 1))


def _sizes(subject: Subject) -> tuple[int, ...]:
    """Numbers of users to try: all small ones, some large ones, and those next to where a selection turns."""
    some = set(some_users(LARGEST_CROWD))
    curve = getattr(subject.holder, "curve", None)
    least = int(getattr(subject.holder, "min_users", 0))
    if curve is not None:
        some |= {near + step for near in (least, *turns_of(subject)) for step in range(-3, 4)}
        some |= {least + at for at in np.linspace(0, curve.certain_from, 60).astype(int).tolist()}
    elif least:
        some |= {least + step for step in range(-3, 4)}
    return tuple(sorted(users for users in some if users >= 0))


def _linear(subject: Subject) -> list[Pair]:
    """Every number of visits that the user may have, also beyond C, at a location that has others."""
    most = _max_visits(subject)
    return [
        ({1: 3}, joined({1: 3}, visits)) for visits in {*range(1, min(most, 100) + 1), most + 1, 10 * most}
    ]


def _by_place(here: Law, there: Law) -> list[Row]:
    """The components of each location."""
    if here.values.shape != there.values.shape:
        return [None] * here.places
    found: list[Row] = []
    width = max(1, here.width)
    for at in range(here.places):
        part = slice(at * width, (at + 1) * width)
        sides = [
            type(law)(
                law.values[part], law.scales[part], None if law.chances is None else law.chances[part], 1
            )
            for law in (here, there)
        ]
        found.append(components(*sides))
    return found


def _in_words(pair: Pair, many: int) -> str:
    before, after = pair
    [new] = [visits for visits in after if after[visits] != before.get(visits, 0)]
    there = " and ".join(
        f"{_many(users, 'user')} with {_many(visits, 'visit')}" for visits, users in sorted(before.items())
    )
    return f"a user with {_many(new, 'visit')} in {_many(many, 'place')} of {there or 'nobody'}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# --- tables -------------------------------------------------------------------------------------------------------


def table_search(subject: Subject) -> Cost:
    """Search people of every kind, each taken out of a real table in the engine."""
    found = {who: cost_of(subject, each) for who, each in table_losses(subject).items()}
    worst = max(found, key=lambda who: found[who][0])
    epsilon, reached, _ = found[worst]
    return Cost(epsilon, reached, all(kept for _, _, kept in found.values()), len(found), worst)


def table_losses(subject: Subject) -> dict[str, list[Component] | None]:
    """For each guest, where the laws with and without them differ; None if their coordinates are not the same."""
    made = town_of(subject)
    with asked(made.people, made.listed) as queries:
        whole = law_of(subject, queries)
    found: dict[str, list[Component] | None] = {}
    for who in made.guests:
        with asked(made.without(who), made.listed) as queries:
            found[who] = components(whole, law_of(subject, queries))
    return found
