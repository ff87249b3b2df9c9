"""`locentropy reproduce`: the evaluation of the 2016 paper again, figure by figure, with what was added beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from locentropy.cli import options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.core.errors import ParameterError, SourceError

if TYPE_CHECKING:
    from locentropy_lab.reproduction.run import Reproduction

_OURS = ("cache", "numbers")


def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHAT]...",
            help="all, table2, fig1 to fig12 as they are numbered in the paper, recommendations.",
            show_default="all",
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="A tenth of Dense (1 million users), fewer seeds, a coarser grid of C: minutes, not an hour.",
        ),
    ] = False,
    to: Annotated[
        Path,
        typer.Option(
            "--out", help="Folder for page, figures and numbers; a run that was stopped goes on there."
        ),
    ] = Path("reproduction"),
    gowalla: Annotated[
        Path | None,
        typer.Option(
            "--gowalla",
            envvar="LOCENTROPY_GOWALLA",
            help="SNAP's loc-gowalla_totalCheckins.txt.gz, or the New York extract of it.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Compute everything anew, whatever is finished in the folder.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    r"""Redraw the paper's evaluation from scratch, and say of each of its claims whether it holds.

    Writes index.html, which needs nothing else; figures/ as PNG and SVG;
    numbers/ behind them as Parquet and CSV; and verdicts.json. Noise is
    simulated: this is for the paper's data, never for data about people to be
    protected.

    Examples:

      locentropy reproduce --fast

      locentropy reproduce table2 fig8 --out again \
      --gowalla loc-gowalla_totalCheckins.txt.gz
    """
    from locentropy_lab.reproduction.claims.judging import OPEN
    from locentropy_lab.reproduction.run import NO_GOWALLA, chosen, run_experiments
    from locentropy_lab.reproduction.settings import FAST, FULL

    names = list(what or ())
    chosen(names)
    _check_folder(to)
    if gowalla is not None and not gowalla.is_file():
        raise SourceError(
            f"{gowalla}: there is no such file. For example: --gowalla loc-gowalla_totalCheckins.txt.gz"
        )
    with progress_bar() as progress:
        made = run_experiments(
            names, FAST if fast else FULL, to, gowalla=gowalla, again=again, progress=progress, told=note
        )
    if as_json:
        from locentropy_lab.reproduction.run import verdicts

        out.print_json(json.dumps(verdicts(made)))
    else:
        _show(made)
    if made.skipped:
        warn(f"Skipped: {', '.join(made.skipped)}. {NO_GOWALLA}")
    elif gowalla is None and any(each.verdict == OPEN for each in made.findings):
        note(NO_GOWALLA)
    if fast:
        warn("Fast run: Dense has 1 million users, not 10 million, and there are fewer seeds.")
    note(f"Open {made.page}")


def _check_folder(folder: Path) -> None:
    """Raise ParameterError unless the folder is new, empty or that of an earlier run."""
    if folder.exists() and (
        not folder.is_dir() or (any(folder.iterdir()) and not all((folder / name).is_dir() for name in _OURS))
    ):
        raise ParameterError(
            f"--out {folder} is already there and not a folder of an earlier run. For example: --out reproduction-2"
        )


def _show(made: Reproduction) -> None:
    from rich import box
    from rich.table import Table

    table = Table(title="What the paper claims", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("claim", "where", "verdict", ""):
        table.add_column(heading)
    for each in made.findings:
        table.add_row(
            *map(options.shown, (each.claim.name, each.claim.experiment, each.verdict, each.summary))
        )
    out.print(table)
