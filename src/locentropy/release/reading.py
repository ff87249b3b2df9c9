"""Reading a release back from its directory; nothing in it is trusted before it was checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.strict_yaml import read_document
from locentropy.release.details import get, statement_in
from locentropy.release.files import MARKED, PRIVATE
from locentropy.release.measurements import read_measurements
from locentropy.release.tables import outlines_in, published, read_parquet

if TYPE_CHECKING:
    import pyarrow as pa

    from locentropy.release.files import Names
    from locentropy.release.measurements import KeptMeasurements
    from locentropy.release.statement import Statement

_CHUNK = 1 << 20
_MOST_PER_ROW, _MOST_BESIDES = 16, 100_000
"""Noisy integers in measurements: for each row of the table, and histograms of all."""


@dataclass(frozen=True, eq=False)
class Described:
    """What details.yaml says."""

    names: Names
    """How the files are called."""
    document: dict[str, Any]
    """The whole document."""
    statement: Statement
    """The statement in it."""
    hashes: dict[str, str]
    """The SHA-256 of the other files."""


@dataclass(frozen=True, eq=False)
class Found:
    """A table and its statement, not yet a release."""

    table: pa.Table
    statement: Statement
    measurements: KeptMeasurements | None
    outlines: pa.Array | None = None


def read(directory: str | Path) -> Found:
    """The table and the statement of a release."""
    directory = Path(directory)
    about = describe(directory)
    whole = read_parquet(_described_file(directory / about.names.parquet, about))
    table, outlines = published(whole), outlines_in(whole, about.statement)
    measurements = None
    if about.names.measurements in about.hashes:
        path = _described_file(directory / about.names.measurements, about)
        measurements = read_measurements(path, most_values=_MOST_PER_ROW * len(table) + _MOST_BESIDES)
    return Found(table, about.statement, measurements, outlines)


def _described_file(path: Path, about: Described) -> Path:
    """The path, if it is the very file that the details describe."""
    if sha256(regular(path)) != about.hashes.get(path.name):
        raise ReleaseError(
            f"{path} is not the file that {about.names.details} describes: its SHA-256 differs."
        )
    return path


def describe(directory: Path) -> Described:
    """What the details of a release say."""
    names = names_in(directory)
    path = regular(directory / names.details)
    document = read_document(path)
    try:
        statement = statement_in(document)
        files = get(document, "files", dict)
        optional = set(names.optional) - set(files)
        hashes = {name: get(files, name, str) for name in names if name not in {names.details, *optional}}
        if set(files) != set(hashes):
            raise ReleaseError("its entry 'files' names files that a release does not have")
    except LocentropyError as error:
        raise ReleaseError(f"{path}: {error}") from None
    if statement.private != (names is PRIVATE):
        raise ReleaseError(f"{path}: the names of the files do not fit its guarantee")
    return Described(names, document, statement, hashes)


def release_id_in(directory: Path) -> str:
    """The id of the release in a directory."""
    return describe(directory).statement.release_id


def names_in(directory: Path) -> Names:
    """How the files in a directory are called."""
    if not directory.is_dir():
        raise ReleaseError(
            f"{directory} is not a directory. Name that of a release, which holds manifest.yaml."
        )
    for names in (PRIVATE, MARKED):
        if (directory / names.details).exists():
            return names
    raise ReleaseError(f"{directory} holds no {PRIVATE.details}: it is not a release, or an incomplete one.")


def regular(path: Path) -> Path:
    """The path, if it is a plain file; a link could lead anywhere."""
    if path.is_symlink() or not path.is_file():
        raise ReleaseError(f"{path} is missing, or not a plain file.")
    return path


def sha256(path: Path) -> str:
    """The fingerprint of a published file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
