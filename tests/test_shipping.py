"""What is said about the project to those who cite it, install it and test it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import locentropy as le

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def workflow(name: str) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())
    return made


def test_a_citation_names_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == le.__version__
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == [{"name": "The locentropy developers"}]


def test_every_python_that_is_promised_is_tried() -> None:
    tried = set(workflow("tests.yml")["jobs"]["elsewhere"]["strategy"]["matrix"]["python"])
    stated = {match[1] for each in PROJECT["classifiers"] if (match := re.search(r":: (3\.\d+)$", each))}
    assert tried == stated
    assert PROJECT["requires-python"] == f">={min(stated, key=lambda each: int(each.split('.')[1]))}"


@pytest.mark.parametrize("name", ["tests.yml", "release.yml"])
def test_workflows_may_write_nothing_they_do_not_need(name: str) -> None:
    assert workflow(name)["permissions"] in ({}, {"contents": "read"})
    for job in workflow(name)["jobs"].values():
        assert "write" not in job.get("permissions", {}).get("contents", "")
