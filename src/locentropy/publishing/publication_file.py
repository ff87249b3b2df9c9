"""Publications on disk: one process at a time, and a memory across crashes.

    .city.publishing      beside the directory `city`, for its owner only: the id of the spend, the identity of the
                          request (under the key `order`, as the first version called it), what its ledger is charged
                          for it (rebuilding.py), and, once all noise is drawn, the id of the release, which belongs
                          to the draw

The file is on disk before the budget is spent and is removed when the release has its name. A retry of the same request
finds it and continues from there. Where nothing was begun, it is removed with the attempt, or replaced by the next one.
"""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.files import HAS_OWNERS, lock_file, open_own_file, read_at, sync_folder, write_at
from locentropy.ledger.entries import new_id
from locentropy.publishing.publication import Publication
from locentropy.release.files import marked_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from locentropy.ledger.ledger import Ledger
    from locentropy.publishing.request import Request

Identity = dict[str, str]
"""What makes a request this one and no other. It is written to disk: keys and texts must stay as they are."""

NO_LEDGER_ID: Final = "none"
"""What stands in an identity in the place of the ledger's id, where there is no ledger."""

UNFINISHED: Final = (
    "The attempt has begun and is not finished. Repeat the same call: what was spent for it is not spent again, and "
    "what was drawn is not drawn again."
)

CHARGE: Final = "charge"
"""Under which the record says what the ledger is charged; attempts of earlier versions do not say it."""

_SHOWN: Final = {"unit": "entropy_unit"}
"""Keys of an identity that are called otherwise in the interface."""

_LARGEST: Final = 1 << 20
_DRAWN: Final = b"drawn"
"""Begins a further line, once all numbers are on disk; the id of the release follows."""


@contextmanager
def locked_publication(
    target: Path,
    identity: Identity,
    ledger: Ledger | None,
    charge: Callable[[], Mapping[str, Any]] | None = None,
) -> Iterator[Publication]:
    """Lock the publication into a directory: a new one, or that of an unfinished attempt at the same request.

    `charge` says what the ledger is to be charged, which the record of a new one holds.
    """
    path = _path(target)
    handle = _locked(path, target)
    publication = None
    try:
        publication = _resume_or_create(handle, path, target, identity, ledger, charge)
        try:
            yield publication
        except BaseException as error:
            if publication.begun:
                error.add_note(UNFINISHED)
            raise
    finally:
        if publication is None or publication.begun:
            os.close(handle)
        else:
            _close_and_remove(handle, path)


def record_in(path: Path) -> dict[str, Any] | None:
    """What the record of an attempt says, if it says anything; raises for one that is at work."""
    try:
        handle = open_own_file(path, create=False)
    except OSError as error:
        raise ReleaseError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        lock_file(handle)
        return _read(handle, path)
    except BlockingIOError:
        raise ReleaseError(f"Another process is publishing with {path} now. Wait for it to end.") from None
    finally:
        os.close(handle)


def unfinished(target: Path, identity: Identity, ledger: Ledger | None) -> Publication | None:
    """The publication of an unfinished attempt at this request, if there is one; raises for one at another request."""
    path = _path(target)
    try:
        handle = open_own_file(path, create=False)
    except OSError:
        return None
    try:
        return _earlier(handle, path, target, identity, ledger)
    finally:
        os.close(handle)


def taken_up(request: Request, out: str | Path, ledger: Ledger | None) -> Request:
    """The request as an unfinished attempt at it has it, if that is of a version that published all columns of a list.

    Nothing but an attempt that has begun is taken up, so that nothing is begun with columns that nobody named.
    """
    target = target_of(request, out)
    earlier = _earlier_identity(target)
    begun = None if earlier is None else request.as_begun(earlier, ledger)
    if begun is None or unfinished(target, begun.identity(ledger), ledger) is None:
        return request
    return begun


def target_of(request: Request, out: str | Path) -> Path:
    """The directory of the release, without dots, and marked if there is no guarantee."""
    named = Path(os.path.abspath(out))  # noqa: PTH100
    if not named.name:
        raise ReleaseError(f"{out} is no directory of its own. For example: out='may'")
    return marked_target(named, private=request.guarantee.private)


def _earlier_identity(target: Path) -> Identity | None:
    """The identity of an earlier attempt at publishing into a directory, begun or not; None if there was none."""
    path = _path(target)
    try:
        handle = open_own_file(path, create=False)
    except OSError:
        return None
    try:
        memory = _read(handle, path)
        return None if memory is None else memory["order"]
    finally:
        os.close(handle)


def _path(target: Path) -> Path:
    return target.with_name(f".{target.name}.publishing")


def _locked(path: Path, target: Path) -> int:
    """Open and lock the file, until it is closed or the process ends, however it ends."""
    while True:
        try:
            handle = open_own_file(path, create=True)
        except OSError as error:
            raise _unwritable(target, error) from None
        try:
            lock_file(handle)
        except OSError as error:
            os.close(handle)
            if isinstance(error, BlockingIOError):
                told = f"Another process is publishing to {target} right now. Wait for it to end."
            else:
                told = f"{path} cannot be locked ({error.strerror}). Publish to a local disk."
            raise ReleaseError(told) from None
        if _has_name(handle, path):
            return handle
        # The holder has finished and removed the file between our opening and our locking: try again with a new one.
        os.close(handle)


def _close_and_remove(handle: int, path: Path) -> None:
    """Remove the file while it is locked, so that nobody takes up what is done.

    Windows removes no open file: there it is emptied first, and is that of no attempt for whoever opens it in between.
    """
    try:
        if HAS_OWNERS:
            path.unlink()
        else:
            os.ftruncate(handle, 0)
    finally:
        os.close(handle)
    if not HAS_OWNERS:
        with suppress(OSError):  # somebody else has it by now
            path.unlink()


def _has_name(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _resume_or_create(
    handle: int,
    path: Path,
    target: Path,
    identity: Identity,
    ledger: Ledger | None,
    charge: Callable[[], Mapping[str, Any]] | None,
) -> Publication:
    def remember_drawn(release_id: str) -> None:
        _append(handle, _DRAWN + b" " + release_id.encode())

    earlier = _earlier(handle, path, target, identity, ledger)
    if earlier is not None:
        earlier.remember_drawn = remember_drawn
        return earlier
    publication = Publication(target, new_id(), remember_drawn=remember_drawn)
    try:
        charged = {} if charge is None else {CHARGE: dict(charge())}
        _write(handle, path, {"spend": publication.spend_id, "order": identity, **charged})
    except (OSError, LocentropyError) as error:
        if HAS_OWNERS:  # else it stays, cut off, as that of no attempt
            path.unlink()  # whatever is in it, nothing was begun
        if isinstance(error, OSError):
            raise _unwritable(target, error) from None
        raise
    return publication


def _earlier(
    handle: int, path: Path, target: Path, identity: Identity, ledger: Ledger | None
) -> Publication | None:
    memory = _read(handle, path)
    if memory is None:
        return None
    # Version 0.1 made an id with the publication. It belongs to a draw only if there was one.
    release_id = memory["release"] if memory["drawn"] or _was_staged(target, memory["release"]) else None
    publication = Publication(target, memory["spend"], release_id, drawn=memory["drawn"])
    # Whether another ledger than this one was charged cannot be told here.
    elsewhere = memory["order"].get("ledger") not in (NO_LEDGER_ID, identity["ledger"])
    publication.begun = elsewhere or publication.drawn or publication.was_begun(ledger)
    if publication.begun and memory["order"] != identity:
        raise ReleaseError(_other_request(path, target, memory["order"], identity))
    return publication if publication.begun else None


def _read(handle: int, path: Path) -> dict[str, Any] | None:
    first, _, rest = read_at(handle, _LARGEST, 0).partition(b"\n")
    try:
        memory = json.loads(first)
    except ValueError:
        return None  # new, or cut off while it was written: the spend comes after it is on disk, so none was made
    except RecursionError:
        memory = None  # nested too deep
    if (
        not isinstance(memory, dict)
        or not isinstance(memory.get("order"), dict)
        or not _is_id(memory.get("spend"))
        or not (memory.get("release") is None or _is_id(memory["release"]))
    ):
        raise ReleaseError(
            f"{path} is not a file that an interrupted attempt leaves. Choose another directory."
        )
    marks = [line.split(b" ") for line in rest.split(b"\n") if line.split(b" ")[0] == _DRAWN]
    # Version 0.1 made the id with the publication, and wrote nothing behind the mark.
    named = [mark[1].decode(errors="replace") for mark in marks if len(mark) > 1]
    release_id = next((each for each in named if _is_id(each)), memory.get("release"))
    return {**memory, "drawn": bool(marks), "release": release_id}


def _was_staged(target: Path, release_id: str | None) -> bool:
    return release_id is not None and Publication(target, "", release_id).is_staged


def _is_id(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def _write(handle: int, path: Path, memory: dict[str, Any]) -> None:
    content = json.dumps(memory).encode()
    os.ftruncate(handle, 0)
    if write_at(handle, content, 0) != len(content):
        # The disk filled up: half a file would be taken for no attempt, and the next one would spend again.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)
    sync_folder(path.parent)


def _append(handle: int, line: bytes) -> None:
    """Add a line: what is there already is not rewritten, so no crash can destroy it."""
    content = b"\n" + line
    if write_at(handle, content, os.fstat(handle).st_size) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


def _unwritable(target: Path, error: OSError) -> ReleaseError:
    return ReleaseError(
        f"{target}: nothing can be written beside it ({error.strerror}). Name a directory in a folder that exists, "
        "that you may write to, and that has room."
    )


def _other_request(path: Path, target: Path, earlier: Identity, identity: Identity) -> str:
    other = [_SHOWN.get(name, name) for name in earlier | identity if earlier.get(name) != identity.get(name)]
    return (
        f"{target}: an earlier attempt to publish something else there has begun and did not finish; it differs in "
        f"{', '.join(other) or 'what it was given'}. Repeat that one as it was, or choose another directory. To give "
        f"it up, remove {path} and what begins with {path.with_suffix('').name}. beside it; what it spent stays spent."
    )
