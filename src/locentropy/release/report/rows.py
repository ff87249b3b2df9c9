"""The places that a page shows, as columns that its script reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.cell_kinds import GRID
from locentropy.core.estimates import COUNTS
from locentropy.core.html import script_json
from locentropy.release.outlines import square_grid
from locentropy.release.report.attributes import attribute_texts, filterable
from locentropy.release.report.drawn_outlines import drawn_outlines
from locentropy.release.report.ranking import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.statement import Statement

    Integers = NDArray[np.int64]

MOST: Final = 100_000
"""Places that a page shows at most."""

LARGEST: Final = 16_000_000
"""Bytes that their rows may take, so that the page stays below 20 MB."""

_LONGEST: Final = 120
"""Letters of a name or an id that are shown; the tables beside the page have all of them."""

_DECIMALS: Final = {"lat": 5, "lon": 5, "chance": 4, "certainty": 3}  # 0.00001 degrees are a metre
_OF_SERIES: Final = ("entropy_alone", "change_probability")
_OTHERS: Final = 4
_NUMBER: Final = 11
"""Bytes that a number takes, generously."""
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f<>&\u2028\u2029]*')
"""Texts that JSON in a script has as they are, between quotation marks."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The places that are shown, the first first."""

    columns: dict[str, list[Any] | pa.Array]
    """By the names that the script knows; numbers as arrays."""
    left_out: int
    """Places of the release that are not shown."""
    without_coordinates: int
    """Places that are shown and cannot be on the map."""
    attributes: list[str]
    """Names of columns of the public list; the values of the first are in the column `a0`."""
    filters: list[bool]
    """Which of them have few enough values to choose from."""
    outlines: tuple[float, ...] | None = None
    """West, south and step of the whole numbers in the column `outline`; height and width in degrees of the squares of
    a grid; None where places are drawn as dots."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.columns["id"])

    def first(self, count: int) -> dict[str, list[Any]]:
        """The columns of the first of them."""
        return {
            name: each[:count] if isinstance(each, list) else each[:count].to_pylist()
            for name, each in self.columns.items()
        }

    @property
    def has_names(self) -> bool:
        """Whether labels on the map are names; that of a square, its row and column, says only where it is."""
        return "name" in self.columns and len(self.outlines or ()) != 2

    @property
    def has_map(self) -> bool:
        """Whether any place can be drawn."""
        return self.without_coordinates < len(self)


def rows(say: Words, release: Release, ranking: Ranking, *, most: int = MOST, largest: int = LARGEST) -> Rows:
    """The rows of a release, all of them or as many as a page can carry."""
    table = release.to_arrow()
    attributes = attribute_texts(release)
    wanted = _preferred(release, ranking)[:most]
    numbered = 10 + len(set(COUNTS) & set(table.column_names))
    # Of a million places a page carries some: only their texts are made.
    texts = {
        name: _clipped(table[column].take(wanted).cast(pa.string()).to_pylist())
        for name, column in (("id", "location"), ("name", "name"))
        if column in table.column_names
    }
    if "name" in texts:
        texts["name"] = _names(say, release.statement, texts["name"])
    for number, listed in enumerate(attributes.values()):
        texts[f"a{number}"] = _clipped([listed[at] for at in wanted.tolist()])
    fitting = _fitting(texts, largest, numbered)
    among_wanted = np.full(len(table), -1)
    among_wanted[wanted[:fitting]] = np.arange(fitting)
    order = ranking.order[among_wanted[ranking.order] >= 0]
    columns: dict[str, list[Any] | pa.Array] = {
        name: [column[at] for at in among_wanted[order].tolist()] for name, column in texts.items()
    }
    columns["rank"] = [rank or None for rank in ranking.rank[order].tolist()]
    alone = len(table) == 1  # a map of one location shows nothing that its name does not say
    given = {
        name: numbers(table, name)
        for name in (
            *(() if alone else ("lat", "lon")),
            *("entropy", "std_error", "low", "high", *_OF_SERIES, *COUNTS),
        )
        if name in table.column_names
    }
    computed = {"chance": ranking.chance, "certainty": ranking.certainty}
    given |= {name: values for name, values in computed.items() if values is not None}
    for name, values in given.items():
        shown_as = f"counted_{name}" if name in COUNTS else name  # the script's visitors are effective ones
        columns[shown_as] = _rounded(values[order], _DECIMALS.get(name, _OTHERS))
    if "change" in table.column_names:
        changes = table["change"].to_pylist()
        columns["change"] = [changes[at] for at in order]
    drawn = None if alone or release.outlines is None else drawn_outlines(release.outlines, order)
    grid = None if alone else square_grid(release.statement)
    if drawn is not None:
        columns["outline"] = drawn.rings
    if release.statement.max_std_error is not None:
        columns["uncertain"] = release.too_uncertain[order].tolist()
    return Rows(
        columns,
        len(table) - len(order),
        _without_coordinates(columns, len(order)),
        list(attributes),
        filterable({name: columns[f"a{number}"] for number, name in enumerate(attributes)}),
        (grid.lat_step, grid.lon_step) if grid is not None else None if drawn is None else drawn.scale,
    )


def _preferred(release: Release, ranking: Ranking) -> Integers:
    """All places in the order in which they are worth showing: the highest and the most certain take turns."""
    order, table = ranking.order, release.to_arrow()
    if "std_error" not in table.column_names:
        return order
    error = numbers(table, "std_error")[order]
    surest = order[np.argsort(np.where(np.isnan(error), np.inf, error), kind="stable")]
    both = np.stack([order, surest], axis=1).ravel()
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)]


def _fitting(texts: dict[str, list[str | None]], largest: int, numbered: int) -> int:
    """How many of the first rows, of so many numbers each, fit into that many bytes."""
    count = len(texts["id"])
    # Most often all fit, and then the size of each does not matter, which takes longer to find.
    if (
        count * numbered * _NUMBER + sum(len(script_json(each).encode()) for each in texts.values())
        <= largest
    ):
        return count
    size = np.full(count, numbered * _NUMBER, dtype=np.int64)
    for column in texts.values():
        size += np.array([_size(text) for text in column], dtype=np.int64)
    return int(np.searchsorted(np.cumsum(size), largest, side="right"))


def _size(text: str | None) -> int:
    """Bytes of a text in the page, with the comma after it."""
    if text is not None and _PLAIN.fullmatch(text):
        return len(text.encode()) + 3
    return len(script_json(text).encode()) + 1


def _names(say: Words, statement: Statement, names: list[str | None]) -> list[str | None]:
    """Names as they were given; those of a grid's cells are ours."""
    if not statement.locations_source.startswith(GRID):
        return names
    return [None if name is None else say.stored("cell", name) for name in names]


def _clipped(texts: list[str | None]) -> list[str | None]:
    """Ids, names and attributes as text, since a script's numbers are floats; long ones end in an ellipsis."""
    return [text if text is None or len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts]


def _rounded(values: NDArray[np.float64], decimals: int) -> pa.Array:
    """Null for NaN."""
    return pa.array(np.round(values, decimals), mask=np.isnan(values))


def _without_coordinates(columns: dict[str, list[Any] | pa.Array], count: int) -> int:
    if "lat" not in columns:
        return count
    lat, lon = columns["lat"], columns["lon"]
    return count - int(pc.sum(pc.and_(pc.is_valid(lat), pc.is_valid(lon)), min_count=0).as_py())
