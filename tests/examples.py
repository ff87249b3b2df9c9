"""How much is tried: some while people wait, all of it at night."""

from __future__ import annotations

import os
from typing import Any

import pytest

PROFILE = os.environ.get("LOCENTROPY_EXAMPLES", "ci")
"""`ci` or `nightly`."""


AT_NIGHT = PROFILE == "nightly"


def examples(usual: int, nightly: int | None = None) -> int:
    """So many examples of a property; at night twenty times as many, or as many as are told."""
    return (nightly or 20 * usual) if AT_NIGHT else usual


def at_night(*values: Any) -> list[Any]:
    """Parameters of a test that are tried at night only."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]
