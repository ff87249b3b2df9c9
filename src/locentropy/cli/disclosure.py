"""Looking at exact data without budget: parameters chosen afterwards are tuned on the data, and the ledger says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from locentropy.cli.console import note, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.privacy.units import Unit

NOT_RECORDED: Final = (
    "No ledger: manifests of later releases will not say that parameters were tuned on the data. If these people have "
    "a ledger, name it: --ledger city.ledger"
)

Ledger = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        readable=False,
        help="The ledger of these people, which records that their data was looked at.",
    ),
]


def tell_recorded(ledger: Path | None) -> None:
    """Say where the look was recorded, or that it was not."""
    if ledger is None:
        warn(NOT_RECORDED)
    else:
        note(
            f"Noted in {ledger}: manifests of later releases will say that parameters were tuned on the data."
        )


def tell_privacy_unit(columns: Mapping[str, str], *, private: bool = True, unit: Unit = "person") -> None:
    """Say who is protected: a person with two ids is protected half as well."""
    from locentropy.publishing.notices import privacy_unit

    note(privacy_unit(dict(columns), private=private, unit=unit))
