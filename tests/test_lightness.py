"""Heavy libraries load when first used, not before; the product needs neither the laboratory nor any extra."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from locentropy.datasets.city import City

HEAVY = ("numpy", "pyarrow", "duckdb", "ibis", "opendp", "scipy", "pandas", "polars", "sqlglot", "matplotlib")

REPORT = """
import json, sys
for code in json.loads(sys.argv.pop()):
    try:
        exec(code)
    except SystemExit:
        pass
    loaded = [name for name in {heavy!r} if name in sys.modules]
    sys.stderr.write("\\n@" + json.dumps([code, loaded]))
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return done.stderr


def loaded_after(snippets: Iterable[str]) -> dict[str, set[str]]:
    """Which heavy libraries are loaded after each of these, one after the other in one process."""
    lines = run(REPORT.format(heavy=HEAVY), json.dumps(list(snippets))).splitlines()
    return {
        code: set(loaded) for code, loaded in (json.loads(line[1:]) for line in lines if line.startswith("@"))
    }


def command(*words: str) -> str:
    return f"sys.argv = ['locentropy', *{words!r}]; from locentropy.cli.main import run; run()"


def test_light() -> None:
    snippets = [
        "import locentropy",
        "import locentropy; locentropy.private.Bounds(5, 5); locentropy.Visits('x.csv')",
        "import locentropy.datasets",
        "import locentropy.mechanisms",
        "from locentropy.mechanisms import registry; registry.mechanism_names()",
        "import locentropy.cli.mechanism_options",
        command("--version"),
        command("--help"),
        *(command(name, "--help") for name in "advise audit entropy ledger reproduce verify".split()),
    ]
    assert loaded_after(snippets) == {snippet: set() for snippet in snippets}


def test_options_of_mechanisms_need_arrays_at_most() -> None:
    """They are generated from the fields of the mechanisms, whose modules compute with NumPy."""
    snippets = [command(name, "--help") for name in ("plan", "publish", "evaluate")]
    assert loaded_after(snippets) == {snippet: {"numpy"} for snippet in snippets}


def test_no_optimiser_and_no_pictures() -> None:
    """Numbers and words need arrays, and neither of these."""
    snippets = [
        "import locentropy; locentropy.Shares(epsilon=1.0).guarantee",
        "import locentropy as le; str(le.plan(le.Shares(epsilon=1.0), n_locations=14_058, n_users=5800))",
        "import locentropy as le; str(le.advise(epsilon=1.0, n_users=10_000))",
        "import locentropy; locentropy.publish, locentropy.evaluate, locentropy.private.measure_activity",
    ]
    for snippet, loaded in loaded_after(snippets).items():
        assert loaded & {"scipy", "matplotlib"} == set(), snippet


def test_the_check_can_fail() -> None:
    snippets = [
        "import locentropy; locentropy.private.VisitProfile",
        "import locentropy; locentropy.Shares(1.0).share_queries.scales",
        "import matplotlib",
    ]
    first, second, third = loaded_after(snippets).values()
    assert "numpy" in first
    assert "opendp" in second - first
    assert "matplotlib" in third - second


def test_other_distributions_are_looked_for_only_where_one_is_named() -> None:
    """Asking every installed distribution for its entry points takes longer than all the rest of an import."""
    refuse = (
        "import importlib.metadata\n"
        "def refuse(*names, **kinds): raise AssertionError('entry points were scanned')\n"
        "importlib.metadata.entry_points = refuse\n"
    )
    run(
        refuse
        + "import locentropy as le, locentropy.mechanisms, locentropy.cli.main, locentropy.mechanisms.registry as r\n"
        "for name in r.mechanism_names(): r.mechanism_from(name, r.mechanism_class(name).example)\n"
        "str(le.plan(le.Shares(epsilon=1.0), n_locations=400))\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        run(
            refuse + "from locentropy.mechanisms.registry import mechanism_class; mechanism_class('stranger')"
        )


def test_every_module_loads_without_the_laboratory_and_the_extras() -> None:
    run(
        "import pkgutil, sys, importlib\n"
        "for name in ('locentropy_lab', 'matplotlib', 'pyspark', 'psycopg', 'pandas'): sys.modules[name] = None\n"
        "import locentropy\n"
        "found = [each.name for each in pkgutil.walk_packages(locentropy.__path__, 'locentropy.')]\n"
        "assert len(found) > 50\n"
        "for name in found: importlib.import_module(name)\n"
    )


def test_every_public_name_exists() -> None:
    import locentropy

    for name in locentropy.__all__:
        assert getattr(locentropy, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        locentropy.nonsense  # noqa: B018


def test_a_plan_loads_what_it_needs_and_no_more() -> None:
    """It answers at once: neither an engine, nor what OpenDP and Arrow would load besides."""
    snippet = command("plan", "--epsilon", "1")
    [loaded] = loaded_after([snippet]).values()
    assert loaded <= {"numpy", "opendp"}, loaded


def test_maps_and_cells_need_nothing_that_only_development_brings(tmp_path: Path) -> None:
    """Ibis has paths that import what its own extras bring; `make bare` tries all the rest."""
    City(people=30, places=20, days=2).write(tmp_path)
    run(
        "import sys\n"
        "for name in ('pyarrow_hotfix', 'geopandas', 'psycopg'): sys.modules[name] = None\n"
        "import locentropy as le\n"
        "visits, map = sys.argv[1:]\n"
        "zones = le.Zones(map, id='name')\n"
        "for places in (zones, le.H3Cells(8, within=zones), le.InspireSquares('1km', within=zones)):\n"
        "    assert len(le.publish(le.Visits(visits), le.Moments(1.0, max_locations=3, max_visits=5), places, ledger=None).table)\n",
        str(tmp_path / "visits.parquet"),
        str(tmp_path / "districts.geojson"),
    )
