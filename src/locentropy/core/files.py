"""Writing files so that they appear complete or not at all, and files that only their owner may see.

Windows has no modes and no owners that Python could check, and neither renames nor removes what is open. There, who may
enter a folder decides who may read what is in it: that of the user's own folders is for the user alone.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError, ReleaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

HAS_OWNERS: Final = hasattr(os, "geteuid")
"""Whether files have owners and modes, and open ones can be removed: everywhere but on Windows."""

PLAIN_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""For `os.open`: no link is followed, no pipe is waited for, no line end is changed, where there is a flag for it."""

_LOCKED_BYTE: Final = 1 << 30
"""What is locked on Windows cannot be read through another handle, so it is a byte beyond any content."""


def sync_folder(folder: Path) -> None:
    """Flush a folder to disk: until then a power cut may lose a file that was just created or renamed.

    Windows has no such call.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_writable(target: Path) -> None:
    """Raise ParameterError early if a file or folder could not be written: its folder must exist and be writable."""
    if not target.parent.is_dir():
        raise ParameterError(f"{target}: the folder {target.parent} does not exist. Create it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ParameterError(
            f"{target}: no permission to write to the folder {target.parent}. Choose another."
        )


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Add a file name to an OSError that has none, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; if the block fails, remove those that were created."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in missing:
            with suppress(OSError):  # somebody else has put a file there meanwhile
                path.rmdir()
        raise


@contextmanager
def atomic_write(*targets: Path) -> Iterator[list[Path]]:
    """Yield a temporary path for each target, on the same disk; at the end rename all of them, or none.

    Any failure, including KeyboardInterrupt, removes the temporary files and leaves the targets as they were. The
    temporary files are in a new folder beside the targets that only its owner can enter: in a shared folder, others
    could otherwise put their own file in the place of a temporary one, and read what is written to it.
    """
    beside, first = targets[0].parent, targets[0].name
    folder = Path(tempfile.mkdtemp(prefix=f".{first}.", suffix=".part", dir=beside))
    parts = [folder / f"{number}-new-{target.name}" for number, target in enumerate(targets)]
    olds = [folder / f"{number}-old-{target.name}" for number, target in enumerate(targets)]
    try:
        with named_errors(beside):
            yield parts
        try:
            for part, old, target in zip(parts, olds, targets, strict=True):
                # After the last rename nothing is undone, so the last target needs no backup.
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


def lock_file(handle: int) -> None:
    """Lock a file until it is closed, or the process ends, however it ends; BlockingIOError if another has it."""
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(handle)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(handle: int) -> None:
    msvcrt: Any = import_module("msvcrt")
    os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except PermissionError as error:
        raise BlockingIOError(error.errno, error.strerror) from None


def read_at(handle: int, size: int, at: int) -> bytes:
    """Read from an open file, from a byte on."""
    if hasattr(os, "pread"):
        return os.pread(handle, size, at)
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, size)


def write_at(handle: int, content: bytes, at: int) -> int:
    """Write to an open file, from a byte on; return how many bytes were written."""
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, content, at)
    os.lseek(handle, at, os.SEEK_SET)
    return os.write(handle, content)


def open_own_file(path: Path, *, create: bool) -> int:
    """Open a file for reading and writing that only this user can read or write, and return its descriptor.

    What is opened is checked, not what has the name: somebody else may have put a file, or a link, there beforehand,
    and would then read what is written, or decide what is read. Raises ReleaseError for such a file.
    """
    flags = os.O_RDWR | PLAIN_FLAGS | (os.O_CREAT if create else 0)
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise ReleaseError(_foreign(path, "it is not a plain file")) from None
        raise
    status = os.fstat(handle)
    problem = None
    if not stat.S_ISREG(status.st_mode):
        problem = "it is not a plain file"
    elif HAS_OWNERS and status.st_uid != os.geteuid():
        problem = "it belongs to another user"
    elif HAS_OWNERS and status.st_mode & 0o077:
        problem = "other users may read or write it"
    elif status.st_nlink > 1:
        problem = "it has a second name"
    if problem is not None:
        os.close(handle)
        raise ReleaseError(_foreign(path, problem))
    return handle


def _foreign(path: Path, problem: str) -> str:
    return (
        f"{path} is not used, because {problem}. What is there holds what only its owner may see or decide. If it is "
        "your own, of an interrupted attempt, and a restore has changed its mode: chmod go-rwx. Otherwise find out who "
        "made it; or choose another directory."
    )


def own_folder(path: Path) -> None:
    """Create a folder that only this user can enter, or check that it is one; raises ReleaseError for any other."""
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    status = path.lstat()
    shared = HAS_OWNERS and (status.st_uid != os.geteuid() or status.st_mode & 0o077)
    if not stat.S_ISDIR(status.st_mode) or shared:
        raise ReleaseError(_foreign(path, "it is not a folder that only you can enter"))
