"""Finished work in the output folder, so that an interrupted run goes on where it stopped.

Everything is kept under a key: a hash of all parameters, of the data, and of the version of this package. A file with
another key is not used, and is replaced. Files appear whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from locentropy.core.files import atomic_write
from locentropy.core.version import __version__
from locentropy_lab.reproduction.data_counts import DataCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


EDITION: Final = 1
"""Raise it whenever the same parameters give other numbers."""
_KEY: Final = b"locentropy reproduce"


def key_of(identity: Mapping[str, Any]) -> str:
    """The key of what these parameters give."""
    told = {"version": __version__, "edition": EDITION, **identity}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


class Store:
    """The folders of a run."""

    def __init__(self, folder: Path, *, again: bool = False) -> None:
        self.numbers = folder / "numbers"
        self.cache = folder / "cache"
        self.figures = folder / "figures"
        self._again = again
        for each in (self.numbers, self.cache, self.figures):
            each.mkdir(parents=True, exist_ok=True)

    def counted(self, identity: Mapping[str, Any], make: Callable[[], DataCounts]) -> DataCounts:
        """Return the counts of a data set, from the cache or computed."""
        key = key_of(identity)
        path = self.cache / f"{identity['data']}-{key[:16]}.npz"
        if path.exists() and not self._again:
            with np.load(path, allow_pickle=False) as held:
                return DataCounts.from_arrays({name: held[name] for name in held.files})
        made = make()
        with atomic_write(path) as [part], part.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **made.arrays())
        return made

    def finished(self, name: str, identity: Mapping[str, Any]) -> pa.Table | None:
        """Return the numbers of a finished experiment, if they were computed from the same parameters."""
        path = self.numbers / f"{name}.parquet"
        if self._again or not path.exists():
            return None
        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowException):  # not a file of ours
            return None
        held = (table.schema.metadata or {}).get(_KEY, b"").decode()
        return table if held == key_of(identity) else None

    def keep(self, name: str, identity: Mapping[str, Any], table: pa.Table) -> None:
        """Write the numbers of an experiment, as Parquet and as CSV."""
        marked = table.replace_schema_metadata({_KEY: key_of(identity).encode()})
        targets = self.numbers / f"{name}.csv", self.numbers / f"{name}.parquet"
        with atomic_write(*targets) as [text, columns]:
            pa_csv.write_csv(table, text)
            pq.write_table(marked, columns)

    def write(self, files: Mapping[Path, str | bytes]) -> None:
        """Write files, all of them or none."""
        with atomic_write(*files) as parts:
            for part, content in zip(parts, files.values(), strict=True):
                part.write_bytes(content if isinstance(content, bytes) else content.encode())
