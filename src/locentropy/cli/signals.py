"""Signals that stop the command: the first one is obeyed, and none is lost."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import FrameType

STOP_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

_A_MOMENT: Final = 0.01  # seconds
_heard: list[int] = []


class Stopped(BaseException):
    """A signal asked the process to stop; raised so that temporary files are removed on the way out."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number


def listen() -> None:
    """Handle signals from now on."""
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)


def ignore_signals() -> None:
    """Ignore signals from now on: what is left to do is short and must not be interrupted."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)  # nor one that was to be repeated


def stop_if_asked() -> None:
    """Raise Stopped if a signal arrived and a library swallowed it.

    Python raises what a signal's handler raises wherever it happens to be, and native code that calls Python, as when
    Arrow looks for pandas, may drop it there.
    """
    if _heard:
        raise Stopped(_heard[0])


def was_asked() -> int | None:
    """Return the exit code for the signal that arrived, or None."""
    return 128 + _heard[0] if _heard else None


def stop_soon() -> None:
    """Stop a moment later: for code that cannot raise, such as destructors."""
    if not hasattr(signal, "setitimer"):  # Windows: it stops when progress is next reported
        return
    signal.signal(signal.SIGALRM, lambda number, frame: stop_if_asked())
    signal.setitimer(signal.ITIMER_REAL, _A_MOMENT)


def _stop(number: int, frame: FrameType | None) -> None:
    ignore_signals()  # once is enough: a second one would disturb the cleaning up
    _heard.append(number)
    raise Stopped(number)
