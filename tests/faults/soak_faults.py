"""What is done to an attempt of the soak, and which exit codes that explains."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import rich

import locentropy as le
from locentropy.ledger import ledger as ledgers


@dataclass(frozen=True)
class Fault:
    codes: frozenset[int]
    inside: Callable[[random.Random, Path], None] | None = None
    """Done in the process, before it begins."""
    around: Callable[[random.Random, Path], AbstractContextManager[None]] | None = None
    """Done to the ledger before it begins, and undone afterwards."""
    signal: signal.Signals | None = None
    """Sent to it after a while."""
    anyhow: bool = False
    """Whether it may end in any way, without a word."""


def little_disk(draw: random.Random, visits: Path) -> None:
    size = draw.choice([0, 500, 4096, 20_000, 40_000, 60_000, 100_000])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def little_memory(draw: random.Random, visits: Path) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    allowed = used + (draw.choice([20, 60, 100, 200, 300, 400]) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def replaced(draw: random.Random, visits: Path) -> None:
    wait = draw.uniform(0, 0.7)

    def swap() -> None:
        time.sleep(wait)
        other = visits.with_suffix(".new")
        shutil.copy(visits, other)
        other.replace(visits)

    threading.Thread(target=swap, daemon=True).start()


def damaged(draw: random.Random, visits: Path) -> None:
    content = bytearray(visits.read_bytes())
    for _ in range(draw.choice([1, 1, 5])):
        content[draw.randrange(len(content))] = draw.randrange(256)
    visits.write_bytes(content if draw.random() < 0.7 else content[: draw.randrange(len(content))])


@contextmanager
def damaged_ledger(draw: random.Random, ledger: Path) -> Iterator[None]:
    """Until somebody puts the whole one back."""
    content = ledger.read_bytes()
    damage = draw.choice([b"", content[:4096], content[:2000] + bytes(len(content) - 2000), b"x" * 5000])
    ledger.write_bytes(damage)
    try:
        yield
    finally:
        ledger.write_bytes(content)


def others_may_import() -> bool:
    """Whether the software is where everybody may read it: who cannot import it has another fault than is meant."""
    homes = [Path(module.__file__ or "").resolve() for module in (le, rich)]
    return all(folder.stat().st_mode & 0o001 for home in homes for folder in home.parents)


def somebody_else(draw: random.Random, visits: Path) -> None:
    """Who may read the visits, and neither the ledger nor write anywhere."""
    visits.chmod(0o644)
    os.setgid(65534)
    os.setuid(65534)


def other_clock(draw: random.Random, visits: Path) -> None:
    at = datetime(draw.choice([1, 1970, 9999]), 1, 1, tzinfo=UTC)
    ledgers.datetime = type("Clock", (), {"now": staticmethod(lambda tz: at)})  # type: ignore[attr-defined]


FAULTS = {
    "none": Fault(frozenset({0})),
    "SIGKILL": Fault(frozenset({0, -signal.SIGKILL}), signal=signal.SIGKILL, anyhow=True),
    "SIGTERM": Fault(frozenset({0, 128 + signal.SIGTERM}), signal=signal.SIGTERM),
    "SIGINT": Fault(frozenset({0, 128 + signal.SIGINT}), signal=signal.SIGINT),
    "disk full": Fault(frozenset({0, 1, 6, 8, 9}), little_disk),
    "no memory": Fault(frozenset(), little_memory, anyhow=True),
    "replaced": Fault(frozenset({0, 3}), replaced),
    "damaged": Fault(frozenset({0, 3, 4, 5, 6}), damaged),
    "clock": Fault(frozenset({0}), other_clock),
    "damaged ledger": Fault(frozenset({8}), around=damaged_ledger),
}
if os.geteuid() == 0 and others_may_import():
    FAULTS["no permission"] = Fault(frozenset({3, 6, 8, 9}), somebody_else)
