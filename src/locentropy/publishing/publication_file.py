"""Claims on disk: one process at a time, and a memory across crashes.

    .city.publishing      beside the directory `city`, owner only: the ids of the spend and of the release, the order

The file is on disk before the budget is spent and goes away when the release has its name. A retry of the same order
finds it and goes on from there. Where nothing was begun, it goes away with the attempt, or the next one takes it over.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ReleaseError
from locentropy.core.files import sync_folder
from locentropy.ledger.ledger import new_id
from locentropy.publishing.publication import Publication

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locentropy.ledger.ledger import Ledger

Short = dict[str, str]
"""An order in short: what makes it this one and no other."""

NO_LEDGER: Final = "none"

UNFINISHED: Final = (
    "The attempt has begun and is not finished. Repeat the same call: what was spent for it is not spent again, and "
    "what was drawn is not drawn again."
)

_LARGEST: Final = 1 << 20
_DRAWN: Final = b"drawn"
"""A further line, once all numbers are on disk."""


@contextmanager
def claimed(target: Path, order: Short, ledger: Ledger | None) -> Iterator[Publication]:
    """Hold the claim on a directory: a new one, or that of an attempt at the same order that did not finish."""
    path = _path(target)
    handle = _locked(path, target)
    try:
        claim = _resume_or_create(handle, path, target, order, ledger)
        try:
            yield claim
        except BaseException as error:
            if claim.begun:
                error.add_note(UNFINISHED)
            raise
        finally:
            if not claim.begun:
                path.unlink()
    finally:
        os.close(handle)


def unfinished(target: Path, order: Short, ledger: Ledger | None) -> Publication | None:
    """The claim of an attempt at this order that has begun and did not finish; refuses one at another order."""
    path = _path(target)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return _earlier(handle, path, target, order, ledger)
    finally:
        os.close(handle)


def _path(target: Path) -> Path:
    return target.with_name(f".{target.name}.publishing")


def _locked(path: Path, target: Path) -> int:
    """The file, open and locked until it is closed or the process ends, however it ends."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise _unwritable(target, error) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if isinstance(error, BlockingIOError):
                told = f"Another process is publishing to {target} right now. Wait for it to end."
            else:
                told = f"{path} cannot be locked ({error.strerror}). Publish to a local disk."
            raise ReleaseError(told) from None
        if _has_name(handle, path):
            return handle
        # Whoever held it has finished and removed it between our opening and our locking: the lock is on nothing.
        os.close(handle)


def _has_name(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _resume_or_create(
    handle: int, path: Path, target: Path, order: Short, ledger: Ledger | None
) -> Publication:
    remember_drawn = partial(_append, handle, _DRAWN)
    earlier = _earlier(handle, path, target, order, ledger)
    if earlier is not None:
        earlier.remember_drawn = remember_drawn
        return earlier
    claim = Publication(target, new_id(), new_id(), remember_drawn=remember_drawn)
    try:
        _write(handle, path, {"spend": claim.spend_id, "release": claim.release_id, "order": order})
    except OSError as error:
        path.unlink()  # whatever is in it, nothing was begun under it
        raise _unwritable(target, error) from None
    return claim


def _earlier(
    handle: int, path: Path, target: Path, order: Short, ledger: Ledger | None
) -> Publication | None:
    memory = _read(handle, path)
    if memory is None:
        return None
    claim = Publication(target, memory["release"], memory["spend"], drawn=memory["drawn"])
    # Whether another ledger than this one was charged, nobody can tell here.
    elsewhere = memory["order"].get("ledger") not in (NO_LEDGER, order["ledger"])
    claim.begun = elsewhere or claim.drawn or claim.was_begun(ledger)
    if claim.begun and memory["order"] != order:
        raise ReleaseError(_other_order(path, target, memory["order"], order))
    return claim if claim.begun else None


def _read(handle: int, path: Path) -> dict[str, Any] | None:
    first, _, rest = os.pread(handle, _LARGEST, 0).partition(b"\n")
    try:
        memory = json.loads(first)
    except ValueError:
        return None  # new, or cut off while it was written: the spend comes after it is on disk, so none was made
    except RecursionError:
        memory = None  # lists in lists without end
    if (
        not isinstance(memory, dict)
        or not isinstance(memory.get("order"), dict)
        or not all(re.fullmatch("[0-9a-f]{32}", str(memory.get(name))) for name in ("spend", "release"))
    ):
        raise ReleaseError(f"{path} is not what an interrupted attempt leaves. Choose another directory.")
    return {**memory, "drawn": _DRAWN in rest.split(b"\n")}


def _write(handle: int, path: Path, memory: dict[str, Any]) -> None:
    content = json.dumps(memory).encode()
    os.ftruncate(handle, 0)
    if os.pwrite(handle, content, 0) != len(content):
        # A disk that fills up in the middle: half of it would be taken for nothing, and spent for again.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)
    sync_folder(path.parent)


def _append(handle: int, line: bytes) -> None:
    """Add a line: what is there already is never written anew, so no crash can take it away."""
    content = b"\n" + line
    if os.pwrite(handle, content, os.fstat(handle).st_size) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


def _unwritable(target: Path, error: OSError) -> ReleaseError:
    return ReleaseError(
        f"{target}: nothing can be written beside it ({error.strerror}). Name a directory in a folder that exists, "
        "that you may write to, and that has room."
    )


def _other_order(path: Path, target: Path, earlier: Short, order: Short) -> str:
    other = [name for name in order if earlier.get(name) != order[name]]
    return (
        f"{target}: an earlier attempt to publish something else there has begun and did not finish; it differs in "
        f"{', '.join(other) or 'what it was told'}. Repeat that one as it was, or choose another directory. To give it "
        f"up, remove {path} and what begins with {path.with_suffix('').name}. beside it; what it spent stays spent."
    )
