"""An audit asks for what it reports, and its verdict rests on all of it. Searches and attacks are stand-ins here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from locentropy.cli.main import app
from locentropy.privacy.guarantee import Guarantee
from locentropy_lab.audit import report, run
from locentropy_lab.audit.attack_draws import Drawn
from locentropy_lab.audit.confidence import Attack
from locentropy_lab.audit.mutation.catalogue import CATALOGUE, Trial
from locentropy_lab.audit.mutation.noise_faults import ONE_FIFTH, TWO_THIRDS
from locentropy_lab.audit.results import FAST, FULL, Audit, Power, Settings, Statistical
from locentropy_lab.audit.search import Cost, Numerical
from locentropy_lab.audit.subjects import SELECTION, at_defaults, subject_names

DRAWS, POWER, PROCESSES = 1000, 5000, 3
BY_DRAWS = {(DRAWS, None): 0.04, (POWER, None): 0.9, (POWER, TWO_THIRDS.name): 1.4}
BY_RELEASES = {None: 0.02, ONE_FIFTH.name: 2.3}
KEPT = Cost(epsilon=0.5, reached=0.5, kept=True, tried=1, worst="somebody")
LIMIT = at_defaults("limit").guarantee
Asked = list[tuple[str, str, int, str | None]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Stand-ins that show what BY_DRAWS and BY_RELEASES say, and note what they are asked."""
    noted: Asked = []

    def draws(
        subject: Any, many: int, *, processes: int, few: int, fault: str | None, progress: Any
    ) -> Drawn:
        assert processes == PROCESSES
        assert few != many
        noted.append(("draws", subject.name, many, fault))
        return Drawn(Attack(BY_DRAWS[many, fault], "", many), many, float(few))

    def releases(
        subject: Any, runs: int, *, processes: int, fault: str | None, progress: Any
    ) -> tuple[Attack, int]:
        assert processes == PROCESSES
        noted.append(("releases", subject.name, runs, fault))
        return Attack(BY_RELEASES[fault], "", runs), runs

    monkeypatch.setattr(run, "attack_on_draws", draws)
    monkeypatch.setattr(run, "attack_on_releases", releases)
    monkeypatch.setattr(run, "spread", _in_this_process)
    monkeypatch.setattr(
        run,
        "searched_for",
        lambda name, _: Numerical(name, at_defaults(name).guarantee, None, KEPT),
    )
    monkeypatch.setattr(run, "CATALOGUE", CATALOGUE[:1])
    monkeypatch.setattr(run, "run_checks", lambda names, _: dict.fromkeys(names, ()))
    monkeypatch.setattr(run, "try_fault", lambda fault: Trial(fault, ("seen",)))
    return noted


def _in_this_process(
    work: Callable[..., Any], jobs: list[tuple[Any, ...]], processes: int, _: Any
) -> list[Any]:
    assert processes == PROCESSES
    return [work(*job) for job in jobs]


def test_what_is_asked_for(asked: Asked) -> None:
    found = run.run_audit((), Settings(DRAWS, FULL.runs, POWER, PROCESSES))
    attacked = [name for name in subject_names() if at_defaults(name).guarantee.private]
    assert asked[: 2 * len(attacked)] == [
        each
        for name in attacked
        for each in (("draws", name, DRAWS, None), ("releases", name, FULL.runs, None))
    ]
    assert asked[2 * len(attacked) :] == [
        ("draws", "limit", POWER, None),
        ("draws", "limit", POWER, TWO_THIRDS.name),
        ("releases", "limit", FULL.runs, ONE_FIFTH.name),
    ]
    assert [each.name for each in found.numerical] == list(subject_names())
    assert [(each.on_draws.epsilon, each.on_releases.epsilon) for each in found.statistical] == [
        (0.04, 0.02)
    ] * len(attacked)
    assert {(each.draws, each.with_few, each.runs) for each in found.statistical} == {
        (DRAWS, FULL.runs, FULL.runs)
    }
    assert found.power == Power(1.0, 0.9, 1.4, 2.3)
    assert found.mutation == (Trial(CATALOGUE[0], ("seen",)),)
    assert found.checks == {CATALOGUE[0].caught_by: ()}
    assert found.ok


def test_many_draws_are_not_drawn_twice(asked: Asked) -> None:
    found = run.run_audit(["limit"], Settings(POWER, FULL.runs - 1, POWER, PROCESSES))
    assert asked == [
        ("draws", "limit", POWER, None),
        ("releases", "limit", FULL.runs - 1, None),
        ("draws", "limit", POWER, TWO_THIRDS.name),
    ]
    assert found.power == Power(1.0, 0.9, 1.4, None)
    assert found.mutation == (), "faults are those of the whole software"


def test_without_limit_there_is_no_power_to_show(asked: Asked) -> None:
    assert run.run_audit(["shares"], Settings(DRAWS, 8, POWER, PROCESSES)).power is None
    assert len(asked) == 2


ATTACKED = Statistical("limit", LIMIT, LIMIT, Attack(0.9, "", 9), 9, 0.1, Attack(0.3, "", 9), 9)
GOOD = Audit(
    FULL,
    (Numerical("limit", LIMIT, KEPT, KEPT),),
    (ATTACKED,),
    Power(1.0, 0.9, 1.4, 2.3),
    {"noise is drawn anew": ()},
    (Trial(CATALOGUE[0], ("seen",)),),
    60.0,
)


def test_a_full_audit_that_passes() -> None:
    assert GOOD.ok
    assert GOOD.complete
    assert report.verdict_text(GOOD) == "Passed: the audit took 60 seconds."
    assert report.power_text(GOOD.power).endswith("more than guaranteed: the attacks can show a fault.")
    assert report.faults_text(GOOD).startswith("1 of 1 planted faults were caught")
    assert "1 of 1 checks find nothing wrong" in report.faults_text(GOOD)


@pytest.mark.parametrize(
    "part",
    [
        replace(GOOD, settings=replace(FULL, draws=FULL.draws - 1)),
        replace(GOOD, settings=replace(FULL, runs=FULL.runs - 1)),
        replace(GOOD, power=None),
        replace(GOOD, mutation=()),
    ],
    ids=["draws", "runs", "power", "mutation"],
)
def test_whatever_is_left_out_makes_it_incomplete(part: Audit) -> None:
    assert part.ok
    assert not part.complete
    assert part.to_dict()["complete"] is False
    assert "not a full audit" in report.verdict_text(part)


@pytest.mark.parametrize("search", ["crowds", "tables"])
def test_either_search_can_break_a_promise(search: str) -> None:
    dear: dict[str, Any] = {search: replace(KEPT, kept=False)}
    assert not replace(GOOD, numerical=(replace(GOOD.numerical[0], **dear),)).ok


@pytest.mark.parametrize("attack", ["on_draws", "on_releases"])
def test_either_attack_can_break_a_promise(attack: str) -> None:
    for shown, kept in ((1.0, True), (1.001, False)):
        seen: dict[str, Any] = {attack: Attack(shown, "", 9)}
        assert replace(ATTACKED, **seen).kept is kept


def test_draws_of_a_selection_must_not_show_what_releases_may() -> None:
    """Releases promise less: something that costs extra follows a selection."""
    selection = replace(ATTACKED, name=SELECTION, claim=Guarantee.pure("0.2"), released=Guarantee.pure("0.3"))
    for by_draws, by_releases, kept in ((0.15, 0.25, True), (0.25, 0.25, False), (0.15, 0.35, False)):
        attacks = {"on_draws": Attack(by_draws, "", 9), "on_releases": Attack(by_releases, "", 9)}
        assert replace(selection, **attacks).kept is kept


def test_what_is_wrong_is_said() -> None:
    missed = replace(GOOD, mutation=(*GOOD.mutation, Trial(CATALOGUE[1], ())))
    assert report.faults_text(missed).startswith("1 of 2 planted faults were caught")
    alarmed = report.faults_text(replace(GOOD, checks={"a": (), "b": ("it is not",)}))
    assert "1 of 2 checks find nothing wrong" in alarmed
    assert "b: it is not" in alarmed
    assert "NOT enough" in report.power_text(Power(1.0, 0.5, 1.4, 2.3))


def test_what_stopped_is_not_called_broken() -> None:
    stopped = replace(KEPT, epsilon=math.inf, kept=False, tried=0)
    dear = replace(KEPT, kept=False)
    for crowds, tables, verdict in (
        (KEPT, stopped, "NOT FINISHED"),
        (dear, stopped, "BROKEN"),
        (KEPT, dear, "BROKEN"),
    ):
        found = replace(GOOD, numerical=(Numerical("limit", LIMIT, crowds, tables),))
        assert not found.ok
        assert report.numerical_rows(found)[0][-1] == verdict
    nothing, beyond, within = Attack(math.inf, "stopped", 0), Attack(1.1, "", 9), Attack(0.1, "", 9)
    for on_draws, on_releases, verdict in (
        (nothing, within, "NOT FINISHED"),
        (nothing, beyond, "BROKEN"),
        (beyond, within, "BROKEN"),
    ):
        attacked = replace(ATTACKED, on_draws=on_draws, on_releases=on_releases)
        found = replace(GOOD, statistical=(attacked,))
        assert not found.ok
        assert report.statistical_rows(found)[0][-1] == verdict


@pytest.mark.parametrize("more", [[], ["--json"], ["--out", "audit.html"]])
def test_a_failed_audit_is_told_and_written_and_fails(
    more: list[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "run_audit", lambda *_: replace(GOOD, power=Power(1.0, 0.5, 1.4, 2.3)))
    done = CliRunner().invoke(app, ["audit", *more])
    assert done.exit_code == 10
    assert '"ok": false' in done.stdout if "--json" in more else "FAILED" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == more[1:]


@pytest.mark.parametrize(
    ("given", "used", "warned"),
    [
        ([], FULL, False),
        (["--processes", "7"], replace(FULL, processes=7), False),
        (["--runs", "100"], replace(FULL, runs=100), True),
        (["--draws", "1000"], replace(FULL, draws=1000), True),
        (["--fast"], FAST, True),
        (["--fast", "--runs", "50"], replace(FAST, runs=50), True),
    ],
)
def test_options_are_heeded(
    given: list[str], used: Settings, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_audit(names: list[str], settings: Settings, _: Any) -> Audit:
        assert settings == used
        return replace(GOOD, settings=settings)

    monkeypatch.setattr(run, "run_audit", run_audit)
    done = CliRunner().invoke(app, ["audit", *given])
    assert done.exit_code == 0, done.output
    assert ("Fewer draws or releases" in done.stderr) is warned
