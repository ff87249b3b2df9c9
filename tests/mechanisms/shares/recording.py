"""Shares seen from outside: visits go in, and what is noised, and what is read of it, is written down.

The check of a promise takes both from a run of `Shares.measure` and `Shares.estimate`, and nothing from its formulas.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa

from locentropy.core.locations import Locations
from locentropy.core.share_profile import ShareProfile
from locentropy.mechanisms.shares import mechanism
from locentropy.mechanisms.shares.estimator import inference
from locentropy.mechanisms.shares.estimator.inference import Inferred
from locentropy.privacy.guarantee import exact
from tests.mechanisms.test_survey import loss
from tests.visits.reference import Row, shares

if TYPE_CHECKING:
    from locentropy.mechanisms.shares.measurements import Answers

Drawn = list[tuple[list[int], float]]
"""Every draw: the integers, and the scale of their noise."""


class PlainQueries:
    """`Queries` on a list of rows, in plain Python, by the definition of shares."""

    def __init__(self, rows: list[Row], listed: list[Any]) -> None:
        self.rows = rows
        self.locations = pa.array(listed)

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        listed = self.locations.to_pylist()
        found = shares(self.rows, unit, largest, max_visits, set(listed))
        position = {at: number for number, at in enumerate(listed)}
        rows = [(position[at], visits, total) for (at, visits), total in found.by_place.items()]
        return ShareProfile.from_rows(
            self.locations,
            (unit, largest, max_visits),
            _columns(rows, 3),
            _histogram(found.by_share),
            _histogram(found.by_visits),
        )


class Recorder:
    """`Noise` that remembers what it is asked for, and adds nothing or answers with the integers it was given.

    It has no other kind of noise: who asks for one fails.
    """

    private = False

    def __init__(self, fixed: list[list[int]] | None = None) -> None:
        self.drawn: Drawn = []
        self.fixed = fixed

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        answer = values.copy() if self.fixed is None else self.fixed[len(self.drawn)]
        self.drawn.append((values.ravel().tolist(), scale))
        return np.reshape(np.array(answer, dtype=np.int64), values.shape)


def noised(epsilon: float, queries: Any, fixed: list[list[int]] | None = None) -> tuple[Drawn, Answers]:
    """What is drawn, and what is then read: nothing is made of it, which takes no time."""
    noise = Recorder(fixed)
    nothing = Inferred(*(np.zeros(len(queries.locations)) for _ in Inferred._fields))
    with mock.patch.object(inference, "infer", return_value=nothing) as infer:
        shares, listed = mechanism.Shares(epsilon), Locations(queries.locations)
        shares.estimate(shares.measure(queries, listed, noise), listed)
    return noise.drawn, infer.call_args.args[0]


def cost(epsilon: float, here: Any, there: Any) -> Fraction:
    """The largest |ln P/Q| between neighbours, as a part of ε: exact."""
    return loss(noised(epsilon, here)[0], noised(epsilon, there)[0]) / exact(epsilon)


def leaks(epsilon: float, here: Any, there: Any) -> set[str]:
    """Which answers still tell two tables apart when the noise has drowned both in the same integers."""
    drawn, _ = noised(epsilon, here)
    draw = np.random.default_rng(3)
    fixed = [draw.integers(-(2**40), 2**40, len(values)).tolist() for values, _ in drawn]
    one, other = (noised(epsilon, queries, fixed)[1] for queries in (here, there))
    named = {field.name: [getattr(each, field.name) for each in (one, other)] for field in fields(one)}
    return {name for name, (mine, theirs) in named.items() if not np.array_equal(mine, theirs)}


def wrong_with(epsilon: float, here: Any, there: Any) -> set[str]:
    """The one check of honest and faulty code: a loss above ε, and what is read without noise."""
    over = {"loss"} if cost(epsilon, here, there) > 1 else set()
    return over | leaks(epsilon, here, there)


def _columns(rows: list[tuple[int, ...]], width: int) -> Any:
    return tuple(np.ascontiguousarray(np.array(rows, dtype=np.int64).reshape(-1, width).T))


def _histogram(counted: Counter[int]) -> Any:
    return _columns(list(counted.items()), 2)
