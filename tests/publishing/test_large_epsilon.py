"""An ε above 10 is published, or budgeted, only if it is said to be meant; and whoever reads it is told what it means."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.mechanisms import LargeDeltaWarning
from locentropy.publishing.notices import (
    FewLocationsWarning,
    NotCountedWarning,
    NotPrivateWarning,
    PublishingWarning,
    UnstatedOriginWarning,
)
from locentropy.publishing.request import Request
from tests.cli.running import in_process as locentropy
from tests.publishing.making import LIMIT, Publishing, public, visits_in

FIVE = {"max_locations": 5, "max_visits": 5}
LISTED = ("--places", "places.csv", "--provenance", "the register")
SELECTED = {"delta": 1e-4, "max_locations": 3}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    visits_in(tmp_path)
    (tmp_path / "places.csv").write_text("location\nbar\ncafe\npark\npier\n")
    return tmp_path


class TestRefused:
    @pytest.mark.parametrize("epsilon", [10, "10.0", 0.5])
    def test_up_to_ten(self, epsilon: Any, again: Publishing, tmp_path: Path) -> None:
        again(mechanism=le.paper.Limit(float(epsilon), **FIVE), ledger=None)
        le.Ledger.create(tmp_path / "other.ledger", "others", epsilon)

    @pytest.mark.parametrize("epsilon", [10.0000001, 11, 50, 10_000])
    def test_above(self, epsilon: float, again: Publishing, tmp_path: Path) -> None:
        mechanism = le.paper.Limit(epsilon, **FIVE)
        with pytest.raises(ParameterError, match=r"for a release hides hardly anything.*large_epsilon=True"):
            again(mechanism=mechanism, ledger=None)
        assert not (tmp_path / "may").exists()
        again(mechanism=mechanism, ledger=None, large_epsilon=True)
        path = tmp_path / "other.ledger"
        with pytest.raises(ParameterError, match=r"for a ledger hides hardly anything.*large_epsilon=True"):
            le.Ledger.create(path, "others", epsilon)
        assert not path.exists()
        assert le.Ledger.create(path, "others", epsilon, large_epsilon=True).read().population == "others"

    def test_a_selection_counts(self, again: Publishing) -> None:
        selection = le.SelectLocations(1.0, **SELECTED)
        with pytest.raises(ParameterError, match="large_epsilon"):
            Request(le.paper.Limit(9.5, **FIVE), selection)
        Request(le.paper.Limit(9.0, **FIVE), selection)

    def test_it_is_not_part_of_the_identity(self) -> None:
        """ε is, and decides: an attempt of version 0.1 at a large ε is taken up."""
        request = Request(le.paper.Limit(50, **FIVE), public(), large_epsilon=True)
        assert "large_epsilon" not in request.identity(None)
        same = Request(LIMIT, public(), large_epsilon=True).identity(None)
        assert same == Request(LIMIT, public()).identity(None)

    def test_mechanisms_and_evaluations_are_free(self, folder: Path) -> None:
        strong = le.paper.Limit(1000, **FIVE)
        assert le.plan(strong).guarantee.epsilon == 1000
        le.evaluate(le.Visits(folder / "visits.csv"), [strong], public(), seeds=1)

    def test_an_old_ledger_is_read(self, tmp_path: Path) -> None:
        """What is refused is making one: nothing about reading changes."""
        le.Ledger.create(tmp_path / "old.ledger", "riders", 100, large_epsilon=True)
        assert le.Ledger.open(tmp_path / "old.ledger").remaining.epsilon == 100


class TestSaid:
    def test_on_the_page(self, again: Publishing, tmp_path: Path) -> None:
        again(mechanism=le.paper.Limit(50, **FIVE), ledger=None, large_epsilon=True)
        page = (tmp_path / "may" / "report.html").read_text()
        assert "hides hardly anything about one person" in page
        assert "Treat these numbers as if no noise had been added." in page
        for false in ("nearly as likely as before", "100 %", "at least 0 %", "to hide each of them"):
            assert false not in page
        assert "hides hardly anything" in (tmp_path / "may" / "manifest.yaml").read_text()
        details = (tmp_path / "may" / "details.yaml").read_text()
        assert "strength: none to speak of" in details
        assert le.verify(tmp_path / "may").ok

    @pytest.mark.parametrize(("epsilon", "word"), [(0.5, "strong"), (2, "moderate"), (8, "weak")])
    def test_smaller_ones(self, epsilon: float, word: str, again: Publishing, tmp_path: Path) -> None:
        again(mechanism=le.paper.Limit(epsilon, **FIVE), ledger=None)
        page = (tmp_path / "may" / "report.html").read_text()
        assert f"The guarantee is {word}: " in page
        assert "nearly as likely as before" not in page
        assert "A very large ε" not in page

    def test_in_plans(self) -> None:
        large, small = (le.plan(le.paper.Limit(epsilon, **FIVE)) for epsilon in (50, 1))
        assert any("--large-epsilon" in text for text in large.warnings)
        assert not any("--large-epsilon" in text for text in small.warnings)
        assert "hides hardly anything about one person" in str(large)
        assert large.to_dict()["explanation"]["strength"] == "none to speak of"
        assert small.to_dict()["explanation"]["strength"] == "strong"


class TestCommandLine:
    def test_publish(self, folder: Path) -> None:
        call = ("publish", "visits.csv", "--mechanism", "limit", "--max-locations", 3, "--max-visits", 2)
        call = (*call, *LISTED, "--no-ledger", "--epsilon", 50, "--out", "may")
        for more in ((), ("--dry-run",)):
            done = locentropy(*call, *more, cwd=folder)
            assert done.returncode == ParameterError.exit_code
            assert "--large-epsilon" in done.stderr
        assert not (folder / "may").exists()
        done = locentropy(*call, "--large-epsilon", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "hides hardly anything about one person" in done.stdout
        assert done.stderr.count("Not counted against any budget") == 1
        assert done.stderr.count("one id of the column 'uid'") == 1

    def test_ledger(self, folder: Path) -> None:
        call = ("ledger", "create", "city.ledger", "--population", "riders", "--epsilon", 11)
        done = locentropy(*call, cwd=folder)
        assert done.returncode == ParameterError.exit_code
        assert "--large-epsilon" in done.stderr
        assert not (folder / "city.ledger").exists()
        assert locentropy(*call, "--large-epsilon", cwd=folder).returncode == 0

    def test_plan(self, folder: Path) -> None:
        done = locentropy("plan", "--epsilon", 50, cwd=folder)
        assert done.returncode == 0
        assert "hides hardly anything about one person" in " ".join(done.stdout.split())
        assert "--large-epsilon" in done.stderr
        told = json.loads(locentropy("plan", "--epsilon", 50, "--json", cwd=folder).stdout)
        assert any("--large-epsilon" in text for text in told["warnings"])


class TestLargeDelta:
    """A selection warns of its δ as mechanisms do."""

    def test_of_the_selection_itself(self) -> None:
        with pytest.warns(LargeDeltaWarning, match=r"δ = 0.0001 is above one over"):
            le.SelectLocations(1.0, **SELECTED, max_users=20_000)
        le.SelectLocations(1.0, **SELECTED, max_users=10_000)
        le.SelectLocations(1.0, **SELECTED)
        with pytest.raises(ParameterError, match="max_users"):
            le.SelectLocations(1.0, **SELECTED, max_users=0)

    @pytest.mark.parametrize("users", [20_000, 10_001])
    def test_judged_by_the_number_that_the_mechanism_knows(self, users: int, again: Publishing) -> None:
        mechanism = le.paper.Limit(0.5, **FIVE, max_users=users)
        selection = le.SelectLocations(1.0, **SELECTED)
        with pytest.warns(LargeDeltaWarning) as caught:
            le.plan(mechanism, selection=selection)
        assert [Path(each.filename) for each in caught] == [Path(__file__)]
        with pytest.warns(LargeDeltaWarning):
            Request(mechanism, selection)

    def test_of_both_together(self) -> None:
        """Neither is above one over the number of users, and their sum is."""
        mechanism = le.paper.LimitSS(0.5, delta=6e-5, **FIVE, max_users=10_000)
        with pytest.warns(LargeDeltaWarning, match="0.00016"):
            le.plan(mechanism, selection=le.SelectLocations(1.0, **SELECTED))

    def test_once(self) -> None:
        with pytest.warns(LargeDeltaWarning):
            selection = le.SelectLocations(1.0, **SELECTED, max_users=20_000)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            le.plan(LIMIT, selection=selection)
            le.plan(
                le.paper.Limit(0.5, **FIVE, max_users=10_000), selection=le.SelectLocations(1.0, **SELECTED)
            )

    def test_a_default_is_not_a_number_of_people(self) -> None:
        """Shares has a bound of ten million unless the caller gives one."""
        selection = le.SelectLocations(1.0, delta=1e-6, max_locations=3)
        le.plan(le.Shares(1.0), selection=selection)
        with pytest.warns(LargeDeltaWarning):
            le.plan(le.Shares(1.0, max_users=2_000_000), selection=selection)

    @pytest.mark.parametrize("which", ["--max-users", "--select-max-users"])
    def test_command_line(self, which: str, folder: Path) -> None:
        selecting = ("--select-epsilon", 1, "--select-delta", "1e-4", "--select-max-locations", 3)
        call = (
            "--mechanism",
            "limit",
            "--epsilon",
            "0.5",
            "--max-locations",
            3,
            "--max-visits",
            2,
            *selecting,
        )
        for command in (("plan",), ("publish", "visits.csv", "--dry-run")):
            done = locentropy(*command, *call, which, 20_000, cwd=folder)
            assert done.returncode == 0, done.stderr
            assert done.stderr.count("is above one over the number of users") == 1
            done = locentropy(*command, *call, which, 10_000, cwd=folder)
            assert "is above one over" not in done.stderr

    def test_a_plan_file_keeps_it(self, tmp_path: Path) -> None:
        selection = le.SelectLocations(1.0, **SELECTED, max_users=5000)
        le.plan(LIMIT, selection=selection).to_yaml(tmp_path / "plan.yaml")
        assert le.Plan.from_yaml(tmp_path / "plan.yaml").selection == selection


class TestWarnedInPython:
    """Python warns of what concerns the guarantee where the command line does."""

    def told(self, again: Publishing, **changes: Any) -> set[type[Warning]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            again(**changes)
        assert all(Path(each.filename) == Path(__file__).with_name("conftest.py") for each in caught)
        return {each.category for each in caught}

    def test_nothing_to_say(self, again: Publishing) -> None:
        assert self.told(again) == set()

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"ledger": None}, NotCountedWarning),
            ({"locations": le.PublicLocations(["bar", "cafe", "park", "pier"])}, UnstatedOriginWarning),
            (
                {
                    "mechanism": le.paper.LimitCB(0.5, **FIVE, min_users=2, accept_no_guarantee=True),
                    "not_private": True,
                },
                NotPrivateWarning,
            ),
            ({"mechanism": le.Shares(1.0)}, FewLocationsWarning),
        ],
    )
    def test_each(self, changes: dict[str, Any], expected: type[Warning], again: Publishing) -> None:
        assert self.told(again, **changes) == {expected}

    def test_as_an_error_it_spends_nothing(self, again: Publishing, ledger: le.Ledger) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PublishingWarning)
            with pytest.raises(UnstatedOriginWarning):
                again(locations=le.PublicLocations(["bar", "cafe", "park", "pier"]))
        assert not ledger.history()
