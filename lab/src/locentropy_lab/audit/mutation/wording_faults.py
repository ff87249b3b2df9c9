"""Faults in who is protected, and in what is said about a large ε."""

from __future__ import annotations

from typing import Any, Final

from locentropy.ledger import ledger
from locentropy.privacy import guarantee
from locentropy.publishing import request
from locentropy.publishing.request import Request
from locentropy.visits import person_column
from locentropy_lab.audit.mutation.planting import Change, Fault

_ACCEPTED: Final = "an ε above 10 is refused unless it is said to be meant"


def _anything_goes(_: Any) -> Any:
    return lambda *given, **more: None


def _naming_another(true: Any) -> Any:
    return lambda *given, **more: true(*given, **{**more, "user_column": "uid"})


FAULTS: Final = (
    Fault(
        "the first usual name is the person",
        "trips are protected instead of the members who make them, at many times ε for a member",
        "among columns that could be the person, the caller chooses",
        (
            Change(
                person_column,
                "could_be_person",
                lambda _: lambda name: person_column.normalized(name) in person_column.USUAL,
            ),
        ),
    ),
    Fault(
        "another column named as the person",
        "readers are told that people are protected, where trips are",
        "a release names the column that is the person",
        (Change(Request, "statement", _naming_another),),
    ),
    Fault(
        "any ε published without a word",
        "numbers with hardly any noise are called differentially private",
        _ACCEPTED,
        (Change(request, "check_large_epsilon", _anything_goes),),
    ),
    Fault(
        "a ledger of any ε without a word",
        "a budget that never runs out refuses nothing",
        _ACCEPTED,
        (Change(ledger, "check_large_epsilon", _anything_goes),),
    ),
    Fault(
        "every guarantee called strong",
        "readers of a release at ε = 50 are told that its people are hidden",
        "a page says what a large ε is worth",
        (Change(guarantee, "strength_of", lambda _: lambda epsilon, delta: "strong"),),
    ),
)
