"""Heavy libraries load when first used, not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "pyarrow", "duckdb", "ibis", "opendp", "scipy", "pandas", "polars", "sqlglot", "matplotlib")


def loaded_by(code: str) -> set[str]:
    report = f"import sys\n{code}\nsys.stderr.write(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import locentropy",
        "import locentropy; locentropy.private.Bounds(5, 5); locentropy.Visits('x.csv')",
        "import locentropy.datasets",
        "import locentropy.mechanisms",
        "sys.argv = ['locentropy', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'entropy', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "from locentropy.mechanisms import registry; registry.mechanism_names()",
        "import locentropy.cli.mechanism_options",
        "sys.argv = ['locentropy', 'evaluate', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'audit', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'advise', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'plan', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'publish', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
    ],
)
def test_light(code: str) -> None:
    assert loaded_by(code) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import locentropy; locentropy.Shares(epsilon=1.0).guarantee",
        "import locentropy as le; str(le.plan(le.Shares(epsilon=1.0), locations=14_058, people=5800))",
        "import locentropy as le; str(le.advise(epsilon=1.0, people=10_000))",
        "import locentropy; locentropy.publish, locentropy.evaluate, locentropy.private.measure_activity",
    ],
)
def test_no_optimiser_and_no_pictures(code: str) -> None:
    """Numbers and words need arrays, and neither of these."""
    assert loaded_by(code) & {"scipy", "matplotlib"} == set()


def test_the_check_can_fail() -> None:
    assert "numpy" in loaded_by("import locentropy; locentropy.private.VisitProfile")
    assert "scipy" in loaded_by("import locentropy; locentropy.Shares(1.0).share_queries.scales")
    assert "matplotlib" in loaded_by("import matplotlib")


def test_every_public_name_exists() -> None:
    import locentropy

    for name in locentropy.__all__:
        assert getattr(locentropy, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        locentropy.nonsense  # noqa: B018


def test_a_plan_loads_what_it_needs_and_no_more() -> None:
    """It answers at once: neither an engine, nor what OpenDP and Arrow would load besides."""
    code = (
        "import sys; sys.argv = ['locentropy', 'plan', '--epsilon', '1']; from locentropy.cli.main import run\n"
        "try: run()\nexcept SystemExit: pass\n"
        "sys.stderr.write(' '.join({'pyarrow', 'polars', 'scipy', 'duckdb', 'ibis', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[1:] == [], "after the note that its figures are measured elsewhere"
