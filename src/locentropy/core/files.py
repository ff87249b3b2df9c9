"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk; until then a power cut may forget a file that was just made or renamed."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_writable(target: Path) -> None:
    """Refuse now a file or folder that could not be written in the end: where it is to be must exist and be ours."""
    if not target.parent.is_dir():
        raise ParameterError(f"{target}: the folder {target.parent} does not exist. Make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ParameterError(
            f"{target}: nothing may be written to the folder {target.parent}. Choose another."
        )


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error of the system say what it is about: of a full disk it says no name by itself."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make the folder and the ones above it; on any failure take away again those that were missing."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in missing:
            with suppress(OSError):  # someone else has put something there meanwhile
                path.rmdir()
        raise


@contextmanager
def atomic_write(*targets: Path) -> Iterator[list[Path]]:
    """Yield a temporary path for each target, all of one disk; at the end give all of them their names, or none.

    Any failure, KeyboardInterrupt included, removes the temporary files and leaves the targets as they
    were. They are in a folder beside the targets that only its owner can enter and nobody can guess: where others may
    write too, a file that somebody has put in the place of a temporary one would be theirs to read.
    """
    beside, first = targets[0].parent, targets[0].name
    folder = Path(tempfile.mkdtemp(prefix=f".{first}.", suffix=".part", dir=beside))
    parts = [folder / f"{number}-new-{target.name}" for number, target in enumerate(targets)]
    olds = [folder / f"{number}-old-{target.name}" for number, target in enumerate(targets)]
    try:
        with naming(beside):
            yield parts
        try:
            for part, old, target in zip(parts, olds, targets, strict=True):
                # Once the last file has its name nothing is taken back, so it needs no way back.
                if target is not targets[-1] and target.exists():
                    target.rename(old)
                part.replace(target)
        except BaseException:
            if parts[-1].exists():
                _put_back(parts, olds, targets)
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_back(parts: list[Path], olds: list[Path], targets: tuple[Path, ...]) -> None:
    for part, old, target in zip(parts, olds, targets, strict=True):
        if old.exists():
            old.replace(target)
        elif not part.exists():
            target.unlink()
