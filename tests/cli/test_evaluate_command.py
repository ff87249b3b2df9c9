"""`locentropy evaluate` as people and scripts run it."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.cli.evaluate import parts
from locentropy.evaluation import private_files
from tests.cli.running import Done, in_process
from tests.cli.running import in_process as locentropy
from tests.publishing.making import ROWS, ledger_in, names

LIMIT = ("--mechanism", "limit", "--max-locations", "3", "--max-visits", "2", "--seeds", "2")
LISTED = ("--places", "places.csv")
INPUTS = ["city.ledger", "places.csv", "visits.csv"]
BANNER = "PRIVATE — not for publication"

Evaluate = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location,name\nbar,[red]Bar\ncafe,Café\npark,\npier,Pier\n")
    ledger_in(tmp_path, 2)
    return tmp_path


@pytest.fixture
def evaluate(folder: Path) -> Evaluate:
    """Run the command within this process."""

    def evaluating(
        *arguments: object, source: str = "visits.csv", command: str = "evaluate", columns: int = 80
    ) -> Done:
        return in_process(command, source, *arguments, cwd=folder, columns=columns)

    return evaluating


def test_on_screen(folder: Path) -> None:
    done = locentropy(
        "evaluate", "visits.csv", *LISTED, "--seeds", 2, "--ledger", "city.ledger", "--out", "may", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(BANNER)
    assert BANNER in done.stderr
    for name in ("limit ", "limit-ss", "limit-ptr", "best constant", "population mean"):
        assert name in done.stdout
    assert "as-printed" not in done.stdout
    assert "Lowest error over all places, tuned on the data" in done.stdout
    assert "tuned on the data" in done.stderr
    assert names(folder) == sorted([*INPUTS, "may-PRIVATE"])
    made = folder / "may-PRIVATE"
    assert all("PRIVATE" in name for name in names(made))
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.iterdir()} == {0o600}
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert BANNER in (made / "evaluation-PRIVATE.html").read_text()


@pytest.mark.parametrize(("width", "tables"), [(50, 3), (200, 2)])
def test_every_number_is_whole_on_every_screen(width: int, tables: int, evaluate: Evaluate) -> None:
    done = evaluate(*LIMIT, *LISTED, columns=width)
    assert done.returncode == 0, done.stderr
    shown = done.stdout[: done.stdout.index("Lowest error")]
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    rows = [line for line in shown.splitlines() if line.startswith("  best constant")]
    assert len(rows) >= tables if width < 100 else len(rows) == tables


@given(widths=st.lists(st.integers(1, 30), min_size=2, max_size=12), room=st.integers(10, 200))
def test_tables_are_split_where_the_screen_ends(widths: list[int], room: int) -> None:
    split = parts(widths, room)
    assert [at for part in split for at in part[2:]] == list(range(2, len(widths))), (
        "all of them, in order, once"
    )
    for number, part in enumerate(split):
        assert part[:2] == [0, 1]
        assert len(part) <= 3 or sum(widths[at] + 3 for at in part) <= room
        if number:
            before = [*split[number - 1], part[2]]
            assert sum(widths[at] + 3 for at in before) > room, "not sooner than needed"


def test_bounds_that_none_of_those_compared_takes(evaluate: Evaluate) -> None:
    done = evaluate("--mechanism", "shares", "--max-visits", 3, *LISTED, "--seeds", 1)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "--max-visits is an option of none of those compared: shares. It only bounds Throwaway" in said
    assert "option of none" not in evaluate(*LIMIT, "--max-visits", 3, *LISTED, "--seeds", 1).stderr


def test_later_releases_say_that_parameters_were_tuned(folder: Path, evaluate: Evaluate) -> None:
    assert evaluate(*LIMIT, *LISTED, "--ledger", "city.ledger").returncode == 0
    call = (*LIMIT[:-2], "--epsilon", "0.5", *LISTED, "--ledger", "city.ledger", "--out", "may")
    done = evaluate(*call, command="publish")
    assert done.returncode == 0, done.stderr
    manifest = " ".join((folder / "may" / "manifest.yaml").read_text().split())
    assert "parameters tuned on the data, unaccounted" in manifest
    shown = locentropy("ledger", "show", "city.ledger", "--json", cwd=folder)
    assert json.loads(shown.stdout)["tuned_unaccounted"] is True


def test_noted_even_if_the_result_cannot_be_written(
    folder: Path, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(private_files, "contents", full)
    done = evaluate(*LIMIT, *LISTED, "--ledger", "city.ledger", "--out", "may")
    assert done.returncode == 1
    assert done.stdout == ""
    assert le.Ledger.open(folder / "city.ledger").tuned_unaccounted
    assert names(folder) == INPUTS


def test_as_json(folder: Path, evaluate: Evaluate) -> None:
    done = evaluate(*LIMIT, *LISTED, "--epsilon", "0.5", "--epsilon", "2", "--max-locations", "1", "--json")
    answer = json.loads(done.stdout, parse_constant=pytest.fail)
    assert answer["not_for_publication"] is True
    assert BANNER in answer["warning"]
    assert (answer["places"], answer["seeds"]) == (4, 2)
    assert [(each["epsilon"], each["candidate"]) for each in answer["compared"]] == [
        ("0.5", "limit M=3"), ("0.5", "limit M=1"), ("2", "limit M=3"), ("2", "limit M=1"),
    ]  # fmt: skip
    assert all(each["parameters"]["max_visits"] == 2 for each in answer["compared"])
    assert answer["compared"][0]["scores"]["mse_busy_of_entropy_busy"] == {"mean": None, "sd": None}
    assert [best["tuned_on_data"] for best in answer["best"]] == [True, True]
    assert answer["throwaway"]["max_locations"] == 3
    assert "No ledger" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mechanism", "limit-cb", "--min-users", "2"),
        ("--mechanism", "limit-ptr", "--epsilon", "5", "--delta", "1e-3", "--min-users", "1"),
        ("--mechanism", "limit", "--select-epsilon", "5", "--select-delta", "1e-3", "--select-max-locations", "2"),
        ("--mechanism", "limit-as-printed", *LISTED),
        ("--exclude", "clinics.csv", *LISTED),
    ],
)  # fmt: skip
def test_other_ways(arguments: tuple[str, ...], folder: Path, evaluate: Evaluate) -> None:
    (folder / "clinics.csv").write_text("location\nbar\n")
    done = evaluate(*arguments, "--seeds", "1", "--json")
    assert done.returncode == 0, done.stderr
    expected = {"--exclude": 3, "limit-as-printed": 4}
    assert json.loads(done.stdout)["places"] == next(
        (n for word, n in expected.items() if word in arguments), 3
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*LIMIT, "--places", "no.csv"), 3, "no.csv"),
        ((*LIMIT, *LISTED, "--user", "who"), 4, "'uid', 'venue'"),
        (LIMIT, 2, "--places places.csv"),
        ((*LIMIT, *LISTED, "--grid", "1,1,2,2", "--cell", "500"), 2, "Choose one way"),
        ((*LIMIT, "--places-name", "n"), 2, "--places places.csv"),
        ((*LISTED, "--seeds", "0"), 2, "--seeds"),
        ((*LISTED, "--mechanism", "limits"), 2, "Unknown mechanism 'limits'. Choose from shares, "),
        ((*LIMIT, *LISTED, "--delta", "1e-6"), 2, "--delta is an option of none"),
        ((*LIMIT, *LISTED, "--max-users", "0"), 2, "--max-users 0"),
        ((*LIMIT, *LISTED, "--epsilon", "much"), 2, "--epsilon much"),
        ((*LIMIT, *LISTED, "--epsilon", "-1"), 2, "epsilon"),
        ((*LIMIT, *LISTED, "--keep", "best"), 2, "most-visited"),
        ((*LIMIT, *LISTED, "--ledger", "no.ledger"), 8, "ledger create"),
        ((*LIMIT, *LISTED, "--out", "no/may"), 2, "Create it first"),
        ((*LIMIT, *LISTED, "--out", "taken"), 9, "--out taken-2"),
        ((*LIMIT, *LISTED, "--exclude", "taken-PRIVATE/zoo.csv"), 2, "None of the places to exclude"),
        ((*LIMIT, "--places", "taken-PRIVATE/zoo.csv"), 3, "written alike"),
    ],
)
def test_errors_are_sentences_with_exit_codes(
    arguments: tuple[str, ...], code: int, words: str, folder: Path, evaluate: Evaluate
) -> None:
    (folder / "taken-PRIVATE").mkdir()
    (folder / "taken-PRIVATE" / "zoo.csv").write_text("location\nzoo\n")
    done = evaluate(*arguments, *(() if "--ledger" in arguments else ("--ledger", "city.ledger")))
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert names(folder) == sorted([*INPUTS, "taken-PRIVATE"])
    assert not le.Ledger.open(folder / "city.ledger").tuned_unaccounted, "nothing was seen"


def test_a_missing_file(evaluate: Evaluate) -> None:
    done = evaluate(*LIMIT, *LISTED, source="nowhere.csv")
    assert done.returncode == 3
    assert "no such file" in done.stderr
