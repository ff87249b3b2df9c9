"""What version 0.1 has begun is finished without a second spend or draw, and the same noise gives the same numbers."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
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
from locentropy.publishing.notices import LeftOutWarning
from locentropy.publishing.publication_file import taken_up
from locentropy.publishing.publish import ResumedWarning
from locentropy.publishing.request import Request
from locentropy.visits.queries import open_queries
from tests.publishing.invented import ABOUT, DATA, PUBLIC, REGISTER, register, requests, visits
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
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)  # which git does not keep
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


# --- attempts of a version that published every column of a list --------------------------------------------------

OF_ALL_COLUMNS: dict[str, dict[str, str]] = json.loads((DATA / "identities-all-columns.json").read_text())
WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "an attribute": {"attributes": ["kind"]},
    "a group": {"group": "district"},
    "levels": {"levels": ["place", "district", "city"]},
    "levels without places": {"levels": ["district", "all"]},
    "less places": {},
    "no phone": {},
}
"""By the names in identities-all-columns.json; the last left out a column by an option that is gone."""


@pytest.mark.parametrize("name", OF_ALL_COLUMNS)
def test_an_attempt_with_all_columns_is_recognised(name: str) -> None:
    earlier, exclude = OF_ALL_COLUMNS[name], le.PublicLocations(["p03"]) if name == "less places" else None
    request = Request(le.Shares(1.0), register(**WAYS[name]), exclude)
    assert request.identity(None) != earlier
    begun = request.as_begun(earlier, None)
    assert begun is not None
    assert begun.identity(None) == earlier
    assert list(begun.chosen.columns) == json.loads(earlier["columns"])
    named = replace(request, locations=register(**WAYS[name], publish_columns=begun.chosen.columns))
    assert named.as_begun(earlier, None) is not None, "who names them now means the same"
    fewer = replace(request, locations=register(**WAYS[name], publish_columns=begun.chosen.columns[:-1]))
    other = replace(request, about=ABOUT)
    assert fewer.chosen.columns == () or fewer.as_begun(earlier, None) is None
    assert other.as_begun(earlier, None) is None


def test_an_attempt_of_this_version_is_not_taken_for_an_earlier_one() -> None:
    """Whoever named all columns, and then none, has asked for something else."""
    every = Request(le.Shares(1.0), register(publish_columns=["kind", "district", "ward", "phone"]))
    none = Request(le.Shares(1.0), register())
    assert none.as_begun(every.identity(None), None) is None
    assert every.as_begun(none.identity(None), None) is None
    assert none.as_begun(none.identity(None), None) is none


@pytest.mark.parametrize("state", ["spent", "drawn"])
def test_begun_with_all_columns_it_is_finished_with_them(state: str, tmp_path: Path) -> None:
    ledger = interrupted(f"all-columns-{state}", tmp_path)
    [spend] = ledger.history()
    listed = register(of=REGISTER.drop_columns(["ward"]))
    with (
        warnings.catch_warnings(action="ignore", category=ResumedWarning),
        pytest.warns(LeftOutWarning, match="it is finished with them, 'kind', 'district', 'phone'"),
    ):
        release = le.publish(visits(), LIMIT, listed, out=tmp_path / "may", ledger=ledger, about=ABOUT)
    assert release.statement.listed_columns == ("kind", "district", "phone")
    assert release.to_arrow()["phone"].to_pylist() == REGISTER["phone"].to_pylist()
    assert ledger.history() == (spend,)
    assert names(tmp_path) == ["city.ledger", "may"]
    assert le.verify(tmp_path / "may", ledger).ok


def test_what_had_not_begun_is_published_without_columns(tmp_path: Path) -> None:
    """A record without a spend is of no attempt: nothing is begun with columns that nobody named."""
    shutil.copytree(DATA / "interrupted-all-columns-spent", tmp_path, dirs_exist_ok=True)
    shutil.rmtree(next(tmp_path.glob(".may.*.draws")))
    record = tmp_path / ".may.publishing"
    record.chmod(0o600)
    (tmp_path / "city.ledger").unlink()
    order = json.loads(record.read_text())
    order["order"]["ledger"] = "none"
    record.write_text(json.dumps(order))
    listed = register(of=REGISTER.drop_columns(["ward"]))
    release = le.publish(visits(), LIMIT, listed, out=tmp_path / "may", ledger=None, about=ABOUT)
    assert release.statement.listed_columns == ()
    assert names(tmp_path) == ["may"]


def test_what_is_finished_meanwhile_is_not_begun_anew(tmp_path: Path) -> None:
    ledger = interrupted("all-columns-spent", tmp_path)
    listed = register(of=REGISTER.drop_columns(["ward"]))
    begun = taken_up(Request(LIMIT, listed, about=ABOUT), tmp_path / "may", ledger)
    assert begun.begun_before
    (tmp_path / ".may.publishing").unlink()
    with pytest.raises(ReleaseError, match="was finished, or given up, in the meantime"):
        story.carry_out(begun, visits(), out=tmp_path / "may", ledger=ledger)
    assert len(ledger.history()) == 1
    assert not (tmp_path / "may").exists()
