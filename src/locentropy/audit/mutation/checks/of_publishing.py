"""Checks of the order in which a release is made: spend, then draw, and each of them once."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from locentropy.audit.mutation.check import check
from locentropy.audit.mutation.planting import replaced
from locentropy.audit.mutation.predictable import PredictableNoise
from locentropy.audit.numerical.tables import ONE_THREAD, visits_of
from locentropy.core.errors import BudgetError, ReleaseError
from locentropy.mechanisms.limit import Limit
from locentropy.mechanisms.select_locations import SelectLocations
from locentropy.privacy.guarantee import exact
from locentropy.privacy.ledger import Ledger
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing import publish as story
from locentropy.publishing.claim import Claim
from locentropy.visits.public_list import PublicLocations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locentropy.release.release import Release

_PEOPLE: Final = {user: {user % 4: 1 + user % 3, (user + 1) % 4: 2} for user in range(12)}
_LIMIT: Final = Limit(epsilon=0.6, max_locations=3, max_visits=2)


def _publish(mechanism: Any = _LIMIT, places: Any = None, **more: Any) -> Release:
    listed = PublicLocations(list(range(4)), provenance="made up for an audit")
    return story.publish(visits_of(_PEOPLE), mechanism, places or listed, resources=ONE_THREAD, **more)


@contextmanager
def _ledger(epsilon: float = 1.0) -> Iterator[Ledger]:
    with TemporaryDirectory(prefix="locentropy-audit-") as folder:
        yield Ledger.create(Path(folder) / "audit.ledger", "made up for an audit", epsilon, "1e-6")


@contextmanager
def _watched(look: Callable[[], None]) -> Iterator[None]:
    """Look at something whenever noise is drawn for a release."""

    class Watched(OpenDPNoise):
        def laplace(self, *given: Any) -> Any:
            look()
            return super().laplace(*given)

        def bernoulli_each(self, *given: Any) -> Any:
            look()
            return super().bernoulli_each(*given)

    with replaced(story, "OpenDPNoise", Watched):
        yield


@check("the spend is on disk before noise is drawn")
def spent_first() -> list[str]:
    """Whenever noise is drawn, the ledger's file already holds what the release promises."""
    seen: list[bool] = []
    with _ledger() as ledger, _watched(lambda: seen.append(ledger.read().spent.epsilon == exact(0.6))):
        _publish(ledger=ledger)
    if not seen:
        return ["no noise was drawn"]
    return [] if all(seen) else ["noise was drawn before the ledger had the spend"]


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


@check("what is promised is what is spent")
def spends() -> list[str]:
    """The ledger takes the price of the mechanism and of the selection before it, and the release says so."""
    selection = SelectLocations(epsilon=0.2, delta=1e-7, max_locations=3)
    wrong = []
    # δ = 1e-7 names no place of twelve users: what is published is empty, and costs what it costs.
    with _ledger() as ledger:
        release = _publish(places=selection, ledger=ledger)
        spent = ledger.read().spent
    asked = (exact(0.6) + exact(0.2), exact(1e-7))
    if (spent.epsilon, spent.delta) != asked:
        wrong.append("the ledger did not take what mechanism and selection cost together")
    promise = release.statement.guarantee
    if (promise.epsilon, promise.delta) != asked:
        wrong.append("the release promises another ε or δ than its parts cost")
    return wrong


class _Killed(BaseException):
    """Stands for a process that ends here."""


@check("a retry spends once and draws once")
def retried() -> list[str]:
    """Stopped after the numbers were drawn, and called again: the same numbers, one spend, one draw."""

    def dead(*_: Any) -> None:
        raise _Killed

    drawn: list[int] = []
    with _ledger(epsilon=4.0) as ledger, _watched(lambda: drawn.append(1)), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the second call says that it goes on with the first
        target = ledger.path.with_name("release")
        with replaced(Claim, "finish", dead), suppress(_Killed):
            _publish(ledger=ledger, out=target)
        _publish(ledger=ledger, out=target)
        spends = len(ledger.history())
    wrong = [] if spends == 1 else [f"{spends} spends for one release"]
    return wrong if len(drawn) == 1 else [*wrong, f"noise was drawn {len(drawn)} times for one release"]


@check("predictable noise is not published")
def predictable() -> list[str]:
    """A release that promises privacy refuses noise that anybody could repeat."""
    with replaced(story, "OpenDPNoise", PredictableNoise):
        try:
            _publish()
        except ReleaseError:
            return []
    return ["predictable noise was published as private"]


@check("two releases of one table differ")
def anew() -> list[str]:
    """The same call again is another release, with other numbers."""
    one, other = (_publish().to_arrow()["entropy"] for _ in range(2))
    return ["two releases have the same numbers"] if one.equals(other) else []
