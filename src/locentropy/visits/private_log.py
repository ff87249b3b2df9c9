"""The operator's private log: which rows were dropped, and how many. Never part of a release.

Nothing is written unless a handler is added (`locentropy … --private-log FILE` adds one). Records do not propagate to
the root logger, where an application might publish them.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from locentropy.core.errors import LocentropyError
from locentropy.core.files import HAS_OWNERS, PLAIN_FLAGS

if TYPE_CHECKING:
    from collections.abc import Iterator

PRIVATE_LOG = logging.getLogger("locentropy.private")
PRIVATE_LOG.addHandler(logging.NullHandler())
PRIVATE_LOG.propagate = False
PRIVATE_LOG.setLevel(logging.INFO)


class Dropped(NamedTuple):
    """Rows that are left out for one reason. A row may have several."""

    rows: int
    why: str
    role: str | None
    """What the column is for that decides it; None if the row could not be read at all."""
    advice: str = ""
    """What to do where these are many; begins with a blank."""


_COLLECTED: Final[ContextVar[list[Dropped] | None]] = ContextVar("collected", default=None)


def log_dropped(label: str, dropped: Dropped) -> None:
    """Tell how many rows of a table are left out, and why."""
    PRIVATE_LOG.info("%s: %s: %d", label, dropped.why, dropped.rows)
    collected = _COLLECTED.get()
    if collected is not None:
        collected.append(dropped)


@contextmanager
def dropped_rows() -> Iterator[list[Dropped]]:
    """Collect what is told of rows that are left out within the block: for the owner, as the log is."""
    found: list[Dropped] = []
    before = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(before)


class _PrivateHandler(logging.StreamHandler[IO[str]]):
    """Raises if a record cannot be written; the standard handler would print the record itself."""

    def __init__(self, path: Path, handle: int) -> None:
        # The very file that was checked, not whatever has its name by now.
        super().__init__(os.fdopen(handle, "a", encoding="utf-8"))
        self._path = path

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is logging's
        raise _unwritable(self._path, sys.exc_info()[1]) from None

    def close(self) -> None:
        """Close the file too."""
        with suppress(OSError):
            self.stream.close()
        super().close()


def _unwritable(path: object, error: BaseException | None) -> LocentropyError:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return LocentropyError(
        f"{path}: the private log cannot be written ({reason}). Free some space, or name another file: "
        "--private-log FILE"
    )


def write_private_log(path: str | Path) -> None:
    """Append private records to a file that only its owner may read.

    Raises LocentropyError for a link, and for a file of another user or with a second name: others could read it.
    """
    target = Path(path)
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | PLAIN_FLAGS
    try:
        handle = os.open(target, flags, 0o600)
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode):
            if (HAS_OWNERS and status.st_uid != os.geteuid()) or status.st_nlink > 1:
                os.close(handle)
                raise LocentropyError(
                    f"{target}: the private log is not written there, because the file belongs to another user or has "
                    "a second name, so others could read it. Name another file: --private-log FILE"
                )
            if HAS_OWNERS:
                os.fchmod(handle, 0o600)  # an existing file too, but never a device
    except OSError as error:
        raise _unwritable(target, error) from None
    handler = _PrivateHandler(target, handle)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    PRIVATE_LOG.addHandler(handler)
