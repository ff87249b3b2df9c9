"""`locentropy evaluate`: compare mechanisms on one's own data with the truth. Private, never for publication."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from locentropy.cli import disclosure, options, place_options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.error_format import restated
from locentropy.cli.mechanism_options import ComparedOptions, SelectionOptions, warnings_told
from locentropy.cli.option_groups import option_name, with_option_groups
from locentropy.cli.place_options import PlaceOptions
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.evaluation.compare import Evaluation, Throwaway
    from locentropy.mechanisms.base import Mechanism

_FOR_THROWAWAY: Final = ("max_locations", "max_visits", "min_users", "keep")


@with_option_groups
def evaluate(
    source: options.Input,
    *,
    compared: ComparedOptions,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, max=10_000, help="How many releases to simulate of each.")
    ] = 10,
    where: PlaceOptions,
    provenance: place_options.Provenance = None,
    selecting: SelectionOptions,
    exclude: place_options.Exclude = None,
    ledger: disclosure.Ledger = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="New folder for tables, pictures and a page; its name and theirs will say PRIVATE."
        ),
    ] = None,
    reading: options.Reading,
    as_json: options.Json = False,
) -> None:
    r"""Compare mechanisms on your own data with the truth. PRIVATE: for the owner of the data, not for publication.

    Noise is simulated and no budget is spent, so parameters that are chosen by it
    are tuned on the data. The ledger records that, and manifests of later
    releases say so.

    Examples:

      locentropy evaluate checkins.parquet --places places.csv \
      --ledger city.ledger --out compared

      locentropy evaluate checkins.parquet --places places.csv --epsilon 0.5 \
      --epsilon 1 --mechanism shares --mechanism moments --max-locations 2 \
      --max-locations 5 --max-locations 10
    """
    from locentropy.evaluation.compare import evaluate as compare
    from locentropy.evaluation.compare import one_at_a_time
    from locentropy.evaluation.private_files import check_free, marked
    from locentropy.ledger.ledger import Ledger

    if where.levels is not None:
        raise one_at_a_time()  # before they are read: an error about them would show levels as an example
    chosen = where.read_like(reading).chosen_or(selecting.selection, provenance)
    mechanisms = _mechanisms(compared, somewhere=chosen is not None)
    if to is not None:
        check_free(marked(to))
    book = None if ledger is None else Ledger.open(ledger)
    visits = reading.visits_of(source)
    with progress_bar() as progress:
        with warnings_told():
            found = compare(
                visits, mechanisms, chosen, seeds=seeds, ledger=book, throwaway=_throwaway(compared.choices),
                exclude=place_options.excluded(exclude, reading),
                resources=reading.resources, progress=progress,
            )  # fmt: skip
        if to is not None:
            progress("Drawing pictures", None)
        with warnings_told():
            target = None if to is None else found.save(to)
    _tell(found, as_json=as_json)
    disclosure.tell_recorded(ledger)
    if target is not None:
        note(f"Written to {target}")


def _mechanisms(compared: ComparedOptions, *, somewhere: bool) -> list[Mechanism]:
    """Return what is compared. `somewhere` is whether places were given."""
    from locentropy.evaluation.candidates import candidates
    from locentropy.mechanisms.parameters import example_call
    from locentropy.mechanisms.registry import default_mechanism, mechanism_class, takes
    from locentropy.publishing.chosen_locations import THREE_WAYS

    example = example_call(mechanism_class(default_mechanism()))
    names, choices = compared.names, compared.choices
    for name in names:
        with restated(example=example):
            mechanism_class(name)  # raises for an unknown name
    for key in choices:
        if any(takes(name, key, choices) for name in names):
            continue
        unused = f"{option_name(key)} is an option of none of those compared: {', '.join(names)}."
        if key not in _FOR_THROWAWAY:
            raise ParameterError(unused)
        note(f"{unused} It only bounds Throwaway, the paper's yardstick beside them.")
    with warnings_told(), restated(example=example):
        made = candidates(names, compared.epsilons, choices)
    if not somewhere and not all(each.selects_locations for each in made):
        raise ParameterError(f"Which places are compared? {THREE_WAYS}")
    return made


def _throwaway(given: dict[str, Any]) -> Throwaway:
    """Return the paper's Throwaway under the bounds given first."""
    from locentropy.evaluation.compare import Throwaway

    return Throwaway(**{name: given[name][0] for name in _FOR_THROWAWAY if name in given})


def _tell(found: Evaluation, *, as_json: bool) -> None:
    from locentropy.evaluation.compare import NOT_FOR_PUBLICATION
    from locentropy.evaluation.private_files import as_dict

    if as_json:
        out.print_json(json.dumps(as_dict(found)))
    else:
        _show(found)
    warn(NOT_FOR_PUBLICATION)


def _show(found: Evaluation) -> None:
    from locentropy.evaluation.compare import BANNER
    from locentropy.evaluation.private_page import ERRORS, OTHERS, best_sentences

    out.print(BANNER, style="bold", markup=False)
    over = f"mean ± deviation over {found.seeds} seeds" if found.seeds > 1 else "one seed"
    print_tables(found, ERRORS, f"Mean squared error against the true entropy, nats² ({over})")
    print_tables(found, OTHERS, "Everything else; errors in nats")
    out.print("Lowest error over all places, tuned on the data:", markup=False)
    for words in best_sentences(found):
        out.print(f"  {words}", markup=False, soft_wrap=True)


_LEADING: Final = 2
"""Columns that stand in every part: who, and at which ε."""
_GAP: Final = 3
"""What a column takes besides its text: a blank on either side, and the line between columns."""
_HEADING: Final = 7
"""Headings get as much room as this, so that "n ≥ 20" is not broken into three lines."""


def print_tables(found: Evaluation, columns: Mapping[str, str], title: str) -> None:
    """Print one table, or as many as it takes to show every number whole."""
    from rich import box
    from rich.table import Table

    from locentropy.evaluation.private_page import rows

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
    """Return which columns to show together: the leading ones, and as many more as fit, at least one."""
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
    """Return room for the longest cell whole, and for a heading that is broken between words."""
    return max(min(len(heading), _HEADING), *map(len, [*heading.split(), *cells]))
