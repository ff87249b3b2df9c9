"""The ledger's file: changes and damage are detected, and nobody else may read it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from locentropy.core.errors import LedgerError
from locentropy.ledger import store as ledger_store
from locentropy.ledger.entries import Entry
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.privacy.guarantee import Guarantee

NOBODY = 65534


def sql(path: Path, *statements: str) -> None:
    """A connection as the sqlite3 program would make it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


# --- nothing is changed, and changes show ---


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE spend SET epsilon = '0'",
        "DELETE FROM spend",
        "DELETE FROM release",
        "UPDATE release SET state = 'published'",
        "UPDATE budget SET epsilon = '10'",
        "DELETE FROM evaluation",
        "UPDATE head SET hash = ''",
        "UPDATE head SET entries = 3",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head VALUES (1, 0, '')",
        "INSERT OR REPLACE INTO spend VALUES (2, 'x', '0', '0', 'x', 'x', 'x', 'x')",
        "REPLACE INTO budget VALUES (1, 'x', 'x', '9', '0', 'x', 'x', 'x')",
        "INSERT INTO spend(id, epsilon, delta, purpose, software, time, hash) VALUES ('x', '0', '0', 'x', 'x', 'x', 'x')",
    ],
)
def test_the_file_refuses_changes(used: Ledger, statement: str) -> None:
    before = used.path.read_bytes()
    with pytest.raises(sqlite3.IntegrityError, match="only ever appended to"):
        sql(used.path, statement)
    assert used.path.read_bytes() == before
    used.verify()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["UPDATE spend SET epsilon = '0.01' WHERE entry = 3"], "entry 3"),
        (["UPDATE spend SET purpose = 'other' WHERE entry = 2"], "entry 2"),
        (["UPDATE spend SET purpose = x'00ff' WHERE entry = 2"], "entry 2"),
        (["UPDATE spend SET purpose = CAST(x'ff' AS TEXT) WHERE entry = 2"], "damaged"),
        (["UPDATE budget SET epsilon = '10'"], "entry 1"),
        (["UPDATE budget SET population = 'somebody else'"], "entry 1"),
        (["DELETE FROM budget"], "entry 1"),
        (["DELETE FROM spend WHERE entry = 7"], "at the end"),
        (["DELETE FROM spend WHERE entry = 3"], "entry 3"),
        (["DELETE FROM release"], "entry 5"),
        (["DELETE FROM evaluation"], "entry 6"),
        (["DELETE FROM head"], "at the end"),
        (["UPDATE head SET entries = 9"], "at the end"),
        ([f"DELETE FROM {table}" for table in (*ledger_store.COLUMNS, "head")], "at the end"),
        (
            [
                "UPDATE spend SET entry = 99 WHERE entry = 2",
                "UPDATE spend SET entry = 2 WHERE entry = 3",
                "UPDATE spend SET entry = 3 WHERE entry = 99",
            ],
            "entry 2",
        ),
    ],
)
def test_tampering_shows(used: Ledger, statements: list[str], words: str) -> None:
    with closing(sqlite3.connect(used.path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    dropped = [f"DROP TRIGGER {name}" for name, _ in triggers]
    sql(used.path, *dropped, *statements, *(made for _, made in triggers))
    for attempt in (used.verify, used.read, lambda: used.spend(Guarantee.pure(0.01), "more")):
        with pytest.raises(LedgerError, match=words):
            attempt()


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER spend_delete",
        "CREATE TABLE more (x)",
        "CREATE VIEW more AS SELECT 1",
        "DROP TABLE release",
    ],
)
def test_missing_triggers_show(used: Ledger, statement: str) -> None:
    sql(used.path, statement)
    with pytest.raises(LedgerError, match="tables or triggers"):
        used.spend(Guarantee.pure(0.01), "more")


@pytest.mark.parametrize(
    "entry",
    [
        Entry("spend", {"id": new_id(), "epsilon": "5", "delta": "0", "purpose": "x", "software": "", "time": ""}),
        Entry("budget", {"id": new_id(), "population": "x", "epsilon": "9", "delta": "0", "software": "", "time": ""}),
        Entry("release", {"spend": new_id(), "release": new_id(), "state": "staged", "time": ""}),
    ],
)  # fmt: skip
def test_a_forged_entry_with_right_hashes_still_obeys_the_rules(used: Ledger, entry: Entry) -> None:
    with ledger_store.transaction(used.path, wait=0, write=True) as store:
        store.append(entry)
    with pytest.raises(LedgerError, match="rules forbid"):
        used.verify()


def test_a_restored_backup_is_found_out_by_what_was_published(used: Ledger) -> None:
    backup = used.path.with_name("backup")
    shutil.copy(used.path, backup)  # one file is the whole ledger
    old, new = used.history()[0], used.spend(Guarantee.pure(0.1), "after the backup")
    backup.replace(used.path)
    used.verify([old.id])
    with pytest.raises(LedgerError, match="lacks spends"):
        used.verify([old.id, new.id])


# --- the file ---


def test_the_file_is_for_its_owner(path: Path) -> None:
    old = os.umask(0)
    try:
        Ledger.create(path, "riders", 1)
        with ledger_store.transaction(path, wait=0, write=True) as store:
            store.append(Entry("evaluation", {"note": "n", "software": "s", "time": "t"}))
            journal = path.with_name("city.ledger-journal")
            modes = [file.stat().st_mode & 0o777 for file in (path, journal)]
    finally:
        os.umask(old)
    assert modes == [0o600, 0o600]
    assert [file.name for file in path.parent.iterdir()] == ["city.ledger"]


def test_settings_that_keep_a_spend_through_a_power_cut(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        ledger_store.sqlite3, "connect", lambda *a, **k: made.append(connect(*a, **k)) or made[-1]
    )
    with ledger_store.transaction(ledger.path, wait=0, write=True):
        assert made[0].execute("PRAGMA synchronous").fetchone() == (3,)
        assert made[0].execute("PRAGMA journal_mode").fetchone() == ("delete",)
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
    )
    Ledger.create(ledger.path.with_name("second"), "riders", 1)
    assert synced == [str(ledger.path.parent.resolve())]


def test_a_ledger_in_write_ahead_mode_is_brought_back(ledger: Ledger) -> None:
    sql(ledger.path, "PRAGMA journal_mode = WAL")
    ledger.spend(Guarantee.pure(0.1), "map")
    assert [path.name for path in ledger.path.parent.iterdir()] == ["city.ledger"]
    sql(ledger.path, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute("SELECT * FROM spend").fetchall()
        with pytest.raises(LedgerError):
            Ledger(ledger.path, wait=0).spend(Guarantee.pure(0.1), "map")


def test_names_that_look_like_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a?mode=memory", "b#c", "100%41", "späti 🚲", "it's"):
        Ledger.create(name, "riders", 1, another=True).spend(Guarantee.pure(0.5), "map")
        assert len(Ledger.open(tmp_path / name).history()) == 1


@pytest.mark.parametrize("taken", ["city.ledger", "city.ledger-journal", "city.ledger-wal"])
def test_nothing_is_made_over_another_file(path: Path, taken: str) -> None:
    path.with_name(taken).write_text("mine")
    with pytest.raises(LedgerError, match="already exists"):
        Ledger.create(path, "riders", 1)
    assert [(file.name, file.read_text()) for file in path.parent.iterdir()] == [(taken, "mine")]


def test_nobody_slips_in_while_a_ledger_is_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "lexists", lambda name: False)
    path.write_text("mine")
    with pytest.raises(LedgerError, match="already exists"):
        Ledger.create(path, "riders", 1)
    assert [(file.name, file.read_text()) for file in path.parent.iterdir()] == [("city.ledger", "mine")]


def test_a_disk_without_links(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(LedgerError, match="local disk"):
        Ledger.create(path, "riders", 1)
    assert list(path.parent.iterdir()) == []


def make_folder(path: Path) -> None:
    path.mkdir()


def make_database(path: Path) -> None:
    sql(path, "CREATE TABLE t (x)", "PRAGMA journal_mode = WAL")


def make_newer(path: Path) -> None:
    Ledger.create(path, "riders", 1)
    sql(path, f"PRAGMA user_version = {ledger_store.VERSION + 1}")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "ledger create"),
        (make_folder, "not a file"),
        (os.mkfifo, "not a file"),
        (lambda path: path.write_text(""), "not a ledger"),
        (lambda path: path.write_text("uid,venue\n1,b\n" * 1000), "not a ledger"),
        (make_database, "not a ledger"),
        (make_newer, f"version {ledger_store.VERSION + 1}"),
    ],
)
def test_not_a_ledger(path: Path, make: Callable[[Path], None], words: str) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for attempt in (lambda: Ledger.open(path), lambda: Ledger(path).spend(Guarantee.pure(0.1), "map")):
        with pytest.raises(LedgerError, match=words) as refused:
            attempt()
        assert str(path) in str(refused.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_no_folder(path: Path) -> None:
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger.create(path.parent / "nowhere" / "city.ledger", "riders", 1)
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger.open(path.parent / "nowhere" / "city.ledger")


def test_damage_is_reported_or_harmless(used: Ledger) -> None:
    """Cut the file anywhere, or flip bytes: what can still be read is what was written."""
    whole, said = used.path.read_bytes(), vars(used.read())
    cuts = [whole[:size] for size in range(0, len(whole), 509)]
    flips = [
        whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        for place in range(0, len(whole), 97)
    ]
    reported = 0
    for damaged in (*cuts, *flips):
        used.path.write_bytes(damaged)
        for look in (used.read, used.verify):
            try:
                assert vars(look()) == said
            except LedgerError:
                reported += 1
    assert reported >= 2 * len(cuts)


def test_a_ledger_that_somebody_holds_too_long(ledger: Ledger) -> None:
    impatient = Ledger.open(ledger.path, wait=0.1)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="in use by another process"):
            impatient.spend(Guarantee.pure(0.1), "map")
        assert impatient.remaining.epsilon == 1, "reading goes on"
        other.execute("ROLLBACK")
        other.execute("BEGIN")
        other.execute("SELECT * FROM spend").fetchall()  # a reader who does not let a writer finish
        with pytest.raises(LedgerError, match="Nothing was written"):
            impatient.spend(Guarantee.pure(0.1), "map")
    assert ledger.history() == ()


def test_interrupted_in_the_middle(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    append = ledger_store.Store.append

    def interrupt(store: ledger_store.Store, entry: Entry) -> None:
        append(store, entry)
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger_store.Store, "append", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ledger.spend(Guarantee.pure(0.1), "map")
    assert ledger.verify().spends == []
    assert [path.name for path in ledger.path.parent.iterdir()] == ["city.ledger"]


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, who has no special rights")
def test_a_folder_or_file_that_may_not_be_written() -> None:
    folder = Path(tempfile.mkdtemp(prefix="ledger-"))
    try:
        ledger = Ledger.create(folder / "city.ledger", "riders", 1)
        os.chown(ledger.path, NOBODY, NOBODY)
        folder.chmod(0o555)
        os.seteuid(NOBODY)
        try:
            assert ledger.remaining.epsilon == 1
            with pytest.raises(LedgerError, match="cannot be read or written"):
                ledger.spend(Guarantee.pure(0.1), "map")
            with pytest.raises(LedgerError, match="write permission"):
                Ledger.create(folder / "other.ledger", "riders", 1, another=True)
            ledger.path.chmod(0o400)
            with pytest.raises(LedgerError, match="cannot be read or written"):
                ledger.spend(Guarantee.pure(0.1), "map")
            ledger.path.chmod(0)
            with pytest.raises(LedgerError, match="cannot be read or written"):
                ledger.verify()
        finally:
            os.seteuid(0)
    finally:
        shutil.rmtree(folder)


def test_what_is_in_the_file_is_what_was_given(used: Ledger) -> None:
    words = {"riders of the city", "map", "the last", "compared mechanisms"}
    book = used.read()
    told = {book.population, *(s.purpose for s in book.spends), *(e.note for e in book.evaluations)}
    assert told == words
    assert str(used.path).encode() not in used.path.read_bytes()
