"""What leaves a mechanism: noisy measurements, the estimates made from them, and words about how both were made."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

Estimand = Literal["bounded", "true"]
"""Which entropy is estimated: that of the visits after bounding every user, or that of all visits."""

ErrorBars = Literal["none", "constant", "noise", "model"]
"""What error bars rest on: there are none, one public constant, the law of the noise, or a model of places as well."""

COUNTS: Final = ("visitors", "visitors_low", "visitors_high", "visits", "visits_low", "visits_high")
"""Noisy counts of the visitors and visits of a location after bounding every user, with 95 % intervals."""

COLUMNS: Final = ("entropy", "std_error", "low", "high", "entropy_busy", *COUNTS)
"""The numbers that there may be for each location."""

OF_SERIES: Final = ("entropy_alone", "change", "change_probability")
"""What is told of a location besides, where earlier releases about the same list were used."""

CHANGES: Final = ("none", "rose", "fell", "closed")
"""How the expected visitors of a location changed, where that is sure."""

INTERVALS: Final = (("low", "high"), ("visitors_low", "visitors_high"), ("visits_low", "visits_high"))
"""Columns that are the two ends of an interval."""


@dataclass(frozen=True)
class Method:
    """How a mechanism works and what it publishes, for readers who have only the release.

    It is published with every release, so that a page or a manifest can be made from the release alone.
    """

    summary: str
    """What is computed and what gets noise, in a few sentences."""
    columns: tuple[str, ...] = ()
    """The columns published beside `entropy`, out of `std_error`, `low`, `high`, `entropy_busy` and `COUNTS`."""
    error_bars: ErrorBars = "none"
    """What `std_error`, `low` and `high` rest on. A mechanism whose noise depends on the data has none."""
    post_processing: str = "Noisy values, and the ends of intervals where there are any, are clipped"
    """What happens to the noisy numbers; how far values are clipped is added to it."""
    rounding: str = (
        "Real numbers are rounded to multiples of 2^-20 nats before they get noise, which covers that."
    )
    """What is rounded before noise is added."""
    proof: str = "its author states the guarantee"
    """Where the guarantee is proved."""

    def __post_init__(self) -> None:
        for name in ("summary", "post_processing", "rounding", "proof"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip() or not text.isprintable():
                raise ParameterError(f"{name} must be one line of printable text.")
        columns = tuple(self.columns)
        if not set(columns) <= set(COLUMNS[1:]) or len(set(columns)) != len(columns):
            raise ParameterError(f"columns={columns!r} must be some of {', '.join(COLUMNS[1:])}.")
        if self.error_bars not in get_args(ErrorBars):
            raise ParameterError(f"error_bars={self.error_bars!r} is not one of {get_args(ErrorBars)}.")
        if (self.error_bars == "none") == bool({"std_error", "low", "high"} & set(columns)):
            raise ParameterError('error_bars must be "none" exactly if no error column is published.')
        object.__setattr__(self, "columns", columns)


@dataclass(frozen=True, eq=False)
class Measurements:
    """Noisy integers: all that a mechanism keeps of the data, and all that its `estimate` reads.

    Built inside `mechanisms/` only (a lint sees to it), by the step that adds the noise. There is no field for a noise
    scale: those that may be known follow from the mechanism's parameters.
    """

    locations: pa.Array
    """The locations that values of single locations are about, in their order."""

    values: Mapping[str, Integers]
    """The noisy integers of each query, by its name."""

    private: bool
    """Whether the noise protects anybody: false for simulated noise, and for a mechanism without a guarantee."""

    def __post_init__(self) -> None:
        kept = {}
        for name, values in self.values.items():
            column: Integers = np.array(values)
            if column.dtype != np.int64:
                raise ParameterError(f"{name}: measurements are 64-bit integers, not {column.dtype}.")
            column.flags.writeable = False
            kept[name] = column
        object.__setattr__(self, "values", MappingProxyType(kept))

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}: {'×'.join(map(str, each.shape))}" for name, each in self.values.items())
        return f"<Measurements of {len(self.locations):,} locations; {shapes}>"


class NoisyPresence(NamedTuple):
    """How much there is at each location, from noisy integers: nothing but noise where nobody is counted."""

    of: Literal["presence", "visits"]
    """Units of presence, of which each user has one, or visits within the bounds."""
    integers: Integers
    """The noisy integers: location × one or more."""
    weights: tuple[float, ...]
    """What each of them counts."""
    scale: float
    """The scale of the noise of every integer; public."""
    noise: Literal["laplace", "gaussian"]
    """Its law."""

    def at(self, rows: slice) -> NoisyPresence:
        """The same at some of the locations."""
        return self._replace(integers=self.integers[rows])

    @property
    def total(self) -> float:
        """Of all locations; integers are added up exactly."""
        sums = self.integers.sum(axis=0, dtype=object)
        return float(sum(weight * int(each) for weight, each in zip(self.weights, sums, strict=True)))


@dataclass(frozen=True)
class AttributeEffect:
    """How much estimates lean on one public attribute. Computed from noisy measurements and public things alone."""

    name: str
    """The attribute, or `coordinates`."""

    explained: float
    """The part of the spread between places that it explains, from 0 to 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.explained, float):
            raise ParameterError("An effect has the name of an attribute and a number.")
        if not 0.0 <= self.explained <= 1.0:  # NaN is neither
            raise ParameterError(f"explained of {self.name!r} must be from 0 to 1.")


@dataclass(frozen=True, eq=False)
class Estimates:
    """A noisy entropy for each location. Built inside `mechanisms/` only (a lint sees to it).

    It has no place for a noise scale or an exact value: what is not here cannot be published.
    """

    locations: pa.Array
    """Each location once, in the order of the public list (by the text of the id, where there is no list)."""

    entropy: Reals
    """Estimated entropy in nats; NaN where the mechanism withholds it, which `to_arrow` shows as null."""

    estimand: Estimand
    """Whether this is about the `bounded` entropy or the `true` one."""

    private: bool
    """Whether there is a guarantee: not for simulated noise, nor for a mechanism that has none."""

    std_error: Reals | None = None
    """Standard error, where it may be known; None where it would be a function of the data."""

    low: Reals | None = None
    """Lower end of a 95 % interval, under the same condition."""

    high: Reals | None = None
    """Upper end."""

    entropy_busy: Reals | None = None
    """A second estimate for rankings of busy places, which Shares published in version 0.1; no built-in one has it."""

    visitors: Reals | None = None
    """A noisy count of the users of each location, after bounding every user, where it was paid for (Shares)."""

    visitors_low: Reals | None = None
    """Lower end of a 95 % interval for the bounded count."""

    visitors_high: Reals | None = None
    """Upper end."""

    visits: Reals | None = None
    """A noisy count of the visits of each location, after bounding every user."""

    visits_low: Reals | None = None
    """Lower end of a 95 % interval for the bounded count."""

    visits_high: Reals | None = None
    """Upper end."""

    leans_on: tuple[AttributeEffect, ...] = ()
    """How much the estimates lean on each public attribute, for a mechanism that uses some."""

    entropy_alone: Reals | None = None
    """In a series: the estimate without earlier releases."""

    change: tuple[str, ...] | None = None
    """In a series: which of `CHANGES`."""

    change_probability: Reals | None = None
    """In a series: how likely that change is; where it is `none`, how likely the likeliest one is."""

    def __post_init__(self) -> None:
        if self.estimand not in get_args(Estimand):
            raise ParameterError(f"estimand={self.estimand!r} is not one of {get_args(Estimand)}.")
        for name in (*COLUMNS, "entropy_alone", "change_probability"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._checked(name))
        if len({getattr(self, name) is None for name in OF_SERIES}) > 1:
            raise ParameterError(f"A series has all of {', '.join(OF_SERIES)}, or none of them.")
        if self.change is not None and (
            len(self.change) != len(self.locations) or not set(self.change) <= set(CHANGES)
        ):
            raise ParameterError(f"change must be one of {', '.join(CHANGES)} for each location.")
        for low, high in INTERVALS:
            begin, end = getattr(self, low), getattr(self, high)
            if (begin is None) != (end is None):
                raise ParameterError(f"An interval has both ends, {low} and {high}, or neither.")
            if begin is not None and (begin > end).any():
                raise ParameterError(f"An interval must not end ({high}) before it begins ({low}).")

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
