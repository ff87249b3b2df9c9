"""How soon `locentropy plan` answers, compared with importing the libraries that it needs.

    python benchmarks/startup.py

Interleaved runs of whole processes; medians. The goal: at most 1.5 times `import numpy, scipy`, plus 0.3 seconds. Both
wall-clock and processor time are shown: on a machine with other work, wall-clock time measures that work too.
Compiled files are written first, as pip does: a source tree that was never compiled starts slower.
"""

from __future__ import annotations

import compileall
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

LOCENTROPY = "from locentropy.cli.main import run; run()"
COMMANDS = {
    "import numpy, scipy": ("import numpy, scipy",),
    "locentropy plan": (LOCENTROPY, "plan", "--epsilon", "1", "--n-locations", "14058", "--n-users", "10000"),
    "locentropy --version": (LOCENTROPY, "--version"),
}
ROUNDS = 15


def timed(arguments: tuple[str, ...]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    clock, processor = time.perf_counter(), used()
    subprocess.run([sys.executable, "-c", *arguments], capture_output=True, check=True)
    return time.perf_counter() - clock, used() - processor


def main() -> None:
    compileall.compile_dir(Path(__file__).parent.parent / "src", quiet=1)
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, arguments in COMMANDS.items():
            turns[name].append(timed(arguments))
    print(f"{'':<24}{'clock':>8}{'goal':>8}{'processor':>11}{'goal':>8}    seconds, median of {ROUNDS}")
    base = [statistics.median(each) for each in zip(*turns["import numpy, scipy"], strict=True)]
    goals = [1.5 * each + 0.3 for each in base]
    for name, mine in turns.items():
        clock, processor = (statistics.median(each) for each in zip(*mine, strict=True))
        print(f"{name:<24}{clock:>8.2f}{goals[0]:>8.2f}{processor:>11.2f}{goals[1]:>8.2f}")


if __name__ == "__main__":
    main()
