"""The documents and the table of a release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import locentropy as le
from locentropy.core.errors import LocentropyError
from locentropy.release.files import contents
from locentropy.release.reading import describe
from locentropy.release.verify import verify
from tests.release.making import release

FILES = dict(contents(release()))
DETAILS, MANIFEST, TABLE = "details.yaml", "manifest.yaml", "release.parquet"


def put_release(folder: Path, name: str, content: bytes) -> Path:
    """A release of which one file is another, which its details vouch for: readers must look at the file itself."""
    made = folder / f"with-{name}"
    made.mkdir()
    files = {known: bytes(each) for known, each in FILES.items()}
    if name != DETAILS:
        before, after = (hashlib.sha256(each).hexdigest() for each in (files[name], content))
        files[DETAILS] = files[DETAILS].replace(before.encode(), after.encode())
    files[name] = content
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
