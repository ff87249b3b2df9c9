"""`locentropy evaluate`: compare mechanisms on one's own data with the truth. Private, never for publication."""

from __future__ import annotations

import json
import textwrap
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from locentropy.cli import disclosure as looking
from locentropy.cli import mechanism_options, options, place_options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.options import with_option_groups
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locentropy.evaluation.compare import Evaluation, Throwaway
    from locentropy.mechanisms.base import Mechanism

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


_COMPARED = "What is compared (where an option may be repeated, every combination)"
_FOR_THROWAWAY = ("max_locations", "max_visits", "min_users", "keep")


def _compared(option: str, help_: str) -> Any:
    return typer.Option(option, help=help_, rich_help_panel=_COMPARED, show_default=False)


@with_option_groups
def evaluate(
    source: options.Input,
    *,
    mechanism: Annotated[
        list[str] | None,
        _compared(
            "--mechanism",
            "Such as shares; may be repeated. Default: all that one would publish with. Also: baseline, limit-cb, and "
            "what other installed distributions bring.",
        ),
    ] = None,
    epsilon: Annotated[list[str] | None, _compared("--epsilon", "ε; may be repeated. Default: 1.")] = None,
    delta: Annotated[list[str] | None, _compared("--delta", "δ; may be repeated. Default: 1e-8.")] = None,
    max_locations: Annotated[
        list[int] | None, _compared("--max-locations", "M; may be repeated. Default: 5.")
    ] = None,
    max_visits: Annotated[
        list[int] | None, _compared("--max-visits", "C; may be repeated. Default: 5.")
    ] = None,
    min_users: Annotated[
        list[int] | None, _compared("--min-users", "k; may be repeated. Default: 50.")
    ] = None,
    split: Annotated[list[str] | None, _compared("--split", "As in publish; may be repeated.")] = None,
    floor: Annotated[str | None, _compared("--floor", "ξ, as in publish.")] = None,
    keep: Annotated[
        str | None, _compared("--keep", "Which M places count: first, most-visited, lowest-id.")
    ] = None,
    max_users: Annotated[
        int | None, _compared("--max-users", "A public bound on the number of people, as in publish.")
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, max=10_000, help="How many releases to simulate of each.")
    ] = 10,
    places: place_options.Places = None,
    places_location: place_options.PlacesLocation = None,
    places_name: place_options.PlacesName = None,
    places_lat: place_options.PlacesLat = None,
    places_lon: place_options.PlacesLon = None,
    grid: place_options.Box = None,
    cell: place_options.Cell = None,
    selecting: mechanism_options.Selecting,
    exclude: place_options.Exclude = None,
    ledger: looking.Ledger = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="New folder for table, plots and a page; its name and theirs will say PRIVATE."
        ),
    ] = None,
    reading: options.Reading,
    as_json: options.Json = False,
) -> None:
    r"""Compare mechanisms on your own data with the truth. PRIVATE: for the owner of the data, not for publication.

    Noise is simulated and no budget is spent, so whoever then chooses by it has
    tuned on the data. The ledger notes that it was done, and manifests of later
    releases say so.

    Examples:

      locentropy evaluate checkins.parquet --places venues.csv \
      --ledger city.ledger --out compared

      locentropy evaluate checkins.parquet --places venues.csv --epsilon 0.5 \
      --epsilon 1 --mechanism shares --mechanism moments --max-locations 2 \
      --max-locations 5 --max-locations 10
    """
    from locentropy.evaluation.compare import evaluate as compare
    from locentropy.evaluation.private_files import check_free, marked
    from locentropy.ledger.ledger import Ledger
    from locentropy.places.public_list import PublicLocations

    listed = {"location": places_location, "name": places_name, "lat": places_lat, "lon": places_lon}
    selection = selecting.selection
    chosen = place_options.one_of(
        place_options.list_from_options(places, listed, None),
        place_options.grid_from_options(grid, cell),
        selection,
    )
    choices = {
        "delta": delta, "max_locations": max_locations, "max_visits": max_visits, "min_users": min_users,
        "split": split, "floor": floor, "keep": keep, "max_users": max_users,
    }  # fmt: skip
    given = {
        name: values if isinstance(values, list) else [values]
        for name, values in choices.items()
        if values is not None and values != []
    }
    several = _several(mechanism, epsilon, given, somewhere=chosen is not None)
    if to is not None:
        check_free(marked(to))
    book = None if ledger is None else Ledger.open(ledger)
    visits = reading.visits_of(source)
    with progress_bar() as progress:
        found = compare(
            visits, several, chosen, seeds=seeds, ledger=book, throwaway=_throwaway(given),
            exclude=None if exclude is None else PublicLocations(exclude),
            resources=reading.resources, progress=progress,
        )  # fmt: skip
        if to is not None:
            progress("Drawing pictures", None)
        with _warnings_shown():
            target = None if to is None else found.save(to)
    _tell(found, as_json=as_json)
    looking.tell_noted(ledger)
    if target is not None:
        note(f"Written to {target}")


def _several(
    names: list[str] | None, epsilons: list[str] | None, given: dict[str, Any], *, somewhere: bool
) -> list[Mechanism]:
    """The mechanisms that the options describe."""
    from locentropy.evaluation.candidates import candidates, default_names
    from locentropy.mechanisms.registry import mechanism_class, parameter_names
    from locentropy.publishing.chosen_locations import THREE_WAYS

    wanted = list(dict.fromkeys(names)) if names else list(default_names())
    for name in wanted:
        mechanism_class(name)  # refuses a name that nobody knows
    for key in given:
        if any(key in parameter_names(name) for name in wanted):
            continue
        unused = f"--{key.replace('_', '-')} is an option of none of those compared: {', '.join(wanted)}."
        if key not in _FOR_THROWAWAY:
            raise ParameterError(unused)
        note(f"{unused} It only bounds Throwaway, the paper's yardstick beside them.")
    with _warnings_shown():
        made = candidates(wanted, epsilons or ["1"], given)
    if not somewhere and not all(each.selects_locations for each in made):
        raise ParameterError(f"Which places are judged? {THREE_WAYS}")
    return made


@contextmanager
def _warnings_shown() -> Iterator[None]:
    """Show warnings as the command line does, each once, such as a δ that is too large or pictures that are missing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, UserWarning)):
        warn(text)


def _throwaway(given: dict[str, Any]) -> Throwaway:
    """The paper's Throwaway under the bounds given first."""
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
