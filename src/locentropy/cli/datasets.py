"""`locentropy datasets`: data to play with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from locentropy.cli import options
from locentropy.cli.console import note, progress_bar
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.visits.engines.base import Resources
    from locentropy_lab.zipf import ZipfVisits

app = typer.Typer(help="Make data to play with: seeded, reproducible, about nobody.", no_args_is_help=True)

Seed = Annotated[int, typer.Option("--seed", min=0, help="Another seed gives other data of the same kind.")]


@app.command()
def city(
    to: Annotated[Path, typer.Option("--out", help="Folder for visits.parquet and places.csv.")] = Path(
        "city"
    ),
    people: Annotated[int, typer.Option("--people", help="How many people live there.")] = 3000,
    places: Annotated[int, typer.Option("--places", help="How many places it has.")] = 400,
    days: Annotated[int, typer.Option("--days", help="How many days they are watched.")] = 28,
    seed: Seed = 0,
    habits: Annotated[
        str,
        typer.Option(
            "--habits",
            help="How people choose where to go: usual; clustered in communities; in homes of one resident; "
            "or as regulars of venues.",
        ),
    ] = "usual",
) -> None:
    """Make a synthetic city: homes, workplaces and venues with regulars, and a public list of its places.

    Examples:

      locentropy datasets city --out city --people 10000

      locentropy datasets city --out village --habits regulars
    """
    from locentropy.datasets.city import City

    made = City(people, places, days, seed, habits=habits)  # type: ignore[arg-type]  # checked by City itself
    _refuse_existing(to / "visits.parquet", to / "places.csv")
    with progress_bar() as progress:
        made.write(to, progress=lambda fraction: progress("Building the city", fraction))
    note(f"Written: {to / 'visits.parquet'} and the public list {to / 'places.csv'}")


@app.command()
def sparse(
    to: Annotated[Path, typer.Option("--out", help="Parquet file to write.")] = Path("sparse.parquet"),
    seed: Seed = 0,
) -> None:
    """Make the paper's Sparse: 100,000 users, 10,000 locations, 1.9 million (user, location, visits) rows.

    Examples:

      locentropy datasets sparse --out sparse.parquet --seed 1
    """
    from locentropy_lab.zipf import ZipfVisits

    _write(ZipfVisits.sparse(seed=seed), to)


@app.command()
def dense(
    to: Annotated[Path | None, typer.Option("--out", help="Parquet file to write (about 1 GB).")] = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            "--profile",
            help="Reduce the data to its exact visit profile in this Parquet file, without writing the data itself.",
        ),
    ] = None,
    users: Annotated[int, typer.Option("--users", help="How many users.")] = 10_000_000,
    seed: Seed = 0,
    memory: options.Memory = None,
    threads: options.Threads = None,
    spill: options.Spill = None,
) -> None:
    """Make the paper's Dense: 10 million users, 10,000 locations, 193 million rows, in bounded memory.

    Examples:

      locentropy datasets dense --out dense.parquet

      locentropy datasets dense --profile dense-profile.parquet
    """
    from locentropy_lab.zipf import ZipfVisits

    if (to is None) == (profile is None):
        raise ParameterError("Choose one: --out dense.parquet for the data, or --profile profile.parquet.")
    made = ZipfVisits.dense(seed=seed, users=users)
    if to is not None:
        _write(made, to)
    elif profile is not None:
        _reduce(made, profile, options.resources_from(memory, threads, spill))


def _refuse_existing(*paths: Path) -> None:
    """What is there already may be somebody's data."""
    for path in paths:
        if path.exists():
            raise ParameterError(
                f"{path} is there already, and is not replaced. Choose another name: --out other"
            )


def _write(made: ZipfVisits, to: Path) -> None:
    if to.suffix != ".parquet":
        raise ParameterError(f"--out {to}: a Parquet file is written. For example: --out {to.stem}.parquet")
    _refuse_existing(to)
    with progress_bar() as progress:
        made.write(to, progress=lambda fraction: progress("Drawing visits", fraction))
    note(f"Written: {to}")


def _reduce(made: ZipfVisits, to: Path, resources: Resources) -> None:
    import pyarrow.parquet as pq

    from locentropy.core.files import atomic_write, check_writable
    from locentropy.visits.queries import profile_of_chunks
    from locentropy.visits.visits import Visits
    from locentropy_lab.zipf import USERS_PER_CHUNK

    check_writable(to)
    _refuse_existing(to)
    with atomic_write(to) as [part], progress_bar() as progress:

        def chunks() -> Iterator[Visits]:
            for number, table in enumerate(made.chunks()):
                progress("Drawing and counting visits", number * USERS_PER_CHUNK / made.users)
                yield Visits(table)

        reduced = profile_of_chunks(chunks(), None, resources=resources)
        pq.write_table(reduced.to_arrow(), part)
    note(f"Written: {to}")
