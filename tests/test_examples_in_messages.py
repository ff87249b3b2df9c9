"""Every call in Python that a message shows can be pasted, and works."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.registry import mechanism_class, mechanism_names

from .examples_in_messages import MADE, Names, stand_ins

PACKAGE = Path(le.__file__).parent
SHOWS = "For example: "
NOT_CALLS = re.compile(
    r"locentropy |--[a-z]|[a-z_]+: |df\[|table\.|\[|\{|pip install|/|[\w.-]+\.(csv|parquet|yaml|html|ledger)\b|\d"
)
"""What follows "For example:" without being a call: commands, lines of YAML, expressions about one's own data."""


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages([str(PACKAGE)], "locentropy."):
        if ".cli" not in found.name:
            yield importlib.import_module(found.name)


def texts(module: Any) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings; what is filled in is filled in where it is a constant of it."""
    tree = ast.parse(Path(module.__file__).read_text())
    inner = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    inner -= {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in inner | docstrings:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(_filled(part, vars(module)) for part in node.values)


def _filled(part: ast.expr, names: dict[str, Any]) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    value = names.get(part.value.id) if isinstance(part.value, ast.Name) else None
    return value if isinstance(value, str) else "\0"


def is_call(text: str) -> bool:
    try:
        return isinstance(ast.parse(text.strip(), mode="eval").body, ast.Call)
    except (SyntaxError, ValueError):
        return False


def calls() -> Iterator[tuple[str, str, str]]:
    """The calls that messages of the package show, each with its module and where it is."""
    for module in modules():
        for line, text in texts(module):
            where = f"{module.__name__}:{line}"
            if is_call(text) and "=" in text:
                yield module.__name__, where, text.strip()
            elif SHOWS in text:
                shown = text.partition(SHOWS)[2].strip()
                if shown and "\0" not in shown and not NOT_CALLS.match(shown):
                    yield module.__name__, where, shown


CALLS = sorted({(module, call): where for module, where, call in calls()}.items())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stand_ins(tmp_path_factory.mktemp("files"))


def works(call: str, module: Any, folder: Path) -> None:
    """Run a call with the names of the package, of the module that shows it, and stand-ins."""
    public = {
        name: getattr(part, name)
        for part in (le.mechanisms, le.paper, le.private, le)
        for name in part.__all__
    }
    given = Names(folder, evaluate=_once)
    known = {name: value for name, value in {**vars(module), **public}.items() if name not in MADE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(call, "<example>", "exec"), known, given)  # noqa: S102


def _once(*given: Any, seeds: int = 1, **named: Any) -> Any:
    """`evaluate` with one draw of noise, whatever is asked for: ten would show nothing more."""
    assert seeds > 0
    return le.evaluate(*given, seeds=1, **named)


def test_there_are_calls() -> None:
    assert len(CALLS) > 40


def test_every_call_in_a_message_works(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = []
    for number, ((name, call), where) in enumerate(CALLS):
        folder = Path(shutil.copytree(files, tmp_path / str(number)))
        monkeypatch.chdir(folder)
        if call.startswith("Ledger.create"):
            (folder / "city.ledger").unlink()
        try:
            works(call, importlib.import_module(name), folder)
        except Exception as error:
            failed.append(f"{where}: {call}\n    {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("name", [*mechanism_names(), "select"])
def test_refused_parameters_show_calls_that_work(
    name: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every parameter with values that it refuses, and the call that the error shows."""
    monkeypatch.chdir(tmp_path)
    kind: Any = le.SelectLocations if name == "select" else mechanism_class(name)
    module = importlib.import_module(kind.__module__)
    examples: set[str] = set()
    for field in fields(kind):
        refused: list[ParameterError] = []
        for value in ("x", -1, 0, 1e-300, 2**70, float("nan"), True, False):
            given = {**_numbers(kind), field.name: value}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    kind(**given)
            except ParameterError as error:
                refused.append(error)
        assert refused, field.name
        for each in refused:
            assert each.example is not None, str(each)
            assert str(each).endswith(f"For example: {each.example}")
            examples.add(each.example)
    for example in examples:
        home = module if name in example or kind.__name__ in example else _home_of(example)
        works(example, home, files)


def _numbers(kind: Any) -> dict[str, Any]:
    from locentropy.mechanisms.parameters import read_parameters

    return read_parameters(kind, kind.example)


def _home_of(call: str) -> Any:
    """The module that defines what a call is of."""
    name = call.partition("(")[0].partition(".")[0]
    return next(module for module in modules() if name in vars(module))


def test_a_broken_example_is_found(files: Path) -> None:
    from locentropy.planning import plans

    works("plan(Shares(epsilon=1.0))", plans, files)
    for broken in (
        "plan(Shares(epsilon=1.0), people=3)",
        "Shares(epsilon=0)",
        'Visits("nowhere.csv", users="a")',
    ):
        with pytest.raises((TypeError, ParameterError)):
            works(broken, plans, files)
