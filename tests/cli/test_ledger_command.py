"""`locentropy ledger`, as people and scripts run it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from locentropy.core.windows import Window
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.privacy.guarantee import Guarantee, exact

from .running import Done, in_process


def locentropy(*arguments: object, cwd: Path) -> Done:
    return in_process(*arguments, cwd=cwd, columns=80)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "city.ledger", "riders [red]of the city", epsilon=1, delta=1e-6)


def test_from_nothing_to_a_verified_ledger(tmp_path: Path) -> None:
    made = locentropy(
        "ledger", "create", "city.ledger", "--population", "riders", "--epsilon", "0.3", "--delta", "1e-6", cwd=tmp_path
    )  # fmt: skip
    assert made.returncode == 0
    assert made.stdout == ""
    assert "ε = 0.3, δ = 1e-6" in made.stderr
    assert (tmp_path / "city.ledger").stat().st_mode & 0o777 == 0o600
    assert "left: ε = 0.3, δ = 1e-6" in locentropy("ledger", "show", "city.ledger", cwd=tmp_path).stdout
    verified = locentropy("ledger", "verify", "city.ledger", cwd=tmp_path)
    assert "whole; 0 spends" in verified.stdout
    assert "--spend ID" in verified.stderr


def test_create_as_json(tmp_path: Path) -> None:
    arguments = ("city.ledger", "--population", "riders", "--epsilon", "1/3", "--json")
    answer = json.loads(locentropy("ledger", "create", *arguments, cwd=tmp_path).stdout)
    assert answer["total"] == answer["remaining"] == {"epsilon": "1/3", "delta": "0"}


def test_a_refused_budget_is_told_in_options(tmp_path: Path) -> None:
    done = locentropy(
        "ledger", "create", "city.ledger", "--population", "riders", "--epsilon", "0", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "--epsilon 0 must be above 0" in done.stderr
    assert "For example: locentropy ledger create" in done.stderr
    assert "Ledger.create" not in done.stderr


def test_show(ledger: Ledger) -> None:
    first = ledger.spend(Guarantee.pure(0.1), "map of May [bold]")
    ledger.record_release(first.id, new_id(), "staged")
    shown = locentropy("ledger", "show", "city.ledger", cwd=ledger.path.parent).stdout
    for words in ("riders [red]of the city", "total: ε = 1", "left: ε = 0.9", "map of May [bold]", "staged"):
        assert words in shown
    assert first.time.removesuffix("+00:00").replace("T", " ") in shown, "whole, on a narrow screen"
    ledger.record_evaluation("compared mechanisms")
    ledger.spend(Guarantee.none("exact"), "exact values")
    done = locentropy("ledger", "show", "city.ledger", cwd=ledger.path.parent)
    for words in ("inf", "none recorded", "left: ε = 0, δ = 0"):
        assert words in done.stdout
    assert "city.ledger is closed" in done.stderr
    assert "tuned on the data, unaccounted" in done.stderr


def test_show_tells_that_the_input_was_checked(ledger: Ledger) -> None:
    assert "checked" not in locentropy("ledger", "show", "city.ledger", cwd=ledger.path.parent).stderr
    ledger.record_check()
    done = locentropy("ledger", "show", "city.ledger", cwd=ledger.path.parent)
    assert "The input was checked" in done.stderr
    assert "tuned" not in done.stderr, "a kind of its own"
    told = json.loads(locentropy("ledger", "show", "city.ledger", "--json", cwd=ledger.path.parent).stdout)
    assert (told["input_checked"], told["tuned_unaccounted"]) == (True, False)


def test_show_as_json(ledger: Ledger) -> None:
    spend, release = ledger.spend(Guarantee.approximate(0.1, 1e-8), "map of May"), new_id()
    ledger.record_release(spend.id, release, "staged")
    ledger.record_release(spend.id, release, "published")
    answer = json.loads(locentropy("ledger", "show", "city.ledger", "--json", cwd=ledger.path.parent).stdout)
    assert set(answer) == {
        "id", "population", "created", "total", "remaining", "closed", "tuned_unaccounted", "input_checked",
        "spends",
    }  # fmt: skip
    assert answer["remaining"] == {"epsilon": "0.9", "delta": "9.9e-7"}
    assert (answer["closed"], answer["tuned_unaccounted"]) == (False, False)
    assert answer["spends"] == [
        {
            "id": spend.id, "number": 1, "time": spend.time, "epsilon": "0.1", "delta": "1e-8", "window": None, "purpose": "map of May",
            "software": spend.software, "release": release, "release_state": "published",
        }
    ]  # fmt: skip


def test_verify_compares_with_what_was_published(ledger: Ledger) -> None:
    spend = ledger.spend(Guarantee.pure(0.1), "map of May")
    known = locentropy(
        "ledger", "verify", "city.ledger", "--spend", spend.id, "--json", cwd=ledger.path.parent
    )
    answer = json.loads(known.stdout)
    assert (answer["whole"], answer["spends_compared"]) == (True, 1)
    forgotten = locentropy(
        "ledger", "verify", "city.ledger", "--spend", spend.id, "--spend", new_id(), cwd=ledger.path.parent
    )
    assert forgotten.returncode == 8
    assert "lacks spends" in forgotten.stderr
    assert forgotten.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["show", "nowhere.ledger"], 8, "ledger create nowhere.ledger"),
        (["show", "."], 8, "not a file"),
        (["verify", "notes.txt"], 8, "not a ledger"),
        (["create", "city.ledger", "--population", "riders", "--epsilon", "1"], 8, "already exists"),
        (["create", "new", "--population", "riders", "--epsilon", "lots"], 2, "epsilon"),
        (["create", "new", "--population", "riders", "--epsilon", "0"], 2, "above 0"),
        (["create", "new", "--population", " ", "--epsilon", "1"], 2, "population"),
        (["create", "new", "--epsilon", "1"], 2, "--population"),
        (["create", "no/where", "--population", "riders", "--epsilon", "1"], 8, "does not exist"),
    ],
)
def test_errors_are_sentences_with_exit_codes(
    arguments: list[str], code: int, words: str, ledger: Ledger
) -> None:
    folder = ledger.path.parent
    (folder / "notes.txt").write_text("not a ledger at all\n" * 100)
    done = locentropy("ledger", *arguments, cwd=folder)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(file.name for file in folder.iterdir()) == ["city.ledger", "notes.txt"]


def test_help_has_examples_and_is_light(tmp_path: Path) -> None:
    for command in ("create", "show", "verify"):
        done = locentropy("ledger", command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert f"locentropy ledger {command} city.ledger" in done.stdout
    code = (
        "import sys\nsys.argv = ['locentropy', 'ledger', '--help']\nfrom locentropy.cli.main import run\n"
        "try: run()\nexcept SystemExit: pass\nprint('sqlite3' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False False\n")


# --- per period, and in ρ ---


def test_a_ledger_per_month(tmp_path: Path) -> None:
    made = locentropy(
        "ledger", "create", "city.ledger", "--population", "riders", "--epsilon", "1", "--unit", "person-month",
        "--person-epsilon", "12", "--large-epsilon", "--time-zone", "Europe/Berlin", cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "ε = 1, δ = 0 for what a person did in one month, and ε = 12, δ = 0 for somebody" in made.stderr
    ledger = Ledger.open(tmp_path / "city.ledger")
    ledger.spend(Guarantee.pure(0.5), "map of May", window=Window("2026-05", zone="Europe/Berlin"))
    shown = locentropy("ledger", "show", "city.ledger", cwd=tmp_path)
    for words in ("left: ε = 11.5, δ = 0 for somebody who is there in every month", "2026-05, Europe/Berlin"):
        assert words in shown.stdout
    answer = json.loads(locentropy("ledger", "show", "city.ledger", "--json", cwd=tmp_path).stdout)
    assert (answer["unit"], answer["time_zone"], answer["composition"]) == (
        "person-month",
        "Europe/Berlin",
        "sum",
    )
    assert answer["person_total"] == {"epsilon": "12", "delta": "0"}
    assert answer["remaining_in"] == {"2026-05": {"epsilon": "0.5", "delta": "0"}}
    assert answer["spends"][0]["window"] == "2026-05, Europe/Berlin"


def test_a_ledger_in_rho(tmp_path: Path) -> None:
    made = locentropy(
        "ledger", "create", "city.ledger", "--population", "riders", "--epsilon", "4", "--delta", "1e-6",
        "--composition", "concentrated", "--reserved-delta", "1e-7", cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "ε = 4, δ = 1e-6, counted in ρ" in made.stderr
    shown = locentropy("ledger", "show", "city.ledger", cwd=tmp_path)
    assert "left: ρ = 0.30" in shown.stdout
    answer = json.loads(locentropy("ledger", "show", "city.ledger", "--json", cwd=tmp_path).stdout)
    assert answer["remaining"]["rho"].startswith("0.30")
    assert answer["remaining"]["epsilon"] == "4", "pure releases alone may go by their sum"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--unit", "person-month"), "--person-epsilon is needed"),
        (("--unit", "person-year"), "--unit person-year is not one of person, person-day"),
        (("--person-epsilon", "4"), "--person-epsilon is for ledgers with a unit per period"),
        (("--composition", "concentrated"), "--delta must be above 0"),
        (("--time-zone", "Berlin"), "--time-zone Berlin is not the IANA name"),
    ],
)
def test_terms_that_make_no_sense(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    refused = locentropy(
        "ledger", "create", "city.ledger", "--population", "riders", "--epsilon", "1", *options, cwd=tmp_path
    )
    assert refused.returncode == 2
    assert words in refused.stderr
    assert not list(tmp_path.iterdir())


# --- per month, in 80 columns ---


@pytest.mark.parametrize("composition", ["sum", "concentrated"])
def test_show_fits_80_columns_and_tells_what_is_left_in_each_month(tmp_path: Path, composition: str) -> None:
    more = {"composition": composition, "reserved_delta": "1e-7"} if composition == "concentrated" else {}
    book = Ledger.create(
        tmp_path / "city.ledger", "riders of the bicycles, the ferries and the night buses of the city and around it",
        "0.7", "1e-6", unit="person-month", person_epsilon=6, person_delta="1e-5", zone="Europe/Berlin", **more,
    )  # type: ignore[arg-type]  # fmt: skip
    months = Window("2026-05/2026-07", zone="Europe/Berlin", weekdays="mon-fri", hours="07-10,16-19")
    for window in (months, Window("2026-05", zone="Europe/Berlin")):
        windows = (
            tuple(Window(f"2026-0{month}", zone="Europe/Berlin") for month in (5, 6))
            if window is months
            else (window,)
        )
        spend = book.spend(
            Guarantee.approximate("0.1", "1e-8"), "popular places of the whole city", window=windows
        )
        book.record_release(spend.id, new_id(), "staged")
    done = locentropy("ledger", "show", "city.ledger", cwd=tmp_path)
    assert max(map(len, done.stdout.splitlines())) <= 80
    said = " ".join(done.stdout.split())
    account = book.read()
    for cell, text in (("2026-05", "0.5"), ("2026-06", "0.6"), ("every other month", "0.7")):
        left = account.left_in("" if cell.startswith("every") else cell)
        assert f"left in {cell}: {left}" in said
        assert composition == "concentrated" or left.epsilon == exact(text)
    for row in account.spends:
        assert row.time.removesuffix("+00:00").replace("T", " ") in said, "when"
    for words in ("popular places", "2026-05 to 2026-06 (2 parts)", "Europe/Berlin", "staged", "1e-8"):
        assert words in said


def test_of_many_days_the_latest_are_shown(tmp_path: Path) -> None:
    book = Ledger.create(
        tmp_path / "city.ledger", "riders", 1, unit="person-day", person_epsilon=9, zone="UTC"
    )
    days = tuple(Window(f"2026-05-{day:02}", zone="UTC") for day in range(1, 31))
    book.spend(Guarantee.pure("0.1"), "May", window=days)
    said = locentropy("ledger", "show", "city.ledger", cwd=tmp_path).stdout
    assert "left in 2026-05-30: ε = 0.9" in said
    assert "2026-05-06:" not in said
    assert "left in 6 earlier days: see --json" in said
    told = json.loads(locentropy("ledger", "show", "city.ledger", "--json", cwd=tmp_path).stdout)
    assert len(told["remaining_in"]) == 30


# --- a second ledger, and one that was lost ---


def test_a_second_ledger_of_a_population_must_be_meant(ledger: Ledger) -> None:
    folder, same = ledger.path.parent, ("--population", "Riders [red]of  the city", "--epsilon", "1")
    done = locentropy("ledger", "create", "second.ledger", *same, cwd=folder)
    assert done.returncode == 8
    assert "two budgets" in done.stderr
    assert "--another" in done.stderr
    assert not (folder / "second.ledger").exists()
    others = locentropy(
        "ledger", "create", "others.ledger", "--population", "others", "--epsilon", "1", cwd=folder
    )
    assert others.returncode == 0
    assert locentropy("ledger", "create", "second.ledger", *same, "--another", cwd=folder).returncode == 0


def test_beside_a_damaged_ledger_a_new_one_must_be_meant(ledger: Ledger) -> None:
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[: len(whole) // 2])
    arguments = ("ledger", "create", "second.ledger", "--population", "others", "--epsilon", "1")
    done = locentropy(*arguments, cwd=ledger.path.parent)
    assert done.returncode == 8
    assert "ledger rebuild" in done.stderr
    assert locentropy(*arguments, "--another", cwd=ledger.path.parent).returncode == 0


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    """Databases of others, in the middle of their work, and files that only look like one."""
    with closing(sqlite3.connect(tmp_path / "theirs.sqlite")) as theirs:
        theirs.execute("PRAGMA journal_mode = WAL")
        theirs.execute("CREATE TABLE visits (uid)")
        (tmp_path / "visits.parquet").write_bytes(b"PAR1")
        (tmp_path / "odd.ledger").write_bytes(b"SQLite format 3\0")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        Ledger.create(tmp_path / "city.ledger", "riders", 1)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name in before} == before
        assert {path.name for path in tmp_path.iterdir()} == {*before, "city.ledger"}


def publishing(tmp_path: Path, *more: str) -> Done:
    (tmp_path / "visits.csv").write_text("uid,venue\n" + "".join(f"u{n},{'ab'[n % 2]}\n" for n in range(9)))
    (tmp_path / "places.csv").write_text("venue\na\nb\n")
    return locentropy(
        "publish", "visits.csv", "--places", "places.csv", "--mechanism", "limit", "--epsilon", "0.1",
        "--max-locations", 2, "--max-visits", 2, *more, cwd=tmp_path,
    )  # fmt: skip


def test_a_lost_ledger_is_rebuilt_from_its_releases(ledger: Ledger) -> None:
    folder = ledger.path.parent
    for name in ("may", "june"):
        assert publishing(folder, "--ledger", "city.ledger", "--out", name).returncode == 0
    withdrawn = locentropy(
        "ledger", "withdraw", "city.ledger", "may", "--why", "of the wrong week", cwd=folder
    )
    assert withdrawn.returncode == 0, withdrawn.stderr
    shown = locentropy("ledger", "show", "city.ledger", cwd=folder)
    assert "withdrawn" in shown.stdout
    assert "Spend 1 was withdrawn" in shown.stderr
    assert "of the wrong week" in shown.stderr
    budget = ("--population", "riders [red]of the city", "--epsilon", "1", "--delta", "1e-6")
    begun = locentropy("ledger", "rebuild", "new.ledger", "may", "june", *budget, cwd=folder)
    assert begun.returncode == 0, begun.stderr
    assert "--complete" in begun.stderr
    refused = publishing(folder, "--ledger", "new.ledger", "--out", "july")
    assert refused.returncode == 7
    assert "--complete" in refused.stderr
    shown = locentropy("ledger", "show", "new.ledger", cwd=folder)
    assert "left: ε = 0, δ = 0" in shown.stdout
    assert "not complete" in shown.stderr
    done = locentropy(
        "ledger", "rebuild", "new.ledger", "may", "june", *budget, "--complete", "--json", cwd=folder
    )
    told = json.loads(done.stdout)
    assert (told["rebuilt"], told["complete"], told["remaining"]["epsilon"]) == (True, True, "0.8")
    assert [spend["release_state"] for spend in told["spends"]] == ["published", "published"]
    assert publishing(folder, "--ledger", "new.ledger", "--out", "july").returncode == 0
    for name in ("may", "june", "july"):
        checked = locentropy("verify", name, "--ledger", "new.ledger", cwd=folder)
        assert checked.returncode == 0, checked.stdout
    second = locentropy("ledger", "rebuild", "second.ledger", "may", *budget, cwd=folder)
    assert second.returncode == 8
    assert "--another" in second.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["rebuild", "new.ledger", "nowhere"], 9, "nowhere cannot be read"),
        (["rebuild", "new.ledger", "."], 9, "not as it was published"),
        (["withdraw", "city.ledger", "0" * 32, "--why", "wrong"], 8, "not paid for"),
        (["withdraw", "city.ledger", "may", "--why", "wrong"], 9, "not the directory of a release"),
        (["withdraw", "city.ledger", "0" * 32, "--why", ""], 2, "ledger withdraw city.ledger may --why"),
    ],
)
def test_what_cannot_be_rebuilt_or_withdrawn(
    ledger: Ledger, arguments: list[str], code: int, words: str
) -> None:
    budget = ["--population", "riders", "--epsilon", "1"] if arguments[0] == "rebuild" else []
    done = locentropy("ledger", *arguments, *budget, cwd=ledger.path.parent)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert not (ledger.path.parent / "new.ledger").exists()
