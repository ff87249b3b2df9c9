from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.publishing import publish as story
from tests.publishing.making import LIMIT, Killed, Publishing, counted_visits, ledger_in, public


@pytest.fixture(autouse=True)
def own_spill_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed process leaves behind stays among the tests' own files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("spill")))  # for processes that are started
    monkeypatch.setattr(tempfile, "tempdir", None)  # for this one: look again


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "open_queries", counted_visits)


@pytest.fixture
def ledger(tmp_path: Path) -> le.Ledger:
    return ledger_in(tmp_path)


@pytest.fixture
def again(tmp_path: Path, ledger: le.Ledger, no_engine: None) -> Publishing:
    """Publish to `may`, without an engine; what is given replaces what is usual."""

    def publishing(**changes: Any) -> le.Release:
        call = {"mechanism": LIMIT, "locations": public(), "out": tmp_path / "may", "ledger": ledger}
        return le.publish(**({"visits": le.Visits("unread.csv")} | call | changes))

    return publishing


@pytest.fixture
def cut(again: Publishing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Publish until a step, and leave there what a kill would leave."""

    def cut_at(step: str, **changes: Any) -> None:
        def dead(*_: Any, **__: Any) -> Any:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(step, dead)
            patch.setattr(Path, "unlink", lambda *_, **__: None)  # the dead remove nothing
            with pytest.raises(Killed):
                again(**changes)

    return cut_at
