"""`locentropy advise` as people and scripts run it, and the page that explains how to choose."""

from __future__ import annotations

import json
import re
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.datasets.city import City
from locentropy.evaluation.advice.paid_survey import PURPOSE
from tests.cli.running import Done, in_process, process
from tests.cli.running import in_process as locentropy
from tests.publishing.making import ROWS, ledger_in, names

from ..test_lightness import command as running
from ..test_lightness import loaded_after

PAGE = Path(__file__).parent.parent.parent / "docs" / "choosing.md"
PAID = ("visits.csv", "--places", "places.csv", "--spend", "0.05", "--ledger", "city.ledger")
INPUTS = ["city.ledger", "places.csv", "visits.csv"]

Advise = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location\nbar\ncafe\npark\npier\n")
    ledger_in(tmp_path, 2)
    return tmp_path


@pytest.fixture
def advise(folder: Path) -> Advise:
    """Run the command within this process."""
    return lambda *arguments: in_process("advise", *arguments, cwd=folder)


def spent(folder: Path) -> int:
    return len(le.Ledger.open(folder / "city.ledger").history())


class TestWithoutData:
    def test_on_screen(self, tmp_path: Path) -> None:
        done = locentropy(
            "advise", "--n-locations", 14058, "--n-users", 10000, "--epsilon", "1", cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        for words in ("Use shares --epsilon 1", "Why", "What error to expect", "Sparse:", "Run next"):
            assert words in done.stdout
        last = done.stdout.strip().splitlines()[-1]
        assert shlex.split(last)[:7] == [
            "locentropy", "publish", "visits.parquet", "--mechanism", "shares", "--epsilon", "1",
        ]  # fmt: skip
        assert list(tmp_path.iterdir()) == []

    def test_as_json(self, folder: Path, advise: Advise) -> None:
        answer = json.loads(advise("--n-users", 100_000, "--epsilon", "0.5", "--json").stdout)
        assert answer["mechanism"] == {"name": "shares", "epsilon": "0.35"}
        assert answer["selection"]["epsilon"] == "0.15"
        assert answer["activity"] is None
        assert "--select-epsilon 0.15" in answer["command"]
        assert spent(folder) == 0

    def test_a_public_list_may_be_counted(self, advise: Advise) -> None:
        done = advise("--places", "places.csv", "--n-users", 5000, "--epsilon", 1)
        assert "Use moments --epsilon 1 --max-locations 4" in done.stdout
        assert "--places places.csv" in done.stdout.replace("\n", "")

    def test_a_grid_may_be_counted(self, advise: Advise) -> None:
        box = ("--grid", "40.70,-74.03,40.80,-73.92", "--cell", 500)
        answer = json.loads(advise(*box, "--n-users", 5000, "--epsilon", 1, "--json").stdout)
        assert answer["mechanism"]["name"] == "shares"
        assert "--grid 40.70,-74.03,40.80,-73.92 --cell 500.0" in answer["command"]

    @pytest.mark.parametrize(
        ("listed", "asked", "mechanism"),
        [
            (4, ("--places", "places.csv"), "Moments"),
            (40, ("--places", "places.csv"), "Shares"),
            (40, (), "Shares"),
        ],
        ids=["a short list", "shares", "a selection and shares"],
    )
    def test_what_is_recommended_can_be_published(
        self, listed: int, asked: tuple[str, ...], mechanism: str, folder: Path, advise: Advise
    ) -> None:
        """The command that is shown runs as it stands."""
        more = "".join(f"spot-{number}\n" for number in range(listed - 4))
        (folder / "places.csv").write_text(f"location\nbar\ncafe\npark\npier\n{more}")
        answer = json.loads(advise(*asked, "--n-users", 5000, "--epsilon", 1, "--json").stdout)
        words = shlex.split(answer["command"])
        words[2] = "visits.csv"
        done = locentropy(*words[1:], cwd=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "release" / "release.csv").is_file()
        release = le.Release.load(folder / "release")
        assert release.statement.mechanism == mechanism
        assert release.statement.estimand == answer["estimand"]
        assert release.statement.guarantee.epsilon == 1, "selection included"
        assert le.verify(folder / "release", le.Ledger.open(folder / "city.ledger")).ok

    def test_what_is_recommended_reads_the_table_as_the_advice_did(
        self, folder: Path, advise: Advise
    ) -> None:
        """With columns that are not recognised, quoted and unquoted, the command still runs as it stands."""
        _, rows = ROWS.split("\n", 1)
        (folder / "gates.csv").write_text(f"member no,spot\n{rows}")
        (folder / "spots.csv").write_text("code\nbar\ncafe\npark\npier\n")
        columns = ("--user", "member no", "--location", "spot", "--places-location", "code")
        paid = ("gates.csv", "--places", "spots.csv", *columns, "--spend", "0.05", "--ledger", "city.ledger")
        answer = json.loads(advise(*paid, "--epsilon", "1", "--json").stdout)
        done = locentropy(*shlex.split(answer["command"])[1:], cwd=folder)
        assert done.returncode == 0, done.stderr

    def test_numbers_are_taken(self, advise: Advise) -> None:
        call = (
            "--n-locations",
            400,
            "--n-users",
            200_000,
            "--locations-per-user",
            10,
            "--visits-per-location",
            3,
        )
        answer = json.loads(advise(*call, "--bounded", "--delta", "1e-7", "--epsilon", 1, "--json").stdout)
        assert answer["mechanism"] == {
            "name": "moments", "epsilon": "1", "max_locations": 10, "max_visits": 3, "max_users": 500_000,
        }  # fmt: skip
        assert answer["alternatives"][-1]["mechanism"]["delta"] == "1e-07"


class TestWithBudget:
    def test_on_screen(self, folder: Path) -> None:
        done = locentropy("advise", *PAID, "--epsilon", 1, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "Use moments" in done.stdout, "four places are a short list"
        assert "Spent on this advice: ε = 0.05. Left of the budget: ε = 1.95" in done.stderr
        [spend] = le.Ledger.open(folder / "city.ledger").history()
        assert spend.purpose == PURPOSE
        assert names(folder) == INPUTS
        assert "visits.csv --mechanism moments" in done.stdout
        assert "--ledger city.ledger" in done.stdout

    def test_as_json(self, folder: Path, advise: Advise) -> None:
        answer = json.loads(advise(*PAID, "--epsilon", 1, "--json").stdout)
        found = answer["activity"]
        assert (found["epsilon"], found["private"], found["n_locations"]) == ("0.05", True, 4)
        assert len(found["users_by_places"]) == 14
        assert answer["density"]["verdict"] in ("dense", "sparse", "undecided")
        assert spent(folder) == 1

    def test_a_city(self, tmp_path: Path) -> None:
        """With budget enough, the bounds follow how its people move."""
        City(people=3000, days=10).write(tmp_path / "demo")
        le.Ledger.create(tmp_path / "city.ledger", "people of the city", 4)
        call = ("demo/visits.parquet", "--places", "demo/places.csv", "--ledger", "city.ledger")
        done = locentropy("advise", *call, "--spend", "0.5", "--epsilon", 2, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["mechanism"]["name"] == "shares"
        [moments] = [
            each["mechanism"] for each in answer["alternatives"] if each["mechanism"]["name"] == "moments"
        ]
        assert moments["max_locations"] > 5
        assert moments["max_users"] == 5000


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--n-locations", 10), 2, "--epsilon"),
        (("visits.csv", "--epsilon", 1), 2, "no --spend says how much"),
        (("visits.csv", "--epsilon", 1, "--spend", "0.05", "--places", "places.csv"), 2, "no --ledger"),
        (("visits.csv", "--epsilon", 1, "--spend", "0.05", "--ledger", "city.ledger"), 2, "--places places.csv"),
        (("--epsilon", 1, "--spend", "0.05"), 2, "no INPUT"),
        (("--epsilon", 1, "--ledger", "city.ledger"), 2, "no INPUT"),
        (("--epsilon", "lots"), 2, "--epsilon lots"),
        (("--epsilon", 1, "--delta", 2), 2, "--delta 2"),
        (("--epsilon", 1, "--n-users", 0), 2, "--n-users 0"),
        (("--epsilon", 1, "--n-locations", 7, "--places", "places.csv"), 2, "contradicts the places"),
        (("--epsilon", 1, "--places", "places.csv", "--grid", "1,1,2,2", "--cell", 900), 2, "Choose one way"),
        (("--epsilon", 1, "--places", "no.csv"), 3, "no.csv"),
        ((*PAID[:4], "zero", *PAID[5:], "--epsilon", 1), 2, "--spend zero must be a decimal number"),
        ((*PAID[:4], "0", *PAID[5:], "--epsilon", 1), 2, "above 0"),
        ((*PAID, "--epsilon", 1, "--user", "who"), 4, "'uid', 'venue'"),
        ((*PAID, "--epsilon", "1.96"), 7, "2.01"),
        ((*PAID, "--epsilon", 1, "--n-users", 0), 2, "--n-users 0"),
        ((*PAID, "--epsilon", 1, "--n-users", 3_000_000_000), 2, "--n-users 3000000000"),
        ((*PAID, "--epsilon", 1, "--locations-per-user", 0), 2, "--locations-per-user 0"),
        ((*PAID, "--epsilon", 1, "--visits-per-location", 0), 2, "--visits-per-location 0"),
        (("nowhere.csv", *PAID[1:], "--epsilon", 1), 3, "nowhere.csv"),
        ((*PAID[:-1], "no.ledger", "--epsilon", 1), 8, "ledger create"),
    ],
)  # fmt: skip
def test_errors_are_sentences_and_cost_nothing(
    arguments: tuple[object, ...], code: int, words: str, folder: Path, advise: Advise
) -> None:
    done = advise(*arguments)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert spent(folder) == 0
    assert names(folder) == INPUTS


def test_over_budget_both_parts_are_told(folder: Path, advise: Advise) -> None:
    done = advise(*PAID, "--epsilon", "1.96")
    assert done.returncode == 7
    assert "these statistics (--spend 0.05)" in done.stderr
    assert "(--epsilon 1.96)" in done.stderr
    assert "ε = 2" in done.stderr, "what is left"


def test_an_epsilon_that_nothing_takes_costs_nothing(folder: Path, advise: Advise) -> None:
    listed = "".join(f"spot-{number}\n" for number in range(40))
    (folder / "places.csv").write_text(f"location\nbar\n{listed}")
    done = advise(*PAID, "--epsilon", "0.0005")
    assert done.returncode == 2
    assert "--epsilon 0.0005" in done.stderr
    assert spent(folder) == 0


def test_stopped_after_the_spend_it_says_so(folder: Path) -> None:
    stopping = (
        "import os, signal\nfrom locentropy.privacy.noise import OpenDPNoise\n"
        "OpenDPNoise.laplace = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "from locentropy.cli.main import run\nrun()"
    )
    done = process("advise", *PAID, "--epsilon", "1", cwd=folder, code=stopping)
    assert done.returncode == 128 + signal.SIGTERM
    assert "ε = 0.05 was spent for statistics that nobody has seen" in done.stderr
    assert spent(folder) == 1


def test_without_data_no_engine_is_loaded() -> None:
    [loaded] = loaded_after(
        [running("advise", "--n-locations", "400", "--n-users", "9000", "--epsilon", "1")]
    ).values()
    assert loaded & {"duckdb", "ibis", "pandas", "sqlglot", "scipy"} == set()


class TestThePage:
    def test_its_snippets_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        City(people=50, days=3).write(tmp_path / "demo")
        monkeypatch.chdir(tmp_path)
        snippets = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
        assert len(snippets) == 2
        known: dict[str, object] = {}
        for snippet in snippets:
            exec(compile(snippet, str(PAGE), "exec"), known)  # noqa: S102

    def test_where_a_delta_pays_follows_from_the_noise(self) -> None:
        """A visitor of m places has a share of 1/m without a δ and of 1/√m with one."""
        [(budgets, places)] = re.findall(
            r"^\| ε \|(.*)\|\n\|[-|]+\|\n\| places of a visitor \|(.*)\|$", PAGE.read_text(), re.M
        )
        for epsilon, shown in zip(map(float, budgets.split("|")), places.split("|"), strict=True):
            laplace = le.Shares(epsilon).share_queries.scales["look"] * 2**0.5
            gaussian = le.Shares(epsilon, delta=1e-8).share_queries.scales["look"]
            assert round((gaussian / laplace) ** 2) == int(shown)

    def test_its_commands_are_understood(self, folder: Path) -> None:
        commands = re.findall(r"^\$ (locentropy .*)$", PAGE.read_text(), re.M)
        assert len(commands) >= 3
        (folder / "city.ledger").unlink()
        rows = [line.split(",") for line in ROWS.splitlines()[1:]]
        table = pa.table({"uid": [u for u, _ in rows], "venue": [v for _, v in rows]})
        pq.write_table(table, folder / "checkins.parquet")
        (folder / "venues.csv").write_text((folder / "places.csv").read_text())
        for command in commands:
            done = locentropy(*shlex.split(command)[1:], cwd=folder)
            assert done.returncode == 0, (command, done.stderr)
