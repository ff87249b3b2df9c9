"""The rule for uncertain rows: a function of noisy values that costs nothing, hides nothing, and is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.datasets.city import City
from locentropy.planning.plans import Plan
from locentropy.release.release import Release

MOMENTS = le.Moments(1.0, max_locations=5, max_visits=5, max_users=1000)
COLUMNS = ("entropy", "effective_visitors", "std_error", "low", "high")


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city")
    City(people=400, places=40, seed=3).write(folder)
    return folder


def published(city: Path, **options: Any) -> Release:
    places = le.PublicLocations(city / "places.csv", provenance="made with the city")
    return le.publish(
        le.Visits(city / "visits.parquet", user="user"), MOMENTS, places, ledger=None, **options
    )


@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_rows_above_the_limit_are_empty(unit: Any, city: Path, tmp_path: Path) -> None:
    whole = published(city, entropy_unit=unit)
    errors = whole.to_arrow()["std_error"].to_numpy()
    limit = float(np.median(errors)) * (np.log(2.0) if unit == "bits" else 1.0)
    ruled = replace(whole.statement, max_std_error=limit)
    assert whole.measurements is not None
    made = Release(whole.to_arrow(), ruled, whole.measurements).reestimate()
    empty = made.to_arrow()["entropy"].is_null().to_numpy()
    np.testing.assert_array_equal(empty, errors > np.median(errors))
    np.testing.assert_array_equal(made.too_uncertain, empty)
    for name in COLUMNS:
        kept = made.to_arrow()[name].to_numpy()
        np.testing.assert_array_equal(np.isnan(kept), empty)
        np.testing.assert_allclose(kept[~empty], whole.to_arrow()[name].to_numpy()[~empty], rtol=1e-12)
    directory = made.save(tmp_path / "may")
    assert le.verify(directory).ok
    assert Release.load(directory).reestimate().to_arrow().equals(made.to_arrow()), (
        "`estimate` keeps the rule"
    )


def test_it_is_said_wherever_a_release_says_anything(city: Path, tmp_path: Path) -> None:
    made = published(city, max_std_error=0.5, out=tmp_path / "may", entropy_unit="bits")
    assert made.statement.max_std_error == 0.5
    manifest = " ".join((tmp_path / "may" / "manifest.yaml").read_text().split())
    assert "standard error is above 0.5 nats (0.7213 bits) have no value" in manifest
    assert "Nor does it protect anybody" in manifest
    table = yaml.safe_load((tmp_path / "may" / "details.yaml").read_text())["table"]
    assert table["max_std_error"] == 0.5
    assert "costs no budget" in table["rule_in_words"]


def test_it_never_decides_whether_there_is_a_release(city: Path, tmp_path: Path) -> None:
    made = published(city, max_std_error=1e-9, out=tmp_path / "may")
    assert made.to_arrow()["entropy"].null_count == len(made) == 40
    assert made.measurements is not None, "what is left out of the table lies beside it"
    assert le.verify(tmp_path / "may").ok


def test_verify_computes_it_again(city: Path, tmp_path: Path) -> None:
    whole = published(city)
    # Limits between the errors that were drawn, so that each empties other rows, whatever the draw.
    low, middle, high = np.quantile(whole.to_arrow()["std_error"].to_numpy(), (0.2, 0.5, 0.8)).tolist()
    ruled = replace(whole.statement, max_std_error=middle)
    made = Release(whole.to_arrow(), ruled, whole.measurements).reestimate()
    assert 0 < made.to_arrow()["entropy"].null_count < 40
    with pytest.raises(ReleaseError, match="other locations than those that have a value"):
        Release(made.to_arrow(), replace(ruled, max_std_error=None), made.measurements)
    for limit in (low, high):
        other = replace(made.statement, max_std_error=limit)
        edited = Release(made.to_arrow(), other, made.measurements).save(tmp_path / f"limit-{limit}")
        [problem] = [check for check in le.verify(edited).checks if check.problems]
        assert problem.name == "measurements"
    assert le.verify(made.save(tmp_path / "as-it-is")).ok


def test_plans_say_and_keep_it(tmp_path: Path) -> None:
    made = le.plan(le.Shares(epsilon=1.0), max_std_error=0.5)
    assert "standard error is above 0.5 nats get no value" in str(made)
    assert "Nor does it protect anybody" in str(made)
    assert made.to_dict()["max_std_error"] == 0.5
    assert made.guarantee == le.plan(le.Shares(epsilon=1.0)).guarantee, "it costs nothing"
    made.to_yaml(tmp_path / "plan.yaml")
    assert Plan.from_yaml(tmp_path / "plan.yaml") == made


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "0.5", True, 1e7])
def test_limits_that_are_none(limit: Any) -> None:
    with pytest.raises(ParameterError, match="max_std_error"):
        le.plan(le.Shares(epsilon=1.0), max_std_error=limit)


def test_where_rows_have_no_errors_of_their_own() -> None:
    bounds: Any = {"max_locations": 5, "max_visits": 5}
    with pytest.raises(ParameterError, match="publishes none"):
        le.plan(le.paper.LimitSS(1.0, delta=1e-8, **bounds), max_std_error=0.5)
    for constant in (le.paper.Limit(1.0, **bounds), le.LimitPTR(1.0, delta=1e-8, min_users=50, **bounds)):
        with pytest.raises(ParameterError, match="same at every place"):
            le.plan(constant, max_std_error=0.5)
