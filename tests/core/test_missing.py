"""A module that is not installed is told as that, wherever it is found missing, with what to install."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest
from packaging.requirements import Requirement

import locentropy as le
from locentropy.core.errors import EngineError
from locentropy.core.missing import EXTRAS, missing_module
from locentropy.visits.engines import locating
from tests.cli.running import in_process

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
FOR_USERS = set(PROJECT["optional-dependencies"]) - {"dev", "docs"}
VISITS = pa.table({"user": [1, 2], "location": [1, 1], "lat": [52.5, 52.5], "lon": [13.4, 13.4]})
PLACES = le.PublicLocations(pa.table({"location": [1]}))


def lacks(module: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"No module named {module!r}", name=module)


def failing(module: str) -> Any:
    def fails(*_: Any, **__: Any) -> Any:
        raise lacks(module)

    return fails


@pytest.mark.parametrize("extra", sorted(FOR_USERS))
def test_modules_of_an_extra_are_those_of_its_packages(extra: str) -> None:
    packages = {Requirement(each).name for each in PROJECT["optional-dependencies"][extra]}
    assert {module.replace("_", "-") for module in EXTRAS[extra]} == packages - {"ibis-framework"}


@pytest.mark.parametrize("extra", sorted(FOR_USERS))
def test_a_module_of_an_extra_is_told_with_the_extra(extra: str) -> None:
    for module in EXTRAS[extra]:
        for error in (lacks(module), lacks(f"{module}.inner")):
            said = missing_module(error, "ibis-framework[postgres]")
            assert said is not None
            assert repr(module) in said
            assert f"pip install 'locentropy[{extra}]'" in said


def test_the_cause_counts_and_other_errors_do_not() -> None:
    wrapped = ImportError("pandas must be installed")
    wrapped.__cause__ = lacks("pandas")
    assert "'pandas', which is not installed" in str(missing_module(wrapped))
    assert missing_module(ImportError("a broken library")) is None
    assert missing_module(ValueError("No module named 'h3'")) is None


def test_rows_that_stream_through_python_miss_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locating, "located", failing("h3"))
    zones = le.InspireSquares("1km", within=(52.3, 13.1, 52.7, 13.7))
    with pytest.raises(EngineError, match=r"'h3', which is not.*pip install 'locentropy\[geo\]'") as raised:
        le.publish(le.Visits(VISITS), le.Shares(1.0), zones, ledger=None)
    assert "disk" not in str(raised.value)


@pytest.mark.parametrize("backend", ["duckdb", "postgres"])
def test_a_database_of_ibis_misses_a_module(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = ibis.duckdb.connect()
    table = connection.create_table("checkins", VISITS)
    monkeypatch.setattr(type(connection), "name", backend)
    monkeypatch.setattr(type(connection), "to_pyarrow", failing("pyarrow_hotfix"))
    told = rf"'pyarrow_hotfix', which is not installed.*pip install 'ibis-framework\[{backend}\]'"
    with pytest.raises(EngineError, match=told):
        le.publish(le.Visits(table), le.Shares(1.0), PLACES, ledger=None)


@pytest.mark.parametrize("module", ["pyspark", "pandas", "pyarrow_hotfix"])
def test_spark_misses_a_module(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "locentropy.visits.engines.spark_session.find_spec", lambda name: None if name == module else name
    )
    resources = le.Resources(engine="spark")
    with pytest.raises(EngineError, match=rf"Spark needs {module}, which.*pip install 'locentropy\[spark\]'"):
        le.publish(le.Visits(VISITS), le.Shares(1.0), PLACES, ledger=None, resources=resources)


def test_a_command_misses_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locentropy.planning.plans.plan", failing("scipy"))
    done = in_process("plan", "--epsilon", "1", "--n-locations", "10")
    assert done.returncode == 1
    assert "'scipy', which is not installed" in done.stderr
    assert "unexpected" not in done.stderr
