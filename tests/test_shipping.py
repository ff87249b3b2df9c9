"""What is said about the project to those who cite it, install it and test it."""

from __future__ import annotations

import importlib.util
import itertools
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import locentropy as le
from tests.cli.running import in_process

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


@pytest.mark.slow
def test_what_a_workflow_tries_on_every_system_works_here(tmp_path: Path) -> None:
    steps = [step["run"] for step in workflow("tests.yml")["jobs"]["demo"]["steps"] if "run" in step]
    commands = [shlex.split(step)[3:] for step in steps if step.startswith("python -m locentropy ")]
    assert [command[0] for command in commands] == ["demo", "verify", "publish", "verify"]
    for command in commands:
        done = in_process(*command, cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)


def test_the_newest_of_everything_is_tried_once_a_week(tmp_path: Path) -> None:
    """No upper bound is left by what the workflow does to them."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    steps = workflow("tests.yml")["jobs"]["newest"]["steps"]
    [edit] = [line for step in steps for line in step.get("run", "").splitlines() if line.startswith("sed ")]
    subprocess.run(shlex.split(edit), cwd=tmp_path, check=True)
    made = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    every = [*made["dependencies"], *itertools.chain(*made["optional-dependencies"].values())]
    assert len(every) > 30
    assert not [each for each in every if "<" in each]


@pytest.mark.parametrize("name", ["tests.yml", "release.yml"])
def test_workflows_may_write_nothing_they_do_not_need(name: str) -> None:
    assert workflow(name)["permissions"] in ({}, {"contents": "read"})
    for job in workflow(name)["jobs"].values():
        assert "write" not in job.get("permissions", {}).get("contents", "")


def in_wheel(tree: Path, out: Path) -> set[str]:
    """The files of the wheel that a tree gives."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    [wheel] = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout in which nothing was built."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    for name in ("src", "docs"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tree


def test_a_wheel_carries_the_pages_or_the_site_that_was_built(tree: Path, tmp_path: Path) -> None:
    pages = {f"locentropy/{page.relative_to(ROOT)}" for page in ROOT.glob("docs/**/*.md")}
    without = in_wheel(tree, tmp_path / "without")
    assert "locentropy/docs/index.md" in pages <= without
    (tree / "site").mkdir()
    (tree / "site" / "index.html").write_text("<h1>locentropy</h1>")
    site = in_wheel(tree, tmp_path / "with")
    assert site - without == {"locentropy/site/index.html"}
    assert not site & pages


def test_what_is_made_of_the_source_distribution_has_documentation(tree: Path, tmp_path: Path) -> None:
    """As tools that build wheels do, and pip where there is no wheel."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tree, capture_output=True, check=True)
    [source] = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(source, tmp_path / "source", filter="data")
    [unpacked] = (tmp_path / "source").iterdir()
    assert "locentropy/docs/index.md" in in_wheel(unpacked, tmp_path / "of-the-source")


def test_the_description_reads_well_outside_of_the_repository(tmp_path: Path) -> None:
    """In a package index there are no files beside it, and no pictures either."""
    command = [sys.executable, "-m", "hatchling", "metadata", "readme"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    text = done.stdout
    assert text.startswith("# locentropy")
    assert "pip install ." in text
    assert "](docs/" not in text
    assert "![" not in text
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", text)


def test_pages_are_linked_where_they_are_on_the_web() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = "![a](docs/a.png)\n\nSee [the page](docs/a/b.md#c), [the code](src/x.py) and [W](https://w.example/docs/x.md)."
    rest = "the code and [W](https://w.example/docs/x.md)."
    assert module.outside(text, "") == f"See the page, {rest}"
    assert (
        module.outside(text, "https://l.example/") == f"See [the page](https://l.example/a/b.html#c), {rest}"
    )


def test_documentation_is_found_beside_the_package_or_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site if there is one, else the folder of the pages; what is opened is the first page."""
    home = tmp_path / "src" / "locentropy" / "cli" / "docs.py"
    monkeypatch.setattr("locentropy.cli.docs.__file__", str(home))
    opened: list[str] = []
    monkeypatch.setattr("typer.launch", lambda address: opened.append(address) or 0)
    done = in_process("docs", "--path")
    assert done.returncode == 1
    assert "Install locentropy again" in done.stderr
    for folder in (tmp_path, tmp_path / "src" / "locentropy"):
        (folder / "docs").mkdir(parents=True)
        (folder / "docs" / "index.md").write_text("# locentropy")
        assert in_process("docs").stdout.strip() == str(folder / "docs")
        assert opened.pop() == (folder / "docs" / "index.md").as_uri()
    for folder in (tmp_path, tmp_path / "src" / "locentropy"):
        (folder / "site").mkdir()
        first = (folder / "site" / "index.html").as_uri()
        (folder / "site" / "index.html").write_text("<h1>locentropy</h1>")
        assert in_process("docs").stdout.strip() == first
        assert in_process("docs", "--path").stdout.strip() == first
        assert opened == [first]
        opened.clear()
