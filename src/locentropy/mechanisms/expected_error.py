"""What error readers of a release may expect, from public numbers alone.

For mechanisms that bound users and add noise to the entropy, the error at a place depends on the number n of its users.
The noise X is discrete Laplace of scale b on the lattice; with r = e^(−1/b),

    E|X| = 2r/(1 − r²),    E min(X⁺, a) = r(1 − r^a)/(1 − r²) for whole a ≥ 0.

A published value is cut to what is possible: not below 0, and not above U = ln(max_users) where that is given. A place
of bounded entropy h is hence off by E min(X⁻, h) + E min(X⁺, U − h) on average. h is private; a place of n users has
some h in [0, ln n], and the sum is largest at h = min(ln n, U/2). That largest value is the expected error given here:
a bound for every place of n users. It leaves out the rounding to the lattice, 2^-21 at most.

n and h are not read off anything: these are functions, evaluated at numbers that somebody made up.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from locentropy.core.number_format import counted, nats, percent
from locentropy.privacy.noise import LATTICE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from locentropy.mechanisms.base import BoundedMechanism, Mechanism
    from locentropy.mechanisms.select import SelectLocations

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    ByUsers = Callable[[Integers], Reals]

SIZES = (1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
"""The numbers of users that a plan shows."""

USEFUL_BELOW = 0.5
"""Nats. A value that is off by half a nat misses the number of equally loyal visitors, e^H, by a factor of 1.65."""

LARGEST_SIZE = 2**20
"""How far the search goes for the number of users from which on a place is useful."""

Verdict = Literal["useful", "rough", "worse than a guess", "never published"]


@dataclass(frozen=True)
class Supposed:
    """Public numbers about the data, as far as somebody supposes them; never read off the visits."""

    n_locations: int | None = None
    """How many places are listed."""
    n_users: int | None = None
    """About how many people there are."""
    users_per_location: tuple[int, ...] = ()
    """Users who count at a place; each number stands for an equal share of the places."""
    selection: SelectLocations | None = None
    """How places are selected before the mechanism, if they are."""
    locations_per_user: int | None = None
    """How many listed places a typical person visits."""


class ExpectedError(ABC):
    """The error to expect of a mechanism: in rows for a table, in sentences, and for machines."""

    guess: ClassVar[Literal["n_users", "users_per_location"] | None] = None
    """The number that tells more about this mechanism, if one does."""

    headings: ClassVar[tuple[str, ...]] = ()
    """Of the table."""

    @property
    @abstractmethod
    def noise(self) -> str:
        """What gets how much noise, in a sentence."""

    @property
    @abstractmethod
    def usefulness(self) -> str:
        """From what on values are useful, in a sentence."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The noise, and what error to expect, for readers of the release."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What numbers alone do not tell."""
        return ()

    @property
    def table(self) -> list[list[str]]:
        """A row of texts for each of several supposed numbers; see `headings`. The last text is the verdict."""
        return []

    @property
    def verdicts(self) -> str:
        """What the verdicts of the table mean."""
        return ""

    def in_series(self, periods: Sequence[int]) -> dict[int, tuple[float, float]]:
        """In a series of releases, each given those before it, the range of errors in some periods, from 1.

        None of them where that is not known.
        """
        return {}

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything it says, for machines."""


@dataclass(frozen=True)
class UnknownError(ExpectedError):
    """Of a mechanism whose author gives no figures."""

    mechanism: Mechanism
    supposed: Supposed

    @property
    def noise(self) -> str:
        """That it is not known."""
        return f"Noise: as the author of {self.mechanism.name} describes it."

    @property
    def usefulness(self) -> str:
        """That it is not known."""
        return f"The author of {self.mechanism.name} gives no expected error."

    @property
    def summary(self) -> str:
        """That it is not known."""
        return f"{self.noise} {self.usefulness}"

    def to_dict(self) -> dict[str, Any]:
        """Nothing but the sentence."""
        return {"known": False, "noise": self.noise}


@dataclass(frozen=True)
class ErrorByUsers:
    """How a mechanism's error depends on n, the users who count at a place. Public functions."""

    noise: ByUsers
    """Mean size of the noise in nats, before a value is cut to what is possible."""
    error: ByUsers
    """The largest expected |published − bounded entropy|, in nats, among all places of n users."""
    words: str
    """The noise in a sentence."""
    scale: float | None = None
    """The scale of the noise on an entropy, in nats, where it is the same for all places."""
    published: ByUsers = lambda users: np.ones(users.shape)
    """How likely a place of n users is published."""


def constant_noise(scale: float, max_users: int | None, published: ByUsers | None = None) -> ErrorByUsers:
    """The error under noise of one scale, in lattice units."""
    words = f"Noise: Laplace of scale {nats(scale / LATTICE)} nats on every value."
    return _by_users(lambda users: np.full(users.shape, scale), max_users, words, scale / LATTICE, published)


def varying_noise(scales: ByUsers, max_users: int | None, words: str) -> ErrorByUsers:
    """The error under noise whose scale, in lattice units, depends on n."""
    return _by_users(scales, max_users, words, None, None)


def _by_users(
    scales: ByUsers, max_users: int | None, words: str, scale: float | None, published: ByUsers | None
) -> ErrorByUsers:
    chances = {} if published is None else {"published": published}
    return ErrorByUsers(
        lambda users: expected_noise(scales(users)),
        lambda users: expected_errors(scales(users), users, max_users),
        words,
        scale,
        **chances,
    )


def expected_noise(scales: Reals) -> Reals:
    """E|X| in nats."""
    return 2.0 * _one_side(scales)


def expected_errors(scales: Reals, users: Integers, max_users: int | None) -> Reals:
    """The largest expected |published − bounded entropy|, in nats, among all places of so many users."""
    most = math.inf if max_users is None else math.log(max_users)
    entropy = np.minimum(_largest_entropy(users), most / 2)
    widths = scales / LATTICE
    below, above = -np.expm1(-entropy / widths), -np.expm1(-(most - entropy) / widths)
    errors: Reals = _one_side(scales) * (below + above)
    return errors


def guess_errors(users: Integers) -> Reals:
    """How far ln(n)/2 can be off: the middle of what is possible, the best guess of who knows n and nothing else."""
    return _largest_entropy(users) / 2


def _one_side(scales: Reals) -> Reals:
    """E X⁺ = r/(1 − r²), in nats."""
    return np.exp(-1.0 / scales) / -np.expm1(-2.0 / scales) / LATTICE


def _largest_entropy(users: Integers) -> Reals:
    """ln n, and 0 for a place without users."""
    return np.log(np.maximum(users, 1))


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
    """Expected error of the published value, in nats."""
    guess: float
    """How far a guess of ln(n)/2 can be off, in nats."""

    @property
    def useful(self) -> bool:
        """Whether the value, if published, tells something."""
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
class BoundedError(ExpectedError):
    """The error of a mechanism that bounds users, by the number of users of a place."""

    mechanism: BoundedMechanism
    supposed: Supposed

    guess = "users_per_location"
    headings = ("users of a place", "expected error (nats)", "of a guess", "published")

    @cached_property
    def by_users(self) -> ErrorByUsers:
        """The functions behind the rows."""
        return self.mechanism.error_by_users()

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """What to expect at each of several numbers of users."""
        return self.rows_at(SIZES)

    def rows_at(self, sizes: Sequence[int]) -> tuple[Row, ...]:
        """What to expect at each number of users, as far as there can be so many."""
        most = self.mechanism.max_users
        users = np.array([n for n in sizes if most is None or n <= most], dtype=np.int64)
        columns = (
            users,
            self._published(users),
            self.by_users.noise(users),
            self.by_users.error(users),
            guess_errors(users),
        )
        return tuple(Row(*row) for row in zip(*(column.tolist() for column in columns), strict=True))

    @cached_property
    def useful_from(self) -> int | None:
        """The number of users from which on places are useful, and published at least every other time."""
        most = self.mechanism.max_users
        users = np.arange(1, 1 + min(LARGEST_SIZE, most or LARGEST_SIZE))
        errors = self.by_users.error(users)
        good = (errors < np.minimum(USEFUL_BELOW, guess_errors(users))) & (self._published(users) >= 0.5)
        if not good[-1]:
            return None
        # A place of few users may be useful by chance of its short range; what counts is that all larger ones are.
        bad = np.flatnonzero(~good)
        return int(users[bad[-1]]) + 1 if bad.size else 1

    @cached_property
    def share_useful(self) -> float | None:
        """The share of places expected to be published and useful; None without a guess of their users."""
        sizes = self.supposed.users_per_location
        if not sizes:
            return None
        return sum(row.published for row in self.rows_at(sizes) if row.useful) / len(sizes)

    def _published(self, users: Integers) -> Reals:
        selection = self.supposed.selection
        return self.by_users.published(users) if selection is None else selection.curve.probability(users)

    @property
    def noise(self) -> str:
        """The mechanism's own sentence."""
        return self.by_users.words

    @property
    def table(self) -> list[list[str]]:
        """A row for each number of users."""
        return [
            [
                f"{row.users:,}",
                "—" if row.published == 0 else nats(row.error),
                nats(row.guess),
                percent(row.published),
                row.verdict,
            ]
            for row in self.rows
        ]

    @property
    def verdicts(self) -> str:
        """What useful means."""
        return (
            f"A value is useful if its expected error is below {USEFUL_BELOW} nats and below that of guessing ln(n)/2, "
            "the middle of what is possible for n users. The expected error is the largest, over all that a place of n "
            "users can be like, of the mean distance between the published value and the bounded entropy."
        )

    @property
    def usefulness(self) -> str:
        """From how many users on values are useful, and for how many places that is expected."""
        start, share, n_locations = self.useful_from, self.share_useful, self.supposed.n_locations
        told = (
            f"There is no number of users, up to {LARGEST_SIZE:,}, from which on places are useful."
            if start is None
            else f"Places are useful from {counted(start, 'user')} on."
        )
        if share is None:
            hint = " A guess of the users per place would tell how many places that makes."
            return told if start is None else told + hint
        number = f", about {share * n_locations:,.0f} places" if n_locations else ""
        return f"{told} Expected to be published and useful, by your guess: {percent(share)}{number}."

    @property
    def summary(self) -> str:
        """The noise, and the error by a supposed number of users."""
        errors = "; ".join(f"{row.users:,}: {nats(row.error)}" for row in self.rows if row.published)
        return (
            f"{self.noise} Expected distance from the bounded entropy, in nats, at most, by a supposed number "
            f"of users of a place: {errors or 'none'}."
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """That bounding biases, and whether anything is worth publishing."""
        bounds = self.mechanism.bounds
        told = [
            "Bounding comes before any noise, and biases: nobody counts with more than "
            f"{counted(bounds.max_visits, 'visit')} in each of {counted(bounds.max_locations, 'place')}. The "
            "errors are about the entropy of what is left; how far that is from the true one, only data can tell."
        ]
        if not self.mechanism.guarantee.private:
            told.append("There is no guarantee for anybody. Do not publish this.")
        if all(row.verdict in ("worse than a guess", "never published") for row in self.rows):
            told.append(
                "At no size shown is a value better than a guess. Raise epsilon, or bound people more."
            )
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Rows, and from how many users on places are useful."""
        share, n_locations = self.share_useful, self.supposed.n_locations
        return {
            "known": True,
            "noise_scale": self.by_users.scale,
            "rows": [
                {
                    **asdict(row),
                    "error": row.error if row.published else None,
                    "verdict": row.verdict,
                }
                for row in self.rows
            ],
            "useful_from_users": self.useful_from,
            "share_useful": share,
            "n_locations_useful": share * n_locations if share is not None and n_locations else None,
            "verdicts": self.verdicts,
        }


def named_from(selection: SelectLocations) -> str:
    """From how many users on a selection names a place at least every other time, in a sentence."""
    found = selection.curve.probability(np.arange(1, LARGEST_SIZE + 1))
    users = int(np.searchsorted(found, 0.5)) + 1
    if users > LARGEST_SIZE:
        return f"Not even places of {LARGEST_SIZE:,} users would be named every other time."
    plural = "" if users == 1 else "s"
    return f"A place is named every other time from about {users:,} counted user{plural} on; smaller ones hardly ever."
