from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.examples import PROFILE

# The engine's first query in a process takes far longer than the later ones; a deadline would flake.
settings.register_profile("ci", max_examples=40, deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("nightly", max_examples=1000, deadline=None)
settings.load_profile(PROFILE)

SLOW = ("faults", "fuzz", "lab/audit", "lab/reproduction", "visits/warehouses")
"""Folders of which every test is slow, but for those of `QUICK`; in other folders a mark says which tests are."""

QUICK: tuple[str, ...] = ("fuzz/test_found.py",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is slow, and puts first what shares a server: workers without work take tests from the end."""
    here = Path(__file__).parent
    for item in items:
        path = item.path.relative_to(here).as_posix()
        if path.startswith(tuple(f"{folder}/" for folder in SLOW)) and path not in QUICK:
            item.add_marker("slow")
        if PROFILE == "nightly" and is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("nightly")  # once more, with many examples
    items.sort(key=lambda item: "warehouses" not in item.path.parts)


@pytest.fixture
def private_log() -> Iterator[list[str]]:
    """What the private log is told."""
    from locentropy.visits.private_log import PRIVATE_LOG

    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    PRIVATE_LOG.addHandler(handler)
    yield records
    PRIVATE_LOG.removeHandler(handler)


@pytest.fixture(scope="session")
def gowalla() -> Path:
    """The paper's real data set, which is never part of this repository."""
    name = os.environ.get("LOCENTROPY_GOWALLA")
    if not name:
        pytest.skip("LOCENTROPY_GOWALLA does not name the Gowalla New York file")
    return Path(name)
