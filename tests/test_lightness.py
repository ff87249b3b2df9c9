"""Heavy libraries load when first used, not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "pyarrow", "duckdb", "ibis", "opendp", "scipy", "pandas", "polars", "sqlglot")


def loaded_by(code: str) -> set[str]:
    report = f"import sys\n{code}\nsys.stderr.write(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import locentropy",
        "import locentropy; locentropy.Bounds(5, 5); locentropy.Visits('x.csv')",
        "import locentropy.datasets",
        "import locentropy.mechanisms",
        "sys.argv = ['locentropy', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'entropy', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
        "sys.argv = ['locentropy', 'publish', '--help']\nfrom locentropy.cli.main import run\ntry: run()\nexcept SystemExit: pass",
    ],
)
def test_light(code: str) -> None:
    assert loaded_by(code) == set()


def test_the_check_can_fail() -> None:
    assert "numpy" in loaded_by("import locentropy; locentropy.VisitProfile")


def test_every_public_name_exists() -> None:
    import locentropy

    for name in locentropy.__all__:
        assert getattr(locentropy, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        locentropy.nonsense  # noqa: B018
