"""Reading a release back from its directory; nothing in it is trusted before it was checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locentropy.core.background import MOST_BYTES, Background
from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.strict_yaml import read_document
from locentropy.core.window_split import split
from locentropy.release.details import FURTHER, get, level_documents, statement_in
from locentropy.release.files import MARKED, PRIVATE, level_names, names_for, names_of
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
    further: tuple[Described, ...] = ()
    """The same about each further level, with its own tables and measurements."""

    @property
    def levels(self) -> tuple[Described, ...]:
        """All levels, the main one first; a release without levels is one."""
        return (self, *self.further)


@dataclass(frozen=True, eq=False)
class Found:
    """A table and its statement, not yet a release."""

    table: pa.Table
    statement: Statement
    measurements: KeptMeasurements | None
    outlines: pa.Array | None = None


def read(directory: str | Path) -> tuple[list[Found], Background | None]:
    """The table and the statement of a release, of each level if it has several; and the background of its map."""
    directory = Path(directory)
    about = describe(directory)
    return [_read_level(directory, level) for level in about.levels], _read_background(directory, about)


def _read_level(directory: Path, about: Described) -> Found:
    whole = read_parquet(_described_file(directory / about.names.parquet, about))
    table, outlines = published(whole), outlines_in(whole, about.statement)
    measurements = None
    if about.names.measurements in about.hashes:
        path = _described_file(directory / about.names.measurements, about)
        parts = (
            1
            if about.statement.windows is None
            else len(split(about.statement.window, about.statement.windows))
        )
        most = _MOST_PER_ROW * len(table) + _MOST_BESIDES * parts
        measurements = read_measurements(path, most_values=most)
    return Found(table, about.statement, measurements, outlines)


def _read_background(directory: Path, about: Described) -> Background | None:
    """The background of the page's map, where the statement says that there is one."""
    if about.statement.outline is None:
        return None
    path = _described_file(directory / about.names.outline, about)
    if path.stat().st_size > MOST_BYTES:
        raise ReleaseError(f"{path} is larger than an outline can be.")
    return Background.from_geojson(path.read_bytes())


def _described_file(path: Path, about: Described) -> Path:
    """The path, if it is the very file that the details describe."""
    if sha256(regular(path)) != about.hashes.get(path.name):
        raise ReleaseError(
            f"{path} is not the file that {about.names.details} describes: its SHA-256 differs."
        )
    return path


def describe(directory: Path) -> Described:
    """What the details of a release say."""
    found = names_in(directory)
    path = regular(directory / found.details)
    document = read_document(path)
    try:
        statement = statement_in(document)
        names = names_of(statement)
        if names.details != found.details:
            raise ReleaseError("the names of the files do not fit its guarantee")
        files = get(document, "files", dict)
        levels = level_documents(document)
        label = statement.label
        further = tuple(
            Described(level_names(get(level, "level", str), number, label), level, statement_in(level), files)
            for number, level in enumerate(levels, start=2)
        )
        sets = (names, *(level.names for level in further))
        every = dict.fromkeys(name for each in sets for name in each)
        optional = {name for each in sets for name in each.optional} - set(files)
        hashes = {name: get(files, name, str) for name in every if name not in {names.details, *optional}}
        if set(files) != set(hashes):
            raise ReleaseError("its entry 'files' names files that a release does not have")
        if (names.outline in files) != (statement.outline is not None):
            raise ReleaseError("its entry 'outline' must be there exactly if there is such a file")
        stated = [part.name for part in statement.levels]
        if stated != [each.level for each in (statement, *(level.statement for level in further)) if stated]:
            raise ReleaseError(f"its entry '{FURTHER}' is about other levels than its entry 'levels'")
    except LocentropyError as error:
        raise ReleaseError(f"{path}: {error}") from None
    return Described(names, document, statement, hashes, further)


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
            return names_for(private=names is PRIVATE, label=_label_in(directory, names))
    raise ReleaseError(f"{directory} holds no {PRIVATE.details}: it is not a release, or an incomplete one.")


def _label_in(directory: Path, names: Names) -> str | None:
    """The label of the window in the names of the files, if they have one."""
    stem, ending = names.parquet.split(".", 1)
    if (directory / names.parquet).exists():
        return None
    labelled = sorted(path.name for path in directory.glob(f"{stem}-*.{ending}"))
    return labelled[0].removeprefix(f"{stem}-").removesuffix(f".{ending}") if labelled else None


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
