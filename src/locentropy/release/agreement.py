"""Whether the parts of a release, and its ledger, say the same."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from locentropy.core.version import __version__
from locentropy.privacy.ledger_book import Budget
from locentropy.release.details import details, get
from locentropy.release.documents import read_document, written
from locentropy.release.manifest import VARIANTS, heading, manifest, numbers
from locentropy.release.reading import regular
from locentropy.release.statement import INFINITE, amount
from locentropy.release.tables import KEY, summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locentropy.privacy.ledger import Ledger
    from locentropy.privacy.ledger_book import Book
    from locentropy.release.reading import Described
    from locentropy.release.statement import LedgerNote, Statement


def with_itself(directory: Path, about: Described) -> Iterator[str]:
    """Whether the words in the details are those that its numbers call for."""
    if _by_this_version(about.statement):
        table = get(about.document, "table", dict)
        columns, rows = list(get(table, "columns", dict)), get(table, "rows", int)
        try:
            expected = details(about.statement, columns, rows, about.hashes)
        except KeyError:
            yield f"{about.names.details} describes a column that a release does not have."
            return
        for key in _different(about.document, expected):
            yield f"{about.names.details}: its entry '{key}' says something else than its numbers do."
        yield from _layout(directory / about.names.details, expected, about.statement)


def with_manifest(directory: Path, about: Described) -> Iterator[str]:
    """Whether the manifest promises what the details promise."""
    found = read_document(regular(directory / about.names.manifest))
    statement, names = about.statement, about.names
    deployment = get(found, "deployment", dict)
    loss, variant = get(deployment, "privacy_loss", dict), get(deployment, "dp_variant", dict)
    if found.get("url_slug") != f"locentropy-{statement.release_id}":
        yield f"{names.manifest} is about another release than {names.details}."
    promised = loss.get("privacy_parameters", {}), variant.get("variant_name")
    if promised != (numbers(statement.guarantee), VARIANTS[statement.guarantee.kind]):
        yield f"{names.manifest} promises another ε, δ or variant than {names.details}."
    # Which version made it decides below whether words are compared at all, so the two files must agree on it.
    notes = get(get(deployment, "administrative", dict), "notes", str)
    if f"made by locentropy {statement.software_version}." not in " ".join(notes.split()):
        yield f"{names.manifest} was made by another version than {names.details} says."
    if _by_this_version(statement):
        expected = manifest(statement)
        for part in _different(_parts(found), _parts(expected)):
            yield f"{names.manifest}: its part '{part}' says something else than {names.details}."
        yield from _layout(directory / names.manifest, expected, statement)


def with_summary(metadata: dict[bytes, bytes], about: Described) -> Iterator[str]:
    """Whether the Parquet file says of itself what the details say."""
    unknown = set(metadata) - {KEY, b"geo", b"ARROW:schema"}
    if unknown:
        yield f"{about.names.parquet} carries metadata that does not belong to a release."
    try:
        found = json.loads(metadata.get(KEY, b"null"))
    except (ValueError, RecursionError):
        found = None
    compared = dict if _by_this_version(about.statement) else _ids
    if not isinstance(found, dict) or compared(found) != compared(summary(about.statement)):
        yield f"{about.names.parquet} says something else about itself than {about.names.details}."


def with_ledger(statement: Statement, ledger: Ledger) -> Iterator[str]:
    """Whether the ledger has what the release says that it has."""
    note, book = statement.ledger, ledger.read()
    if note is None:
        yield f"The release says that it was made without a ledger, so {ledger.path} does not know it."
        return
    paid = [spend for spend in book.spends if spend.id == note.spend_id]
    if not paid:
        yield (
            f"{ledger.path} knows no spend {note.spend_id}. It is another ledger, or an older copy that has forgotten "
            "spends: do not publish with it."
        )
        return
    spend = paid[0]
    if (spend.epsilon, spend.delta) != (statement.guarantee.epsilon, statement.guarantee.delta):
        yield "The ledger has charged another ε or δ for this release than the release promises."
    released = {record.release for record in book.releases if record.spend == spend.id}
    if released and released != {statement.release_id}:
        yield "The ledger says that this spend paid for another release."
    yield from _budget(note, book, spend.number)


def _budget(note: LedgerNote, book: Book, number: int) -> Iterator[str]:
    total = Budget(amount(note.total_epsilon, "total_epsilon"), amount(note.total_delta, "total_delta"))
    if (note.population, total) != (book.population, book.total):
        yield "The ledger is of another population or budget than the release says."
    until = book.spends[:number]
    finite = [spend.epsilon for spend in until if spend.epsilon is not None]
    epsilon = sum(finite, Fraction(0)) if len(finite) == len(until) else None
    delta = sum((spend.delta for spend in until), Fraction(0))
    said = None if note.spent_epsilon == INFINITE else amount(note.spent_epsilon, "spent_epsilon")
    if (said, amount(note.spent_delta, "spent_delta")) != (epsilon, delta):
        yield "The ledger had spent another sum after this release than the release says."


def _by_this_version(statement: Statement) -> bool:
    """Whether this software would use the very same words; other versions may have others."""
    return statement.software_version == __version__


def _different(one: dict[str, object], other: dict[str, object]) -> list[str]:
    return [
        str(key) for key in {**one, **other} if key not in one or key not in other or one[key] != other[key]
    ]


def _layout(path: Path, expected: dict[str, Any], statement: Statement) -> Iterator[str]:
    """Comments are read by people and by nothing else, so the whole text is compared."""
    if regular(path).read_bytes() != written(expected, heading(statement)):
        yield f"{path.name} is not as it was written: its words, comments or layout were changed."


def _parts(found: dict[str, Any]) -> dict[str, Any]:
    """The parts of a manifest, without the level that holds most of them."""
    return {**found, **get(found, "deployment", dict), "deployment": None}


def _ids(found: dict[str, str]) -> tuple[str | None, ...]:
    return tuple(found.get(key) for key in ("release_id", "mechanism", "estimand", "unit", "status"))
