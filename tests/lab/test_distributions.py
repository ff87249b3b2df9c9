"""Two wheels: the product's holds nothing of the laboratory, and the laboratory's brings its entry points."""

from __future__ import annotations

import ast
import configparser
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRY_POINTS = {
    "locentropy.commands": {"audit", "reproduce"},
    "locentropy.datasets": {"dense", "sparse"},
    "locentropy.mechanisms": {"limit-as-printed", "limit-cb-as-printed", "limit-ss-as-printed"},
}
OF_THE_LABORATORY = ("audit", "mutation", "fault", "reproduc", "experiment", "as_printed", "zipf", "lab/")


def wheel_of(project: Path, folder: Path) -> zipfile.ZipFile:
    """Build with the hatchling of this environment: nothing is downloaded."""
    code = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=project, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def text_in(wheel: zipfile.ZipFile, ending: str) -> str:
    [name] = [name for name in wheel.namelist() if name.endswith(ending)]
    return wheel.read(name).decode()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return wheel_of(ROOT, tmp_path_factory.mktemp("product"))


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return wheel_of(ROOT / "lab", tmp_path_factory.mktemp("laboratory"))


def test_the_product_s_wheel_holds_nothing_of_the_laboratory(product: zipfile.ZipFile) -> None:
    names = product.namelist()
    assert "locentropy/mechanisms/shares/mechanism.py" in names
    code_and_data = [name for name in names if not name.startswith(("locentropy/docs/", "locentropy/site/"))]
    assert [name for name in code_and_data if any(part in name.lower() for part in OF_THE_LABORATORY)] == []
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"locentropy"}
    for name in names:
        if name.endswith(".py"):
            code = product.read(name).decode()
            assert "locentropy_lab" not in imported(code), name


def test_the_product_requires_no_plotting_library(product: zipfile.ZipFile) -> None:
    required = [
        line.partition(": ")[2]
        for line in text_in(product, "METADATA").splitlines()
        if line.startswith("Requires-Dist: ")
    ]
    assert any(line.startswith("duckdb") for line in required)
    always = [line for line in required if "extra ==" not in line]
    assert [line for line in always if line.startswith(("matplotlib", "locentropy"))] == []
    assert any(line.startswith("matplotlib") and "plots" in line for line in required)


def test_the_laboratory_s_wheel_brings_its_entry_points(laboratory: zipfile.ZipFile) -> None:
    written = configparser.ConfigParser(delimiters=("=",))
    written.read_string(text_in(laboratory, "entry_points.txt"))
    assert {group: set(written[group]) for group in written.sections()} == ENTRY_POINTS
    for group in written.sections():
        for home in written[group].values():
            module, _, name = home.partition(":")
            assert f"{module.replace('.', '/')}.py" in laboratory.namelist()
            assert callable(getattr(import_module(module), name))
    assert "Requires-Dist: locentropy[plots]" in text_in(laboratory, "METADATA")


def imported(code: str) -> set[str]:
    """The top-level packages that a module imports, wherever it does."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names
