"""`locentropy evaluate`: compare mechanisms on one's own data with the truth. Private, never for publication."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import looking, mechanism_options, options, place_options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.groups import spelled_out
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from locentropy.evaluation.compare import Evaluation, Throwaway
    from locentropy.evaluation.contenders import Contender

_COMPARED = "What is compared (where an option may be repeated, every combination)"
_FOR_THROWAWAY = ("max_locations", "max_visits", "min_users", "keep")


def _compared(option: str, help_: str) -> Any:
    return typer.Option(option, help=help_, rich_help_panel=_COMPARED, show_default=False)


@spelled_out
def evaluate(
    source: options.Input,
    *,
    mechanism: Annotated[
        list[str] | None,
        _compared(
            "--mechanism",
            "Such as shares; may be repeated. Default: all that one would publish with. Also: baseline, limit-cb, and "
            "as the paper prints them limit-as-printed, limit-ss-as-printed, limit-cb-as-printed.",
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
    from locentropy.privacy.ledger import Ledger
    from locentropy.visits.public_list import PublicLocations

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
    rivals = _rivals(mechanism, epsilon, given, somewhere=chosen is not None)
    if to is not None:
        check_free(marked(to))
    book = None if ledger is None else Ledger.open(ledger)
    visits = reading.visits_of(source)
    with progress_bar() as progress:
        found = compare(
            visits, rivals, chosen, seeds=seeds, ledger=book, throwaway=_throwaway(given),
            exclude=None if exclude is None else PublicLocations(exclude),
            resources=reading.resources, progress=progress,
        )  # fmt: skip
        if to is not None:
            progress("Drawing pictures", None)
        target = None if to is None else found.save(to)
    _tell(found, as_json=as_json)
    looking.tell_noted(ledger)
    if target is not None:
        note(f"Written to {target}")


def _rivals(
    names: list[str] | None, epsilons: list[str] | None, given: dict[str, Any], *, somewhere: bool
) -> list[Contender]:
    """The contenders that the options describe."""
    from locentropy.evaluation.contenders import chooses, contender_names, contenders, default_names, taken_by
    from locentropy.publishing.order import THREE_WAYS

    wanted = list(dict.fromkeys(names)) if names else list(default_names())
    for name in wanted:
        if name not in contender_names():
            raise ParameterError(
                f"--mechanism {name[:40]} is none of {', '.join(contender_names())}. For example: --mechanism shares"
            )
    for key in given:
        if any(key in taken_by(name) for name in wanted):
            continue
        unused = f"--{key.replace('_', '-')} is an option of none of those compared: {', '.join(wanted)}."
        if key not in _FOR_THROWAWAY:
            raise ParameterError(unused)
        note(f"{unused} It only bounds Throwaway, the paper's yardstick beside them.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = contenders(wanted, epsilons or ["1"], given)
    for text in dict.fromkeys(str(each.message) for each in caught):
        warn(text)
    if not somewhere and not all(chooses(each) for each in made):
        raise ParameterError(f"Which places are judged? {THREE_WAYS}")
    return made


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
    from locentropy.cli.evaluation_tables import print_tables
    from locentropy.evaluation.plots import BANNER
    from locentropy.evaluation.table import ERRORS, OTHERS, told_best

    out.print(BANNER, style="bold", markup=False)
    over = f"mean ± deviation over {found.seeds} seeds" if found.seeds > 1 else "one seed"
    print_tables(found, ERRORS, f"Mean squared error against the true entropy, nats² ({over})")
    print_tables(found, OTHERS, "Everything else; errors in nats")
    out.print("Lowest error over all places, tuned on the data:", markup=False)
    for words in told_best(found):
        out.print(f"  {words}", markup=False, soft_wrap=True)
