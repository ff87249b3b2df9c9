"""The one family of errors: each message says what is wrong, where, and shows a correct call.

Messages never carry a value read from the private data: they name files, columns, options and rules.
"""

from __future__ import annotations


class LocentropyError(Exception):
    """Anything this package refuses to do, with a message meant to be read by the person who asked."""

    exit_code = 1


class ParameterError(LocentropyError, ValueError):
    """A parameter is out of its range or does not fit the others."""

    exit_code = 2


class SourceError(LocentropyError):
    """The input cannot be found, opened or understood as a table."""

    exit_code = 3


class ColumnError(LocentropyError):
    """A column is missing, ambiguous, or of a type that cannot play its role."""

    exit_code = 4


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
