"""datapackage.json: the release as data catalogues harvest it, by the Data Package standard (datapackage.org).

It says nothing that the manifest and the details do not say: which files there are, what their columns hold, and what
was promised. So it is made of the same statement, and `verify` makes it once more to compare.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy.core.errors import ReleaseError
from locentropy.release.columns import WINDOW, described
from locentropy.release.files import names_of
from locentropy.release.level_words import level_words
from locentropy.release.manifest import manifest, parameters, places_words
from locentropy.release.statement import UNSAID
from locentropy.release.tables import summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

_PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
_KEYWORDS: Final = ("location entropy", "differential privacy", "mobility")

_MOST_BYTES: Final = 50_000_000

_MEDIA_TYPES: Final = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "geojson": "application/geo+json",
    "gpkg": "application/geopackage+sqlite3",
    "html": "text/html",
    "yaml": "application/yaml",
}
_WORDS: Final = {
    "csv": "The table.",
    "parquet": "The table, as GeoParquet where places have coordinates.",
    "report": "A page to look at, made from the other files; it loads nothing from a network.",
    "manifest": "The privacy guarantee and how it is kept, in the fields of the OpenDP Deployments Registry.",
    "outline": "The public outline behind the places on the page's map; it was not made from the visits.",
    "geojson": "The table once more, for GIS.",
    "gpkg": "The table once more, for GIS.",
    "excel": "The table once more, as Excel opens it where the separator and the decimal mark are those of the file.",
}
"""What each file is, by its field of `Names`. Measurements are not for readers of a catalogue: programs that take every
Parquet file for a table of values cannot read their lists. The details, which hold this file's fingerprint, cannot be
in here."""


def data_package(release: Release, hashes: Mapping[str, str]) -> bytes:
    """The document; `hashes` are the SHA-256 of the other published files."""
    statement = release.statement
    basic = manifest(statement)["deployment"]["basic"]
    document = {
        "$schema": _PROFILE,
        "name": package_name(statement),
        "title": basic["name"],
        "description": basic["description"],
        "keywords": list(_KEYWORDS),
        **({} if statement.curator == UNSAID else {"contributors": [{"title": statement.curator}]}),
        "sources": [{"title": places_words(statement)}],
        "resources": list(_resources(release, hashes)),
        "locentropy": {
            **summary(statement),
            **parameters(statement),
            "privacy_unit": statement.guarantee.unit,
            **({} if statement.window is None else {"window": str(statement.window)}),
            "region": statement.region,
            "intended_use": basic["intended_use"],
            "publication_date": basic["publication_date"],
        },
    }
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def package_name(statement: Statement) -> str:
    """What the package is called; the manifest has the same name."""
    return f"locentropy-{statement.release_id}"


def named_in(path: Path) -> str | None:
    """The name in a file that may come from anywhere; None if it has none. Raises ReleaseError if it is no document."""
    try:
        document = json.loads(path.read_bytes()) if path.stat().st_size <= _MOST_BYTES else None
    except (ValueError, RecursionError):
        raise ReleaseError(f"{path} is not a JSON document.") from None
    return document.get("name") if isinstance(document, dict) else None


def _resources(release: Release, hashes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The files of each level, in the order in which they are written; those that all levels share come first."""
    seen = set()
    for number, level in enumerate((release, *release.further), start=1):
        stem = "release" if number == 1 else f"level-{number}"
        words = "" if level.statement.part is None else f" {level_words(level.statement)}"
        for kind, path in names_of(level.statement)._asdict().items():
            if path not in hashes or path in seen or kind not in _WORDS:
                continue
            seen.add(path)
            shared = kind in ("report", "manifest", "outline")
            form = path.rpartition(".")[2]
            yield {
                "name": f"{stem}.{kind}",
                "path": path,
                "description": _WORDS[kind] + ("" if shared else words),
                "format": form,
                "mediatype": _MEDIA_TYPES[form],
                "hash": f"sha256:{hashes[path]}",
                **(_table(level) if kind == "csv" else {}),
            }


def _table(level: Release) -> dict[str, Any]:
    fields = [
        {
            "name": column.name,
            "type": _type(column.type),
            "description": described(column.name, level.statement),
        }
        for column in level.to_arrow().schema
    ]
    key = ["location", *(WINDOW[:1] if level.statement.windows is not None else ())]
    return {
        "type": "table",
        "encoding": "utf-8",
        "schema": {"fields": fields, "primaryKey": key, "missingValues": [""]},
    }


def _type(of: pa.DataType) -> str:
    """The type of a column in the words of the standard."""
    if pa.types.is_integer(of):
        return "integer"
    if pa.types.is_floating(of):
        return "number"
    if pa.types.is_boolean(of):
        return "boolean"
    return "date" if pa.types.is_date(of) else "string"
