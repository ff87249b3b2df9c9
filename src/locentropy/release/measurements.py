"""measurements.parquet: the noisy integers that a release was computed from.

They are differentially private themselves, so readers may run their own inference on them. A row for each query:

    query       its name
    shape       of its answer: one entry for each location, or pairs, or a histogram
    values      the noisy integers, flat
    scale       of their noise, in the same integers, where that is a public constant; null where it is not
    locations   in the row `locations` alone: the ids that answers about single locations follow, in their order

Reading trusts nothing: the file may come from anywhere.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from locentropy.core.errors import ReleaseError
from locentropy.core.estimates import Measurements
from locentropy.core.parquet import TooLargeError, read_bounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from locentropy.core.locations import Locations
    from locentropy.mechanisms.base import Mechanism

FORMAT: Final = "locentropy measurements 1"
KEY: Final = b"locentropy"
"""Of the file's metadata: its format, the release, and whether the noise was private."""

_LOCATIONS: Final = "locations"
_MOST_QUERIES: Final = 4_000
"""Some ten of each part: there may be one for each day of a year."""
MOST_VALUES: Final = 1 << 28
"""Numbers in a file, at most, where nothing more is known about the release."""
_MOST_DIMENSIONS: Final = 4


@dataclass(frozen=True, eq=False)
class KeptMeasurements:
    """Measurements with what readers need to know about their noise."""

    release_id: str
    """The release that was computed from them; it belongs to this draw of noise."""
    measurements: Measurements
    """The noisy integers."""
    scales: Mapping[str, float] = field(default_factory=dict)
    """The scale of the noise of each query, where it is a public constant."""
    user_column: str | None = None
    """The column that was the person when they were measured."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """The public rules by which the visits were read then, such as what was done about bad rows."""

    def __post_init__(self) -> None:
        if _LOCATIONS in self.measurements.values:
            raise ReleaseError(f"No query of a mechanism may be called {_LOCATIONS!r}.")
        for name in ("scales", "rules"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @classmethod
    def of(
        cls,
        release_id: str,
        measurements: Measurements,
        mechanism: Mechanism,
        locations: Locations | None,
        user_column: str | None = None,
        rules: Mapping[str, str] = MappingProxyType({}),
    ) -> KeptMeasurements:
        """The measurements of a mechanism about this list, with its public scales."""
        return cls(release_id, measurements, mechanism.public_scales(locations), user_column, rules)


def measurements_parquet(kept: KeptMeasurements) -> pa.Buffer:
    """The file."""
    measured = kept.measurements
    ids, values = measured.locations, measured.values
    names = [_LOCATIONS, *values]
    table = pa.table(
        {
            "query": pa.array(names, pa.string()),
            "shape": pa.array([None, *(list(each.shape) for each in values.values())], pa.list_(pa.int64())),
            "values": pa.array([None, *(each.ravel() for each in values.values())], pa.list_(pa.int64())),
            "scale": pa.array([None, *(kept.scales.get(name) for name in values)], pa.float64()),
            "locations": _nested(ids, len(values)),
        }
    )
    about = {
        "format": FORMAT,
        "release_id": kept.release_id,
        "private": measured.private,
        "user_column": kept.user_column,
        "rules": dict(kept.rules),
    }
    sink = pa.BufferOutputStream()
    # Hardly a number stands in it twice: looking for repetitions takes most of the time, and adds to its size.
    table = table.replace_schema_metadata({KEY: json.dumps(about).encode()})
    pq.write_table(table, sink, use_dictionary=False)
    return sink.getvalue()


def _schema(ids: pa.DataType) -> pa.Schema:
    return pa.schema(
        {
            "query": pa.string(),
            "shape": pa.list_(pa.int64()),
            "values": pa.list_(pa.int64()),
            "scale": pa.float64(),
            "locations": ids,
        }
    )


def _nested(ids: pa.Array, nulls: int) -> pa.Array:
    """The ids in the first row of a list column, and nothing in the others."""
    first = pa.ListArray.from_arrays(pa.array([0, len(ids)], pa.int32()), ids)
    return pa.concat_arrays([first, pa.nulls(nulls, first.type)])


def read_measurements(source: Any, most_values: int = MOST_VALUES) -> KeptMeasurements:
    """The measurements of a path or open file; ReleaseError if it holds anything else, or more than `most_values`."""
    try:
        path = isinstance(source, str | Path)
        table = read_bounded(Path(source) if path else pa.py_buffer(source.read()), most_values=most_values)
        table.validate(full=True)
        return _kept(table)
    except ReleaseError:
        raise
    except TooLargeError:
        raise ReleaseError(f"{_named(source)} holds more than measurements of this release can.") from None
    except Exception as error:  # a file may hold anything, and its reader may fail in any way
        raise ReleaseError(
            f"{_named(source)} cannot be read as measurements: {type(error).__name__}."
        ) from None


def _kept(table: pa.Table) -> KeptMeasurements:
    about = json.loads((table.schema.metadata or {}).get(KEY, b"null"))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ReleaseError(f"its format is not '{FORMAT}'; a newer version of locentropy may read it")
    release_id, private, user = (about.get(key) for key in ("release_id", "private", "user_column"))
    rules = about.get("rules")
    expected = ["query", "shape", "values", "scale", "locations"]
    if (
        not isinstance(release_id, str)
        or not isinstance(private, bool)
        or not isinstance(user, str | None)
        or not isinstance(rules, dict)
        or not all(isinstance(rule, str) for rule in rules.values())
        or table.column_names != expected
    ):
        raise ReleaseError("it has other columns, or says other things about itself, than measurements do")
    if not table.schema.equals(_schema(table.schema.field("locations").type)):
        raise ReleaseError("its columns have other types than measurements have")
    if set(table.schema.metadata or {}) - {KEY, b"ARROW:schema"}:
        raise ReleaseError("it carries metadata that do not belong to measurements")
    names = table["query"].to_pylist()
    if not 1 <= len(names) <= _MOST_QUERIES or names[0] != _LOCATIONS or len(set(names)) != len(names):
        raise ReleaseError("its queries are not what they should be")
    ids = table["locations"][0].values
    if ids is None or not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)) or ids.null_count:
        raise ReleaseError("its locations are not ids")
    values, scales = {}, {}
    for at, name in enumerate(names[1:], start=1):
        values[name] = _array(table["shape"][at].as_py(), table["values"][at].values)
        scale = table["scale"][at].as_py()
        if scale is not None:
            if not (math.isfinite(scale) and scale > 0):
                raise ReleaseError("a scale is not a number above 0")
            scales[name] = scale
    return KeptMeasurements(release_id, Measurements(ids, values, private), scales, user, rules)


def _array(shape: Any, flat: pa.Array | None) -> np.ndarray[Any, Any]:
    if (
        flat is None
        or flat.type != pa.int64()
        or flat.null_count
        or not isinstance(shape, list)
        or not 1 <= len(shape) <= _MOST_DIMENSIONS
        or any(not isinstance(each, int) or each < 0 for each in shape)
        or math.prod(shape) != len(flat)
    ):
        raise ReleaseError("an answer is not an array of whole numbers of its shape")
    values: np.ndarray[Any, Any] = flat.to_numpy(zero_copy_only=False).reshape(shape)
    return values


def _named(source: Any) -> str:
    return str(source) if isinstance(source, str | Path) else "the file"
