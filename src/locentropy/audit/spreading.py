"""Work in parts, on several processes where there are several."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Done = TypeVar("Done")

_PARTS: Final = 20
"""Few enough that starting one costs little, many enough to show progress."""


def parts(many: int) -> list[int]:
    """How many each part has."""
    size = max(1, -(-many // _PARTS))
    return [min(size, many - first) for first in range(0, many, size)]


def spread(
    work: Callable[..., Done],
    jobs: Sequence[tuple[Any, ...]],
    processes: int,
    progress: Callable[[float], None],
) -> Iterator[Done]:
    """The results, in the order of the jobs.

    Another process has the software as it is installed: what is patched in this one, such as a planted fault, it does
    not know.
    """
    progress(0.0)
    for number, done in enumerate(_done(work, jobs, processes), start=1):
        yield done
        progress(number / len(jobs))


def _done(work: Callable[..., Done], jobs: Sequence[tuple[Any, ...]], processes: int) -> Iterator[Done]:
    if processes < 2 or len(jobs) < 2 * processes:
        yield from (work(*job) for job in jobs)
        return
    context = multiprocessing.get_context("spawn")  # threads of the engine do not survive a fork
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield from pool.map(work, *zip(*jobs, strict=True))
