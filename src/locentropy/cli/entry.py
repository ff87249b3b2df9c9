"""The entry point. It is a module of its own because it sets a signal handler before anything else is imported.

So Ctrl-C while the command line loads ends it without a traceback.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading

_OBJECTS = 500_000
"""New objects between two searches for garbage. Loading makes hundreds of thousands, and next to no garbage."""


def run() -> None:
    """Load the command line, run it, and end the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to tidy up
    gc.set_threshold(_OBJECTS)

    from locentropy.cli.main import run as run_command

    try:
        run_command()
    except SystemExit as ended:
        if ended.code in (0, None):
            _end()
        raise


def _end() -> None:
    """End the process with success, unless something is still to be done or told, which Python then does.

    Before it ends Python searches all that was loaded for garbage, several times: that takes a third of a second.
    """
    if threading.active_count() > 1 or None in (sys.stdout, sys.stderr):
        return
    try:
        sys.stdout.flush()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:  # as on a full disk: Python meets it again, and says so
        return
    os._exit(0)
