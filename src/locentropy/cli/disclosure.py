"""Looking at exact data without budget: parameters chosen afterwards are tuned on the data, and the ledger says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from locentropy.cli.console import note, warn
from locentropy.core.errors import ParameterError
from locentropy.core.files import atomic_write, check_writable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from locentropy.privacy.units import Unit

NOT_RECORDED: Final = (
    "No ledger: manifests of later releases will not say that parameters were tuned on the data. If these people have "
    "a ledger, name it: --ledger city.ledger"
)

NOT_NOTED: Final = (
    "No ledger: manifests of later releases will not say that their input was compared with the exact data. If these "
    "people have a ledger, name it: --ledger city.ledger"
)

Ledger = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        readable=False,
        help="The ledger of these people, which records that their data was looked at.",
    ),
]


def marked(path: Path, endings: Sequence[str] = ()) -> Path:
    """Return the path of a private file, with `not-private` in its name, after checking that it can be written."""
    if endings and path.suffix not in endings:
        raise ParameterError(
            f"--out {path}: the name must end in {' or '.join(endings)}, as in result{endings[0]}."
        )
    check_writable(path)
    return path if "not-private" in path.stem else path.with_name(f"{path.stem}.not-private{path.suffix}")


def write_private(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    with atomic_write(target) as [part]:
        part.touch(mode=0o600)
        write(part)
    note(f"Written to {target}")


def tell_recorded(ledger: Path | None) -> None:
    """Say where the look was recorded, or that it was not."""
    if ledger is None:
        warn(NOT_RECORDED)
    else:
        note(
            f"Noted in {ledger}: manifests of later releases will say that parameters were tuned on the data."
        )


def tell_checked(ledger: Path | None) -> None:
    """Say where a check of the input was noted, or that it was not."""
    if ledger is None:
        warn(NOT_NOTED)
    else:
        note(
            f"Noted in {ledger}: manifests of later releases will say that the input was compared with the exact data."
        )


def tell_privacy_unit(columns: Mapping[str, str], *, private: bool = True, unit: Unit = "person") -> None:
    """Say who is protected: a person with two ids is protected half as well."""
    from locentropy.publishing.notices import privacy_unit

    note(privacy_unit(dict(columns), private=private, unit=unit))
