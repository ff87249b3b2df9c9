"""Neighbours between which entropy moves most, as the audit finds them: by search, not by the package's formulas."""

from __future__ import annotations

from functools import cache
from math import log

from locentropy_lab.audit.neighbours import every_crowd, joined, some_users, worst

from .recording import Crowd

__all__ = ["entropy", "every_crowd", "joined", "pairs", "some_users", "worst"]


def entropy(crowd: Crowd) -> float:
    total = sum(v * u for v, u in crowd.items())
    return log(total) - sum(u * v * log(v) for v, u in crowd.items()) / total if total else 0.0


@cache
def pairs(max_visits: int, users: tuple[int, ...]) -> tuple[list[Crowd], list[Crowd]]:
    """The crowds without and with one more user, for each number of users."""
    found = [worst(max_visits, m) for m in users]
    return [crowd for crowd, _ in found], [joined(crowd, new) for crowd, new in found]
