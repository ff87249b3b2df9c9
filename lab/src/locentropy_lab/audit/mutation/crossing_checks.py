"""Checks of the crossing from private to public: only noisy numbers get across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy_lab.audit.mutation.planting import DrowningNoise, PredictableNoise, check
from locentropy_lab.audit.neighbours import asked
from locentropy_lab.audit.subjects import SELECTION, SURVEY, at_defaults, crowd_queries

if TYPE_CHECKING:
    from locentropy_lab.audit.neighbours import People
    from locentropy_lab.audit.subjects import Crowd

_DENSE: Final[list[Crowd]] = [{1: 900, 3: 40}, {2: 400}, {5: 300}] * 4
_THIN: Final[list[Crowd]] = [{1: 70}, {}, {4: 60}] * 4
"""Two very different towns, at the same places."""
_LARGER: Final[list[Crowd]] = [{1: 9000, 3: 4000}, {2: 7000}, {5: 3000}] * 4
_LARGE: Final[list[Crowd]] = [{1: 700}, {2: 500, 1: 400}, {4: 600}] * 4
"""Two more, whose places are all selected."""


@check("what is published is computed from noisy numbers alone")
def from_noise() -> list[str]:
    """With noise that hides everything, two towns that differ in everything give the same estimates."""
    wrong = []
    for name in ("shares", "moments", "baseline", "limit", "limit-ss", "limit-ptr"):
        # Where a selection chooses, both towns have enough people everywhere for it to be certain.
        towns = (_DENSE, _THIN) if name != "limit-ptr" else (_LARGER, _LARGE)
        if not _published(name, towns[0]).equals(_published(name, towns[1])):
            wrong.append(f"{name} publishes something of the data beside the noisy numbers")
    if _measured({user: {user % 4: 3} for user in range(40)}) != _measured({0: {0: 1, 1: 1}}):
        wrong.append(f"{SURVEY} shows something of the data beside the noisy numbers")
    return wrong


def _published(name: str, crowds: list[Crowd]) -> Any:
    queries = crowd_queries(crowds)
    mechanism, listed = at_defaults(name).holder, Locations(queries.locations)
    return mechanism.estimate(mechanism.measure(queries, listed, DrowningNoise()), listed).to_arrow()


def _measured(people: People) -> Any:
    subject = at_defaults(SURVEY)
    with asked(people, 4) as queries:
        return subject.ask(queries, Locations(queries.locations), DrowningNoise())


@check("places are in an order of their own")
def ordered() -> list[str]:
    """Without a public list, places that were selected are named in the order of their ids, not of popularity."""
    crowds: list[Crowd] = [{1: users} for users in (4000, 9000, 3000, 7000, 5000)]
    wrong = []
    for name in ("limit-ptr", SELECTION):
        holder, queries = at_defaults(name).holder, crowd_queries(crowds)
        if name == SELECTION:
            named = holder.select(queries, PredictableNoise()).ids.to_pylist()
        else:
            named = holder.estimate(
                holder.measure(queries, None, PredictableNoise()), None
            ).locations.to_pylist()
        if named != queries.locations.to_pylist():
            wrong.append(f"{name} names places in another order than that of their ids")
    return wrong


@check("withheld places are not named")
def withheld() -> list[str]:
    """Without a public list, a place that is not selected does not appear, not even without a number."""
    mechanism = LimitPTR(1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50)
    measured = mechanism.measure(crowd_queries([{1: 3}, {1: 5000}]), None, PredictableNoise())
    named = mechanism.estimate(measured, None).locations.to_pylist()
    return [] if named == ["000001"] else [f"{len(named)} places are named, of which one may be"]


@check("no guarantee where there is none")
def honest() -> list[str]:
    """Predictable noise never counts as private, and Limit-CB gives no guarantee, whatever the noise."""
    wrong = []
    for name in ("shares", "moments", "limit", "limit-ss", "limit-ptr"):
        queries = crowd_queries(_DENSE)
        mechanism, listed = at_defaults(name).holder, Locations(queries.locations)
        measured = mechanism.measure(queries, listed, PredictableNoise())
        if measured.private or mechanism.estimate(measured, listed).private:
            wrong.append(f"{name} calls predictable noise private")
    blended = at_defaults("limit-cb").holder
    if blended.guarantee.private:
        wrong.append("limit-cb claims a guarantee")
    try:
        type(blended)(1.0, max_locations=5, max_visits=5, min_users=50)
        wrong.append("limit-cb can be made without accepting that it gives no guarantee")
    except ParameterError:
        pass
    return wrong
