"""Screens that are not as they should be: another encoding, no room, names that would steer them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import locentropy as le
from tests.forking import RUN, forked
from tests.publishing.making import PLACES, ROWS

STEERING = "\x1b[2J\x1b]0;gone\x07"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("\n".join(["id", *PLACES]))
    le.Ledger.create(tmp_path / "city.ledger", "riders", 10)
    return tmp_path


def run(folder: Path, *arguments: str, to: str | None = None) -> subprocess.CompletedProcess[str]:
    return forked(RUN, *arguments, cwd=folder, to=to)


PUBLISH = (
    "publish",
    "visits.csv",
    "--places",
    "places.csv",
    "--epsilon",
    "1",
    "--ledger",
    "city.ledger",
    "--out",
    "may",
)
ADVISE = (
    "advise",
    "visits.csv",
    "--places",
    "places.csv",
    "--epsilon",
    "1",
    "--ledger",
    "city.ledger",
    "--spend",
    "0.5",
)


ENCODED = f"import sys; [each.reconfigure(encoding=sys.argv[1]) for each in (sys.stdout, sys.stderr)]; del sys.argv[1]; {RUN}"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    "command", [("publish", "--help"), ("ledger", "show", "city.ledger"), PUBLISH, ("plan", "--epsilon", "1")]
)
def test_a_screen_without_an_epsilon(encoding: str, command: tuple[str, ...], folder: Path) -> None:
    done = forked(ENCODED, encoding, *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "unexpected" not in done.stderr


def test_a_screen_without_an_epsilon_from_the_start(folder: Path) -> None:
    command = [sys.executable, "-c", RUN, *PUBLISH]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "unexpected" not in done.stderr


def test_names_do_not_steer_the_screen(folder: Path) -> None:
    """Ids are written by whoever is in the table, and names of files by whoever made them."""
    (folder / "odd.csv").write_text(f"user,location\n1,{STEERING}\n2,{STEERING}\n")
    assert "\x1b" not in run(folder, "entropy", "odd.csv").stdout
    named = folder / f"x{STEERING}.csv"
    named.write_bytes(b"user,location\n1,\xff\n")
    failed = run(folder, "entropy", str(named))
    assert failed.returncode != 0
    assert "\x1b" not in failed.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_advice_that_cannot_be_shown_is_paid_for_and_says_so(folder: Path) -> None:
    done = run(folder, *ADVISE, to="/dev/full")
    assert done.returncode == 1
    assert "Spent on this advice: ε = 0.5" in done.stderr
    assert len(le.Ledger.open(folder / "city.ledger").history()) == 1


def test_nobody_is_said_to_be_protected_where_nothing_is_promised(folder: Path) -> None:
    for mechanism, said in (
        ("limit", "Protected: each person's"),
        ("limit-cb", "Nobody is protected. A person"),
    ):
        order = [
            *PUBLISH[:-1],
            mechanism,
            "--mechanism",
            mechanism,
            "--max-locations",
            "3",
            "--max-visits",
            "2",
        ]
        more = (
            ["--min-users", "2", "--accept-no-guarantee", "--not-private"] if mechanism == "limit-cb" else []
        )
        done = run(
            folder, *order[: order.index("--ledger")], "--no-ledger", *order[order.index("--out") :], *more
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stderr
        assert ("Protected:" in done.stderr) is (mechanism == "limit")


def test_a_dry_run_looks_whether_the_folder_may_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from locentropy.cli.main import app
    from locentropy.core.errors import ParameterError

    monkeypatch.chdir(folder)
    monkeypatch.setattr(os, "access", lambda *_: False)
    order = [*PUBLISH[: PUBLISH.index("--ledger")], "--no-ledger", "--out", "may", "--dry-run"]
    done = CliRunner().invoke(app, order)
    assert isinstance(done.exception, ParameterError)
    assert "no permission to write to the folder" in str(done.exception)


def test_a_private_log_that_nobody_reads_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "log")
    done = run(folder, "entropy", "visits.csv", "--private-log", "log")
    assert done.returncode == 1
    assert "the private log cannot be written" in done.stderr
