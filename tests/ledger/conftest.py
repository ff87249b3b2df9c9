"""Ledgers for tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from locentropy.ledger.ledger import Ledger, new_id
from locentropy.privacy.guarantee import Guarantee


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "city.ledger"


@pytest.fixture(scope="session")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new ledger and a used one, made once and copied: most of the time goes into waiting for the disk."""
    folder = tmp_path_factory.mktemp("ledgers")
    ledger = Ledger.create(folder / "new", "riders of the city", epsilon=1, delta="1e-6")
    shutil.copy(ledger.path, folder / "used")
    used = Ledger.open(folder / "used")
    spends = [used.spend(Guarantee.approximate(epsilon, 1e-8), "map") for epsilon in (0.1, 0.2, 0.3)]
    used.record_release(spends[0].id, new_id(), "staged")
    used.record_evaluation("compared mechanisms")
    used.spend(Guarantee.pure(0.05), "the last")
    return folder


@pytest.fixture
def ledger(ledgers: Path, path: Path) -> Ledger:
    return Ledger.open(shutil.copy(ledgers / "new", path))


@pytest.fixture
def used(ledgers: Path, path: Path) -> Ledger:
    return Ledger.open(shutil.copy(ledgers / "used", path))
