"""Surroundings in which things go wrong: small disks, folders that may not be written, commands to repeat."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.publishing.making import ledger_in, visits_in

NOBODY = 65534
BOUNDED = ("--mechanism", "limit", "--epsilon", "0.5", "--max-locations", "3", "--max-visits", "2")
PUBLISH = ("publish", "visits.csv", *BOUNDED, "--places", "places.csv")


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A disk of its own that holds next to nothing. A real one, so it takes the rights to mount it."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def leave_free(disk: Path, kilobytes: int) -> None:
    """Fill a disk but for so much."""
    ballast = disk / "ballast"
    ballast.unlink(missing_ok=True)
    status = os.statvfs(disk)
    ballast.write_bytes(b"x" * (status.f_bavail * status.f_frsize - kilobytes * 1024))


def prepare(folder: Path) -> None:
    """Visits, places and a ledger."""
    visits_in(folder)
    (folder / "places.csv").write_text("location\nbar\ncafe\npark\npier\n")
    ledger_in(folder)
