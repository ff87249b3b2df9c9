"""How a release is cited, and what the page needs to write its own table into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.cell_kinds import CELL_KINDS
from locentropy.privacy.guarantee import exact_text
from locentropy.release.files import names_of
from locentropy.release.statement import NOT_PRIVATE, UNSAID

if TYPE_CHECKING:
    from locentropy.release.report.rows import Rows
    from locentropy.release.statement import Statement


def citation(statement: Statement) -> str:
    """One line from the owner's words and the guarantee; what was not said is left out."""
    day = statement.publication_date
    year = "" if day is None else f" ({day[:4]})"
    who = f"{statement.curator}{year}: " if statement.curator != UNSAID else ""
    about = [] if statement.region == UNSAID else [statement.region]
    if statement.window is not None:
        about.append(str(statement.window))
    stated = statement.guarantee
    if stated.epsilon is None:
        kept = f"{NOT_PRIVATE}: not for publication"
    else:
        delta = f", δ = {exact_text(stated.delta)}" if stated.delta else ""
        kept = f"Differentially private (ε = {exact_text(stated.epsilon)}{delta})"
    parts = [
        f"{who}{statement.title}{'' if who or day is None else year}",
        ", ".join(about),
        f"Location entropy of places. {kept}",
        f"Release {statement.release_id}, made by locentropy {statement.software_version}",
    ]
    return " ".join(f"{part.rstrip('.')}." for part in parts if part)


def table_file(statement: Statement, shown: Rows) -> dict[str, str]:
    """For the script: the name of the file, the mark in it if there is no guarantee, and what labels on the map are."""
    stem, ending = names_of(statement).csv.split(".", 1)
    cells = statement.locations_source.startswith(CELL_KINDS)
    return {
        # Not the name of the table beside the page, which has every digit.
        "file": f"{stem}-from-page.{ending}",
        **({} if statement.private else {"mark": NOT_PRIVATE}),
        "labels": "rank" if cells and not shown.has_names else "name",
    }
