"""Output: results on standard output; notes, warnings, progress and errors on standard error."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rich.console import Console

from locentropy.cli.signals import stop_if_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

out: Final = Console(highlight=False, emoji=False)
err: Final = Console(stderr=True, highlight=False, emoji=False)

_SECONDS_BEFORE_BAR: Final = 1.0


class LogLevel(StrEnum):
    """What is told on standard error besides errors."""

    INFO = "info"
    """Notes, progress and warnings."""
    WARNING = "warning"
    """Warnings."""
    ERROR = "error"
    """Nothing."""


_level = LogLevel.INFO


def set_log_level(level: LogLevel) -> None:
    """Tell this much from now on."""
    global _level
    _level = level


def printable(text: str, keep: str = "") -> str:
    """Return a text without control characters, so that no file can steer the terminal; `keep` are allowed."""
    return "".join(letter if letter.isprintable() or letter in keep else "�" for letter in text)


def print_text(text: str, to: Console = out, style: str | None = None) -> None:
    """Print lines, on a terminal without breaks in words. One with a command or option is copied: it stays whole."""
    for line in text.split("\n"):
        copied = "locentropy " in line or "--" in line
        to.print(line, style=style, markup=False, soft_wrap=copied or not to.is_terminal)


def note(text: str) -> None:
    """Print a note beside the result."""
    if _level == LogLevel.INFO:
        print_text(printable(text, keep="\n"), err)


def warn(text: str) -> None:
    """Print a warning."""
    if _level != LogLevel.ERROR:
        print_text(printable(text, keep="\n"), err, style="bold yellow")


class _Noting(logging.Handler):
    """Prints records as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one of them."""
        note(record.getMessage())


_NOTING: Final = _Noting(logging.INFO)


def note_reading() -> None:
    """From now on, note how files are read, as far as that was recognised, before anything is counted or spent."""
    log = logging.getLogger("locentropy.reading")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(_NOTING)  # once: it is always the same one


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float | None], None]]:
    """Give a function to report progress to; a bar appears once the work has taken a second.

    Reporting also stops the command if a signal asked for it and a library ignored it.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    hidden = not err.is_terminal or _level != LogLevel.INFO
    with Progress(*columns, console=err, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=None, visible=False)
        began = time.monotonic()

        def report(doing: str, fraction: float | None) -> None:
            stop_if_asked()
            total = None if fraction is None else 1.0
            late = time.monotonic() - began > _SECONDS_BEFORE_BAR
            bar.update(task, description=doing, completed=fraction or 0.0, total=total, visible=late)

        yield report
