"""Data full of recognisable values, and a search for them in everything that is published."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import locentropy as le

CAFE, PARK, HIDDEN = 1327, 541, 773
"""Users of the café and the park, and visits of one user to a place that only the data names."""
DROPPED = 619
SPOTS = {
    "cafe": ("40.7123457", "-73.9876543"),
    "park": ("40.7234561", "-73.9765432"),
    "hidden-place-88213": ("40.7345673", "-73.9654321"),
}
USER = "marker-user-73519"
BOUNDS = le.private.Bounds(max_locations=3, max_visits=2)


def write_visits(folder: Path) -> Path:
    """A table of visits in a folder and a file whose names must not show either."""
    path = folder / "secret-folder-51239" / "secret-input-51239.csv"
    path.parent.mkdir()
    visited = [(number, "cafe") for number in range(CAFE)]
    visited += [(number, "park") for number in range(PARK)] * 3
    visited += [(0, "hidden-place-88213")] * HIDDEN
    rows = [f"{USER}-{number},{place},{','.join(SPOTS[place])}" for number, place in visited]
    rows += [f",cafe,{','.join(SPOTS['cafe'])}"] * DROPPED
    path.write_text("\n".join(["user,location,lat,lon", *rows]) + "\n")
    return path


@dataclass(frozen=True)
class Markers:
    """What must not be found."""

    texts: tuple[str, ...]
    """Anywhere, in any case."""
    raw: tuple[bytes, ...]
    """Anywhere, as bytes."""
    numbers: tuple[float, ...]
    """As a number that stands by itself, or as a value of a column."""

    @classmethod
    def of(cls, path: Path, grid: le.Grid) -> Markers:
        content = path.read_bytes()
        digests = [hashlib.new(name, content).digest() for name in ("md5", "sha1", "sha256", "sha512")]
        visits = le.Visits(path, bad_rows="drop")
        kinds = [
            le.private.exact_profile(visits),
            le.private.profile(visits, BOUNDS),
            le.private.profile(visits, BOUNDS, locations=grid),
        ]
        counts = {HIDDEN, DROPPED, content.count(b"\n"), content.count(b"\n") - 1, len(content)}
        entropies: set[float] = set()
        for kind in kinds:
            counts |= {int(n) for n in (*kind.user_counts, *kind.visit_counts, kind.user_counts.sum())}
            entropies |= {float(value) for value in kind.entropy if value}
        degrees = [float(text) for spot in SPOTS.values() for text in spot]
        texts = [USER, "hidden-place", "secret-", str(path), path.name]
        texts += [digest.hex() for digest in digests] + [base64.b64encode(each).decode() for each in digests]
        texts += [text for spot in SPOTS.values() for text in spot]
        texts += [
            f"{value:.6f}"[:-1] for nats in entropies for value in (nats, nats / np.log(2), np.exp(nats))
        ]
        # Numbers below a hundred are everywhere; those above were chosen to be nowhere else.
        numbers = {float(n) for n in counts if n > 100} | {88213.0, 51239.0} | entropies | set(degrees)
        return cls(tuple(text.lower() for text in texts), tuple(digests), tuple(sorted(numbers)))

    def in_text(self, text: str) -> list[str]:
        """Those that a text holds."""
        lower = text.lower()
        found = [marker for marker in self.texts if marker in lower]
        for number in self.numbers:
            if number.is_integer():
                spellings = "|".join((f"{number:.0f}", f"{number:,.0f}"))
                found += re.findall(rf"(?<![\w.,])(?:{spellings})(?![\w]|[.,]\d)", text)
        return found

    def in_bytes(self, content: bytes) -> list[str]:
        """Those that a file holds, whatever kind of file it is."""
        return self._long_in_bytes(content) + self.in_text(content.decode("latin-1"))

    def _long_in_bytes(self, content: bytes) -> list[str]:
        """Those that no compressed file holds by chance, as it does three digits between two other bytes."""
        raw = [*self.raw, *(np.float64(number).tobytes() for number in self.numbers if number % 1)]
        raw += [text.encode() for text in self.texts]
        return [each.hex() for each in raw if each in content.lower() or each in content]

    def in_file(self, path: Path) -> list[str]:
        """Those that a published file holds, as bytes, as text and, for a table, in what its columns decode to."""
        found = self.in_text(path.name)
        if path.suffix != ".parquet":
            found += self.in_bytes(path.read_bytes())
        else:
            found += self._long_in_bytes(path.read_bytes())
            table, file = pq.read_table(path), pq.ParquetFile(path)
            found += self.in_text(str(file.metadata.metadata) + str(table.schema))
            for column in table.columns:
                for value in column.to_pylist():
                    found += self.in_value(value)
        return found

    def in_value(self, value: Any) -> list[str]:
        if isinstance(value, bytes):
            return self.in_bytes(value)
        if isinstance(value, int | float):
            # An entropy is rounded to a multiple of 2^-20 on its way.
            return [str(number) for number in self.numbers if abs(value - number) < 6e-7]
        return [] if value is None else self.in_text(str(value))
