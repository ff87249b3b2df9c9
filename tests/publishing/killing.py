"""Publishing processes that are killed, again and again. Run by test_crash.py, in a process of its own.

Each attempt is a fork of one process that has imported everything and used nothing, so that it is short. It is killed
after a random time by its parent, or at a random step by itself: a step is any call or return within the code that
locks, spends, stages and renames.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude  # noqa: F401  # used by the forks, as is all that is imported and not used here
import pandas as pd  # noqa: F401  # imported by Arrow when it is first used

import locentropy as le
import locentropy.release.reading
import locentropy.visits.engines.duckdb
from locentropy.ledger.ledger import Ledger
from locentropy.publishing import publication_file
from locentropy.publishing import publish as story
from locentropy.publishing.publication import Publication
from locentropy.release.measurements import read_measurements
from locentropy.release.verify import verify
from tests.publishing.making import LIMIT, MAY, PLACES, counted_visits, ledger_in, names, public, visits_in

WATCHED = ("locentropy.publishing.", "locentropy.release.files", "locentropy.ledger.ledger")
MOST_KILLS_OF_ONE = 2
LEVELS = le.PublicLocations(PLACES, levels=["place", "all"], provenance="the register")
"""Two levels: their measurements are in files of their own."""
MONTHS = le.Window("2026-05/2026-07", zone="UTC")
"""Two months, each a part of its own in a ledger per month."""
SECTIONS = 20
"""Of the whole story; each of its phases has two at least, however short it is."""


def forked(work: Callable[[], Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def was_killed(pid: int) -> bool:
    """Wait for a fork; any end but success and the kill is a failure."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the attempt failed"
    return False


class Steps:
    """Counts the steps of a fork, and kills it at one of them."""

    def __init__(self, last: float) -> None:
        self.taken, self.last = 0, last

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        if frame.f_globals.get("__name__", "").startswith(WATCHED):
            self.taken += 1
            if self.taken >= self.last:
                os.kill(os.getpid(), signal.SIGKILL)


class Place:
    """A folder to publish in, with a ledger that holds earlier spends."""

    def __init__(
        self, folder: Path, visits: Any, places: le.PublicLocations, *, monthly: bool = False
    ) -> None:
        folder.mkdir()
        self.places, self.monthly = places, monthly
        self.folder, self.visits, self.target = folder, visits, folder / "out" / "release"
        self.target.parent.mkdir()
        self.ledger = ledger_in(folder, monthly=monthly)
        window = MAY if monthly else None
        self.before = {self.ledger.spend(LIMIT.guarantee, "earlier", window=window).id for _ in range(2)}
        self.paid: set[str] = set()
        self.drawn: list[dict[str, list[int]]] | None = None
        """The noisy integers, once they are on disk: for one spend there are no others."""

    def attempt(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", story.ResumedWarning)
            cut: dict[str, Any] = {"window": MONTHS, "windows": "month"} if self.monthly else {}
            story.publish(self.visits, LIMIT, self.places, out=self.target, ledger=self.ledger, **cut)

    def look(self) -> str:
        """Check what a kill left, and say how far the attempt had come."""
        book = self.ledger.verify()
        paid = {spend.id for spend in book.spends} - self.before
        assert self.before <= {spend.id for spend in book.spends}, "a spend was lost"
        assert self.paid <= paid, "a spend was lost"
        assert len(paid) <= 1, "spent twice"
        self.paid = paid
        # All parts of a spend, or none: in each month, and for whoever is there in all of them.
        charged = [book.charged_in(month).epsilon for month in ("2026-05", "2026-06")]
        own = LIMIT.guarantee.epsilon * len(paid)
        assert not self.monthly or charged == [2 * LIMIT.guarantee.epsilon + own, own], "a part is missing"
        assert book.person.epsilon == 2 * LIMIT.guarantee.epsilon + (2 if self.monthly else 1) * own
        assert {record.spend for record in book.releases} <= paid, "a release whose spend is missing"
        inside = self.target.parent
        assert [name for name in names(inside) if not name.startswith(".")] in ([], ["release"])
        whole = [*inside.glob(".release.*.staged"), *inside.glob("release")]
        assert len(whole) <= 1
        if whole:
            assert paid, "a release whose spend is missing"
            label = "-2026-05_2026-07-by-month" if self.monthly else ""
            assert names(whole[0]) == [
                *(["all.csv", "all.measurements.parquet", "all.parquet"] if self.places.levels else []),
                "datapackage.json",
                "details.yaml",
                "manifest.yaml",
                f"measurements{label}.parquet",
                f"release{label}.csv",
                f"release{label}.parquet",
                f"report{label}.html",
            ]
            self._drawn(whole[0] / f"measurements{label}.parquet", whole[0] / "all.measurements.parquet")
            return "staged" if whole[0] != self.target else "named" if len(names(inside)) > 1 else "done"
        kept, parts = [*inside.glob(".release.*.measurements")], [*inside.glob(".release.*.part")]
        if kept:
            assert paid, "measured without a spend"
            self._drawn(kept[0], kept[0].with_suffix(".level1"))
            return "half-written" if parts else "measured"
        assert self.drawn is None, "what was drawn is gone"
        if paid:
            return "drawing" if [*inside.glob(".release.*.draws")] else "spent"
        return "locked" if names(inside) else "nothing"

    def _drawn(self, first: Path, further: Path) -> None:
        paths = [first, further] if self.places.levels else [first]
        levels = [read_measurements(path).measurements.values for path in paths]
        drawn = [{name: each.ravel().tolist() for name, each in values.items()} for values in levels]
        assert self.drawn in (None, drawn), "drawn twice"
        self.drawn = drawn

    def finish(self) -> None:
        """One attempt more that nobody disturbs."""
        assert not was_killed(forked(self.attempt))
        assert self.look() == "done"

    def check(self) -> None:
        """One spend, one release, and both know each other."""
        assert len(self.paid) == 1
        assert names(self.folder) == ["city.ledger", "out"]
        assert [record.state for record in self.ledger.releases()] == ["staged", "published"]
        report = verify(self.target, self.ledger)
        assert report.ok, report


def sections_of(phases: list[str]) -> list[tuple[int, int]]:
    """The first and the last step of each section, given the phase that each step is in."""
    sections, begin = [], 0
    for _, phase in groupby(phases):
        length = len(list(phase))
        cuts = np.linspace(begin, begin + length, 1 + max(2, round(SECTIONS * length / len(phases)))).astype(
            int
        )
        sections += [(int(first), int(last)) for first, last in pairwise(cuts) if first < last]
        begin += length
    return sections


def by_steps(uncut: Place, draw: random.Random) -> Callable[[Place, bool], int]:
    """Kill a fork at one of its own steps."""
    log = uncut.folder.with_suffix(".steps")

    def count() -> None:
        """What lies beside the target at every step, and whether the ledger was written, tells the phases apart."""
        phases: list[str] = []
        ledger = uncut.ledger.path
        unpaid = ledger.stat().st_mtime_ns

        def step(frame: Any, event: str, argument: Any) -> None:
            if frame.f_globals.get("__name__", "").startswith(WATCHED):
                beside = (Path(name).suffix for name in os.listdir(uncut.target.parent))  # noqa: PTH208
                phases.append(" ".join([*beside, str(ledger.stat().st_mtime_ns != unpaid)]))

        sys.setprofile(step)
        uncut.attempt()
        sys.setprofile(None)
        log.write_text(json.dumps(phases))

    assert not was_killed(forked(count))
    story_in_sections = sections_of(json.loads(log.read_text()))
    left: list[tuple[int, int]] = []

    def start(place: Place, first: bool) -> int:
        # One first kill in every section of the story before there is another: no part of it is left out by chance. A
        # story that goes on after a kill has other sections.
        if first and not left:
            left.extend(draw.sample(story_in_sections, len(story_in_sections)))
        section = left.pop() if first else (0, story_in_sections[-1][1])
        last = 1 + draw.randrange(*section)

        def cut() -> None:
            sys.setprofile(Steps(last))
            place.attempt()

        return forked(cut)

    return start


def by_time(uncut: Place, draw: random.Random) -> Callable[[Place, bool], int]:
    """Kill a fork after a time within which it would just finish."""
    began = time.monotonic()
    assert not was_killed(forked(uncut.attempt))
    longest = time.monotonic() - began

    def start(place: Place, first: bool) -> int:
        pid = forked(place.attempt)
        time.sleep(draw.uniform(0, longest))
        os.kill(pid, signal.SIGKILL)
        return pid

    return start


def forget_measurements() -> None:
    """Another planted fault: what was kept is read by the attempt that kept it, and by no later one."""
    own: list[Publication] = []
    keep, measurements = Publication.keep, Publication.measurements

    def keeping(self: Publication, kept: Any) -> None:
        own.append(self)
        keep(self, kept)

    Publication.keep = keeping  # type: ignore[method-assign]
    Publication.measurements = (  # type: ignore[method-assign]
        lambda self: measurements(self) if any(each is self for each in own) else None
    )
    # What else would refuse it: the record, the files of the first draw, and the ledger.
    Publication.refuse_second_draw = lambda self, ledger: None  # type: ignore[method-assign]
    Publication.check_staged = lambda self, measured: None  # type: ignore[method-assign]
    Ledger.record_release = lambda self, spend, release, state: None  # type: ignore[method-assign]


def main(folder: Path, how: str, seed: int, kills: int) -> None:
    draw, visits = random.Random(seed), visits_in(folder)
    if how != "time":
        # The engine has no part in these steps, and takes most of the time.
        story.open_queries = counted_visits  # type: ignore[assignment]
    if how == "forgetful":
        publication_file._write = lambda *_: None  # a planted fault, which the checks must find
    if how == "redrawing":
        forget_measurements()
    listed, monthly = LEVELS if how == "levels" else public(), how == "monthly"
    uncut = Place(folder / "uncut", visits, listed, monthly=monthly)
    start = (by_time if how == "time" else by_steps)(uncut, draw)
    found: Counter[str] = Counter()
    places = []
    while found.total() < kills:
        place = Place(folder / f"{len(places)}", visits, listed, monthly=monthly)
        places.append(place)
        state = "nothing"
        for attempt in range(draw.randint(1, MOST_KILLS_OF_ONE)):
            if state != "done" and found.total() < kills:
                dead = was_killed(start(place, attempt == 0))
                state = place.look()
                found[state] += dead
        if state != "done":
            place.finish()
    for place in places:
        place.check()
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
