"""Whether an answer is about right, so that nobody's mistake is measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import locentropy as le
from peers.turn import EPSILON, C, M

if TYPE_CHECKING:
    from pathlib import Path

    from peers.contenders import Contender
    from peers.running import Files


class Truth:
    """What the visits say: entropies and users by place, and how many pairs of user and place are kept.

    Which M places of a user are kept is each contender's choice; how many is not.
    """

    def __init__(self, files: Files) -> None:
        visits, places = files
        listed = duckdb.sql(f"SELECT location::VARCHAR AS location FROM '{places}'").to_arrow_table()
        self._ids = listed["location"].combine_chunks()
        self.places = len(self._ids)
        self.bounded = self._by_place(le.private.profile(le.Visits(visits), le.private.Bounds(M, C)))
        exact = le.private.exact_profile(le.Visits(visits))
        self.true = self._by_place(exact)
        self.users = np.zeros(self.places)
        self.users[self._position(exact.locations)] = exact.user_counts
        [(self.kept,)] = duckdb.sql(
            f"""SELECT sum(least(places, {M})) FROM (
                SELECT "user", count(DISTINCT location) AS places FROM '{visits}' GROUP BY ALL)"""
        ).fetchall()

    def _by_place(self, profile: le.private.VisitProfile) -> np.ndarray:
        entropy = np.zeros(self.places)
        entropy[self._position(profile.locations)] = profile.entropy
        return entropy

    def _position(self, locations: pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Where places stand on the list."""
        return pc.index_in(locations.cast(pa.string()), value_set=self._ids).to_numpy()

    def check(self, contender: Contender, answer: Path) -> None:
        """Raise AssertionError if the answer is not right, up to its noise."""
        table = pq.read_table(answer)
        location = self._position(table["location"])
        assert len(np.unique(location)) == len(location), "a place is answered twice"
        if contender.answers == "users":
            self._check_counts(location, table["users"].to_numpy())
        elif contender.answers == "release":
            assert len(location) == self.places, "not every place of the list is answered"
            exact = (self.true if contender.argument == "shares" else self.bounded)[location]
            covered = np.mean((table["low"].to_numpy() <= exact) & (exact <= table["high"].to_numpy()))
            # Five hundredths for what intervals of Moments and Shares take for granted, and luck where places are few.
            least = 0.9 - 5 * math.sqrt(0.95 * 0.05 / self.places)
            assert covered >= least, f"only {covered:.1%} of the 95 % intervals hold the exact value"
        else:
            exact = self.true if contender.answers == "true" else self.bounded
            entropy = np.zeros(self.places)
            entropy[location] = table["entropy"].to_numpy()
            right = np.isclose(entropy, exact, rtol=0, atol=1e-9)
            least = 0.99 if contender.answers == "bounded, ties aside" else 1.0
            assert right.mean() >= least, f"{np.sum(~right)} entropies are wrong"

    def _check_counts(self, location: np.ndarray, counts: np.ndarray) -> None:
        """Up to noise of scale M/ε: every user counts in M places, and in none twice."""
        assert len(location) == self.places, "not every place of the list is answered"
        scale = M / EPSILON
        deviation = math.sqrt(2 * self.places) * scale
        off = (counts.sum() - self.kept) / deviation
        assert abs(off) < 6, f"the counts add up to {off:.1f} standard deviations too many"
        assert np.all(counts <= self.users[location] + 20 * scale), "a place has more users than there are"
