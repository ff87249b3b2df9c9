"""Shares seen from outside: visits go in, and what is noised, and what is read of it, is written down.

The check of a guarantee takes both from a run of `Shares.measure` and `Shares.estimate`, and nothing from its formulas.

Shares asks in stages: what is asked depends on what came out before. So neighbours are compared under one and the same
outcome, whatever it is: `Recorder(seed)` answers every question with integers that depend on the seed, on how many
questions there were and on the shape of the answer, and on nothing else. The loss of that outcome is the sum of the
losses of its stages; a guarantee must hold for every seed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa

from locentropy.core.locations import Locations
from locentropy.core.visit_profile import VisitProfile
from locentropy.privacy.concentrated import admissible_rho
from tests.visits.reference import Row, look, presence, profile

if TYPE_CHECKING:
    from locentropy.core.bounds import Bounds
    from locentropy.core.shares import ShareRule
    from locentropy.mechanisms.shares.answers import Answers


class Draw(NamedTuple):
    """A question to the noise."""

    kind: str
    values: list[int]
    shape: tuple[int, ...]
    scale: float


class PlainQueries:
    """`Queries` on a list of rows, in plain Python, by the definition of shares."""

    def __init__(self, rows: list[Row], listed: list[Any]) -> None:
        self.rows = rows
        self.listed = list(listed)
        self.locations = pa.array(listed)

    def look(self, rule: ShareRule) -> np.ndarray:
        return np.array(look(self.rows, rule, self.listed), dtype=np.int64)

    def presence(self, rule: ShareRule, bands: Any, places: Any, visits: Any) -> np.ndarray:
        cells = presence(self.rows, rule, self.listed, bands.tolist(), places, visits)
        return np.array(cells, dtype=np.int64)

    def profile(self, bounds: Bounds) -> VisitProfile:
        resolved = bounds.resolved(has_time=False)
        counted = profile(self.rows, resolved, set(self.listed))
        rows = [(self.listed.index(at), visits, users) for (at, visits), users in counted.items()]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return VisitProfile.from_rows(self.locations, *columns, resolved)

    def restricted_to(self, locations: Locations) -> PlainQueries:
        return type(self)(self.rows, locations.ids.to_pylist())


class Recorder:
    """`Noise` that remembers what it is asked for; it adds nothing, or answers by a seed, whatever the values.

    It has no other kind of noise: who asks for one fails.
    """

    private = False

    def __init__(self, seed: int | None = None, all_clear: bool = False) -> None:
        self.drawn: list[Draw] = []
        self.seed = seed
        self.all_clear = all_clear

    def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
        return self._answer("laplace", values, scale)

    def gaussian(self, values: np.ndarray, scale: float) -> np.ndarray:
        return self._answer("gaussian", values, scale)

    def _answer(self, kind: str, values: np.ndarray, scale: float) -> np.ndarray:
        number = len(self.drawn)
        self.drawn.append(Draw(kind, values.ravel().tolist(), values.shape, scale))
        if self.seed is None:
            return values.copy()
        draw = np.random.default_rng([self.seed, number])
        if self.all_clear:  # every place far above the noise, in one band
            return np.full(values.shape, math.ceil(100 * scale), dtype=np.int64)
        sizes = np.exp(draw.uniform(-1.0, 5.0, values.shape)) * scale
        return (sizes * draw.choice([1, 1, 1, -1], values.shape)).astype(np.int64)


class Asked(NamedTuple):
    """One run: what was noised, and what the inference was given."""

    drawn: list[Draw]
    answers: Answers


def asked(shares: Any, queries: Any, noise: Recorder, attributes: Any = None) -> Asked:
    """Run all of the mechanism but the inference, which takes long and makes nothing of it here."""
    listed = Locations(queries.locations, attributes=attributes or {})
    columns = ("entropy", "std_error", "low", "high")
    nothing = SimpleNamespace(leans_on=(), **{name: np.zeros(len(listed)) for name in columns})
    inference = SimpleNamespace(infer=mock.Mock(return_value=nothing))
    measured = shares.measure(queries, listed, noise)
    with _in_place_of("locentropy.mechanisms.shares.estimator.inference", inference):
        shares.estimate(measured, listed)
    return Asked(noise.drawn, inference.infer.call_args.args[0])


@contextmanager
def _in_place_of(name: str, stand_in: Any) -> Iterator[None]:
    """Another module under a name. `mock.patch.dict` would also undo what is imported meanwhile."""
    kept = sys.modules.get(name)
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]
        if kept is not None:
            sys.modules[name] = kept


def loss(here: list[Draw], there: list[Draw]) -> Fraction:
    """The largest |ln P/P'| of these draws (Laplace), or their ρ (Gaussian), exactly; infinite if they do not fit."""
    if [(each.kind, each.shape, each.scale) for each in here] != [
        (each.kind, each.shape, each.scale) for each in there
    ]:
        return Fraction(10**9)
    whole = Fraction(0)
    for mine, theirs in zip(here, there, strict=True):
        apart = [a - b for a, b in zip(mine.values, theirs.values, strict=True)]
        if mine.kind == "laplace":
            whole += Fraction(sum(map(abs, apart))) / Fraction(mine.scale)
        else:
            whole += Fraction(sum(each * each for each in apart)) / (2 * Fraction(mine.scale) ** 2)
    return whole


def allowed(shares: Any) -> Fraction:
    """What the guarantee allows: ε, or the ρ that (ε, δ) admits."""
    promised = shares.guarantee
    return admissible_rho(promised.epsilon, promised.delta) if promised.delta else promised.epsilon


def cost(
    shares: Any, here: Any, there: Any, seed: int = 1, *, all_clear: bool = False, **given: Any
) -> Fraction:
    """The loss between neighbours under one outcome, as a part of what is allowed: exact."""
    one, other = (asked(shares, each, Recorder(seed, all_clear), **given).drawn for each in (here, there))
    kinds = {each.kind for each in (*one, *other)}
    if kinds != {"gaussian" if shares.guarantee.delta else "laplace"}:
        return Fraction(10**9)  # the loss of Gaussian noise has no bound
    return loss(one, other) / allowed(shares)


def leaks(shares: Any, here: Any, there: Any, seed: int = 3, **given: Any) -> set[str]:
    """Which answers still tell two tables apart when the noise has drowned both in the same integers."""
    one, other = (asked(shares, each, Recorder(seed), **given).answers for each in (here, there))
    found = set()
    for field in fields(one):
        mine, theirs = (getattr(each, field.name) for each in (one, other))
        if field.name == "sums":
            mine, theirs = (np.concatenate([np.zeros(0), *each]) for each in (mine, theirs))
        if not np.array_equal(mine, theirs):
            found.add(field.name)
    return found


def wrong_with(shares: Any, here: Any, there: Any, seeds: Any = (1, 2, 3), **given: Any) -> set[str]:
    """The one check of honest and faulty code: a loss above what is allowed, and what is read without noise."""
    worst = max(cost(shares, here, there, seed, **given) for seed in seeds)
    worst = max(worst, cost(shares, here, there, 1, all_clear=True, **given))
    over = {"loss"} if worst > 1 else set()
    return over | leaks(shares, here, there, **given)
