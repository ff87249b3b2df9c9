"""What the files of a release are called, and how those without a promise are marked."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

MARK: Final = "NOT-PRIVATE"


class Names(NamedTuple):
    """The files of a release, in the order in which they are written."""

    parquet: str
    csv: str
    report: str
    manifest: str
    details: str


PRIVATE: Final = Names("release.parquet", "release.csv", "report.html", "manifest.yaml", "details.yaml")
MARKED: Final = Names(*(f"{Path(name).stem}.{MARK}{Path(name).suffix}" for name in PRIVATE))


def names_for(*, private: bool) -> Names:
    """The names of a release that promises something, or nothing."""
    return PRIVATE if private else MARKED


def marked_target(target: str | Path, *, private: bool) -> Path:
    """The directory of a release: as asked for, or with the mark in its name."""
    path = Path(target)
    return path if private or MARK in path.name else path.with_name(f"{path.name}.{MARK}")
