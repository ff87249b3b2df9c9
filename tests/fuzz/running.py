"""Feed a reader so many inputs, or for some time, and keep what it could not stand.

    python -m tests.fuzz.running --seconds 600                 # every reader, two at a time
    python -m tests.fuzz.running csv --seed 7 --only 1234      # one input again, with its traceback

The reader runs in a process of its own with little memory. That process says which input it takes up; if it then dies,
or says nothing more for long, the input is at fault, and another process goes on behind it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
MEMORY = 4 << 30
"""Bytes of address space: engines reserve much more than they use."""
GROWTH = 700 << 10
"""Kilobytes by which one small input may make a process grow."""
PATIENCE = 60.0
"""Seconds for one input, which takes a tenth of one, on a machine that does other things too."""
MOST_FINDINGS = 20


@dataclass
class Outcome:
    """What became of the inputs."""

    reader: str
    seed: int
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)
    """Numbers of inputs, and what they did."""

    def __str__(self) -> str:
        told = ", ".join(f"{kind} {number}" for kind, number in self.refused.most_common())
        return (
            f"{self.reader}: {self.accepted + self.refused.total()} inputs of seed {self.seed}, {self.accepted} accepted, "
            f"refused: {told or 'none'}; {len(self.findings)} findings"
        )


def child(targets: str, reader: str, seed: int, start: int) -> None:
    """Read inputs for ever, and say on standard output what becomes of each."""
    from importlib import import_module

    from locentropy.core.errors import LocentropyError

    module = import_module(targets)
    target, said = module.TARGETS[reader], os.fdopen(os.dup(1), "w", buffering=1)
    folder = Path(os.environ["FUZZ_FOLDER"])
    target.input(seed, 0)  # seeds are made before memory is limited
    for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (value, value))
    for number in count(start):
        said.write(json.dumps({"take": number}) + "\n")
        content, before = target.input(seed, number), _largest()
        try:
            target.read(module.emptied(folder / "input"), content)
            told: dict[str, Any] = {"accepted": True}
        except LocentropyError as error:
            told = {"refused": type(error).__name__}
        except BaseException:
            told = {"finding": traceback.format_exc()}
        if number > start and _largest() - before > GROWTH:  # the first one loads libraries
            told = {"finding": f"grew by {(_largest() - before) >> 10} MB for {len(content)} bytes"}
        said.write(json.dumps(told) + "\n")


def _largest() -> int:
    """The most memory it had, in kilobytes. (`ru_maxrss` begins with that of whoever started the process.)"""
    [most] = re.findall(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(most)


class Feeding:
    """A process that reads, and the lines it says."""

    def __init__(self, targets: str, reader: str, seed: int, start: int, folder: str) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.running",
            "--child",
            targets,
            reader,
            str(seed),
            str(start),
        ]
        environment = {**os.environ, "FUZZ_FOLDER": folder, "TMPDIR": folder, "PYTHONWARNINGS": "ignore"}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=self.errors
        )
        self.rest = b""

    def lines(self, patience: float) -> list[dict[str, Any]] | None:
        """What it says next; nothing at its end; None if it says nothing for too long."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], patience)[0]:
            return None
        *whole, self.rest = (self.rest + os.read(self.process.stdout.fileno(), 1 << 16)).split(b"\n")
        return [json.loads(line) for line in whole]

    def end(self) -> str:
        """Stop it, and say how it ended and what it said last on standard error."""
        self.process.kill()
        self.process.communicate()
        self.errors.seek(0)
        words = self.errors.read()[-2000:].decode(errors="replace")
        self.errors.close()
        return f"exit code {self.process.returncode}\n{words}"


def fed(
    reader: str,
    seed: int,
    seconds: float = math.inf,
    *,
    inputs: float = math.inf,
    targets: str = "tests.fuzz.targets",
    patience: float = PATIENCE,
    most_findings: int = MOST_FINDINGS,
) -> Outcome:
    """Feed a reader with the inputs of a seed, so many of them or for some time."""
    outcome, at = Outcome(reader, seed), 0
    ends = math.inf  # counted from the first input: libraries and seeds take their time

    def going() -> bool:
        return at < inputs and time.monotonic() < ends and len(outcome.findings) < most_findings

    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        while going():
            feeding = Feeding(targets, reader, seed, at, folder)
            started = False  # libraries and seeds may take longer than an input
            try:
                while going():
                    said = feeding.lines(patience if started else PATIENCE)
                    started = True
                    if not said:
                        problem = "hangs" if said is None else "dies"
                        outcome.findings[at] = f"{problem}: {feeding.end()}"
                        break
                    ends = min(ends, time.monotonic() + seconds)
                    for each in said:
                        at = each.get("take", at)
                        if at >= inputs:
                            break
                        _count(outcome, at, each)
            finally:
                if feeding.process.returncode is None:
                    feeding.end()
            at += 1
    return outcome


def _count(outcome: Outcome, at: int, told: dict[str, Any]) -> None:
    outcome.accepted += "accepted" in told
    if "refused" in told:
        outcome.refused[told["refused"]] += 1
    if "finding" in told:
        outcome.findings[at] = told["finding"]


def keep(outcome: Outcome, folder: Path) -> None:
    """Save the inputs of findings with what they did."""
    from tests.fuzz.targets import TARGETS

    for number, what in outcome.findings.items():
        folder.mkdir(exist_ok=True)
        name = f"{outcome.reader}-{outcome.seed}-{number}"
        (folder / name).write_bytes(TARGETS[outcome.reader].input(outcome.seed, number))
        (folder / f"{name}.txt").write_text(what)


def main() -> None:
    """From the command line."""
    from tests.fuzz.targets import TARGETS, emptied

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("readers", nargs="*", metavar="reader", help=f"of {', '.join(TARGETS)}; all of them")
    options.add_argument("--seconds", type=float, default=30.0, help="for each reader")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", type=int, help="the number of one input")
    options.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    given = options.parse_args()
    readers = given.readers or list(TARGETS)
    if given.only is not None:
        [reader] = readers
        with tempfile.TemporaryDirectory() as folder:
            target = TARGETS[reader]
            target.read(emptied(Path(folder) / "input"), target.input(given.seed, given.only))
        return
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda reader: fed(reader, given.seed, given.seconds), readers))
    for outcome in outcomes:
        print(outcome)  # noqa: T201
        keep(outcome, given.keep)
    sys.exit(any(outcome.findings for outcome in outcomes))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
