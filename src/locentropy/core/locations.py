"""Locations: the public list of places, as a mechanism sees it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError

_CALL = 'Locations(pa.array(["cafe-1", "park-2"]))'


@dataclass(frozen=True, eq=False)
class Locations:
    """A list of places that is known without the visits: a register of venues, the cells of a grid.

    Every one of them is in the release, visited or not. So the list must not have been made from the visits:
    a place that is listed because somebody was there gives that somebody away.
    """

    ids: pa.Array
    """Each place once, whole numbers or texts, in the order of the release."""

    def __post_init__(self) -> None:
        if not isinstance(self.ids, pa.Array):
            raise ParameterError(f"ids must be an Arrow array. For example: {_CALL}")
        if not (pa.types.is_integer(self.ids.type) or pa.types.is_string(self.ids.type)):
            raise ParameterError(
                f"ids of type {self.ids.type} must be whole numbers or texts. For example: {_CALL}"
            )
        if len(self.ids) == 0 or self.ids.null_count:
            raise ParameterError(f"ids must name at least one place and have no gaps. For example: {_CALL}")
        if len(pc.unique(self.ids)) != len(self.ids):
            raise ParameterError(f"ids must name each place once. For example: {_CALL}")

    def __len__(self) -> int:
        """The number of places."""
        return len(self.ids)
