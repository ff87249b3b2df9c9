"""What version 0.1 has begun is finished without a second spend or draw, and the same noise gives the same numbers."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import locentropy as le
from locentropy.core.errors import ReleaseError
from locentropy.core.queries import CachedQueries
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.publishing import publish as story
from locentropy.publishing.publish import ResumedWarning
from locentropy.visits.queries import open_queries
from tests.publishing.invented import ABOUT, DATA, PUBLIC, requests, visits
from tests.publishing.making import names

VALUES: dict[str, dict[str, list[Any]]] = json.loads((DATA / "values.json").read_text())
IDENTITIES: dict[str, dict[str, str]] = json.loads((DATA / "identities.json").read_text())
COLUMNS = ("entropy", "std_error", "low", "high")
LIMIT = le.paper.Limit(epsilon=0.5, max_locations=3, max_visits=2)


@pytest.mark.parametrize("name", VALUES)
def test_the_same_noise_gives_the_same_numbers(name: str) -> None:
    """All the way from visits to estimates. The tolerance of 1e-12, relative, is for other versions of NumPy.

    Of all mechanisms but Shares, which asks other questions than in version 0.1.
    """
    request = requests()[name]
    with request.chosen.open(partial(open_queries, visits())) as opened:
        queries = CachedQueries(opened)
        story._rehearse(request, [queries])
        [measurements] = story._cross(request, [queries], SimulatedNoise(3))
    [level] = request.levels
    found = level.mechanism.estimate(measurements, story.listed_in(request, level, measurements))
    assert found.locations.to_pylist() == VALUES[name]["locations"]
    assert [column for column in COLUMNS if getattr(found, column) is not None] == [
        column for column in COLUMNS if column in VALUES[name]
    ]
    for column in COLUMNS:
        if column in VALUES[name]:
            expected = np.array(VALUES[name][column], dtype=np.float64)
            np.testing.assert_allclose(getattr(found, column), expected, rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_request_is_recognised(name: str) -> None:
    """Keys and texts are on disk: another spelling would be taken for another request."""
    assert requests()[name].identity(None) == IDENTITIES[name]


def interrupted(state: str, folder: Path) -> le.Ledger:
    shutil.copytree(DATA / f"interrupted-{state}", folder, dirs_exist_ok=True)
    for path in (folder / "city.ledger", folder / ".may.publishing"):
        path.chmod(0o600)  # which git does not keep
    return le.Ledger.open(folder / "city.ledger")


def test_paid_for_by_the_previous_version(tmp_path: Path) -> None:
    ledger = interrupted("spent", tmp_path)
    [spend] = ledger.history()
    release = le.publish(visits(), LIMIT, PUBLIC, out=tmp_path / "may", ledger=ledger, about=ABOUT)
    assert ledger.history() == (spend,)
    assert release.statement.ledger is not None
    assert release.statement.ledger.spend_id == spend.id
    assert names(tmp_path) == ["city.ledger", "may"]
    assert le.verify(tmp_path / "may", ledger).ok


def test_drawn_by_the_previous_version(tmp_path: Path) -> None:
    ledger = interrupted("drawn", tmp_path)
    [staged] = tmp_path.glob(".may.*.staged")
    drawn = {path.name: path.read_bytes() for path in staged.iterdir()}
    with pytest.warns(ResumedWarning):
        release = le.publish(visits(), LIMIT, PUBLIC, out=tmp_path / "may", ledger=ledger, about=ABOUT)
    assert {path.name: path.read_bytes() for path in (tmp_path / "may").iterdir()} == drawn
    assert release.statement.software_version == "0.1.0.dev0"
    assert len(ledger.history()) == 1
    assert names(tmp_path) == ["city.ledger", "may"]
    assert le.verify(tmp_path / "may", ledger).ok


@pytest.mark.parametrize("state", ["spent", "drawn"])
def test_another_request_does_not_take_it_up(state: str, tmp_path: Path) -> None:
    ledger = interrupted(state, tmp_path)
    before = names(tmp_path)
    with pytest.raises(ReleaseError, match="differs in title"):
        le.publish(visits(), LIMIT, PUBLIC, out=tmp_path / "may", ledger=ledger, about=le.About("Other"))
    assert names(tmp_path) == before
    assert len(ledger.history()) == 1
