"""What faults and checks are made of: replacements that are undone, questions with names, and noise without secrets."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_INHERITED: Final = object()
"""Stands for an attribute that a class has from its parent."""

_GOLDEN: Final = (np.sqrt(5.0) - 1.0) / 2.0


@contextmanager
def replaced(where: Any, name: str, by: Any) -> Iterator[None]:
    """Replace an attribute of a module or class while the block runs."""
    kept = vars(where).get(name, _INHERITED)  # as stored: a property or class method, not its value
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
    """One replacement."""

    where: Any
    """The module or class."""
    name: str
    """Its attribute."""
    make: Callable[[Any], Any]
    """Makes the replacement from what was there."""


@dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make in the software."""

    name: str
    """What is wrong, in a few words."""
    why: str
    """What it would do to people, or to the guarantee."""
    caught_by: str
    """The name of the check that must see it."""
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


@dataclass(frozen=True)
class Check:
    """A property that the software must have."""

    name: str
    """The property, in a few words."""
    find: Callable[[], Iterable[str]]
    """Returns everything that is wrong, in sentences; nothing if all is well. It computes all it needs anew.

    A check that takes long tells what is wrong as soon as it sees it.
    """


def check(name: str) -> Callable[[Callable[[], Iterable[str]]], Check]:
    """Make a function a check."""
    return lambda find: Check(name, find)


class PredictableNoise:
    """`Noise` that anybody can compute again. It protects nobody.

    It is spread like the real one, and depends on nothing but the position of a value in its row.
    """

    private = False

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Values plus the same numbers each time."""
        return values + np.rint(self.reals(np.shape(values)) * scale).astype(np.int64)

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Values plus the same numbers each time; not of the shape of a Gaussian, which nothing here needs."""
        return self.laplace(values, scale)

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Values plus the same numbers each time, each of its own scale."""
        return values + np.rint(self.reals(np.shape(values)) * np.asarray(scales)).astype(np.int64)

    def bernoulli_each(self, probabilities: Reals) -> NDArray[np.bool_]:
        """Coins that fall the same way each time."""
        return np.asarray(self._even(np.shape(probabilities)) < probabilities)

    def reals(self, shape: tuple[int, ...]) -> Reals:
        """Real numbers that look like Laplace noise of scale 1."""
        half = self._even(shape) - 0.5
        spread: Reals = -np.sign(half) * np.log1p(-2.0 * np.abs(half))
        return spread

    def _even(self, shape: tuple[int, ...]) -> Reals:
        """Numbers spread evenly over 0 to 1: multiples of the golden ratio."""
        count = np.arange(1, int(np.prod(shape, dtype=np.int64)) + 1, dtype=np.float64)
        even: Reals = np.mod(count * _GOLDEN, 1.0).reshape(shape)
        return even


class DrowningNoise:
    """`Noise` so large that nothing is left of the values: the same answers whatever the data."""

    private = False

    def __init__(self) -> None:
        self._asked = 0

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Numbers that do not depend on the values."""
        return self._answer(values)

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Numbers that do not depend on the values."""
        return self._answer(values)

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Numbers that do not depend on the values."""
        return self._answer(values)

    def bernoulli_each(self, probabilities: Reals) -> NDArray[np.bool_]:
        """Coins that never come up."""
        return np.zeros(np.shape(probabilities), dtype=np.bool_)

    def _answer(self, values: Integers) -> Integers:
        self._asked += 1
        steps = np.arange(np.size(values), dtype=np.int64).reshape(np.shape(values))
        return (steps * 1_007_919 + self._asked * 104_729) % 12_000_000 + 2_000_000
