"""What is said about counts of visitors and visits: that people are bounded for them, and what follows from that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.estimates import COUNTS
from locentropy.core.language import ENGLISH

if TYPE_CHECKING:
    from locentropy.core.estimates import Method
    from locentropy.core.language import Words
    from locentropy.release.statement import Statement

_COUNTED: Final = {"visitors": "people who were there", "visits": "visits there"}
_ENDS: Final = {"low": "lower", "high": "upper"}


def has_counts(method: Method) -> bool:
    """Whether counts are published."""
    return bool(set(COUNTS) & set(method.columns))


def bounds_words(statement: Statement, say: Words = ENGLISH) -> str:
    """How much of each person is counted."""
    given = statement.parameters
    if not {"max_locations", "max_visits"} <= set(given):
        return say("bounds.own")
    return say(
        "bounds",
        places=given["max_locations"],
        keep=say("bounds.keep", keep=say.stored("keep", given["keep"])) if "keep" in given else "",
        visits=given["max_visits"],
    )


def counts_words(statement: Statement, say: Words = ENGLISH) -> str:
    """What the counts are, for readers; empty where there are none."""
    if not has_counts(statement.method):
        return ""
    return say("counts", bounds=bounds_words(statement, say))


def described_count(name: str, statement: Statement) -> str:
    """What a column of counts holds, for somebody who has only the release."""
    column, _, end = name.partition("_")
    noised = "with noise" if statement.private else "without any guarantee of privacy"
    if end:
        return (
            f"{_ENDS[end]} end of a 95 % interval for the bounded number of {column}; it follows from the law of the "
            "noise alone, and is rounded outwards"
        )
    return (
        f"number of {_COUNTED[column]}, {noised}, counted after bounding: {bounds_words(statement)}; a whole number, "
        "0 where noise made it negative"
    )
