"""A mechanism from outside the package: that of docs/add-a-mechanism.md, planned, evaluated and published."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.estimates import Measurements
from locentropy.core.locations import Locations
from locentropy.mechanisms import OpenDPNoise
from locentropy.mechanisms.registry import installed_names, mechanism_class, mechanism_from

from .recording import CrowdQueries, Recorder

PAGE = Path(__file__).parents[2] / "docs" / "add-a-mechanism.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def log_users(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The page's module, imported from a file of its own."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "log_users.py").write_text(BLOCKS[0], encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield importlib.import_module("log_users")
    sys.path.remove(str(folder))
    del sys.modules["log_users"]


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Visits, and a list of thirty places, of which the first has 600 users and the last nobody."""
    folder = tmp_path_factory.mktemp("city")
    rows = [(user, place) for place in range(30) for user in range(600 - 20 * place - 20 * (place == 29))]
    table = pa.table({"user": [u for u, _ in rows], "location": [f"p{p:02}" for _, p in rows]})
    pq.write_table(table, folder / "visits.parquet")
    pq.write_table(pa.table({"location": [f"p{p:02}" for p in range(30)]}), folder / "places.parquet")
    return folder


def sources(city: Path) -> tuple[le.Visits, le.PublicLocations]:
    return le.Visits(city / "visits.parquet"), le.PublicLocations(city / "places.parquet")


def test_the_page_shows_one_of_about_sixty_lines() -> None:
    assert 50 <= len(BLOCKS[0].splitlines()) <= 75


def test_it_is_planned(log_users: ModuleType) -> None:
    plan = le.plan(log_users.LogUsers(1.0, max_locations=5), n_locations=30)
    assert plan.guarantee.epsilon == 1
    assert "log-users (epsilon 1.0, max_locations 5)" in str(plan)
    assert "gives no expected error" in str(plan)
    assert plan.to_dict()["expected_error"]["known"] is False


def test_it_is_evaluated(log_users: ModuleType, city: Path) -> None:
    visits, places = sources(city)
    several = [log_users.LogUsers(1.0, max_locations=30), le.Moments(1.0, max_locations=30, max_visits=1)]
    found = le.evaluate(visits, several, places, seeds=4)
    mine, moments = found.compared
    assert (mine.name, mine.parameters) == ("log-users", {"epsilon": "1.0", "max_locations": 30})
    assert mine.scores["coverage_own"].mean > 0.8
    assert 0.2 < mine.scores["mse_busy"].mean / moments.scores["mse_busy"].mean < 5


def test_it_is_published_and_the_statement_says_whose_proof_it_is(
    log_users: ModuleType, city: Path, tmp_path: Path
) -> None:
    visits, places = sources(city)
    ledger = le.Ledger.create(tmp_path / "city.ledger", "invented people", epsilon=2)
    mechanism = log_users.LogUsers(1.0, max_locations=30)
    le.publish(visits, mechanism, places, ledger=ledger, out=tmp_path / "out")
    assert ledger.remaining.epsilon == 1
    release = le.Release.load(tmp_path / "out")
    table = release.to_arrow()
    assert {"entropy", "low", "high"} <= set(table.column_names)
    assert "std_error" not in table.column_names
    assert abs(table["entropy"][0].as_py() - np.log(600)) < 1.5
    assert not release.statement.built_in
    for name in ("manifest.yaml", "report.html"):
        said = " ".join((tmp_path / "out" / name).read_text(encoding="utf-8").split())
        assert "stated and proved by the author of LogUsers, which is not part of locentropy" in said, name
        assert "the docstring of log_users.py, by its author" in said, name
    assert le.verify(tmp_path / "out", ledger=ledger).ok


def test_its_release_verifies_where_the_mechanism_is_not_installed(
    log_users: ModuleType, city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits, places = sources(city)
    mechanism = log_users.LogUsers(1.0, max_locations=30)
    le.publish(visits, mechanism, places, ledger=None, out=tmp_path / "out")
    monkeypatch.setitem(sys.modules, "log_users", None)
    assert le.verify(tmp_path / "out").ok
    assert le.Release.load(tmp_path / "out").statement.method == mechanism.method


def loss(mechanism: Any) -> float:
    """The privacy loss for a user at exactly M locations, from what the noise is asked for."""
    most = mechanism.max_locations
    before, after = ([{1: users}] * most + [{1: 9}] for users in (40, 41))
    drawn = []
    for crowds in (before, after):
        noise, queries = Recorder(), CrowdQueries(crowds)
        mechanism.measure(queries, Locations(queries.locations), noise)
        drawn.append(noise)
    moved = np.abs(drawn[0].values - drawn[1].values)
    return float((moved / drawn[0].scales).sum())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("max_locations", [1, 5])
def test_its_claim_holds_and_faults_are_seen(
    log_users: ModuleType, epsilon: float, max_locations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = log_users.LogUsers(epsilon, max_locations=max_locations)
    assert epsilon * (1 - 1e-9) < loss(mechanism) <= epsilon * (1 + 1e-9)
    honest = log_users.LogUsers.scale.fget
    monkeypatch.setattr(log_users.LogUsers, "scale", property(lambda self: 0.99 * honest(self)))
    assert loss(mechanism) > epsilon


def test_without_noise_the_logarithm_comes_out(log_users: ModuleType) -> None:
    queries = CrowdQueries([{1: 40, 3: 2}, {}, {1: 1}])
    mechanism, listed = log_users.LogUsers(1.0, max_locations=5), Locations(queries.locations)
    found = mechanism.estimate(mechanism.measure(queries, listed, Recorder()), listed)
    assert found.entropy == pytest.approx([np.log(42), 0.0, 0.0])
    assert not found.private


def test_columns_that_it_does_not_declare_are_refused(log_users: ModuleType, city: Path) -> None:
    class Careless(log_users.LogUsers):
        def estimate(self, measurements: Measurements, locations: Any) -> Any:
            honest = super().estimate(measurements, locations)
            return type(honest)(
                honest.locations, honest.entropy, "bounded", honest.private, std_error=honest.entropy
            )

    visits, places = sources(city)
    with pytest.raises(ReleaseError, match="std_error of Careless may not be published"):
        le.publish(visits, Careless(1.0, max_locations=5), places, ledger=None)


def test_what_is_no_mechanism_is_refused_by_all_three(city: Path) -> None:
    visits, places = sources(city)
    nothing: Any = object()
    for call in (
        lambda: le.plan(nothing),
        lambda: le.evaluate(visits, [nothing], places),
        lambda: le.publish(visits, nothing, places, ledger=None),
    ):
        with pytest.raises(ParameterError, match="object is not a mechanism"):
            call()


def test_noise_is_what_makes_it_private(log_users: ModuleType) -> None:
    queries = CrowdQueries([{1: 40}] * 3)
    listed = Locations(queries.locations)
    measured = log_users.LogUsers(1.0, max_locations=5).measure(queries, listed, OpenDPNoise())
    assert measured.private


def test_another_distribution_offers_one_by_name(
    log_users: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.metadata import EntryPoint

    from locentropy.mechanisms import registry

    entry = EntryPoint("log-users", "log_users:LogUsers", registry.GROUP)

    def offered(group: str, name: str | None = None) -> list[EntryPoint]:
        assert group == registry.GROUP
        return [entry] if name in (None, entry.name) else []

    monkeypatch.setattr(registry, "entry_points", offered)
    installed_names.cache_clear()
    try:
        assert mechanism_class("log-users") is log_users.LogUsers
        assert mechanism_from("log-users", {"epsilon": "0.5", "max_locations": "3"}) == log_users.LogUsers(
            0.5, max_locations=3
        )
    finally:
        installed_names.cache_clear()
