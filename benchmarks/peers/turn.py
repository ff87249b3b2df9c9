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
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

M = C = 5
EPSILON = 1.0


def take_turn(
    answer: Callable[[str, str], Any],
    write: Callable[[Any, str], None],
    packages: list[str],
    notes: Callable[[], dict[str, float | None]] = dict,
) -> None:
    """Answer for a few rows, so that what is loaded once does not count; then for the real ones, and tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--warm", nargs=2, required=True)
    parser.add_argument("--real", nargs=2, required=True)
    parser.add_argument("--answer", required=True)
    files, _ = parser.parse_known_args()
    answer(*files.warm)
    began, used = time.perf_counter(), _processor_seconds()
    given = answer(*files.real)
    seconds, processor = time.perf_counter() - began, _processor_seconds() - used
    peak_mb = _peak_mb()
    told: dict[str, Any] = {"seconds": seconds, "processor_seconds": processor, "peak_mb": peak_mb}
    told["versions"] = {name: version(name) for name in packages}
    told |= notes()
    write(given, files.answer)
    print(json.dumps(told))


def _peak_mb() -> float:
    """The most memory of this process, or of one that it started and waited for.

    The system counts as a process's own what the one that started it held then; only Linux tells its own apart.
    """
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = Path("/proc/self/status")
    if status.exists():
        mine = next(int(line.split()[1]) for line in status.read_text().splitlines() if line[:6] == "VmHWM:")
    else:
        mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max(mine, children) / 1024


def _processor_seconds() -> float:
    """Of this process and of those that it started and waited for."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)
