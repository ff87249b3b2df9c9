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

import json
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.strict_yaml import dump_document, read_document
from locentropy.core.version import __version__
from locentropy.core.window_split import split
from locentropy.ledger.parts import same_windows
from locentropy.mechanisms.registry import built_in_class
from locentropy.privacy.units import part_windows
from locentropy.release.columns import MOST_NATS, WINDOW, check_table, public_columns
from locentropy.release.data_package import data_package, named_in, package_name
from locentropy.release.details import TableShape, details, get
from locentropy.release.files import MARK, MARKED
from locentropy.release.ledger_notes import ledger_note
from locentropy.release.manifest import heading, manifest, parameters, variant_name
from locentropy.release.measurements import measurements_parquet
from locentropy.release.outlines import has_outlines
from locentropy.release.reading import describe, names_in, regular, sha256
from locentropy.release.reestimate import estimated_again, listed_in, mechanism_of, reestimated
from locentropy.release.release import Release
from locentropy.release.statement import INFINITE, amount
from locentropy.release.tables import (
    GEOMETRY,
    KEY,
    geo_metadata,
    outlines_metadata,
    points,
    published,
    read_csv,
    read_parquet,
    summary,
)
from locentropy.release.verify_exports import differing_exports, has_exports
from locentropy.release.verify_series import Past, changes_differ, tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.windows import Window
    from locentropy.ledger.ledger import Ledger
    from locentropy.release.measurements import KeptMeasurements
    from locentropy.release.reading import Described
    from locentropy.release.statement import LedgerNote, Statement

_RULES: Final = frozenset({"bad_rows", "missing_ids"})
"""Rules for rows that measurements may state."""

_NOT_INFERRED: Final = frozenset(
    {"location", *WINDOW, "name", "not_private", "lat", "lon", "effective_visitors"}
)
"""Columns that do not come from the measurements, or follow from others that do."""

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
        _check("table", lambda: _table(directory, about)),
    ]
    checks += [
        _check(f"table of {level.statement.level}", partial(_table, directory, level))
        for level in about.further
    ]
    if about.names.package in about.hashes or _by_this_version(statement):
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
            checks.append(_check(name, partial(_ledger, stated, ledger)))
    return Report(
        directory,
        statement.release_id,
        str(statement.guarantee),
        sha256(directory / about.names.details),
        tuple(checks),
        (*_notes(directory, about), *past.notes),
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
    """Compare the words in the details with those that its numbers call for."""
    if _by_this_version(about.statement):
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
    if kind is not None and _installed(statement):  # what parameters add to it
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
    if _by_this_version(statement):
        expected = manifest(statement)
        for part in _different(_parts(found), _parts(expected)):
            yield f"{names.manifest}: its part '{part}' says something else than {names.details}."
        yield from _layout(directory / names.manifest, expected, statement)


def _table(directory: Path, about: Described) -> Iterator[str]:
    found = read_parquet(regular(directory / about.names.parquet))
    table = published(found)
    check_table(table, about.statement)
    described = get(about.document, "table", dict)
    if get(described, "rows", int) != len(table):
        yield f"{about.names.parquet} has {len(table)} rows, and {about.names.details} speaks of {described['rows']}."
    if list(get(described, "columns", dict)) != table.column_names:
        yield f"{about.names.parquet} has other columns than {about.names.details} describes."
    yield from _geometry(found, about)
    yield from _summary(found.schema.metadata or {}, about)
    entropy = table["entropy"].to_numpy() * (np.log(2.0) if about.statement.entropy_unit == "bits" else 1.0)
    visitors = np.exp(np.minimum(entropy, MOST_NATS))
    if not np.allclose(visitors, table["effective_visitors"].to_numpy(), rtol=1e-9, atol=0, equal_nan=True):
        yield "effective_visitors is not e to the power of the entropy."
    if not read_csv(regular(directory / about.names.csv), table.schema).equals(table):
        yield f"{about.names.csv} and {about.names.parquet} hold different tables."


def _package(directory: Path, about: Described) -> Iterator[str]:
    """Compare what catalogues are told with what the details say."""
    path = regular(directory / about.names.package)
    if named_in(path) != package_name(about.statement):
        yield f"{about.names.package} is about another release than {about.names.details}."
    others = {name: known for name, known in about.hashes.items() if name != about.names.package}
    if _by_this_version(about.statement) and path.read_bytes() != data_package(
        Release.load(directory), others
    ):
        yield f"{about.names.package} says something else than {about.names.details}."


def _level(directory: Path, number: int) -> Release:
    """A level of the release by itself; raises unless its files belong together."""
    whole = Release.load(directory)
    return (whole, *whole.further)[number].with_levels(())


def _further_formats(directory: Path, about: Described, number: int) -> Iterator[str]:
    same_words = _by_this_version(about.statement)
    return differing_exports(directory, _level(directory, number), about, same_words=same_words)


def _measurements(directory: Path, about: Described, number: int, past: Past) -> Iterator[str]:
    """Compute the values of a level again from its measurements, where this software has the inference for it."""
    release = _level(directory, number)
    kept = release.measurements
    if kept is None:
        raise ReleaseError(f"{about.names.measurements} is missing.")
    if kept.user_column != about.statement.user_column:
        yield f"{about.names.measurements} names another column for the person than {about.names.details}."
    stated = {name: about.statement.parameters.get(name) for name in kept.rules}
    if any(stated[name] not in (None, rule) for name, rule in kept.rules.items()) or set(kept.rules) - _RULES:
        yield f"{about.names.measurements} states other rules for rows than {about.names.details}."
    yield from _declared(kept, listed_in(release), about)
    found = pq.read_table(directory / about.names.measurements)
    if not found.equals(pq.read_table(pa.BufferReader(measurements_parquet(kept)))):
        yield f"{about.names.measurements} holds more than measurements."
    if _cannot_infer(about.statement) is not None:
        return
    if past.complete:
        yield from _values(release, reestimated(release.with_earlier(past.releases)))
    else:
        yield from past.values_alone(release)


def _values(release: Release, again: Release) -> Iterator[str]:
    """Compare values with those that the measurements give."""
    table, given = release.to_arrow(), again.to_arrow()
    if table.column_names != given.column_names:
        yield "The table has other columns than the measurements give."
        return
    compared, within = _sure_to_be_shown(again), tolerance(release.statement)
    for name in given.column_names:
        if name in _NOT_INFERRED or name in public_columns(release.statement):
            continue
        if name == "change":
            if changes_differ(table, given):
                yield "change is not what the measurements give."
            continue
        here, there = (each[name].to_numpy().astype(np.float64)[compared] for each in (table, given))
        if not np.allclose(here, there, rtol=0, atol=within, equal_nan=True):
            yield f"{name} is not what the measurements give, within {within:g}."
    said, found = (each.statement.leans_on for each in (release, again))
    if [effect.name for effect in said] != [effect.name for effect in found] or not np.allclose(
        [effect.explained for effect in said], [effect.explained for effect in found], rtol=0, atol=within
    ):
        yield "What is said about attributes is not what the measurements give."


def _sure_to_be_shown(release: Release) -> NDArray[np.bool_]:
    """The places whose standard error is not so close to the limit that another machine may round it across."""
    limit = release.statement.max_std_error
    errors = None if limit is None else estimated_again(release).std_error
    if limit is None or errors is None:
        return np.ones(len(release), dtype=bool)
    close: NDArray[np.bool_] = np.abs(errors - limit) <= tolerance(release.statement)
    return ~close


def _declared(kept: KeptMeasurements, locations: Locations | None, about: Described) -> Iterator[str]:
    """Compare queries and scales with those that the mechanism declares, where it is installed."""
    if not _installed(about.statement):
        return
    mechanism = mechanism_of(about.statement)
    if dict(mechanism.public_scales(locations)) != dict(kept.scales):
        yield f"{about.names.measurements} states other scales than those that are public."
    names = mechanism.query_names(locations)
    if names and set(names) != set(kept.measurements.values):
        yield f"{about.names.measurements} has other queries than {about.statement.mechanism} has."


def _installed(statement: Statement) -> bool:
    try:
        mechanism_of(statement)
    except ReleaseError:
        return False
    return True


def _cannot_infer(statement: Statement) -> str | None:
    """Why this software cannot compute the values again; None if it can."""
    try:
        known = mechanism_of(statement).inference
    except ReleaseError as error:
        return str(error)
    if known != statement.inference:
        return (
            f"The values were inferred by version {statement.inference} of the inference of {statement.mechanism}, and "
            f"this software has version {known}, so they were not computed again."
        )
    return None


def _outlines(found: pa.Table, about: Described) -> Iterator[str]:
    """Check that every place has an outline that can be read, and that the metadata describe them."""
    try:
        expected = outlines_metadata(found[GEOMETRY])
    except (KeyError, ReleaseError):
        yield f"The geometry in {about.names.parquet} is not an outline for each place."
        return
    if (found.schema.metadata or {}).get(b"geo") != expected:
        yield f"The 'geo' metadata of {about.names.parquet} does not describe its outlines."


def _geometry(found: pa.Table, about: Described) -> Iterator[str]:
    if "lat" not in found.column_names:
        if GEOMETRY in found.column_names:
            yield f"{about.names.parquet} has a geometry without coordinates."
        return
    if has_outlines(about.statement):
        yield from _outlines(found, about)
        return
    expected = points(found["lat"], found["lon"])
    if GEOMETRY not in found.column_names or not found[GEOMETRY].equals(pa.chunked_array([expected])):
        yield f"The geometry in {about.names.parquet} is not that of lat and lon."
    if (found.schema.metadata or {}).get(b"geo") != geo_metadata(found["lat"], found["lon"]):
        yield f"The 'geo' metadata of {about.names.parquet} does not describe its coordinates."


def _summary(metadata: dict[bytes, bytes], about: Described) -> Iterator[str]:
    """Compare what the Parquet file says about itself with the details."""
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


def _ledger(statement: Statement, ledger: Ledger) -> Iterator[str]:
    """Compare what the release says about its ledger with the ledger."""
    note, book = statement.ledger, ledger.read()
    if note is None:
        yield f"The release says that it was made without a ledger, so it is not in {ledger.path}."
        return
    paid = [spend for spend in book.spends if spend.id == note.spend_id]
    if not paid:
        yield (
            f"{ledger.path} has no spend {note.spend_id}. It is another ledger, or an older copy that lacks "
            "spends: do not publish with it."
        )
        return
    spend = paid[0]
    parts, stated = _parts_of(statement), statement.guarantee
    whole = (None if stated.epsilon is None else len(parts) * stated.epsilon, len(parts) * stated.delta)
    if (spend.epsilon, spend.delta) != whole:
        yield "The ledger has charged another ε or δ for this release than the release states."
    released = {record.release for record in book.releases if record.spend == spend.id}
    if released and released != {statement.release_id}:
        yield "The ledger says that this spend paid for another release."
    windows = [part.window for part in book.parts if part.spend == spend.id]
    if windows and not same_windows(windows, parts):
        yield "The ledger has charged this release for another window than the release is about."
    if book.unit != statement.guarantee.unit:
        yield "The ledger protects another unit than the release says."
    yield from _budget(note, ledger_note(book, spend.id))


def _parts_of(statement: Statement) -> tuple[Window | None, ...]:
    """What each part of the release reads, and is charged for."""
    windows = () if statement.windows is None else split(statement.window, statement.windows)
    return part_windows(statement.guarantee.unit, statement.window, windows)


def _budget(note: LedgerNote, due: LedgerNote) -> Iterator[str]:
    """Compare what the release says about sums with what the ledger had spent right after it."""

    def numbers_of(said: LedgerNote, *names: str) -> list[object]:
        values = [getattr(said, name) for name in names]
        return [each if each in (None, INFINITE) else amount(each, "amount") for each in values]

    fixed = ("total_epsilon", "total_delta", "rho", "person_epsilon", "person_delta", "person_rho")
    terms = ("population", "unit", "composition", "cell")
    if [getattr(note, name) for name in terms] != [getattr(due, name) for name in terms] or numbers_of(
        note, *fixed
    ) != numbers_of(due, *fixed):
        yield "The ledger is of another population or budget than the release says."
    sums = [f"{whose}spent_{what}" for whose in ("", "person_") for what in ("epsilon", "delta", "rho")]
    if numbers_of(note, *sums) != numbers_of(due, *sums):
        yield "The ledger had spent another sum after this release than the release says."


def _by_this_version(statement: Statement) -> bool:
    """Whether this software would use the very same words; other versions may have others."""
    return statement.software_version == __version__


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


def _ids(found: dict[str, str]) -> tuple[str | None, ...]:
    return tuple(found.get(key) for key in ("release_id", "mechanism", "estimand", "unit", "status"))


def _notes(directory: Path, about: Described) -> Iterator[str]:
    if not about.statement.private:
        yield "NOT PRIVATE: the release has no guarantee for the people in the data. Do not publish it."
    if about.names.measurements in about.hashes and (why := _cannot_infer(about.statement)) is not None:
        yield why
    if about.statement.ledger is None:
        yield "The release names no ledger: it was not counted against any budget."
    if about.statement.tuned_unaccounted:
        yield "Parameters were tuned on the data, unaccounted."
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
