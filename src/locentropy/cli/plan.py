"""`locentropy plan`: what a release would promise and be worth, before any data is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import options
from locentropy.cli.console import note, out, warn
from locentropy.cli.map_options import MapOptions
from locentropy.cli.mechanism_options import MechanismOptions, SelectionOptions, warnings_told
from locentropy.cli.option_groups import AboutOptions, with_option_groups
from locentropy.cli.place_options import Levels, MaxStdError, PublishColumns, declared, levels_in
from locentropy.core.errors import ParameterError
from locentropy.core.files import check_writable

if TYPE_CHECKING:
    from rich.table import Table

    from locentropy.mechanisms.expected_error import ExpectedError
    from locentropy.planning.plans import Plan


@with_option_groups
def plan(
    *,
    using: MechanismOptions,
    selecting: SelectionOptions,
    mapped: MapOptions,
    locations: Annotated[
        str | None,
        typer.Option(
            "--places-kind",
            help="Where the list of places comes from: public-list, grid, zones, h3, inspire, selection, "
            "by-mechanism. Options of a map say so themselves, and the plan then names the cells.",
        ),
    ] = None,
    n_locations: Annotated[
        int | None, typer.Option("--n-locations", help="How many places there are.")
    ] = None,
    n_users: Annotated[
        int | None, typer.Option("--n-users", help="A guess: about how many people there are (shares).")
    ] = None,
    locations_per_user: Annotated[
        int | None,
        typer.Option(
            "--locations-per-user", help="A guess: how many listed places a typical person visits (shares)."
        ),
    ] = None,
    users_per_location: Annotated[
        str | None,
        typer.Option(
            "--users-per-location",
            help="A guess: about how many people count at a place (mechanisms that bound people); one number, or "
            "several such as 1,5,50 that each stand for an equal share of places.",
        ),
    ] = None,
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            help="Column of the public list, such as category, that estimates may lean on; repeatable. Of cells they "
            "lean on 'coordinates', unless it is '' for none.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group-by", help="Column of the public list, such as district: groups of places are published."
        ),
    ] = None,
    levels: Levels = None,
    publish_columns: PublishColumns = None,
    level_sizes: Annotated[
        str | None,
        typer.Option(
            "--level-sizes",
            help="How many locations each level has, such as 14058,20,1; ε is divided by them.",
        ),
    ] = None,
    max_std_error: MaxStdError = None,
    unit: Annotated[
        str,
        typer.Option("--unit", help="Of the ledger: person, person-day, person-week, person-month."),
    ] = "person",
    period: options.Period = None,
    periods: Annotated[
        int | None,
        typer.Option(
            "--periods",
            help="How many; then ε and δ are those of all, and the plan says what each release gets.",
        ),
    ] = None,
    composition: Annotated[
        str | None,
        typer.Option(
            "--composition",
            help="With --periods, how the ledger counts: sum; or concentrated, if there is a δ.",
        ),
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option("--time-zone", help="With --period: of the windows, such as Europe/Berlin.")
    ] = None,
    words: AboutOptions,
    to: Annotated[
        Path | None, typer.Option("--out", help="Write a plan file, for somebody to approve and to run.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    r"""Show what a release would promise and be worth. Reads no data: every number is yours, and must be public.

    Examples:

      locentropy plan --epsilon 1 --n-locations 14058 --n-users 10000 --out plan.yaml

      locentropy plan --mechanism moments --epsilon 1 --max-locations 5 \
      --max-visits 5 --n-locations 14058 --users-per-location 1,2,5,50,500

      locentropy plan --period month --periods 24 --epsilon 4 --delta 1e-9 \
      --n-locations 1000 --n-users 5000 --unit person-month --out monthly.yaml
    """
    from locentropy.cli.error_format import restated
    from locentropy.planning import plan as planned
    from locentropy.release.statement import About

    mechanism, selection, cells = using.chosen, selecting.selection, mapped.cells()
    if cells is not None and (locations or cells.kind) != cells.kind:
        raise ParameterError(f"--places-kind {locations} contradicts the options of a map. Leave it out.")
    target = None if to is None else _target(to)
    with warnings_told(), restated(names={"zone": "time_zone"}):
        made = planned(
            mechanism,
            n_locations=n_locations,
            n_users=n_users,
            locations_per_user=locations_per_user,
            users_per_location=_sizes(users_per_location),
            locations=cells or locations,  # type: ignore[arg-type]  # checked by Plan itself
            selection=selection,
            about=About(**words.given),
            attributes=declared(attributes),
            max_std_error=max_std_error,
            group=group,
            unit=unit,  # type: ignore[arg-type]  # checked by Plan itself
            levels=levels_in(levels),
            publish_columns=publish_columns or (),
            level_sizes=_sizes(level_sizes, "level_sizes") or (),
            period=period,  # type: ignore[arg-type]  # checked by Plan itself, as is the next but one
            periods=periods,
            composition=composition,  # type: ignore[arg-type]
            zone=time_zone,
        )
    if target is not None:
        made.to_yaml(target)
    if as_json:
        out.print_json(json.dumps(made.to_dict()))
    else:
        show(made)
    if target is not None:
        note(f"Written to {target}")


def show(made: Plan) -> None:
    """Print a plan."""
    from locentropy.planning.plan_text import (
        always_present,
        guarantee_line,
        headline,
        level_lines,
        release_rules,
    )
    from locentropy.planning.series_outlook import series_lines

    def say(text: str, style: str | None = None) -> None:
        out.print(text, style=style, markup=False)

    say(headline(made), "bold")
    say(guarantee_line(made.guarantee))
    say(made.guarantee.explain_strength())
    say(made.guarantee.explain())
    for words in always_present(made):
        say(words)
    for line in (*series_lines(made), *level_lines(made)):
        say(line)
    say(made.expected.noise)
    if made.expected.table:
        out.print(_table(made.expected))
    say(made.expected.usefulness)
    for rule in release_rules(made):
        say(rule)
    for text in made.warnings:
        warn(text)


def _table(expected: ExpectedError) -> Table:
    from rich.table import Table

    table = Table(title="What to expect", caption=expected.verdicts)
    for heading in expected.headings:
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in expected.table:
        table.add_row(*row, style=_STYLES[row[-1]])
    return table


_STYLES: dict[str, Any] = {
    "useful": "green",
    "rough": None,
    "worse than a guess": "red",
    "as one number for all": "red",
    "never published": "dim",
    "not measured": "dim",
}


_EXAMPLES: dict[str, str] = {
    "users_per_location": "plan(Moments(epsilon=1.0, max_locations=5, max_visits=5), users_per_location=[1, 5, 50])",
    "level_sizes": 'plan(Shares(epsilon=1.0), levels=["place", "district", "all"], level_sizes=[14_058, 20, 1])',
}


def _sizes(text: str | None, parameter: str = "users_per_location") -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) <= 15 for part in parts):
        raise ParameterError(
            "must be whole numbers, with commas between them.",
            parameter=parameter,
            value=text[:40],
            example=_EXAMPLES[parameter],
        )
    return [int(part) for part in parts]


def _target(path: Path) -> Path:
    if path.suffix not in (".yaml", ".yml"):
        raise ParameterError(f"--out {path}: the name must end in .yaml, as in plan.yaml.")
    check_writable(path)
    if os.path.lexists(path):
        raise ParameterError(
            f"{path} exists already, and may have been approved. Choose a new name, such as --out "
            f"{path.with_stem(f'{path.stem}-2')}, or remove it first."
        )
    return path
