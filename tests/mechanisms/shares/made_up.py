"""Made-up people and made-up answers: what comes out of the inference is then known."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.answers import Answers
from locentropy.mechanisms.shares.measurements import (
    LOOK,
    SIZES,
    SPLIT,
    UNIT,
    VISITS,
    Plan,
    ShareQueries,
)
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES

if TYPE_CHECKING:
    from locentropy.core.shares import ShareRule


def bell(middle: float, width: float, cells: int) -> np.ndarray:
    """A smooth law over octaves."""
    law = np.exp(-((np.arange(cells) - middle) ** 2) / (2 * width**2))
    return law / law.sum()


def entropies(place: np.ndarray, visits: np.ndarray, listed: int) -> np.ndarray:
    """The true ones; 0 where nobody was."""
    total = np.maximum(np.bincount(place, visits, listed), 1.0)
    return np.log(total) - np.bincount(place, visits * np.log(visits), listed) / total


class Table:
    """`Queries` about rows of (user, place, visits), in NumPy: one row for each user and place."""

    def __init__(self, user: np.ndarray, place: np.ndarray, visits: np.ndarray, listed: int) -> None:
        self.user = np.unique(user, return_inverse=True)[1]
        self.place, self.visits = np.asarray(place), np.asarray(visits)
        self.locations = pa.array(np.arange(listed))

    def look(self, rule: ShareRule) -> np.ndarray:
        found = np.zeros(len(self.locations), dtype=np.int64)
        np.add.at(found, self.place, self.shares(rule))
        return found

    def shares(self, rule: ShareRule) -> np.ndarray:
        weight = np.array(rule.weights)[np.minimum(self.visits, len(rule.weights)) - 1].astype(np.float64)
        if rule.norm == "l1":
            whole = np.bincount(self.user, weight)[self.user]
        else:
            whole = np.ceil(np.sqrt(np.bincount(self.user, weight**2)))[self.user]
        return np.minimum(np.floor(rule.unit * weight / np.maximum(whole, 1.0)), rule.largest).astype(
            np.int64
        )

    def presence(self, rule, bands, places, visits) -> np.ndarray:
        of_user = np.bincount(self.user)[self.user]
        shape = (int(bands.max(initial=0)) + 1, len(places) + 1, len(visits) + 1)
        found = np.zeros(shape, dtype=np.int64)
        cell = (
            bands[self.place],
            np.searchsorted(places, of_user, side="right"),
            np.searchsorted(visits, self.visits, side="right"),
        )
        np.add.at(found, cell, self.shares(rule))
        return found

    def restricted_to(self, locations: Locations) -> Table:
        chosen = locations.ids.to_numpy()
        at = np.full(len(self.locations), -1)
        at[chosen] = np.arange(chosen.size)
        kept = at[self.place] >= 0
        within = Table(self.user[kept], at[self.place[kept]], self.visits[kept], chosen.size)
        within.locations = locations.ids
        return within


def of_people(user, place, visits, listed: int, asked: ShareQueries, seed: int) -> Answers:
    """The noisy answers about a table of people."""
    locations = Locations(pa.array(np.arange(listed)))
    values = asked.measure(Table(user, place, visits, listed), locations, SimulatedNoise(seed))
    return asked.answers(values, locations)


def population(draw, users: int, listed: int, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of people who choose their places by popularity alone, and visit each as often as chance has it."""
    popular = np.exp(draw.normal(0, spread, listed))
    many = np.minimum(np.ceil(np.exp(draw.normal(1.6, 1.0, users))), listed / 4).astype(np.int64)
    user = np.repeat(np.arange(users), many)
    place = draw.choice(listed, user.size, p=popular / popular.sum())
    user, place = np.unique(np.stack([user, place]), axis=1)
    visits = np.ceil(np.exp(draw.normal(0, 1.2, user.size))).astype(np.int64)
    return user, place, visits


def communities(draw, users: int, listed: int, members: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of people who keep to the places of their community; communities differ in how many places people have."""
    count = listed // members
    typical = members ** draw.random(count)
    community = draw.integers(0, count, users)
    many = np.clip(np.rint(typical[community] * np.exp(draw.normal(0, 0.15, users))), 1, members)
    user = np.repeat(np.arange(users), many.astype(np.int64))
    place = community[user] * members + draw.integers(0, members, user.size)
    user, place = np.unique(np.stack([user, place]), axis=1)
    visits = np.ceil(np.exp(draw.normal(0, 1.2, user.size))).astype(np.int64)
    return user, place, visits


def reordered(answers: Answers, order: np.ndarray) -> Answers:
    """The same answers about the same places, listed in another order."""
    split = np.full(answers.look.size, np.nan)
    split[answers.split_at] = answers.split
    split = split[order]
    at = np.flatnonzero(~np.isnan(split))
    return dataclasses.replace(answers, look=answers.look[order], split=split[at], split_at=at)


def garbage(look, sizes, visits, split, asked: ShareQueries) -> Answers:
    """Any integers at all, in lattice points, under the noise of the given queries: the stages follow from them."""
    values = {LOOK: np.asarray(look, dtype=np.int64)}
    plan = Plan(asked, values)
    for name, cells, shape in ((SIZES, sizes, (SIZE_OCTAVES,)), (VISITS, visits, (2, VISIT_OCTAVES))):
        values[name] = np.resize(np.asarray(cells, dtype=np.int64), (len(plan.edges(name)) + 1, *shape))
    values[SPLIT] = np.resize(np.asarray(split, dtype=np.int64), plan.clear_places.size)
    return asked.answers(values, Locations(pa.array(np.arange(len(look)))))


def presence(values) -> np.ndarray:
    """Units of presence in lattice points."""
    return np.rint(np.asarray(values, dtype=np.float64) * UNIT).astype(np.int64)
