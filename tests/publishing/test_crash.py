"""Killed at any moment: no spend is lost, none is made twice, and a retry yields one release for one spend."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import at_night

ROOT = Path(__file__).parent.parent.parent
KILLS = 54
"""Two thirds are the first of a story, and a story has some thirty sections."""


def killing(folder: Path, how: str, seed: int, kills: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.publishing.killing", str(folder), how, str(seed), str(kills)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def killed(folder: Path, how: str, seed: int, kills: int) -> dict[str, int]:
    """How many kills found the attempt how far; killing.py has checked what each left, and that a retry finishes."""
    done = killing(folder, how, seed, kills)
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    assert sum(found.values()) == kills
    return found


@pytest.mark.parametrize("seed", [0, *at_night(1, 2, 3, 4, 5)])
def test_killed_in_every_section_of_the_story(seed: int, tmp_path: Path) -> None:
    """In each of its sections, at a random step of it."""
    found = killed(tmp_path, "steps", seed, KILLS)
    assert {"locked", "spent", "drawing", "measured", "half-written", "staged", "named"} <= set(found), (
        "kills fell into all of the story"
    )


@pytest.mark.parametrize("seed", [0, *at_night(1, 2, 3)])
def test_killed_in_every_section_of_a_release_of_levels(seed: int, tmp_path: Path) -> None:
    """One spend pays for all levels, and none of them is drawn twice."""
    found = killed(tmp_path, "levels", seed, KILLS)
    assert {"locked", "drawing", "measured", "half-written", "staged", "named"} <= set(found)


@pytest.mark.parametrize("seed", [0, *at_night(1, 2, 3)])
def test_killed_in_every_section_of_a_release_of_two_months(seed: int, tmp_path: Path) -> None:
    """In a ledger per month, a spend of two parts: both are charged, or neither, in their months and to the person."""
    found = killed(tmp_path, "monthly", seed, KILLS)
    assert {"locked", "drawing", "measured", "half-written", "staged", "named"} <= set(found)


@pytest.mark.parametrize("kills", [3, *at_night(50)])
def test_killed_at_random_times(kills: int, tmp_path: Path) -> None:
    killed(tmp_path, "time", 0, kills)


def test_the_check_can_fail(tmp_path: Path) -> None:
    """A publication that is not remembered: the retry spends again."""
    done = killing(tmp_path, "forgetful", 0, 20)
    assert done.returncode != 0
    assert "spent twice" in done.stderr


def test_the_check_sees_a_second_draw(tmp_path: Path) -> None:
    """Measurements that are kept and not used: the retry draws again under the same spend."""
    done = killing(tmp_path, "redrawing", 0, 30)
    assert done.returncode != 0
    assert "drawn twice" in done.stderr
