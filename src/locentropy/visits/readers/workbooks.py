"""Workbooks: a sheet of Excel or OpenDocument, by python-calamine (the extra `excel`).

Cells have types, but a column has not: each cell is brought into one spelling, as a text, and then read as those of
text files are. A whole number is written without a point, so 7 is one id, whether it was typed as 7 or as 7.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy.core.errors import LocentropyError, ParameterError, SourceError
from locentropy.visits.readers.base import Column, FileFingerprints, Relation
from locentropy.visits.sql import identifier

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    from python_calamine import CalamineWorkbook

    from locentropy.visits.columns import Roles

_NAMES: Final = count()
_EXACT: Final = 10**15
"""Excel keeps 15 digits: larger numbers may have been other ids. They are written as 1e+15, which the checks refuse."""


@dataclass(frozen=True)
class WorkbookPart:
    """One sheet of a workbook."""

    path: Path
    sheet: str
    columns: list[str]
    rows: list[list[Any]]
    fingerprints: FileFingerprints

    reads_once = True
    hint = " The first row of a sheet must be its header."

    @property
    def label(self) -> str:
        """The file's path: it is what messages name."""
        return str(self.path)

    @property
    def described(self) -> str:
        """Which sheet is read."""
        return f"the sheet {self.sheet!r} of a workbook"

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Register the columns with a role, as texts."""
        texts = {
            role: pa.array((_text(row[at]) for row in self.rows), pa.string())
            for role, at in ((role, self.columns.index(name)) for role, name in roles.items())
        }
        name = f"sheet_{next(_NAMES)}"
        con.register(name, pa.table(texts))
        return Relation(identifier(name), {role: Column(identifier(role), "VARCHAR") for role in roles})


def workbook_part(path: Path, sheet: str | None, prefix: str = "--") -> WorkbookPart:
    """The sheet of that name. The name may be left out if only one sheet has anything in it."""
    if find_spec("python_calamine") is None:
        raise SourceError(
            f"{path}: is a workbook, which needs an extra to be read: pip install 'locentropy[excel]'. Or save the "
            'sheet as "CSV UTF-8".'
        )
    from python_calamine import CalamineError, CalamineWorkbook

    fingerprints = FileFingerprints.of([path])
    try:
        with CalamineWorkbook.from_path(path) as workbook:
            name = _chosen(path, workbook, sheet, prefix)
            rows = workbook.get_sheet_by_name(name).to_python()
    except LocentropyError:
        raise
    except (CalamineError, OSError, ValueError):
        raise SourceError(
            f"{path}: cannot be read as a workbook. Is it complete, and without a password?"
        ) from None
    if not rows:
        raise SourceError(f"{path}: the sheet {name!r} is empty.")
    header = [(_text(cell) or "").strip() for cell in rows[0]]
    return WorkbookPart(
        path, name, header, [row for row in rows[1:] if any(cell != "" for cell in row)], fingerprints
    )


def _chosen(path: Path, workbook: CalamineWorkbook, sheet: str | None, prefix: str) -> str:
    sheets: list[str] = workbook.sheet_names
    if sheet is None:
        # Excel used to make three sheets, of which most people fill one.
        sheets = [name for name in sheets if workbook.get_sheet_by_name(name).height] or sheets[:1]
        if len(sheets) == 1:
            return sheets[0]
    if sheet is None or sheet not in sheets:
        asked = "no sheet was named" if sheet is None else f"table={sheet!r} is not one of its sheets"
        raise ParameterError(
            f"{path}: {asked}. Sheets found: {', '.join(map(repr, sheets))}. Name one: "
            f"table={sheets[0]!r} ({prefix}table {sheets[0]!r})."
        )
    return sheet


def _text(cell: Any) -> str | None:
    """A cell in its one spelling; None if it is empty."""
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, int | float) and abs(cell) >= _EXACT:
        return f"{float(cell):e}"
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    return str(cell)
