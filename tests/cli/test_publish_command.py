"""`locentropy publish` as people and scripts run it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import locentropy as le
from tests.cli.running import Done, in_process, process
from tests.cli.running import in_process as locentropy
from tests.publishing.invented import DATA
from tests.publishing.making import ROWS, ledger_in, names

BOUNDED = ("--epsilon", "0.5", "--max-locations", "3", "--max-visits", "2")
LIMIT = ("--mechanism", "limit", *BOUNDED)
LISTED = ("--places", "places.csv", "--provenance", "the register")
SELECTED = ("--select-epsilon", "0.5", "--select-delta", "1e-6", "--select-max-locations", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location,name\nbar,[red]Bar\ncafe,Café\npark,\npier,Pier\n")
    ledger_in(tmp_path, 2)
    return tmp_path


INPUTS = ["city.ledger", "places.csv", "visits.csv"]


Publish = Callable[..., Done]


@pytest.fixture
def publish(folder: Path) -> Publish:
    """Run the command within this process; what is not counted says so."""

    def publishing(*arguments: object, source: str = "visits.csv") -> Done:
        counted = {"--ledger", "--no-ledger", "--dry-run"} & set(arguments)
        return in_process(
            "publish", source, *arguments, *(() if counted else ("--no-ledger",)), cwd=folder, columns=80
        )

    return publishing


def test_on_screen(folder: Path) -> None:
    call = (*LIMIT, *LISTED, "--ledger", "city.ledger", "--out", "may", "--title", "Map of May")
    done = locentropy("publish", "visits.csv", *call, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Published 4 places to may" in done.stdout
    assert "Differentially private with ε = 0.5" in done.stdout
    assert "50 % likely" in done.stdout
    assert "[red]Bar" in done.stdout
    assert "95 % interval" in done.stdout
    assert "Left of the budget: ε = 1.5" in done.stdout
    assert "locentropy verify may --ledger city.ledger" in done.stderr
    assert locentropy("verify", "may", "--ledger", "city.ledger", cwd=folder).returncode == 0
    assert names(folder) == sorted([*INPUTS, "may"])
    statement = le.Release.load(folder / "may").statement
    assert (statement.title, statement.locations_provenance) == ("Map of May", "the register")


class TestShares:
    """The default: nothing to choose but ε."""

    @pytest.mark.parametrize(("places", "warned"), [(9, True), (10, False)])
    def test_a_short_list_is_warned_of(
        self, places: int, warned: bool, folder: Path, publish: Publish
    ) -> None:
        more = "".join(f"spot-{number}\n" for number in range(places - 4))
        (folder / "places.csv").write_text(f"location\nbar\ncafe\npark\npier\n{more}")
        done = publish("--epsilon", "1", *LISTED, "--out", "may")
        assert done.returncode == 0, done.stderr
        assert (f"{places} places. From fewer than 10 places Shares learns little" in done.stderr) == warned
        assert "open may/report.html" in done.stderr

    @pytest.mark.parametrize("epsilon", ["0", "-1"])
    def test_what_is_refused_is_told_in_options(self, epsilon: str, publish: Publish) -> None:
        done = publish("--epsilon", epsilon, *LISTED, "--out", "may")
        assert done.returncode == 2
        assert f"--epsilon {epsilon}" in done.stderr
        assert " must " in done.stderr
        assert done.stderr.endswith(
            "For example: locentropy publish checkins.parquet --epsilon 1.0 --places places.csv --ledger city.ledger "
            "--out may\n"
        )
        assert "(" not in done.stderr, "no call in Python"

    def test_on_screen(self, folder: Path, publish: Publish) -> None:
        done = publish("--epsilon", "0.5", *LISTED, "--ledger", "city.ledger", "--out", "may")
        assert done.returncode == 0, done.stderr
        assert "95 % interval" in done.stdout
        assert "--max-users" not in done.stderr, "it has a bound of its own"
        release = le.Release.load(folder / "may")
        assert (release.statement.mechanism, release.statement.estimand) == ("Shares", "true")
        assert release.statement.max_users == 10_000_000
        assert le.verify(folder / "may", le.Ledger.open(folder / "city.ledger")).ok

    def test_highest_by_entropy(self, folder: Path, publish: Publish) -> None:
        done = publish("--epsilon", "0.5", *LISTED, "--out", "may", "--json")
        ranked = [row["entropy"] for row in json.loads(done.stdout)["highest"]]
        assert ranked == sorted(ranked, reverse=True)

    def test_dry_run(self, folder: Path, publish: Publish) -> None:
        call = ("--epsilon", "0.5", *LISTED, "--ledger", "city.ledger", "--dry-run")
        done = publish(*call, source="nowhere.csv")
        assert done.returncode == 0, done.stderr
        assert "shares (epsilon 0.5, max_users 10000000), 4 places" in done.stdout
        assert "people ┃ expected error (nats)" in done.stdout
        assert "fewer than 10 places" in done.stderr
        answer = json.loads(publish(*call, "--json", source="nowhere.csv").stdout)
        assert answer["budget_after"] == {"epsilon": "1.5", "delta": "0.001"}

    @pytest.mark.parametrize("places", [LISTED, SELECTED])
    def test_by_a_plan(self, places: tuple[str, ...], folder: Path, publish: Publish) -> None:
        selecting = places if places == SELECTED else ()
        made = locentropy("plan", "--epsilon", "0.5", *selecting, "--out", "plan.yaml", cwd=folder)
        assert made.returncode == 0, made.stderr
        call = ("--plan", "plan.yaml", *(() if selecting else places), "--ledger", "city.ledger")
        refused = publish(*call, "--max-locations", 5, "--out", "may")
        assert refused.returncode == 2
        assert "--max-locations 5 contradicts" in refused.stderr
        assert publish(*call, "--out", "may").returncode == 0
        assert le.Release.load(folder / "may").statement.mechanism == "Shares"


def test_as_json(folder: Path, publish: Publish) -> None:
    words = (
        "--curator", "City", "--description", "What", "--intended-use", "Why", "--region", "Here",
        "--sector", "Government", "--date", "2026-11-15", "--entropy-unit", "bits",
    )  # fmt: skip
    done = publish(*LIMIT, *LISTED, *words, "--ledger", "city.ledger", "--out", "may", "--json")
    answer = json.loads(done.stdout)
    assert (answer["private"], answer["epsilon"], answer["places"]) == (True, "0.5", 4)
    assert answer["budget_left"] == {"epsilon": "1.5", "delta": "0.001"}
    assert answer["files"] == [
        "datapackage.json",
        "details.yaml",
        "manifest.yaml",
        "measurements.parquet",
        "release.csv",
        "release.parquet",
        "report.html",
    ]
    assert [row["entropy"] for row in answer["highest"]] == sorted(
        (row["entropy"] for row in answer["highest"]), reverse=True
    )
    said = le.Release.load(folder / "may").statement
    assert (said.curator, said.description, said.intended_use) == ("City", "What", "Why")
    assert (said.region, said.sector, said.publication_date) == ("Here", "Government", "2026-11-15")
    assert said.entropy_unit == answer["unit"] == "bits"


def test_without_error_bars_and_without_a_ledger(folder: Path, publish: Publish) -> None:
    done = publish("--mechanism", "limit-ss", *BOUNDED, "--delta", "1e-6", *LISTED, "--out", "may")
    assert done.returncode == 0, done.stderr
    assert "interval" not in done.stdout
    assert "Not counted against any budget: use this only with synthetic data." in done.stderr


@pytest.mark.parametrize("out", [(), ("--out", "may")])
def test_whether_it_is_counted_must_be_said(out: tuple[str, ...], folder: Path) -> None:
    """Nothing is read before: the visits and the list need not even be there."""
    call = ("publish", "nowhere.csv", "--epsilon", "0.5", "--places", "no-list.csv", *out)
    done = in_process(*call, cwd=folder)
    assert done.returncode == 2
    assert "--ledger city.ledger counts it against the budget of these people" in done.stderr
    assert (
        "--no-ledger does not count it against any budget: use this only with synthetic data" in done.stderr
    )
    both = in_process(*call, "--no-ledger", "--ledger", "city.ledger", cwd=folder)
    assert both.returncode == 2
    assert "--ledger and --no-ledger contradict each other" in both.stderr
    assert names(folder) == INPUTS
    assert "whether this release is counted" not in in_process(*call, "--dry-run", cwd=folder).stderr


def test_not_private(folder: Path, publish: Publish) -> None:
    crowd = ("--mechanism", "limit-cb", *BOUNDED, "--min-users", "2", "--accept-no-guarantee", "--out", "may")
    refused = publish(*crowd)
    assert refused.returncode == 2
    assert "--not-private" in refused.stderr
    done = publish(*crowd, "--not-private", "--ledger", "city.ledger")
    assert done.returncode == 0, done.stderr
    assert "NOT PRIVATE" in done.stderr
    assert names(folder) == sorted([*INPUTS, "may.NOT-PRIVATE"])
    assert publish(*LIMIT, *LISTED, "--ledger", "city.ledger", "--out", "june").returncode == 7


def test_exclusions(folder: Path, publish: Publish) -> None:
    (folder / "clinics.csv").write_text("location\nbar\nelsewhere\n")
    done = publish(*LIMIT, *LISTED, "--exclude", "clinics.csv", "--out", "may", "--json")
    assert json.loads(done.stdout)["places"] == 3
    assert "bar" not in (folder / "may" / "release.csv").read_text()


class TestDryRun:
    """Reads no visits, so there need not be any; spends nothing and leaves nothing."""

    @pytest.mark.parametrize(
        "places", [LISTED, SELECTED, ("--grid", "-33.9,151.1,-33.8,151.2", "--cell", "900")]
    )
    def test_shows_the_plan(self, places: tuple[str, ...], folder: Path, publish: Publish) -> None:
        done = publish(*LIMIT, *places, "--ledger", "city.ledger", "--dry-run", source="nowhere.csv")
        assert done.returncode == 0, done.stderr
        assert "Differentially private with ε" in done.stdout
        assert "expected error" in done.stdout
        assert (
            "After this release: ε = 1," if places == SELECTED else "After this release: ε = 1.5"
        ) in done.stdout
        assert not le.Ledger.open(folder / "city.ledger").history()
        assert names(folder) == INPUTS

    def test_as_json(self, folder: Path, publish: Publish) -> None:
        done = publish(
            *LIMIT,
            *LISTED,
            "--ledger",
            "city.ledger",
            "--dry-run",
            "--json",
            source="nowhere.csv",
        )
        answer = json.loads(done.stdout)
        assert answer["dry_run"] is True
        assert answer["n_locations"] == 4
        assert answer["budget_after"] == {"epsilon": "1.5", "delta": "0.001"}

    def test_over_budget(self, folder: Path, publish: Publish) -> None:
        done = publish("--epsilon", 3, *LISTED, "--ledger", "city.ledger", "--dry-run")
        assert done.returncode == 7
        assert "ε = 2" in done.stderr

    def test_what_is_in_the_way_is_told(self, folder: Path, publish: Publish) -> None:
        call = (*LIMIT, *LISTED, "--ledger", "city.ledger", "--dry-run", "--out", "may")
        assert "may is free" in publish(*call, source="nowhere.csv").stderr
        (folder / "may").mkdir()
        (folder / "may" / "letter.txt").touch()
        done = publish(*call, source="nowhere.csv")
        assert done.returncode == 9
        assert "already there" in done.stderr
        assert done.stdout == ""

    def test_guesses_of_a_plan_are_used(self, folder: Path, publish: Publish) -> None:
        le.plan(le.Shares(0.5), n_users=3000).to_yaml(folder / "plan.yaml")
        done = publish("--plan", "plan.yaml", *LISTED, "--dry-run", source="nowhere.csv")
        assert "Expected error: " in done.stdout
        assert "Which row it is" not in done.stdout


class TestHints:
    """What readers of the release would miss: told when all options are right, and before anything is paid for."""

    WITHOUT = ("--places", "places.csv", "--epsilon", "0.5", "--out", "may")

    @pytest.mark.parametrize("more", [(), ("--dry-run",)])
    def test_they_are_given(self, more: tuple[str, ...], publish: Publish) -> None:
        done = publish(*self.WITHOUT, *more)
        assert done.returncode == 0, done.stderr
        assert "--provenance" in done.stderr
        assert "--places-lat y --places-lon x" in done.stderr

    def test_not_before_an_error_of_options(self, publish: Publish) -> None:
        done = publish(*self.WITHOUT[:-2])
        assert done.returncode == 2
        assert "--provenance" not in done.stderr
        assert "--places-lat" not in done.stderr

    def test_before_anything_is_paid_for(self, folder: Path, publish: Publish) -> None:
        (folder / "visits.csv").write_text("uid,venue\nann,bar\nbob,\n")
        done = publish(*self.WITHOUT)
        assert done.returncode == 5
        assert "--provenance" in done.stderr

    def test_not_where_they_are_beside_the_point(self, folder: Path, publish: Publish) -> None:
        said = publish(*self.WITHOUT, "--places-lat", "", "--places-lon", "", "--provenance", "the register")
        assert "--provenance" not in said.stderr
        assert "--places-lat" not in said.stderr
        (folder / "places.csv").write_text("location,y,x\nbar,1,2\ncafe,1,3\n")
        mapped = publish(*self.WITHOUT[:-1], "june", "--places-lat", "y", "--places-lon", "x")
        assert mapped.returncode == 0, mapped.stderr
        assert "--places-lat" not in mapped.stderr
        assert "lat" in le.Release.load(folder / "june").to_arrow().column_names


def test_columns_of_a_public_list_may_be_shown(folder: Path, publish: Publish) -> None:
    (folder / "places.csv").write_text("Nummer;Bezeichnung\nbar;Bar\n")
    done = publish(*TestHints.WITHOUT)
    assert done.returncode == 4
    assert "--places-location" in done.stderr
    assert done.stderr.count("'Nummer', 'Bezeichnung'") == 1


class TestTimes:
    """Dates as people write them in Europe: dropping such rows would drop all of them.

    Nothing uses the times of such a release, so they are read only because they are named.
    """

    NAMED = (*TestHints.WITHOUT, "--time", "time")

    def rows(self, folder: Path, *times: str) -> None:
        lines = [f"u{number};bar;{time}" for number, time in enumerate(times)]
        (folder / "visits.csv").write_text("\n".join(["uid;venue;time", *lines, ""]))

    def test_in_most_rows(self, folder: Path, publish: Publish) -> None:
        self.rows(folder, *["31/01/2026 08:00"] * 5)
        done = publish(*self.NAMED)
        assert done.returncode == 5
        assert "--time-format '%d/%m/%Y %H:%M'" in done.stderr
        assert "--time ''" in done.stderr
        assert "--bad-rows" not in done.stderr
        dropped = publish(*self.NAMED, "--bad-rows", "drop", "--refuse-empty")
        assert dropped.returncode == 3
        assert "--time ''" in dropped.stderr
        assert publish(*TestHints.WITHOUT, "--time", "").returncode == 0
        said = publish(*TestHints.WITHOUT[:-1], "june", "--time-format", "%d/%m/%Y %H:%M")
        assert said.returncode == 0, said.stderr

    def test_with_dots(self, folder: Path, publish: Publish) -> None:
        self.rows(folder, *["31.01.2026 08:00"] * 5)
        done = publish(*self.NAMED)
        assert done.returncode == 0, done.stderr
        assert "day first as in 31.01.2026 08:00" in done.stderr

    def test_in_a_few(self, folder: Path, publish: Publish) -> None:
        self.rows(folder, *["2026-01-31T08:00:00"] * 5, "yesterday")
        done = publish(*self.NAMED)
        assert done.returncode == 5
        assert "--bad-rows drop" in done.stderr
        assert "--time ''" not in done.stderr


class TestPlan:
    @pytest.mark.parametrize("places", [LISTED, SELECTED])
    def test_round_trip(self, places: tuple[str, ...], folder: Path, publish: Publish) -> None:
        selecting = places if places == SELECTED else ()
        words = ("--title", "Map of May", "--curator", "City", "--intended-use", "Buses")
        made = locentropy("plan", *LIMIT, *selecting, *words, "--out", "plan.yaml", cwd=folder)
        assert made.returncode == 0, made.stderr
        call = ("--plan", "plan.yaml", *(() if selecting else places), "--ledger", "city.ledger")
        dry = publish(*call, "--dry-run", "--json", source="nowhere.csv")
        done = publish(*call, "--out", "may", "--json")
        assert done.returncode == 0, done.stderr
        planned, published = json.loads(dry.stdout), json.loads(done.stdout)
        assert planned["guarantee"]["epsilon"] == published["epsilon"]
        assert planned["budget_after"] == published["budget_left"]
        said = le.Release.load(folder / "may").statement
        assert (said.title, said.curator, said.intended_use) == ("Map of May", "City", "Buses")
        assert locentropy("verify", "may", "--ledger", "city.ledger", cwd=folder).returncode == 0

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((*LISTED, "--epsilon", "1"), "--epsilon 1 contradicts plan.yaml, which says 0.5"),
            ((*LISTED, "--delta", "1e-6"), "--delta 1e-6 contradicts plan.yaml"),
            ((*LISTED, "--mechanism", "limit-ss"), "--mechanism limit-ss contradicts"),
            ((*LISTED, "--title", "Other"), "--title 'Other' contradicts"),
            ((), "--places FILE"),
            (SELECTED, "a public list"),
            (("--grid", "1,1,2,2", "--cell", "9000"), "a public list"),
            ((*LISTED, *SELECTED), "Choose one way"),
        ],
    )
    def test_contradictions_are_refused(
        self, arguments: tuple[str, ...], words: str, folder: Path, publish: Publish
    ) -> None:
        le.plan(
            le.paper.Limit(0.5, max_locations=3, max_visits=2), about=le.About(title="Map of May")
        ).to_yaml(folder / "plan.yaml")
        done = publish("--plan", "plan.yaml", *arguments, "--ledger", "city.ledger", "--out", "may")
        assert done.returncode == 2
        assert words in done.stderr
        assert not le.Ledger.open(folder / "city.ledger").history()

    def test_what_agrees_may_be_said_again(self, folder: Path, publish: Publish) -> None:
        le.plan(le.paper.Limit(0.5, max_locations=3, max_visits=2)).to_yaml(folder / "plan.yaml")
        done = publish("--plan", "plan.yaml", *LIMIT, *LISTED, "--out", "may")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*LIMIT, "--out", "may"), 2, "There are three ways"),
        ((*LIMIT, *LISTED), 2, "--out may"),
        ((*LIMIT[:2], *LIMIT[4:], *LISTED, "--out", "may"), 2, "limit needs --epsilon"),
        ((*LISTED, "--out", "may"), 2, "shares needs --epsilon"),
        ((*BOUNDED, *LISTED, "--out", "may"), 2, "shares, the default, takes no --max-locations"),
        (("--epsilon", "1", "--out", "may"), 2, "There are three ways"),
        (("--epsilon", "1e-9", *LISTED, "--out", "may"), 2, "--epsilon 1e-09"),
        ((*LIMIT, *LISTED, *SELECTED, "--out", "may"), 2, "Choose one way"),
        ((*LIMIT, "--grid", "1,2,3", "--cell", "5", "--out", "may"), 2, "south, west, north, east"),
        ((*LIMIT, "--grid", "1,1,2,2", "--out", "may"), 2, "--cell 500"),
        ((*LIMIT, "--provenance", "x", "--out", "may"), 2, "--places places.csv"),
        ((*LIMIT, *SELECTED[:2], "--out", "may"), 2, "--select-delta"),
        ((*LIMIT, *LISTED, "--entropy-unit", "bans", "--out", "may"), 2, "bits"),
        ((*LIMIT, *LISTED, "--sector", "Sports", "--out", "may"), 2, "Healthcare"),
        ((*LIMIT, *LISTED, "--not-private", "--out", "may"), 2, "leave it out"),
        ((*LIMIT, *LISTED, "--plan", "no.yaml", "--out", "may"), 2, "cannot be read"),
        ((*LIMIT, "--places", "no.csv", "--out", "may"), 3, "no.csv"),
        ((*LIMIT, *LISTED, "--user", "who", "--out", "may"), 4, "'uid', 'venue'"),
        ((*LIMIT, *LISTED, "--ledger", "no.ledger", "--out", "may"), 8, "ledger create"),
        ((*LIMIT, *LISTED, "--out", "no/may"), 9, "folder that"),
        ((*LIMIT, *LISTED, "--out", "places.csv"), 9, "already there"),
    ],
)
def test_errors_are_sentences_with_exit_codes(
    arguments: tuple[str, ...], code: int, words: str, folder: Path, publish: Publish
) -> None:
    done = publish(*arguments)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert names(folder) == INPUTS


STOPPING = """
import os, signal, sys
from locentropy.release import files
def stopped(*_):
    os.kill(os.getpid(), signal.SIGTERM)
files._write = stopped
from locentropy.cli.main import run
run()
"""


def test_stopped_after_the_spend(folder: Path) -> None:
    call = ("publish", "visits.csv", *LIMIT, *LISTED, "--ledger", "city.ledger", "--out", "may")
    done = process(*call, cwd=folder, code=STOPPING)
    assert done.returncode == 128 + signal.SIGTERM
    assert "Repeat the same call" in done.stderr
    [spend] = le.Ledger.open(folder / "city.ledger").history()
    assert names(folder) == sorted([*INPUTS, ".may.publishing", f".may.{spend.id}.measurements"])
    assert locentropy(*call, cwd=folder).returncode == 0
    assert len(le.Ledger.open(folder / "city.ledger").history()) == 1
    assert names(folder) == sorted([*INPUTS, "may"])


def test_taken_up_by_the_same_command(folder: Path) -> None:
    call = ("publish", "visits.csv", *LIMIT, *LISTED, "--ledger", "city.ledger", "--out", "may")
    killing = STOPPING.replace(
        "files._write = stopped", "import locentropy.publishing.publication as c; c.finish = stopped"
    )
    done = process(*call, cwd=folder, code=killing.replace("SIGTERM", "SIGKILL"))
    assert done.returncode == -signal.SIGKILL
    finished = locentropy(*call, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    assert "An earlier attempt had drawn" in finished.stderr
    assert len(le.Ledger.open(folder / "city.ledger").history()) == 1


class TestAttributes:
    """Columns of the list that estimates lean on."""

    @pytest.fixture(autouse=True)
    def with_columns(self, folder: Path) -> None:
        (folder / "places.csv").write_text(
            "location,category,opened,lat,lon\nbar,drinks,1990,1,1\ncafe,drinks,1991,1,2\npark,,1990,2,1\npier,sea,1991,,\n"
        )

    def test_published(self, folder: Path, publish: Publish) -> None:
        call = ("--epsilon", "1", *LISTED, "--attribute", "category", "--attribute", "coordinates")
        done = publish(*call, "--out", "may")
        assert done.returncode == 0, done.stderr
        release = le.Release.load(folder / "may")
        assert release.statement.attributes == ("category", "coordinates")
        assert release.to_arrow()["category"].to_pylist() == ["drinks", "drinks", None, "sea"]
        assert le.verify(folder / "may").ok

    def test_by_a_plan(self, folder: Path, publish: Publish) -> None:
        asked = ("--epsilon", "1", "--attribute", "category", "--max-std-error", "0.5", "--out", "plan.yaml")
        made = locentropy("plan", *asked, cwd=folder)
        assert made.returncode == 0, made.stderr
        assert "with their category" in made.stdout
        assert "above 0.5 nats get no value" in " ".join(made.stdout.split())
        done = publish("--plan", "plan.yaml", *LISTED, "--out", "may")
        assert done.returncode == 0, done.stderr
        statement = le.Release.load(folder / "may").statement
        assert (statement.attributes, statement.max_std_error) == (("category",), 0.5)
        for contradiction in (("--attribute", "opened"), ("--max-std-error", "0.4")):
            done = publish("--plan", "plan.yaml", *LISTED, *contradiction, "--out", "june")
            assert done.returncode == 2
            assert f"{' '.join(contradiction)} contradicts plan.yaml" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--places", "places.csv", "--attribute", "size"), "is not a column of the list"),
            (("--places", "places.csv", "--attribute", "lat"), "--attribute coordinates"),
            (
                ("--grid", "0,0,1,1", "--cell", "50000", "--attribute", "category"),
                "Cells and zones have none",
            ),
            (
                (*SELECTED, "--attribute", "category"),
                "Where places are selected from the visits there is no list",
            ),
            (("--places", "visits.csv"), "same table"),
        ],
    )
    def test_errors_say_what_to_type(
        self, arguments: tuple[str, ...], words: str, folder: Path, publish: Publish
    ) -> None:
        if words == "same table":  # pre-counted visits may name each place once
            (folder / "visits.csv").write_text("user,location,visits\na,bar,2\nb,cafe,1\n")
        done = publish("--epsilon", "1", *arguments, "--out", "may")
        assert done.returncode in (2, 4)
        assert words in done.stderr
        assert not (folder / "may").exists()

    def test_of_a_mechanism_that_uses_none(self, publish: Publish) -> None:
        done = publish(*LIMIT, *LISTED, "--attribute", "category", "--out", "may")
        assert done.returncode == 2
        assert "--attribute tell nothing to limit, which uses none" in done.stderr
        assert done.stderr.endswith("--ledger city.ledger --out may --attribute category\n")


def test_places_that_are_too_uncertain(folder: Path, publish: Publish) -> None:
    moments = ("--mechanism", "moments", *BOUNDED, *LISTED)
    done = publish(*moments, "--max-std-error", "0.001", "--out", "may")
    assert done.returncode == 0, done.stderr
    assert "Published 0 of 4 places to may; the others are not shown, because" in done.stdout
    again = locentropy("estimate", "may", "--out", "may-2", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert le.Release.load(folder / "may-2").to_arrow()["entropy"].null_count == 4, "the rule is kept"
    refused = publish(*LIMIT, *LISTED, "--max-std-error", "0.5", "--out", "june")
    assert refused.returncode == 2
    assert "--max-std-error is a rule about standard errors" in refused.stderr


class TestColumnsAndGroups:
    """Columns of the list that are published, and groups of its places."""

    @pytest.fixture(autouse=True)
    def with_columns(self, folder: Path) -> None:
        (folder / "places.csv").write_text(
            "location,district,size,phone\nbar,South,1.5,1\ncafe,South,2,2\npark,North,,3\npier,,4,4\n"
        )

    def test_columns(self, folder: Path, publish: Publish) -> None:
        done = publish("--epsilon", "1", *LISTED, "--publish-column", "size", "--out", "may")
        assert done.returncode == 0, done.stderr
        release = le.Release.load(folder / "may")
        assert release.statement.listed_columns == ("size",)
        assert release.to_arrow()["size"].to_pylist() == [1.5, 2.0, None, 4.0]
        told = done.stderr.splitlines()
        public = "To be published of each place, beside the values: id, size."
        assert told.count(public) == 1
        [left_out] = [line for line in told if "are left out" in line]
        assert left_out.startswith("These columns of the list are left out: 'district', 'phone'. ")
        assert "--publish-column NAME" in left_out
        assert not any(b"phone" in path.read_bytes() for path in (folder / "may").iterdir())

    def test_a_dry_run_lists_what_will_be_public(self, publish: Publish) -> None:
        asked = (
            "--epsilon",
            "1",
            *LISTED,
            "--attribute",
            "district",
            "--publish-column",
            "size",
            "--dry-run",
        )
        done = publish(*asked)
        assert done.returncode == 0, done.stderr
        assert "To be published of each place, beside the values: id, district, size." in done.stdout
        assert "These columns of the list are left out: 'phone'." in done.stderr
        told = json.loads(publish(*asked, "--json").stdout)
        assert told["published"] == [{"level": None, "columns": ["id", "district", "size"]}]
        assert told["left_out"] == ["phone"]

    def test_an_option_of_an_earlier_version(self, folder: Path, publish: Publish) -> None:
        done = publish("--epsilon", "1", *LISTED, "--drop-columns", "phone", "--out", "may")
        assert done.returncode == 2
        assert "--drop-columns is gone" in done.stderr
        assert "--publish-column" in done.stderr
        assert not (folder / "may").exists()
        assert "--drop-columns" not in publish("--help").stdout

    def test_groups(self, folder: Path, publish: Publish) -> None:
        done = publish("--epsilon", "1", *LISTED, "--group-by", "district", "--out", "may")
        assert done.returncode == 0, done.stderr
        assert "1 place of the list has no district" in done.stderr
        assert le.Release.load(folder / "may").to_arrow()["location"].to_pylist() == ["South", "North"]
        assert le.verify(folder / "may").ok

    def test_by_a_plan(self, folder: Path, publish: Publish) -> None:
        asked = ("--epsilon", "1", "--group-by", "district", "--n-locations", "2", "--out", "plan.yaml")
        made = locentropy("plan", *asked, cwd=folder)
        assert made.returncode == 0, made.stderr
        assert "2 groups of places of a public list by their district" in " ".join(made.stdout.split())
        done = publish("--plan", "plan.yaml", *LISTED, "--out", "may")
        assert done.returncode == 0, done.stderr
        assert le.Release.load(folder / "may").statement.grouped_by == "district"
        done = publish("--plan", "plan.yaml", *LISTED, "--group-by", "phone", "--out", "june")
        assert done.returncode == 2
        assert "--group-by phone contradicts plan.yaml" in done.stderr

    def test_by_a_plan_that_holds_columns(self, folder: Path, publish: Publish) -> None:
        made = locentropy(
            "plan", "--epsilon", "1", "--publish-column", "size", "--out", "plan.yaml", cwd=folder
        )
        assert made.returncode == 0, made.stderr
        done = publish("--plan", "plan.yaml", *LISTED, "--publish-column", "phone", "--out", "june")
        assert done.returncode == 2
        assert "--publish-column phone contradicts plan.yaml, which says size" in done.stderr
        done = publish("--plan", "plan.yaml", *LISTED, "--out", "may")
        assert done.returncode == 0, done.stderr
        assert le.Release.load(folder / "may").statement.listed_columns == ("size",)
        assert "published all columns" not in done.stderr

    def test_by_a_plan_that_says_nothing_of_columns(self, folder: Path, publish: Publish) -> None:
        (folder / "plan.yaml").write_text((DATA / "shares.plan.yaml").read_text())
        done = publish("--plan", "plan.yaml", *LISTED, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert "To be published of each place, beside the values: id." in done.stdout
        assert "columns of the list are left out: 'district', 'size', 'phone'" in done.stderr
        assert "plan.yaml is of a version that published all columns" in done.stderr
        assert "--publish-column NAME" in done.stderr
        done = publish("--plan", "plan.yaml", *LISTED, "--publish-column", "size", "--out", "may")
        assert done.returncode == 0, done.stderr
        assert le.Release.load(folder / "may").statement.listed_columns == ("size",)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (
                ("--places", "places.csv", "--group-by", "ward"),
                "(--group-by ward) is not a column of the list",
            ),
            (
                ("--places", "places.csv", "--publish-column", "fax"),
                "(--publish-column fax), which is not a column",
            ),
            (("--group-by", "district"), "--group-by names a column of a public list, and none is given"),
            ((*SELECTED, "--publish-column", "phone"), "--publish-column names a column of a public list"),
        ],
    )
    def test_errors_say_what_to_type(self, arguments: tuple[str, ...], words: str, publish: Publish) -> None:
        done = publish("--epsilon", "1", *arguments, "--out", "may")
        assert done.returncode in (2, 4)
        assert words in done.stderr
