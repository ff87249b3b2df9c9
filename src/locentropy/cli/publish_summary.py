"""What `locentropy publish` prints: in a dry run, and after publishing. Everything here is public."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from locentropy.cli import options
from locentropy.cli.console import note, out, print_text, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.levels import LevelPart
    from locentropy.core.windows import Window
    from locentropy.ledger.ledger import Ledger
    from locentropy.ledger.rules import Account
    from locentropy.mechanisms.base import Mechanism
    from locentropy.planning.plans import Plan
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.publishing.request import Request
    from locentropy.release.release import Release

HIGHEST = 10
_WHY_SILENT = (
    "Ids may be written differently in list and visits, or all rows left out: `locentropy check`, with the same "
    "options, shows you, and only you."
)
_MOST_COUNTED = 10_000
"""Periods: beyond it the number tells nobody anything."""


def tell_dry_run(
    request: Request, plan: Plan | None, target: Path | None, ledger: Ledger | None, *, as_json: bool
) -> None:
    """Print what a request would promise, cost and be worth; raise for what publishing would refuse before reading.

    The guesses of an approved plan, which a request does not need, tell more about what to expect.
    """
    from locentropy.cli.plan import show
    from locentropy.core.files import check_writable
    from locentropy.publishing import notices
    from locentropy.publishing.inference import check_without_series, rehearse_inference
    from locentropy.publishing.publication import Publication, check_name
    from locentropy.publishing.publication_file import UNFINISHED, unfinished

    earlier = None if target is None else unfinished(target, request.identity(ledger), ledger)
    if target is not None and earlier is None:
        check_writable(target)
        check_name(target)
        Publication(target, "").check_target()
    publication = earlier or Publication(target or Path(), "")
    check_without_series(
        request, publication.target, begun=publication.begun, staged=publication.staged_statement
    )
    if not publication.drawn:
        rehearse_inference(request, publication)
    published, levels = request.published, [level.locations for level in request.levels]
    planned = request.plan if plan is None else plan
    if published is not None:
        planned = replace(planned, n_locations=len(published))
    if planned.levels:
        planned = replace(planned, level_sizes=tuple(len(each) for each in levels if each is not None))
    if as_json:
        told = {
            "dry_run": True,
            **planned.to_dict(),
            "published": [
                {"level": each.part and each.part.name, "columns": notices.published_of(each.locations)}
                for each in request.levels
            ],
            "left_out": [*request.chosen.left_out, *request.chosen.differing],
            "budget_after": _budget_after(request, ledger),
        }
        out.print_json(json.dumps(told))
        return
    show(planned)
    for words in notices.published_words(request):
        _line(words)
    if request.series is not None:
        series = request.series.note
        _line(
            f"This is release {series.number} of a series, after {request.series.last.directory}: values lean on all "
            f"{series.number - 1} earlier releases, at no cost."
        )
    if earlier is not None:
        note(f"For {target}: {UNFINISHED}")
    else:
        _say_budget_after(request, ledger)
    free = "" if target is None or earlier is not None else f" {target} is free to publish to."
    note(f"A dry run: no visits were read, nothing was spent, nothing was written.{free}")


def _say_budget_after(request: Request, ledger: Ledger | None) -> None:
    from locentropy.privacy.units import period_of
    from locentropy.publishing import notices

    if ledger is None:
        warn(notices.NOT_COUNTED)
        return
    ledger.check(request.charged, request.parts)
    book = ledger.read()
    _line(f"Left of the budget of '{book.population}': {_left(book, request.parts)}.")
    if not request.guarantee.private:
        warn("Publishing this would close the ledger for good.")
        return
    after = ledger.preview(request.charged, request.parts)
    _line(f"After this release: {_left(after, request.parts)}.")
    period = period_of(book.unit)
    if request.window is not None:
        more = _more_periods(after, request.charged)
        until = "the budget" if period is None else "the budget of the person"
        each = "for another window" if period is None else f"in each {period}"
        _line(f"Such a release {each}: {more:,} more until {until} is used up.")


def _left(book: Account, windows: Sequence[Window | None]) -> str:
    """What is left, of each account that a release with a part in each of these windows is charged to."""
    from locentropy.privacy.units import cell_of, period_of

    period = period_of(book.unit)
    if period is None or book.closed:
        return str(book.remaining)
    cap = book.terms.caps(book.total)[0]
    left: dict[str, list[str]] = {}
    for window in windows:
        cell = str(cell_of(book.unit, window))
        left.setdefault(str(cap.left(book.charged_in(cell))), []).append(cell)
    here = ", ".join(f"{amount} in {_span(cells)}" for amount, cells in left.items())
    return f"{here}, and {book.remaining} for somebody who is there in every {period}"


def _span(cells: list[str]) -> str:
    """Some periods, in short."""
    if len(cells) <= 2:
        return " and ".join(cells)
    return (
        f"each of {cells[0]}, {cells[1]}, …, {cells[-1]}" if len(cells) > 3 else f"each of {', '.join(cells)}"
    )


def _more_periods(book: Account, guarantee: Guarantee) -> int:
    """How many more such releases, each in a period of its own, the account of the person admits."""
    from locentropy.ledger.accounts import Charge

    each, cap = Charge.of(guarantee), book.person_cap
    most, charged = 0, book.person + each
    while most < _MOST_COUNTED and cap.admits(charged):
        most, charged = most + 1, charged + each
    return most


def _budget_after(request: Request, ledger: Ledger | None) -> dict[str, str] | None:
    """What would be left; None without a ledger."""
    if ledger is None:
        return None
    after = ledger.preview(request.charged, request.parts)
    return _least(after, request.parts)


def _least(book: Account, windows: Sequence[Window | None]) -> dict[str, str]:
    """What is left for one more release about one of these windows, whichever has least."""
    from locentropy.privacy.guarantee import exact_text

    every = [book.remaining if book.closed else book.remaining_in(window) for window in windows]
    rhos = [left.rho for left in every if left.rho is not None]
    return {
        "epsilon": exact_text(min(left.epsilon for left in every)),
        "delta": exact_text(min(left.delta for left in every)),
        **({"rho": exact_text(min(rhos))} if rhos else {}),
    }


def _parts(release: Release) -> tuple[Window | None, ...]:
    """The windows that a release was charged for."""
    from locentropy.core.window_split import split
    from locentropy.privacy.units import part_windows

    statement = release.statement
    windows = () if statement.windows is None else split(statement.window, statement.windows)
    return part_windows(statement.guarantee.unit, statement.window, windows)


def tell(release: Release, target: Path, ledger: Ledger | None, *, as_json: bool) -> None:
    """Print what was published, where, and what is left of the budget."""
    from locentropy.publishing import notices
    from locentropy.release.signal import signal_words

    if as_json:
        out.print_json(json.dumps(_as_json(release, target, ledger)))
    else:
        _show(release, target, ledger)
    for level in (release, *release.further):
        if silent := signal_words(level.signal, level.statement):
            warn(f"{silent} {_WHY_SILENT}")
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

    from locentropy.release.columns import WINDOW

    table = release.to_arrow()
    shown = table.filter(pc.is_valid(table["entropy"]))
    order = np.argsort(-shown["entropy"].to_numpy(), kind="stable")
    rows: list[dict[str, Any]] = shown.take(order[:HIGHEST]).to_pylist()
    return [
        row | {name: str(row[name]) for name in WINDOW if name in row} for row in rows
    ]  # dates are no JSON


def _show(release: Release, target: Path, ledger: Ledger | None) -> None:
    from locentropy.planning.plan_text import guarantee_line
    from locentropy.release.manifest import series_words

    guarantee = release.statement.guarantee
    shown = _shown(release)
    many = f"{len(release):,}" if shown == len(release) else f"{shown:,} of {len(release):,}"
    kind = (
        "places"
        if release.statement.windows is None
        else f"places, each in every {release.statement.windows},"
    )
    _line(
        f"Published {many} {kind} to {target}"
        + ("" if shown == len(release) else f"; the others are {_why_not_shown(release)}")
    )
    _line(guarantee_line(guarantee))
    _line(guarantee.explain_strength())
    _line(guarantee.explain())
    for name, level in release.levels.items():
        _line(f"Level {name}: {len(level):,} {'location' if len(level) == 1 else 'locations'}.")
    if release.statement.series is not None:
        _line(_changes(release))
    if release.statement.without_series is not None:
        _line(series_words(release.statement))
    rows = highest(release)
    if rows:
        _table(rows, release.statement.entropy_unit)
    if ledger is not None:
        _line(f"Left of the budget: {_left(ledger.read(), _parts(release))}")
    _line(f"Its files: {', '.join(sorted(path.name for path in target.iterdir()))}")
    with_ledger = "" if ledger is None else f" --ledger {quote(str(ledger.path))}"
    page = next(iter(sorted(target.glob("*.html"))), None)
    if page is not None:
        note(f"To look at it: open {page} in a browser")
    note(f"To check them: locentropy verify {quote(str(target))}{with_ledger}")


def _changes(release: Release) -> str:
    """Which release of its series it is, and how many places changed, by what is published of them."""
    from locentropy.core.estimates import CHANGES

    series, told = release.statement.series, release.to_arrow()["change"].to_pylist()
    counts = [f"{told.count(change):,} {change}" for change in CHANGES[1:] if change in told]
    found = ", ".join(counts) if counts else "no change is sure"
    number = 0 if series is None else series.number
    return f"Release {number} of a series. Since the period before, or three ago: {found}."


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
    windowed = "window_start" in rows[0] and "change" not in rows[0]  # in a series all rows are of one
    if windowed:
        table.add_column("from")
    for row in rows:
        interval = [f"{row['low']:.2f} to {row['high']:.2f}"] if bars else []
        since = [row["window_start"]] if windowed else []
        place = options.shown(row.get("name") or row["location"])
        table.add_row(place, f"{row['entropy']:.2f}", *interval, *since)
    out.print(table)


def _as_json(release: Release, target: Path, ledger: Ledger | None) -> dict[str, Any]:
    from locentropy.privacy.guarantee import exact_text
    from locentropy.release.signal import signal_entry

    statement, guarantee, signal = release.statement, release.statement.guarantee, release.signal
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
        "window": None if statement.window is None else str(statement.window),
        **({} if statement.windows is None else {"windows": statement.windows}),
        **{
            name: asdict(note)
            for name in ("series", "without_series")
            if (note := getattr(statement, name)) is not None
        },
        "privacy_unit": guarantee.unit,
        "signal": None if signal is None else signal_entry(signal) | {"present": signal.present},
        "highest": highest(release),
        "budget_left": None if ledger is None else _least(ledger.read(), _parts(release)),
    }


def _line(text: str) -> None:
    print_text(text)
