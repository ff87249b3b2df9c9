"""From tables to promises: a user taken out of a real table costs no more than was promised, engine included."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import locentropy as le
from locentropy import LimitPTR, Moments, Shares
from locentropy.core.locations import Locations
from locentropy.core.queries import CachedQueries
from locentropy.paper import Limit, LimitSS
from locentropy.visits import expressions
from locentropy.visits.queries import TableQueries
from tests.examples import at_night
from tests.visits.reference import Row
from tests.visits.test_profile import as_table
from tests.visits.test_shares import (
    LISTED,
    WITHIN,
    counted_elsewhere,
    of_everybody,
    people,
    rounded_up,
    unshared,
)

from .recording import Recorder
from .shares.recording import Draw, allowed, loss
from .shares.recording import Recorder as SharesRecorder

PLACES = pa.array([f"place-{at}" for at in range(6)])
EPSILON_1 = Fraction(LimitSS(1.0, delta=1e-6, max_locations=2, max_visits=3).calibration.epsilon_1)


def table(seed: int) -> list[tuple[int, str]]:
    """A dozen users; some go to far more than two places, some far more than three times to one, some elsewhere."""
    draw = random.Random(seed)
    rows = []
    for user in range(12):
        many = draw.choice([1, 2, 5, 30])
        rows += [(user, f"place-{min(draw.randrange(9), draw.randrange(9))}") for _ in range(many)]
    draw.shuffle(rows)
    return rows


def measured(rows: list[tuple[int, str]], keep: str) -> dict[str, tuple[list[int], list[float]]]:
    """What each mechanism noises, and with which scales, for every listed place."""
    visits = le.Visits(pa.table({"user": [u for u, _ in rows], "location": [at for _, at in rows]}))
    found = {}
    with le.private.open_queries(visits, locations=PLACES) as queries:
        for mechanism in (
            Limit(1.0, max_locations=2, max_visits=3, keep=keep),
            Moments(1.0, max_locations=2, max_visits=3, keep=keep),
            LimitSS(1.0, delta=1e-6, max_locations=2, max_visits=3, keep=keep),
            LimitPTR(1.0, delta=0.4, max_locations=2, max_visits=3, min_users=0, keep=keep),
        ):
            noise = Recorder()
            mechanism.estimate(mechanism.measure(queries, Locations(PLACES), noise), Locations(PLACES))
            found[type(mechanism).__name__] = (noise.values.ravel().tolist(), noise.scales.ravel().tolist())
        found["coins"] = (noise.coins.tolist(), [])
    return found


def limit_loss(here: dict, there: dict, name: str = "Limit") -> Fraction:
    (values, scales), (others, _) = here[name], there[name]
    return sum(abs(v - w) / Fraction(b) for v, w, b in zip(values, others, scales, strict=True))


@pytest.mark.parametrize("keep", ["most-visited", "lowest-id"])
@pytest.mark.parametrize("seed", [1, *at_night(2, 3, 4, 5)])
def test_one_user_costs_no_more_than_promised(seed, keep):
    rows = table(seed)
    whole = measured(rows, keep)
    touched = 0
    for user in range(12):
        without = measured([row for row in rows if row[0] != user], keep)
        assert limit_loss(whole, without) <= 1
        assert limit_loss(whole, without, "Moments") <= 1
        smooth = list(zip(*whole["LimitSS"], *without["LimitSS"], strict=True))
        assert sum(abs(v - w) / Fraction(min(b, c)) for v, b, w, c in smooth) <= EPSILON_1
        moved = sum((v, b) != (w, c) for v, b, w, c in smooth)
        assert moved <= 2
        coins = [a != b for a, b in zip(whole["coins"][0], without["coins"][0], strict=True)]
        assert sum(coins) <= 2
        touched = max(touched, moved)
    assert touched == 2, "or this tests little"


def test_the_check_sees_an_engine_that_does_not_bound_locations(monkeypatch):
    """Planted: users keep all their places, though the answer says that they keep two."""

    def unbounded(self, bounds: le.private.Bounds) -> le.private.VisitProfile:
        loose = self.profiles([replace(bounds, max_locations=6)])[0]
        return replace(loose, bounds=replace(loose.bounds, max_locations=bounds.max_locations))

    rows = [(user, f"place-{at}") for at in range(6) for user in range(2)]
    fewer = [row for row in rows if row[0] != 0]
    sound = measured(rows, "lowest-id"), measured(fewer, "lowest-id")
    monkeypatch.setattr(TableQueries, "profile", unbounded)
    loose = measured(rows, "lowest-id"), measured(fewer, "lowest-id")
    for mechanism in ("Limit", "Moments"):
        assert limit_loss(*sound, mechanism) <= 1
        assert limit_loss(*loose, mechanism) > 2


# --- Shares -------------------------------------------------------------------------------------------------------

MECHANISMS = (Shares(1 / 3), Shares(7.3), Shares(0.5, delta=1e-8), Shares(5.0, delta=1e-9))
SEEDS = (1, 2)
"""Of what came out of the noise: two outcomes, under which neighbours are compared."""


def crowd(seed: int) -> list[Row]:
    """A dozen users of all sizes, one who hardly leaves two places, and one who returned to a power of four of them."""
    homely = [Row(12, at, None, 2**30) for at in (0, 41) for _ in range(3)]
    return people(seed) + homely + [Row(13, at, None, 3) for at in WITHIN[:16]]


@contextmanager
def opened(rows: list[Row]) -> Iterator[list[CachedQueries]]:
    """Queries about a list, and as after a selection: restricted to a part of it."""
    visits = le.Visits(as_table(rows, counted=True, timed=False))
    with le.private.open_queries(visits, locations=LISTED, resources=le.Resources(threads=1)) as queries:
        yield [CachedQueries(queries), CachedQueries(queries.restricted_to(Locations.of(WITHIN)))]


Drawn = dict[tuple[le.Shares, int, int], list[Draw]]


def shares_drawn(rows: list[Row], mechanisms: Sequence[le.Shares] = MECHANISMS) -> Drawn:
    """What is noised, by mechanism, list and outcome."""
    found: Drawn = {}
    with opened(rows) as asking:
        for at, queries in enumerate(asking):
            listed = Locations(
                queries.locations,
                attributes={"kind": pa.array([n % 3 for n in range(len(queries.locations))])},
            )
            for shares in mechanisms:
                for seed in SEEDS:
                    noise = SharesRecorder(seed, all_clear=seed == SEEDS[0])
                    shares.measure(queries, listed, noise)
                    found[shares, at, seed] = noise.drawn
    return found


def shares_costs(
    rows: list[Row], users: list[int], mechanisms: Sequence[le.Shares] = MECHANISMS
) -> dict[tuple[le.Shares, int, int], Fraction]:
    """The most that one of the users costs, as a part of what is allowed."""
    whole = shares_drawn(rows, mechanisms)
    costs = dict.fromkeys(whole, Fraction(0))
    for user in users:
        without = shares_drawn([row for row in rows if row.user != user], mechanisms)
        for key, drawn in whole.items():
            costs[key] = max(costs[key], loss(drawn, without[key]) / allowed(key[0]))
    return costs


@pytest.mark.parametrize("seed", [0, *at_night(1, 2, 3)])
def test_one_user_costs_shares_no_more_than_promised(seed):
    costs = shares_costs(crowd(seed), [2, 4, 5, 7, 12, 13])
    assert max(costs.values()) <= 1
    for shares in MECHANISMS:
        reached = max(cost for (each, _, _), cost in costs.items() if each is shares)
        assert reached > Fraction(9 if shares.delta else 99, 10 if shares.delta else 100), (
            "or this tests little"
        )


ENGINE_FAULTS = {
    "everyone has the largest share": (expressions, "with_shares", unshared),
    "shares are rounded up": (expressions, "quotient", rounded_up),
    "places are counted in another list": (expressions, "spread_pairs", counted_elsewhere),
    "others' visits weigh": (expressions, "spread_pairs", of_everybody),
}


@pytest.mark.parametrize("fault", ENGINE_FAULTS)
def test_the_check_sees_an_engine_that_does_not_share(fault, monkeypatch):
    """Without a fault the same crowd costs no more than 1: above, for every user of it."""
    monkeypatch.setattr(*ENGINE_FAULTS[fault])
    assert max(shares_costs(crowd(0), [7, 13], MECHANISMS[::2]).values()) > 1
