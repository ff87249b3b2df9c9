"""What is audited, and its law as seen from the noise.

A subject is a mechanism at the parameters of its own example, or what may go before one: a selection, a survey. Made-up
data goes in, and what the subject asks of the noise is recorded. So the law of a release is taken from the values and
scales that are really used, never from formulas: a wrong formula shows. All that is published is computed from the
answers to these questions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.core.visit_profile import VisitProfile
from locentropy.mechanisms.registry import mechanism_class, mechanism_from, mechanism_names
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.survey import ActivitySurvey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.queries import Queries
    from locentropy.core.shares import ShareRule
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

SHARES: Final = "shares"
SELECTION: Final = "select-locations"
SURVEY: Final = "activity"

Crowd = dict[int, int]
"""The users of one location: how many of them made 1, 2, … visits."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Something that gives a guarantee, or says that it gives none."""

    name: str
    """As on the command line."""
    holder: Any
    """The mechanism, with its parameters."""
    ask: Callable[[Queries, Locations, Noise], Any]
    """From queries to noisy numbers."""
    shown: Callable[[Any, Locations], Booleans]
    """Which locations its noisy numbers are about."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that is audited."""
        claimed: Guarantee = self.holder.guarantee
        return claimed

    @property
    def max_locations(self) -> int:
        """M: in how many locations one user can be seen; 1 for Shares, where all of a user may be in one."""
        return int(getattr(self.holder, "max_locations", None) or 1)

    @property
    def by_place(self) -> bool:
        """Whether every noisy number belongs to one location, so that M locations like the worst are the worst."""
        return self.name not in (SHARES, SURVEY)

    @property
    def adaptive(self) -> bool:
        """Whether what comes out of the noise steers later questions, so that laws belong to an outcome."""
        return self.name == SHARES


def subject_of(name: str, holder: Any) -> Subject:
    """Return a mechanism with parameters of one's own, to be audited under a name."""
    if name == SELECTION:
        return Subject(name, holder, lambda queries, listed, noise: holder.select(queries, noise), _selected)
    if name == SURVEY:
        return Subject(name, holder, holder.measure, _all_listed)
    return Subject(name, holder, holder.measure, _measured)


def subject_names() -> tuple[str, ...]:
    """All that can be audited: the mechanisms of locentropy, the selection and the survey."""
    return (*mechanism_names(), SELECTION, SURVEY)


def subjects(names: Sequence[str] = ()) -> list[Subject]:
    """Return the subjects of these names, or all; raises ParameterError for an unknown name."""
    known = subject_names()
    for name in names:
        if name not in known:
            raise ParameterError(
                f"Unknown mechanism {name[:40]!r}. Choose from {', '.join(known)}. "
                "For example: locentropy audit limit shares"
            )
    return [at_defaults(name) for name in known if not names or name in names]


def at_defaults(name: str) -> Subject:
    """Return a new subject, in which nothing is cached."""
    if name == SELECTION:
        return subject_of(name, SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20))
    if name == SURVEY:
        return subject_of(name, ActivitySurvey(epsilon=0.05, max_locations=5, busy_users=134))
    return subject_of(name, mechanism_from(name, mechanism_class(name).example))


def _all_listed(result: Any, listed: Locations) -> Booleans:
    return np.ones(len(listed), dtype=np.bool_)


def _measured(result: Any, listed: Locations) -> Booleans:
    return _among(result.locations, listed)


def _selected(result: Any, listed: Locations) -> Booleans:
    return _among(result.ids, listed)


def _among(ids: pa.Array, listed: Locations) -> Booleans:
    import pyarrow.compute as pc

    return np.asarray(
        pc.is_in(listed.ids, value_set=ids.cast(listed.ids.type)).to_numpy(zero_copy_only=False)
    )


# --- made-up data -------------------------------------------------------------------------------------------------


def crowd_queries(crowds: Sequence[Crowd]) -> Queries:
    """Queries on made-up crowds, one for each location; they answer what mechanisms ask about locations."""
    return cast("Queries", CrowdQueries(crowds))


class CrowdQueries:
    """Queries on users who are at one location each."""

    def __init__(self, crowds: Sequence[Crowd], ids: Sequence[str] | None = None) -> None:
        rows = [
            (at, visits, users) for at, crowd in enumerate(crowds) for visits, users in crowd.items() if users
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.locations = pa.array(ids or [f"{at:06}" for at in range(len(crowds))], pa.string())
        self._index, self._visits, self._users = (np.ascontiguousarray(each) for each in table.T)

    def profile(self, bounds: Bounds) -> VisitProfile:
        """Visits clipped to C; nobody is at more than one location, so M changes nothing."""
        visits = np.minimum(self._visits, bounds.max_visits)
        resolved = bounds.resolved(has_time=False)
        return VisitProfile.from_rows(self.locations, self._index, visits, self._users, resolved)

    def look(self, rule: ShareRule) -> Integers:
        """Everyone is at one location, and has the largest share there."""
        sums = np.zeros(len(self.locations), dtype=np.int64)
        np.add.at(sums, self._index, self._presence(rule))
        return sums

    def presence(
        self, rule: ShareRule, bands: Integers, places: Sequence[int], visits: Sequence[int]
    ) -> Integers:
        """All presence by band and visits; everyone has one location."""
        cells = np.zeros((int(bands.max(initial=0)) + 1, len(places) + 1, len(visits) + 1), dtype=np.int64)
        often = np.searchsorted(np.array(visits, dtype=np.int64), self._visits, side="right")
        alone = int(np.searchsorted(np.array(places, dtype=np.int64), 1, side="right"))
        at: Any = (bands[self._index], alone, often)
        np.add.at(cells, at, self._presence(rule))
        return cells

    def restricted_to(self, locations: Locations) -> CrowdQueries:
        """The crowds of some of the locations, or of groups of them: nobody is at two, so crowds add up."""
        names = locations.ids.to_pylist()
        group = range(len(names)) if locations.members is None else locations.members.group.tolist()
        of_place = dict(zip(locations.place_ids.to_pylist(), group, strict=True))
        crowds: list[Crowd] = [{} for _ in names]
        ids = self.locations.to_pylist()
        for at, visits, users in zip(
            self._index.tolist(), self._visits.tolist(), self._users.tolist(), strict=True
        ):
            if ids[at] in of_place:
                crowd = crowds[of_place[ids[at]]]
                crowd[visits] = crowd.get(visits, 0) + users
        return CrowdQueries(crowds, names)

    def _presence(self, rule: ShareRule) -> Integers:
        weights = np.array(rule.weights)[np.minimum(self._visits, len(rule.weights)) - 1]
        presence: Integers = self._users * np.where(weights > 0, rule.largest, 0)
        return presence


# --- what is asked of the noise -----------------------------------------------------------------------------------


class Draw(NamedTuple):
    """One question to the noise: integers, and the scale of the noise of each."""

    values: Integers
    scales: Reals
    gaussian: bool = False


Outcome = Callable[[int, "Reals"], "Integers"]
"""What comes out of the noise, whatever the data: from the number of the question and the scales of its noise."""


def far_above(number: int, scales: Reals) -> Integers:
    """Every value is far above the noise, so that all that can be asked is asked."""
    return np.ceil(100 * scales).astype(np.int64)


def spread_out(seed: int) -> Outcome:
    """Values below, around and far above the noise, by a seed."""

    def outcome(number: int, scales: Reals) -> Integers:
        draw = np.random.default_rng([seed, number])
        sizes = np.exp(draw.uniform(-1.0, 5.0, scales.shape)) * scales
        return np.asarray(sizes * draw.choice([1, 1, 1, -1], scales.shape)).astype(np.int64)

    return outcome


class Recorder:
    """`Noise` that records what it was asked for, and lets every coin fall the same way.

    It adds nothing, or answers with an outcome that does not depend on the values: where answers steer later
    questions, neighbours are compared under the same outcome, as in a proof by adaptive composition.
    """

    private = False

    def __init__(self, *, coin: bool = False, outcome: Outcome | None = None) -> None:
        self.coin = coin
        self.outcome = outcome
        self.draws: list[Draw] = []
        self.chances: list[Reals] = []

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Return the values unchanged."""
        return self._noted(values, np.full(np.shape(values), float(scale)))

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Return the values unchanged."""
        return self._noted(values, scales)

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Return the values unchanged."""
        return self._noted(values, np.full(np.shape(values), float(scale)), gaussian=True)

    def bernoulli_each(self, probabilities: Reals) -> Booleans:
        """Return the same side of every coin."""
        self.chances.append(np.array(probabilities, dtype=np.float64))
        return np.full(np.shape(probabilities), self.coin)

    def _noted(self, values: Integers, scales: Reals, *, gaussian: bool = False) -> Integers:
        self.draws.append(Draw(np.array(values), np.array(scales, dtype=np.float64), gaussian))
        if self.outcome is not None:
            return self.outcome(len(self.draws), self.draws[-1].scales)
        return self.draws[-1].values.copy()


@dataclass(frozen=True, eq=False)
class Law:
    """The law of a release: independent integers with discrete noise, each perhaps shown only by chance."""

    values: Integers
    """Everything that is noised, in the order in which it is asked."""
    scales: Reals
    """The scale of the noise of each."""
    chances: tuple[Fraction, ...] | None
    """With which probability each is shown; None where all are. What is shown with probability 0 has no value."""
    places: int
    """The number of locations that it is about."""
    gaussian: bool = False
    """Whether the noise is Gaussian; Laplace otherwise."""

    @property
    def width(self) -> int:
        """How many integers each location has, where all of them belong to locations."""
        return self.values.size // max(1, self.places)


def law_of(subject: Subject, queries: Queries) -> Law:
    """Return what a subject asks of the noise about this data.

    Where it flips coins, it is run with all coins one way and then the other: what the coins decide is then shown in
    exactly one of the two runs. Where answers steer later questions, this is the law under the outcome `far_above`.
    """
    listed = Locations(queries.locations)
    noise, shown = _run(subject, queries, listed, coin=False)
    if not noise.chances and shown.all():
        values, scales = _joined(noise)
        return Law(values, scales, None, len(listed), any(draw.gaussian for draw in noise.draws))
    values, scales = np.zeros(len(listed), dtype=np.int64), np.ones(len(listed))
    for recorder, seen in ((noise, shown), _run(subject, queries, listed, coin=True)):
        if recorder.draws:
            values[seen], scales[seen] = _joined(recorder)
    # Coins that fall "no" show those whose likelier outcome it is to be shown; without coins there is no chance in it.
    tails = noise.chances[0].tolist() if noise.chances else [0.0] * len(listed)
    chances = [
        1 - Fraction(tail) if likely else Fraction(tail) for tail, likely in zip(tails, shown, strict=True)
    ]
    return Law(values, scales, tuple(chances), len(listed))


def _run(subject: Subject, queries: Queries, listed: Locations, *, coin: bool) -> tuple[Recorder, Booleans]:
    noise = Recorder(coin=coin, outcome=far_above if subject.adaptive else None)
    return noise, subject.shown(subject.ask(queries, listed, noise), listed)


def _joined(noise: Recorder) -> tuple[Integers, Reals]:
    return (
        np.concatenate([draw.values.ravel() for draw in noise.draws]),
        np.concatenate([draw.scales.ravel() for draw in noise.draws]),
    )
