"""How soon `locentropy plan` answers, compared with importing the libraries that it needs; and how much is installed.

    python benchmarks/startup.py

Interleaved runs of whole processes; medians. The goal: at most 1.5 times `import numpy, scipy`, plus 0.3 seconds. Both
wall-clock and processor time are shown: on a machine with other work, wall-clock time measures that work too.
Compiled files are written first, as pip does: a source tree that was never compiled starts slower.

Sizes are those of the files of each package that `pip install locentropy` brings, without extras, compiled files
included. Which of them the product imports itself is told apart from what those need in turn, and by which of them.
"""

from __future__ import annotations

import compileall
import resource
import statistics
import subprocess
import sys
import time
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def needed(package: str) -> list[Distribution]:
    """What a package asks for without extras; what is not installed is left out."""
    asked = map(Requirement, distribution(package).requires or ())
    wanted = [each.name for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]
    found = []
    for name in wanted:
        try:
            found.append(distribution(name))
        except PackageNotFoundError:
            continue
    return found


def size(package: Distribution) -> int:
    """Bytes of its files."""
    paths = (Path(str(package.locate_file(file))) for file in package.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def installed() -> None:
    """Print what is installed with locentropy, the largest first, and who asks for what the product does not."""
    every: dict[str, Distribution] = {}
    asking: dict[str, list[str]] = {}
    waiting = ["locentropy"]
    while waiting:
        asks = waiting.pop()
        for each in needed(asks):
            name = canonicalize_name(each.name)
            asking.setdefault(name, []).append(asks)
            if name not in every:
                every[name] = each
                waiting.append(name)
    sizes = {name: size(each) for name, each in every.items()}
    print(f"\ninstalled packages: {sum(sizes.values()) / 1e6:.0f} MB")
    for name, used in sorted(sizes.items(), key=lambda item: -item[1]):
        by = "" if "locentropy" in asking[name] else f"    needed by {', '.join(sorted(asking[name]))}"
        print(f"  {name:<24}{used / 1e6:>8.1f} MB{by}")


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
    installed()


if __name__ == "__main__":
    main()
