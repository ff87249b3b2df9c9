"""What `locentropy publish` prints: in a dry run, and after publishing. Everything here is public."""

from __future__ import annotations

import json
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from locentropy.cli import options
from locentropy.cli.console import note, out, warn

if TYPE_CHECKING:
    from pathlib import Path

    from locentropy.core.levels import LevelPart
    from locentropy.ledger.ledger import Ledger
    from locentropy.mechanisms.base import Mechanism
    from locentropy.planning.plans import Plan
    from locentropy.publishing.request import Request
    from locentropy.release.release import Release

HIGHEST = 10


def tell_dry_run(
    request: Request, plan: Plan | None, target: Path | None, ledger: Ledger | None, *, as_json: bool
) -> None:
    """Print what a request would promise, cost and be worth; raise for what publishing would refuse before reading.

    The guesses of an approved plan, which a request does not need, tell more about what to expect.
    """
    from locentropy.cli.plan import show
    from locentropy.core.files import check_writable
    from locentropy.publishing.publication import Publication, check_name
    from locentropy.publishing.publication_file import UNFINISHED, unfinished

    earlier = None if target is None else unfinished(target, request.identity(ledger), ledger)
    if target is not None and earlier is None:
        check_writable(target)
        check_name(target)
        Publication(target, "").check_target()
    published, levels = request.published, [level.locations for level in request.levels]
    planned = request.plan if plan is None else plan
    if published is not None:
        planned = replace(planned, n_locations=len(published))
    if planned.levels:
        planned = replace(planned, level_sizes=tuple(len(each) for each in levels if each is not None))
    if as_json:
        told = {"dry_run": True, **planned.to_dict(), "budget_after": _budget_after(request, ledger)}
        out.print_json(json.dumps(told))
        return
    show(planned)
    if earlier is not None:
        note(f"For {target}: {UNFINISHED}")
    else:
        _say_budget_after(request, ledger)
    free = "" if target is None or earlier is not None else f" {target} is free to publish to."
    note(f"A dry run: no visits were read, nothing was spent, nothing was written.{free}")


def _say_budget_after(request: Request, ledger: Ledger | None) -> None:
    from locentropy.publishing import notices

    if ledger is None:
        warn(notices.NOT_COUNTED)
        return
    ledger.check(request.guarantee)
    after = _budget_after(request, ledger)
    book = ledger.read()
    _line(f"Budget of '{book.population}': {book.remaining} left.")
    if after is None or not request.guarantee.private:
        warn("Publishing this would close the ledger for good.")
    else:
        _line(f"After this release: ε = {after['epsilon']}, δ = {after['delta']}.")


def _budget_after(request: Request, ledger: Ledger | None) -> dict[str, str] | None:
    """What would be left; None without a ledger."""
    from locentropy.privacy.guarantee import exact_text

    if ledger is None:
        return None
    book, asked = ledger.read(), request.guarantee
    after = book.after(asked.epsilon, asked.delta)
    if asked.epsilon is None:
        return {"epsilon": "0", "delta": "0"}
    return {
        "epsilon": exact_text(book.total.epsilon - after.epsilon),
        "delta": exact_text(book.total.delta - after.delta),
    }


def tell(release: Release, target: Path, ledger: Ledger | None, *, as_json: bool) -> None:
    """Print what was published, where, and what is left of the budget."""
    from locentropy.publishing import notices

    if as_json:
        out.print_json(json.dumps(_as_json(release, target, ledger)))
    else:
        _show(release, target, ledger)
    if not release.statement.private:
        warn(notices.NOT_PRIVATE)
    if ledger is None:
        warn(notices.NOT_COUNTED)


def warn_of_few(mechanism: Mechanism, places: int, level: LevelPart | None = None) -> None:
    """Warn of too few places for the mechanism. Their number is public: of a list, or of a release."""
    from locentropy.publishing.notices import few_locations

    for warning in few_locations(mechanism, places, level):
        warn(str(warning))


def highest(release: Release) -> list[dict[str, Any]]:
    """Return the published places with the highest entropy, as the page lists them: equal ones as in the table."""
    import numpy as np
    import pyarrow.compute as pc

    table = release.to_arrow()
    shown = table.filter(pc.is_valid(table["entropy"]))
    order = np.argsort(-shown["entropy"].to_numpy(), kind="stable")
    rows: list[dict[str, Any]] = shown.take(order[:HIGHEST]).to_pylist()
    return rows


def _show(release: Release, target: Path, ledger: Ledger | None) -> None:
    from locentropy.planning.plan_text import guarantee_line

    guarantee = release.statement.guarantee
    shown = _shown(release)
    many = f"{len(release):,}" if shown == len(release) else f"{shown:,} of {len(release):,}"
    _line(
        f"Published {many} places to {target}"
        + ("" if shown == len(release) else f"; the others are {_why_not_shown(release)}")
    )
    _line(guarantee_line(guarantee))
    _line(guarantee.explain_strength())
    _line(guarantee.explain())
    for name, level in release.levels.items():
        _line(f"Level {name}: {len(level):,} {'location' if len(level) == 1 else 'locations'}.")
    rows = highest(release)
    if rows:
        _table(rows, release.statement.entropy_unit)
    if ledger is not None:
        _line(f"Left of the budget: {ledger.remaining}")
    _line(f"Its files: {', '.join(sorted(path.name for path in target.iterdir()))}")
    with_ledger = "" if ledger is None else f" --ledger {quote(str(ledger.path))}"
    page = next(iter(sorted(target.glob("*.html"))), None)
    if page is not None:
        note(f"To look at it: open {page} in a browser")
    note(f"To check them: locentropy verify {quote(str(target))}{with_ledger}")


def _why_not_shown(release: Release) -> str:
    limit = release.statement.max_std_error
    return "withheld" if limit is None else f"not shown, because their standard error is above {limit:g} nats"


def _shown(release: Release) -> int:
    """How many places have a value."""
    return len(release) - int(release.to_arrow()["entropy"].null_count)


def _table(rows: list[dict[str, Any]], unit: str) -> None:
    from rich.table import Table

    bars = "low" in rows[0]
    table = Table(title=f"The highest values, with noise (entropy in {unit})")
    table.add_column("place")
    table.add_column("entropy", justify="right")
    if bars:
        table.add_column("95 % interval", justify="right")
    for row in rows:
        interval = [f"{row['low']:.2f} to {row['high']:.2f}"] if bars else []
        table.add_row(options.shown(row.get("name") or row["location"]), f"{row['entropy']:.2f}", *interval)
    out.print(table)


def _as_json(release: Release, target: Path, ledger: Ledger | None) -> dict[str, Any]:
    from locentropy.privacy.guarantee import exact_text

    statement, guarantee = release.statement, release.statement.guarantee
    left = None if ledger is None else ledger.remaining
    return {
        "directory": str(target),
        "files": sorted(path.name for path in target.iterdir()),
        "release_id": statement.release_id,
        "spend_id": None if statement.ledger is None else statement.ledger.spend_id,
        "private": statement.private,
        "epsilon": None if guarantee.epsilon is None else exact_text(guarantee.epsilon),
        "delta": None if guarantee.epsilon is None else exact_text(guarantee.delta),
        "explanation": guarantee.explain(),
        "places": len(release),
        **(
            {"levels": {name: len(level) for name, level in release.levels.items()}} if release.levels else {}
        ),
        "unit": statement.entropy_unit,
        "highest": highest(release),
        "budget_left": None
        if left is None
        else {"epsilon": exact_text(left.epsilon), "delta": exact_text(left.delta)},
    }


def _line(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
