"""`locentropy ledger`, as people and scripts run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from locentropy.core.windows import Window
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.privacy.guarantee import Guarantee

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
    assert "Closed" in done.stderr
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
