"""`locentropy`: the commands, and what happens to errors and interruptions on the way out."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, NoReturn, cast

import typer

from locentropy.cli import signals
from locentropy.cli.commands import CommandGroup, Known
from locentropy.cli.console import LogLevel, err, printable, set_log_level
from locentropy.core.errors import EngineError, LocentropyError
from locentropy.core.missing import missing_module
from locentropy.core.version import __version__

if TYPE_CHECKING:
    import io
    from collections.abc import Mapping
    from sys import UnraisableHookArgs


class _Commands(CommandGroup):
    """All commands."""

    known: ClassVar[Mapping[str, Known]] = {
        "advise": Known(
            "locentropy.cli.advise:advise",
            "Recommend a mechanism and its parameters, and say what error to expect and why.",
        ),
        "check": Known(
            "locentropy.cli.check:check",
            "Compare ids, dates and dropped rows with the exact data, before you spend. PRIVATE: not for publication.",
        ),
        "datasets": Known(
            "locentropy.cli.datasets:app", "Make data to play with: seeded, reproducible, about nobody."
        ),
        "demo": Known(
            "locentropy.cli.demo:demo",
            "Make a synthetic city, publish month by month how popular its places are, and compare with the exact "
            "values.",
        ),
        "docs": Known(
            "locentropy.cli.docs:docs", "Open the documentation of this version, which needs no network."
        ),
        "entropy": Known(
            "locentropy.cli.entropy:entropy",
            "Compute the exact entropy of every location. NOT PRIVATE: for the owner of the data, not for publication.",
        ),
        "estimate": Known(
            "locentropy.cli.estimate:estimate",
            "Compute a release anew from its measurements, with the inference of this version. Costs no budget.",
        ),
        "evaluate": Known(
            "locentropy.cli.evaluate:evaluate",
            "Compare mechanisms on your own data with the truth. PRIVATE: for the owner of the data, not for "
            "publication.",
        ),
        "ledger": Known(
            "locentropy.cli.ledger:app",
            "The privacy budget of a population of people: made once, spent by every release, never refunded.",
        ),
        "plan": Known(
            "locentropy.cli.plan:plan",
            "Show what a release would promise and be worth. Reads no data: every number is yours, and must be public.",
        ),
        "publish": Known(
            "locentropy.cli.publish:publish",
            "Publish the location entropy of places under differential privacy: a directory of files fit to be given "
            "away.",
        ),
        "report": Known(
            "locentropy.cli.report:report",
            "Find the page of a release and check that it shows these numbers, or draw it anew into a file of its own.",
        ),
        "verify": Known(
            "locentropy.cli.verify:verify",
            "Check that a release is whole, that its files agree, and that its ledger knows it.",
        ),
    }
    entry_points: ClassVar[str] = "locentropy.commands"
    of_the_lab: ClassVar[Mapping[str, str]] = {
        "audit": "Try to break the guarantees: search, attack, plant faults.",
        "reproduce": "Redraw the paper's evaluation from scratch, and say of each of its claims whether it holds.",
    }


app = typer.Typer(
    cls=_Commands,
    name="locentropy",
    help="Publish how popular places are without giving away who was there.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_PARTS: Final = ("duckdb", "ibis-framework", "opendp", "numpy", "pyarrow", "scipy")
"""The parts whose version matters to somebody who reads a report of a bug."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version
        from platform import platform, python_version

        typer.echo(f"locentropy {__version__}")
        typer.echo(", ".join(f"{part} {version(part)}" for part in _PARTS))
        typer.echo(f"Python {python_version()}, {platform()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version, and those of its parts.", callback=_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks, which may quote private data.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No notes and no progress: --log-level warning.")
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option(help="What is told on standard error besides errors.")
    ] = LogLevel.INFO,
) -> None:
    """Options of every command."""
    set_log_level(LogLevel.WARNING if quiet and log_level == LogLevel.INFO else log_level)


def run() -> None:
    """Run the command line. Errors are told in a sentence, without a traceback; exit codes tell them apart."""
    signals.listen()
    for stream in (sys.stdout, sys.stderr):
        # Not every terminal has an ε. A stream that was closed is None, and one may have become another kind of file.
        with suppress(AttributeError, OSError, ValueError):
            cast("io.TextIOWrapper", stream).reconfigure(errors="backslashreplace")
    # Before NumPy loads it: our matrices are small, and where memory is short OpenBLAS tries for ever to start threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "--debug" in sys.argv:
        app()
    sys.unraisablehook = _tell_ignored
    try:
        app()
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
        asked = signals.was_asked()
        if asked is not None:  # a library turned the stopping into an error of its own
            _say_stopped(asked)
        missing = missing_module(error)
        if missing:
            _tell(missing)
            sys.exit(LocentropyError.exit_code)
        # An unforeseen error. Its own words may quote data, so only its kind is shown.
        _tell(f"An unexpected {type(error).__name__} stopped the command. With --debug it shows where.")
        sys.exit(LocentropyError.exit_code)
    except signals.Stopped as stopped:
        _say_stopped(stopped.exit_code)


def _tell_ignored(ignored: UnraisableHookArgs) -> None:
    """Tell of an error that Python cannot raise, as in a destructor; only its kind, for its words may quote data."""
    if isinstance(ignored.exc_value, signals.Stopped):
        signals.stop_soon()
    else:
        err.print(f"A {ignored.exc_type.__name__} was ignored. With --debug it shows where.")


def _say_stopped(exit_code: int) -> NoReturn:
    err.print("Stopped; no half-written file was left behind.")
    sys.exit(exit_code)


def _tell(message: str) -> None:
    from rich.markup import escape

    err.print("[bold red]Error:[/]", escape(printable(message, keep="\n")), soft_wrap=True)
