"""The operator's private log: what was dropped and how often. Never part of a release.

Nothing is written unless somebody adds a handler (`locentropy … --private-log FILE` does), and records
do not travel on to the root logger, where an application might publish them.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

PRIVATE_LOG = logging.getLogger("locentropy.private")
PRIVATE_LOG.addHandler(logging.NullHandler())
PRIVATE_LOG.propagate = False
PRIVATE_LOG.setLevel(logging.INFO)


def write_private_log(path: str | Path) -> None:
    """Append private records to a file that only its owner can read."""
    target = Path(path)
    handle = os.open(target, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        os.fchmod(handle, 0o600)  # of an older file too; but never of a device
    os.close(handle)
    handler = logging.FileHandler(target)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    PRIVATE_LOG.addHandler(handler)
