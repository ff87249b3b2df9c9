"""Work on several processes: in order, with faults where they are asked for, and none left when it is stopped."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from locentropy.privacy.noise import OpenDPNoise
from locentropy_lab.audit.mutation.noise_faults import ONE_FIFTH, TWO_THIRDS
from locentropy_lab.audit.parallel import parts, spread


def size_of_noise(draws: int = 4000) -> float:
    return float(np.abs(OpenDPNoise().laplace(np.zeros(draws, dtype=np.int64), 1000.0)).mean())


def test_parts_are_all_of_it() -> None:
    for many in (1, 7, 20, 21, 1000):
        assert sum(parts(many)) == many
        assert min(parts(many)) >= 1


@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_in_the_order_of_the_jobs(processes: int) -> None:
    told: list[float] = []
    done = list(spread(divmod, [(number, 3) for number in range(8)], processes, told.append))
    assert done == [divmod(number, 3) for number in range(8)]
    assert told == [number / 8 for number in range(9)]


def test_several_processes_are_others() -> None:
    done = list(spread(who_does, [(number,) for number in range(8)], 2, lambda _: None))
    assert len(done) == 8
    assert os.getpid() not in done


def who_does(_: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_fault_is_planted_wherever_the_work_is_done(processes: int) -> None:
    jobs = [(4000,)] * 4
    sizes = {
        fault: sum(spread(size_of_noise, jobs, processes, lambda _: None, fault)) / 4
        for fault in (None, TWO_THIRDS.name, ONE_FIFTH.name)
    }
    assert 900 < sizes[None] < 1100
    assert 600 < sizes[TWO_THIRDS.name] < 733
    assert 180 < sizes[ONE_FIFTH.name] < 220
    assert 900 < size_of_noise() < 1100, "nothing stays planted"


def test_whoever_stops_does_not_wait_for_work_that_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half an hour of it, here: the test would not end."""

    def stop(part: float) -> None:
        if part:
            raise KeyboardInterrupt

    before = multiprocessing.active_children()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    jobs = [(0.0,), *[(600.0,)] * 5]
    with pytest.raises(KeyboardInterrupt):
        list(spread(in_a_folder_for, jobs, 2, stop))
    assert list(tmp_path.iterdir()) == []
    assert [child for child in multiprocessing.active_children() if child not in before] == []


def in_a_folder_for(seconds: float) -> None:
    with tempfile.TemporaryDirectory():
        time.sleep(seconds)
