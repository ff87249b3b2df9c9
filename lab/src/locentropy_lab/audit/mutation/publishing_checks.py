"""Checks of the order in which a release is made: spend first, then draw, and each of them once."""

from __future__ import annotations

import shutil
import warnings
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import BudgetError, LocentropyError, ReleaseError
from locentropy.evaluation.advice import paid_survey
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.survey import ActivitySurvey
from locentropy.places.public_list import PublicLocations
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing import publish
from locentropy.publishing.notices import PublishingWarning
from locentropy.publishing.publication import Publication
from locentropy_lab.audit.mutation.planting import DrowningNoise, PredictableNoise, check, replaced
from locentropy_lab.audit.neighbours import ONE_THREAD, visits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from locentropy.release.release import Release
    from locentropy_lab.audit.neighbours import People


_PEOPLE: Final[People] = {user: {user % 4: 1 + user % 3, (user + 1) % 4: 2} for user in range(12)}
_LIMIT: Final = Limit(epsilon=0.6, max_locations=3, max_visits=2)


def _publish(
    mechanism: Any = _LIMIT,
    places: Any = None,
    people: People = _PEOPLE,
    ledger: Ledger | None = None,
    out: Path | None = None,
) -> Release:
    listed = PublicLocations(list(range(4)), provenance="made up for an audit")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", PublishingWarning
        )  # nobody's data, and no ledger where none is watched
        return publish.publish(
            visits_of(people),
            mechanism,
            places or listed,
            ledger=ledger,
            out=out,
            large_epsilon=True,
            resources=ONE_THREAD,
        )


@contextmanager
def _ledger(epsilon: float = 1.0) -> Iterator[Ledger]:
    with TemporaryDirectory(prefix="locentropy-audit-") as folder:
        yield Ledger.create(Path(folder) / "audit.ledger", "made up for an audit", epsilon, "1e-6")


@contextmanager
def _watched(look: Callable[[], None]) -> Iterator[None]:
    """Call `look` whenever noise is drawn, by whatever kind of `OpenDPNoise`."""

    def watched(draw: Any) -> Any:
        def drawing(self: OpenDPNoise, *given: Any) -> Any:
            look()
            return draw(self, *given)

        return drawing

    with ExitStack() as stack:
        for name in ("laplace", "laplace_each", "bernoulli_each"):
            stack.enter_context(replaced(OpenDPNoise, name, watched(getattr(OpenDPNoise, name))))
        yield


@check("the spend is on disk before noise is drawn")
def spent_first() -> list[str]:
    """Whenever noise is drawn, the ledger's file already holds the spend."""
    wrong = []
    for mechanism in (_LIMIT, LimitSS(0.6, delta=1e-7, max_locations=3, max_visits=2)):
        seen: list[bool] = []
        with _ledger() as ledger, _watched(_paid(ledger, 0.6, seen)):
            _publish(mechanism, ledger=ledger)
        wrong += _in_time(seen)
    return wrong


def _paid(ledger: Ledger, epsilon: float, seen: list[bool]) -> Callable[[], None]:
    return lambda: seen.append(ledger.read().spent.epsilon == exact(epsilon))


def _in_time(seen: list[bool]) -> list[str]:
    if not seen:
        return ["no noise was drawn"]
    return [] if all(seen) else ["noise was drawn before the ledger had the spend"]


@check("a survey is paid for before it is drawn")
def surveyed() -> list[str]:
    """The same for the statistics that advice is computed from."""
    seen: list[bool] = []
    listed = PublicLocations(list(range(4)), provenance="made up for an audit")
    survey = ActivitySurvey(epsilon=0.05, max_locations=3, busy_users=5)
    with _ledger() as ledger, _watched(_paid(ledger, 0.05, seen)):
        paid_survey.measure_activity(visits_of(_PEOPLE), listed, survey, ledger=ledger, resources=ONE_THREAD)
    return _in_time(seen)


@check("without budget nothing is drawn")
def refused() -> list[str]:
    """What does not fit the budget is refused, and nothing was drawn for it."""
    drawn: list[int] = []
    with _ledger() as ledger, _watched(lambda: drawn.append(1)):
        _publish(ledger=ledger)
        first = len(drawn)
        try:
            _publish(ledger=ledger)
        except BudgetError:
            return [] if len(drawn) == first else ["noise was drawn for a release that was refused"]
    return ["ε = 1.2 was published from a budget of 1"]


@check("what is guaranteed is what is spent")
def spends() -> list[str]:
    """The ledger takes the price of the mechanism and of the selection before it, and the release says so."""
    # δ = 1e-7 names no place of twelve users: what is published is empty, and costs what it costs.
    selection = SelectLocations(epsilon=0.2, delta=1e-7, max_locations=3)
    requests: list[tuple[Any, Any, tuple[Fraction, Fraction]]] = [
        (_LIMIT, selection, (exact(0.6) + exact(0.2), exact(1e-7))),
        (_LIMIT, None, (exact(0.6), exact(0))),
        (LimitSS(0.6, delta=1e-7, max_locations=3, max_visits=2), None, (exact(0.6), exact(1e-7))),
        (
            LimitPTR(0.6, delta=1e-7, max_locations=3, max_visits=2, min_users=5),
            None,
            (exact(0.6), exact(1e-7)),
        ),
    ]
    wrong = []
    for mechanism, places, asked in requests:
        with _ledger() as ledger:
            release = _publish(mechanism, places, ledger=ledger)
            spent = ledger.read().spent
        if (spent.epsilon, spent.delta) != asked:
            wrong.append("the ledger did not take what mechanism and selection cost together")
        stated = release.statement.guarantee
        if (stated.epsilon, stated.delta) != asked:
            wrong.append("the release states another ε or δ than its parts cost")
    return wrong


class _DrowningOpenDPNoise(OpenDPNoise):
    """Noise that ignores the values, and counts as private."""

    def __init__(self) -> None:
        super().__init__()
        self._drowned = DrowningNoise()

    def laplace(self, values: Any, scale: float) -> Any:
        """Numbers that do not depend on the values."""
        return self._drowned.laplace(values, scale)

    def laplace_each(self, values: Any, scales: Any) -> Any:
        """Numbers that do not depend on the values."""
        return self._drowned.laplace_each(values, scales)


@check("files say nothing of the data beside the noisy numbers")
def files() -> list[str]:
    """With noise that hides everything, the files of two towns are equal to the last byte."""
    few = {user: {user % 4: 1} for user in range(5)}
    with (
        TemporaryDirectory(prefix="locentropy-audit-") as folder,
        replaced(publish, "OpenDPNoise", _DrowningOpenDPNoise),
        replaced(publish, "new_id", lambda: "0" * 32),
    ):
        told = []
        for number, people in enumerate((_PEOPLE, few)):
            target = _publish(people=people).save(Path(folder) / str(number) / "release")
            told.append({path.name: path.read_bytes() for path in target.iterdir()})
    return [f"{name} says something of the data" for name in told[0] if told[0][name] != told[1].get(name)]


class _Killed(BaseException):
    """Stands for a process that is killed."""


@check("a retry spends once and draws once")
def retried() -> list[str]:
    """Stopped after the numbers were drawn, and called again: the same numbers, one spend, one draw."""

    def dead(*_: Any) -> None:
        raise _Killed

    drawn: list[int] = []
    with _ledger(epsilon=4.0) as ledger, _watched(lambda: drawn.append(1)), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the second call says that it goes on with the first
        target = ledger.path.with_name("release")
        with replaced(Publication, "finish", dead), suppress(_Killed):
            _publish(ledger=ledger, out=target)
        _publish(ledger=ledger, out=target)
        spends = len(ledger.history())
    wrong = [] if spends == 1 else [f"{spends} spends for one release"]
    return wrong if len(drawn) == 1 else [*wrong, f"noise was drawn {len(drawn)} times for one release"]


@check("whatever fails after the noise, a retry has the same numbers")
def kept() -> list[str]:
    """Stopped between the noise and the files, three times, and called again: noise was drawn once."""

    def dead(*_: Any) -> None:
        raise _Killed

    drawn: list[int] = []
    with _ledger(epsilon=4.0) as ledger, _watched(lambda: drawn.append(1)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = ledger.path.with_name("release")
        for _ in range(3):
            with replaced(Publication, "stage", dead), suppress(_Killed):
                _publish(ledger=ledger, out=target)
        _publish(ledger=ledger, out=target)
    return [] if len(drawn) == 1 else [f"noise was drawn {len(drawn)} times for one spend"]


@check("one spend pays for one draw")
def copied() -> list[str]:
    """The record of an attempt, copied after the spend: only one of the two gets a release."""

    def dead(*_: Any) -> None:
        raise _Killed

    with _ledger(epsilon=4.0) as ledger, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (ledger.path.with_name(name) / "release" for name in ("one", "other"))
        one.parent.mkdir()
        with replaced(publish, "_cross", dead), suppress(_Killed):
            _publish(ledger=ledger, out=one)
        for draws in one.parent.glob(".release.*.draws"):
            shutil.rmtree(draws)
        shutil.copytree(one.parent, other.parent)
        for target in (one, other):
            with suppress(LocentropyError):
                _publish(ledger=ledger, out=target)
        named = [target.exists() for target in (one, other)]
    return [] if named.count(True) == 1 else [f"{named.count(True)} releases for one spend"]


@check("files of somebody else are not used")
def planted() -> list[str]:
    """A record of an attempt that others may write is refused, and nothing is spent."""
    with _ledger(epsilon=4.0) as ledger:
        target = ledger.path.with_name("release")
        record = target.with_name(".release.publishing")
        record.touch()
        record.chmod(0o666)
        try:
            _publish(ledger=ledger, out=target)
        except ReleaseError:
            return [] if not ledger.history() else ["a spend under a record that others may write"]
    return ["a record that others may write was used"]


@check("predictable noise is not published")
def predictable() -> list[str]:
    """A private release refuses noise that anybody could compute again."""
    with replaced(publish, "OpenDPNoise", PredictableNoise):
        try:
            _publish()
        except ReleaseError:
            return []
    return ["predictable noise was published as private"]


@check("two releases of one table differ")
def anew() -> list[str]:
    """The same call twice gives two releases with different numbers."""
    # Little noise: with much of it, every entropy may be cut to 0 in both.
    one, other = (
        _publish(Limit(60.0, max_locations=3, max_visits=2)).to_arrow()["entropy"] for _ in range(2)
    )
    return ["two releases have the same numbers"] if one.equals(other) else []
