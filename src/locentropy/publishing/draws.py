"""Draws on disk: every draw of noise is durable before anything is made of it, and is never repeated.

    .city.<spend>.draws          each draw as soon as it was made, in order: a retry is given these, and draws only what
                                 was never completed; a draw that never became durable was seen by nobody
    .city.<spend>.measurements   what the mechanism measured, once it is done: from here on the visits are not read

Both are beside the directory `city`, for their owner only, and are removed when the release has its name. The draws
also hold what is never published, such as coins about withheld locations.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.errors import ReleaseError
from locentropy.core.files import open_own_file, sync_folder
from locentropy.ledger.ledger import new_id
from locentropy.privacy.noise import OpenDPNoise
from locentropy.release.measurements import measurements_parquet, read_measurements

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from locentropy.release.measurements import KeptMeasurements

_FORMAT: Final = "locentropy draws 1"
_INT: Final = np.dtype("<i8")
_BOOL: Final = np.dtype("?")
_TYPES: Final = {"int": _INT, "bool": _BOOL}
_LONGEST_LINE: Final = 4096
_CHUNK: Final = 1 << 26


class DrawJournal:
    """The draws of one release, in a file. It is given to one attempt at a time, which holds the publication's lock."""

    def __init__(self, path: Path, release_id: str | None = None) -> None:
        """Open the journal, or create it with an id for this draw."""
        self._handle = open_own_file(path, create=True)
        self._path = path
        self._draws: list[NDArray[Any]] = []
        self._end = 0
        content = _all_of(self._handle)
        self.release_id = self._load(content) or self._begin(release_id or new_id())

    @property
    def durable(self) -> int:
        """How many draws are on disk."""
        return len(self._draws)

    def at(self, number: int) -> NDArray[Any] | None:
        """A draw that was made earlier, or None."""
        return self._draws[number] if number < len(self._draws) else None

    def append(self, drawn: NDArray[Any]) -> None:
        """Write a draw; it is on disk when this returns."""
        kind = "bool" if drawn.dtype == bool else "int"
        payload = np.ascontiguousarray(drawn, dtype=_TYPES[kind]).tobytes()
        head = {"kind": kind, "shape": list(drawn.shape), "sha256": hashlib.sha256(payload).hexdigest()}
        self._write(json.dumps(head).encode() + b"\n" + payload)
        self._draws.append(drawn)

    def close(self) -> None:
        """Close the file; what is in it stays."""
        os.close(self._handle)

    def _begin(self, release_id: str) -> str:
        os.ftruncate(self._handle, 0)
        self._end = 0
        self._write(json.dumps({"format": _FORMAT, "release": release_id}).encode() + b"\n")
        sync_folder(self._path.parent)
        return release_id

    def _write(self, content: bytes) -> None:
        written = 0
        while written < len(content):
            count = os.pwrite(self._handle, content[written : written + _CHUNK], self._end + written)
            if count == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
            written += count
        os.fsync(self._handle)
        self._end += len(content)

    def _load(self, content: bytes) -> str | None:
        """Read what is whole; a draw that was cut off never became durable, and is discarded unseen."""
        head, at = _line(content, 0)
        if head is None:
            return None
        release_id = head.get("release")
        if head.get("format") != _FORMAT or not re.fullmatch("[0-9a-f]{32}", str(release_id)):
            raise ReleaseError(f"{self._path} is not a file that an interrupted attempt leaves.")
        self._end = at
        while True:
            head, start = _line(content, at)
            drawn, at = (None, at) if head is None else _draw(head, content, start)
            if drawn is None:
                break
            self._draws.append(drawn)
            self._end = at
        os.ftruncate(self._handle, self._end)
        return str(release_id)


def _all_of(handle: int) -> bytes:
    size = os.fstat(handle).st_size
    return b"".join(os.pread(handle, _CHUNK, start) for start in range(0, size, _CHUNK))


def _line(content: bytes, at: int) -> tuple[dict[str, Any] | None, int]:
    end = content.find(b"\n", at, at + _LONGEST_LINE)
    if end < 0:
        return None, at
    try:
        head = json.loads(content[at:end])
    except (ValueError, RecursionError):
        return None, at
    return (head, end + 1) if isinstance(head, dict) else (None, at)


def _draw(head: dict[str, Any], content: bytes, start: int) -> tuple[NDArray[Any] | None, int]:
    kind, shape = _TYPES.get(str(head.get("kind"))), head.get("shape")
    if kind is None or not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        return None, start
    size = kind.itemsize * int(np.prod(shape, dtype=object))
    payload = content[start : start + size]
    if len(payload) != size or hashlib.sha256(payload).hexdigest() != head.get("sha256"):
        return None, start
    return np.frombuffer(payload, kind).reshape(shape), start + size


class JournaledNoise(OpenDPNoise):
    """`OpenDPNoise` whose every draw is on disk before it is returned, and that repeats none of an earlier attempt."""

    def __init__(self, journal: DrawJournal) -> None:
        super().__init__()
        self._journal = journal
        self._next = 0

    def laplace(self, values: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Values plus independent discrete Laplace noise of one scale."""
        draw = super().laplace
        return self._once(np.shape(values), _INT, lambda: draw(values, scale))

    def laplace_each(self, values: NDArray[np.int64], scales: NDArray[np.float64]) -> NDArray[np.int64]:
        """Values plus independent discrete Laplace noise, each of its own scale."""
        draw = super().laplace_each
        return self._once(np.shape(values), _INT, lambda: draw(values, scales))

    def bernoulli_each(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Independent coins, each true with its own probability."""
        draw = super().bernoulli_each
        return self._once(np.shape(probabilities), _BOOL, lambda: draw(probabilities))

    def _once(
        self, shape: tuple[int, ...], kind: np.dtype[Any], draw: Callable[[], NDArray[Any]]
    ) -> NDArray[Any]:
        number, self._next = self._next, self._next + 1
        earlier = self._journal.at(number)
        if earlier is None:
            drawn = draw()
            self._journal.append(drawn)
            return drawn
        if earlier.shape != shape or earlier.dtype != kind:
            raise ReleaseError(
                "An earlier attempt has drawn noise for other visits: the table has changed since. Its numbers are "
                "not drawn again for the same spend. Give it the table as it was, or choose another directory; to "
                "publish there spends again."
            )
        return earlier.copy()


def keep_measurements(kept: KeptMeasurements, path: Path) -> None:
    """Write the measurements so that they are on disk, whole, when they have their name."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    handle = open_own_file(part, create=True)
    try:
        content = measurements_parquet(kept)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def kept_measurements(path: Path) -> KeptMeasurements | None:
    """The measurements of an earlier attempt, if it got that far."""
    if not os.path.lexists(path):
        return None
    handle = open_own_file(path, create=False)
    with os.fdopen(handle, "rb") as file:
        return read_measurements(file)
