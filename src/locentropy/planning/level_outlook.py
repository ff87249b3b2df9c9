"""What each level of a release gets of the budget and is worth, from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from locentropy.core.levels import PLACE, WHOLE
from locentropy.core.number_format import nats
from locentropy.core.public_columns import quoted
from locentropy.mechanisms.expected_error import Supposed
from locentropy.privacy.guarantee import exact_text, numbers_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.mechanisms.base import Mechanism


@dataclass(frozen=True)
class LevelOutlook:
    """A level: its part of the budget, and the error to expect there."""

    name: str
    mechanism: Mechanism
    n_locations: int | None
    n_users: int | None

    @property
    def error(self) -> tuple[float, float] | None:
        """About the least and the largest typical error, in nats; None if too little is known."""
        numbers = self._supposed.get("expected_error")
        return None if numbers is None else (float(numbers[0]), float(numbers[1]))

    @property
    def _supposed(self) -> dict[str, Any]:
        known = Supposed(n_locations=self.n_locations, n_users=self.n_users)
        return self.mechanism.expected_error(known).to_dict()

    @property
    def words(self) -> str:
        """The level in a sentence or two."""
        many = (
            ""
            if self.n_locations is None
            else f", {self.n_locations:,} location{'s' * (self.n_locations != 1)}"
        )
        told = "expected error not known: it depends on how many locations the level has, and how many people there are"
        if self.error is not None:
            told = f"expected error about {nats(self.error[0])} to {nats(self.error[1])} nats"
        few = None if self.n_locations is None else few_locations(self.mechanism, self.name, self.n_locations)
        budget = numbers_in_words(self.mechanism.guarantee)
        return f"Level {self.name}: {budget}{many}; {told}.{f' {few}' if few else ''}"

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        guarantee = self.mechanism.guarantee
        return {
            "name": self.name,
            "epsilon": None if guarantee.epsilon is None else exact_text(guarantee.epsilon),
            "delta": exact_text(guarantee.delta),
            "n_locations": self.n_locations,
            "expected_error": None if self.error is None else list(self.error),
        }


def few_locations(mechanism: Mechanism, name: str, n_locations: int) -> str | None:
    """What to know about a level of so few locations, and what to do; None where they are enough, or just one.

    Mechanisms that need many locations learn from them how these differ: of the whole list there is nothing to learn.
    """
    warning = mechanism.few_locations_warning(n_locations) if n_locations > 1 else None
    if warning is None:
        return None
    told = f"The level {name} has {n_locations:,} locations. {warning}"
    if name == PLACE:
        return told
    by_itself = f"group={name!r} (--group-by {quoted(name)})"
    return f"{told} A level with a mechanism of its own is a release of its own: {by_itself}, from the same ledger."


def level_outlooks(
    mechanisms: Mapping[str, Mechanism],
    sizes: Sequence[int] = (),
    n_locations: int | None = None,
    n_users: int | None = None,
) -> tuple[LevelOutlook, ...]:
    """What each level gets and is worth, if that is known. `sizes` are the numbers of locations of all levels."""
    known: list[int | None] = [n_locations, *(None for _ in range(len(mechanisms) - 1))] if mechanisms else []
    if sizes and mechanisms:
        known = [*sizes]
    return tuple(
        LevelOutlook(name, mechanism, 1 if name == WHOLE else size, n_users)
        for (name, mechanism), size in zip(mechanisms.items(), known, strict=True)
    )
