"""What is private is its owner's alone, whatever the umask allows."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.files import atomic_write
from locentropy.evaluation import private_files
from locentropy.ledger import store as ledger_store
from locentropy.privacy.guarantee import Guarantee
from locentropy.publishing import publication as claim
from locentropy.publishing import publication_file as claim_file
from tests.forking import locentropy
from tests.publishing.making import LIMIT, ledger_in, names, public, visits_in


@pytest.fixture(autouse=True)
def careless_umask() -> Iterator[None]:
    """The worst there is: whatever nobody forbids is allowed to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The mode of everything below a folder, by its path."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in sorted(folder.rglob("*"))
    }


def test_the_ledger_and_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = ledger_in(tmp_path)
    assert modes(tmp_path) == {"city.ledger": 0o600}
    seen: dict[str, int] = {}
    append = ledger_store.Store.append

    def looking(self: Any, entry: Any) -> None:
        append(self, entry)
        seen.update(modes(tmp_path))

    monkeypatch.setattr(ledger_store.Store, "append", looking)
    ledger.spend(Guarantee.pure(1), "map")
    assert seen == {"city.ledger": 0o600, "city.ledger-journal": 0o600}
    seen.clear()
    le.Ledger.create(tmp_path / "other.ledger", "others", 1)
    assert len(seen) == 3, "a ledger, one that is being made, and the journal of that"
    assert set(seen.values()) == {0o600}


def test_claimed_staged_and_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visits, ledger, seen = visits_in(tmp_path), ledger_in(tmp_path), {}
    finish = claim.finish

    def looking(*arguments: Any) -> Path:
        seen.update(modes(tmp_path))
        return finish(*arguments)

    monkeypatch.setattr(claim, "finish", looking)
    le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
    assert seen.pop("visits.csv") == 0o666, "the umask is what it was set to"
    folders = {path: mode for path, mode in seen.items() if path.endswith(".staged")}
    assert list(folders.values()) == [0o700]
    assert len(seen) == 11, "ledger, record, measurements, and the staged directory with seven files"
    assert {mode for path, mode in seen.items() if path not in folders} == {0o600}
    published = modes(tmp_path / "may")
    assert len(published) == 7
    assert set(published.values()) == {0o644}, "what is public may be read, and not be written"
    assert stat.S_IMODE((tmp_path / "may").stat().st_mode) == 0o755


def test_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every file of a release: none can be read by others while it is being written."""
    visits, seen = visits_in(tmp_path), []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(modes(tmp_path)))
    le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=None)
    parts = [
        (path, mode)
        for each in seen
        for path, mode in each.items()
        if ".part" in path or "publishing" in path or path.endswith((".draws", ".measurements"))
    ]
    folder = [
        path
        for path, _ in parts
        if path.endswith(".draws") or (path.endswith(".part") and ".measurements" not in path)
    ]
    assert any(path.endswith(".part") for path in folder)
    assert any(path.endswith(".draws") for path, _ in parts)
    assert all(mode == (0o700 if path in folder else 0o600) for path, mode in parts), parts


def test_without_a_promise(tmp_path: Path) -> None:
    mechanism = le.paper.LimitCB(1, max_locations=3, max_visits=2, min_users=2, accept_no_guarantee=True)
    le.publish(
        visits_in(tmp_path),
        mechanism,
        public(),
        out=tmp_path / "may-NOT-PRIVATE",
        not_private=True,
        ledger=None,
    )
    made = modes(tmp_path)
    made.pop("visits.csv")
    assert made.pop("may-NOT-PRIVATE") == 0o700
    assert len(made) == 6
    assert set(made.values()) == {0o600}


def test_an_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, int]] = []
    together = private_files.atomic_write

    def looking(*targets: Path) -> Any:
        seen.append(modes(tmp_path))
        return together(*targets)

    texts = {"evaluation-PRIVATE.csv": "a", "evaluation-PRIVATE.html": "b"}
    monkeypatch.setattr(private_files, "atomic_write", looking)
    monkeypatch.setattr(private_files, "contents", lambda _: texts)
    made = private_files.save(None, tmp_path / "compared")  # type: ignore[arg-type]  # its contents are above
    assert seen == [{"compared-PRIVATE": 0o700}], "closed before there is anything in it"
    assert modes(made) == dict.fromkeys(texts, 0o600)


def test_nobody_can_wait_where_a_file_is_being_written(tmp_path: Path) -> None:
    """In a folder that others may write to, a file of theirs under a name that can be guessed would get the rows."""
    seen = []
    for _ in range(2):
        with atomic_write(tmp_path / "exact.csv") as [part]:
            assert stat.S_IMODE(part.parent.stat().st_mode) == 0o700
            seen.append(part.parent)
            part.write_text("rows")
    assert seen[0] != seen[1]
    assert names(tmp_path) == ["exact.csv"]


def test_exact_values_and_the_private_log(tmp_path: Path) -> None:
    visits_in(tmp_path)
    (tmp_path / "log").touch(mode=0o644)  # of an earlier day, made by a careless hand
    command = ("entropy", "visits.csv", "--out", "exact.csv", "--private-log", "log")
    assert locentropy(*command, cwd=tmp_path).returncode == 0
    made = modes(tmp_path)
    assert (made["exact.not-private.csv"], made["log"]) == (0o600, 0o600)


def test_a_claim_is_made_for_its_owner(tmp_path: Path) -> None:
    with claim_file.locked_publication(tmp_path / "may", {"ledger": claim_file.NO_LEDGER_ID}, None):
        assert modes(tmp_path) == {".may.publishing": 0o600}
    assert names(tmp_path) == []


def test_files_of_one_name_in_two_folders(tmp_path: Path) -> None:
    targets = tmp_path / "a" / "rows.csv", tmp_path / "b" / "rows.csv"
    for target in targets:
        target.parent.mkdir()
    with atomic_write(*targets) as parts:
        for part, text in zip(parts, "ab", strict=True):
            part.write_text(text)
    assert [target.read_text() for target in targets] == ["a", "b"]
    assert names(tmp_path / "a") == names(tmp_path / "b") == ["rows.csv"]
