"""`locentropy audit`: test the guarantees of this installation."""

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
    from locentropy_lab.audit.results import Audit

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
    r"""Try to break the guarantees: search, attack, plant faults. Reads no data and spends no budget.

    Searches the worst neighbours of every mechanism and computes what they
    cost; attacks millions of draws and thousands of whole releases; plants
    known faults, each of which a check must see. Exits with 10 if anything
    fails.

    Examples:

      locentropy audit --fast

      locentropy audit --out audit.html

      locentropy audit limit shares --json
    """
    from locentropy_lab.audit.results import FAST, FULL
    from locentropy_lab.audit.run import run_audit
    from locentropy_lab.audit.subjects import subjects

    names = list(mechanism or ())
    subjects(names)  # raises for unknown names before anything runs
    if to is not None:
        _check_file(to)
    settings = replace(FAST if fast else FULL, processes=processes)
    settings = replace(settings, draws=draws or settings.draws, runs=runs or settings.runs)
    with progress_bar() as progress:
        found = run_audit(names, settings, progress)
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
    """Raise now rather than after half an hour, when the page is written."""
    if path.suffix != ".html" or path.is_dir():
        raise ParameterError(f"--out {path} must be a page. For example: --out audit.html")
    check_writable(path)


def _write(found: Audit, path: Path) -> None:
    from locentropy.core.files import atomic_write
    from locentropy_lab.audit.report import page

    with atomic_write(path) as [part]:
        part.write_text(page(found), encoding="utf-8")
    note(f"Written to {path}")


def _show(found: Audit) -> None:
    from locentropy_lab.audit import report

    _table("What the worst neighbours cost", report.NUMERICAL, report.numerical_rows(found))
    _table(
        "What attackers could show, with 99 % confidence", report.STATISTICAL, report.statistical_rows(found)
    )
    if found.statistical:
        out.print(report.power_text(found.power), markup=False, soft_wrap=True)
    if found.mutation:
        _table("Planted faults", report.SHORT_TRIALS, report.short_trial_rows(found))
        out.print(report.faults_text(found), markup=False, soft_wrap=True)
    out.print(report.verdict_text(found), markup=False, style="bold")


def _table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(options.shown, row))
    out.print(table)
