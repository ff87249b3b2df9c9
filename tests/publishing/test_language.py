"""The language of a page, from the request to the files: what it changes, where it is kept, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.publishing.request import Request
from locentropy.release.release import Release
from locentropy.release.report.page import page
from tests.cli.running import in_process as locentropy
from tests.publishing.making import LIMIT, MEASURED, Killed, ledger_in, public, visits_in

PREVIOUS = Path(__file__).parents[1] / "data" / "previous"

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def publish(folder: Path, **options: Any) -> Release:
    given = {"ledger": None, "out": folder / "may"} | options
    return le.publish(visits_in(folder), le.Moments(1.0, max_locations=3, max_visits=2), public(), **given)


def test_only_the_page_has_a_language(tmp_path: Path) -> None:
    release = publish(tmp_path, language="de")
    german = tmp_path / "may"
    assert le.verify(german).ok
    assert yaml.safe_load((german / "details.yaml").read_text())["language"] == "de"
    assert release.statement.language == Release.load(german).statement.language == "de"
    english = Release.load(german).save(tmp_path / "english", language="en")
    assert le.verify(english).ok
    assert "language" not in yaml.safe_load((english / "details.yaml").read_text())
    for file in german.iterdir():
        same = file.read_bytes() == (english / file.name).read_bytes()
        assert same != (file.name in ("report.html", "details.yaml", "datapackage.json")), file.name
    assert '<html lang="de">' in (german / "report.html").read_text()
    assert '<html lang="en">' in (english / "report.html").read_text()
    packages = [json.loads((each / "datapackage.json").read_text()) for each in (german, english)]
    for package in packages:
        for resource in package["resources"]:
            if resource["path"] == "report.html":
                for fingerprint in ("hash", "bytes"):
                    resource.pop(fingerprint, None)
    assert packages[0] == packages[1], "but for the fingerprint of the page"


def test_it_is_kept_when_a_release_is_saved_or_estimated_again(tmp_path: Path) -> None:
    publish(tmp_path, language="de")
    again = Release.load(tmp_path / "may")
    assert Release.load(again.save(tmp_path / "copy")).statement.language == "de"
    assert again.reestimate().statement.language == "de"


def test_all_levels_have_it(tmp_path: Path) -> None:
    from tests.publishing.test_levels import published

    german = published(tmp_path).with_language("de")
    assert {each.statement.language for each in german.levels.values()} == {"de"}
    saved = Release.load(german.save(tmp_path / "copy"))
    assert {each.statement.language for each in saved.levels.values()} == {"de"}
    assert page(saved) == page(german)


@pytest.mark.parametrize("language", ["xx", "DE", "", None, 3])
def test_an_unknown_one_is_refused_before_anything_is_read(language: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is not one of de, en") as caught:
        le.publish(le.Visits(tmp_path / "none.csv"), LIMIT, public(), ledger=None, language=language)
    assert "\n" not in str(caught.value)


def test_an_unfinished_attempt_in_another_language_is_another_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_in(tmp_path)

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MEASURED, killed)
        with pytest.raises(Killed):
            publish(tmp_path, ledger=ledger, language="de")
    with pytest.raises(ReleaseError, match="it differs in language"):
        publish(tmp_path, ledger=ledger)
    assert publish(tmp_path, ledger=ledger, language="de").statement.language == "de"
    assert len(ledger.history()) == 1


def test_in_english_the_identity_is_as_before() -> None:
    assert "language" not in Request(LIMIT, public()).identity(None)
    assert Request(LIMIT, public(), language="de").identity(None)["language"] == "de"


@pytest.mark.parametrize("name", ["shares", "moments", "limit-ptr", "limit-cb.NOT-PRIVATE"])
def test_releases_of_earlier_versions_are_english_and_can_be_drawn_in_german(name: str) -> None:
    release = Release.load(PREVIOUS / name)
    assert release.statement.language == "en"
    german = page(release.with_language("de")).decode()
    assert '<html lang="de">' in german
    shown = german[: german.index("<pre")]
    for reason in release.statement.guarantee.reasons:
        assert reason not in shown, "worded otherwise by now, and known"


def test_an_unknown_language_in_a_file_is_an_error(tmp_path: Path) -> None:
    publish(tmp_path, language="de")
    details = tmp_path / "may" / "details.yaml"
    details.write_text(details.read_text().replace("language: de", "language: ../de"))
    with pytest.raises(ReleaseError, match="is not one of de, en"):
        Release.load(tmp_path / "may")
    assert not le.verify(tmp_path / "may").ok


# --- commands -------------------------------------------------------------------------------------------------------


def test_the_commands(tmp_path: Path) -> None:
    visits_in(tmp_path)
    (tmp_path / "places.csv").write_text("venue\nbar\ncafe\npark\npier\n")
    command = (
        "publish", tmp_path / "visits.csv", "--epsilon", 1, "--places", tmp_path / "places.csv", "--no-ledger",
        "--mechanism", "moments", "--max-locations", 3, "--max-visits", 2,
    )  # fmt: skip
    refused = locentropy(*command, "--language", "xx", "--out", tmp_path / "may")
    assert refused.returncode == 2
    assert refused.stderr.count("is not one of de, en") == 1
    assert "--language" in refused.stderr
    assert not (tmp_path / "may").exists()
    done = locentropy(*command, "--language", "de", "--out", tmp_path / "may")
    assert done.returncode == 0, done.stderr
    assert locentropy("verify", tmp_path / "may").returncode == 0
    found = locentropy("report", tmp_path / "may")
    assert found.returncode == 0, found.stderr
    assert "shows its numbers" in found.stdout
    where = locentropy("report", tmp_path / "may", "--language", "en")
    assert where.returncode == 2
    assert "--out page.html" in where.stderr
    unknown = locentropy("report", tmp_path / "may", "--language", "xx", "--out", tmp_path / "page.html")
    assert unknown.returncode == 2
    assert "is not one of de, en" in unknown.stderr
    for language, lang in (("en", "en"), ("de", "de"), (None, "de")):
        drawn = tmp_path / f"{language}.html"
        chosen = () if language is None else ("--language", language)
        assert locentropy("report", tmp_path / "may", *chosen, "--out", drawn).returncode == 0
        assert f'<html lang="{lang}">' in drawn.read_text()
    assert (tmp_path / "None.html").read_bytes() == (tmp_path / "may" / "report.html").read_bytes()
    made = locentropy("estimate", tmp_path / "may", "--language", "en", "--out", tmp_path / "again")
    assert made.returncode == 0, made.stderr
    assert Release.load(tmp_path / "again").statement.language == "en"
    assert '<html lang="en">' in (tmp_path / "again" / "report.html").read_text()
