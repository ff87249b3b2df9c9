"""A short soak, and that it would find what it looks for. The long one: `make soak`."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.publishing.test_crash import ROOT

PREPARE = """
import os, signal, sys
from locentropy.publishing import claim_file, publish as story
from locentropy.release import files
from tests.faults import soak_faults, soaking
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def after_the_spend(draw, visits):
    story._estimates = killed
soaking.FAULTS = {
    "none": soaking.FAULTS["none"],
    "killed": soak_faults.Fault(frozenset({-signal.SIGKILL}), after_the_spend, anyhow=True),
}
sys.argv = ["soaking", "--publications", "4", "--seed", "1"]
"""
FAULTS = {
    "lost spends": "claim_file._write = lambda *_: None  # forgets what it has begun",
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
    counts, said = soaked("-m", "tests.faults.soaking", "--publications", "25", "--seed", "0")
    assert counts == {"lost spends": 0, "unexplained errors": 0, "leaked markers": 0}, said


@pytest.mark.parametrize("problem", FAULTS)
def test_planted_faults_are_found(problem: str) -> None:
    counts, _ = soaked("-c", f"{PREPARE}{FAULTS[problem]}\nsoaking.main()")
    assert counts[problem] > 0


def test_nothing_is_found_without_a_planted_fault() -> None:
    counts, said = soaked("-c", f"{PREPARE}\nsoaking.main()")
    assert not any(counts.values()), said
