"""A page that cannot be drawn never costs a release, and `locentropy report` finds and draws pages."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import locentropy as le
from locentropy.release.report import page as pages
from locentropy.release.report.page import PageWarning, page
from tests.cli.running import in_process as locentropy

from ..making import not_private, release
from .making import HOSTILE, Parsed, town


@pytest.fixture
def unable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(made: le.Release) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(pages, "page", fail)


@pytest.mark.usefixtures("unable")
def test_a_failure_to_draw_costs_nothing_but_the_page(tmp_path: Path) -> None:
    made = release(title=HOSTILE[0])
    with pytest.warns(PageWarning, match="ZeroDivisionError"):
        directory = made.save(tmp_path / "may")
    assert le.verify(directory).ok
    assert le.Release.load(directory).to_arrow().equals(made.to_arrow())
    parsed = Parsed((directory / "report.html").read_bytes())
    assert parsed.texts["title"] == [HOSTILE[0]]
    assert not parsed.scripts
    with pytest.warns(PageWarning):
        marked = not_private().save(tmp_path / "other")
    assert "NOT PRIVATE" in (marked / "report.NOT-PRIVATE.html").read_text()


def test_a_page_is_found(tmp_path: Path) -> None:
    directory = town(20).save(tmp_path / "may")
    done = locentropy("report", directory)
    assert done.returncode == 0, done.stderr
    assert "shows its numbers" in done.stdout
    said = json.loads(locentropy("report", directory, "--json").stdout)
    assert said == {"page": str(directory / "report.html"), "state": "same", "places": 20}


def test_a_changed_page_is_noticed(tmp_path: Path) -> None:
    directory = town(20).save(tmp_path / "may")
    path = directory / "report.html"
    path.write_text(path.read_text().replace("Place 3 of 20", "My café"))
    done = locentropy("report", directory)
    assert done.returncode == 9
    assert "was changed" in done.stderr
    assert "report.html was changed" in locentropy("verify", directory).stdout


@pytest.mark.parametrize("name", ["release.csv", "manifest.yaml"])
def test_a_release_that_was_tampered_with_is_refused(name: str, tmp_path: Path) -> None:
    directory = town(20).save(tmp_path / "may")
    path = directory / name
    path.write_text(path.read_text().replace("Place 3 of 20", "My café").replace("Busy", "Quiet"))
    for more in ((), ("--out", tmp_path / "page.html")):
        done = locentropy("report", directory, *more)
        assert done.returncode == 9
        assert f"{name} was changed" in done.stderr
        assert f"locentropy verify {directory}" in done.stderr
        assert done.stdout == ""
    assert not (tmp_path / "page.html").exists()


def test_a_changed_page_can_be_drawn_anew_and_a_stray_file_is_told(tmp_path: Path) -> None:
    directory = town(20).save(tmp_path / "may")
    (directory / "report.html").write_text("another")
    (directory / "notes.txt").touch()
    done = locentropy("report", directory, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "notes.txt does not belong to the release" in done.stderr
    assert (tmp_path / "page.html").read_bytes() == page(le.Release.load(directory))


def test_a_page_of_other_numbers_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pages, "page", None)  # cannot be called
        with pytest.warns(PageWarning):
            directory = town(20).save(tmp_path / "may")
    done = locentropy("report", directory)
    assert done.returncode == 9
    assert "not the page that these numbers give" in done.stderr
    assert locentropy("report", directory, "--out", tmp_path / "page.html").returncode == 0
    assert (tmp_path / "page.html").read_bytes() == page(le.Release.load(directory))


def test_a_page_of_another_version_is_not_compared(tmp_path: Path) -> None:
    directory = town(20, software_version="0.0.1").save(tmp_path / "may")
    done = locentropy("report", directory)
    assert done.returncode == 0
    assert "another version" in done.stdout


def test_drawn_anew(tmp_path: Path) -> None:
    directory = town(20).save(tmp_path / "may")
    for name, advice in (
        ("page.txt", "as in page.html"),
        ("none/page.html", "Create it first"),
        ("may/page.html", "Choose another folder"),
    ):
        refused = locentropy("report", directory, "--out", tmp_path / name)
        assert refused.returncode == 2, name
        assert advice in refused.stderr
        assert "Traceback" not in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["may"]
    marked = not_private().save(tmp_path / "other")
    done = locentropy("report", marked, "--out", tmp_path / "page.html")
    assert done.returncode == 0
    assert "NOT PRIVATE" in done.stderr
    assert (tmp_path / "page.NOT-PRIVATE.html").stat().st_mode & 0o077 == 0
    assert locentropy("report", tmp_path / "nowhere").returncode == 9


def test_scripts_and_styles_are_in_the_wheel(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    made = Path(next(iter(WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"]))))
    packed = set(zipfile.ZipFile(made).namelist())
    assets = {
        path.relative_to(root / "src").as_posix()
        for path in (root / "src").glob("locentropy/release/report/assets/*")
    }
    assert assets
    assert assets <= packed
