"""Estimates and Locations: shapes are checked, nulls are explicit, and only mechanisms make estimates."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from locentropy.core.errors import ParameterError
from locentropy.core.estimates import Estimates
from locentropy.core.locations import Locations
from locentropy.mechanisms.listed_estimates import half_width, std_error
from locentropy.privacy.noise import LATTICE

PACKAGE = Path(__file__).parents[2] / "src" / "locentropy"
PLACES = pa.array(["a", "b"])


def makes(kind: str, code: str) -> bool:
    """Whether a piece of code calls `Estimates` or `Measurements`, under whatever name it was imported."""
    tree = ast.parse(code)
    names = {kind} | {
        name.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name == kind and name.asname
    }
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(
        (isinstance(call, ast.Name) and call.id in names)
        or (isinstance(call, ast.Attribute) and call.attr == kind)
        for call in calls
    )


@pytest.mark.parametrize("kind", ["Estimates", "Measurements"])
def test_only_mechanisms_make_measurements_and_estimates(kind):
    makers = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if makes(kind, path.read_text(encoding="utf-8"))
        and str(path.relative_to(PACKAGE)) not in READERS[kind]
    }
    assert makers == {"mechanisms"}


READERS = {"Estimates": set(), "Measurements": {"release/measurements.py"}}
"""Who may make what from a file, in which a mechanism's was written."""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from locentropy.core.estimates import Estimates\nEstimates(a, b)", True),
        ("from locentropy.core.estimates import Estimates as E\nE(a, b)", True),
        ("from locentropy.core import estimates\nestimates.Estimates(a, b)", True),
        ("from locentropy.core.estimates import Estimates\ndef f(x: Estimates): ...", False),
        ("PrintedEstimates(a)", False),
    ],
)
def test_the_lint_sees_calls(code, found):
    assert makes("Estimates", code) == found
    assert makes("Measurements", code.replace("Estimates", "Measurements")) == found


def test_withheld_values_become_nulls():
    nan = math.nan
    estimates = Estimates(
        PLACES,
        np.array([1.5, nan]),
        "bounded",
        True,
        np.array([1.0, nan]),
        np.array([0.5, nan]),
        np.array([2.5, nan]),
    )
    assert estimates.to_arrow().to_pylist() == [
        {"location": "a", "entropy": 1.5, "std_error": 1.0, "low": 0.5, "high": 2.5},
        {"location": "b", "entropy": None, "std_error": None, "low": None, "high": None},
    ]
    assert len(estimates) == 2


def test_nobody_writes_to_estimates():
    mine = np.array([1.0, 2.0])
    estimates = Estimates(PLACES, mine, "bounded", True)
    mine[0] = 9.0
    assert estimates.entropy[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        estimates.entropy[0] = 3.0


ROW = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entropy": np.ones(3)}, "entropy of shape"),
        ({"entropy": np.array([1.0, math.inf])}, "finite"),
        ({"std_error": np.ones(1)}, "std_error of shape"),
        ({"std_error": np.array([1.0, math.nan])}, "NaN elsewhere"),
        ({"low": ROW}, "both ends"),
        ({"low": ROW, "high": ROW - 1}, "before it begins"),
        ({"estimand": "exact"}, "estimand"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ParameterError, match=message):
        Estimates(**({"locations": PLACES, "entropy": ROW, "estimand": "bounded", "private": True} | change))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "b"], "Arrow array"),
        (pa.array(["a", None]), "without nulls"),
        (pa.array([3, 3]), "once"),
        (pa.array([1.0]), "whole numbers or texts"),
    ],
)
def test_lists_that_cannot_be_right_are_refused(ids, message):
    with pytest.raises(ParameterError, match=message):
        Locations(ids)


@pytest.mark.parametrize("scale", [0.05, 0.4, 1.0, 33.3, 2000.0])
def test_error_bars_are_those_of_the_noise(scale):
    """Summed over the exact probabilities: the interval holds 95 %, a narrower one does not."""
    reach = int(60 * scale) + 60
    k = np.arange(-reach, reach + 1)
    law = math.tanh(0.5 / scale) * np.exp(-np.abs(k) / scale)
    assert std_error(scale) * LATTICE == pytest.approx(math.sqrt(float((law * k**2).sum())), rel=1e-9)
    width = half_width(scale)
    assert law[np.abs(k) <= width].sum() >= 0.95 - 1e-12
    assert width == 0 or law[np.abs(k) <= width - 1].sum() < 0.95
