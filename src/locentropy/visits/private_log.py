"""The operator's private log: which rows were dropped, and how many. Never part of a release.

Nothing is written unless a handler is added (`locentropy … --private-log FILE` adds one). Records do not propagate to
the root logger, where an application might publish them.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from pathlib import Path

from locentropy.core.errors import LocentropyError

PRIVATE_LOG = logging.getLogger("locentropy.private")
PRIVATE_LOG.addHandler(logging.NullHandler())
PRIVATE_LOG.propagate = False
PRIVATE_LOG.setLevel(logging.INFO)


class _PrivateHandler(logging.FileHandler):
    """Raises if a record cannot be written; the standard handler would print the record itself."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is logging's
        raise _unwritable(self.baseFilename, sys.exc_info()[1]) from None


def _unwritable(path: object, error: BaseException | None) -> LocentropyError:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return LocentropyError(
        f"{path}: the private log cannot be written ({reason}). Free some space, or name another file: "
        "--private-log FILE"
    )


def write_private_log(path: str | Path) -> None:
    """Append private records to a file that only its owner may read."""
    target = Path(path)
    try:
        handle = os.open(target, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NONBLOCK, 0o600)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                os.fchmod(handle, 0o600)  # an existing file too, but never a device
        finally:
            os.close(handle)
    except OSError as error:
        raise _unwritable(target, error) from None
    handler = _PrivateHandler(target)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    PRIVATE_LOG.addHandler(handler)
