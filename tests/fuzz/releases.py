"""The documents and the table of a release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import locentropy as le
from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.release.files import contents
from locentropy.release.reading import describe
from locentropy.release.verify import verify
from tests.release.making import release

FILES = dict(contents(release(), ["geojson", "gpkg", "excel-comma"]))
DETAILS, MANIFEST, TABLE = "details.yaml", "manifest.yaml", "release.parquet"
PACKAGE, LAYER = "datapackage.json", "release.gpkg"


def put_release(folder: Path, name: str, content: bytes) -> Path:
    """A release of which one file is another, which its details vouch for: readers must look at the file itself."""
    made = folder / f"with-{name}"
    made.mkdir()
    files = {known: bytes(each) for known, each in FILES.items()}
    before = {known: hashlib.sha256(each).hexdigest() for known, each in files.items()}
    files[name] = content
    vouching = [each for each in (PACKAGE, DETAILS) if each != name] if name != DETAILS else []
    for document in vouching:  # in this order: the details hold the fingerprint of the package
        for known, old in before.items():
            new = hashlib.sha256(files[known]).hexdigest()
            files[document] = files[document].replace(old.encode(), new.encode())
    for known, each in files.items():
        (made / known).write_bytes(each)
    return made


def read_release(folder: Path, name: str, content: bytes) -> None:
    made = put_release(folder, name, content)
    report = verify(made)  # never raises
    loaded = False
    try:
        le.Release.load(made)
        loaded = True
    finally:
        assert loaded or not report.ok, "verify finds nothing wrong with what cannot be loaded"
    if report.ok and name == DETAILS:
        assert describe(made).statement == release().statement, (
            "verify finds nothing wrong with another statement"
        )


def read_beside(folder: Path, name: str, content: bytes) -> None:
    """A file that only `verify` reads; refused if it finds something wrong with it, and with nothing else."""
    report = verify(put_release(folder, name, content))
    wrong = {check.name for check in report.checks if check.problems}
    assert wrong <= {"data package" if name == PACKAGE else "further formats"}, wrong
    if wrong:
        raise ReleaseError("another file than was published")
    assert content == FILES[name] or name == LAYER, "verify finds nothing wrong with another document"


def read_documents(folder: Path, content: bytes) -> None:
    """As either of the two documents; each is read whatever becomes of the other."""
    _each(lambda: read_release(folder, DETAILS, content), lambda: read_release(folder, MANIFEST, content))


def _each(*reads: Callable[[], None]) -> None:
    refused = None
    for read in reads:
        try:
            read()
        except LocentropyError as error:
            refused = error
    if refused is not None:
        raise refused
