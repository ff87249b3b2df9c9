"""Several levels on the command line: plan, dry run, publish, advise."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import locentropy as le
from tests.cli.running import Done
from tests.cli.running import in_process as locentropy
from tests.publishing.making import ROWS, ledger_in, names

LIMIT = ("--mechanism", "limit", "--epsilon", "0.5", "--max-locations", "3", "--max-visits", "2")
LISTED = ("--places", "places.csv", "--provenance", "the register")
LEVELS = ("--levels", "place,district,city")
FILES = {
    f"{stem}{end}" for stem in ("district", "city") for end in (".csv", ".parquet", ".measurements.parquet")
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location,district\nbar,North\ncafe,North\npark,South\npier,\n")
    ledger_in(tmp_path, 2)
    return tmp_path


def publish(folder: Path, *arguments: str) -> Done:
    return locentropy("publish", "visits.csv", *LISTED, *arguments, cwd=folder, columns=200)


def test_publish_and_what_follows(folder: Path) -> None:
    done = publish(folder, *LIMIT, *LEVELS, "--ledger", "city.ledger", "--out", "may")
    assert done.returncode == 0, done.stderr
    assert "Level district: 2 locations." in done.stdout
    assert "Level city: 1 location." in done.stdout
    assert "1 place of the list has no district, so visits there do not count at that level" in done.stderr
    assert set(names(folder / "may")) >= FILES
    checked = locentropy("verify", "may", "--ledger", "city.ledger", cwd=folder)
    assert checked.returncode == 0, checked.stdout
    assert "ok   measurements of city" in checked.stdout
    again = locentropy("estimate", "may", "--out", "june", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert le.verify(folder / "june").ok
    assert locentropy("report", "may", cwd=folder).returncode == 0
    [spend] = le.Ledger.open(folder / "city.ledger").history()
    assert str(spend.epsilon) == "1/2"


def test_in_json(folder: Path) -> None:
    done = publish(folder, *LIMIT, *LEVELS, "--dry-run", "--json")
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["n_locations"] == 4
    assert told["locations"]["levels"] == ["place", "district", "city"]
    assert [(each["name"], each["epsilon"], each["n_locations"]) for each in told["levels"]] == [
        ("place", "0.21", 4),
        ("district", "0.16", 2),
        ("city", "0.13", 1),
    ]
    done = publish(folder, *LIMIT, *LEVELS, "--no-ledger", "--out", "may", "--json")
    assert json.loads(done.stdout)["levels"] == {"place": 4, "district": 2, "city": 1}


def test_an_approved_plan(folder: Path) -> None:
    call = ("plan", *LIMIT, *LEVELS, "--level-sizes", "1000,8,1", "--out", "plan.yaml")
    made = locentropy(*call, cwd=folder, columns=200)
    assert made.returncode == 0, made.stderr
    assert "Level district: ε = 0.08, 8 locations;" in made.stdout
    assert "What follows is about the level place." in made.stdout
    written = yaml.safe_load((folder / "plan.yaml").read_text())
    assert written["locations"]["levels"] == {"place": "0.375", "district": "0.08", "city": "0.045"}
    plan = le.Plan.from_yaml(folder / "plan.yaml")
    assert str(plan.guarantee.epsilon) == "1/2"
    for options in ((), LEVELS, ("--levels", "place=0.3750,district=0.08,city=0.045")):
        done = publish(folder, "--plan", "plan.yaml", *options, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert "at the levels place, district, city" in done.stdout
    for other in ("place,district", "place=0.3,district=0.1,city=0.1"):
        done = publish(folder, "--plan", "plan.yaml", "--levels", other, "--dry-run")
        assert done.returncode != 0
        assert f"--levels {other} contradicts plan.yaml" in done.stderr
    text = (folder / "plan.yaml").read_text()
    for old, new, message in (
        ("district: '0.08'", "district: '0.10'", "must divide ε = 0.5"),
        ("    city: '0.045'\n", "", "must divide ε = 0.5"),
    ):
        assert old in text
        (folder / "edited.yaml").write_text(text.replace(old, new))
        done = publish(folder, "--plan", "edited.yaml", "--dry-run")
        assert done.returncode != 0
        assert message in done.stderr


def test_a_plan_without_sizes_approves_the_rule(folder: Path) -> None:
    made = locentropy("plan", *LIMIT, *LEVELS, "--out", "plan.yaml", cwd=folder, columns=200)
    assert "in proportion to the cube roots of the numbers of their locations" in " ".join(
        made.stdout.split()
    )
    assert yaml.safe_load((folder / "plan.yaml").read_text())["locations"]["levels"] == [
        "place",
        "district",
        "city",
    ]
    done = publish(folder, "--plan", "plan.yaml", "--dry-run")
    assert "Level city: ε = 0.13, 1 location;" in done.stdout
    other = publish(folder, "--plan", "plan.yaml", "--levels", "place=0.3,district=0.1,city=0.1", "--dry-run")
    assert "contradicts plan.yaml" in other.stderr
    wrong = locentropy("plan", *LIMIT, *LEVELS, "--level-sizes", "many", cwd=folder, columns=200)
    assert "--level-sizes many must be whole numbers" in wrong.stderr
    few = locentropy("plan", *LIMIT, *LEVELS, "--level-sizes", "10,5", cwd=folder, columns=200)
    assert "must have one number for each level" in few.stderr


def test_advice_tells_what_each_level_gets_and_is_worth(folder: Path) -> None:
    call = ("advise", "--epsilon", "1", "--n-users", "5000", "--places", "places.csv", *LEVELS)
    done = locentropy(*call, cwd=folder, columns=200)
    assert done.returncode == 0, done.stderr
    assert "Level place: ε = 0.42, 4 locations;" in done.stdout
    assert "Level city: ε = 0.26, 1 location;" in done.stdout
    assert "--levels place,district,city" in done.stdout, "in the command to run next"
    told = json.loads(locentropy(*call, "--json", cwd=folder).stdout)
    assert [each["epsilon"] for each in told["levels"]] == ["0.42", "0.32", "0.26"]
    advice = le.advise(
        1.0, n_locations=2000, n_users=5000, levels=["place", "district", "all"], level_sizes=[2000, 30, 1]
    )
    assert [each.n_locations for each in advice.levels] == [2000, 30, 1]
    assert all(each.error is not None for each in advice.levels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*LIMIT, *LISTED, "--levels", "place=0.4,district"),
            "--levels place=0.4,district must say the part of ε of",
        ),
        ((*LIMIT, *LISTED, "--levels", "place=0.4,district=0.2"), "must divide ε = 0.5"),
        ((*LIMIT, *LISTED, "--levels", "place"), "--levels must be 2 to 5 levels"),
        (
            (*LIMIT, *LISTED, "--levels", "place,,city"),
            "--levels place,,city must be names of levels with one comma",
        ),
        (
            (*LIMIT, *LISTED, "--levels", "place=0.3,district=most"),
            "--levels must say the part of ε of the level 'district' as a number",
        ),
        ((*LIMIT, *LISTED, "--levels", "place,ward"), "the level 'ward' is not a column of the list"),
        ((*LIMIT, *LISTED, *LEVELS, "--group-by", "district"), "names one level, and levels several"),
        ((*LIMIT, *LEVELS, "--grid", "1,1,2,2", "--cell", "500"), "--levels names a column of a public list"),
    ],
)
def test_errors(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    done = locentropy(
        "publish", "visits.csv", *arguments, "--no-ledger", "--out", "may", cwd=folder, columns=300
    )
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert message in said
    assert "Traceback" not in said
    assert "may" not in names(folder)
    if "For example: locentropy publish" in said:  # what is shown must work, with one's own files
        command = shlex.split(said.partition("For example: ")[2])
        assert locentropy(*_here(command), "--dry-run", cwd=folder).returncode == 0, said


def _here(command: list[str]) -> list[str]:
    files = {"checkins.parquet": "visits.csv", "may": "example"}
    return [files.get(word, word) for word in command[1:]]
