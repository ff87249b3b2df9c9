"""The files of a release: how they are called, and how they are written, all together or not at all.

    staged = stage(release, target)      # whole and on disk, beside the target, readable by its owner only
    finish(staged, target)               # given its name, and readable by everybody

While staged, the directory is 0700 and its files 0600. `finish` makes them 0755 and 0644, except without a guarantee:
what is not private stays readable by its owner only. A staged directory gets its name only once it is whole, so one
that is found after a crash can be finished. What a crash leaves half-written ends in `.part` and is taken up only if
`when_whole` was called for it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from locentropy.core.errors import ReleaseError
from locentropy.core.files import HAS_OWNERS, made_folder, named_errors, sync_folder
from locentropy.core.levels import file_stem
from locentropy.core.strict_yaml import dump_document
from locentropy.release.details import TableShape, details
from locentropy.release.exports import EXCEL, check_also, exported
from locentropy.release.manifest import heading, manifest
from locentropy.release.measurements import measurements_parquet
from locentropy.release.tables import csv_of, parquet_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

    Content: TypeAlias = bytes | pa.Buffer

MARK: Final = "NOT-PRIVATE"
"""In the name of every file and directory of a release without a guarantee."""

_THREADS: Final = 3
"""As many tables as most releases have."""
_STAGED: Final = ".staged"
_PART: Final = ".part"


class Names(NamedTuple):
    """The files of a release, in the order in which they are written."""

    parquet: str
    csv: str
    report: str
    manifest: str
    details: str
    measurements: str
    """Not in every release: see `Release.measurements`."""
    geojson: str
    """The table once more, if it was asked for, as are the next two: see `exports.py`."""
    gpkg: str
    excel: str
    outline: str
    """The background of the page's map, if the owner gave one: see `core/background.py`."""
    package: str
    """For catalogues: see `data_package.py`. Releases of version 0.1 have none."""

    @property
    def optional(self) -> tuple[str, ...]:
        """Those that a release may lack; details.yaml names those that it has."""
        return (self.measurements, self.geojson, self.gpkg, self.excel, self.outline, self.package)


PRIVATE: Final = Names(
    "release.parquet",
    "release.csv",
    "report.html",
    "manifest.yaml",
    "details.yaml",
    "measurements.parquet",
    "release.geojson",
    "release.gpkg",
    "release-excel.csv",
    "outline.geojson",
    "datapackage.json",
)
MARKED: Final = Names(*(f"{Path(name).stem}.{MARK}{Path(name).suffix}" for name in PRIVATE))


def names_for(*, private: bool, label: str | None = None) -> Names:
    """The names of the files of a release with a guarantee, or without one; `label` is that of its window."""
    names = PRIVATE if private else MARKED
    if label is None:
        return names
    # By these a release is recognised, whatever its window.
    found_by = (names.manifest, names.details, names.package)
    return Names(*(name if name in found_by else _labelled(name, label) for name in names))


def _labelled(name: str, label: str) -> str:
    stem, rest = name.split(".", 1)
    return f"{stem}-{label}.{rest}"


def level_names(name: str, number: int, label: str | None = None) -> Names:
    """The names of the files of a further level, from 2: its own tables and measurements, and what all share."""
    stem = file_stem(name, number)
    own = {
        "parquet": f"{stem}.parquet",
        "csv": f"{stem}.csv",
        "measurements": f"{stem}.measurements.parquet",
        "geojson": f"{stem}.geojson",
        "gpkg": f"{stem}.gpkg",
        "excel": f"{stem}-excel.csv",
    }
    if label is not None:
        own = {kind: _labelled(each, label) for kind, each in own.items()}
    return names_for(private=True, label=label)._replace(**own)


def names_of(statement: Statement) -> Names:
    """The names of the files of a release, or of the level that a statement is about."""
    numbers = {part.name: number for number, part in enumerate(statement.levels, start=1)}
    number = 1 if statement.level is None else numbers[statement.level]
    if number == 1:
        return names_for(private=statement.private, label=statement.label)
    return level_names(str(statement.level), number, statement.label)


def marked_target(target: str | Path, *, private: bool) -> Path:
    """The directory of a release: as given, or with the mark added to its name."""
    path = Path(target)
    return path if private or MARK in path.name else path.with_name(f"{path.name}.{MARK}")


def save(release: Release, directory: str | Path, also: Sequence[str] = ()) -> Path:
    """Write all files of a release, or none, into a directory that does not exist or is empty.

    `also` names further formats of its table: see `exports.py`.
    """
    target = marked_target(directory, private=release.statement.private)
    with made_folder(target.parent):
        staged = stage(release, target, also)
        try:
            return finish(staged, target)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise


def staged_path(target: str | Path, release_id: str) -> Path:
    """Where a release is kept until it gets its name; a retry finds it there."""
    target = _absolute(target)
    return target.with_name(f".{target.name}.{release_id}{_STAGED}")


def part_path(target: str | Path, release_id: str) -> Path:
    """Where the files of a release are written before they are staged."""
    return staged_path(target, release_id).with_suffix(_PART)


def holds(target: str | Path, release_id: str) -> bool:
    """Whether a directory holds the release of this id already."""
    from locentropy.release.reading import release_id_in  # here, because it imports this module

    target = _absolute(target)
    there = any((target / names.details).is_file() for names in (PRIVATE, MARKED))
    return there and release_id_in(target) == release_id


def stage(
    release: Release,
    target: str | Path,
    also: Sequence[str] = (),
    *,
    when_whole: Callable[[], None] | None = None,
) -> Path:
    """Write all files beside the target, whole and on disk, readable by their owner alone.

    `when_whole` is called when they are, before they get a name to be found by; from then on they are kept.
    """
    target = _absolute(target)
    if not release.statement.private and MARK not in target.name:
        raise ReleaseError(f"{target} must have {MARK} in its name, because the release has no guarantee.")
    _refuse_occupied(target)
    staged = staged_path(target, release.statement.release_id)
    if os.path.lexists(staged):
        raise ReleaseError(f"{staged} is already there: finish that release rather than drawing another.")
    part = part_path(target, release.statement.release_id)
    kept = False
    try:
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part)  # of an earlier attempt at this very release, which did not get this far
        part.mkdir(mode=0o700)
        for name, content in contents(release, also):
            _write(part / name, content)
        sync_folder(part)
        sync_folder(part.parent)
        if when_whole is not None:
            kept = True  # before the call: it may have its effect and raise all the same
            when_whole()
        _name(part, staged)
    except BaseException:
        if kept:
            raise  # a retry will look for them
        # Renamed first: a directory with the name of a staged one must be whole, also while this one is removed.
        with suppress(OSError):
            staged.rename(part)
        shutil.rmtree(part, ignore_errors=True)
        raise
    return staged


def recover(target: str | Path, release_id: str) -> bool:
    """Stage files that are whole but were left in parts; return whether there were any."""
    part = part_path(target, release_id)
    if not part.is_dir() or part.is_symlink():
        return False
    _name(part, staged_path(target, release_id))
    return True


def _name(part: Path, staged: Path) -> None:
    part.rename(staged)
    sync_folder(staged.parent)


def finish(staged: Path, target: str | Path) -> Path:
    """Give a staged release its name. Calling it twice changes nothing."""
    target = _absolute(target)
    release_id = staged.name.removesuffix(_STAGED)[-32:]
    if staged_path(target, release_id) != _absolute(staged):
        raise ReleaseError(f"{staged} was not staged for {target}.")
    if not os.path.lexists(staged):
        _refuse_other(target, release_id)
    else:
        _refuse_occupied(target)
        if MARK not in target.name:
            for file in staged.iterdir():
                file.chmod(0o644)  # out of reach until the directory is opened below
        try:
            if not HAS_OWNERS and target.is_dir():
                target.rmdir()  # Windows puts nothing in the place of an empty directory
            staged.rename(target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):  # another process was faster
                _refuse_occupied(target)
            raise
    if MARK not in target.name:
        target.chmod(0o755)
    sync_folder(target.parent)
    return target


def contents(release: Release, also: Sequence[str] = ()) -> Iterator[tuple[str, Content]]:
    """Every file of a release by name; the last one holds the fingerprints of the others."""
    from locentropy.release.data_package import data_package  # here, because it imports this module

    statement, table = release.statement, release.to_arrow()
    names = names_of(statement)
    # Arrow writes tables, side by side, while Python draws the page.
    with ThreadPoolExecutor(_THREADS) as beside:
        levels = (release, *release.further)
        tables = {
            name: beside.submit(make) for level in levels for name, make in _tables(level, also).items()
        }
        files: dict[str, Content] = {
            names.report: _page(release),
            names.manifest: dump_document(manifest(statement), heading(statement)),
        }
        files |= {name: made.result() for name, made in tables.items()}
        if release.background is not None:
            files[names.outline] = release.background.to_geojson()
        hashes = dict(zip(files, beside.map(_fingerprint, files.values()), strict=True))
    if (release.background is None) != (statement.outline is None):
        raise ReleaseError("The statement speaks of an outline exactly if the release has one.")
    files[names.package] = data_package(release, hashes)
    hashes[names.package] = _fingerprint(files[names.package])
    every = (name for level in levels for name in names_of(level.statement))
    files = {name: files[name] for name in dict.fromkeys(every) if name in files}
    yield from files.items()
    further = [TableShape(each.statement, each.table.column_names, len(each)) for each in release.further]
    hashes = {name: hashes[name] for name in files}
    document = details(statement, table.column_names, len(release), hashes, further)
    yield names.details, dump_document(document, heading(statement))


def _fingerprint(content: Content) -> str:
    return hashlib.sha256(content).hexdigest()


def _tables(level: Release, also: Sequence[str]) -> dict[str, Callable[[], Content]]:
    """How to write the tables of a level: its values, in all formats, and its measurements."""
    statement, table = level.statement, level.to_arrow()
    names = names_of(statement)
    made: dict[str, Callable[[], Content]] = {
        names.parquet: lambda: parquet_of(table, statement, level.outlines),
        names.csv: lambda: csv_of(table),
    }
    if (measured := level.measurements) is not None:
        made[names.measurements] = lambda: measurements_parquet(measured)
    for form in check_also(also, coordinates="lat" in table.column_names):
        name = names.excel if form in EXCEL else getattr(names, form)
        made[name] = partial(exported, level, form)
    return made


def _write(path: Path, content: Content) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with named_errors(path), os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _absolute(path: str | Path) -> Path:
    """An absolute path without dots; links are not resolved."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # Path.absolute keeps the dots


def _refuse_occupied(target: Path) -> None:
    free = not os.path.lexists(target) or (
        target.is_dir() and not target.is_symlink() and not any(target.iterdir())
    )
    if not free:
        raise ReleaseError(
            f"{target} is already there and not an empty directory. A release never replaces another: choose a new "
            f"name, for example {target}-2"
        )


def _refuse_other(target: Path, release_id: str) -> None:
    """Nothing is staged: fine if the release has its name already."""
    from locentropy.release.reading import release_id_in  # here, because it imports this module

    if not any((target / names.details).is_file() for names in (PRIVATE, MARKED)):
        raise ReleaseError(f"No release {release_id} is staged for {target}, nor is it there.")
    if release_id_in(target) != release_id:
        raise ReleaseError(f"{target} holds another release than {release_id}.")


def _page(release: Release) -> bytes:
    from locentropy.release.report.page import drawn  # here, because it imports this module

    return drawn(release)
