"""From tables to promises: a user taken out of a real table costs no more than was promised, engine included."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.locations import Locations
from locentropy.mechanisms import Limit, LimitPTR, LimitSS, Moments
from locentropy.visits.queries import TableQueries

from .recording import Recorder

PLACES = pa.array([f"place-{at}" for at in range(6)])
EPSILON_1 = Fraction(LimitSS(1.0, 1e-6, 2, 3).calibration.epsilon_1)


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
    with le.open_queries(visits, locations=PLACES) as queries:
        for mechanism in (
            Limit(1.0, 2, 3, keep),
            Moments(1.0, 2, 3, keep),
            LimitSS(1.0, 1e-6, 2, 3, keep=keep),
            LimitPTR(1.0, 0.4, 2, 3, 0, keep=keep),
        ):
            noise = Recorder()
            mechanism.estimate(queries, Locations(PLACES), noise)
            found[type(mechanism).__name__] = (noise.values.ravel().tolist(), noise.scales.ravel().tolist())
        found["coins"] = (noise.coins.tolist(), [])
    return found


def limit_loss(here: dict, there: dict, name: str = "Limit") -> Fraction:
    (values, scales), (others, _) = here[name], there[name]
    return sum(abs(v - w) / Fraction(b) for v, w, b in zip(values, others, scales, strict=True))


@pytest.mark.parametrize("keep", ["most-visited", "lowest-id"])
@pytest.mark.parametrize("seed", [1, 2, 3])
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

    def unbounded(self, bounds: le.Bounds) -> le.VisitProfile:
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
