"""Killed at any moment, and by many processes at once: no spend is lost, none is admitted twice."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from locentropy.core.errors import BudgetError
from locentropy.core.windows import Window
from locentropy.ledger.ledger import Ledger
from locentropy.privacy.guarantee import Guarantee
from tests.examples import at_night

PREPARE = """
import sys
from pathlib import Path
from locentropy.core.errors import LocentropyError
from locentropy.core.windows import Window
from locentropy.privacy.guarantee import Guarantee
from locentropy.ledger.ledger import Ledger, new_id
print("ready", flush=True)
path = Path(sys.argv[1])
window = Window("2026-05-03", zone="Europe/Berlin") if len(sys.argv) > 2 else None
"""

SPEND_FOR_EVER = """
ledger = Ledger(path)
while True:
    try:
        spend = ledger.spend(Guarantee.approximate("0.01", "1e-9"), "map", window=window)
    except LocentropyError as error:
        print(type(error).__name__, flush=True)
    else:
        print(spend.id, flush=True)
"""

SPEND_ONCE = """
sys.stdin.readline()
try:
    Ledger(path).spend(Guarantee.pure("0.1"), "map", window=window)
except LocentropyError as error:
    sys.exit(error.exit_code)
"""

CREATE_ONCE = """
sys.stdin.readline()
try:
    Ledger.create(path, "riders", 1)
except LocentropyError as error:
    sys.exit(error.exit_code)
"""

CREATE_FOR_EVER = """
while True:
    name = new_id()
    Ledger.create(path / name, "riders", 1, another=True)
    print(name, flush=True)
"""

STAGE_FOR_EVER = """
ledger = Ledger(path)
while True:
    spend, release = ledger.spend(Guarantee.pure("0.0001"), "map", window=window), new_id()
    for state in ("staged", "published"):
        ledger.record_release(spend.id, release, state)
        print(spend.id, release, state, flush=True)
"""


KINDS = ["person", "migrating", "period", "concentrated"]
"""A ledger of the first version, one that becomes one of the second with its first spend, and two new ones."""
kinds = pytest.mark.parametrize("kind", KINDS)


def ledger_of(kind: str, path: Path, epsilon: float | str, delta: str = "0") -> Ledger:
    """A ledger whose first period admits as much as one for the person would; large enough for the person."""
    if kind == "period":
        return Ledger.create(
            path,
            "riders",
            epsilon,
            delta,
            unit="person-month",
            person_epsilon=1000,
            person_delta="0.01",
            large_epsilon=True,
        )
    if kind == "concentrated":
        return Ledger.create(
            path, "riders", epsilon, "1e-3", unit="person-day", zone="Europe/Berlin", person_epsilon=1000,
            person_delta="0.01", composition="concentrated", reserved_delta="9e-4", large_epsilon=True,
        )  # fmt: skip
    made = Ledger.create(path, "riders", epsilon, delta, large_epsilon=True)
    if kind == "migrating":
        path.with_name(f"{path.name}.windows").touch()
    return made


def arguments(path: Path) -> list[str]:
    """The ledger, and that spends are about a window if it needs one."""
    marked = path.with_name(f"{path.name}.windows")
    if not path.is_file():
        return [str(path)]
    unit = Ledger(path).read().unit
    return [str(path), *(["window"] if unit != "person" or marked.exists() else [])]


def files(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if not file.name.endswith(".windows")]


@contextmanager
def processes(code: str, path: Path, number: int) -> Iterator[list[subprocess.Popen[str]]]:
    """That many processes that are ready to go on; none is left at the end."""
    command = [sys.executable, "-c", PREPARE + code, *arguments(path)]
    started: list[subprocess.Popen[str]] = []
    try:
        while len(started) < number:
            started.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.fixture
def longest(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds in which a few entries are written here and now: kills fall within them."""
    began = time.monotonic()
    Ledger.create(tmp_path_factory.mktemp("pace") / "ledger", "riders", 1)
    return max(0.05, 4 * (time.monotonic() - began))


def killed(code: str, path: Path, draw: random.Random, longest: float) -> list[str]:
    """What two processes had acknowledged when they were killed, each at a moment of its own."""
    said: list[str] = []
    with processes(code, path, 2) as started:
        for process in started:
            time.sleep(draw.uniform(0, longest))
            process.kill()
            assert process.stdout is not None
            # Not `communicate`, which reads past what came along with "ready" and would begin within a line.
            text = process.stdout.read()
            assert process.wait() == -signal.SIGKILL, "it had ended by itself"
            said += [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [line.strip() for line in said]


def raced(code: str, path: Path, number: int) -> list[int]:
    """The exit codes of processes that start at once."""
    with processes(code, path, number) as started:
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        return sorted(process.wait(timeout=300) for process in started)


@kinds
def test_sixteen_race_for_ten(kind: str, tmp_path: Path) -> None:
    ledger = ledger_of(kind, tmp_path / "city.ledger", 1)
    assert raced(SPEND_ONCE, ledger.path, 16) == [0] * 10 + [7] * 6
    book = ledger.verify()
    assert [spend.number for spend in book.spends] == list(range(1, 11))
    assert book.remaining_in(DAY if kind in ("period", "concentrated") else None).epsilon == 0
    assert book.spent.epsilon == 1


def test_eight_race_to_make_one_ledger(tmp_path: Path) -> None:
    assert raced(CREATE_ONCE, tmp_path / "city.ledger", 8) == [0] + [8] * 7
    assert [file.name for file in tmp_path.iterdir()] == ["city.ledger"]
    Ledger.open(tmp_path / "city.ledger").verify()


def kill_sixteen(ledger: Ledger, seed: int, longest: float) -> None:
    """Every spend that was acknowledged is there, and the sums are what was spent, after every second kill."""
    draw, acknowledged = random.Random(seed), set()
    for _ in range(8):
        said = killed(SPEND_FOR_EVER, ledger.path, draw, longest)
        assert "LedgerError" not in said, "a process that is killed makes no other fail"
        acknowledged |= {line for line in said if line != "BudgetError"}
        book = ledger.verify(acknowledged)
        # A kill between the commit and the acknowledgement leaves one spend more than was heard of.
        assert len(book.spends) >= len(acknowledged)
        assert book.spent.epsilon == Fraction(len(book.spends), 100) <= book.total.epsilon
        assert book.spent.delta == Fraction(len(book.spends), 10**9)
        if not acknowledged:
            longest *= 2  # the machine has become busier than it was
    assert acknowledged


@kinds
@pytest.mark.parametrize("seed", [0, *at_night(1, 2, 3)])
def test_killed_while_spending(kind: str, seed: int, longest: float, tmp_path: Path) -> None:
    ledger = ledger_of(kind, tmp_path / "city.ledger", 100, "1e-3")
    kill_sixteen(ledger, seed, longest)
    ledger.spend(Guarantee.pure("0.01"), "one more", window=None if kind == "person" else DAY)
    assert files(tmp_path) == ["city.ledger"], "no journal is left behind"


def test_killed_while_running_out(longest: float, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", "0.25", "1e-3")
    kill_sixteen(ledger, 3, longest)
    while ledger.remaining.epsilon:
        ledger.spend(Guarantee.pure("0.01"), "the rest")
    assert len(ledger.history()) == 25


DAY = Window("2026-05-03", zone="Europe/Berlin")


def traced(path: Path, call: str, when: int) -> subprocess.CompletedProcess[str]:
    """One spend by a process that is killed at the n-th system call of a kind on the ledger's files."""
    watched = [part for name in (path, f"{path}-journal", path.parent) for part in ("-P", str(name))]
    spend = "print(Ledger(path).spend(Guarantee.pure('0.01'), 'map', window=window).id, flush=True)"
    trace = ["strace", "-o", "/dev/null", *watched, "-e", f"inject={call}:signal=KILL:when={when}"]
    command = [*trace, sys.executable, "-c", PREPARE + spend, *arguments(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


WRITES = ("pwrite64", "fdatasync", "unlink")
OFTEN = [*((call, "person") for call in WRITES), ("pwrite64", "migrating")]
SELDOM = [pair for pair in product(WRITES, ("person", "migrating", "period")) if pair not in OFTEN]


@pytest.mark.parametrize("pair", [*OFTEN, *at_night(*SELDOM)], ids=" of ".join)
def test_killed_at_every_write_of_a_spend(pair: tuple[str, str], tmp_path: Path) -> None:
    """Not at random moments but at each in turn: every write, every sync, and the removal of the journal.

    The first spend of a ledger that migrates is killed at each of its writes: it stays of the first version, whole, or
    becomes one of the second, with the spend.
    """
    call, kind = pair
    tried = ledger_of("person", tmp_path / "tried.ledger", 1)
    if shutil.which("strace") is None or traced(tried.path, call, when=1000).returncode != 0:
        pytest.skip("needs strace, and the permission to use it")
    tried.path.unlink()
    ledger, acknowledged = ledger_of(kind, tmp_path / "city.ledger", 1), []
    for when in range(1, 100):
        done = traced(ledger.path, call, when)
        acknowledged += done.stdout.split()[1:]
        book = ledger.verify(acknowledged)
        if kind == "migrating":
            assert book.has_terms == bool(book.spends)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        assert not done.stdout.split()[1:]
    assert when > 1, "it was killed at least once"
    assert files(tmp_path) == ["city.ledger"]


def test_killed_while_staging(longest: float, tmp_path: Path) -> None:
    draw, heard = random.Random(5), set()
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", 1)
    for _ in range(4):
        heard |= {tuple(line.split()) for line in killed(STAGE_FOR_EVER, ledger.path, draw, longest)}
        ledger.verify(spend for spend, *_ in heard)
        assert heard <= {(known.spend, known.release, known.state) for known in ledger.releases()}
    assert heard


def test_killed_while_making(longest: float, tmp_path: Path) -> None:
    draw, heard = random.Random(6), set()
    for _ in range(4):
        heard |= set(killed(CREATE_FOR_EVER, tmp_path, draw, longest))
    assert heard
    made = [file for file in tmp_path.iterdir() if not file.name.startswith(".")]
    assert heard <= {file.name for file in made}
    for file in made:
        Ledger.open(file).verify()


def test_a_journal_left_behind_is_rolled_back(tmp_path: Path) -> None:
    """The worst moment on purpose: pages of the file are overwritten, and the journal is not yet removed."""
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", 1)
    before = ledger.path.read_bytes()
    code = """
import sqlite3
connection = sqlite3.connect(path, isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # pages go to the file before the commit
connection.execute("BEGIN EXCLUSIVE")
for number in range(3, 400):
    connection.execute("UPDATE head SET entries = entries + 1, hash = ?", (str(number) * 50,))
    connection.execute("INSERT INTO evaluation VALUES ((SELECT entries + 1 FROM head), 'n', 's', 't', ?)", ("h" * 900,))
print("written", flush=True)
sys.stdin.readline()
"""
    with processes(code, ledger.path, 1) as [process]:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
    assert ledger.path.with_name("city.ledger-journal").stat().st_size > 0
    assert ledger.path.read_bytes() != before
    assert ledger.verify().remaining.epsilon == 1
    assert ledger.path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["city.ledger"]


def test_threads_share_a_ledger(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", 1)

    def spend(number: int) -> bool:
        try:
            ledger.spend(Guarantee.pure("0.1"), f"thread {number}")
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(16))) == 10
    ledger.verify()
