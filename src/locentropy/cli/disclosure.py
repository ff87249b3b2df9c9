"""Looking at exact data without budget: whoever chooses by what they saw has tuned on it, and the ledger notes that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from locentropy.cli.console import note, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_LEDGER: Final = (
    "No ledger: nobody will be told that parameters were tuned on the data. If these people have one: "
    "--ledger city.ledger"
)

Ledger = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        readable=False,
        help="The budget of these people, which notes that their data was looked at.",
    ),
]


def tell_noted(ledger: Path | None) -> None:
    """Say where it was noted, or that it was not."""
    if ledger is None:
        warn(NO_LEDGER)
    else:
        note(
            f"Noted in {ledger}: manifests of later releases will say that parameters were tuned on the data."
        )


def tell_who(columns: Mapping[str, str], *, private: bool = True) -> None:
    """Say who is protected, for it is easily taken for granted: whoever has two ids is protected half as well."""
    protected = "Protected: each person's whole record, where a" if private else "Nobody is protected. A"
    note(f"{protected} person is one id of the column {columns['user']!r}.")
