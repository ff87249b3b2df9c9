"""The page of a series, in a browser: a line for each place, marks of change, and a switch between periods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from locentropy.release.chain import find_earlier
from locentropy.release.release import Release
from locentropy.release.report import series
from locentropy.release.report.page import page
from tests.publishing.test_series import MONTHS, PLACES, new_ledger, publish

from .browsing import SIZES, Opened, chromium, opened
from .test_browser import written

CHANGED = {"p00": "rose", "p01": "fell", "p02": "closed"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The third release of a series, with some changes to be shown."""
    folder = tmp_path_factory.mktemp("series")
    new_ledger(folder)
    before = None
    for month in MONTHS:
        before = publish(folder, month, before)
    last = Release.load(folder / MONTHS[-1])
    changes = [CHANGED.get(place, "none") for place in last.table["location"].to_pylist()]
    at = last.table.column_names.index("change")
    shown = replace(last, table=last.table.set_column(at, "change", pa.array(changes)))
    return shown.with_earlier(find_earlier(last.statement, folder / MONTHS[-1]).releases)


@pytest.fixture(scope="module")
def file(made: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), page(made))


@pytest.fixture(params=[*SIZES])
def view(request: pytest.FixtureRequest, browser: Any, file: Path) -> Iterator[Opened]:
    with opened(browser, file, request.param) as found:
        yield found
        assert found.said == []
        assert found.asked == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= SIZES[request.param][0]


def points(view: Opened, row: int = 0) -> list[str]:
    found: str = view.page.locator("td.trend polyline").nth(row).get_attribute("points")
    return found.split()


def test_every_place_has_a_line_over_all_periods(view: Opened, made: Release) -> None:
    assert view.page.locator("td.trend svg").count() == len(PLACES)
    assert len(points(view)) == len(MONTHS)
    label = view.page.locator("td.trend svg").first.get_attribute("aria-label")
    values = [each.to_arrow().to_pylist() for each in (*made.earlier, made)]
    highest = max(values[-1], key=lambda row: row["entropy"])["location"]
    told = [next(row["entropy"] for row in rows if row["location"] == highest) for rows in values]
    expected = "; ".join(f"{month}: {value:.2f}" for month, value in zip(MONTHS, told, strict=True))
    assert label == f"Entropy in nats. {expected}"


def test_changes_are_marked_and_come_first_when_sorted(view: Opened) -> None:
    marks = view.page.locator("td.name .chip").all_inner_texts()
    assert sorted(marks) == ["closed", "fell", "rose"]
    view.page.locator("th.trend button").click()
    assert set(view.first_names[:3]) == set(CHANGED)


def test_the_switch_shows_another_period_as_it_was_published(view: Opened, made: Release) -> None:
    links = view.page.get_by_role("navigation", name="Periods").get_by_role("link")
    assert links.all_inner_texts() == list(MONTHS)
    assert view.page.locator(".levels a[aria-current]").inner_text() == MONTHS[-1]
    links.first.click()
    view.page.wait_for_function("document.querySelector('.levels a[aria-current]').innerText === '2026-01'")
    view.settle()
    assert "the first release of this series" in view.page.locator(".levels ~ .hint").first.inner_text()
    assert view.page.locator("td.name .chip").count() == 0
    first = max(made.earlier[0].to_arrow().to_pylist(), key=lambda row: row["entropy"])
    assert view.first_names[0] == first["location"]
    circle = view.page.locator("td.trend circle").first.get_attribute("cx")
    assert circle == points(view)[0].split(",")[0], "the mark is at the period that is shown"


def test_the_page_says_what_holds_for_somebody_always_there(view: Opened) -> None:
    told = view.page.locator(".promise").inner_text()
    assert "for somebody there in every month, all releases together: ε = 4" in told


def test_without_the_earlier_ones_the_page_says_so_and_still_works(
    browser: Any, made: Release, tmp_path: Path
) -> None:
    alone = written(tmp_path, page(made.with_earlier(())))
    with opened(browser, alone) as view:
        assert view.said == []
        assert "2 earlier releases of this series are not shown" in view.page.locator("main").inner_text()
        assert view.page.locator("td.name .chip").count() == len(CHANGED)
        assert view.page.locator("td.trend").count() == 0


def test_a_page_shows_the_latest_periods(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MOST_PERIODS", 2)
    shown = page(made).decode()
    assert "2026-01" not in shown.split("<table")[0].split("<nav")[1]
    assert "An earlier release of this series is not shown" in shown


def test_the_same_release_gives_the_same_page(made: Release) -> None:
    assert page(made) == page(made)
