"""The default mechanism on its way to a release: other questions, another estimand, one more column."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import ReleaseError, SourceError
from locentropy.core.shares import ShareRule
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS
from locentropy.publishing import publish as story
from locentropy.publishing.chosen_locations import ExcludeWarning
from locentropy.visits.queries import TableQueries
from tests.publishing.making import PLACES, ledger_in, public, visits_in

SHARES = le.Shares(epsilon=1)


@pytest.fixture
def ledger(tmp_path: Path) -> le.Ledger:
    return ledger_in(tmp_path)


@pytest.fixture
def visits(tmp_path: Path) -> le.Visits:
    return visits_in(tmp_path)


def crowd() -> le.Visits:
    users = {"full": 400, "busy": 300, "single": 1}
    return le.Visits(
        pa.table(
            {
                "user": [n for number in users.values() for n in range(number)],
                "location": [place for place, number in users.items() for _ in range(number)],
            }
        )
    )


@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_every_listed_place(unit: Any, tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
    release = le.publish(visits, SHARES, public(), out=tmp_path / "may", ledger=ledger, entropy_unit=unit)
    assert release.to_arrow()["location"].to_pylist() == PLACES
    assert release.to_arrow().column_names[1:] == [
        "entropy",
        "effective_visitors",
        "std_error",
        "low",
        "high",
    ]
    said = release.statement
    assert (said.mechanism, said.estimand, said.max_users) == ("Shares", "true", 10_000_000)
    assert "a supposed number of people for each place" in (said.expected_error or "")
    assert le.verify(tmp_path / "may", ledger).ok
    [spend] = ledger.history()
    assert (spend.epsilon, spend.delta) == (1, 0)


def test_moments(tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
    release = le.publish(
        visits, le.Moments(1, max_locations=3, max_visits=2), public(), out=tmp_path / "may", ledger=ledger
    )
    assert release.statement.estimand == "bounded"
    assert le.verify(tmp_path / "may", ledger).ok


def test_a_selection_first(tmp_path: Path, ledger: le.Ledger) -> None:
    chosen = le.SelectLocations(epsilon=0.5, delta=1e-6, max_locations=2)
    release = le.publish(crowd(), SHARES, chosen, out=tmp_path / "may", ledger=ledger)
    assert release.to_arrow()["location"].to_pylist() == ["busy", "full"]
    [spend] = ledger.history()
    assert (spend.epsilon, spend.delta) == (Fraction(3, 2), Fraction(1, 10**6))
    assert le.verify(tmp_path / "may", ledger).ok
    with pytest.warns(ExcludeWarning, match="private log"):
        less = le.publish(crowd(), SHARES, chosen, exclude=le.PublicLocations(["full"]), ledger=None)
    assert less.to_arrow()["location"].to_pylist() == ["busy"]


def test_nothing_may_be_selected(tmp_path: Path, ledger: le.Ledger) -> None:
    table = pa.table({"user": [1, 2], "location": ["a", "b"]})
    chosen = le.SelectLocations(epsilon=0.5, delta=1e-6, max_locations=1)
    release = le.publish(le.Visits(table), SHARES, chosen, out=tmp_path / "may", ledger=ledger)
    assert len(release) == 0
    assert le.verify(tmp_path / "may", ledger).ok


def test_a_grid(tmp_path: Path) -> None:
    table = pa.table({"user": list(range(60)), "lat": [40.701] * 60, "lon": [-74.0] * 60})
    grid = le.Grid(40.70, -74.01, 40.71, -73.99, cell=500)
    release = le.publish(le.Visits(table), SHARES, grid, out=tmp_path / "may", ledger=None)
    assert len(release) == grid.rows * grid.columns
    assert le.verify(tmp_path / "may").ok
    less = le.publish(le.Visits(table), SHARES, grid, exclude=le.PublicLocations([0, 7]), ledger=None)
    assert len(less) == grid.rows * grid.columns - 2


def test_nobody_there_costs_nothing(tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
    with pytest.raises(SourceError, match="Nothing was spent"):
        le.publish(visits, SHARES, le.PublicLocations(["Bar", "Café"]), ledger=ledger, refuse_empty=True)
    nobody = le.Visits(pa.table({"user": pa.array([], pa.int64()), "location": pa.array([], pa.string())}))
    with pytest.raises(le.LocentropyError):
        le.publish(nobody, SHARES, public(), ledger=ledger, refuse_empty=True)
    assert not ledger.history()


def test_noise_that_only_says_it_is_private_names_no_places_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is selected there is no value to doubt; what is said must not be believed more for that."""
    monkeypatch.setattr(story, "OpenDPNoise", lambda: SimulatedNoise(0))
    table = pa.table({"user": [1, 2], "location": ["a", "b"]})
    chosen = le.SelectLocations(epsilon=0.5, delta=1e-6, max_locations=1)
    with pytest.raises(ReleaseError, match="not private"):
        le.publish(le.Visits(table), SHARES, chosen, ledger=None)


def test_a_question_is_asked_once(visits: le.Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked before the spend is not asked again after it. The split is asked of other places."""
    asked: list[tuple[ShareRule, int]] = []
    look = TableQueries.look

    def counting(self: Any, rule: ShareRule) -> Any:
        asked.append((rule, len(self.locations)))
        return look(self, rule)

    monkeypatch.setattr(TableQueries, "look", counting)
    le.publish(visits, SHARES, public(), ledger=None)
    looks = [places for rule, places in asked if rule.weights == LOOK_WEIGHTS]
    assert looks == [len(PLACES)]
    assert len(asked) <= 2


def test_with_a_delta(tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
    """The whole way: spend, Gaussian draws in the journal, files that verify, estimates that come out again."""
    release = le.publish(visits, le.Shares(1, delta=1e-9), public(), out=tmp_path / "may", ledger=ledger)
    assert le.verify(tmp_path / "may", ledger).ok
    [spend] = ledger.history()
    assert (spend.epsilon, spend.delta) == (1, Fraction(1, 10**9))
    assert release.statement.guarantee.kind == "approximate"
    again = le.Release.load(tmp_path / "may").reestimate()
    assert again.to_arrow().equals(release.to_arrow())


def test_with_attributes(tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
    """Sums by level are measured, kept and read again."""
    listed = pa.table({"location": PLACES, "category": [f"kind {at % 2}" for at in range(len(PLACES))]})
    places = le.PublicLocations(listed, attributes=["category"])
    for name, mechanism in (("may", le.Shares(0.4)), ("june", le.Shares(0.4, delta=1e-9))):
        release = le.publish(visits, mechanism, places, out=tmp_path / name, ledger=ledger)
        assert release.measurements is not None
        assert release.measurements.measurements.values["sums"].shape == (2,)
        assert le.verify(tmp_path / name, ledger).ok
        assert le.Release.load(tmp_path / name).reestimate().to_arrow().equals(release.to_arrow())
