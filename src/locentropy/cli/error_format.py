"""Errors of the Python interface, told to people who type commands."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL: Final = re.compile(r" ?(?:A correct call|For example): ([A-Za-z][\w.]*)\((.*)\)", re.DOTALL)
"""The call in Python that such a message ends with."""
_EXAMPLE: Final = re.compile(r" (?:A correct call|For example): (?=[A-Za-z][\w.]*[(=]).*", re.DOTALL)
"""The same, or a single parameter."""
_PARAMETER: Final = re.compile(r"\b([a-z_]+)=('[^']*'|\"[^\"]*\"|[\w.+-]+)")
_TWICE: Final = re.compile(r"(--[\w-]+(?: \S+)?) \(\1\)")
_BOX: Final = ("south", "west", "north", "east")
_OTHER_NAMES: Final = {"publication_date": "date"}
"""Parameters whose option has another name."""


@contextmanager
def example(words: str, **others: str) -> Iterator[None]:
    """Let parameters that are refused within end with an example in options instead of a call in Python.

    `others` are parameters whose option has another name here.
    """
    try:
        yield
    except ParameterError as error:
        said = str(error)
        told = _EXAMPLE.sub("", said)
        if told == said:
            raise
        for parameter, option in others.items():
            told = re.sub(rf"\b{parameter}=", f"{option}=", told)
        raise ParameterError(f"{told} For example: {words}") from None


def in_options(message: str) -> str:
    """A message about parameters, with options in their place: `epsilon='x'` becomes `--epsilon x`."""
    told = _CALL.sub(_call_in_options, message)
    return _TWICE.sub(r"\1", _PARAMETER.sub(lambda found: _option(found[1], found[2]), told))


def _call_in_options(call: re.Match[str]) -> str:
    given = dict(_PARAMETER.findall(call[2]))
    words = [_option(name, value) for name, value in given.items() if name not in _BOX]
    if given.keys() >= set(_BOX):
        words.insert(0, f"--grid {','.join(given[edge] for edge in _BOX)}")
    return f" For example: {' '.join(words)}" if words else call[0]


def _option(name: str, value: str) -> str:
    option = f"--{_OTHER_NAMES.get(name, name).replace('_', '-')}"
    if value in ("True", "False"):
        return option
    plain = value.strip("'\"")
    if any(letter in plain for letter in ";|&<>"):
        plain = f"'{plain}'"  # a shell would end the command there
    return f"{option} {plain.replace('_', '') if plain[:1].isdigit() else plain}"
