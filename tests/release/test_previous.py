"""Releases, ledgers and plan files that version 0.1 has written are read, verified and continued."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import BudgetError
from tests.publishing.invented import DATA

EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text())
PAID_BY = {name: "closed.ledger" if "NOT-PRIVATE" in name else "city.ledger" for name in EXPECTED["tables"]}
SAID = {"shares": "Shares", "moments": "Moments", "limit-ptr": "LimitPTR", "limit-ss": "LimitSS"}


def ledger(name: str, folder: Path) -> le.Ledger:
    """A copy, to be written to; Git does not keep that it is for its owner alone."""
    path = Path(shutil.copy(DATA / name, folder / name))
    path.chmod(0o600)
    return le.Ledger.open(path)


@pytest.mark.parametrize("name", PAID_BY)
def test_a_release_verifies(name: str, tmp_path: Path) -> None:
    alone = le.verify(DATA / name)
    assert alone.ok, alone.checks
    paid = le.verify(DATA / name, ledger(PAID_BY[name], tmp_path))
    assert paid.ok, paid.checks
    assert paid.checks[-1].name == "ledger"


@pytest.mark.parametrize("name", PAID_BY)
def test_a_release_verifies_not_with_the_other_ledger(name: str, tmp_path: Path) -> None:
    other = "city.ledger" if PAID_BY[name] == "closed.ledger" else "closed.ledger"
    assert not le.verify(DATA / name, ledger(other, tmp_path)).ok


@pytest.mark.parametrize("name", PAID_BY)
def test_a_release_is_loaded(name: str) -> None:
    release = le.Release.load(DATA / name)
    assert release.to_arrow().to_pydict() == EXPECTED["tables"][name]
    assert release.statement.software_version == "0.1.0.dev0"
    assert release.statement.built_in
    if name in SAID:
        assert release.statement.mechanism == SAID[name]


def test_a_release_can_be_drawn_and_saved_again(tmp_path: Path) -> None:
    release = le.Release.load(DATA / "shares")
    again = le.Release.load(release.save(tmp_path / "again"))
    assert again.to_arrow().equals(release.to_arrow())
    assert again.statement == release.statement


@pytest.mark.parametrize("change", ["a value", "a promise"])
def test_a_changed_release_does_not_verify(change: str, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(DATA / "shares", tmp_path / "shares"))
    path = directory / ("release.csv" if change == "a value" else "details.yaml")
    old, new = ("p00", "p99") if change == "a value" else ("epsilon: '1'", "epsilon: '0.1'")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert not le.verify(directory).ok


@pytest.mark.parametrize("name", EXPECTED["ledgers"])
def test_a_ledger_is_read(name: str, tmp_path: Path) -> None:
    found, expected = ledger(name, tmp_path).verify(), EXPECTED["ledgers"][name]
    assert found.population == expected["population"]
    assert [str(found.total.epsilon), str(found.total.delta)] == expected["total"]
    assert found.closed == expected["closed"]
    assert [
        [spend.id, None if spend.epsilon is None else str(spend.epsilon), str(spend.delta), spend.purpose]
        for spend in found.spends
    ] == expected["spends"]
    assert [[each.spend, each.release, each.state] for each in found.releases] == expected["releases"]


def test_a_ledger_goes_on_to_spend(tmp_path: Path) -> None:
    city = ledger("city.ledger", tmp_path)
    before = city.remaining.epsilon
    spend = city.spend(le.Guarantee.pure("0.1"), "later")
    assert city.remaining.epsilon == before - spend.epsilon
    assert len(city.verify().spends) == len(EXPECTED["ledgers"]["city.ledger"]["spends"]) + 1
    with pytest.raises(BudgetError):
        city.spend(le.Guarantee.pure(20), "too much")
    for name, paid_by in PAID_BY.items():
        if paid_by == "city.ledger":
            assert le.verify(DATA / name, city).ok, "a later spend changes nothing about earlier ones"


def test_a_closed_ledger_stays_closed(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="closed"):
        ledger("closed.ledger", tmp_path).spend(le.Guarantee.pure("0.1"), "later")


def test_plan_files(tmp_path: Path) -> None:
    shares, moments = (le.Plan.from_yaml(DATA / f"{name}.plan.yaml") for name in ("shares", "moments"))
    assert shares == replace(le.plan(le.Shares(1.0), n_locations=12, n_users=400), publish_columns=None)
    planned = le.plan(
        le.Moments(1.0, max_locations=5, max_visits=5),
        users_per_location=[1, 5, 50],
        about=le.About(title="Made-up", curator="nobody", intended_use="testing"),
    )
    assert moments == replace(planned, publish_columns=None), "which it does not say"
    moments.to_yaml(tmp_path / "plan.yaml")
    text = (tmp_path / "plan.yaml").read_text()
    assert "intended_use: testing" in text
    assert "purpose:" not in text
    assert le.Plan.from_yaml(tmp_path / "plan.yaml") == moments
