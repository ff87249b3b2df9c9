"""One turn of one contender, in a process of its own. Needs nothing but Python: every environment has that.

A contender gives a function from two Parquet files, the visits (user, location, time) and the public list
of places (location), to its answer; and one that writes the answer down, which is not part of the time.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

M = C = 5
EPSILON = 1.0


def take_turn(
    answer: Callable[[str, str], Any],
    write: Callable[[Any, str], None],
    packages: list[str],
    notes: Callable[[], dict[str, float]] = dict,
) -> None:
    """Answer for a few rows, so that what is loaded once does not count; then for the real ones, and tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--warm", nargs=2, required=True)
    parser.add_argument("--real", nargs=2, required=True)
    parser.add_argument("--answer", required=True)
    files, _ = parser.parse_known_args()
    answer(*files.warm)
    began = time.perf_counter()
    given = answer(*files.real)
    seconds = time.perf_counter() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = {"seconds": seconds, "peak_mb": peak_mb, "versions": {name: version(name) for name in packages}}
    told |= notes()
    write(given, files.answer)
    print(json.dumps(told))
