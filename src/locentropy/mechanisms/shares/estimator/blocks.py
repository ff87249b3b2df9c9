"""Blocks of cells: tables of simulated places against cells stay small, and blocks are worked on side by side.

NumPy works on arrays of this size without the interpreter's lock. Results do not depend on the number of threads: every
block is computed by itself, and they are returned in their order.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK: Final = 32
"""Cells at a time."""
_THREADS: Final = 4
"""More would mostly wait for memory; fewer processors share them."""

Result = TypeVar("Result")


def in_blocks(function: Callable[[slice], Result], cells: int) -> list[Result]:
    """What a function gives for each block of so many cells."""
    blocks = [slice(start, min(start + BLOCK, cells)) for start in range(0, cells, BLOCK)]
    if len(blocks) < 2:
        return [function(block) for block in blocks]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(function, blocks))
