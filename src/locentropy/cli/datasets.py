"""`locentropy datasets`: synthetic data. The paper's Sparse and Dense come with locentropy-lab."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from locentropy.cli.commands import CommandGroup, Known
from locentropy.cli.console import note, progress_bar
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Datasets(CommandGroup):
    """All data sets."""

    known: ClassVar[Mapping[str, Known]] = {
        "city": Known(
            "locentropy.cli.datasets:city",
            "Make a synthetic city: homes, workplaces and venues with regulars, and a public list of its places.",
        )
    }
    entry_points: ClassVar[str] = "locentropy.datasets"
    of_the_lab: ClassVar[Mapping[str, str]] = {
        "dense": "Make the paper's Dense: 10 million users, 10,000 locations, 193 million rows, in bounded memory.",
        "sparse": "Make the paper's Sparse: 100,000 users, 10,000 locations, 1.9 million rows.",
    }


app = typer.Typer(
    cls=_Datasets,
    help="Make data to play with: seeded, reproducible, about nobody.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)


@app.callback()
def _group() -> None:
    """Make data to play with: seeded, reproducible, about nobody."""


Seed = Annotated[int, typer.Option("--seed", min=0, help="Another seed gives other data of the same kind.")]


def city(
    to: Annotated[
        Path, typer.Option("--out", help="Folder for visits.parquet, places.csv and districts.geojson.")
    ] = Path("city"),
    people: Annotated[int, typer.Option("--people", help="How many people live there.")] = 3000,
    places: Annotated[int, typer.Option("--places", help="How many places it has.")] = 400,
    days: Annotated[int, typer.Option("--days", help="How many days of visits.")] = 28,
    seed: Seed = 0,
    habits: Annotated[
        str,
        typer.Option(
            "--habits",
            help="How people choose where to go: usual; clustered in communities; in homes of one resident; "
            "or as regulars of venues.",
        ),
    ] = "usual",
    start: Annotated[str, typer.Option("--start", help="The first day.")] = "2025-03-03",
    changing: Annotated[
        bool,
        typer.Option(
            "--changing",
            help="Let the city change: seasons, openings, closings and a festival. A file changes.csv says "
            "what happens to which place.",
        ),
    ] = False,
) -> None:
    """Make a synthetic city: homes, workplaces and venues with regulars, and a public list of its places.

    Examples:

      locentropy datasets city --out city --people 10000

      locentropy datasets city --out village --habits regulars

      locentropy datasets city --out year --start 2025-01-01 --days 365 --changing
    """
    from locentropy.datasets.city import City

    first = _day(start)
    made = City(people, places, days, seed, first, habits, changing)  # type: ignore[arg-type]  # checked by City itself
    refuse_existing(*(to / name for name in made.files))
    with progress_bar() as progress:
        made.write(to, progress=lambda fraction: progress("Building the city", fraction))
    note(
        f"Written: {to / 'visits.parquet'}, the public list {to / 'places.csv'} and the public map "
        f"{to / 'districts.geojson'}" + (f"; what changes: {to / 'changes.csv'}" if changing else "")
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            f"--start {text}: expected a day. For example: locentropy datasets city --out city --start 2025-01-01"
        ) from None


def refuse_existing(*paths: Path) -> None:
    """Raise ParameterError if a file exists already: it may be somebody's data."""
    for path in paths:
        if path.exists():
            raise ParameterError(
                f"{path} exists already, and is not replaced. Choose another name, such as --out other."
            )
