"""Draws on disk: every draw of noise is durable before anything is made of it, and is never repeated.

    .city.<spend>.draws/         each draw as soon as it was made, in order: a retry is given these, and draws only what
                                 was never completed; a draw that never became durable was seen by nobody
    .city.<spend>.measurements   what the mechanism measured, once it is done: from here on the visits are not read

Both are beside the directory `city`, for their owner only, and are removed when the release has its name. The draws
also hold what is never published, such as coins about withheld locations; they are in a folder that others cannot look
into, because the size of the file tells how many locations there are.

A draw belongs to the numbers that it was made for. The journal holds a salted digest of these beside each draw, so that
a retry on another table, or by other rules, is refused instead of being given noise that was drawn for something else.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.errors import ReleaseError
from locentropy.core.files import named_errors, open_own_file, own_folder, read_at, sync_folder, write_at
from locentropy.ledger.entries import new_id
from locentropy.privacy.noise import OpenDPNoise
from locentropy.release.measurements import measurements_parquet, read_measurements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from locentropy.release.measurements import KeptMeasurements

_FORMAT: Final = "locentropy draws 1"
_INT: Final = np.dtype("<i8")
_BOOL: Final = np.dtype("?")
_TYPES: Final = {"int": _INT, "bool": _BOOL}
_LONGEST_LINE: Final = 4096
_CHUNK: Final = 1 << 26
_CHANGED: Final = (
    "An earlier attempt has drawn noise for other visits, or read them by other rules: the table has changed since, or "
    "the software has. Noise is not drawn again for the same spend. Repeat it with the table as it was, or "
    "choose another directory; to publish there spends again."
)


class DrawJournal:
    """The draws of one release, in a file. It is given to one attempt at a time, which holds the publication's lock."""

    def __init__(self, folder: Path, read_as: Mapping[str, str | None]) -> None:
        """Open the journal, or create it; `read_as` says how the visits are read, which must not change in between."""
        own_folder(folder)
        self._path = folder / "journal"
        self._handle = open_own_file(self._path, create=True)
        self._draws: list[tuple[NDArray[Any], str]] = []
        self._end = 0
        self._read_as = dict(read_as)
        try:
            self._salt = self._load(_all_of(self._handle)) or self._begin()
        except BaseException:
            os.close(self._handle)
            raise

    @property
    def durable(self) -> int:
        """How many draws are on disk."""
        return len(self._draws)

    def digest(self, *inputs: object) -> str:
        """A digest of what a draw is made for; salted, so that it is worth nothing without this file."""
        found = hashlib.sha256(self._salt.encode())
        for each in inputs:
            part = (
                np.ascontiguousarray(each).tobytes() if isinstance(each, np.ndarray) else repr(each).encode()
            )
            found.update(f"{len(part)}:".encode() + part)
        return found.hexdigest()

    def at(self, number: int, digest: str) -> NDArray[Any] | None:
        """A draw that was made earlier, or None; ReleaseError if it was made for something else."""
        if number >= len(self._draws):
            return None
        drawn, made_for = self._draws[number]
        if made_for != digest:
            raise ReleaseError(_CHANGED)
        return drawn.copy()

    def append(self, drawn: NDArray[Any], digest: str) -> None:
        """Write a draw; it is on disk when this returns."""
        kind = "bool" if drawn.dtype == bool else "int"
        payload = np.ascontiguousarray(drawn, dtype=_TYPES[kind]).tobytes()
        head = {
            "kind": kind,
            "shape": list(drawn.shape),
            "for": digest,
            "sha256": hashlib.sha256(payload).hexdigest(),
        }
        self._write(json.dumps(head).encode() + b"\n" + payload)
        self._draws.append((drawn, digest))

    def close(self) -> None:
        """Close the file; what is in it stays."""
        os.close(self._handle)

    def _begin(self) -> str:
        os.ftruncate(self._handle, 0)
        self._end = 0
        salt = new_id()
        self._write(json.dumps({"format": _FORMAT, "salt": salt, "read_as": self._read_as}).encode() + b"\n")
        sync_folder(self._path.parent)
        return salt

    def _write(self, content: bytes) -> None:
        written = 0
        with named_errors(self._path):
            while written < len(content):
                count = write_at(self._handle, content[written : written + _CHUNK], self._end + written)
                if count == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                written += count
            os.fsync(self._handle)
        self._end += len(content)

    def _load(self, content: bytes) -> str | None:
        """Read the draws; one that was cut off at the end never became durable, and is discarded unseen."""
        head, at = _line(content, 0)
        if head is None and b"\n" not in content[:_LONGEST_LINE]:
            return None  # new, or cut off before anything was drawn
        if head is None or head.get("format") != _FORMAT or not isinstance(head.get("salt"), str):
            raise ReleaseError(self._damaged())
        if head.get("read_as") != self._read_as:
            raise ReleaseError(_CHANGED)
        while at < len(content):
            about, start = _line(content, at)
            if about is None:
                if b"\n" in content[at : at + _LONGEST_LINE]:
                    raise ReleaseError(self._damaged())
                break
            found = _draw(about, content[start:])
            if found is None:
                raise ReleaseError(self._damaged())
            drawn, size = found
            if drawn is None:
                break
            self._draws.append((drawn, str(about.get("for"))))
            at = start + size
        self._end = at
        os.ftruncate(self._handle, at)
        return str(head["salt"])

    def _damaged(self) -> str:
        return (
            f"{self._path} was damaged: noise that an earlier attempt has drawn cannot be read any more, and is not "
            "drawn again for the same spend. Put it back, or choose another directory; to publish there spends again."
        )


def _all_of(handle: int) -> bytes:
    size = os.fstat(handle).st_size
    return b"".join(read_at(handle, _CHUNK, start) for start in range(0, size, _CHUNK))


def _line(content: bytes, at: int) -> tuple[dict[str, Any] | None, int]:
    end = content.find(b"\n", at, at + _LONGEST_LINE)
    if end < 0:
        return None, at
    try:
        head = json.loads(content[at:end])
    except (ValueError, RecursionError):
        return None, at
    return (head, end + 1) if isinstance(head, dict) else (None, at)


def _draw(about: dict[str, Any], rest: bytes) -> tuple[NDArray[Any] | None, int] | None:
    """The draw and its size; no draw if it was cut off, and None if it is not what was written."""
    kind, shape = _TYPES.get(str(about.get("kind"))), about.get("shape")
    if kind is None or not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        return None
    size = kind.itemsize * math.prod(shape)
    payload = rest[:size]
    if len(payload) < size:
        return None, 0
    if hashlib.sha256(payload).hexdigest() != about.get("sha256"):
        return None
    return np.frombuffer(payload, kind).reshape(shape), size


class JournaledNoise(OpenDPNoise):
    """`OpenDPNoise` whose every draw is on disk before it is returned, and that repeats none of an earlier attempt."""

    def __init__(self, journal: DrawJournal) -> None:
        super().__init__()
        self._journal = journal
        self._next = 0

    def laplace(self, values: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Values plus independent discrete Laplace noise of one scale."""
        draw = super().laplace
        return self._once(
            lambda: draw(values, scale), "laplace", np.shape(values), np.asarray(values), float(scale)
        )

    def laplace_each(self, values: NDArray[np.int64], scales: NDArray[np.float64]) -> NDArray[np.int64]:
        """Values plus independent discrete Laplace noise, each of its own scale."""
        draw = super().laplace_each
        inputs = np.shape(values), np.asarray(values), np.asarray(scales, dtype=np.float64)
        return self._once(lambda: draw(values, scales), "laplace_each", *inputs)

    def gaussian(self, values: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Values plus independent discrete Gaussian noise of one scale."""
        draw = super().gaussian
        return self._once(
            lambda: draw(values, scale), "gaussian", np.shape(values), np.asarray(values), float(scale)
        )

    def bernoulli_each(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Independent coins, each true with its own probability."""
        draw = super().bernoulli_each
        inputs = np.shape(probabilities), np.asarray(probabilities, dtype=np.float64)
        return self._once(lambda: draw(probabilities), "bernoulli_each", *inputs)

    def _once(self, draw: Callable[[], NDArray[Any]], *made_for: object) -> NDArray[Any]:
        number, self._next = self._next, self._next + 1
        digest = self._journal.digest(number, *made_for)
        earlier = self._journal.at(number, digest)
        if earlier is not None:
            return earlier
        drawn = draw()
        self._journal.append(drawn, digest)
        return drawn


def keep_measurements(kept: KeptMeasurements, path: Path) -> None:
    """Write the measurements so that they are on disk, whole, when they have their name."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    handle = open_own_file(part, create=True)
    try:
        content = measurements_parquet(kept)
        with named_errors(path), os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
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
