"""Publications one after another, on random data, with random faults; then their commands are repeated in peace.

    OPENBLAS_NUM_THREADS=1 python -m tests.faults.soaking --publications 1000 --seed 0    (as the command line sets it)

Counted, and to be nought:
    lost spends          the ledger says spent and no release comes of repeating the command, or a release without a spend
    unexplained errors   an end of the command that its fault does not explain, or that it does not explain in words
    leaked markers       user ids, times and unlisted places, found in a file, on the screen or in an error
Each attempt is a fork of one process that has imported everything and used nothing, so that it is short.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import locentropy as le
from tests.faults.soak_data import MARKERS, PLACES, write_tables
from tests.faults.soak_faults import FAULTS
from tests.publishing.killing import forked

USED = """
scipy.stats scipy.optimize statistics threadpoolctl pyarrow.dataset rich.progress rich.table
ibis.backends.sql.compilers.duckdb sqlglot.dialects.duckdb
locentropy.cli.main locentropy.cli.publish_summary locentropy.release.report.page locentropy.release.verify
locentropy.mechanisms.shares.estimator.inference
""".split()
"""What the forks would import, each of them anew."""
IN_ONE_LEDGER = 20
TOLD = "Error: "
STOPPING = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 120.0
"""Seconds for an attempt, which takes one."""
NEVER = 99
"""An exit code that the command line does not have."""

BOUNDED = ("--epsilon", "0.1", "--max-locations", "3", "--max-visits", "2")
LISTED = ("--places", "places.csv")
SELECTED = ("--select-epsilon", "0.1", "--select-delta", "1e-9", "--select-max-locations", "2")
WAYS = [
    ("--mechanism", "limit", *BOUNDED, *LISTED),
    ("--mechanism", "limit", *BOUNDED, *SELECTED),
    ("--mechanism", "moments", *BOUNDED, *LISTED),
    ("--mechanism", "limit-ss", *BOUNDED, "--delta", "1e-9", *LISTED),
    ("--mechanism", "limit-ptr", *BOUNDED, "--delta", "1e-9", "--min-users", "30"),
    ("--epsilon", "0.1", *LISTED),
]


def ended(pid: int) -> int:
    """The exit code of a fork, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def command_line(arguments: tuple[str, ...], prepare: Callable[[], None]) -> tuple[int, int]:
    """A fork that runs a command, and the end of a pipe that carries what it says."""
    reading, writing = os.pipe()
    # A signal must not reach the fork before that has its own ways to deal with it: it would go on as its parent.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    pid = os.fork()
    if pid:
        os.close(writing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        return pid, reading
    code = NEVER
    try:
        for stream in (1, 2):
            os.dup2(writing, stream)
        main_module = import_module("locentropy.cli.main")
        app = main_module.app

        def listening() -> None:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
            app()

        main_module.app = listening
        sys.argv = ["locentropy", *arguments]
        prepare()
        main_module.run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def heard(said: int) -> tuple[bytes, bool]:
    """What a command says until its end, and whether that came in time."""
    told, late = b"", time.monotonic() + PATIENCE
    with os.fdopen(said, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, late - time.monotonic()))[0]:
            more = pipe.read(1 << 16)
            if not more:
                return told, True
            told += more
    return told, False


class Soak:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.draw, self.seed = folder, random.Random(seed), seed
        self.ends: Counter[str] = Counter()
        self.problems: Counter[str] = Counter(
            {"lost spends": 0, "unexplained errors": 0, "leaked markers": 0}
        )
        self.details: list[str] = []
        self.spill = folder / "spill"
        self.spill.mkdir()
        self.tables = [
            folder / f"{n}.{kind}" for kind in ("csv", "gz", "parquet", "duckdb") for n in range(4)
        ]
        assert ended(forked(lambda: write_tables(self.tables, seed))) == 0
        self.longest = 1.0
        self.decks: dict[str, list[Any]] = {}

    def dealt(self, deck: str, cards: Sequence[Any]) -> Any:
        """One of these by chance, but each of them once before any comes again: a short soak leaves none out."""
        left = self.decks.setdefault(deck, [])
        if not left:
            left.extend(self.draw.sample(cards, len(cards)))
        return left.pop()

    def problem(self, kind: str, *details: object) -> None:
        self.problems[kind] += 1
        self.details.append(f"{kind}: {' '.join(map(str, details))}")

    def attempt(self, place: Path, command: tuple[str, ...], name: str) -> int:
        """One run of the command under a fault; its exit code."""
        fault, draw = FAULTS[name], random.Random(self.draw.random())

        def prepare() -> None:
            os.chdir(place)
            os.environ["TMPDIR"] = str(self.spill)
            tempfile.tempdir = None
            if fault.inside is not None:
                fault.inside(draw, next(place.glob("visits.*")))

        began = time.monotonic()
        ledger = place.parent / "city.ledger"
        with nullcontext() if fault.around is None else fault.around(draw, ledger):
            pid, said = command_line(command, prepare)
            if fault.signal is not None:
                time.sleep(draw.uniform(0, 1.2 * self.longest))
                os.kill(pid, fault.signal)
            told, in_time = heard(said)
            if not in_time:
                os.kill(pid, signal.SIGKILL)
            code = ended(pid)
        if name == "none":
            self.longest = 0.8 * self.longest + 0.2 * (time.monotonic() - began)
        if not in_time and not fault.anyhow:  # libraries that get no memory may wait for it for ever
            self.problem("unexplained errors", "hangs", name, place.name)
        self._judge(place, name, code, told.decode(errors="replace"))
        return code

    def _judge(self, place: Path, name: str, code: int, said: str) -> None:
        fault = FAULTS[name]
        self.ends[f"{name}: {'done' if code == 0 else 'stopped'}"] += 1
        if not fault.anyhow:
            in_words = code == 0 or code >= 128 or TOLD in said
            if code not in fault.codes or not in_words or "Traceback" in said or "unexpected" in said:
                self.problem("unexplained errors", name, code, place.name, said[-4000:])
        found = {"the screen": said.encode()}
        for path in [*place.rglob("*"), place.parent / "city.ledger"]:
            if path.is_file() and not path.name.startswith("visits."):
                found[str(path)] = path.name.encode() + path.read_bytes()
        for where, content in found.items():
            for marker in MARKERS:
                if marker.encode() in content:
                    self.problem("leaked markers", name, marker, where)
        for left in self.spill.iterdir():
            if not fault.anyhow and code != 0 and left.name.startswith("locentropy-"):
                self.problem("unexplained errors", "a folder of spilled rows was left", name, code, left)
            if left.stat().st_mode & 0o077:
                self.problem("leaked markers", "others may read", left)
            shutil.rmtree(left)

    def publication(self, place: Path) -> None:
        """A command, disturbed once or twice, then repeated in peace."""
        place.mkdir()
        source = self.dealt("tables", self.tables)
        visits = place / f"visits{source.suffix}"
        (place / "places.csv").write_text("location\n" + "".join(f"{each}\n" for each in PLACES))
        command = (
            "publish",
            visits.name,
            *self.dealt("ways", WAYS),
            "--ledger",
            "../city.ledger",
            "--out",
            "may",
        )
        faults = []
        for _ in range(self.draw.choice([1, 1, 2])):
            name = self.dealt("faults", list(FAULTS))
            faults.append(name)
            shutil.copy(source, visits)
            self.attempt(place, command, name)
            if (place / "may").exists():
                break
        else:
            shutil.copy(source, visits)
            if self.attempt(place, command, "none") != 0:
                self.problem("lost spends", "repeating the command gave no release", place.name, faults)

    def check(self, block: Path, made: int) -> None:
        """In a fork: as many spends as releases, each release whole and known to the ledger."""
        found = block / "found"

        def look() -> None:
            ledger = le.Ledger.open(block / "city.ledger")
            spends, releases = [], sorted(block.glob("*/may"))
            for path in releases:
                if not le.verify(path, ledger).ok:
                    spends.append(f"{path} does not verify")
                note = le.Release.load(path).statement.ledger
                spends.append(note.spend_id if note else "none")
            paid = sorted(spend.id for spend in ledger.verify().spends)
            if paid != sorted(spends) or len(releases) != made:
                found.write_text(
                    f"{len(paid)} spends, {len(releases)} releases, {made} publications: {spends}"
                )

        code = ended(forked(look))
        if code != 0 or found.exists():
            self.problem("lost spends", code, found.read_text() if found.exists() else block)

    def run(self, publications: int) -> None:
        for first in range(0, publications, IN_ONE_LEDGER):
            block = self.folder / f"block-{first}"
            block.mkdir()
            le.Ledger.create(block / "city.ledger", "riders", 100, "1e-3", large_epsilon=True)
            made = min(IN_ONE_LEDGER, publications - first)
            for number in range(made):
                self.publication(block / str(number))
            self.check(block, made)
            shutil.rmtree(block)
            print(f"{first + made}: {dict(self.problems)}", file=sys.stderr, flush=True)  # noqa: T201

    def __str__(self) -> str:
        ends = "\n".join(f"  {name:<24}{number:>6}" for name, number in sorted(self.ends.items()))
        problems = "\n".join(f"{name:<26}{number:>6}" for name, number in self.problems.items())
        return f"attempts                  {self.ends.total():>6}\n{ends}\n{problems}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--publications", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    for name in USED:
        import_module(name)
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        soak = Soak(folder, given.seed)
        soak.run(given.publications)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{given.publications} publications, seed {given.seed}\n{soak}")  # noqa: T201
    for each in soak.details:
        print(each, file=sys.stderr)  # noqa: T201
    sys.exit(any(soak.problems.values()))


if __name__ == "__main__":
    main()
