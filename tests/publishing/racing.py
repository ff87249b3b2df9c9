"""Sixteen processes that publish at once. Run by test_race.py, in a process of its own, which they are forks of.

Without an engine they meet where they are meant to meet: all of them come to the ledger and the directory at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import locentropy.visits.engines.duckdb  # noqa: F401  # used by the forks
from locentropy.core.errors import LocentropyError
from locentropy.publishing import publish as story
from tests.publishing.making import LIMIT, MAY, counted_visits, ledger_in, public, visits_in

RACERS = 16


def main(folder: Path, targets: int, how: str) -> None:
    if how != "engine":
        story.open_queries = counted_visits  # type: ignore[assignment]
    monthly = how == "monthly"
    visits, ledger = visits_in(folder), ledger_in(folder, 5, monthly=monthly)  # ten times ε = 0.5
    window = MAY if monthly else None
    waiting, starting = os.pipe()
    pids = []
    for number in range(RACERS):
        pid = os.fork()
        if pid:
            pids.append(pid)
            continue
        os.close(starting)
        os.read(waiting, 1)  # returns for all of them when the other end is closed
        try:
            target = folder / f"release-{number % targets}"
            story.publish(visits, LIMIT, public(), out=target, ledger=ledger, window=window)
        except LocentropyError as error:
            os._exit(error.exit_code)
        except BaseException:
            os._exit(100)
        os._exit(0)
    os.close(starting)
    codes = Counter(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids)
    print(json.dumps(codes))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
