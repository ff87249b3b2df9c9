"""An attack on the noisy integers of a mechanism: a million draws for the worst neighbours the search has found.

The attacker sees more than any reader of a release: the integers right after the noise, of which all that is published
is computed, and only those coordinates in which the neighbours differ, for the others say nothing. The score of a draw
is its log-likelihood ratio under the laws as the mechanism states them: by Neyman and Pearson no other test is better
if the laws are as stated; if they are not, the bound is valid all the same, since any score is. A second score sees
what is impossible without the user, should the noise have an end: how far beyond the values without the user a draw is.

Why many draws at once are as good as many runs: a mechanism's noise is independent between questions and between
values (`privacy/noise.py`). So the mechanism is run as it is, and every question it asks of the noise is asked of the
same noise for many copies of the same values. Where what was drawn steers later questions (Shares), they are those of
one outcome: its guarantee covers the questions of every outcome together.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from locentropy.core.locations import Locations
from locentropy.mechanisms.shares.stages import RETURNING
from locentropy.privacy.noise import OpenDPNoise
from locentropy_lab.audit.confidence import CONFIDENCE, Attack, attack, with_few
from locentropy_lab.audit.neighbours import Town, asked, joined
from locentropy_lab.audit.parallel import parts, spread
from locentropy_lab.audit.search import worst_crowds
from locentropy_lab.audit.subjects import (
    SHARES,
    SURVEY,
    Recorder,
    crowd_queries,
    far_above,
    law_of,
    subject_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise
    from locentropy_lab.audit.subjects import Crowd, Law, Outcome, Subject

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]
    Neighbours = tuple[list[Crowd], list[Crowd]]

_AT_ONCE: Final = 200_000  # integers
_CERTAIN: Final = 1e6  # what only one of the neighbours can show


class Drawn(NamedTuple):
    """What an attack on draws has shown."""

    attack: Attack
    """The lower bound on ε."""
    draws: int
    """How many draws it rests on, both neighbours together."""
    with_few: float
    """What it would be expected to show with only `few` draws."""


class CopyingNoise(Recorder):
    """`Noise` that draws and keeps many independent answers to each question, and returns the values unchanged."""

    def __init__(
        self, noise: Noise, copies: int, touched: Booleans, *, coin: bool, outcome: Outcome | None = None
    ) -> None:
        super().__init__(coin=coin, outcome=outcome)
        self.noise, self.copies, self.touched = noise, copies, touched
        self.answers: list[Integers] = []
        self.coins: Booleans | None = None
        self._asked = 0

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Many draws of the values that matter."""
        self.answers.append(self.noise.laplace(self._many(values), scale))
        return super().laplace(values, scale)

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Many draws of the values that matter."""
        self.answers.append(self.noise.gaussian(self._many(values), scale))
        return super().gaussian(values, scale)

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Many draws of the values that matter, each of its own scale."""
        wanted = self._wanted(values)
        widths = np.tile(np.asarray(scales, dtype=np.float64).ravel()[wanted], (self.copies, 1))
        self.answers.append(self.noise.laplace_each(self._many(values), widths))
        return super().laplace_each(values, scales)

    def bernoulli_each(self, probabilities: Reals) -> Booleans:
        """Many coins of each."""
        self.coins = self.noise.bernoulli_each(np.tile(probabilities, (self.copies, 1)))
        return super().bernoulli_each(probabilities)

    def _noted(self, values: Integers, scales: Reals, *, gaussian: bool = False) -> Integers:
        self._asked += np.size(values)
        return super()._noted(values, scales, gaussian=gaussian)

    def _wanted(self, values: Integers) -> Booleans:
        wanted = self.touched[self._asked : self._asked + np.size(values)]
        return np.ones(np.size(values), dtype=np.bool_) if wanted.size < np.size(values) else wanted

    def _many(self, values: Integers) -> Integers:
        return np.tile(np.ravel(values)[self._wanted(values)], (self.copies, 1))


def attack_on_draws(
    subject: Subject,
    draws: int,
    *,
    noise: Callable[[], Noise] = OpenDPNoise,
    processes: int = 1,
    few: int = 0,
    confidence: float = CONFIDENCE,
    fault: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Drawn:
    """Attack this many draws, both neighbours together, with the named fault planted if there is one."""
    each = draws // 2
    about = subject.name, subject.holder, _worst(subject), noise
    jobs = [(*about, many) for many in parts(each)]
    done = list(spread(drawn_scores, jobs, processes, progress, fault))
    without, with_user = np.concatenate(done, axis=2)
    delta = float(subject.guarantee.delta)
    return Drawn(
        attack(with_user, without, delta, confidence),
        2 * each,
        with_few(with_user[0], without[0], few // 2, delta, confidence) if few >= 2 else 0.0,
    )


def drawn_scores(
    name: str, holder: Any, worst: Neighbours | None, noise: Callable[[], Noise], many: int
) -> Reals:
    """Return both scores of `many` draws without the user and with: side × score × draw."""
    subject = subject_of(name, holder)
    scores = np.empty((2, 2, many))
    with _asked(subject, worst) as sides:
        laws = [law_of(subject, side) for side in sides]
        touched = _touched(*laws)
        step = max(1, _AT_ONCE // max(1, int(touched.sum())))
        for first in range(0, many, step):
            part = slice(first, min(first + step, many))
            for side, queries in enumerate(sides):
                copies = part.stop - part.start
                scores[side, :, part] = _scores(subject, queries, copies, touched, laws, noise())
    return scores


def _touched(without: Law, with_user: Law) -> Booleans:
    """The coordinates in which the neighbours differ."""
    differ = (without.values != with_user.values) | (without.scales != with_user.scales)
    if without.chances is not None and with_user.chances is not None:
        differ |= np.array([p != q for p, q in zip(without.chances, with_user.chances, strict=True)])
    return np.asarray(differ)


def _worst(subject: Subject) -> Neighbours | None:
    """The crowds without and with the user who is most visible; None for the survey, which counts people."""
    if subject.name == SURVEY:
        return None
    if subject.name == SHARES:
        # All of the user's presence is at one place, to which they returned.
        return [{1: 3}], [joined({1: 3}, RETURNING)]
    return worst_crowds(subject)


@contextmanager
def _asked(subject: Subject, worst: Neighbours | None) -> Iterator[tuple[Queries, Queries]]:
    """Open queries without and with the user."""
    if worst is not None:
        without_crowds, with_crowds = worst
        yield crowd_queries(without_crowds), crowd_queries(with_crowds)
        return
    # The user is in one cell of either histogram, and makes M places busy.
    holder = subject.holder
    town = Town()
    edge = town.places(holder.max_locations)
    for place in edge:
        town.crowd(place, {1: holder.busy_users - 1})
    town.guest("somebody", dict.fromkeys(edge, 2))
    with (
        asked(town.without("somebody"), town.listed) as without,
        asked(town.people, town.listed) as whole,
    ):
        yield without, whole


def _scores(
    subject: Subject, queries: Queries, copies: int, touched: Booleans, laws: list[Law], noise: Noise
) -> Reals:
    """The log-likelihood ratios of draws, positive for "with the user", and how far beyond those without they are."""
    listed = Locations(queries.locations)
    if laws[0].chances is not None:
        ratio = _scores_by_chance(subject, queries, listed, copies, laws, noise)
        return np.stack([ratio, np.zeros(copies)])
    outcome = far_above if subject.adaptive else None
    seen = CopyingNoise(noise, copies, touched, coin=False, outcome=outcome)
    subject.ask(queries, listed, seen)
    drawn = np.concatenate([answer.reshape(copies, -1) for answer in seen.answers], axis=1)
    without, with_user = ((law.values[touched], law.scales[touched]) for law in laws)
    log_mass = _log_gaussian if laws[0].gaussian else _log_mass
    ratio = (log_mass(drawn, *with_user) - log_mass(drawn, *without)).sum(axis=1)
    centre, scale = without
    beyond = ((drawn - centre) * np.sign(with_user[0] - centre) / scale).max(axis=1)
    return np.stack([ratio, beyond])


def _scores_by_chance(
    subject: Subject, queries: Queries, listed: Locations, copies: int, laws: list[Law], noise: Noise
) -> Reals:
    """The same where coins decide what is shown: run twice, so that every location is shown in one of the runs."""
    values = np.zeros((copies, len(listed)), dtype=np.int64)
    coins = np.zeros((copies, len(listed)), dtype=np.bool_)
    likely = np.zeros(len(listed), dtype=np.bool_)
    for coin in (True, False):
        seen = CopyingNoise(noise, copies, np.zeros(0, dtype=np.bool_), coin=coin)
        shown = subject.shown(subject.ask(queries, listed, seen), listed)
        if seen.answers:
            values[:, shown] = seen.answers[0].reshape(copies, -1)
        likely = shown
        if seen.coins is not None:
            coins = seen.coins
    named = coins ^ likely
    score = np.zeros(copies)
    without, with_user = laws
    for at in range(len(listed)):
        p, q = (float((law.chances or ())[at]) for law in (with_user, without))
        not_p, not_q = (float(1 - (law.chances or ())[at]) for law in (with_user, without))
        value = _log_mass(values[:, at], with_user.values[at], with_user.scales[at]) - _log_mass(
            values[:, at], without.values[at], without.scales[at]
        )
        with np.errstate(divide="ignore"):
            told = np.log(p) - np.log(q) + (value if p and q else 0.0)
            score += np.where(named[:, at], told, np.log(not_p) - np.log(not_q))
    return np.clip(score, -_CERTAIN, _CERTAIN)


def _log_mass(points: Integers, centre: Integers, scale: Reals) -> Reals:
    """ln of the discrete Laplace mass."""
    mass: Reals = np.log(np.tanh(0.5 / scale)) - np.abs(points - centre) / scale
    return mass


def _log_gaussian(points: Integers, centre: Integers, scale: Reals) -> Reals:
    """ln of the discrete Gaussian mass, up to a constant of the scale, which is the same for neighbours."""
    mass: Reals = -(((points - centre) / scale) ** 2) / 2
    return mass
