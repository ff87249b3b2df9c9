"""Without what Windows lacks, and with what it forbids: locks by `fcntl`, owners of files, removing what is open.

Not Windows itself. What it does differently is done to Linux before the command starts: modules and functions are taken
away, its own way to lock is imitated, and neither an open file nor a folder with one in it can be renamed or removed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.running import Done, process
from tests.publishing.making import ROWS, ledger_in, names

LACKING = """
import errno, fcntl, os, shutil, signal, sys, types
import getpass, subprocess  # these tell Windows by msvcrt

msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK = 2
def locking(handle, mode, size, lockf=fcntl.lockf, how=fcntl.LOCK_EX | fcntl.LOCK_NB):
    try:
        lockf(handle, how, size, 0, os.SEEK_CUR)
    except OSError:
        raise PermissionError(errno.EACCES, "Permission denied") from None
msvcrt.locking = locking
sys.modules["msvcrt"] = msvcrt
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("geteuid", "getuid", "fchmod", "pread", "pwrite", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY"):
    delattr(os, name)
for name in ("SIGHUP", "SIGALRM", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)

def refuse_open(path):
    path = os.path.abspath(path)
    for handle in os.listdir("/proc/self/fd"):
        try:
            held = os.readlink(f"/proc/self/fd/{handle}")
        except OSError:
            continue
        if held == path or held.startswith(path + "/"):
            raise PermissionError(errno.EACCES, "It is open", path)

def forbidding(call, replaces):
    def guarded(path, *targets, **options):
        refuse_open(path)
        if targets and not replaces and os.path.lexists(targets[0]):
            raise FileExistsError(errno.EEXIST, "It is there", str(targets[0]))
        if targets and os.path.lexists(targets[0]):
            refuse_open(targets[0])
        return call(path, *targets, **options)
    return guarded
for name, replaces in {"unlink": True, "remove": True, "rmdir": True, "replace": True, "rename": False}.items():
    setattr(os, name, forbidding(getattr(os, name), replaces))
shutil._use_fd_functions = False
shutil._rmtree_impl = getattr(shutil, "_rmtree_unsafe", None)  # Python 3.14 looks no more whether there are these
from locentropy.cli.main import run
run()
"""
VISITS = ("visits.csv", "--user", "uid", "--location", "venue")
LISTED = ("--places", "places.csv")
MOMENTS = ("--mechanism", "moments", "--max-locations", "3", "--max-visits", "2")
"""Estimates in no time; the demo publishes with Shares."""
PUBLISH = ("publish", *VISITS, *LISTED, *MOMENTS, "--epsilon", "1", "--ledger", "city.ledger")

fcntl = pytest.importorskip("fcntl")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux which files are open"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location\nbar\ncafe\npark\npier\n")
    ledger_in(tmp_path, 2)
    return tmp_path


def lacking(*arguments: object, folder: Path) -> Done:
    return process(*arguments, cwd=folder, code=LACKING)


@pytest.mark.parametrize(
    "call",
    [
        ("--version",),
        ("demo", "--people", "100"),
        ("plan", "--epsilon", "1", "--n-locations", "400"),
        ("advise", "--epsilon", "1", "--n-locations", "400", "--n-users", "9000"),
        ("ledger", "create", "new.ledger", "--population", "drivers", "--epsilon", "1"),
        ("ledger", "show", "city.ledger"),
        ("entropy", *VISITS, "--out", "exact.csv", "--private-log", "rows.log"),
        ("evaluate", *VISITS, *LISTED, *MOMENTS, "--seeds", "1", "--out", "compared"),
        ("datasets", "city", "--people", "50", "--days", "3", "--out", "town"),
    ],
    ids=lambda call: " ".join(call[:2]),
)
def test_runs(call: tuple[str, ...], folder: Path) -> None:
    done = lacking(*call, folder=folder)
    assert done.returncode == 0, done.stderr


def test_publishing_and_what_reads_it(folder: Path) -> None:
    before = names(folder)
    (folder / "may").mkdir()  # an empty directory takes a release, here too
    done = lacking(*PUBLISH, "--out", "may", "--private-log", "rows.log", folder=folder)
    assert done.returncode == 0, done.stderr
    assert names(folder) == sorted([*before, "may", "rows.log"]), "nothing is left beside it"
    for reading in (
        ("verify", "may", "--ledger", "city.ledger"),
        ("report", "may"),
        ("estimate", "may", "--out", "again"),
    ):
        done = lacking(*reading, folder=folder)
        assert done.returncode == 0, (reading, done.stderr)
    again = lacking(*PUBLISH, "--out", "may", folder=folder)
    assert again.returncode != 0
    assert "already there" in again.stderr


KILLED = """
import os
from locentropy.publishing.publication import Publication
def die(*_, **__):
    os._exit(9)
Publication.{step} = die
"""


@pytest.mark.parametrize("step", ["record_draw", "finish"])
def test_an_attempt_that_was_killed_is_finished_and_paid_once(step: str, folder: Path) -> None:
    before = names(folder)
    killed = LACKING.replace(
        "from locentropy.cli.main", KILLED.format(step=step) + "from locentropy.cli.main"
    )
    assert process(*PUBLISH, "--out", "may", cwd=folder, code=killed).returncode == 9
    assert not (folder / "may").exists()
    done = lacking(*PUBLISH, "--out", "may", folder=folder)
    assert done.returncode == 0, done.stderr
    assert names(folder) == sorted([*before, "may"])
    done = lacking("verify", "may", "--ledger", "city.ledger", folder=folder)
    assert done.returncode == 0, done.stderr
    shown = lacking("ledger", "show", "city.ledger", "--json", folder=folder)
    assert shown.stdout.count('"purpose"') == 1, shown.stdout


def test_one_process_at_a_time(folder: Path) -> None:
    path = folder / ".may.publishing"
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 1 << 30, os.SEEK_SET)
        done = lacking(*PUBLISH, "--out", "may", folder=folder)
    assert done.returncode != 0
    assert "Another process is publishing" in done.stderr
    assert not (folder / "may").exists()
