"""The entry point. It is a module of its own because it sets a signal handler before anything else is imported.

So Ctrl-C while the command line loads ends it without a traceback.
"""

from __future__ import annotations

import signal


def run() -> None:
    """Load the command line, and run it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to tidy up

    from locentropy.cli.main import run as run_command

    run_command()
