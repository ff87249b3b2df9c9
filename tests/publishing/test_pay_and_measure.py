"""The order of reading, paying and measuring: whatever fails before the spend costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from locentropy.core.bounds import Bounds
from locentropy.core.queries import CachedQueries
from locentropy.publishing.pay_and_measure import pay_and_measure
from tests.mechanisms.recording import CrowdQueries

STEPS = ["check", "read", "rehearse", "report", "pay", "measure", "close"]


class Story:
    """Notes each step, and fails at one of them."""

    def __init__(self, fails_at: str = "") -> None:
        self.done: list[str] = []
        self.fails_at = fails_at

    def step(self, name: str, answer: Any = None) -> Any:
        self.done.append(name)
        if name == self.fails_at:
            raise KeyboardInterrupt
        return answer

    @contextmanager
    def opened(self) -> Iterator[CrowdQueries]:
        self.step("read")
        try:
            yield CrowdQueries([{1: 4}, {2: 3}])
        finally:
            self.done.append("close")

    def run(self, **changes: Any) -> Any:
        steps = {
            "check": lambda: self.step("check"),
            "read": self.opened,
            "rehearse": lambda queries: self.step("rehearse"),
            "pay": lambda: self.step("pay", "receipt"),
            "measure": lambda queries: self.step("measure", "measured"),
            "progress": lambda doing, part: self.step("report"),
        }
        return pay_and_measure(**(steps | changes))


def test_the_order() -> None:
    story = Story()
    assert story.run() == ("receipt", "measured")
    assert story.done == STEPS


@pytest.mark.parametrize("step", STEPS[:-1])
def test_nothing_follows_a_failure_and_the_visits_are_closed(step: str) -> None:
    story = Story(step)
    with pytest.raises(KeyboardInterrupt):
        story.run()
    before = STEPS[: STEPS.index(step) + 1]
    assert story.done == before + (["close"] if step not in ("check", "read") else [])


def test_what_was_asked_before_the_spend_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[Bounds] = []
    profile = CrowdQueries.profile

    def counting(self: CrowdQueries, bounds: Bounds) -> Any:
        computed.append(bounds)
        return profile(self, bounds)

    monkeypatch.setattr(CrowdQueries, "profile", counting)
    bounds = Bounds(3, 2)

    def ask(queries: Any) -> Any:
        assert isinstance(queries, CachedQueries)
        return queries.profile(bounds)

    _, found = Story().run(rehearse=ask, measure=ask, progress=None)
    assert computed == [bounds]
    assert found.bounds.max_locations == 3
