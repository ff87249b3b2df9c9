"""Work in parts, on several processes where there are several."""

from __future__ import annotations

import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence


Done = TypeVar("Done")

_PARTS: Final = 20
"""Few enough that starting one costs little, many enough to show progress."""


def parts(many: int) -> list[int]:
    """Split a number of runs into parts."""
    size = max(1, -(-many // _PARTS))
    return [min(size, many - first) for first in range(0, many, size)]


def spread(
    work: Callable[..., Done],
    jobs: Sequence[tuple[Any, ...]],
    processes: int,
    progress: Callable[[float], None],
    fault: str | None = None,
) -> Iterator[Done]:
    """Run jobs on several processes, and yield their results in the order of the jobs.

    Other processes have the software as installed, without what is patched in this one. So a fault is given by name,
    and planted wherever a job runs.
    """
    progress(0.0)
    work = work if fault is None else partial(_with_fault, fault, work)
    with closing(_done(work, jobs, processes)) as results:
        for number, done in enumerate(results, start=1):
            yield done
            progress(number / len(jobs))


def _with_fault(fault: str, work: Callable[..., Done], *job: Any) -> Done:
    from locentropy_lab.audit.mutation.catalogue import fault_named  # which imports what is attacked

    with fault_named(fault).planted():
        return work(*job)


def _done(
    work: Callable[..., Done], jobs: Sequence[tuple[Any, ...]], processes: int
) -> Generator[Done, None, None]:
    if processes < 2 or len(jobs) < 2 * processes:
        yield from (work(*job) for job in jobs)
        return
    context = multiprocessing.get_context("spawn")  # threads of the engine do not survive a fork
    others = multiprocessing.active_children()
    # What a stopped process leaves behind is deleted with this folder.
    with TemporaryDirectory(prefix="locentropy-audit-", ignore_cleanup_errors=True) as folder:
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_keep_to, initargs=(folder,))
        try:
            yield from pool.map(work, *zip(*jobs, strict=True))
        except BaseException:
            # An interruption should not wait for a minute's work of each process.
            for child in multiprocessing.active_children():
                if child not in others:
                    child.terminate()
            pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown()


def _keep_to(folder: str) -> None:
    tempfile.tempdir = folder
