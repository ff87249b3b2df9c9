"""The commands as people and scripts run them."""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.cli import console

from .running import in_process as locentropy
from .running import process

NOT_PRIVATE = "NOT PRIVATE"
COMMANDS = (
    "advise",
    "datasets",
    "demo",
    "docs",
    "entropy",
    "evaluate",
    "ledger",
    "plan",
    "publish",
    "report",
    "verify",
)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("uid,venue\n1,b\n2,b\n3,b\n1,a\n1,a\n2,[red]a\n")
    return path


def test_help_is_there_for_every_command() -> None:
    for command in ("", *COMMANDS, "ledger create", "ledger show", "ledger verify", "datasets city"):
        done = locentropy(*command.split(), "--help")
        assert done.returncode == 0
        assert "Usage" in done.stdout
        if command in ("publish", "plan"):
            assert "shares (the default)" in done.stdout
        short = locentropy(*command.split(), "-h")
        assert short.stdout == done.stdout


def test_the_version_and_those_of_its_parts() -> None:
    first, parts, python = process("--version").stdout.splitlines()
    assert first == f"locentropy {le.__version__}"
    assert f"duckdb {duckdb.__version__}," in parts
    assert python.startswith(f"Python {platform.python_version()}, ")


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "locentropy", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"locentropy {le.__version__}\n")


@pytest.mark.parametrize(
    ("options", "notes", "warnings"),
    [
        ((), True, True),
        (("--quiet",), False, True),
        (("--log-level", "warning"), False, True),
        (("--log-level", "error"), False, False),
        (("--quiet", "--log-level", "error"), False, False),
    ],
    ids=["usual", "quiet", "warning", "error", "quiet error"],
)
def test_how_much_is_told(
    options: tuple[str, ...], notes: bool, warnings: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        locentropy(*options, "plan", "--help")
        console.note("a note")
        console.warn("a warning")
    finally:
        console.set_log_level(console.LogLevel.INFO)
    told = capsys.readouterr().err
    assert ("a note" in told) == notes
    assert ("a warning" in told) == warnings


def test_without_a_command_help_is_shown() -> None:
    assert all(command in locentropy().stdout for command in COMMANDS)


def test_entropy_on_screen(rows: Path) -> None:
    done = locentropy("entropy", rows)
    assert done.returncode == 0
    assert NOT_PRIVATE in done.stdout
    assert NOT_PRIVATE in done.stderr
    assert "1.0986" in done.stdout
    assert "[red]a" in done.stdout, "ids are never taken for markup"
    assert "3 locations, 3 users, 6 visits" in done.stdout
    assert "\x1b[" not in done.stdout + done.stderr, "no colour when piped"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_entropy_in_a_file_says_that_it_is_not_private(ending: str, rows: Path, tmp_path: Path) -> None:
    done = locentropy("entropy", rows, "--out", tmp_path / f"out.{ending}")
    target = tmp_path / f"out.not-private.{ending}"
    assert done.returncode == 0
    assert str(target) in done.stderr.replace("\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, "rows.csv"]
    assert target.stat().st_mode & 0o777 == 0o600
    table = pa.csv.read_csv(target) if ending == "csv" else pq.read_table(target)
    assert table["location"].to_pylist() == ["b", "[red]a", "a"]
    assert table["exact_users"].to_pylist() == [3, 1, 1]
    assert set(table["status"].to_pylist()) == {NOT_PRIVATE}
    if ending == "parquet":
        assert NOT_PRIVATE.encode() in table.schema.metadata[b"warning"]


def test_entropy_is_noted_in_the_ledger(rows: Path, tmp_path: Path) -> None:
    le.Ledger.create(tmp_path / "city.ledger", "people of the city", 2)
    done = locentropy("entropy", rows, "--ledger", tmp_path / "city.ledger")
    assert done.returncode == 0, done.stderr
    assert "Noted in" in done.stderr
    assert "No ledger" not in done.stderr
    assert le.Ledger.open(tmp_path / "city.ledger").tuned_unaccounted
    assert "--ledger city.ledger" in locentropy("entropy", rows).stderr
    nowhere = locentropy("entropy", rows, "--ledger", tmp_path / "no.ledger")
    assert nowhere.returncode == 8
    assert nowhere.stdout == ""


def test_entropy_as_json(rows: Path) -> None:
    answer = json.loads(locentropy("entropy", rows, "--json", "--entropy-unit", "bits").stdout)
    assert answer["private"] is False
    assert NOT_PRIVATE in answer["warning"]
    assert answer["locations"][0] == {
        "location": "b", "exact_entropy_bits": pytest.approx(1.58496, abs=1e-5), "exact_users": 3, "exact_visits": 3,
    }  # fmt: skip
    fewer = json.loads(locentropy("entropy", rows, "--json", "--entropy-unit", "bits", "--top", 1).stdout)
    assert len(answer["locations"]) > 1
    assert fewer == {**answer, "locations": answer["locations"][:1]}


def test_entropy_of_a_file_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "visits.txt").write_text("ann\tcafe\nbob\tcafe\n")
    call = ("entropy", "visits.txt", "--columns", "user,location", "--json")
    refused = locentropy(*call, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--delimiter" in refused.stderr
    for tab in ("tab", r"\t", "\t"):
        answer = json.loads(locentropy(*call, "--delimiter", tab, cwd=tmp_path).stdout)
        assert answer["locations"][0]["exact_users"] == 2


def test_entropy_under_bounds(rows: Path) -> None:
    answer = json.loads(locentropy("entropy", rows, "--json", "--max-locations", 1, "--max-visits", 1).stdout)
    assert sum(row["exact_users"] for row in answer["locations"]) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere.csv"], 3, "no such file"),
        (["rows.csv", "--user", "who"], 4, "'uid', 'venue'"),
        (["rows.csv", "--max-visits", "5"], 2, "--max-locations 5"),
        (["rows.csv", "--entropy-unit", "bans"], 2, "nats, bits"),
        (["rows.csv", "--keep", "best", "--max-visits", "5", "--max-locations", "5"], 2, "most-visited"),
        (["rows.csv", "--out", "x.xlsx"], 2, ".parquet"),
        (["rows.csv", "--out", "no/where/x.csv"], 2, "does not exist"),
        (["rows.csv", "--format", "orkut"], 2, "brightkite"),
        (["rows.csv", "--bad-rows", "skip"], 2, "drop"),
        (["rows.csv", "--missing-ids", "skip"], 2, "--missing-ids skip is not one of drop, keep"),
        (["rows.csv", "--memory", "much"], 2, "2GB"),
        (["rows.csv", "--colour"], 2, "No such option"),
        ([], 2, "Missing argument"),
    ],
)
def test_errors_are_sentences_with_exit_codes(
    arguments: list[str], code: int, words: str, rows: Path
) -> None:
    done = locentropy("entropy", *arguments, cwd=rows.parent)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in rows.parent.iterdir()] == ["rows.csv"]


def test_debug_shows_tracebacks(rows: Path) -> None:
    assert "Traceback" in process("--debug", "entropy", rows, "--user", "who").stderr


def test_the_private_log_is_private(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("uid,venue\n1,b\n,c\n,d\n")
    log = tmp_path / "private.log"
    done = locentropy("entropy", path, "--bad-rows", "drop", "--private-log", log)
    assert done.returncode == 0
    assert "no user id: 2" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    assert "no user id" not in done.stdout + done.stderr


def test_missing_ids_are_left_out_unless_they_are_meant(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("uid,venue\nann,b\nNULL,b\nnan,b\n")
    for options, people in (((), 1), (("--missing-ids", "keep"), 3)):
        done = locentropy("entropy", path, "--json", *options)
        assert done.returncode == 0, done.stderr
        [place] = json.loads(done.stdout)["locations"]
        assert place["exact_users"] == people


def test_datasets(tmp_path: Path) -> None:
    assert locentropy("datasets", "city", "--people", 50, "--days", 2, cwd=tmp_path).returncode == 0
    city = json.loads(locentropy("entropy", tmp_path / "city" / "visits.parquet", "--json").stdout)
    listed = pa.csv.read_csv(tmp_path / "city" / "places.csv")["location"].to_pylist()
    assert {row["location"] for row in city["locations"]} <= set(listed)


def test_a_city_that_changes_says_what_opens_and_closes_when(tmp_path: Path) -> None:
    year = ("--people", 40, "--places", 60, "--start", "2025-01-01", "--days", 365)
    done = locentropy("datasets", "city", *year, "--changing", "--out", tmp_path / "year")
    assert done.returncode == 0, done.stderr
    assert f"what changes: {tmp_path / 'year' / 'changes.csv'}" in " ".join(done.stdout.split()) + done.stderr
    changes = pa.csv.read_csv(tmp_path / "year" / "changes.csv")
    listed = pa.csv.read_csv(tmp_path / "year" / "places.csv")["location"].to_pylist()
    assert {"opens", "closes"} <= set(changes["what"].to_pylist())
    assert set(changes["location"].drop_null().to_pylist()) <= set(listed)
    visits = pa.parquet.read_table(tmp_path / "year" / "visits.parquet")
    shut = {row["location"]: row["first_day"] for row in changes.to_pylist() if row["what"] == "closes"}
    at = zip(visits["location"].to_pylist(), visits["time"].to_pylist(), strict=True)
    assert not any(place in shut and time.date() >= shut[place] for place, time in at)
    done = locentropy("datasets", "city", "--people", 40, "--days", 2, "--out", tmp_path / "still")
    assert "changes" not in done.stdout
    assert not (tmp_path / "still" / "changes.csv").exists()


def test_datasets_that_cannot_be_made_leave_no_file(tmp_path: Path) -> None:
    done = locentropy("datasets", "city", "--people", 0, "--out", tmp_path / "city")
    assert done.returncode == 2
    assert "people" in done.stderr
    assert list(tmp_path.iterdir()) == []


STOPPED_WHILE_SOMETHING_GOES = """
import os, signal, sys, time
from locentropy.cli import main
class Going:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
def command():
    Going()
    time.sleep(30)
    print("went on")
main.app = command
main.run()
"""


def test_stopped_where_python_lets_no_error_out() -> None:
    """In a destructor an exception is printed and forgotten: the request to stop must not be."""
    done = process(code=STOPPED_WHILE_SOMETHING_GOES)
    assert done.returncode == 128 + 15
    assert done.stderr == "Stopped; no half-written file was left behind.\n"
    assert done.stdout == ""


def test_no_memory_is_told_in_a_sentence() -> None:
    code = "from locentropy.cli import main\ndef command(): raise MemoryError('s3cret')\nmain.app = command\nmain.run()"
    done = process(code=code)
    assert done.returncode == 6
    assert "--memory" in done.stderr
    assert "s3cret" not in done.stderr


def test_datasets_are_never_written_over_others(tmp_path: Path) -> None:
    for name in ("visits.parquet", "places.csv"):
        (tmp_path / name).write_text("somebody's")
        done = locentropy("datasets", "city", "--out", tmp_path)
        assert done.returncode == 2
        assert f"{name} exists already" in done.stderr
        assert (tmp_path / name).read_text() == "somebody's"
        (tmp_path / name).unlink()


def test_stopped_while_it_loads_it_says_nothing(tmp_path: Path) -> None:
    slow = "import os, signal, sys\nclass Stop:\n def find_spec(self, name, *_):\n  if name == 'typer':\n   os.kill(os.getpid(), signal.SIGINT)\n"
    code = f"{slow}sys.meta_path.insert(0, Stop())\nfrom locentropy.cli.entry import run\nrun()"
    done = subprocess.run([sys.executable, "-c", code, "plan"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
