"""Forgeries of an earlier release: its numbers changed, and every fingerprint made to fit again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import locentropy as le
from locentropy.core.estimates import Measurements
from locentropy.mechanisms.shares.measurements import LOOK, SIZES, SPLIT, SUMS, VISITS, Plan
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES
from locentropy.release.measurements import KeptMeasurements

Values = dict[str, np.ndarray[Any, Any]]
MOST, LEAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min
NUMBERS = {
    "the largest": MOST,
    "the smallest": LEAST,
    "2^62": 2**62,
    "-2^62": -(2**62),
    "2^53": 2**53,
    "-2^53": -(2**53),
    "2^40": 2**40,
    "0": 0,
    "-1": -1,
}
"""What answers are replaced by; there are no whole numbers that are none."""


def forged(source: Path, to: Path, change: Callable[[Values], Values]) -> Path:
    """A release with other measurements, consistent in itself: saved as if it had been published so."""
    release = le.Release.load(source)
    kept = release.measurements
    assert kept is not None
    given = {name: each.copy() for name, each in kept.measurements.values.items()}
    measured = Measurements(kept.measurements.locations, change(given), private=True)
    other = KeptMeasurements(kept.release_id, measured, kept.scales, kept.user_column, kept.rules)
    return replace(release, measurements=other).save(to)


def forgeries(mechanism: le.Shares, listed: Any) -> Iterator[tuple[str, Callable[[Values], Values]]]:
    """Ways to change the measurements of a release of Shares about this list, by name."""
    asked = mechanism.queries_about(listed)
    for name in asked.names:
        for called, number in NUMBERS.items():
            yield f"{name}: all {called}", _all(name, number)
            yield f"{name}: one {called}", _one(name, number)
        yield f"{name}: now one and now the other end", _alternating(name)
        for called, reshaped in RESHAPED.items():
            yield f"{name}: {called}", _reshaped(name, reshaped)
        yield f"{name}: missing", lambda values, name=name: {k: v for k, v in values.items() if k != name}
        yield (
            f"{name}: under another name",
            lambda values, name=name: {f"{k}x" * (k == name) or k: v for k, v in values.items()},
        )
    yield "a query more", lambda values: {**values, "more": np.zeros(3, dtype=np.int64)}
    for called, number in NUMBERS.items():
        for filled, fill in NUMBERS.items():
            yield f"looks {called}, the rest fits and is {filled}", _fitting(asked, listed, number, fill)


RESHAPED: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "one row less": lambda each: each[:-1],
    "one row more": lambda each: (
        np.concatenate([each, each[:1]]) if len(each) else np.ones(1, dtype=np.int64)
    ),
    "empty": lambda each: each[:0],
    "flat": lambda each: each.ravel()[:, None] if each.ndim == 1 else each.ravel(),
    "turned around": lambda each: each.T.copy() if each.ndim > 1 else each[None, :],
    "a hundred times as long": lambda each: (
        np.repeat(each, 100, axis=0) if len(each) else np.zeros(100, dtype=np.int64)
    ),
}


def _all(name: str, number: int) -> Callable[[Values], Values]:
    return lambda values: {**values, name: np.full_like(values[name], number)}


def _one(name: str, number: int) -> Callable[[Values], Values]:
    def change(values: Values) -> Values:
        values[name].ravel()[:1] = number
        return values

    return change


def _alternating(name: str) -> Callable[[Values], Values]:
    def change(values: Values) -> Values:
        flat = values[name].ravel()
        flat[::2], flat[1::2] = MOST, LEAST
        return values

    return change


def _reshaped(name: str, reshaped: Callable[[Any], Any]) -> Callable[[Values], Values]:
    return lambda values: {**values, name: reshaped(values[name])}


def _fitting(asked: Any, listed: Any, number: int, fill: int) -> Callable[[Values], Values]:
    """Looks that are all alike but the first, and answers of the shapes that Shares would give them."""

    def change(values: Values) -> Values:
        look = np.full(len(listed), number, dtype=np.int64)
        look[0] = values[LOOK][0]
        made: Values = {LOOK: look}
        if SUMS in values:
            made[SUMS] = np.full_like(values[SUMS], fill)
        made[SIZES] = np.full((len(Plan(asked, made).edges(SIZES)) + 1, SIZE_OCTAVES), fill, dtype=np.int64)
        shape = (len(Plan(asked, made).edges(VISITS)) + 1, 2, VISIT_OCTAVES)
        made[VISITS] = np.full(shape, fill, dtype=np.int64)
        made[SPLIT] = np.full(Plan(asked, made).clear_places.size, fill, dtype=np.int64)
        return made

    return change
