"""`locentropy`: the commands, and what happens to errors and interruptions on the way out."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from click.exceptions import ClickException, Exit

import locentropy
from locentropy.cli import datasets, demo, entropy
from locentropy.cli.console import err
from locentropy.core.errors import LocentropyError

if TYPE_CHECKING:
    from types import FrameType

app = typer.Typer(
    name="locentropy",
    help="Publish how popular places are without giving away who was there.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(entropy.entropy)
app.add_typer(datasets.app, name="datasets")


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


class _Terminated(BaseException):
    """The process was asked to stop; raised so that temporary files are removed on the way out."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def run() -> None:
    """Run the command line. Errors that people can mend are told in a sentence; exit codes tell them apart."""
    signal.signal(signal.SIGTERM, _terminate)
    if "--debug" in sys.argv:
        app()
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except LocentropyError as error:
        err.print(f"[bold red]Error:[/] {_escaped(str(error))}", soft_wrap=True)
        sys.exit(error.exit_code)
    except ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except Exit as error:
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        err.print("Interrupted; nothing was left behind.")
        sys.exit(128 + signal.SIGINT)
    except _Terminated:
        sys.exit(128 + signal.SIGTERM)
    except OSError as error:
        err.print(f"[bold red]Error:[/] {_escaped(str(error.strerror))}: {_escaped(str(error.filename))}")
        sys.exit(LocentropyError.exit_code)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
