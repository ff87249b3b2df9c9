"""The switch between windows, in a browser: each window has its own list, map and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from locentropy.release.release import Release
from locentropy.release.report.page import page
from locentropy.release.report.windows import by_window
from tests.publishing.test_several_windows import MONTHS, published

from .browsing import SIZES, chromium, in_unit, opened
from .test_browser import written


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return published("person-month", tmp_path_factory.mktemp("windows"))[0]


@pytest.fixture(scope="module")
def file(made: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), page(made))


@pytest.mark.parametrize("size", SIZES)
def test_every_window_is_shown(size: str, browser: Any, file: Path, made: Release) -> None:
    with opened(browser, file, size) as view:
        for month, shown in zip(MONTHS, by_window(made), strict=True):
            view.page.get_by_role("navigation", name="Windows").get_by_role("link", name=month).click()
            view.page.locator(".levels a[aria-current]", has_text=re.compile(f"^{month}$")).wait_for()
            view.settle()
            ranked = sorted(shown.to_arrow().to_pylist(), key=lambda row: -row["entropy"])
            assert [row[3] for row in view.rows] == [in_unit(row["entropy"]) for row in ranked]
            assert ranked[0]["location"] in view.rows[0][1]
            text = view.page.content()
            assert f"{month}, Europe/Berlin" in view.page.locator(".facts").inner_text()
            assert "release-2026-03_2026-06-by-month.csv" in text, "the table beside it has all windows"
            assert "Each month is measured by itself" in text
