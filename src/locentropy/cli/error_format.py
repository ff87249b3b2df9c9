"""Errors about parameters, told to people who type options.

`ParameterError` keeps its parts, so nothing here searches a message: `parameter` becomes the option of that name, and
`example`, a call in Python, becomes a command. What has no parts is shown as it is.
"""

from __future__ import annotations

import ast
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from locentropy.cli.option_groups import option_name
from locentropy.core.errors import NOT_SHOWN, ParameterError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EXAMPLES: Final = {
    "advise": "locentropy advise --epsilon 1 --n-locations 14058 --n-users 10000",
    "check": "locentropy check checkins.parquet --epsilon 1 --places places.csv --ledger city.ledger",
    "datasets city": "locentropy datasets city --out city",
    "demo": "locentropy demo --people 3000",
    "entropy": "locentropy entropy checkins.parquet",
    "evaluate": "locentropy evaluate checkins.parquet --places places.csv",
    "ledger create": "locentropy ledger create city.ledger --population 'riders of the city' --epsilon 4 --delta 1e-6",
    "plan": "locentropy plan --epsilon 1 --n-locations 14058",
    "publish": "locentropy publish checkins.parquet --epsilon 1 --places places.csv --ledger city.ledger --out may",
}
"""A command that works, for each that may refuse a parameter."""

_SELECTION: Final = "select_"
_BOX: Final = ("south", "west", "north", "east")
_MAPS: Final = ("grid", "zones", "h3", "inspire")
_OF_CELLS: Final = {"resolution": "h3", "size": "inspire"}
"""What commands call parameters of cells."""


@contextmanager
def restated(
    *, prefix: str = "", names: Mapping[str, str] | None = None, example: str | None = None
) -> Iterator[None]:
    """Let errors from within name parameters as the command does, and end with `example`, a call or a command."""
    try:
        yield
    except ParameterError as error:
        if error.parameter is not None:
            error.parameter = prefix + (names or {}).get(error.parameter, error.parameter)
        error.example = example or error.example
        raise


@contextmanager
def in_options(command: str, options: Mapping[str, str]) -> Iterator[None]:
    """Let errors from within name options. `options` are those of the command, by parameter."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(as_options(error, command, options)) from error
    except SourceError as error:
        if error.example is None:
            raise
        raise SourceError(error.problem, example=as_command(error.example, command, options)) from error


def as_options(error: ParameterError, command: str, options: Mapping[str, str]) -> str:
    """Return the message with options in the place of parameters; unchanged if the command has no such option."""
    parameter = error.parameter
    if parameter not in options:
        parameter = _renamed(error)  # cells are made when they are needed, which may be late
    if parameter is None:
        said = error.problem
    elif parameter in options:
        said = f"{options[parameter]}{_shown(error.value)} {error.problem}"
    else:
        return str(error)
    return (
        said
        if error.example is None
        else f"{said} For example: {as_command(error.example, command, options)}"
    )


def _renamed(error: ParameterError) -> str | None:
    """The parameter of a command that stands for one of cells."""
    if error.parameter == "within":
        return "zones" if "Zones(" in (error.example or "") else "box"
    return _OF_CELLS.get(error.parameter or "", error.parameter)


def as_command(call: str, command: str, options: Mapping[str, str]) -> str:
    """Return the command that does what a call in Python does, as far as the command has options for it."""
    if call.startswith("locentropy ") or command not in EXAMPLES:
        return call
    given = _given_in(call)
    words = shlex.split(EXAMPLES[command])
    first = next((at for at, word in enumerate(words) if word.startswith("--")), len(words))
    head, tail = words[:first], words[first:]
    said = dict(zip(tail[::2], tail[1::2], strict=True))
    if "source" in given and len(head) > len(command.split()) + 1:
        head[-1] = given["source"]
    if given.keys() & {*_MAPS, f"{_SELECTION}epsilon", "selects"}:
        said.pop("--places", None)  # one way to say which places
    if given.keys() & set(_MAPS):
        said.pop("--n-locations", None)  # the grid has as many as it has
    own = {options[name]: value for name, value in given.items() if name in options}
    first_of_all = {option: value for option, value in own.items() if option == "--mechanism"}
    said = first_of_all | said | own
    return " ".join([*map(shlex.quote, head), *(_word(option, value) for option, value in said.items())])


def _given_in(call: str) -> dict[str, str]:
    """The arguments of a call in Python and of the calls within it, by the parameter they are for."""
    try:
        parsed = ast.parse(call, mode="eval").body
    except SyntaxError:
        return {}
    return _arguments(parsed, call) if isinstance(parsed, ast.Call) else {}


def _arguments(call: ast.Call, source: str) -> dict[str, str]:
    from locentropy.mechanisms.registry import built_in_class, default_mechanism

    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    own: dict[str, str] = {}
    within: dict[str, str] = {}
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Call):
            within |= _arguments(keyword.value, source)
        elif keyword.arg is not None:
            own[keyword.arg] = _text(keyword.value, source)
    for argument in call.args:
        if isinstance(argument, ast.Call):
            within |= _arguments(argument, source)
    kind = built_in_class(called)
    if kind is not None:
        named = {} if kind.name == default_mechanism() else {"mechanism": kind.name}
        own = {**named, **({"selects": ""} if kind.selects_locations else {}), **own}
    elif called == "SelectLocations":
        own = {_SELECTION + name: value for name, value in own.items()}
    elif called == "Grid":
        own = {"grid": ",".join(own[edge] for edge in _BOX), "cell": own["cell"]}
    elif called == "H3Cells":
        own = {"h3": own["resolution"], "box": own["within"]}
    elif called == "InspireSquares" and call.args and isinstance(call.args[0], ast.Constant):
        own = {"inspire": str(call.args[0].value), "box": own["within"]}
    elif called == "Zones" and call.args and isinstance(call.args[0], ast.Constant):
        own = {"zones": str(call.args[0].value), **{f"zone_{name}": value for name, value in own.items()}}
    elif called == "PublicLocations" and call.args and isinstance(call.args[0], ast.Constant):
        own = {"places": str(call.args[0].value), **own}
    elif called == "Window" and call.args and isinstance(call.args[0], ast.Constant):
        own = {"window": str(call.args[0].value), **own}
    elif called == "Visits" and call.args and isinstance(call.args[0], ast.Constant):
        own = {"source": str(call.args[0].value), **own}
    if "zone" in own:
        own["time_zone"] = own.pop("zone")
    return within | own


def _text(value: ast.expr, source: str) -> str:
    """A value as an option takes it: several with commas between them; True as a flag, without a value."""
    if isinstance(value, ast.List | ast.Tuple):
        return ",".join(_text(each, source) for each in value.elts)
    if isinstance(value, ast.Dict):  # names and numbers, such as the part of each level
        pairs = zip((key for key in value.keys if key is not None), value.values, strict=True)
        return ",".join(f"{_text(key, source)}={_text(each, source)}" for key, each in pairs)
    if isinstance(value, ast.Constant) and isinstance(value.value, str | bool):
        return "" if value.value is True else str(value.value)
    written = ast.get_source_segment(source, value) or ""
    return written.replace("_", "")  # 14_058 in Python is 14058 here


def _word(option: str, value: str) -> str:
    return option if value == "" else f"{option} {shlex.quote(value)}"


def _shown(value: Any) -> str:
    if value is NOT_SHOWN or isinstance(value, bool) or value is None:
        return ""
    return f" {shlex.quote(value) if isinstance(value, str) else value}"


def missing(what: str, parameters: list[str], example: str) -> ParameterError:
    """Return the error for options that are needed and were not given; `example` is a call or a command that works."""
    return ParameterError(f"{what} needs {', '.join(map(option_name, parameters))}.", example=example)
