"""The process ends soon after the command, and nothing is lost by that: output, what was registered, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from locentropy.core.version import __version__

PREPARED = "import atexit, os, sys, threading, time; atexit.register(print, 'registered')"
RUN = "from locentropy.cli.entry import run; run()"


def ended(*given: str, prepared: str = PREPARED, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"{prepared}\n{RUN}", *given]
    return subprocess.run(command, capture_output="stdout" not in how, text=True, timeout=300, **how)  # type: ignore[call-overload, no-any-return]


def test_everything_is_told_before_the_end() -> None:
    done = ended("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(f"locentropy {__version__}\n")
    assert done.stdout.endswith("registered\n")
    assert done.stderr == ""


def test_it_ends_at_once() -> None:
    """Python itself would run what is registered last, at its own end."""
    late = f"{PREPARED}\nend, os._exit = os._exit, lambda code: (os.write(1, b'at once'), end(code))"
    assert ended("--version", prepared=late).stdout.endswith("registered\nat once")


def test_other_threads_are_waited_for() -> None:
    busy = f"{PREPARED}\nthreading.Timer(1, print, ['a thread']).start()"
    done = ended("--version", prepared=busy)
    assert done.returncode == 0
    assert done.stdout.endswith("a thread\nregistered\n")


def test_errors_have_their_exit_codes() -> None:
    done = ended("plan", "--epsilon", "-1", "--n-locations", "10")
    assert done.returncode == 2
    assert done.stdout == "registered\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_what_cannot_be_written_is_no_success() -> None:
    with Path("/dev/full").open("w") as full:
        done = ended(
            "--version", stdout=full, stderr=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": ""}
        )
    assert done.returncode != 0
