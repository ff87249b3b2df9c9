"""What looks wrong about an input, from its overview, and the option that mends it. Private, as the overview is."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from locentropy.core.locations import Cells
from locentropy.core.spelling import Spelling
from locentropy.visits.near_misses import by_spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.core.windows import Window
    from locentropy.publishing.request import Request
    from locentropy.visits.near_misses import NearMiss
    from locentropy.visits.overview import AtPlaces, Overview

MOST_NAMED: Final = 3
"""Unlisted ids in a whole report."""
_LONGEST: Final = 40
"""Characters that are shown of an id."""
_FEW: Final = 0.1
"""Fewer than this part of visits at the places, or more than this part of rows dropped, looks wrong."""
_MANY_ROWS: Final = 20
"""From so many rows on, it looks wrong if each has a person of its own, or all have the same."""
_FIRST_DAY: Final = date(1980, 1, 1)

_COLUMN: Final = {
    "user": " Is it the right column (--user)?",
    "location": " Is it the right column (--location)?",
    "time": " Is it the right column (--time)?",
    "visits": " Is it the right column (--visits), and are its numbers whole?",
    "lat": " Is it the right column (--lat), and its decimal mark the one you say (--decimal)?",
    "lon": " Is it the right column (--lon), and its decimal mark the one you say (--decimal)?",
}
_LINES: Final = " Do fields have another separator (--delimiter), or the file another encoding (--encoding)?"
_ALIKE: Final = "Write them alike in list and visits"
_SPELT: Final = {
    "blanks": ("blanks at an end", f"{_ALIKE}."),
    "Unicode": ("invisible characters or how Unicode spells a letter", f"{_ALIKE}."),
    "case": ("upper and lower case", f"{_ALIKE}."),
    "decimals": ("a decimal point, as in 7.0", f"{_ALIKE}: a program took them for decimal numbers."),
    "zeros": (
        "leading zeros",
        f"{_ALIKE}: a spreadsheet drops the zeros of 0001, unless the column is formatted as text.",
    ),
}
"""What a difference in spelling is called, and what mends it."""


_WORDS: Final = {"blanks": "trim", "case": "fold"}
"""What puts a difference aside, as `--ids` calls it."""


def problems(found: Overview, request: Request) -> Iterator[str]:
    """What looks wrong, the most serious first; nothing if all looks right."""
    if found.refused is not None:
        yield f"publish would refuse the table: {found.refused}"
    if not found.rows:
        yield "The table has no rows."
    elif found.outside == found.rows:
        yield f"No row is in the window {request.window}. Is it the right one (--window), and the right file?"
    yield from _dropped(found)
    if found.visits and found.at is not None:
        yield from _places(found.at, request)
    if found.used >= _MANY_ROWS:
        yield from _people(found)
    if found.days is not None:
        yield from _days(*found.days, request.window)


def _dropped(found: Overview) -> Iterator[str]:
    inside = found.rows - found.outside
    if found.left_out <= _FEW * inside:
        return
    if found.refused is None:
        yield f"{found.left_out:,} of {inside:,} rows would be dropped and not counted."
    for each in found.dropped:
        if each.rows > _FEW * inside and each.why not in (found.refused or ""):
            yield f"{each.why}: {each.rows:,} rows.{each.advice or _COLUMN.get(each.role or '', _LINES)}"


def _places(at: AtPlaces, request: Request) -> Iterator[str]:
    if request.listed is None:
        if at.visited < at.places:
            yield (
                f"{at.places - at.visited:,} of {at.places:,} places to exclude (--exclude) have no visit. If they are "
                "spelled differently in the visits, they are not excluded."
            )
    elif at.visits <= _FEW * (at.visits + at.elsewhere):
        yield _nobody_there(at, cells=isinstance(request.locations, Cells))
    for differ, group in by_spelling(at.near).items():
        what = " and ".join(_SPELT[each][0] for each in differ)
        mended = _option(differ, group) or " ".join(dict.fromkeys(_SPELT[each][1] for each in differ))
        ids = "id differs" if len(group) == 1 else "ids differ"
        yield f"{len(group):,} unlisted {ids} from a listed one only in {what}. {mended}"


def _option(differ: tuple[str, ...], group: list[NearMiss]) -> str | None:
    """The option that makes all of these one id with a listed one, if there is one."""
    words = ["text", *(_WORDS[each] for each in differ if each in _WORDS)]
    if len(words) == 1:
        return None
    unlisted, listed = (pa.array([each[at] for each in group], pa.string()) for at in (0, 1))
    spelling = Spelling.of(words)
    if not spelling.spelled(unlisted).equals(spelling.spelled(listed)):
        return None
    return f'If each pair is one place: ids="{spelling}" (--ids {spelling}).'


def _nobody_there(at: AtPlaces, *, cells: bool) -> str:
    every = at.visits + at.elsewhere
    few = "No visit is" if not at.visits else f"Only {at.visits:,} of {every:,} visits are"
    if not cells:
        noise = f"{few} at a listed place, so what is published would be noise."
        if 2 * len(at.near) > (at.unlisted or 0):
            return f"{noise} Ids are spelt otherwise than in the list."
        return f"{noise} Are --location and --places-location the right columns, and is it the right list?"
    swapped = f", and {at.swapped:,} would be if latitude were longitude" if at.swapped else ""
    return (
        f"{few} in the cells{swapped}: what is published would be noise. Are the edges of a box in the order south, "
        "west, north, east, and --lat and --lon the right columns?"
    )


def _people(found: Overview) -> Iterator[str]:
    if found.people == found.used:
        yield (
            "Every row has a person of its own. If the column numbers visits or trips, it is these that are "
            "protected, not people: name the column of people (--user)."
        )
    elif found.people == 1:
        yield "All rows are of one person. Is it the right column (--user)?"


def _days(first: date, last: date, window: Window | None) -> Iterator[str]:
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    if last < _FIRST_DAY or last > tomorrow:
        option = "--time-type" if window is not None else "--time-format"
        yield f"Dates are from {first} to {last}. Are times read as they were meant ({option})?"


def examples(at: AtPlaces) -> list[str]:
    """At most three unlisted ids, those first that a listed one nearly equals."""
    kinds = [group[0] for group in by_spelling(at.near).values()]
    near = [*kinds, *(each for each in at.near if each not in kinds)]
    named = [*map(_pair, near), *(_shown(each) for each in at.examples)]
    return named[:MOST_NAMED]


def _pair(near: NearMiss) -> str:
    return f"{_shown(near.unlisted)} (listed: {_shown(near.listed)})"


def _shown(text: str) -> str:
    """An id in quotation marks, in which invisible characters are seen."""
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
