from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The engine's first query in a process takes far longer than the later ones; a deadline would flake.
settings.register_profile("default", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First what shares a server or a session: processes without work take over from the end, and would start more."""
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
