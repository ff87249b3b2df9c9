"""The same visits as people have them: whole numbers or texts for ids, in Parquet or in CSV.

Texts are hashes, as exports have them: 16 characters for a user and 12 for a place. The table of whole numbers is that
of `profiles.py`; texts and CSV are made from it, so that every input has the same answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from profiles import FOLDER, make

if TYPE_CHECKING:
    from pathlib import Path


class Input(NamedTuple):
    """One way to store the visits, and the list of all places there can be in them."""

    title: str
    texts: bool
    """Whether ids are texts."""
    kind: str
    """The extension of both files."""

    def files(self, rows: int) -> tuple[str, str]:
        """The visits and the public list; made once."""
        return str(self._visits(rows)), str(self._places(rows))

    def _visits(self, rows: int) -> Path:
        numbers = make(rows)
        if not self.texts and self.kind == "parquet":
            return numbers
        user, location = (_USER, _PLACE) if self.texts else ('"user"', "location")
        return self._written(
            f"visits-{rows}", f"""SELECT {user} AS "user", {location} AS location, time FROM '{numbers}'"""
        )

    def _places(self, rows: int) -> Path:
        location = _PLACE if self.texts else "location"
        numbers = f"SELECT unnest(range({max(rows // 100, 1)})) AS location"
        return self._written(f"places-{rows}", f"SELECT {location} AS location FROM ({numbers})")

    def _written(self, name: str, query: str) -> Path:
        path = FOLDER / f"{name}-{'texts' if self.texts else 'numbers'}.{self.kind}"
        if not path.exists():
            part = path.with_suffix(f".part.{self.kind}")
            with duckdb.connect() as con:
                con.execute(f"COPY ({query}) TO '{part}'")
            part.rename(path)
        return path


_USER: Final = """substr(md5("user"::VARCHAR), 1, 16)"""
_PLACE: Final = "'v' || substr(md5('p' || location::VARCHAR), 1, 11)"

INPUTS: Final = {
    "numbers": Input("whole numbers, Parquet", texts=False, kind="parquet"),
    "texts": Input("text ids, Parquet", texts=True, kind="parquet"),
    "csv": Input("text ids, CSV", texts=True, kind="csv"),
}
