"""A release of Shares: the true entropy, a second column for rankings in those of version 0.1, and words that fit."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

import locentropy as le
from locentropy.core.errors import ReleaseError
from locentropy.mechanisms.shares.measurements import ShareQueries
from locentropy.release.details import UNKNOWN, details, statement_in
from locentropy.release.manifest import manifest
from locentropy.release.release import Release
from locentropy.release.verify import verify

from .making import LEDGER, estimates, parameters, places, statement
from .registry_schema import SCHEMA

SHARES = le.Shares(0.3, max_users=5000)
MOMENTS = le.Moments(0.3, max_locations=5, max_visits=5)
SAID = {
    "guarantee": SHARES.guarantee,
    "mechanism": "Shares",
    "parameters": parameters(SHARES),
    "estimand": "true",
    "max_users": 5000,
}
FIRST = SAID | {
    "software_version": "0.1.0",
    "method": replace(le.Shares.method, columns=(*le.Shares.method.columns, "entropy_busy")),
}
"""Of a release of version 0.1, which had a second column."""


def made(busy: Any = (0.7, np.nan, 3.5), **changes: Any) -> Release:
    found = estimates(estimand="true", entropy_busy=np.array(busy))
    return Release.of(found, places(), statement(**(FIRST | changes)))


@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_there_and_back(unit: str, tmp_path: Path) -> None:
    release = made(entropy_unit=unit)
    per_nat = 1 / math.log(2) if unit == "bits" else 1.0
    assert release.to_arrow().column_names[-4:] == ["std_error", "low", "high", "entropy_busy"]
    found = release.to_arrow()["entropy_busy"].to_pylist()
    assert found == [pytest.approx(0.7 * per_nat), None, pytest.approx(3.5 * per_nat)]
    directory = release.save(tmp_path / "may")
    assert verify(directory).ok
    again = Release.load(directory)
    assert again.to_arrow().equals(release.to_arrow())
    assert again.statement == release.statement
    assert "entropy_busy" in (directory / "release.csv").read_text()


@pytest.mark.parametrize("mechanism", ["Limit", "LimitSS", "Moments", "SomethingNew"])
def test_no_other_mechanism_has_the_column(mechanism: str, tmp_path: Path) -> None:
    bare = estimates(bars=False, entropy_busy=[1.0, np.nan, 2.0])
    with pytest.raises(ReleaseError, match=r"entropy_busy of .* may not be published"):
        Release.of(bare, None, statement(mechanism=mechanism))


def test_it_is_withheld_where_the_entropy_is(tmp_path: Path) -> None:
    table = made().to_arrow()
    filled = table.set_column(
        table.column_names.index("entropy_busy"), "entropy_busy", [np.array([0.7, 1.0, 3.5])]
    )
    with pytest.raises(ReleaseError, match="entropy_busy must be empty"):
        Release(filled, made().statement)


def test_a_changed_column_is_found(tmp_path: Path) -> None:
    directory = made().save(tmp_path / "may")
    path = directory / "release.parquet"
    table = pq.read_table(path)
    at = table.column_names.index("entropy_busy")
    other = table.set_column(at, "entropy_busy", [np.array([0.8, np.nan, 3.5])])
    pq.write_table(other.replace_schema_metadata(table.schema.metadata), path)
    assert not verify(directory).ok


def test_the_columns_in_words() -> None:
    said = details(made().statement, made().to_arrow().column_names, 3, {})["table"]["columns"]
    assert "of all visits; no bound was applied" in said["entropy"]
    assert "rankings of busy places" in said["entropy_busy"]
    assert "main number is entropy" in said["entropy_busy"]
    assert "before values are clipped" not in said["std_error"]
    assert all("measured on other data, and is not proved" in said[end] for end in ("low", "high"))
    assert "not proved" not in details(statement(), ["low"], 3, {})["table"]["columns"]["low"]
    assert "cut to the bounds" in details(statement(), ["entropy"], 3, {})["table"]["columns"]["entropy"]


def deployment(**changes: Any) -> dict[str, Any]:
    entry = manifest(statement(**changes))
    Draft7Validator(SCHEMA).validate(entry)
    found: dict[str, Any] = entry["deployment"]
    return found


def test_the_manifest_of_shares() -> None:
    said = deployment(**SAID)
    assert said["dp_variant"]["variant_name"] == "Pure DP"
    assert "true entropy: that of all visits; no bound was applied" in said["basic"]["description"]
    implementation = said["implementation"]
    assert "Nobody's visits are cut" in implementation["preprocessing_and_hyperparameter_tuning"]
    assert "one unit of presence" in implementation["mechanisms"]
    assert "max_users = 5000" in implementation["mechanisms"]
    after = said["accounting"]["post_processing"]
    for words in ("inferred", "between 0 and ln(5000)", "shares are rounded down"):
        assert words in after
    assert "bounds" not in after
    in_bits = deployment(**SAID, entropy_unit="bits")["accounting"]["post_processing"]
    assert "published entropy in nats. Entropies and their errors are given in bits" in in_bits


def test_the_manifest_of_moments() -> None:
    said = deployment(guarantee=MOMENTS.guarantee, mechanism="Moments", parameters=parameters(MOMENTS))
    assert "bounded entropy" in said["basic"]["description"]
    assert "at most 5 locations" in said["implementation"]["preprocessing_and_hyperparameter_tuning"]
    assert "fixed public table" in said["implementation"]["mechanisms"]
    assert "nearest one that visits can make" in said["accounting"]["post_processing"]


def test_selected_before_shares() -> None:
    source = "private selection (epsilon=0.2, delta=1e-08, max_locations=20)"
    implementation = deployment(**SAID, locations_source=source)["implementation"]
    said = implementation["mechanisms"]
    assert said.startswith(f"First a {source}")
    assert "Then, at its own ε, Shares of locentropy" in said
    before = implementation["preprocessing_and_hyperparameter_tuning"]
    assert before.startswith(
        "To select places, people are bounded. After that, visits to other places are left out."
    )


@given(st.floats(0.01, 50))
def test_the_words_know_the_largest_share(epsilon: float) -> None:
    assert "no share is larger than 1/M of the unit, M = max(1, ε/2)" in le.Shares.method.summary
    assert float(ShareQueries(epsilon).cap) == pytest.approx(max(1.0, epsilon / 2))


def test_without_a_ledger_nobody_knows_about_tuning() -> None:
    """False would be a claim that nobody could make."""
    for changes, expected in (
        ({}, UNKNOWN),
        ({"ledger": LEDGER}, False),
        ({"ledger": LEDGER, "tuned_unaccounted": True}, True),
        ({"tuned_unaccounted": True}, True),
    ):
        given_statement = statement(**changes)
        document = details(given_statement, ["entropy"], 3, {})
        assert document["mechanism"]["tuned_unaccounted"] == expected
        assert statement_in(document) == given_statement
    document["mechanism"]["tuned_unaccounted"] = "perhaps"
    with pytest.raises(ReleaseError, match="tuned_unaccounted"):
        statement_in(document)
