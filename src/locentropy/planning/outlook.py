"""What readers of a release may expect: the error by number of users, and from how many users on a value is useful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from locentropy.mechanisms.limit_ss import LimitSS
from locentropy.mechanisms.moments import Moments
from locentropy.planning.accuracy import chances, guess_errors, mean_errors, mean_noise
from locentropy.privacy.noise import LATTICE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.mechanisms.select_locations import SelectLocations

    Integers = NDArray[np.int64]

SIZES = (1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
"""The numbers of users that a plan shows."""

USEFUL_BELOW = 0.5
"""Nats. A value that is off by half a nat misses the number of equally loyal visitors, e^H, by a factor of 1.65."""

LARGEST_SIZE = 2**20
"""How far the search goes for the number of users from which on a place is useful."""

USEFUL = (
    f"A value is useful if its expected error is below {USEFUL_BELOW} nats and below that of guessing ln(n)/2, the "
    "middle of what is possible for n users. The expected error is the largest, over all that a place of n users can "
    "be like, of the mean distance between the published value and the bounded entropy."
)

Verdict = Literal["useful", "rough", "worse than a guess", "never published"]


@dataclass(frozen=True)
class Row:
    """What to expect of a place of so many users."""

    users: int
    """n: the users who count there after bounding."""
    published: float
    """The probability that the place is published at all."""
    noise: float
    """Mean size of the noise, in nats, before the value is cut to what is possible."""
    error: float
    """Expected error of the published value, in nats: see `accuracy`."""
    guess: float
    """How far a guess of ln(n)/2 can be off, in nats."""

    @property
    def useful(self) -> bool:
        """Whether the value, if published, tells something; see USEFUL."""
        return self.error < USEFUL_BELOW and self.error < self.guess

    @property
    def verdict(self) -> Verdict:
        """The row in a word."""
        if self.published == 0:
            return "never published"
        if self.useful:
            return "useful"
        return "rough" if self.error < self.guess else "worse than a guess"


@dataclass(frozen=True)
class Outlook:
    """A mechanism, seen by the number of users of a place."""

    mechanism: Any
    """Any of the mechanisms by name."""
    selection: SelectLocations | None
    """How places are selected before it, if they are."""

    @property
    def noise_scale(self) -> float | None:
        """The scale of the noise on an entropy in nats, where it is the same for all places."""
        if isinstance(self.mechanism, LimitSS | Moments):
            return None
        return float(self.mechanism.scale) / LATTICE

    def rows(self, sizes: Sequence[int]) -> tuple[Row, ...]:
        """What to expect at each number of users, as far as there can be so many."""
        most = self.mechanism.max_users
        users = np.array([n for n in sizes if most is None or n <= most], dtype=np.int64)
        columns = (
            users,
            chances(self.mechanism, self.selection, users),
            mean_noise(self.mechanism, users),
            mean_errors(self.mechanism, users),
            guess_errors(users),
        )
        return tuple(Row(*row) for row in zip(*(column.tolist() for column in columns), strict=True))

    def useful_from(self) -> int | None:
        """The number of users from which on places are useful, and published at least every other time."""
        most = self.mechanism.max_users
        users = np.arange(1, 1 + min(LARGEST_SIZE, most or LARGEST_SIZE))
        errors = mean_errors(self.mechanism, users)
        good = (errors < np.minimum(USEFUL_BELOW, guess_errors(users))) & (
            chances(self.mechanism, self.selection, users) >= 0.5
        )
        if not good[-1]:
            return None
        # A place of few users may be useful by chance of its short range; what counts is that all larger ones are.
        bad = np.flatnonzero(~good)
        return int(users[bad[-1]]) + 1 if bad.size else 1

    def share_useful(self, sizes: Sequence[int]) -> float:
        """The share of places of these sizes that are expected to be both published and useful."""
        rows = self.rows(sizes)
        return sum(row.published for row in rows if row.useful) / len(sizes)


def named_from(selection: SelectLocations) -> str:
    """From how many users on a selection names a place at least every other time, in a sentence."""
    found = selection.curve.probability(np.arange(1, LARGEST_SIZE + 1))
    users = int(np.searchsorted(found, 0.5)) + 1
    if users > LARGEST_SIZE:
        return f"Not even places of {LARGEST_SIZE:,} users would be named every other time."
    plural = "" if users == 1 else "s"
    return f"A place is named every other time from about {users:,} counted user{plural} on; smaller ones hardly ever."
