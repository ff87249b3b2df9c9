"""`locentropy plan` as people and scripts run it, and the page that shows it."""

from __future__ import annotations

import json
import re
import shlex
import time
from pathlib import Path

import pytest

from locentropy import About, Shares
from locentropy.paper import Limit
from locentropy.planning import Plan, plan

from ..test_lightness import command as running
from ..test_lightness import loaded_after
from .running import in_process as locentropy
from .running import process

PAGE = Path(__file__).parent.parent.parent / "docs" / "planning.md"
BOUNDED = ["--epsilon", "1", "--max-locations", "5", "--max-visits", "5"]
LIMIT = ["--mechanism", "limit", *BOUNDED]
SMOOTH = ["--mechanism", "limit-ss", *BOUNDED, "--delta", "1e-8"]


def test_on_screen(tmp_path: Path) -> None:
    began = time.monotonic()
    done = process("plan", *LIMIT, "--n-locations", 14058, "--users-per-location", 5, cwd=tmp_path)
    assert time.monotonic() - began < 20, "about a second on an idle machine"
    assert done.returncode == 0, done.stderr
    assert "ε = 1" in done.stdout
    assert "73.2 %" in done.stdout
    assert "14,058 places of a public list" in done.stdout
    assert "worse than a guess" in done.stdout
    assert "about 0 places" in done.stdout
    assert "biases" in done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert rows
    assert all("100 % │" in row for row in rows), "a public list is published whole"
    assert list(tmp_path.iterdir()) == []


def test_shares_by_default(tmp_path: Path) -> None:
    call = ("--epsilon", "1", "--n-locations", 1000, "--n-users", 100_000)
    done = locentropy("plan", *call, "--out", "plan.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "shares (epsilon 1, max_users 10000000), 1,000 places of a public list" in done.stdout
    assert "Differentially private with ε = 1," in done.stdout
    assert "presence by the number of places of a person (13.3)" in " ".join(done.stdout.split())
    assert "people ┃ expected error (nats)" in done.stdout
    assert "Expected error: about" in done.stdout
    assert "biases" not in done.stderr, "nobody is bounded"
    made = plan(Shares(1), n_locations=1000, n_users=100_000)
    assert Plan.from_yaml(tmp_path / "plan.yaml") == made
    answer = json.loads(locentropy("plan", *call, "--json", cwd=tmp_path).stdout)
    assert answer["n_users"] == 100_000
    expected = answer["expected_error"]
    assert expected["noise_scales"]["sizes"] == pytest.approx(40 / 3)
    assert (
        expected["expected_error"]
        == made.expected.to_dict()["expected_error"]
        == pytest.approx([0.151, 0.791], abs=1e-3)
    )
    assert [row["n_users"] for row in expected["rows"]] == [10, 100, 1000, 10_000, 100_000, 1_000_000]


def test_as_json(tmp_path: Path) -> None:
    done = locentropy("plan", *SMOOTH, "--users-per-location", "1,5,500", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert answer["mechanism"]["name"] == "limit-ss"
    assert answer["guarantee"]["epsilon"] == "1"
    assert answer["guarantee"]["delta"] == "1e-8"
    assert answer["expected_error"]["share_useful"] == pytest.approx(1 / 3)
    assert answer["expected_error"]["noise_scale"] is None


def test_a_plan_file_holds_what_was_asked_for(tmp_path: Path) -> None:
    done = locentropy(
        "plan", "--mechanism", "limit", "--epsilon", "0.1", "--max-locations", 5, "--max-visits", 7, "--keep", "first", "--max-users", 900,
        "--select-epsilon", "0.2", "--select-delta", "1e-8", "--select-max-locations", 20, "--n-locations", 10,
        "--users-per-location", "3", "--title", "Venues [red]", "--curator", "City", "--out", "plan.yaml",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "published" in done.stdout
    assert "ε = 0.3, δ = 1e-8" in done.stdout
    assert "Written to plan.yaml" in done.stderr
    assert Plan.from_yaml(tmp_path / "plan.yaml") == plan(
        Limit(0.1, max_locations=5, max_visits=7, keep="first", max_users=900), n_locations=10, users_per_location=3, selection=(0.2, 1e-8, 20),
        about=About("Venues [red]", "City"),
    )  # fmt: skip
    assert [each.name for each in tmp_path.iterdir()] == ["plan.yaml"]


def test_a_plan_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("approved")
    done = locentropy("plan", "--epsilon", "1", "--out", "plan.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out plan-2.yaml" in done.stderr
    assert done.stdout == ""
    assert (tmp_path / "plan.yaml").read_text() == "approved"
    assert locentropy("plan", "--epsilon", "1", "--out", "plan-2.yaml", cwd=tmp_path).returncode == 0


def test_without_a_promise_it_says_so(tmp_path: Path) -> None:
    done = locentropy(
        "plan", "--mechanism", "limit-cb", *BOUNDED, "--min-users", 50, "--accept-no-guarantee", cwd=tmp_path
    )
    assert done.returncode == 0
    assert "Not differentially private" in done.stdout
    assert "Do not publish" in done.stderr


def test_a_large_delta_is_warned_of_in_words(tmp_path: Path) -> None:
    done = locentropy("plan", *SMOOTH[:-1], "0.01", "--max-users", 1000, cwd=tmp_path)
    assert done.returncode == 0
    assert "δ = 0.01 is above one over the number of users, 0.001" in done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "shares needs --epsilon. For example: locentropy plan --epsilon 1.0 --n-locations 14058"),
        (["--mechanism", "limit"], "needs --epsilon, --max-locations, --max-visits. For example: locentropy plan --mechanism limit "),
        (["--mechanism", "gauss"], "Unknown mechanism 'gauss'. Choose from shares, moments, baseline, limit, limit-ss, limit-ptr, limit-cb"),
        (BOUNDED, "shares, the default, takes no --max-locations without --counts. It is an option of moments, baseline, limit, limit-ss, "
            "limit-ptr, limit-cb. For example: locentropy plan --epsilon 1.0 "),
        (["--epsilon", "1", "--users-per-location", "5"], "--n-users 10000"),
        (["--epsilon", "1", "--n-users", "0"], "--n-users 0"),
        (["--epsilon", "1e-9"], "--epsilon 1e-09 must be between"),
        ([*LIMIT, "--n-users", "5"], "--n-users tells nothing about limit"),
        ([*LIMIT, "--delta", "1e-8"], "limit takes no --delta"),
        ([*LIMIT, "--accept-no-guarantee"], "limit takes no --accept-no-guarantee"),
        (["--mechanism", "limit-ptr", *BOUNDED], "needs --delta, --min-users"),
        (["--mechanism", "limit-cb", *BOUNDED, "--min-users", "50"], "not differentially private"),
        (["--epsilon", "lots"], "--epsilon lots must be a decimal number"),
        (["--epsilon", "0"], "above 0"),
        (["--epsilon", "0.1000000000000000000001"], "more digits"),
        ([*LIMIT, "--max-visits", "0"], "--max-visits 0"),
        ([*LIMIT, "--keep", "best"], "most-visited"),
        ([*LIMIT, "--n-locations", "0"], "--n-locations 0"),
        ([*LIMIT, "--users-per-location", "some"], "--users-per-location 1,5,50"),
        ([*LIMIT, "--select-epsilon", "0.2"], "needs --select-delta, --select-max-locations"),
        ([*LIMIT, "--places-kind", "selection"], "takes a budget"),
        ([*LIMIT, "--places-kind", "venues"], "public-list, grid"),
        ([*LIMIT, "--places", "venues.csv"], "--places-kind"),
        ([*LIMIT, "--out", "plan.json"], ".yaml"),
        ([*LIMIT, "--out", "no/where/plan.yaml"], "does not exist"),
        ([*LIMIT, "--title", "two\nlines", "--out", "plan.yaml"], "one line"),
    ],
)  # fmt: skip
def test_errors_are_sentences_with_an_exit_code(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = locentropy("plan", *arguments, cwd=tmp_path, columns=200)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [LIMIT, ["--epsilon", "1", "--n-locations", "99", "--n-users", "99"]])
def test_a_plan_loads_no_engine(arguments: list[str]) -> None:
    [loaded] = loaded_after([running("plan", *arguments)]).values()
    assert loaded & {"duckdb", "ibis", "matplotlib", "pandas", "sqlglot", "scipy"} == set()


def shown() -> list[tuple[str, str]]:
    """The commands of the page, and what it says that they print."""
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    return [tuple(block.removeprefix("$ ").split("\n", 1)) for block in blocks]


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    assert len(shown()) >= 4
    for command, printed in shown():
        words = shlex.split(command)
        assert words[:2] == ["locentropy", "plan"]
        done = locentropy(*words[1:], cwd=tmp_path, columns=100)
        assert done.returncode == 0, done.stderr
        said = [line.rstrip() for line in done.stdout.splitlines()]
        assert said == printed.splitlines(), command
    assert Plan.from_yaml(tmp_path / "plan.yaml")
