"""The recipes of docs/gis.md: each runs, where its library is installed. None is loaded from a network."""

from __future__ import annotations

import ast
import re
import warnings
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path

import pytest

import locentropy as le
from locentropy.datasets.city import City

PAGE = Path(__file__).parent.parent / "docs" / "gis.md"
RECIPES = dict(
    re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```py\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
)
LEAVES = {"folium": "folium.html", "kepler.gl": "kepler.html", "lonboard": "lonboard.html"}


def libraries(code: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipes")
    City(people=60, places=30).write(folder / "demo")
    release = le.publish(
        le.Visits(folder / "demo" / "visits.parquet", user="user"),
        le.Shares(epsilon=1.0),
        le.PublicLocations(folder / "demo" / "places.csv"),
        ledger=None,
    )
    release.save(folder / "may", also=["geojson"])
    return folder


def test_there_is_one_for_each() -> None:
    assert set(LEAVES) <= set(RECIPES)
    assert "## QGIS" in PAGE.read_text()


def test_each_says_what_it_needs() -> None:
    shown = re.findall(
        r"(?:^<!-- needs: ([^\n]+) -->\n\n)?^```py\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    assert len(shown) == len(RECIPES)
    for needs, code in shown:
        assert libraries(code) - {"locentropy"} <= set(needs.split())


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_runs(name: str, folder: Path) -> None:
    missing = [each for each in libraries(RECIPES[name]) | {"geopandas"} if find_spec(each) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries themselves
        exec(compile(RECIPES[name], name, "exec"), {})  # noqa: S102  # our own page
    if name in LEAVES:
        assert (folder / LEAVES[name]).stat().st_size > 1000
