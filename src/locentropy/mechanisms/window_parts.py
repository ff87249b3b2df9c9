"""Several windows in one release: how a mechanism measures places in each of them.

Under the person unit, pairs of a place and a window are locations like any others: one measurement, in which a person's
bound, or unit of presence, is over all of their pairs. That is the mechanism itself.

Per period (`ByCell`), each cell of the unit is a part of its own:

Claim: if the mechanism is (ε, δ)-private for adding or removing all of one user's visits that it counts, `ByCell` is
(ε, δ)-private for adding or removing those of one user in one cell, and each of its parts is for its own cell.
Why: the part of a cell asks about the visits in this cell's windows alone, restricted before anything is bounded or
divided; what a person did in other cells does not change its answers. So one cell moves one part, once. A person in k
cells moves k parts: the ledger charges each. Proof: docs/proofs/units.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError
from locentropy.core.estimates import COLUMNS, AttributeEffect, Estimates, Measurements
from locentropy.mechanisms.base import Mechanism, check_locations, require_locations
from locentropy.privacy.units import cell_label, period_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.estimates import Method, NoisyPresence
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ExpectedError, Supposed
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import Noise
    from locentropy.privacy.units import Unit


def by_part(mechanism: Mechanism, unit: Unit) -> Mechanism:
    """The mechanism for locations in several windows, under a unit."""
    return mechanism if period_of(unit) is None else ByCell(mechanism, unit)


@dataclass(frozen=True)
class ByCell(Mechanism):
    """A mechanism that is run once for each cell of a unit, on the visits of that cell alone."""

    mechanism: Mechanism
    """What measures each cell."""
    unit: Unit
    """Whose cells."""

    def __post_init__(self) -> None:
        # Class attributes of the mechanism, which say the same of all parts together.
        for name in (
            "name",
            "method",
            "example",
            "estimand",
            "uses_attributes",
            "publishes_measurements",
            "inference",
        ):
            object.__setattr__(self, name, getattr(self.mechanism, name))

    @property
    def method_used(self) -> Method:
        """That of each part."""
        return self.mechanism.method_used

    @property
    def guarantee(self) -> Guarantee:
        """For one cell: what each part guarantees."""
        return self.mechanism.guarantee.for_unit(self.unit)

    @property
    def bounds(self) -> Bounds | None:
        """Of each part."""
        return self.mechanism.bounds

    @property
    def is_built_in(self) -> bool:
        """Whether the mechanism is."""
        return self.mechanism.is_built_in

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """Measure cell after cell. The queries of each are named after it."""
        listed = require_locations(locations, type(self.mechanism).__name__)
        check_locations(queries, listed)
        values: dict[str, NDArray[np.int64]] = {}
        measured, private = [], True
        for cell, part in self._parts(listed):
            found = self.mechanism.measure(queries.restricted_to(part), part, noise)
            values |= {f"{cell} {name}": each for name, each in found.values.items()}
            measured.append(found.locations)
            private = private and found.private
        return Measurements(pa.concat_arrays(measured), values, private)

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """Estimate cell after cell, each from its own measurements."""
        listed = require_locations(locations, type(self.mechanism).__name__)
        parts = self._parts(listed)
        return _joined([self.mechanism.estimate(_of_cell(measurements, *each), each[1]) for each in parts])

    def presence(self, measurements: Measurements, locations: Locations | None) -> NoisyPresence | None:
        """That of all cells, which have the same noise."""
        listed = require_locations(locations, type(self.mechanism).__name__)
        parts = [
            self.mechanism.presence(_of_cell(measurements, *each), each[1]) for each in self._parts(listed)
        ]
        found = [part for part in parts if part is not None]
        return (
            found[0]._replace(integers=np.concatenate([part.integers for part in found])) if found else None
        )

    def rehearse(self, queries: Queries) -> bool:
        """Ask what the mechanism asks first, of all cells at once: the answer is private, and is for the log alone."""
        return self.mechanism.rehearse(queries)

    def public_scales(self, locations: Locations | None) -> Mapping[str, float]:
        """Those of every part, whose queries are named after its cell."""
        listed = require_locations(locations, type(self.mechanism).__name__)
        return {
            f"{cell} {name}": scale
            for cell, part in self._parts(listed)
            for name, scale in self.mechanism.public_scales(part).items()
        }

    def query_names(self, locations: Locations | None) -> tuple[str, ...]:
        """Likewise."""
        listed = require_locations(locations, type(self.mechanism).__name__)
        parts = list(self._parts(listed))
        return tuple(f"{cell} {name}" for cell, part in parts for name in self.mechanism.query_names(part))

    def expected_error(self, supposed: Supposed) -> ExpectedError:
        """That of each part."""
        return self.mechanism.expected_error(supposed)

    def few_locations_warning(self, n_locations: int) -> str | None:
        """That of the mechanism."""
        return self.mechanism.few_locations_warning(n_locations)

    def _parts(self, listed: Locations) -> Iterator[tuple[str, Locations]]:
        """Each cell with its locations, in order."""
        paired = listed.in_windows
        if paired is None:
            raise ParameterError("The locations are not those of several windows.")
        cells = [cell_label(self.unit, window.start) for window in paired.windows]
        numbers = np.arange(len(listed)).reshape(len(cells), -1)
        for cell in dict.fromkeys(cells):
            rows = [numbers[at] for at, each in enumerate(cells) if each == cell]
            yield cell, listed.take(np.concatenate(rows))


def _of_cell(measurements: Measurements, cell: str, part: Locations) -> Measurements:
    """Those of one cell, under the names that the mechanism gives them."""
    names = {name: name.removeprefix(f"{cell} ") for name in measurements.values}
    values = {own: measurements.values[name] for name, own in names.items() if own != name}
    there = measurements.locations.filter(pc.is_in(measurements.locations, value_set=part.ids))
    return replace(measurements, locations=there, values=values)


def _joined(parts: list[Estimates]) -> Estimates:
    """Estimates one after another; what they lean on is the mean of all."""
    first = parts[0]
    columns: dict[str, Any] = {
        name: None
        if getattr(first, name) is None
        else np.concatenate([getattr(part, name) for part in parts])
        for name in COLUMNS
    }
    effects = tuple(
        AttributeEffect(name, float(np.mean([_explained(part, name) for part in parts])))
        for name in dict.fromkeys(effect.name for part in parts for effect in part.leans_on)
    )
    return Estimates(
        locations=pa.concat_arrays([part.locations for part in parts]),
        estimand=first.estimand,
        private=all(part.private for part in parts),
        leans_on=effects,
        **columns,
    )


def _explained(part: Estimates, name: str) -> float:
    return next((effect.explained for effect in part.leans_on if effect.name == name), 0.0)
