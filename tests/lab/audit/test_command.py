"""The command, its page and its JSON, and what an audit says when something is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from locentropy.cli.main import app
from locentropy_lab.audit import auditing, words
from locentropy_lab.audit.run import audit
from locentropy_lab.audit.mutation.planting import Check
from locentropy_lab.audit.mutation.catalogue import CHECKS
from locentropy_lab.audit.mutation.catalogue import CATALOGUE
from locentropy_lab.audit.mutation.catalogue import Tried, sound
from locentropy_lab.audit.numerical import search
from locentropy_lab.audit.results import FULL, Audit, Settings
from locentropy_lab.audit.report import page
from locentropy_lab.audit.confidence import Attack
from tests.cli.test_commands import locentropy

LITTLE = Settings(draws=400, runs=8, teeth=400, processes=1)


@pytest.fixture(scope="module")
def found() -> Audit:
    """Too little to have teeth, and enough to look at."""
    return audit(["limit", "limit-cb"], LITTLE)


def test_a_full_audit_does_what_is_promised() -> None:
    assert FULL.draws >= 10**6
    assert FULL.runs >= 2000


def test_what_was_audited_is_told(found: Audit) -> None:
    assert [row[0] for row in words.numerical_rows(found)] == ["limit", "limit-cb"]
    assert [row[-1] for row in words.numerical_rows(found)] == ["holds", "promises nothing"]
    assert [row[0] for row in words.statistical_rows(found)] == ["limit"], (
        "where nothing is promised nothing is attacked"
    )
    assert found.mutation == ()
    assert found.teeth is not None


def test_blunt_teeth_fail_the_audit(found: Audit) -> None:
    assert found.teeth is not None
    assert not found.teeth.sharp
    assert not found.ok
    sharp = replace(found.teeth, reached=0.81, with_less_noise=1.2)
    assert replace(found, teeth=sharp).ok
    assert not replace(found, teeth=replace(sharp, reached=0.79)).ok
    assert not replace(found, teeth=replace(sharp, with_less_noise=1.0)).ok


def test_releases_must_have_teeth_if_there_are_enough(found: Audit) -> None:
    assert found.teeth is not None
    assert found.teeth.on_releases is None, "eight of them show nothing"
    sharp = replace(found.teeth, reached=0.81, with_less_noise=1.2, on_releases=1.1)
    assert sharp.sharp
    assert "a fifth of it ε ≥ 1.100, more than promised" in words.told_teeth(sharp)
    assert not replace(sharp, on_releases=0.9).sharp


def test_what_was_left_out_is_said(found: Audit) -> None:
    assert not found.complete
    assert "not a full audit" in words.told_verdict(found)
    assert "was not tried" in words.told_teeth(None)
    all_of_it = replace(sharpened(found), settings=FULL, mutation=(Tried(CATALOGUE[0], ("seen",)),))
    assert all_of_it.complete
    assert words.told_verdict(all_of_it).endswith("seconds.")


def test_parts_that_stop_fail_the_audit_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("no such thing")

    for where in (search, auditing):
        for name in ("crowd_search", "table_search", "attack_on_draws", "attack_on_releases"):
            if name in vars(where):
                monkeypatch.setattr(where, name, broken)
    monkeypatch.setitem(CHECKS, "coins have their probability", Check("", broken))
    found = audit(["limit"], LITTLE)
    assert not found.ok
    said = "stopped on ValueError: no such thing"
    assert words.numerical_rows(found)[0][3:] == ("∞", said, "NOT FINISHED")
    assert words.statistical_rows(found)[0][2] == words.statistical_rows(found)[0][4] == said
    assert found.teeth is not None
    assert not found.teeth.sharp
    assert "ValueError" in json.dumps(found.to_dict(), allow_nan=False)
    assert sound(["coins have their probability"]) == {"coins have their probability": (said,)}
    assert said in page(found)


def sharpened(found: Audit) -> Audit:
    assert found.teeth is not None
    return replace(found, teeth=replace(found.teeth, reached=0.9, with_less_noise=1.3))


def test_anything_wrong_fails_the_audit(found: Audit) -> None:
    good = sharpened(found)
    assert good.ok
    assert good.numerical[0].crowds is not None
    dear = replace(good.numerical[0], crowds=replace(good.numerical[0].crowds, kept=False, epsilon=1.1))
    shown = replace(good.statistical[0], on_releases=Attack(1.01, "", 4))
    for bad in (
        replace(good, numerical=(dear,)),
        replace(good, statistical=(shown,)),
        replace(good, checks={"noise is drawn anew": ("it is not",)}),
        replace(good, mutation=(Tried(CATALOGUE[0], ()),)),
        replace(good, mutation=(Tried(CATALOGUE[0], ("seen",), "TypeError"),)),
    ):
        assert not bad.ok
        assert bad.to_dict()["ok"] is False
        assert "FAILED" in words.told_verdict(bad)
    assert replace(good, mutation=(Tried(CATALOGUE[0], ("seen",)),)).ok


def test_the_page_needs_nothing_else_and_shows_text_as_text(found: Audit) -> None:
    fault = replace(CATALOGUE[0], name="<script>alert(1)</script>")
    text = page(replace(found, mutation=(Tried(fault, ("a & b",)), Tried(CATALOGUE[1], ()))))
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
    assert json.loads(done.stdout)["teeth"] is None
    assert "show less" in done.stderr
    assert "limit-ptr" in (tmp_path / "audit.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["audit.html"]


def test_a_failed_audit_has_an_exit_code_of_its_own(found: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    """So few draws that the attack on Limit shows nothing; and the same with teeth."""
    monkeypatch.setattr(auditing, "audit", lambda *_: found)
    assert CliRunner().invoke(app, ["audit"]).exit_code == 10
    monkeypatch.setattr(auditing, "audit", lambda *_: sharpened(found))
    assert CliRunner().invoke(app, ["audit"]).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["limit-xyz"], "none of shares"),
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
