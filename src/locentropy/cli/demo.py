"""`locentropy demo`: from visits to a series of releases, on a synthetic city."""

from __future__ import annotations

from datetime import date
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.entropy import NOT_PRIVATE
from locentropy.cli.options import shown

if TYPE_CHECKING:
    from locentropy.core.visit_profile import VisitProfile
    from locentropy.ledger.ledger import Ledger
    from locentropy.release.release import Release

EPSILON, BUDGET, SHOWN = 1.0, 4, 5
MONTHS = ("2026-01", "2026-02", "2026-03")
DAYS = 90
"""Of these months."""


def demo(
    to: Annotated[
        Path, typer.Option("--out", help="Folder for everything; if it is in use, a numbered one beside it.")
    ] = Path("demo"),
    people: Annotated[int, typer.Option("--people", help="How many people live in the city.")] = 3000,
) -> None:
    """Make a synthetic city, publish month by month how popular its places are, and compare with the exact values.

    Examples:

      locentropy demo

      locentropy demo --people 10000 --out larger
    """
    from locentropy.core.windows import Window
    from locentropy.datasets.city import City
    from locentropy.ledger.ledger import Ledger
    from locentropy.mechanisms.registry import default_mechanism, mechanism_from
    from locentropy.places.public_list import PublicLocations
    from locentropy.publishing.publish import publish
    from locentropy.release.statement import About
    from locentropy.visits.queries import exact_profile
    from locentropy.visits.visits import Visits

    folder, number = _free(to)
    # Other people each time, so that no person has two ledgers, not even an invented one.
    city = City(
        people=people, days=DAYS, seed=number, start=date.fromisoformat(f"{MONTHS[0]}-01"), changing=True
    )
    mechanism = mechanism_from(default_mechanism(), {"epsilon": EPSILON})
    with progress_bar() as progress:
        city.write(folder, progress=lambda fraction: progress("Building the city", fraction))
        ledger = Ledger.create(
            folder / "city.ledger",
            "the invented people of the demo",
            EPSILON,
            unit="person-month",
            person_epsilon=BUDGET,
        )
        places = PublicLocations(
            folder / "places.csv",
            provenance="made with the city, before any visit",
            publish_columns=["kind", "opens", "closes", "district"],
        )
        visits = Visits(folder / "visits.parquet", user="user")
        about = About(title="Demo: popularity of places", description="An invented city.", region="nowhere")
        release: Release | None = None
        for month in MONTHS:
            release = publish(
                visits,
                mechanism,
                places,
                window=Window(month, zone="as-written"),
                after=release,
                out=folder / month,
                ledger=ledger,
                about=about,
                progress=progress,
            )
        assert release is not None  # noqa: S101  # there are months
        last = visits.during(Window(MONTHS[-1], zone="as-written"))
        exact = exact_profile(last, locations=places.load(), progress=progress)
        ledger.record_evaluation("demo: published values shown beside exact ones")
    _compare(release, exact)
    _tell(release, exact, ledger, folder)


def _free(folder: Path) -> tuple[Path, int]:
    """Return the folder, or the first of folder-2, folder-3, … that is free: a demo never replaces another."""
    for number in count():
        path = folder if number == 0 else folder.parent / f"{folder.name or 'demo'}-{number + 1}"
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            return path, number
    raise AssertionError  # count() does not end


def _compare(release: Release, exact: VisitProfile) -> None:
    from rich.table import Table

    table = Table(title=f"Published of {MONTHS[-1]}, and what it hides: the exact column is {NOT_PRIVATE}")
    for heading in ("place", "published (nats)", "95 % interval", f"exact, {NOT_PRIVATE}"):
        table.add_column(heading, justify="left" if heading == "place" else "right")
    order = exact.entropy.argsort(kind="stable")[::-1].tolist()
    rows = release.to_arrow().to_pylist()
    for at in (*order[:SHOWN], *order[len(order) // 2 :][:SHOWN], *order[-SHOWN:]):
        row = rows[at]
        interval = f"{row['low']:.2f} to {row['high']:.2f}"
        table.add_row(shown(row["name"]), f"{row['entropy']:.2f}", interval, f"{exact.entropy[at]:.2f}")
    out.print(table)


def _tell(release: Release, exact: VisitProfile, ledger: Ledger, folder: Path) -> None:
    import numpy as np

    from locentropy.planning.plan_text import guarantee_line
    from locentropy.release.files import names_of

    out.print(guarantee_line(release.statement.guarantee), markup=False)
    out.print(release.statement.guarantee.explain(), markup=False)
    table = release.to_arrow()
    low, high = (table[name].to_numpy() for name in ("low", "high"))
    error, alone = (
        float(np.sqrt(np.mean((table[name].to_numpy() - exact.entropy) ** 2)))
        for name in ("entropy", "entropy_alone")
    )
    covered = float(np.mean((low <= exact.entropy) & (exact.entropy <= high)))
    out.print(
        f"Off by {error:.2f} nats over all places (root mean square), where the best single number for all of them is "
        f"off by {float(exact.entropy.std()):.2f}; {100 * covered:.0f} % of the intervals hold the exact value. "
        f"Without the two months before it would be off by {alone:.2f}.",
        markup=False,
    )
    out.print(f"Left of the budget of somebody who is there in every month: {ledger.remaining}", markup=False)
    warn(
        f"{NOT_PRIVATE}: exact values are shown because these people are invented. Never do this with real ones."
    )
    files = f"visits.parquet, places.csv, districts.geojson, city.ledger, and releases in {', '.join(MONTHS)}"
    note(f"Everything is in {folder}: {files}")
    last = folder / MONTHS[-1]
    note(f"To look at them: open {last / names_of(release.statement).report} in a browser")
    note(f"To check them: locentropy verify {last} --ledger {folder / 'city.ledger'}")
