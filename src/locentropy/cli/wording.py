"""Errors of the Python interface, told to people who type commands."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = re.compile(r" (?:A correct call|For example): (?=[A-Za-z][\w.]*\().*", re.DOTALL)
"""The call in Python that such a message ends with."""


@contextmanager
def example(words: str) -> Iterator[None]:
    """Let parameters that are refused within end with an example in options instead of a call in Python."""
    try:
        yield
    except ParameterError as error:
        said = str(error)
        told = _CALL.sub("", said)
        if told == said:
            raise
        raise ParameterError(f"{told} For example: {words}") from None
