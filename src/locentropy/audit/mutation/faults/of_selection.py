"""Places named too soon."""

from __future__ import annotations

from typing import Final

from locentropy.audit.mutation.planting import Change, Fault
from locentropy.mechanisms import limit_cb, limit_ptr, select_locations
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.selection import SelectionCurve

FAULTS: Final = (
    Fault(
        "selection threshold off by one",
        "a place is named for one user fewer than promised, at worst for one who is there alone",
        "selection stops at the threshold",
        (
            Change(
                SelectionCurve,
                "select",
                lambda true: lambda self, users, noise: true(self, users + 1, noise),
            ),
        ),
    ),
    Fault(
        "selection curve for one location",
        "a user in M places makes all of them likelier at the price of one",
        "cost of crowds, limit-ptr",
        (
            Change(
                limit_ptr, "SelectionCurve", lambda true: lambda epsilon, delta, many: true(epsilon, delta, 1)
            ),
        ),
    ),
    Fault(
        "δ spent in every location",
        "M rare events of probability δ each are not one",
        "cost of crowds, select-locations",
        (
            Change(
                select_locations,
                "SelectionCurve",
                lambda true: lambda epsilon, delta, many: true(epsilon, delta * many, many),
            ),
        ),
    ),
    Fault(
        "M forgotten in the values of Limit-PTR",
        "choosing is paid for, and the values are not",
        "cost of crowds, limit-ptr",
        (Change(limit_ptr, "laplace_scale", lambda true: lambda moved, epsilon: true(moved // 5, epsilon)),),
    ),
    Fault(
        "withheld places listed without a number",
        "the list names every place that anybody has been to",
        "withheld places are not named",
        (
            Change(
                limit_ptr,
                "of_chosen",
                lambda true: lambda *given, **more: true(*given, **(more | {"listed": True})),
            ),
        ),
    ),
    Fault(
        "Limit-CB with a promise",
        "which places appear is decided by single users, and a guarantee denies it",
        "cost of crowds, limit-cb",
        (
            Change(
                limit_cb.LimitCB, "guarantee", lambda _: property(lambda self: Guarantee.pure(self.epsilon))
            ),
        ),
    ),
)
