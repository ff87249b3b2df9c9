"""What is said about counts of visitors and visits: that people are bounded for them, and what follows from that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.estimates import COUNTS

if TYPE_CHECKING:
    from locentropy.core.estimates import Method
    from locentropy.release.statement import Statement

_COUNTED: Final = {"visitors": "people who were there", "visits": "visits there"}
_ENDS: Final = {"low": "lower", "high": "upper"}


def has_counts(method: Method) -> bool:
    """Whether counts are published."""
    return bool(set(COUNTS) & set(method.columns))


def bounds_words(statement: Statement) -> str:
    """How much of each person is counted."""
    given = statement.parameters
    if not {"max_locations", "max_visits"} <= set(given):
        return "each person is cut to the bounds of the mechanism"
    keep = f" (kept: {given['keep']})" if "keep" in given else ""
    return (
        f"each person counts at no more than {given['max_locations']} places{keep}, and with no more than "
        f"{given['max_visits']} visits in each"
    )


def counts_words(statement: Statement) -> str:
    """What the counts are, for readers; empty where there are none."""
    if not has_counts(statement.method):
        return ""
    return (
        f"The columns visitors and visits are bounded counts with noise: {bounds_words(statement)}. Where people "
        "exceed that, true numbers are larger. So visitors_low and visits_low are lower bounds of the true numbers as "
        "well, but visitors_high and visits_high are no upper bounds of them."
    )


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
