"""Estimates: what comes out of a mechanism, and the only thing a release is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

Estimand = Literal["bounded", "true"]
"""Which entropy is estimated: that of the visits after bounding every user, or that of all visits."""

COLUMNS: Final = ("entropy", "std_error", "low", "high", "entropy_busy")
"""The numbers that there may be for each location."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """A noisy entropy for each location. Built inside `mechanisms/` only (a lint sees to it).

    It has no place for a count, a noise scale or an exact value: what is not here cannot be published.
    """

    locations: pa.Array
    """Each location once, in the order of the public list (by the text of the id, where there is no list)."""

    entropy: Reals
    """Estimated entropy in nats; NaN where the mechanism withholds it, which `to_arrow` shows as null."""

    estimand: Estimand
    """Whether this is about the `bounded` entropy or the `true` one."""

    private: bool
    """Whether anything is promised: false for simulated noise, and for a mechanism without a guarantee."""

    std_error: Reals | None = None
    """Standard error, where it may be known; None where it would be a function of the data."""

    low: Reals | None = None
    """Lower end of a 95 % interval, under the same condition."""

    high: Reals | None = None
    """Upper end."""

    entropy_busy: Reals | None = None
    """A second estimate, better for rankings of busy places and worse for all places together (Shares)."""

    def __post_init__(self) -> None:
        if self.estimand not in get_args(Estimand):
            raise ParameterError(f"estimand={self.estimand!r} is not one of {get_args(Estimand)}.")
        if (self.low is None) != (self.high is None):
            raise ParameterError("An interval has both ends, low and high, or neither.")
        for name in COLUMNS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._checked(name))
        if self.low is not None and self.high is not None and (self.low > self.high).any():
            raise ParameterError("An interval must not end (high) before it begins (low).")

    def _checked(self, name: str) -> Reals:
        """A column as an array of its own that nobody can write to."""
        column: Reals = np.array(getattr(self, name), dtype=np.float64)
        if column.shape != (len(self.locations),):
            raise ParameterError(
                f"{name} of shape {column.shape} does not fit {len(self.locations)} locations."
            )
        if np.isinf(column).any() or (np.isnan(column) != np.isnan(self.entropy)).any():
            raise ParameterError(f"{name} must be finite where the entropy is published, and NaN elsewhere.")
        column.flags.writeable = False
        return column

    def __len__(self) -> int:
        """The number of locations."""
        return len(self.locations)

    def to_arrow(self) -> pa.Table:
        """A table with `location`, `entropy` and the error columns that exist; null where withheld."""
        import pyarrow as pa

        columns = {"location": self.locations}
        for name in COLUMNS:
            if (column := getattr(self, name)) is not None:
                columns[name] = pa.array(column, pa.float64(), from_pandas=True)  # NaN becomes null
        return pa.table(columns)
