"""The operator's private log: what was dropped and how often. Never part of a release.

Nothing is written unless somebody adds a handler (`locentropy … --private-log FILE` does), and records
do not travel on to the root logger, where an application might publish them.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

PRIVATE_LOG = logging.getLogger("locentropy.private")
PRIVATE_LOG.addHandler(logging.NullHandler())
PRIVATE_LOG.propagate = False
PRIVATE_LOG.setLevel(logging.INFO)


def write_private_log(path: str | Path) -> None:
    """Append private records to a file that only its owner can read."""
    target = Path(path)
    os.close(os.open(target, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    target.chmod(0o600)
    handler = logging.FileHandler(target)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    PRIVATE_LOG.addHandler(handler)
