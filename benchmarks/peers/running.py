"""Lets a contender take its turn, and watches how much memory it and all its processes hold."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from peers.environments import last_line

if TYPE_CHECKING:
    from peers.contenders import Contender

_SCRIPTS = Path(__file__).parent
_LOOK_EVERY = 0.1
Files = tuple[str, str]


class FailedError(Exception):
    """A turn that did not end well; says why."""


@dataclass(frozen=True)
class Turn:
    """What one turn took."""

    seconds: float
    processor_seconds: float | None
    """Of the process and of those it waited for: what a busy machine inflates least."""
    peak_mb: float
    versions: dict[str, str]
    noise_seconds: float | None
    start_seconds: float | None
    wall: float
    """With starting, warming up and writing the answer."""


def run(contender: Contender, python: str, warm: Files, real: Files, answer: Path, limit: float) -> Turn:
    """One turn, in a process of its own that is ended after `limit` seconds."""
    command = [
        python,
        str(_SCRIPTS / contender.script),
        *([contender.argument] if contender.argument else []),
    ]
    command += ["--warm", *warm, "--real", *real, "--answer", str(answer)]
    began = time.perf_counter()
    # Output goes to files: nobody reads a pipe while memory is watched.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        peak = _Peak(process.pid)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            raise FailedError(f"not done after {limit:.0f} s") from None
        finally:
            _end(process)
            held = peak.stop()
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise FailedError(last_line(err.read()))
        told = json.loads(out.read().splitlines()[-1])
    return Turn(
        told["seconds"],
        told["processor_seconds"],
        max(told["peak_mb"], held),
        told["versions"],
        told.get("noise_seconds"),
        told.get("start_seconds"),
        time.perf_counter() - began,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, if it has not ended, with those it started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Peak:
    """The most memory a process and its descendants were seen to hold at once, in MB."""

    def __init__(self, pid: int) -> None:
        self._most, self._done, self._pid = 0.0, threading.Event(), pid
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        self._done.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._done.wait(_LOOK_EVERY):
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(self._pid)
                family = [process, *process.children(recursive=True)]
                self._most = max(self._most, sum(map(_resident, family)) / 2**20)


def _resident(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0
