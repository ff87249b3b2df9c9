"""Where the command begins: whoever stops it while it loads sees no traceback."""

from __future__ import annotations

import signal


def run() -> None:
    """Load the command line, and run it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to tidy up

    from locentropy.cli.main import run as run_command

    run_command()
