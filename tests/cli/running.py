"""Running commands: within this process, which is fast, or in one of their own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from locentropy.cli import console
from locentropy.cli.main import run

Done = subprocess.CompletedProcess[str]

START = "from locentropy.cli.main import run; run()"


LONG = 300.0
"""Seconds after which a process hangs: far more than one takes, for a busy machine can be ten times slower."""


def process(*arguments: object, cwd: Path | None = None, columns: int = 120, code: str = START) -> Done:
    """Run a command in a process of its own: for entry, signals, exit codes, and what is loaded."""
    environment = {
        **os.environ,
        "COLUMNS": str(columns),
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "PYTHONFAULTHANDLER": "1",
    }
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=cwd
    ) as started:
        try:
            said, told = started.communicate(timeout=LONG)
        except subprocess.TimeoutExpired:
            started.send_signal(signal.SIGABRT)  # Python then tells where each of its threads is
            _, told = started.communicate()
            raise AssertionError(f"It hangs:\n{told}") from None
    return subprocess.CompletedProcess(command, started.returncode, said, told)


class _Terminal(io.StringIO):
    """What is shown on a terminal."""

    def isatty(self) -> bool:
        return True


def in_process(
    *arguments: object, cwd: Path | None = None, columns: int = 120, terminal: bool = False
) -> Done:
    """Run a command within this process, from its entry to its exit code."""
    command = ["locentropy", *map(str, arguments)]
    said, told = _Terminal() if terminal else io.StringIO(), io.StringIO()
    with (
        _undisturbed(command, columns),
        nullcontext() if cwd is None else chdir(cwd),
        redirect_stdout(said),
        redirect_stderr(told),
    ):
        try:
            run()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        else:
            raise AssertionError("the command did not exit")
    return subprocess.CompletedProcess(command, code, said.getvalue(), told.getvalue())


@contextmanager
def _undisturbed(command: list[str], columns: int) -> Iterator[None]:
    """Leave pytest's own signals and hooks alone."""
    with (
        patch.object(sys, "argv", command),
        patch.object(signal, "signal", lambda *_: None),
        patch.object(sys, "unraisablehook", sys.unraisablehook),
        patch.dict(os.environ, {"COLUMNS": str(columns), "NO_COLOR": "1"}),
        patch.object(console.out, "_width", columns),
        patch.object(console.err, "_width", columns),
    ):
        yield
