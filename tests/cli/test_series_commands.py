"""`publish --after` and `verify --after`: a series from the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from locentropy import Shares
from locentropy.core.estimates import Measurements
from tests.cli.running import in_process as locentropy
from tests.examples import at_night
from tests.publishing.test_series import KINDS, PLACES, visits

MONTHS = ("2026-01", "2026-02")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("series")
    pq.write_table(visits().source, folder / "visits.parquet")
    rows = "".join(f"{place},{kind}\n" for place, kind in zip(PLACES, KINDS, strict=True))
    (folder / "places.csv").write_text(f"location,kind\n{rows}")
    unit = ("--unit", "person-month", "--person-epsilon", 2, "--time-zone", "as-written")
    done = locentropy(
        "ledger", "create", folder / "city.ledger", "--population", "riders", "--epsilon", 1, *unit
    )
    assert done.returncode == 0, done.stderr
    for month, after in zip(MONTHS, ((), ("--after", folder / MONTHS[0])), strict=True):
        done = publish(folder, month, *after)
        assert done.returncode == 0, done.stderr
    return folder


def publish(folder: Path, month: str, *further: object):
    return locentropy(
        "publish",
        folder / "visits.parquet",
        *("--places", folder / "places.csv", "--provenance", "the register", "--user", "uid"),
        *("--epsilon", 1, "--window", month, "--ledger", folder / "city.ledger", "--out", folder / month),
        *further,
    )


def test_a_chain_is_verified_where_it_is(made: Path) -> None:
    done = locentropy("verify", made / MONTHS[1], "--ledger", made / "city.ledger")
    assert done.returncode == 0, done.stdout
    assert "ok   series" in done.stdout
    assert "ok   ledger, release 1 (2026-01)" in done.stdout


def test_a_missing_link_is_told_with_exit_code_0(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / MONTHS[1], tmp_path / MONTHS[1])
    done = locentropy("verify", tmp_path / MONTHS[1], "--json")
    assert done.returncode == 0
    assert "Not all was checked" in " ".join(json.loads(done.stdout)["notes"])
    found = locentropy("verify", tmp_path / MONTHS[1], "--after", made / MONTHS[0])
    assert found.returncode == 0
    assert "Not all was checked" not in found.stderr


def test_another_release_than_the_one_before_is_an_error(made: Path) -> None:
    done = locentropy("verify", made / MONTHS[1], "--after", made / MONTHS[1])
    assert done.returncode == 9
    assert "is not the release before it" in " ".join(done.stdout.split())


def test_what_does_not_follow_is_refused_with_the_option_at_no_cost(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made, folder)
    for month, after, words in (
        ("2026-01", MONTHS[1], "does not begin after that of the earlier release, 2026-02"),
        ("2026-03", "nowhere", "nowhere is not a directory"),
    ):
        done = publish(folder, month, "--after", folder / after, "--out", folder / "new")
        assert done.returncode in (2, 9)
        assert words in " ".join(done.stderr.split())
        assert not (folder / "new").exists()


def test_the_ledger_refuses_a_period_beyond_the_budget_of_the_person(made: Path) -> None:
    done = publish(made, "2026-03", "--after", made / MONTHS[1])
    assert done.returncode == 7
    assert "left of ε = 2, δ = 0 for somebody who is there in every month" in " ".join(done.stderr.split())


def test_the_page_is_compared_with_the_whole_chain_or_not_at_all(made: Path, tmp_path: Path) -> None:
    done = locentropy("report", made / MONTHS[1])
    assert done.returncode == 0
    assert "is the page of this release, and shows its numbers" in " ".join(done.stdout.split())
    shutil.copytree(made / MONTHS[1], tmp_path / MONTHS[1])
    done = locentropy("report", tmp_path / MONTHS[1])
    assert done.returncode == 0
    assert "what it shows was not compared" in " ".join(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("months", [2, *at_night(12)])
def test_some_months_are_published_and_one_more_is_refused(months: int, tmp_path: Path) -> None:
    """examples/every-month.sh, on a smaller city."""
    program = shutil.which("locentropy", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("the command is not installed beside this Python")
    path = f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", ROOT / "examples" / "every-month.sh", "year"],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "PEOPLE": "150", "PLACES": "60", "MONTHS": str(months)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"ok   ledger, release {months - 1} (2025-{months - 1:02})" in done.stdout
    assert f"2025-{months:02}: whole, and its files agree." in done.stdout
    assert "Over budget" in done.stderr
    assert not (tmp_path / "year" / "2026-01").exists()


def test_a_dry_run_tells_what_it_goes_on_with(made: Path) -> None:
    done = publish(made, "2026-03", "--after", made / MONTHS[1], "--dry-run")
    assert "release 3 of a series" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_what_fails_because_of_the_series_is_finished_without_it(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uncounted(month: str, *further: object):
        return locentropy(
            "publish",
            made / "visits.parquet",
            *(
                "--places",
                made / "places.csv",
                "--provenance",
                "the register",
                "--user",
                "uid",
                "--no-ledger",
            ),
            *("--epsilon", 1, "--window", month, "--time-zone", "as-written", "--out", tmp_path / month),
            *further,
        )

    def fails(self: Shares, earlier: object, measurements: Measurements, locations: object) -> object:
        if measurements.private:
            raise OverflowError
        return estimate_after(self, earlier, measurements, locations)

    estimate_after = Shares.estimate_after
    assert uncounted("2026-01").returncode == 0
    after = ("--after", tmp_path / "2026-01")
    dry = uncounted("2026-02", *after, "--without-series", "--dry-run")
    assert dry.returncode == 2
    assert "--without-series finishes an attempt" in dry.stderr
    monkeypatch.setattr(Shares, "estimate_after", fails)
    failed = uncounted("2026-02", *after)
    assert failed.returncode == 9
    assert "the same call with --without-series" in failed.stderr
    done = uncounted("2026-02", *after, "--without-series", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["without_series"]["number"] == 2
    checked = locentropy("verify", tmp_path / "2026-02")
    assert checked.returncode == 0
    assert "was finished without that series" in " ".join(checked.stderr.split())
    assert uncounted("2026-03", "--after", tmp_path / "2026-02").returncode == 2
