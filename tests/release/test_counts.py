"""Bounded counts in a release: columns, words, the rule for uncertain rows, and what verify sees."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import Draft7Validator

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.estimates import COUNTS
from locentropy.release.manifest import manifest
from locentropy.release.release import Release
from locentropy.release.report.page import page

from .making import estimates, parameters, places, statement
from .registry_schema import SCHEMA
from .report.making import town

PURE = le.Shares(2.0, counts=0.5, max_locations=4, max_visits=3)
GAUSSIAN = le.Shares(2.0, delta=1e-9, counts=0.5, max_locations=4, max_visits=3, keep="most-visited")
SAID = {
    "guarantee": PURE.guarantee,
    "mechanism": "Shares",
    "parameters": parameters(PURE),
    "estimand": "true",
    "method": PURE.method_used,
}
SIX = {
    "visitors": [3.0, np.nan, 70.0],
    "visitors_low": [0.0, np.nan, 40.0],
    "visitors_high": [33.0, np.nan, 100.0],
    "visits": [0.0, np.nan, 150.0],
    "visits_low": [0.0, np.nan, 60.0],
    "visits_high": [90.0, np.nan, 240.0],
}


def made(six: Any = None, **changes: Any) -> Release:
    found = estimates(estimand="true", **(SIX | (six or {})))
    return Release.of(found, places(), statement(**(SAID | changes)))


def published(mechanism: Any, directory: Path, **given: Any) -> Release:
    draw = np.random.default_rng(1)
    rows = pa.table({"user": draw.integers(0, 900, 9000), "location": draw.integers(0, 12, 9000) ** 2 // 12})
    listed = le.PublicLocations(list(range(14)), provenance="numbers")
    return le.publish(le.Visits(rows), mechanism, listed, ledger=None, out=directory, **given)


RULED = {"entropy_unit": "bits", "max_std_error": 0.31}


@pytest.mark.parametrize(
    ("mechanism", "given"),
    [
        pytest.param(PURE, {}, id="pure"),
        pytest.param(GAUSSIAN, RULED, id="delta, ruled"),
        pytest.param(PURE, RULED, id="pure, ruled", marks=pytest.mark.nightly),
        pytest.param(GAUSSIAN, {}, id="delta", marks=pytest.mark.nightly),
    ],
)
def test_published_verified_read_back_and_computed_again(mechanism: Any, given: Any, tmp_path: Path) -> None:
    release = published(mechanism, tmp_path / "may", **given)
    table = release.to_arrow()
    assert table.column_names[-6:] == list(COUNTS)
    for name in COUNTS:
        values = table[name].to_numpy()
        assert table[name].null_count == 0, "the rule for uncertain rows is about entropies"
        assert (values >= 0).all()
        assert np.array_equal(values, np.floor(values)), "also in bits"
    report = le.verify(tmp_path / "may")
    assert report.ok, report.checks
    again = Release.load(tmp_path / "may")
    assert again.to_arrow().equals(table)
    assert again.reestimate().to_arrow().equals(table)
    kept = again.measurements
    assert kept is not None
    assert {"visitor_counts", "visit_counts"} < set(kept.scales)
    assert "visitors_low" in (tmp_path / "may" / "release.csv").read_text().splitlines()[0]


def test_what_is_said_about_them() -> None:
    said = manifest(made().statement)
    Draft7Validator(SCHEMA).validate(said)
    deployment = said["deployment"]
    for words in (
        deployment["basic"]["description"],
        deployment["implementation"]["preprocessing_and_hyperparameter_tuning"],
    ):
        assert "each person counts at no more than 4 places" in words
        assert "3 visits in each" in words
    assert "no upper bounds" in deployment["basic"]["description"]
    assert "is set aside (counts)" in deployment["implementation"]["mechanisms"]
    assert "law of the noise alone" in deployment["accounting"]["post_processing"]
    assert "max_locations = 4" in deployment["dp_variant"]["unprotected_quantities"]
    plain = replace(made().statement, method=le.Shares.method)
    assert "visitors_low" not in str(manifest(plain))


def test_the_rule_for_uncertain_rows_says_that_counts_stay() -> None:
    ruled = made(max_std_error=0.05)
    assert ruled.to_arrow()["entropy"].null_count == 3
    assert ruled.to_arrow()["visitors"].to_pylist() == [3.0, None, 70.0]
    assert "counts stay" in manifest(ruled.statement)["deployment"]["accounting"]["post_processing"]
    words = str(le.plan(PURE, max_std_error=0.5))
    assert "counts stay" in words
    assert "counts stay" not in str(le.plan(le.Shares(2.0), max_std_error=0.5))


@pytest.mark.parametrize("mechanism", ["Limit", "Moments", "Shares"])
def test_nobody_publishes_them_undeclared(mechanism: str) -> None:
    estimand = "true" if mechanism == "Shares" else "bounded"
    with pytest.raises(ReleaseError, match=r"visitors.* may not be published"):
        Release.of(
            estimates(estimand=estimand, **SIX), places(), statement(mechanism=mechanism, estimand=estimand)
        )


@pytest.mark.parametrize(
    ("six", "words"),
    [
        ({"visitors": [3.5, np.nan, 70.0]}, "not a count"),
        ({"visits_low": [-1.0, np.nan, 60.0]}, "not a count"),
        ({"visits_low": None}, "both ends, visits_low and visits_high"),
        ({"visitors_low": [40.0, np.nan, 40.0]}, r"must not end \(visitors_high\) before"),
        ({"visitors": [3.0, 5.0, 70.0]}, "visitors must be finite where the entropy is published"),
    ],
)
def test_what_is_no_count_is_refused(six: Any, words: str) -> None:
    with pytest.raises((ReleaseError, ParameterError), match=words):
        made(six)


def test_counts_are_there_wherever_something_is() -> None:
    for limit in (None, 0.05):
        release = made(max_std_error=limit)
        table = release.to_arrow()
        at = table.column_names.index("visits")
        for values, fits in (([None, None, 150.0], False), ([0.0, 9.0, 150.0], limit is not None)):
            changed = table.set_column(at, "visits", pa.array(values, pa.float64()))
            if limit is not None and values[0] is None:
                continue  # there, an empty count may be one that the mechanism withholds
            if fits:
                Release(changed, release.statement)
            else:
                with pytest.raises(ReleaseError, match="visits is empty"):
                    Release(changed, release.statement)


def test_a_changed_count_is_found(tmp_path: Path) -> None:
    """Also where all files fit each other: it is not what the measurements give."""
    honest = published(PURE, tmp_path / "may")
    table = honest.to_arrow()
    at = table.column_names.index("visitors_low")
    changed = table.set_column(at, "visitors_low", pa.array(table["visitors_low"].to_numpy() + 1.0))
    shutil.rmtree(tmp_path / "may")
    replace(honest, table=changed).save(tmp_path / "may")
    problems = {check.name: check.problems for check in le.verify(tmp_path / "may").checks}
    assert any("visitors_low is not what the measurements give" in each for each in problems["measurements"])


def test_counts_that_were_not_measured_are_found(tmp_path: Path) -> None:
    """A whole release, made to fit itself: columns and words of counts, and measurements without them."""
    honest = published(PURE, tmp_path / "may")
    plain = published(le.Shares(2.0), tmp_path / "june")
    table = plain.to_arrow()
    for name in COUNTS:
        table = table.append_column(name, honest.to_arrow()[name])
    forged = replace(plain, table=table, statement=replace(plain.statement, method=PURE.method_used))
    shutil.rmtree(tmp_path / "june")
    forged.save(tmp_path / "june")
    problems = {check.name: check.problems for check in le.verify(tmp_path / "june").checks}
    assert "The table has other columns than the measurements give." in problems["measurements"]
    assert any("what locentropy does not say" in each for each in problems["details"])


def test_the_page_lists_and_explains_them() -> None:
    shown = page(town(30, mechanism="Shares", counts=True)).decode()
    assert "Visitors, bounded" in shown
    assert '"counted_visitors_low":' in shown
    assert "each person counts at no more than 10 places" in shown
    assert "too high" in shown
    plain = page(town(30, mechanism="Shares")).decode()
    assert "Visitors, bounded</th>" not in plain
    assert '"counted_visitors":' not in plain
