"""`locentropy verify`: whether a release is whole, agrees with itself, and with its ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import options
from locentropy.cli.console import out, print_text, printable, warn

if TYPE_CHECKING:
    from locentropy.release.verify import Report


def verify(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The directory of a release.", show_default=False)
    ],
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            readable=False,
            help="The ledger that paid for it, to compare with.",
            show_default=False,
        ),
    ] = None,
    after: Annotated[
        Path | None,
        typer.Option(
            "--after",
            metavar="DIR",
            help="The release before it in its series, if that is not beside it.",
            show_default=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check that a release is whole, that its files agree, and that its ledger knows it.

    Exit code 9 if anything is wrong with the release, 8 if the ledger cannot be read.
    A release of a series leans on earlier ones, which are found beside it by their
    fingerprints. If one is missing, what was not checked is said; that alone is no error.

    Examples:

      locentropy verify release

      locentropy verify release --ledger city.ledger --json
    """
    from locentropy.core.errors import ReleaseError
    from locentropy.ledger.ledger import Ledger
    from locentropy.release.verify import verify as look

    if not directory.is_dir():
        raise ReleaseError(f"{directory} is not a directory. For example: locentropy verify release")
    report = look(directory, None if ledger is None else Ledger.open(ledger), after)
    if as_json:
        out.print_json(json.dumps(_as_json(report)))
    else:
        _show(report)
    if not report.ok:
        raise typer.Exit(ReleaseError.exit_code)


def _show(report: Report) -> None:
    for check in report.checks:
        _line(f"{'ok ' if not check.problems else 'BAD'}  {check.name}")
        for problem in check.problems:
            _line(f"       {problem}")
    if report.guarantee is not None:
        _line(report.guarantee)
    if report.fingerprint is not None:
        _line(f"SHA-256 of its details, which vouch for the other files: {report.fingerprint}")
    for note in report.notes:
        warn(note)
    if report.ok:
        _line(f"{report.directory}: whole, and its files agree.")
    else:
        warn(f"{report.directory}: do not rely on this release.")


def _line(text: str) -> None:
    """Print a line without markup and without control characters, whatever a file's text holds."""
    print_text(printable(text))


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "directory": str(report.directory),
        "ok": report.ok,
        "release_id": report.release_id,
        "guarantee": report.guarantee,
        "details_sha256": report.fingerprint,
        "checks": [{"name": check.name, "problems": list(check.problems)} for check in report.checks],
        "notes": list(report.notes),
    }
