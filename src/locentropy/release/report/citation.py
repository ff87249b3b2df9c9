"""How a release is cited, and what the page needs to write its own table into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.privacy.guarantee import numbers_in_words
from locentropy.release.files import names_of
from locentropy.release.statement import NOT_PRIVATE, UNSAID

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.statement import Statement


def citation(say: Words, statement: Statement) -> str:
    """One line from the owner's words and the guarantee; what was not said is left out."""
    day = statement.publication_date
    year = "" if day is None else f" ({day[:4]})"
    who = f"{statement.curator}{year}: " if statement.curator != UNSAID else ""
    about = [] if statement.region == UNSAID else [statement.region]
    if statement.window is not None:
        about.append(statement.window.in_short(say))
    if statement.private:
        kept = say("cite.private", numbers=numbers_in_words(statement.guarantee, say))
    else:
        kept = say("cite.not_private", mark=say("mark"))
    parts = [
        f"{who}{say.stored('title', statement.title)}{'' if who or day is None else year}",
        ", ".join(about),
        f"{say('cite.about')}. {kept}",
        say("cite.release", id=statement.release_id, version=statement.software_version),
    ]
    return " ".join(f"{part.rstrip('.')}." for part in parts if part)


def table_file(statement: Statement) -> dict[str, str]:
    """For the script: the name of the file, and the mark in it if there is no guarantee."""
    stem, ending = names_of(statement).csv.split(".", 1)
    return {
        # Not the name of the table beside the page, which has every digit.
        "file": f"{stem}-from-page.{ending}",
        **({} if statement.private else {"mark": NOT_PRIVATE}),
    }
