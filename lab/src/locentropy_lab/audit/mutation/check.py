"""What a check is: a small question about the software with a name, and an answer in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Check:
    """Something that must be so."""

    name: str
    """What must be so, in a few words."""
    find: Callable[[], list[str]]
    """Everything that is wrong; nothing if all is well. It computes all it needs anew."""


def check(name: str) -> Callable[[Callable[[], list[str]]], Check]:
    """Make a function a check."""
    return lambda find: Check(name, find)
