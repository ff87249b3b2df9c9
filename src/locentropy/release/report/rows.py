"""The places that a page shows, as columns that its script reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.release.report.html import Html, joined, script_json, tag
from locentropy.release.report.ranking import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Standing

    Reals = NDArray[np.float64]
    Integers = NDArray[np.int64]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 720, 240, 52, 40, 12, 14
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS: Final = 8
_FEWEST, _MOST = 8, 48


def distribution(values: Reals, unit: str) -> Html:
    """A histogram; each bar tells its numbers when it is pointed at."""
    if not len(values):
        return tag("p", "No value is published.")
    edges = _edges(values)
    counts, _ = np.histogram(values, edges)
    across = (_WIDTH - _LEFT - _RIGHT) / (edges[-1] - edges[0])
    highest = float(counts.max())
    up = (_HEIGHT - _BOTTOM - _TOP) / highest
    base = _HEIGHT - _BOTTOM
    bars = [
        tag(
            "rect",
            tag("title", f"{low:.4g} to {high:.4g} {unit}: {count:,} {'place' if count == 1 else 'places'}"),
            class_="bar",
            x=_two(_LEFT + (low - edges[0]) * across + 0.5),
            y=_two(base - count * up),
            width=_two(max((high - low) * across - 1.0, 0.5)),
            height=_two(count * up),
        )
        for low, high, count in zip(edges, edges[1:], counts.tolist(), strict=False)
    ]
    middle = float(np.median(values))
    label = (
        f"Histogram of {len(values):,} published values. Half of them are below {middle:.3g} {unit}; they go from "
        f"{values.min():.3g} to {values.max():.3g}."
    )
    return tag(
        "svg",
        _axes(edges, across, highest, up, unit),
        *bars,
        class_="histogram",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=label,
    )


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers within [low, high], about as many as asked for, at least one."""
    span = high - low
    if span <= 0:
        return [low]
    rough = span / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * each for each in _STEPS if power * each >= rough * 0.999)
    first = np.ceil(low / step - 1e-9)
    ticks = [float((first + at) * step) for at in range(int(np.floor(high / step + 1e-9) - first) + 1)]
    return ticks or [low]


def _edges(values: Reals) -> Reals:
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.sqrt(len(values)), _FEWEST, _MOST))
    return np.linspace(low, high, bins + 1)


def _axes(edges: Reals, across: float, highest: float, up: float, unit: str) -> Html:
    base = _HEIGHT - _BOTTOM
    parts = []
    for tick in nice_ticks(0.0, highest, 4):
        if tick != round(tick):
            continue  # there are no parts of places
        y = _two(base - tick * up)
        parts.append(tag("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y))
        parts.append(
            tag("text", f"{tick:,.0f}", class_="tick end", x=_LEFT - 8, y=_two(base - tick * up + 4))
        )
    for tick in nice_ticks(float(edges[0]), float(edges[-1]), _TICKS):
        x = _two(_LEFT + (tick - edges[0]) * across)
        parts.append(tag("line", class_="mark", x1=x, x2=x, y1=base, y2=base + 5))
        parts.append(tag("text", f"{tick:.6g}", class_="tick middle", x=x, y=base + 18))
    parts.append(
        tag("text", f"entropy ({unit})", class_="tick middle", x=(_LEFT + _WIDTH - _RIGHT) / 2, y=_HEIGHT - 4)
    )
    return joined(*parts)


def _two(value: float) -> str:
    return f"{value:.2f}"


MOST: Final = 100_000
"""Places that a page shows at most."""

LARGEST: Final = 16_000_000
"""Bytes that their rows may take, so that the page stays below 20 MB."""

_LONGEST: Final = 120
"""Letters of a name or an id that are shown; the tables beside the page have all of them."""

_DECIMALS: Final = {"lat": 5, "lon": 5, "chance": 4, "certainty": 3}  # 0.00001 degrees are a metre
_OTHERS: Final = 4
_NUMBER: Final = 11
"""Bytes that a number takes, generously."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The places that are shown, the first first."""

    columns: dict[str, list[Any]]
    """By the names that the script knows."""
    left_out: int
    """Places of the release that are not shown."""
    without_coordinates: int
    """Places that are shown and cannot be on the map."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.columns["id"])

    @property
    def has_map(self) -> bool:
        """Whether any place can be drawn."""
        return self.without_coordinates < len(self)


def rows(release: Release, places: Standing, *, most: int = MOST, largest: int = LARGEST) -> Rows:
    """The rows of a release, all of them or as many as a page can carry."""
    table = release.to_arrow()
    texts = {"id": _texts(table["location"])}
    if "name" in table.column_names:
        texts["name"] = _texts(table["name"])
    order = places.order
    wanted = _preferred(release, places)[:most]
    wanted = wanted[: _fitting(texts, wanted, largest)]
    shown = np.zeros(len(order), dtype=bool)
    shown[wanted] = True
    order = order[shown[order]]
    columns: dict[str, list[Any]] = {name: [column[at] for at in order] for name, column in texts.items()}
    columns["rank"] = [int(rank) or None for rank in places.rank[order]]
    given = {
        name: numbers(table, name)
        for name in ("lat", "lon", "entropy", "std_error", "low", "high")
        if name in table.column_names
    }
    if places.by != "entropy":
        given["value"] = places.value
    computed = {"chance": places.chance, "certainty": places.certainty}
    given |= {name: values for name, values in computed.items() if values is not None}
    for name, values in given.items():
        columns[name] = _rounded(values[order], _DECIMALS.get(name, _OTHERS))
    return Rows(columns, len(table) - len(order), _without_coordinates(columns, len(order)))


def _preferred(release: Release, places: Standing) -> Integers:
    """All places in the order in which they are worth showing: the highest and the most certain take turns."""
    order, table = places.order, release.to_arrow()
    if "std_error" not in table.column_names:
        return order
    error = numbers(table, "std_error")[order]
    surest = order[np.argsort(np.where(np.isnan(error), np.inf, error), kind="stable")]
    both = np.stack([order, surest], axis=1).ravel()
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)]


def _fitting(texts: dict[str, list[str | None]], wanted: Integers, largest: int) -> int:
    """How many of the wanted rows fit into that many bytes."""
    size = np.array(
        [sum(_size(column[at]) for column in texts.values()) + 10 * _NUMBER for at in wanted], dtype=np.int64
    )
    return int(np.searchsorted(np.cumsum(size), largest, side="right"))


def _size(text: str | None) -> int:
    return len(script_json(text).encode()) + 1


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    """Ids and names as text, since a script's numbers are floats; long ones end in an ellipsis."""
    texts = column.cast(pa.string()).to_pylist()
    return [text if text is None or len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts]


def _rounded(values: NDArray[np.float64], decimals: int) -> list[float | None]:
    # Only NaN is not itself; asking NumPy of each would take longer than all the rest.
    return [value if value == value else None for value in np.round(values, decimals).tolist()]


def _without_coordinates(columns: dict[str, list[Any]], count: int) -> int:
    if "lat" not in columns:
        return count
    return sum(lat is None or lon is None for lat, lon in zip(columns["lat"], columns["lon"], strict=True))
