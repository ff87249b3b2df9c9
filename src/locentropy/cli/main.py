"""`locentropy`: the commands, and what happens to errors and interruptions on the way out."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, NoReturn, cast

import typer

import locentropy
from locentropy.cli import advise, datasets, demo, entropy, evaluate, ledger, plan, publish, report, verify
from locentropy.cli import error_format as wording
from locentropy.cli import signals as stopping
from locentropy.cli.console import err, printable
from locentropy.core.errors import BudgetError, EngineError, LocentropyError, ParameterError

if TYPE_CHECKING:
    import io
    from sys import UnraisableHookArgs

app = typer.Typer(
    name="locentropy",
    help="Publish how popular places are without giving away who was there.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(advise.advise)
app.command()(demo.demo)
app.command()(entropy.entropy)
app.command()(evaluate.evaluate)
app.command()(plan.plan)
app.command()(publish.publish)
app.command()(report.report)
app.command()(verify.verify)
app.add_typer(datasets.app, name="datasets")
app.add_typer(ledger.app, name="ledger")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"locentropy {locentropy.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks, which may quote private data.")
    ] = False,
) -> None:
    """Options of every command."""


def _passed_over(ignored: UnraisableHookArgs) -> None:
    """An error where Python lets none out, as while an object goes away; its own words may quote data."""
    if isinstance(ignored.exc_value, stopping.Stopped):
        stopping.stop_soon()
    else:
        err.print(f"A {ignored.exc_type.__name__} was passed over. With --debug it shows where.")


def run() -> None:
    """Run the command line. Errors that people can mend are told in a sentence; exit codes tell them apart."""
    stopping.listen()
    for stream in (sys.stdout, sys.stderr):
        # Not every terminal has an ε. A stream that was closed is None, and one may have become another kind of file.
        with suppress(AttributeError, OSError, ValueError):
            cast("io.TextIOWrapper", stream).reconfigure(errors="backslashreplace")
    # Before NumPy loads it: our matrices are small, and where memory is short OpenBLAS tries for ever to start threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "--debug" in sys.argv:
        app()
    sys.unraisablehook = _passed_over
    try:
        app()
    except (ParameterError, BudgetError) as error:
        _tell(wording.in_options(str(error)))
        sys.exit(error.exit_code)
    except LocentropyError as error:
        _tell(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        _tell(f"{error.filename or 'the system'}: {error.strerror or type(error).__name__}.")
        sys.exit(LocentropyError.exit_code)
    except MemoryError:
        _tell(
            "There is not enough memory. Allow the engine less of it (--memory 1GB), so that more is left for the rest."
        )
        sys.exit(EngineError.exit_code)
    except Exception as error:
        asked = stopping.was_asked()
        if asked is not None:  # a library turned the stopping into an error of its own
            _say_stopped(asked)
        # Something nobody foresaw. Its own words may quote data, so only its kind is shown.
        _tell(f"An unexpected {type(error).__name__} stopped the command. With --debug it shows where.")
        sys.exit(LocentropyError.exit_code)
    except stopping.Stopped as stopped:
        _say_stopped(stopped.exit_code)


def _say_stopped(exit_code: int) -> NoReturn:
    err.print("Stopped; no half-written file was left behind.")
    sys.exit(exit_code)


def _tell(message: str) -> None:
    err.print("[bold red]Error:[/]", _escaped(printable(message, keep="\n")), soft_wrap=True)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
