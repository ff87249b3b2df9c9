"""`locentropy datasets sparse` and `dense`: the synthetic data of the 2016 paper."""

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

Seed = Annotated[int, typer.Option("--seed", min=0, help="Another seed gives other data of the same kind.")]


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
        raise ParameterError(
            "Choose one of --out, for the data, and --profile, for its visit profile. "
            "For example: locentropy datasets dense --out dense.parquet"
        )
    made = ZipfVisits.dense(seed=seed, users=users)
    if to is not None:
        _write(made, to)
    elif profile is not None:
        _reduce(made, profile, options.resources_from(memory, threads, spill))


def _check_new(path: Path) -> None:
    """Raise ParameterError if the file exists: it may be somebody's data."""
    if path.exists():
        raise ParameterError(f"{path} already exists, and is not replaced. Choose another name.")


def _write(made: ZipfVisits, to: Path) -> None:
    if to.suffix != ".parquet":
        raise ParameterError(f"--out {to}: a Parquet file is written. For example: --out {to.stem}.parquet")
    _check_new(to)
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
    _check_new(to)
    with atomic_write(to) as [part], progress_bar() as progress:

        def chunks() -> Iterator[Visits]:
            for number, table in enumerate(made.chunks()):
                progress("Drawing and counting visits", number * USERS_PER_CHUNK / made.users)
                yield Visits(table)

        reduced = profile_of_chunks(chunks(), None, resources=resources)
        pq.write_table(reduced.to_arrow(), part)
    note(f"Written: {to}")
