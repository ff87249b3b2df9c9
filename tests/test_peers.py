"""The comparison with peers refuses wrong answers, so that nobody's mistake is measured."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
USERS, PLACES = 400, 40


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from peers import checks, environments

    return SimpleNamespace(checks=checks, environments=environments)


@pytest.fixture
def truth(peers: Any, tmp_path: Path) -> Any:
    """Every user was at ten places, once at each, in an order that differs from user to user."""
    user, step = np.divmod(np.arange(USERS * 10), 10)
    visits = {"user": user, "location": (user + step) % PLACES, "time": pa.array(step, pa.timestamp("us"))}
    files = str(tmp_path / "visits.parquet"), str(tmp_path / "places.parquet")
    pq.write_table(pa.table(visits), files[0])
    pq.write_table(pa.table({"location": np.arange(PLACES)}), files[1])
    return peers.checks.Truth(files)


def refused(truth: Any, tmp_path: Path, answers: str, columns: dict[str, Any], argument: str = "") -> bool:
    answer = tmp_path / "answer.parquet"
    pq.write_table(pa.table({"location": np.arange(PLACES)} | columns), answer)
    try:
        truth.check(SimpleNamespace(answers=answers, argument=argument), answer)
    except AssertionError:
        return True
    return False


def test_the_truth_is_that_of_the_visits(truth: Any) -> None:
    assert truth.kept == USERS * 5
    assert truth.users.tolist() == [USERS * 10 / PLACES] * PLACES
    np.testing.assert_allclose(truth.true, np.log(USERS * 10 / PLACES))
    np.testing.assert_allclose(truth.bounded, np.log(USERS * 5 / PLACES))


@pytest.mark.parametrize(("kept", "wrong"), [(5, False), (4, True), (10, True)])
def test_counts_of_another_bound_are_refused(truth: Any, tmp_path: Path, kept: int, wrong: bool) -> None:
    counts = np.full(PLACES, USERS * kept / PLACES)
    assert refused(truth, tmp_path, "users", {"users": counts}) is wrong


def test_more_users_than_there_are_is_refused(truth: Any, tmp_path: Path) -> None:
    counts = np.full(PLACES, USERS * 5 / PLACES)
    counts[:2] += 151, -151  # the sum is as it was
    assert refused(truth, tmp_path, "users", {"users": counts}) is True


@pytest.mark.parametrize(("answers", "right", "wrong"), [("bounded", 5, 10), ("true", 10, 5)])
def test_entropies_must_be_exact(truth: Any, tmp_path: Path, answers: str, right: int, wrong: int) -> None:
    entropies = {kept: np.full(PLACES, np.log(USERS * kept / PLACES)) for kept in (right, wrong)}
    assert refused(truth, tmp_path, answers, {"entropy": entropies[right]}) is False
    assert refused(truth, tmp_path, answers, {"entropy": entropies[wrong]}) is True


def test_intervals_must_hold_the_exact_value(truth: Any, tmp_path: Path) -> None:
    for mechanism, exact in (("limit", truth.bounded), ("shares", truth.true)):
        right = {"low": exact - 0.1, "high": exact + 0.1}
        assert refused(truth, tmp_path, "release", right, mechanism) is False
        wrong = {"low": exact + 0.05, "high": exact + 0.1}
        assert refused(truth, tmp_path, "release", wrong, mechanism) is True


def test_a_reason_is_the_line_that_names_the_error(peers: Any) -> None:
    said = "Traceback\n  File x\nModuleNotFoundError: No module named 'tmlt'\nwarning: be careful\n"
    assert peers.environments.last_line(said) == "ModuleNotFoundError: No module named 'tmlt'"
    assert peers.environments.last_line("") == "no reason given"
