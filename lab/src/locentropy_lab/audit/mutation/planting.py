"""Planting a fault: something is replaced while a block runs, and put back whatever happens."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INHERITED: Final = object()
"""Stands for an attribute that a class has from its parent."""


@contextmanager
def replaced(where: Any, name: str, by: Any) -> Iterator[None]:
    """Have another attribute of a module or class in the meantime."""
    kept = vars(where).get(name, _INHERITED)  # as it is stored: a property or class method, not what it gives
    setattr(where, name, by)
    try:
        yield
    finally:
        if kept is _INHERITED:
            delattr(where, name)
        else:
            setattr(where, name, kept)


@dataclass(frozen=True)
class Change:
    """One replacement: what is replaced, and by what, made from what was there."""

    where: Any
    name: str
    make: Callable[[Any], Any]


@dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make."""

    name: str
    """What is wrong, in a few words."""
    why: str
    """What it would do to people, or to the promise."""
    caught_by: str
    """The check that must see it."""
    changes: tuple[Change, ...]
    """What is planted."""

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Have the fault in this process while the block runs."""
        with ExitStack() as stack:
            for change in self.changes:
                true = getattr(change.where, change.name)
                stack.enter_context(replaced(change.where, change.name, change.make(true)))
            yield
