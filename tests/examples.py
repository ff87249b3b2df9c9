"""How much is tried: some while people wait, all of it at night."""

from __future__ import annotations

import os
from typing import Any

import pytest

PROFILE = os.environ.get("LOCENTROPY_EXAMPLES", "ci")
"""`ci` or `nightly`."""


def examples(usual: int) -> int:
    """So many examples of a property; twenty times as many at night."""
    return usual * (20 if PROFILE == "nightly" else 1)


def at_night(*values: Any) -> list[Any]:
    """Parameters of a test that are tried at night only."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]
