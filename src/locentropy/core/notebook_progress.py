"""Progress in a notebook: one line below the cell, which appears once the work takes a while and goes away after it."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.html import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[str, float | None], None]

_SECONDS_BEFORE: Final = 1.0
_SECONDS_BETWEEN: Final = 0.2


@contextmanager
def shown_progress(given: Progress | None) -> Iterator[Progress | None]:
    """Give the function that was given; in a notebook, where none was, one that shows a bar below the cell."""
    if given is not None or not _in_notebook():
        yield given
        return
    line = _Line()
    try:
        yield line.report
    finally:
        line.clear()


def _in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel. Where IPython is not loaded already, it does not."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class _Line:
    """A bar in the output of a cell. It needs no widgets."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._next = time.monotonic() + _SECONDS_BEFORE

    def report(self, doing: str, fraction: float | None) -> None:
        """Show what is being done, and how far it is, if that is known."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _SECONDS_BETWEEN
        self._show(tag("div", tag("progress", value=fraction), f" {doing} …"))

    def clear(self) -> None:
        """Take the line away."""
        if self._shown is not None:
            self._show(tag("span"))

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._shown is None:
            self._shown = display(HTML(html), display_id=True)
        else:
            self._shown.update(HTML(html))
