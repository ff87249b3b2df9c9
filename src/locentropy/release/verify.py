"""Whether a directory holds a release that is whole, agrees with itself and, if one is given, with a ledger.

This finds accidents and careless edits. Somebody who changes every file consistently is found only by comparing with
the ledger, or with the SHA-256 of details.yaml, if the owner published that elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.release import agreement, geo
from locentropy.release.columns import MOST_NATS, check_table
from locentropy.release.details import get
from locentropy.release.names import MARK, MARKED
from locentropy.release.reading import describe, names_in, regular, sha256
from locentropy.release.tables import published, read_csv, read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locentropy.privacy.ledger import Ledger
    from locentropy.release.reading import Described

_FORMULA = r"^[=+\-@\t\r]"
"""How texts begin that a spreadsheet takes for a formula."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    """What."""
    problems: tuple[str, ...]
    """What is wrong with it; nothing if it is as it should be."""


@dataclass(frozen=True)
class Report:
    """What was found."""

    directory: Path
    """Where."""
    release_id: str | None
    """Of which release, if that can be told."""
    promise: str | None
    """Its guarantee in words."""
    fingerprint: str | None
    """The SHA-256 of details.yaml, which vouches for the other files; compare it with what the owner published."""
    checks: tuple[Check, ...]
    """What was looked at."""
    notes: tuple[str, ...] = ()
    """What is worth knowing, and not wrong."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not any(check.problems for check in self.checks)


def verify(directory: str | Path, ledger: Ledger | None = None) -> Report:
    """Look at everything that can be looked at; problems are collected, not raised."""
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
        _check("details", lambda: agreement.with_itself(directory, about)),
        _check("manifest", lambda: agreement.with_manifest(directory, about)),
        _check("table", lambda: _table(directory, about)),
    ]
    if ledger is not None:
        checks.append(_check("ledger", lambda: agreement.with_ledger(statement, ledger)))
    return Report(
        directory,
        statement.release_id,
        str(statement.guarantee),
        sha256(directory / about.names.details),
        tuple(checks),
        tuple(_notes(directory, about)),
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
    if names is MARKED and MARK not in directory.resolve().name:
        yield f"{directory} must have {MARK} in its name, because nothing is promised."
    for name in names:
        try:
            regular(directory / name)
        except ReleaseError as error:
            yield str(error)
    for path in sorted(directory.iterdir()):
        if path.name not in names:
            yield f"{path} does not belong to the release. Nobody has checked what it gives away."


def _fingerprints(directory: Path, about: Described) -> Iterator[str]:
    for name, known in about.hashes.items():
        if (directory / name).is_file() and sha256(regular(directory / name)) != known:
            yield f"{directory / name} was changed: its SHA-256 is not the one in {about.names.details}."


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
    yield from agreement.with_summary(found.schema.metadata or {}, about)
    entropy = table["entropy"].to_numpy() * (np.log(2.0) if about.statement.unit == "bits" else 1.0)
    visitors = np.exp(np.minimum(entropy, MOST_NATS))
    if not np.allclose(visitors, table["effective_visitors"].to_numpy(), rtol=1e-9, atol=0, equal_nan=True):
        yield "effective_visitors is not e to the power of the entropy."
    if not read_csv(regular(directory / about.names.csv), table.schema).equals(table):
        yield f"{about.names.csv} and {about.names.parquet} hold different tables."


def _geometry(found: pa.Table, about: Described) -> Iterator[str]:
    if "lat" not in found.column_names:
        if geo.GEOMETRY in found.column_names:
            yield f"{about.names.parquet} has a geometry without coordinates."
        return
    expected = geo.points(found["lat"], found["lon"])
    if geo.GEOMETRY not in found.column_names or not found[geo.GEOMETRY].equals(pa.chunked_array([expected])):
        yield f"The geometry in {about.names.parquet} is not that of lat and lon."
    if (found.schema.metadata or {}).get(b"geo") != geo.metadata(found["lat"], found["lon"]):
        yield f"The 'geo' metadata of {about.names.parquet} does not describe its coordinates."


def _notes(directory: Path, about: Described) -> Iterator[str]:
    if not about.statement.private:
        yield "NOT PRIVATE: nothing is promised to the people in the data. Do not publish it."
    if about.statement.ledger is None:
        yield "The release names no ledger: nobody keeps count of what these people have been charged."
    if about.statement.tuned_unaccounted:
        yield "Parameters were tuned on the data, unaccounted."
    try:
        table = published(read_parquet(regular(directory / about.names.parquet)))
        texts: list[Any] = [table[name] for name in ("location", "name") if name in table.column_names]
        texts = [column for column in texts if pa.types.is_string(column.type)]
        if any(pc.any(pc.match_substring_regex(column, _FORMULA), min_count=0).as_py() for column in texts):
            yield (
                f"Some texts in {about.names.csv} begin like formulas (= + - @). Spreadsheets may run them: import the "
                "columns as text."
            )
    except LocentropyError:
        return  # told by the checks
