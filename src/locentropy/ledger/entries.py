"""Entries of a ledger: their kinds, and what is remembered of each."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from locentropy.core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

Kind = Literal[
    "budget",
    "rules",
    "part",
    "spend",
    "release",
    "evaluation",
    "input_check",
    "withdrawal",
    "rebuild",
    "earlier",
    "complete",
]
State = Literal["staged", "published"]


@dataclass(frozen=True)
class Entry:
    """One line of the ledger, as text."""

    kind: Kind
    values: Mapping[str, str]


@dataclass(frozen=True)
class Spend:
    """What one release has taken from the budget, permanently."""

    id: str
    """A random id; the manifest of the release names it."""
    number: int
    """1, 2, 3, …: the order of spends. Clocks may jump, numbers do not."""
    epsilon: Fraction | None
    """ε, exactly; None stands for ∞: a release without a guarantee."""
    delta: Fraction
    """δ, exactly."""
    purpose: str
    """The purpose, in the owner's words."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """The time in UTC, by the machine's clock; nothing depends on it."""


@dataclass(frozen=True)
class ReleaseRecord:
    """The state of a spend's release."""

    spend: str
    """The id of the spend."""
    release: str
    """The id of the release."""
    state: State
    """`staged`: its numbers are drawn and on disk; `published`: it is in its final place."""
    time: str
    """When, in UTC."""


@dataclass(frozen=True)
class Evaluation:
    """A use of exact data that took nothing from the budget."""

    note: str
    """What was done, in the owner's words."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """When, in UTC."""


@dataclass(frozen=True)
class InputCheck:
    """A comparison of ids, dates and dropped rows with the exact data, which computed no result."""

    before: int
    """The number of the spend that comes next: releases from it on say so."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """When, in UTC."""


@dataclass(frozen=True)
class Withdrawal:
    """A release that its owner has withdrawn or replaced. What it cost stays spent."""

    release: str
    """The id of the release."""
    why: str
    """The owner's words; later releases publish them."""
    before: int
    """The number of the spend that comes next: releases from it on say so."""
    time: str
    """When, in UTC."""


def new_id() -> str:
    """A random id for a ledger, a spend or a release."""
    return secrets.token_hex(16)


def stamp() -> dict[str, str]:
    """By what, and when, an entry is written."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"software": f"locentropy {__version__}", "time": now}
