"""Without what Windows lacks: locks by `fcntl`, owners of files, some signals. Not Windows itself.

What needs them says so; all else runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Done, process
from tests.publishing.making import ROWS, ledger_in, names

LACKING = """
import os, signal, sys
sys.modules["fcntl"] = None
for name in ("geteuid", "getuid", "fchmod", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY"):
    delattr(os, name)
for name in ("SIGHUP", "SIGALRM", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)
from locentropy.cli.main import run
run()
"""
INPUTS = ["city.ledger", "places.csv", "visits.csv"]
VISITS = ("visits.csv", "--user", "uid", "--location", "venue")
LISTED = ("--places", "places.csv")
MOMENTS = ("--mechanism", "moments", "--epsilon", "1", "--max-locations", "3", "--max-visits", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location\nbar\ncafe\npark\npier\n")
    ledger_in(tmp_path, 2)
    return tmp_path


def lacking(*arguments: object, folder: Path) -> Done:
    return process(*arguments, cwd=folder, code=LACKING)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        ("plan", "--epsilon", "1", "--n-locations", "400"),
        ("advise", "--epsilon", "1", "--n-locations", "400", "--n-users", "9000"),
        ("ledger", "create", "new.ledger", "--population", "riders", "--epsilon", "1"),
        ("ledger", "show", "city.ledger"),
        ("entropy", *VISITS, "--out", "exact.csv"),
        ("datasets", "city", "--people", "50", "--days", "3", "--out", "town"),
    ],
    ids=lambda call: " ".join(call[:2]),
)
def test_runs(call: tuple[str, ...], folder: Path) -> None:
    done = lacking(*call, folder=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_publishing_says_what_it_needs(folder: Path) -> None:
    done = lacking(
        "publish",
        *VISITS,
        *LISTED,
        "--epsilon",
        "1",
        "--ledger",
        "city.ledger",
        "--out",
        "may",
        folder=folder,
    )
    assert done.returncode == 1
    assert "Publishing into a directory needs files that belong to one user" in done.stderr
    assert "WSL" in done.stderr
    assert names(folder) == INPUTS


@pytest.mark.slow
def test_so_does_a_private_log(folder: Path) -> None:
    done = lacking("entropy", *VISITS, "--out", "exact.csv", "--private-log", "rows.log", folder=folder)
    assert done.returncode == 1
    assert "--private-log" in done.stderr
    assert names(folder) == INPUTS


@pytest.mark.slow
def test_what_was_published_elsewhere_is_read(folder: Path) -> None:
    call = ("publish", *VISITS, *LISTED, *MOMENTS, "--ledger", "city.ledger", "--out", "may")
    assert process(*call, cwd=folder).returncode == 0
    for reading in (("verify", "may"), ("report", "may"), ("estimate", "may", "--out", "again")):
        done = lacking(*reading, folder=folder)
        assert done.returncode == 0, (reading, done.stderr)
