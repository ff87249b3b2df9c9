"""`locentropy demo`: the whole way, on a synthetic city."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.entropy import NOT_PRIVATE
from locentropy.cli.options import shown

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def demo(
    to: Annotated[Path, typer.Option("--out", help="Folder for the city.")] = Path("demo"),
    people: Annotated[int, typer.Option("--people", help="How many people live in the city.")] = 3000,
) -> None:
    """Make a synthetic city, count who visits what, and show its most and least popular places."""
    import pyarrow.csv

    from locentropy.core.bounds import Bounds
    from locentropy.datasets.city import City
    from locentropy.visits.queries import open_queries
    from locentropy.visits.visits import Visits

    with progress_bar() as progress:
        City(people=people).write(to, progress=lambda fraction: progress("Building the city", fraction))
        places = pyarrow.csv.read_csv(to / "places.csv")
        visits = Visits(to / "visits.parquet")
        with open_queries(visits, locations=places["location"], progress=progress) as queries:
            exact, bounded = queries.exact_profile(), queries.profile(Bounds(max_locations=5, max_visits=5))
    order = exact.entropy.argsort(kind="stable")[::-1]
    _show("most", places, exact.entropy, bounded.entropy, exact.user_counts, order[:10])
    _show("least", places, exact.entropy, bounded.entropy, exact.user_counts, order[-10:])
    warn(f"{NOT_PRIVATE}: exact values of an invented city. No mechanism has protected them yet.")
    note(f"The city is in {to}: visits.parquet, and places.csv, the public list of its places.")


def _show(
    which: str,
    places: pa.Table,
    exact: NDArray[np.float64],
    bounded: NDArray[np.float64],
    users: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    from rich.table import Table

    table = Table(title=f"The {which} popular places of the city — exact, {NOT_PRIVATE}")
    table.add_column("place")
    table.add_column("kind")
    for heading in ("entropy (nats)", "bounded to 5 × 5", "users"):
        table.add_column(heading, justify="right")
    for row in rows.tolist():
        place = places.slice(row, 1).to_pylist()[0]
        numbers = (f"{exact[row]:.2f}", f"{bounded[row]:.2f}", f"{users[row]:,}")
        table.add_row(shown(place["name"]), shown(place["kind"]), *numbers)
    out.print(table)
