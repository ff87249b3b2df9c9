"""How many examples a property is tried with: some while people wait, many at night."""

from __future__ import annotations

import os

PROFILE = os.environ.get("LOCENTROPY_EXAMPLES", "ci")
"""`ci` or `nightly`."""


def examples(usual: int) -> int:
    """As many as are usual; twenty times as many at night."""
    return usual * (20 if PROFILE == "nightly" else 1)
