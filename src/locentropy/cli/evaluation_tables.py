"""The tables of an evaluation on a screen, split where they are wider than it: a cut number tells nothing."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from locentropy.cli import options
from locentropy.cli.console import out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.evaluation.compare import Evaluation

_LEADING: Final = 2
"""Columns that stand in every part: who, and at which ε."""
_GAP: Final = 3
"""What a column takes besides its text: a blank on either side, and the line between columns."""
_HEADING: Final = 7
"""Headings get as much room as this, so that "n ≥ 20" is not broken into three lines."""


def print_tables(found: Evaluation, columns: Mapping[str, str], title: str) -> None:
    """One table, or as many as it takes for every number to be whole."""
    from rich import box
    from rich.table import Table

    from locentropy.evaluation.table import rows

    headings, body = rows(found, columns)
    widths = [_width(heading, [row[at] for row in body]) for at, heading in enumerate(headings)]
    for number, part in enumerate(parts(widths, out.width - 1)):
        shown = Table(title=None if number else title, box=box.SIMPLE_HEAD, title_justify="left")
        for at in part:
            heading = "\n".join(textwrap.wrap(headings[at], widths[at]))
            shown.add_column(heading, justify="right" if at else "left", no_wrap=True)
        for place, row in enumerate(body):
            if place == len(found.compared):
                shown.add_section()
            shown.add_row(*(options.shown(row[at]) for at in part))
        out.print(shown)


def parts(widths: Sequence[int], room: int) -> list[list[int]]:
    """Which columns to show together: the leading ones, and as many others as there is room for, at least one."""
    leading = list(range(_LEADING))
    taken = sum(widths[at] + _GAP for at in leading)
    split: list[list[int]] = [[]]
    left = room - taken
    for at in range(_LEADING, len(widths)):
        if split[-1] and widths[at] + _GAP > left:
            split.append([])
            left = room - taken
        split[-1].append(at)
        left -= widths[at] + _GAP
    return [leading + columns for columns in split]


def _width(heading: str, cells: Sequence[str]) -> int:
    """Room for the longest cell whole, and for a heading that is broken between words."""
    return max(min(len(heading), _HEADING), *map(len, [*heading.split(), *cells]))
