"""Files that stay as they are while they are read.

A file is read several times: its columns, the checks of all rows, the places, the counts. Where it is replaced in
between, rows are counted that nobody has checked. So how each file stands on the disk is noted before the first look,
and compared after the last, which is before anything is spent.

This notices accidents: a job that writes a new version, a copy that is not finished. Somebody who may write the file
and wants to deceive can as well change the table beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from locentropy.core.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Standing = tuple[int, int, int, int, int]
"""Device, inode, size, and when content and inode were last changed, in nanoseconds."""


@dataclass(frozen=True)
class Unchanged:
    """How files stood when they were first looked at."""

    standings: tuple[tuple[Path, Standing], ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """How files stand now."""
        return cls(tuple((path, _standing(path)) for path in paths))

    def check(self) -> None:
        """SourceError if a file does not stand as it did."""
        for path, standing in self.standings:
            if _standing(path) != standing:
                raise SourceError(
                    f"{path}: was changed or replaced while it was read, so what was checked is not what was counted. "
                    "Repeat the call when nobody writes to it, or read a copy."
                )


def _standing(path: Path) -> Standing:
    try:
        status = path.stat()
    except OSError as error:
        raise SourceError(f"{path}: cannot be looked at any more ({error.strerror}).") from None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
