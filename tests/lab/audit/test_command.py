"""The command, its page and its JSON, and what an audit says when something is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from locentropy.cli.main import app
from locentropy_lab.audit import report, run, search
from locentropy_lab.audit.confidence import Attack
from locentropy_lab.audit.mutation.catalogue import CATALOGUE, CHECKS, Trial, run_checks
from locentropy_lab.audit.mutation.planting import Check
from locentropy_lab.audit.report import page
from locentropy_lab.audit.results import FULL, Audit, Settings
from locentropy_lab.audit.run import run_audit
from tests.forking import locentropy

LITTLE = Settings(draws=400, runs=8, power_draws=400, processes=1)


@pytest.fixture(scope="module")
def found() -> Audit:
    """Too little to show a fault, and enough to look at."""
    return run_audit(["limit", "limit-cb"], LITTLE)


def test_a_full_audit_does_what_is_promised() -> None:
    assert FULL.draws >= 10**6
    assert FULL.runs >= 2000


def test_what_was_audited_is_told(found: Audit) -> None:
    assert [row[0] for row in report.numerical_rows(found)] == ["limit", "limit-cb"]
    assert [row[-1] for row in report.numerical_rows(found)] == ["holds", "no guarantee"]
    assert [row[0] for row in report.statistical_rows(found)] == ["limit"], (
        "where nothing is promised nothing is attacked"
    )
    assert found.mutation == ()
    assert found.power is not None


def test_weak_attacks_fail_the_audit(found: Audit) -> None:
    assert found.power is not None
    assert not found.power.sufficient
    assert not found.ok
    strong = replace(found.power, reached=0.81, with_less_noise=1.2)
    assert replace(found, power=strong).ok
    assert not replace(found, power=replace(strong, reached=0.79)).ok
    assert not replace(found, power=replace(strong, with_less_noise=1.0)).ok


def test_releases_must_show_a_fault_if_there_are_enough(found: Audit) -> None:
    assert found.power is not None
    assert found.power.on_releases is None, "eight of them show nothing"
    strong = replace(found.power, reached=0.81, with_less_noise=1.2, on_releases=1.1)
    assert strong.sufficient
    assert "a fifth of it ε ≥ 1.100, more than guaranteed" in report.power_text(strong)
    assert not replace(strong, on_releases=0.9).sufficient


def test_what_was_left_out_is_said(found: Audit) -> None:
    assert not found.complete
    assert "not a full audit" in report.verdict_text(found)
    assert "was not tried" in report.power_text(None)
    all_of_it = replace(strengthened(found), settings=FULL, mutation=(Trial(CATALOGUE[0], ("seen",)),))
    assert all_of_it.complete
    assert report.verdict_text(all_of_it).endswith("seconds.")


def test_parts_that_stop_fail_the_audit_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("no such thing")

    for where in (search, run):
        for name in ("crowd_search", "table_search", "attack_on_draws", "attack_on_releases"):
            if name in vars(where):
                monkeypatch.setattr(where, name, broken)
    monkeypatch.setitem(CHECKS, "coins have their probability", Check("", broken))
    found = run_audit(["limit"], LITTLE)
    assert not found.ok
    said = "stopped on ValueError: no such thing"
    assert report.numerical_rows(found)[0][3:] == ("∞", said, "NOT FINISHED")
    assert report.statistical_rows(found)[0][2] == report.statistical_rows(found)[0][4] == said
    assert found.power is not None
    assert not found.power.sufficient
    assert "ValueError" in json.dumps(found.to_dict(), allow_nan=False)
    assert run_checks(["coins have their probability"]) == {"coins have their probability": (said,)}
    assert said in page(found)


def strengthened(found: Audit) -> Audit:
    assert found.power is not None
    return replace(found, power=replace(found.power, reached=0.9, with_less_noise=1.3))


def test_anything_wrong_fails_the_audit(found: Audit) -> None:
    good = strengthened(found)
    assert good.ok
    assert good.numerical[0].crowds is not None
    dear = replace(good.numerical[0], crowds=replace(good.numerical[0].crowds, kept=False, epsilon=1.1))
    shown = replace(good.statistical[0], on_releases=Attack(1.01, "", 4))
    for bad in (
        replace(good, numerical=(dear,)),
        replace(good, statistical=(shown,)),
        replace(good, checks={"noise is drawn anew": ("it is not",)}),
        replace(good, mutation=(Trial(CATALOGUE[0], ()),)),
        replace(good, mutation=(Trial(CATALOGUE[0], ("seen",), "TypeError"),)),
    ):
        assert not bad.ok
        assert bad.to_dict()["ok"] is False
        assert "FAILED" in report.verdict_text(bad)
    assert replace(good, mutation=(Trial(CATALOGUE[0], ("seen",)),)).ok


def test_the_page_needs_nothing_else_and_shows_text_as_text(found: Audit) -> None:
    fault = replace(CATALOGUE[0], name="<script>alert(1)</script>")
    text = page(replace(found, mutation=(Trial(fault, ("a & b",)), Trial(CATALOGUE[1], ()))))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "a &amp; b" in text
    assert "NOT CAUGHT" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text
    assert "color-scheme: light dark" in text


def test_json_is_json(found: Audit) -> None:
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert said["numerical"][0]["claim"] == {"epsilon": "1", "delta": "0"}
    assert said["numerical"][1]["crowds"]["epsilon"] is None, "infinite"
    assert said["statistical"][0]["draws"]["many"] == 400


def test_the_command(tmp_path: Path) -> None:
    done = locentropy(
        "audit", "limit-ptr", "--fast", "--draws", 400, "--runs", 8, "--processes", 1, "--out", "audit.html", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True
    assert json.loads(done.stdout)["complete"] is False
    assert json.loads(done.stdout)["power"] is None
    assert "show less" in done.stderr
    assert "limit-ptr" in (tmp_path / "audit.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["audit.html"]


def test_a_failed_audit_has_an_exit_code_of_its_own(found: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    """So few draws that the attack on Limit shows nothing; and the same with attacks that are strong enough."""
    monkeypatch.setattr(run, "run_audit", lambda *_: found)
    assert CliRunner().invoke(app, ["audit"]).exit_code == 10
    monkeypatch.setattr(run, "run_audit", lambda *_: strengthened(found))
    assert CliRunner().invoke(app, ["audit"]).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["limit-xyz"], "Choose from shares"),
        (["--out", "nowhere/audit.html"], "the folder nowhere does not exist"),
        (["--out", "audit.pdf"], "--out audit.html"),
        (["--draws", "3"], "--draws"),
    ],
)
def test_errors_are_sentences(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = locentropy("audit", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_shows_examples() -> None:
    done = locentropy("audit", "--help")
    assert done.returncode == 0
    assert "locentropy audit --out audit.html" in done.stdout
