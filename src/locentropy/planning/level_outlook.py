"""What each level of a release gets of the budget and is worth, from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from locentropy.core.levels import WHOLE
from locentropy.core.number_format import nats
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
        told = "expected error unknown without the numbers of its locations and of people"
        if self.error is not None:
            told = f"expected error about {nats(self.error[0])} to {nats(self.error[1])} nats"
        few = None if self.n_locations is None else self.mechanism.few_locations_warning(self.n_locations)
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


def level_outlooks(
    mechanisms: Mapping[str, Mechanism],
    sizes: Sequence[int] = (),
    n_locations: int | None = None,
    n_users: int | None = None,
) -> tuple[LevelOutlook, ...]:
    """What each level gets and is worth. `sizes` are the numbers of locations of all levels, if they are known."""
    known: list[int | None] = (
        [*sizes] if sizes else [n_locations, *(None for _ in range(len(mechanisms) - 1))]
    )
    return tuple(
        LevelOutlook(name, mechanism, 1 if name == WHOLE else size, n_users)
        for (name, mechanism), size in zip(mechanisms.items(), known, strict=True)
    )
