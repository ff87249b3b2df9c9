"""Every fault, tried: the check that should see it must see it, and without the fault it must see nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locentropy_lab.audit.mutation.checks import CHECKS
from locentropy_lab.audit.numerical.search import stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from locentropy_lab.audit.mutation.planting import Fault


@dataclass(frozen=True)
class Tried:
    """What became of one fault."""

    fault: Fault
    seen: tuple[str, ...]
    """What the check said; nothing if it was blind."""
    broken: str = ""
    """The kind of error on which the check stopped, which is no answer: then nothing was caught."""

    @property
    def caught(self) -> bool:
        """Whether the check answered, and saw it."""
        return bool(self.seen) and not self.broken


def sound(
    names: Iterable[str], progress: Callable[[str], None] = lambda _: None
) -> dict[str, tuple[str, ...]]:
    """What these checks say of the software as it is."""
    found = {}
    for name in dict.fromkeys(names):
        progress(name)
        try:
            found[name] = tuple(CHECKS[name].find())
        except Exception as error:  # a check that stops is a complaint
            found[name] = (stopped(error),)
    return found


def try_fault(fault: Fault) -> Tried:
    """Plant a fault and ask the check that it is for."""
    with fault.planted():
        try:
            return Tried(fault, tuple(CHECKS[fault.caught_by].find()))
        except Exception as error:
            return Tried(fault, (), type(error).__name__)
