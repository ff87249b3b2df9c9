"""Nothing outside `mechanisms/` knows which mechanisms there are: a lint over the syntax tree of the product.

What depends on a mechanism is a member of it. So outside there is no `isinstance` on a mechanism, no comparison with the
name of one, and no list of their names. Modules that only export names are excepted. Advice may recommend a particular
mechanism, by calling it or naming it alone.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from locentropy.mechanisms.registry import mechanism_class, mechanism_names

PACKAGE = Path(__file__).parent.parent / "src" / "locentropy"
EXPORTS = {"__init__.py", "paper.py", "private.py"}
NAMES = frozenset(mechanism_names())
CLASSES = frozenset(mechanism_class(name).__name__ for name in NAMES) | {"Mechanism", "BoundedMechanism"}


def slips(code: str) -> list[tuple[int, str]]:
    """Every place that knows which mechanisms there are."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if (
            isinstance(node, ast.Call)
            and _called(node) in ("isinstance", "issubclass")
            and len(node.args) == 2
        ):
            if _classes(node.args[1]):
                found.append((node.lineno, f"{_called(node)} on a mechanism"))
        elif isinstance(node, ast.MatchClass) and _classes(node.cls):
            found.append((node.lineno, "match on a mechanism"))
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_name(side) for side in sides) or _compares_type(node):
                found.append((node.lineno, "comparison with a mechanism"))
        elif isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            elements = node.keys if isinstance(node, ast.Dict) else node.elts
            if len([each for each in elements if each is not None and _is_name(each)]) > 1:
                found.append((node.lineno, "a list of mechanisms"))
    return found


def _called(node: ast.Call) -> str | None:
    return node.func.id if isinstance(node.func, ast.Name) else None


def _classes(node: ast.expr) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in CLASSES)
        or (isinstance(each, ast.Attribute) and each.attr in CLASSES)
        for each in ast.walk(node)
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES | CLASSES


def _compares_type(node: ast.Compare) -> bool:
    """`type(x) is Limit`, `x.__class__ == Limit`."""
    return any(isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.In) for op in node.ops) and any(
        isinstance(side, ast.Name | ast.Attribute | ast.Tuple) and _classes(side)
        for side in [node.left, *node.comparators]
    )


FILES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in EXPORTS | {"mechanisms"}
)


def test_nothing_outside_mechanisms_knows_which_there_are() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{line}: {what}"
        for path in FILES
        for line, what in slips(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 50
    assert {"shares", "limit-cb"} <= NAMES


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(mechanism, Shares)",
        "isinstance(mechanism, LimitPTR | LimitCB)",
        "isinstance(mechanism, (le.Moments, int))",
        "issubclass(kind, Mechanism)",
        "type(mechanism) is Shares",
        "mechanism.__class__ == paper.Limit",
        "match mechanism:\n    case Shares():\n        pass",
        "mechanism.name == 'limit-ptr'",
        "'Shares' != statement.mechanism",
        "DEFAULTS = ('shares', 'moments')",
        "WITH_BARS = frozenset({'Limit', 'LimitPTR'})",
        "COLOURS = {'shares': 'blue', 'moments': 'red'}",
    ],
)
def test_slips_are_seen(code: str) -> None:
    assert slips(code)


@pytest.mark.parametrize(
    "code",
    [
        "Choice('shares', {'epsilon': 1})",
        "Moments(1.0, max_locations=5, max_visits=5).scale",
        "isinstance(places, Grid | SelectLocations)",
        "mechanism.selects_locations",
        "name == 'sparse'",
    ],
)
def test_what_is_allowed_is_not_taken_for_a_slip(code: str) -> None:
    assert not slips(code)
