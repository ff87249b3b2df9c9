"""Verify: whether a directory holds a release that is whole, agrees with itself and, if one is given, with a ledger.

    directory      the files of a release and no others
    fingerprints   each file is the one that details.yaml was written with
    details        its words are those that its numbers call for
    measurements   they give the values of the table, where this software has the inference that made them
    manifest       it states the guarantee that details.yaml states
    table          Parquet and CSV hold one table, with columns that this release may have
    data package   it describes these files, as details.yaml does
    further        other formats, if there are any, hold the same table
    series         earlier releases that it leans on are those that it names, and fit each other
    ledger         the ledger has charged what the release says, and what earlier ones of its series say

This finds accidents and careless edits. Files that were all changed consistently are found only by comparing with the
ledger, or with the SHA-256 of details.yaml, if the owner published that elsewhere. Words are compared only in releases
of this version: other versions may use others.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import LedgerError, LocentropyError, ReleaseError
from locentropy.core.strict_yaml import dump_document, read_document
from locentropy.mechanisms.registry import built_in_class
from locentropy.release.columns import public_columns
from locentropy.release.data_package import data_package, named_in, package_name
from locentropy.release.details import TableShape, details, get
from locentropy.release.files import MARK, MARKED
from locentropy.release.manifest import checked_words, heading, manifest, parameters, variant_name
from locentropy.release.reading import describe, names_in, regular, sha256
from locentropy.release.reestimate import mechanism_of
from locentropy.release.release import Release
from locentropy.release.signal import signal_words
from locentropy.release.tables import (
    published,
    read_parquet,
)
from locentropy.release.verify_exports import differing_exports, has_exports
from locentropy.release.verify_guarantee import guarantee_problems
from locentropy.release.verify_ledger import ledger_problems
from locentropy.release.verify_series import Past
from locentropy.release.verify_table import by_this_version, table_problems
from locentropy.release.verify_values import cannot_infer, is_installed, measurement_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locentropy.ledger.ledger import Ledger
    from locentropy.release.reading import Described
    from locentropy.release.statement import Statement

_FORMULA: Final = r"^[=+\-@\t\r]"
"""How texts begin that a spreadsheet takes for a formula."""


@dataclass(frozen=True)
class Check:
    """One part of a verification."""

    name: str
    """Which part."""
    problems: tuple[str, ...]
    """What is wrong; empty if all is as it should be."""


@dataclass(frozen=True)
class Report:
    """The result of `verify`."""

    directory: Path
    """The directory of the release."""
    release_id: str | None
    """Its id, if the details can be read."""
    guarantee: str | None
    """Its guarantee in words."""
    fingerprint: str | None
    """The SHA-256 of details.yaml, which vouches for the other files; compare it with what the owner published."""
    checks: tuple[Check, ...]
    """The parts that were checked."""
    notes: tuple[str, ...] = ()
    """What is worth knowing, and not a problem."""

    @property
    def ok(self) -> bool:
        """Whether no check found a problem."""
        return not any(check.problems for check in self.checks)


def verify(directory: str | Path, ledger: Ledger | None = None, after: str | Path | None = None) -> Report:
    """Check the files of a release. Problems are collected in the report, not raised.

    Parameters
    ----------
    directory
        The directory of the release.
    ledger
        The ledger that paid for it, to compare with; None compares the files with each other only.
    after
        The directory of the release before it in its series, where that is not beside it.
    """
    directory = Path(directory)
    checks = [_check("directory", lambda: _directory(directory))]
    try:
        about = describe(directory)
    except LocentropyError as error:
        return Report(directory, None, None, None, (*checks, Check("details", (str(error),))))
    except OSError as error:
        return Report(directory, None, None, None, (*checks, Check("details", (_words(error),))))
    statement = about.statement
    checks += [
        _check("fingerprints", lambda: _fingerprints(directory, about)),
        _check("details", lambda: _details(directory, about)),
        _check("manifest", lambda: _manifest(directory, about)),
        _check("table", lambda: table_problems(directory, about)),
    ]
    checks += [
        _check(f"table of {level.statement.level}", partial(table_problems, directory, level))
        for level in about.further
    ]
    if about.names.package in about.hashes or by_this_version(statement):
        checks.append(_check("data package", lambda: _package(directory, about)))
    past = Past.of(directory, statement, after)
    if statement.series is not None or after is not None:
        checks.append(_check("series", lambda: past.problems(directory)))
    for number, level in enumerate(about.levels):
        of_level = f" of {level.statement.level}" if number else ""
        if has_exports(level):
            checks.append(
                _check(f"further formats{of_level}", partial(_further_formats, directory, level, number))
            )
        if level.names.measurements in about.hashes:
            checks.append(
                _check(f"measurements{of_level}", partial(_measurements, directory, level, number, past))
            )
    if ledger is not None:
        for each in (*past.releases, None):
            name = "ledger" if each is None else f"ledger, {past.named(each)}"
            stated = statement if each is None else each.statement
            checks.append(_check(name, partial(ledger_problems, stated, ledger)))
    return Report(
        directory,
        statement.release_id,
        str(statement.guarantee),
        sha256(directory / about.names.details),
        tuple(checks),
        (*_notes(directory, about), *past.notes, *_withdrawn(statement, ledger)),
    )


def _check(name: str, look: Callable[[], Iterator[str]]) -> Check:
    problems = []
    try:
        for problem in look():
            problems.append(problem)  # noqa: PERF402  # what was found before an error counts as well
    except LocentropyError as error:
        problems.append(str(error))
    except OSError as error:
        problems.append(_words(error))
    return Check(name, tuple(problems))


def _words(error: OSError) -> str:
    return f"{error.filename or 'the system'}: {error.strerror or type(error).__name__}."


def _directory(directory: Path) -> Iterator[str]:
    names = names_in(directory)
    if names.details == MARKED.details and MARK not in directory.resolve().name:
        yield f"{directory} must have {MARK} in its name, because it has no guarantee."
    known = {*names, *_level_files(directory)}
    for name in (*names, *sorted(known - {*names})):
        if name in names.optional and not os.path.lexists(directory / name):
            continue  # whether it must be there, the fingerprints tell
        try:
            regular(directory / name)
        except ReleaseError as error:
            yield str(error)
    for path in sorted(directory.iterdir()):
        if path.name not in known:
            yield f"{path} does not belong to the release. What it discloses was not checked."


def _level_files(directory: Path) -> set[str]:
    """The files of further levels, as the details describe them; none if the details cannot be read."""
    try:
        about = describe(directory)
    except (LocentropyError, OSError):
        return set()  # reported where they are read
    named = {name for level in about.further for name in level.names}
    return named & set(about.hashes)


def _fingerprints(directory: Path, about: Described) -> Iterator[str]:
    for optional in about.names.optional:
        if os.path.lexists(directory / optional) != (optional in about.hashes):
            yield f"{directory / optional} must be there exactly if {about.names.details} describes it."
    for name, known in about.hashes.items():
        if (directory / name).is_file() and sha256(regular(directory / name)) != known:
            yield f"{directory / name} was changed: its SHA-256 is not the one in {about.names.details}."


def _details(directory: Path, about: Described) -> Iterator[str]:
    """Compare the words in the details with those that its numbers call for, and these with each other."""
    yield from guarantee_problems(about)
    if by_this_version(about.statement):
        for level in about.levels:
            yield from _method(level.statement)
        table = get(about.document, "table", dict)
        columns, rows = list(get(table, "columns", dict)), get(table, "rows", int)
        try:
            expected = details(about.statement, columns, rows, about.hashes, list(map(_shape, about.further)))
        except KeyError:
            yield f"{about.names.details} describes a column that a release does not have."
            return
        for key in _different(about.document, expected):
            yield f"{about.names.details}: its entry '{key}' says something else than its numbers do."
        yield from _layout(directory / about.names.details, expected, about.statement)


def _shape(level: Described) -> TableShape:
    table = get(level.document, "table", dict)
    return TableShape(level.statement, list(get(table, "columns", dict)), get(table, "rows", int))


def _method(statement: Statement) -> Iterator[str]:
    """Compare what is said of a built-in mechanism with what this software says of it."""
    kind = built_in_class(statement.mechanism)
    said = None if kind is None else kind.method
    if kind is not None and is_installed(statement):  # what parameters add to it
        said = mechanism_of(statement).method_used
    if statement.built_in and said != statement.method:
        yield f"The release says of {statement.mechanism}, as if it came with locentropy, what locentropy does not say."


def _manifest(directory: Path, about: Described) -> Iterator[str]:
    """Compare the guarantee in the manifest with that in the details."""
    found = read_document(regular(directory / about.names.manifest))
    statement, names = about.statement, about.names
    deployment = get(found, "deployment", dict)
    loss, variant = get(deployment, "privacy_loss", dict), get(deployment, "dp_variant", dict)
    if found.get("url_slug") != f"locentropy-{statement.release_id}":
        yield f"{names.manifest} is about another release than {names.details}."
    stated = loss.get("privacy_parameters", {}), variant.get("variant_name")
    if stated != (parameters(statement), variant_name(statement)):
        yield f"{names.manifest} states another ε, δ or variant than {names.details}."
    # Which version made it decides below whether words are compared at all, so the two files must agree on it.
    notes = get(get(deployment, "administrative", dict), "notes", str)
    if f"made by locentropy {statement.software_version}." not in " ".join(notes.split()):
        yield f"{names.manifest} was made by another version than {names.details} says."
    if by_this_version(statement):
        expected = manifest(statement)
        for part in _different(_parts(found), _parts(expected)):
            yield f"{names.manifest}: its part '{part}' says something else than {names.details}."
        yield from _layout(directory / names.manifest, expected, statement)


def _package(directory: Path, about: Described) -> Iterator[str]:
    """Compare what catalogues are told with what the details say."""
    path = regular(directory / about.names.package)
    if named_in(path) != package_name(about.statement):
        yield f"{about.names.package} is about another release than {about.names.details}."
    others = {name: known for name, known in about.hashes.items() if name != about.names.package}
    if by_this_version(about.statement) and path.read_bytes() != data_package(
        Release.load(directory), others
    ):
        yield f"{about.names.package} says something else than {about.names.details}."


def _level(directory: Path, number: int) -> Release:
    """A level of the release by itself; raises unless its files belong together."""
    whole = Release.load(directory)
    return (whole, *whole.further)[number].with_levels(())


def _measurements(directory: Path, about: Described, number: int, past: Past) -> Iterator[str]:
    return measurement_problems(directory, about, _level(directory, number), past)


def _further_formats(directory: Path, about: Described, number: int) -> Iterator[str]:
    same_words = by_this_version(about.statement)
    return differing_exports(directory, _level(directory, number), about, same_words=same_words)


def _different(one: dict[str, object], other: dict[str, object]) -> list[str]:
    return [
        str(key) for key in {**one, **other} if key not in one or key not in other or one[key] != other[key]
    ]


def _layout(path: Path, expected: dict[str, Any], statement: Statement) -> Iterator[str]:
    """Compare the whole text: comments are read by people and by nothing else."""
    if regular(path).read_bytes() != dump_document(expected, heading(statement)):
        yield f"{path.name} is not as it was written: its words, comments or layout were changed."


def _parts(found: dict[str, Any]) -> dict[str, Any]:
    """The parts of a manifest, without the level that holds most of them."""
    return {**found, **get(found, "deployment", dict), "deployment": None}


def _withdrawn(statement: Statement, ledger: Ledger | None) -> Iterator[str]:
    """Whether the ledger says that the release was withdrawn or replaced, and why."""
    with suppress(LedgerError):  # the checks have reported it
        for each in () if ledger is None else ledger.read().withdrawals:
            if each.release == statement.release_id:
                yield f"Its owner has withdrawn or replaced it: {each.why}"


def _notes(directory: Path, about: Described) -> Iterator[str]:
    if not about.statement.private:
        yield "NOT PRIVATE: the release has no guarantee for the people in the data. Do not publish it."
    if about.names.measurements in about.hashes and (why := cannot_infer(about.statement)) is not None:
        yield why
    if about.statement.ledger is None:
        yield "The release names no ledger: it was not counted against any budget."
    for level in about.levels:
        if silent := signal_words(level.statement.signal, level.statement):
            yield silent
    if about.statement.tuned_unaccounted:
        yield "Parameters were tuned on the data, unaccounted."
    if checked := checked_words(about.statement):
        yield checked
    try:
        table = published(read_parquet(regular(directory / about.names.parquet)))
        named = ("location", "name", *public_columns(about.statement))
        texts: list[Any] = [table[name] for name in named if name in table.column_names]
        texts = [column for column in texts if pa.types.is_string(column.type)]
        if any(pc.any(pc.match_substring_regex(column, _FORMULA), min_count=0).as_py() for column in texts):
            yield (
                f"Some texts in {about.names.csv} begin like formulas (= + - @). Spreadsheets may run them: import the "
                "columns as text."
            )
    except LocentropyError:
        return  # the checks have reported it
