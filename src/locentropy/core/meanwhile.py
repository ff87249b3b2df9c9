"""Work that is done beside a query: an engine counts without Python, which is free to make ready what is needed next.

Loading the libraries of noise and inference takes as long as counting a few million rows. Nothing depends on it: what
is not ready when it is needed is made then, and what fails here fails there again, with its message.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Progress = Callable[[str, float | None], None]


def meanwhile(progress: Progress | None, modules: Iterable[str], prepare: Callable[[], None]) -> Progress:
    """A progress function that also imports modules, and then prepares something, in another thread.

    It begins when it hears of a query that is not done: until then both would only wait for the interpreter.
    """
    begun = False

    def work() -> None:
        for name in modules:
            with suppress(Exception):
                import_module(name)
        with suppress(Exception):
            prepare()

    def tell(doing: str, done: float | None) -> None:
        nonlocal begun
        if not begun and (done is None or done < 1):
            begun = True
            # Not a daemon: the interpreter must not end in the middle of loading a library.
            threading.Thread(target=work, name="meanwhile").start()
        if progress is not None:
            progress(doing, done)

    return tell
