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

SLOW = (
    "faults/",
    "fuzz/",
    "lab/",
    "ledger/test_ledger_crash.py",
    "mechanisms/test_neighbouring_tables.py",
    "publishing/test_crash.py",
    "publishing/test_one_way.py",
    "publishing/test_race.py",
    "release/report/test_browser.py",
    "test_documentation.py",
    "test_peers.py",
    "test_site.py",
    "visits/test_engine.py",
    "visits/warehouses/",
)
"""Files and folders of which every test is slow, but for `QUICK`: servers, browsers, kills, large data, attacks.

Elsewhere a mark says which tests are.
"""

QUICK = (
    "faults/test_identifiers.py::test_ids_on_both_sides",
    "faults/test_ledger_faults.py",
    "faults/test_permissions.py",
    "faults/test_private_values.py::test_what_the_engine_says_is_for_the_private_log",
    "fuzz/test_found.py",
    "lab/audit/test_confidence.py",
    "lab/audit/test_privacy_loss.py",
    "lab/reproduction/test_claims.py",
    "lab/test_as_printed.py",
    "lab/test_distributions.py",
    "lab/test_zipf.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is slow, and puts first what shares a server: workers without work take tests from the end."""
    here = Path(__file__).parent
    for item in items:
        name = f"{item.path.relative_to(here).as_posix()}{item.nodeid[item.nodeid.find('::') :]}"
        if name.startswith(SLOW) and not name.startswith(QUICK):
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
