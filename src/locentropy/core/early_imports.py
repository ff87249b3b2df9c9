"""Imports that run beside a query: an engine counts without Python, which is free to load what is needed next.

Loading the libraries of noise and inference takes as long as counting a few million rows. Nothing depends on it: what
is not loaded when it is needed is imported then, and an import that fails here fails there again, with its message.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def import_early(modules: Iterable[str]) -> None:
    """Import modules in another thread, in this order, and return at once."""

    def load(names: tuple[str, ...] = tuple(modules)) -> None:
        for name in names:
            with suppress(Exception):
                import_module(name)

    # Not a daemon: the interpreter must not end in the middle of loading a library.
    threading.Thread(target=load, name="imports").start()
