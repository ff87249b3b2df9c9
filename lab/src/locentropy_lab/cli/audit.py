"""`locentropy audit`: attack our own promises, on this machine, with this installation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from locentropy.cli import options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.core.errors import ParameterError
from locentropy.core.files import check_writable

if TYPE_CHECKING:
    from locentropy_lab.audit.outcome import Audit

FAILED: Final = 10
"""The exit code of an audit that has found something; no error of the software has it."""


def audit(
    mechanism: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MECHANISM]...",
            help="shares, moments, limit, …, select-locations, activity. Faults are planted when all are audited.",
            show_default="all",
        ),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Fewer draws and releases: a few minutes, and less certain.")
    ] = False,
    draws: Annotated[
        int | None, typer.Option("--draws", min=100, max=10**8, help="Draws of each. Default: 1,000,000.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", min=8, max=10**7, help="Whole releases of each. Default: 2,000.")
    ] = None,
    processes: Annotated[
        int, typer.Option("--processes", min=1, max=256, help="How many draw and publish at the same time.")
    ] = 2,
    to: Annotated[
        Path | None, typer.Option("--out", help="A page with all of it, such as audit.html.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    r"""Try to break what is promised: search, attack, plant faults. Reads no data and spends no budget.

    Searches the worst neighbours of every mechanism and computes what they
    cost; attacks millions of draws and thousands of whole releases; plants
    known faults, each of which a check must see. Exits with 10 if anything
    fails.

    Examples:

      locentropy audit --fast

      locentropy audit --out audit.html

      locentropy audit limit shares --json
    """
    from locentropy_lab.audit.auditing import audit as run
    from locentropy_lab.audit.outcome import FAST, FULL
    from locentropy_lab.audit.subjects import subjects

    names = list(mechanism or ())
    subjects(names)  # refuses names that are none
    if to is not None:
        _check_file(to)
    settings = replace(FAST if fast else FULL, processes=processes)
    settings = replace(settings, draws=draws or settings.draws, runs=runs or settings.runs)
    with progress_bar() as progress:
        found = run(names, settings, progress)
    if as_json:
        out.print_json(json.dumps(found.to_dict()))
    else:
        _show(found)
    if to is not None:
        _write(found, to)
    if settings.draws < FULL.draws or settings.runs < FULL.runs:
        warn("Fewer draws or releases than usual show less. Before you rely on it: locentropy audit")
    if not found.ok:
        raise typer.Exit(FAILED)


def _check_file(path: Path) -> None:
    """Refuse now what could not be written in half an hour."""
    if path.suffix != ".html" or path.is_dir():
        raise ParameterError(f"--out {path} must be a page. For example: --out audit.html")
    check_writable(path)


def _write(found: Audit, path: Path) -> None:
    from locentropy.core.files import atomic_write
    from locentropy_lab.audit.page import page

    with atomic_write(path) as [part]:
        part.write_text(page(found), encoding="utf-8")
    note(f"Written to {path}")


def _show(found: Audit) -> None:
    from locentropy_lab.audit import words

    _table("What the worst neighbours cost", words.NUMERICAL, words.numerical_rows(found))
    _table(
        "What attackers could show, with 99 % confidence", words.STATISTICAL, words.statistical_rows(found)
    )
    if found.statistical:
        out.print(words.told_teeth(found.teeth), markup=False, soft_wrap=True)
    if found.mutation:
        _table("Planted faults", words.SEEN, words.seen_rows(found))
        out.print(words.told_faults(found), markup=False, soft_wrap=True)
    out.print(words.told_verdict(found), markup=False, style="bold")


def _table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(options.shown, row))
    out.print(table)
