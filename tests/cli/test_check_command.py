"""`locentropy check`: private, shown on a terminal or kept in a file, and noted by the ledger before it is shown."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import typer

import locentropy as le
from locentropy.cli.main import app
from locentropy.cli.publish import CHECK_FIRST
from locentropy.core.errors import LedgerError
from locentropy.evaluation.input_check import LOOKS_RIGHT, LOOKS_WRONG
from tests.cli.running import LONG, START, in_process
from tests.publishing.making import ledger_in

shown = partial(in_process, terminal=True)

CALL = ("--epsilon", "1", "--places", "stations.csv", "--provenance", "the register")
COUNTED = (*CALL, "--ledger", "city.ledger")
PADDED = "0{}"
UNZONED = "2026-05-{:02d}T08:00:00"


def write_trips(folder: Path, station: str = "{}", time: str = f"{UNZONED}Z") -> None:
    rows = (
        f"person-{row % 30},{station.format(1 + row % 40)},{time.format(1 + row % 28)}\n"
        for row in range(300)
    )
    (folder / "trips.csv").write_text(f"user,location,time\n{''.join(rows)}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_trips(tmp_path)
    (tmp_path / "stations.csv").write_text("location\n" + "".join(f"{n}\n" for n in range(1, 41)))
    ledger_in(tmp_path, 2)
    return tmp_path


def book(folder: Path) -> le.Ledger:
    return le.Ledger.open(folder / "city.ledger")


def test_an_input_that_fits(folder: Path) -> None:
    done = shown("check", "trips.csv", *COUNTED, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"{LOOKS_RIGHT}\n")
    assert len(book(folder).read().input_checks) == 1
    assert book(folder).remaining == book(folder).read().total
    assert "Noted in city.ledger" in done.stderr


def test_ids_that_a_spreadsheet_has_shortened(folder: Path) -> None:
    write_trips(folder, station=PADDED)
    done = shown("check", "trips.csv", *COUNTED, cwd=folder)
    assert done.returncode == 0
    assert f"{LOOKS_WRONG}\n- No visit is at a listed place" in done.stdout
    assert "40 unlisted ids differ from a listed one only in leading zeros" in done.stdout


def test_a_clock_that_the_window_cannot_date(folder: Path) -> None:
    write_trips(folder, time=UNZONED)
    window = ("--window", "2026-05", "--time-zone", "Europe/Berlin", "--bad-rows", "drop")
    done = shown("check", "trips.csv", *COUNTED, *window, cwd=folder)
    assert done.returncode == 0
    assert "300 of 300 rows would be dropped" in done.stdout
    assert "times name no zone: 300 rows." in done.stdout.partition(LOOKS_WRONG)[2]
    assert "(--time-type local)" in done.stdout
    mended = shown("check", "trips.csv", *COUNTED, *window, "--time-type", "local", cwd=folder)
    assert mended.stdout.endswith(f"{LOOKS_RIGHT}\n")


class TestElsewhere:
    """Where standard output is a pipe or a file, as in a job whose log others read."""

    def test_without_a_file_nothing_is_read(self, folder: Path) -> None:
        (folder / "trips.csv").unlink()
        done = in_process("check", "trips.csv", *COUNTED, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--out found.txt" in done.stderr
        assert not book(folder).read().input_checks

    def test_a_file_for_its_owner_alone(self, folder: Path) -> None:
        done = in_process("check", "trips.csv", *COUNTED, "--out", "found.txt", cwd=folder)
        assert done.returncode == 0, done.stderr
        written = folder / "found.not-private.txt"
        assert written.stat().st_mode & 0o777 == 0o600
        assert written.read_text().endswith(f"{LOOKS_RIGHT}\n")
        assert not (folder / "found.txt").exists()

    @pytest.mark.parametrize("terminal", [False, True])
    def test_nothing_of_the_result_is_printed(self, folder: Path, terminal: bool) -> None:
        """What is printed is the same whatever is found: neither verdict nor remedy."""
        told = []
        for station, time in (
            ("{}", f"{UNZONED}Z"),
            (PADDED, f"{UNZONED}Z"),
            ("{}", UNZONED),
            ("{}.0", "soon"),
        ):
            write_trips(folder, station, time)
            window = ("--window", "2026-05", "--time-zone", "Europe/Berlin")
            done = in_process(
                "check", "trips.csv", *COUNTED, *window, "--out", "may", cwd=folder, terminal=terminal
            )
            assert done.stdout == ""
            told.append((done.returncode, done.stderr))
        assert set(told) == {(0, told[0][1])}
        assert "may.not-private" in told[0][1]

    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(self, folder: Path) -> None:
        done = in_process("check", "nowhere.csv", *COUNTED, "--out", "no/found.txt", cwd=folder)
        assert done.returncode == 2
        assert "no/found.txt" in done.stderr


def test_nothing_is_shown_that_the_ledger_could_not_note(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: le.Ledger) -> None:
        raise LedgerError("The disk is full.")

    monkeypatch.setattr(le.Ledger, "record_check", full)
    for to in ((), ("--out", "found.txt")):
        done = shown("check", "trips.csv", *COUNTED, *to, cwd=folder)
        assert done.returncode != 0
        assert done.stdout == ""
    assert not list(folder.glob("*not-private*"))


def test_without_a_ledger_it_warns(folder: Path) -> None:
    done = shown("check", "trips.csv", *CALL, cwd=folder)
    assert done.returncode == 0
    assert "No ledger: manifests of later releases will not say" in done.stderr


def test_by_a_plan(folder: Path) -> None:
    made = in_process("plan", "--epsilon", "1", "--n-locations", "40", "--out", "plan.yaml", cwd=folder)
    assert made.returncode == 0, made.stderr
    planned = ("--plan", "plan.yaml", *CALL[2:], "--ledger", "city.ledger")
    done = shown("check", "trips.csv", *planned, cwd=folder)
    assert done.stdout.endswith(f"{LOOKS_RIGHT}\n"), done.stderr
    refused = shown("check", "trips.csv", *planned, "--epsilon", "2", cwd=folder)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_it_takes_every_option_of_publish() -> None:
    commands = typer.main.get_command(app)
    names = {
        name: {option for each in commands.get_command(None, name).params for option in each.opts}
        for name in ("publish", "check")
    }
    assert names["publish"] - names["check"] == {"--dry-run", "--json"}


def test_ids_do_not_steer_the_screen(folder: Path) -> None:
    write_trips(folder, station="{}\x1b[2J\u202e")
    done = shown("check", "trips.csv", *COUNTED, "--ids", "text", cwd=folder)
    assert "such as" in done.stdout
    assert not {"\x1b", "\u202e"} & set(done.stdout)


class TestPublish:
    def test_it_names_the_command_in_one_line(self, folder: Path) -> None:
        done = in_process("publish", "trips.csv", *COUNTED, "--out", "may", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(CHECK_FIRST) == 1
        done = in_process("publish", "trips.csv", *COUNTED, "--dry-run", cwd=folder)
        assert len([line for line in done.stderr.splitlines() if "locentropy check" in line]) == 1

    def test_nothing_that_it_does_depends_on_a_check(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(*_: object, **__: object) -> None:
            raise AssertionError

        for name in ("evaluation.input_check.check_request", "evaluation.input_check.overview"):
            monkeypatch.setattr(f"locentropy.{name}", never)
        said = []
        for number, station in enumerate(("{}", PADDED)):
            write_trips(folder, station)
            done = in_process("publish", "trips.csv", *COUNTED, "--out", f"may-{number}", cwd=folder)
            assert done.returncode == 0, done.stderr
            said.append(done.stderr.partition("To look at it")[0])
        assert said[0] == said[1]
        assert not book(folder).read().input_checks


@pytest.mark.slow
def test_on_a_real_terminal(folder: Path) -> None:
    """The same command, whose output is a terminal and then a pipe."""
    command = [sys.executable, "-c", START, "check", "trips.csv", *COUNTED]
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            command, stdout=theirs, stderr=subprocess.PIPE, cwd=folder, timeout=LONG, check=False
        )
        seen = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, seen.strip().endswith(LOOKS_RIGHT)) == (0, True)
    piped = subprocess.run(
        command,
        capture_output=True,
        cwd=folder,
        timeout=LONG,
        check=False,
        env={**os.environ, "FORCE_COLOR": "1"},
    )
    assert (piped.returncode, piped.stdout) == (2, b"")
