"""Readers with planted faults, which the fuzzing must find."""

from __future__ import annotations

import os
import time
from pathlib import Path

from locentropy.core.errors import SourceError
from tests.fuzz import mutating
from tests.fuzz.targets import Target, emptied

__all__ = ["TARGETS", "emptied"]

KEPT: list[bytes] = []


def faulty(fault: str, content: bytes) -> None:
    """Refuses every other input; what it does with the rest is wrong."""
    if len(content) % 2:
        raise SourceError("is odd")
    if fault == "careless":
        1 / 0  # noqa: B018
    elif fault == "hungry":
        bytearray(1 << 40)
    elif fault == "growing":
        KEPT.append(b"x" * (800 << 20))
    elif fault == "dying":
        os.abort()
    elif fault == "hanging":
        time.sleep(3600)


def target(fault: str) -> Target:
    def read(folder: Path, content: bytes) -> None:
        faulty(fault, content)

    return Target(lambda: [b"a,b\n1,2\n"], mutating.text, read)


TARGETS = {fault: target(fault) for fault in ("careless", "hungry", "growing", "dying", "hanging")}
