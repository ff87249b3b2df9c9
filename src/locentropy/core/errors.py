"""The one family of errors: each message says what is wrong, where, and shows a call that works.

Messages never carry a value read from the private data: they name files, columns, options and rules.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_SHOWN: Final = object()
"""Stands for a value that an error does not show."""


class LocentropyError(Exception):
    """Anything this package refuses to do, with a message meant to be read by the person who asked."""

    exit_code = 1


class ParameterError(LocentropyError, ValueError):
    """A parameter is out of its range or does not fit the others.

    Its parts are kept apart, so that the command line can name options where Python names parameters. For example,
    `ParameterError("must be above 0.", parameter="epsilon", value=-1, example="Shares(epsilon=1.0)")` reads
    "epsilon=-1 must be above 0. For example: Shares(epsilon=1.0)".
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        parameter: str | None = None,
        value: object = NOT_SHOWN,
        example: str | None = None,
    ) -> None:
        """Keep the parts.

        Parameters
        ----------
        problem
            The whole message; or, with `parameter`, what follows its name. It names no other parameter.
        parameter
            The name of the parameter that is refused.
        value
            What it was, if that may be shown: never a value read from the data.
        example
            A call in Python that works.
        """
        self.problem = problem
        self.parameter = parameter
        self.value = value
        self.example = example
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """The message in the words of Python."""
        named = "" if self.parameter is None else self.parameter
        if self.parameter is not None and self.value is not NOT_SHOWN:
            named += f"={self.value!r}"
        said = f"{named} {self.problem}".strip()
        return said if self.example is None else f"{said} For example: {self.example}"

    def __str__(self) -> str:
        return self.text


class SourceError(LocentropyError):
    """The input cannot be found, opened or understood as a table; with a call that works, where one helps."""

    exit_code = 3

    def __init__(self, problem: str, *, example: str | None = None) -> None:
        super().__init__(problem if example is None else f"{problem} For example: {example}")
        self.problem = problem
        self.example = example


class ColumnError(LocentropyError):
    """A column is missing, ambiguous, or of a type that cannot play its role."""

    exit_code = 4


class ColumnProblems:
    """What is wrong with several columns, told together: nobody mends one to be told of the next.

    problems = ColumnProblems()
    with problems.caught():
        ...  # looks at one column
    problems.tell()
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        """What was found so far."""

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Keep a ColumnError from within for later."""
        try:
            yield
        except ColumnError as error:
            self.found.append(str(error))

    def tell(self) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            raise ColumnError("\n".join(dict.fromkeys(self.found)))

    def leave_to(self, others: ColumnProblems | None, *once: str) -> None:
        """Add what was found to other problems, or tell it; `once` are sentences that only the first says."""
        for sentence in filter(None, map(str.strip, once)):
            self.found = [
                each.replace(f" {sentence}", "") if at else each for at, each in enumerate(self.found)
            ]
        if others is None:
            self.tell()
        else:
            others.found += self.found


class BadRowsError(LocentropyError):
    """Rows break a rule and the caller asked to fail on them rather than drop them."""

    exit_code = 5


class EngineError(LocentropyError):
    """The data engine gave up: out of memory, out of disk, or a query it could not run."""

    exit_code = 6


class BudgetError(LocentropyError):
    """The ledger does not have what a release asks for."""

    exit_code = 7


class LedgerError(LocentropyError):
    """A ledger cannot be found, opened, trusted or written."""

    exit_code = 8


class ReleaseError(LocentropyError):
    """A release cannot be written or read, or is not what its own files say."""

    exit_code = 9
