"""From tables to promises: a user taken out of a real table costs no more than was promised, engine included."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import locentropy as le
from locentropy import LimitPTR, Moments
from locentropy.core.locations import Locations
from locentropy.core.queries import CachedQueries
from locentropy.mechanisms.shares.measurements import SPLIT_MAX_VISITS
from locentropy.paper import Limit, LimitSS
from locentropy.privacy.guarantee import exact
from locentropy.visits import queries as table_queries
from locentropy.visits.queries import TableQueries
from tests.examples import at_night
from tests.visits.reference import Row
from tests.visits.test_profile import as_table
from tests.visits.test_shares import LISTED, WITHIN, counted_too_late, people, rounded_up, unshared

from .recording import Recorder
from .shares.recording import Drawn, loss, noised

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

EPSILONS = (0.1, 1 / 3, 1.0, 5.0, 7.3, 10.0)


def crowd(seed: int) -> list[Row]:
    """A dozen users of all sizes, one who hardly leaves two places, and one whose shares count most."""
    homely = [Row(12, at, None, 2**30) for at in (0, 41) for _ in range(3)]
    return people(seed) + homely + [Row(13, at, None, SPLIT_MAX_VISITS) for at in WITHIN[:11]]


@contextmanager
def opened(rows: list[Row]) -> Iterator[list[CachedQueries]]:
    """Queries about a list, and as after a selection: restricted to a part of it."""
    visits = le.Visits(as_table(rows, counted=True, timed=False))
    with le.private.open_queries(visits, locations=LISTED, resources=le.Resources(threads=1)) as queries:
        yield [CachedQueries(queries), CachedQueries(queries.restricted_to(Locations.of(WITHIN)))]


def shares_drawn(rows: list[Row]) -> dict[tuple[float, int], Drawn]:
    with opened(rows) as asking:
        return {(e, at): noised(e, queries)[0] for e in EPSILONS for at, queries in enumerate(asking)}


def shares_costs(rows: list[Row], users: list[int]) -> dict[tuple[float, int], Fraction]:
    """The most that one of the users costs, as a part of ε."""
    whole = shares_drawn(rows)
    costs = dict.fromkeys(whole, Fraction(0))
    for user in users:
        without = shares_drawn([row for row in rows if row.user != user])
        for key, drawn in whole.items():
            costs[key] = max(costs[key], loss(drawn, without[key]) / exact(key[0]))
    return costs


@pytest.mark.parametrize("seed", [0, *at_night(1, 2, 3)])
def test_one_user_costs_shares_no_more_than_promised(seed):
    costs = shares_costs(crowd(seed), list(range(14)))
    assert max(costs.values()) <= 1
    assert min(costs.values()) > Fraction(9999, 10_000), "or this tests little"


ENGINE_FAULTS = {
    "everyone has the largest share": (table_queries, "share", unshared),
    "shares are rounded up": (table_queries, "share", rounded_up),
    "places are counted in another list": (TableQueries, "restricted_to", counted_too_late),
}


@pytest.mark.parametrize("fault", ENGINE_FAULTS)
def test_the_check_sees_an_engine_that_does_not_share(fault, monkeypatch):
    """Without a fault the same crowd costs no more than 1: above, for every user of it."""
    monkeypatch.setattr(*ENGINE_FAULTS[fault])
    assert max(shares_costs(crowd(0), [2, 7, 13]).values()) > 1
