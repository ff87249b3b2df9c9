"""The levels of public attributes: which places of the list have the same category, and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.locations import Locations

    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PublicLevels:
    """An attribute of the list, as numbers."""

    name: str
    of_place: Integers
    """The level of each place: 0, 1, 2, … in the order of the list."""
    count: int
    """How many levels there are."""

    def add_up(self, look: Integers) -> Integers:
        """The presence at the places of each level, as integers: `np.bincount` would use floats."""
        sums = np.zeros(self.count, dtype=np.int64)
        np.add.at(sums, self.of_place, look)
        return sums


def public_levels(locations: Locations) -> tuple[PublicLevels, ...]:
    """The levels of every attribute that the list declares. Places without a value are a level of their own."""
    found = []
    for name, values in locations.attributes.items():
        encoded = values.dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy().astype(np.int64)
        found.append(PublicLevels(name, codes, len(encoded.dictionary)))
    return tuple(found)
