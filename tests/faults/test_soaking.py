"""A short soak, and that it would find what it looks for. The long one: `make soak`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import soaking
from tests.publishing.test_crash import ROOT

PREPARE = """
import os, signal, sys
from locentropy.publishing import publication_file, publish as story
from locentropy.release import files
from tests.faults import soak_faults, soaking
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def after_the_spend(draw, visits):
    story._cross = killed
soaking.FAULTS = {
    "none": soaking.FAULTS["none"],
    "killed": soak_faults.Fault(frozenset({-signal.SIGKILL}), after_the_spend, anyhow=True),
}
sys.argv = ["soaking", "--publications", "2", "--seed", "1"]  # each of the faults once
"""
FAULTS = {
    "lost spends": "publication_file._write = lambda *_: None  # forgets what it has begun",
    "unexplained errors": "story._rehearse = lambda *_: 1 / 0",
    "leaked markers": """
real = files._write
def telling(path, content):
    real(path, content)
    path.with_name("notes").write_text("zqperson7 was there")
files._write = telling
""",
}


def soaked(*command: str) -> tuple[dict[str, int], str]:
    """What the soak has counted, and what it said."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # as the command line sets it
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    counts = {name: int(number) for name, number in re.findall(r"^(\w+ \w+) +(\d+)$", done.stdout, re.M)}
    assert done.returncode == any(counts.values()), done.stderr
    return counts, done.stderr


def test_a_short_soak() -> None:
    """As many publications as there are faults: each fault happens."""
    number = str(len(soaking.FAULTS))
    counts, said = soaked("-m", "tests.faults.soaking", "--publications", number, "--seed", "0")
    assert counts == {"lost spends": 0, "unexplained errors": 0, "leaked markers": 0}, said


@pytest.mark.parametrize("problem", FAULTS)
def test_planted_faults_are_found(problem: str) -> None:
    counts, _ = soaked("-c", f"{PREPARE}{FAULTS[problem]}\nsoaking.main()")
    assert counts[problem] > 0


@pytest.fixture
def judge(tmp_path: Path) -> Callable[..., dict[str, int]]:
    """What a soak makes of the end of a command."""
    place = tmp_path / "block" / "0"
    place.mkdir(parents=True)
    (place.parent / "city.ledger").write_text("fine")
    (place / "visits.csv").write_text(soaking.MARKERS[0])
    soak = soaking.Soak.__new__(soaking.Soak)
    soak.spill, soak.ends, soak.problems, soak.details = tmp_path / "spill", Counter(), Counter(), []
    soak.spill.mkdir()

    def judged(name: str, code: int, said: str) -> dict[str, int]:
        soak._judge(place, name, code, said)
        return dict(soak.problems)

    return judged


def test_ends_that_are_explained(judge: Callable[..., dict[str, int]]) -> None:
    assert judge("none", 0, "Published.") == {}
    assert judge("SIGINT", 130, "Stopped.") == {}
    assert judge("damaged ledger", 8, f"{soaking.TOLD} it is damaged") == {}


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("none", 8, soaking.TOLD),
        ("damaged ledger", 8, "nothing was said"),
        ("damaged ledger", 8, f"{soaking.TOLD} An unexpected KeyError"),
        ("none", 0, "Traceback (most recent call last)"),
    ],
)
def test_ends_that_are_not(name: str, code: int, said: str, judge: Callable[..., dict[str, int]]) -> None:
    assert judge(name, code, said) == {"unexplained errors": 1}


def test_markers_are_seen_wherever_they_are(judge: Callable[..., dict[str, int]], tmp_path: Path) -> None:
    assert judge("none", 0, f"{soaking.MARKERS[-1]} was there") == {"leaked markers": 1}
    (tmp_path / "block" / "city.ledger").write_text(soaking.MARKERS[-1])
    assert judge("none", 0, "") == {"leaked markers": 2}


def test_spilled_rows_that_are_left_are_seen(judge: Callable[..., dict[str, int]], tmp_path: Path) -> None:
    spilled = tmp_path / "spill" / "locentropy-x"
    spilled.mkdir(mode=0o700)
    assert judge("SIGINT", 130, "Stopped.") == {"unexplained errors": 1}
    spilled.mkdir()
    spilled.chmod(0o755)
    assert judge("none", 0, "") == {"unexplained errors": 1, "leaked markers": 1}


@pytest.mark.nightly
def test_nothing_is_found_without_a_planted_fault() -> None:
    counts, said = soaked("-c", f"{PREPARE}\nsoaking.main()")
    assert not any(counts.values()), said
