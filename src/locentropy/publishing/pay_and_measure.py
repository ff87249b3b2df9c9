"""Pay, then measure: the one order in which visits are read, paid for and noised.

    check      whether the budget can pay, and the inference bears its public input, before anything is read
    read       the visits are read, checked and counted
    rehearse   what the measurement asks first is asked, so that what can fail because of the data fails here
    report     the last moment at which a caller can stop it without a cost
    pay        the spend is on disk in the ledger, before any noise is drawn; it is never refunded
    measure    noise is drawn, once

Publishing and the paid survey both go through here. Whatever fails before `pay` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from locentropy.core.errors import SourceError
from locentropy.core.queries import CachedQueries
from locentropy.visits.private_log import PRIVATE_LOG

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from locentropy.core.queries import Queries
    from locentropy.visits.engines.base import Progress

Receipt = TypeVar("Receipt")
Measured = TypeVar("Measured")


def pay_and_measure(
    *,
    check: Callable[[], None],
    read: Callable[[], AbstractContextManager[Queries]],
    rehearse: Callable[[Queries], None],
    pay: Callable[[], Receipt],
    measure: Callable[[Queries], Measured],
    progress: Progress | None = None,
) -> tuple[Receipt, Measured]:
    """Run the steps in their order, and return what `pay` and `measure` returned.

    `rehearse` and `measure` share the answers: what was asked before the spend is not computed again after it.
    """
    check()
    with read() as opened:
        queries = CachedQueries(opened)
        rehearse(queries)
        if progress is not None:
            progress("Drawing noise", None)
        receipt = pay()
        return receipt, measure(queries)


def nobody_counted(*, grid: bool, refuse_empty: bool) -> None:
    """Tell the owner, in the private log, that no visit is at the places; or refuse, if that was asked for.

    Without being asked it is not refused: one person at one place would decide whether there is a release.
    """
    found = (
        "No visit is in the cells or zones, so all that can be published is noise. Are the edges of a box in the order "
        "south, west, north, east, and do lat and lon name the right columns?"
        if grid
        else "No visit is at any of the places, so all that can be published is noise. Are ids written alike in the "
        "list and in the visits, and is the list's column of ids (--places-location) the right one?"
    )
    if refuse_empty:
        raise SourceError(f"{found} Nothing was spent.")
    PRIVATE_LOG.info("%s", found)
