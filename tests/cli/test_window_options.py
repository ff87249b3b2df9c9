"""`--window` and what belongs to it, as people and scripts say it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import locentropy as le
from tests.cli.running import Done
from tests.cli.running import in_process as locentropy
from tests.publishing.making import names
from tests.publishing.test_windows import ROWS

LIMIT = ("--mechanism", "limit", "--epsilon", "0.5", "--max-locations", "3", "--max-visits", "2")
MAY = ("--window", "2026-05", "--time-zone", "Europe/Berlin")

Publish = Callable[..., Done]


@pytest.fixture
def publish(tmp_path: Path) -> Publish:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "places.csv").write_text("location\nbar\ncafe\npark\npier\n")
    le.Ledger.create(tmp_path / "city.ledger", "riders", 1, unit="person-month", person_epsilon="1.5")
    given = (
        "visits.csv",
        "--user",
        "uid",
        "--places",
        "places.csv",
        "--provenance",
        "x",
        "--ledger",
        "city.ledger",
    )
    return lambda *more: locentropy("publish", *given, *LIMIT, *more, cwd=tmp_path)


def test_a_month(publish: Publish, tmp_path: Path) -> None:
    done = publish(*MAY, "--out", "may")
    assert done.returncode == 0, done.stderr
    assert (
        "Left of the budget: ε = 0.5, δ = 0 in 2026-05, and ε = 1, δ = 0 for somebody who is there"
        in done.stdout
    )
    assert "release-2026-05.csv" in names(tmp_path / "may")
    checked = locentropy("verify", "may", "--ledger", "city.ledger", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    for command in (("report", "may"), ("report", "may", "--out", "page.html")):
        assert locentropy(*command, cwd=tmp_path).returncode == 0
    again = publish("--window", "2026-06", "--out", "june", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["window"] == "2026-06, Europe/Berlin", "the ledger knows its zone"


def test_a_dry_run_tells_what_is_left_in_the_month_and_for_how_many_more(publish: Publish) -> None:
    done = publish(*MAY, "--dry-run")
    assert done.returncode == 0, done.stderr
    for words in (
        "Left of the budget of 'riders': ε = 1, δ = 0 in 2026-05, and ε = 1.5, δ = 0 for somebody who is there in every",
        "After this release: ε = 0.5, δ = 0 in 2026-05, and ε = 1, δ = 0 for somebody who is there in every month.",
        "Such a release in each month: 2 more until the budget of the person is used up.",
    ):
        assert words in done.stdout
    told = json.loads(publish(*MAY, "--dry-run", "--json").stdout)
    assert told["budget_after"] == {"epsilon": "0.5", "delta": "0"}
    assert told["guarantee"]["protects"] == "all visits of one user in one calendar month"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "straddles every month"),
        (("--window", "2026-05"), 2, "--time-zone Europe/Berlin"),
        (("--window", "May", "--time-zone", "UTC"), 2, "--window May is not a month"),
        (("--window", "2026-W18", "--time-zone", "UTC"), 2, "--window 2026-W18 lies in more than one month"),
        (("--hours", "07-10"), 2, "--hours is about a window"),
        (("--time-zone", "UTC"), 2, "--time-zone is about a window"),
        ((*MAY, "--hours", "7"), 2, "--hours 7 must be hours"),
        ((*MAY, "--weekdays", "monday"), 2, "--weekdays monday must be days"),
        (("--window", "2026-05", "--time-zone", "Berlin"), 2, "--time-zone Berlin is not the IANA name"),
        (("--window", "2026-05", "--time-zone", "as-written"), 5, "times name a zone"),
        ((*MAY, "--time-type", "days"), 2, "--time-type days is not one of local, utc, s"),
    ],
)
def test_refusals_cost_nothing(
    publish: Publish, tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    done = publish(*options, "--out", "may")
    assert words in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert not le.Ledger.open(tmp_path / "city.ledger").history()
    assert names(tmp_path) == ["city.ledger", "places.csv", "visits.csv"]


def test_exact_values_of_a_window(publish: Publish, tmp_path: Path) -> None:
    """Whatever reads visits reads those of a window."""
    options = ("--window", "2026-05-01/2026-05-03", "--time-zone", "Europe/Berlin", "--json")
    done = locentropy("entropy", "visits.csv", "--user", "uid", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cafe" in done.stdout
    assert "park" not in done.stdout


def test_a_plan_per_month() -> None:
    done = locentropy("plan", "--epsilon", "1", "--n-locations", "400", "--unit", "person-month")
    assert "for all visits of one user in one calendar month" in done.stdout.replace("\n", " ")
    assert "gets the sum over these months" in done.stdout.replace("\n", " ")


def test_a_plan_for_another_unit_is_refused(publish: Publish, tmp_path: Path) -> None:
    for unit, code in (("person", 2), ("person-month", 0)):
        made = locentropy("plan", *LIMIT, "--unit", unit, "--out", f"{unit}.yaml", cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        done = publish(*MAY, "--plan", f"{unit}.yaml", "--dry-run")
        assert done.returncode == code
        assert ("guarantees something else" in done.stderr) == (code == 2)


def test_several_months(publish: Publish, tmp_path: Path) -> None:
    """Each is charged in its own month, and all of them to whoever is there in all."""
    spring = ("--window", "2026-04/2026-06", "--windows", "month", "--time-zone", "Europe/Berlin")
    told = publish(*spring, "--dry-run")
    assert told.returncode == 0, told.stderr
    assert (
        "After this release: ε = 0.5, δ = 0 in 2026-04 and 2026-05, and ε = 0.5, δ = 0 for somebody"
        in told.stdout
    )
    done = publish(*spring, "--out", "spring", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["places"], said["windows"], said["budget_left"]["epsilon"]) == (8, "month", "0.5")
    assert said["highest"][0]["window_start"] in ("2026-04-01", "2026-05-01")
    assert "release-2026-04_2026-06-by-month.csv" in names(tmp_path / "spring")
    shown = locentropy("ledger", "show", "city.ledger", "--json", cwd=tmp_path)
    [spend] = json.loads(shown.stdout)["spends"]
    assert (spend["window"], spend["epsilon"]) == ("2026-04 to 2026-05 (2 parts), Europe/Berlin", "1")
    checked = locentropy("verify", "spring", "--ledger", "city.ledger", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    again = publish(*spring, "--out", "again")
    assert again.returncode == 7, "the person has 0.5 left, and two months cost 1"
    for options, words in (
        (("--windows", "year"), "--windows year is not one of day, week, month"),
        (("--windows", "week"), "--window 2026-04/2026-06 must begin and end where a week does"),
    ):
        refused = publish(*spring[:2], *options, *spring[4:], "--out", "x")
        assert refused.returncode == 2
        assert words in refused.stderr


def test_a_plan_of_every_month(publish: Publish, tmp_path: Path) -> None:
    """Published window by window; each must be one month, by the ledger's clock and rule."""
    made = locentropy(
        "plan", *LIMIT[:2], "--epsilon", "1.5", *LIMIT[4:], "--period", "month", "--periods", "3", "--unit",
        "person-month", "--time-zone", "Europe/Berlin", "--out", "plan.yaml", cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "each release has ε = 0.5." in " ".join(made.stdout.split())
    (tmp_path / "visits.csv").rename(tmp_path / "v.csv")
    given = ("v.csv", "--user", "uid", "--places", "places.csv", "--provenance", "x", "--plan", "plan.yaml")
    for options, words in (
        (("--window", "2026-W18"), "the window is one whole month"),
        (("--window", "2026-05", "--weekdays", "mon-fri"), "the window is one whole month"),
        ((), "the window is one whole month"),
        (("--window", "2026-05", "--time-zone", "UTC"), "counts days by the clock of Europe/Berlin"),
    ):
        done = locentropy("publish", *given, "--ledger", "city.ledger", *options, "--out", "x", cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
    months = ("2026-05", "2026-06", "2026-07")
    for month in months:
        options = ("--ledger", "city.ledger", "--window", month, "--out", month)
        done = locentropy("publish", *given, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    last = locentropy(
        "publish", *given, "--ledger", "city.ledger", "--window", "2026-08", "--out", "8", cwd=tmp_path
    )
    assert last.returncode == 7
    assert "somebody who is there in every month" in last.stderr
    rho = ("--delta", "1e-6", "--unit", "person-month", "--person-epsilon", "2", "--person-delta", "1e-6")
    other = ("rho.ledger", "--population", "x", "--epsilon", "1", *rho, "--composition", "concentrated")
    assert locentropy("ledger", "create", *other, cwd=tmp_path).returncode == 0
    done = locentropy(
        "publish", *given, "--ledger", "rho.ledger", "--window", "2026-05", "--out", "x", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "counts by the rule sum, and rho.ledger counts by concentrated" in done.stderr
