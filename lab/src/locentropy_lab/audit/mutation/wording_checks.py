"""Checks of the words around a guarantee: who the person is, and what a large ε is worth."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from locentropy.core.errors import LocentropyError
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.paper.limit import Limit
from locentropy.places.public_list import PublicLocations
from locentropy.publishing import publish
from locentropy.release.report import page
from locentropy.visits.visits import Visits
from locentropy_lab.audit.mutation.planting import check
from locentropy_lab.audit.neighbours import ONE_THREAD

if TYPE_CHECKING:
    from collections.abc import Callable

    from locentropy.release.release import Release

_LISTED: Final = PublicLocations(["bar", "cafe"], provenance="made up for an audit")
_TRIPS: Final = pa.table(
    {
        "uid": [f"trip {row}" for row in range(40)],
        "venue": ["bar", "cafe"] * 20,
        "member": [f"member {row % 2}" for row in range(40)],
    }
)
"""Every trip has a uid of its own, and two members have made them all."""


def _publish(visits: Visits, epsilon: float = 1.0, *, large_epsilon: bool = False) -> Release:
    mechanism = Limit(epsilon, max_locations=3, max_visits=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return publish.publish(
            visits, mechanism, _LISTED, ledger=None, large_epsilon=large_epsilon, resources=ONE_THREAD
        )


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except LocentropyError:
        return True
    return False


@check("among columns that could be the person, the caller chooses")
def person() -> list[str]:
    """A table with a uid and a member is refused until the caller says which of them is the person."""
    wrong = []
    if not _refused(lambda: _publish(Visits(_TRIPS))):
        wrong.append("a uid was taken for the person beside a member")
    if _refused(lambda: _publish(Visits(_TRIPS, user="member"))):
        wrong.append("the column that was chosen was refused")
    return wrong


@check("a release names the column that is the person")
def person_named() -> list[str]:
    """The statement names the column that was chosen, whatever others there are."""
    return [
        f"the release names {found!r}, and {name!r} was the person"
        for name in ("member", "uid")
        if (found := _publish(Visits(_TRIPS, user=name)).statement.user_column) != name
    ]


@check("an ε above 10 is refused unless it is said to be meant")
def large_refused() -> list[str]:
    """A release and a ledger at ε = 50 need a word; at ε = 10 they do not."""
    visits, wrong = Visits(_TRIPS, user="member"), []
    with TemporaryDirectory(prefix="locentropy-audit-") as folder:
        path = Path(folder) / "audit.ledger"
        if not _refused(lambda: Ledger.create(path, "made up for an audit", 50)):
            wrong.append("a ledger of ε = 50 was made without a word")
    if not _refused(lambda: _publish(visits, 50.0)):
        wrong.append("a release at ε = 50 was made without a word")
    if _refused(lambda: _publish(visits, 10.0)):
        wrong.append("a release at ε = 10 was refused")
    return wrong


@check("a page says what a large ε is worth")
def large_said() -> list[str]:
    """At ε = 50 the page says that hardly anything is hidden, and at ε = 1 it does not."""
    visits, wrong = Visits(_TRIPS, user="member"), []
    for epsilon, expected in ((50.0, True), (1.0, False)):
        text = page.page(_publish(visits, epsilon, large_epsilon=expected)).decode()
        if ("hides hardly anything" in text) != expected or "nearly as likely" in text:
            wrong.append(f"the page of a release at ε = {epsilon:g} says what is not so")
    return wrong
