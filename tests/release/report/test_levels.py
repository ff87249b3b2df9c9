"""The switch between levels, in a browser: each level has its own list, map and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.release.release import Release
from locentropy.release.report.page import page
from tests.publishing.test_levels import PLACES, SHARES, crowd, listed, visits

from .browsing import SIZES, chromium, in_unit, opened
from .test_browser import written

HOSTILE = "<script>document.title = 'seen'</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def made() -> Release:
    """A release of three levels, with a district whose name tries to be markup."""
    districts = [HOSTILE if each == "West" else each for each in PLACES["district"].to_pylist()]
    table = PLACES.set_column(PLACES.column_names.index("district"), "district", [districts])
    places = le.PublicLocations(table, levels=["place", "district", "city"], provenance="the register")
    with pytest.warns(UserWarning, match="Not counted"):
        return le.publish(visits(crowd()), SHARES, places, ledger=None)


@pytest.fixture(scope="module")
def file(made: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("levels"), page(made))


def current(view: Any) -> str:
    found: str = view.page.locator(".levels a[aria-current]").inner_text()
    return found


def switched(view: Any, level: str) -> None:
    view.page.get_by_role("navigation", name="Levels").get_by_role("link", name=level).click()
    view.page.locator(".levels a[aria-current]", has_text=re.compile(f"^{level}$")).wait_for()
    view.settle()


@pytest.mark.parametrize("size", SIZES)
def test_every_level_is_shown(size: str, browser: Any, file: Path, made: Release) -> None:
    with opened(browser, file, size) as view:
        assert current(view) == "place"
        assert len(view.rows) == 24
        for name, many in (("district", 3), ("city", 1), ("place", 24)):
            switched(view, name)
            assert len(view.rows) == many
            level = made.levels[name].to_arrow().to_pylist()
            highest = max(level, key=lambda row: row["entropy"])
            shown = view.rows[0][1:] if many > 1 else view.rows[0]  # a single location has no rank
            assert str(highest["location"]) in shown[0]
            assert in_unit(highest["entropy"]) in shown[2]
            words = view.page.locator("main").inner_text()
            assert "Entropy does not add up over levels" in words
            part = next(each for each in made.statement.levels if each.name == name)
            assert f"It has ε = {float(part.epsilon):g} of the budget" in words
            assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert view.page.locator("#canvas").count() == (many > 1)
            assert view.page.locator("#search").is_visible() == (many > 1)
            assert view.page.locator("svg.histogram").count() == (many > 1)
        assert view.page.title() == made.statement.title, "names stay texts"
        assert view.said == []
        assert {address.partition("#")[0] for address in view.asked} <= {file.resolve().as_uri()}


def test_a_level_has_an_address(browser: Any, file: Path) -> None:
    """It can be kept and sent, and one can go back to it; other addresses leave it as it is."""
    with opened(browser, file) as view:
        switched(view, "district")
        view.page.evaluate("location.hash = 'list'")
        view.settle()
        assert current(view) == "district"
        switched(view, "city")
        view.page.go_back()
        view.page.go_back()
        view.page.locator(".levels a[aria-current]", has_text="district").wait_for()
        view.page.goto("about:blank")  # so that the next address loads the page anew
        view.page.goto(f"{file.resolve().as_uri()}#level=99")
        assert current(view) == "place"


def test_the_list_and_the_map_of_a_level_work(browser: Any, file: Path) -> None:
    with opened(browser, file) as view:
        switched(view, "district")
        view.page.locator("#search").fill("nor")
        view.page.locator("#found", has_text="1 found").wait_for()
        view.page.locator("#places tbody tr").first.locator("button").click()
        view.settle()
        assert "North" in view.page.locator("#tip").inner_text()
        assert view.said == []


def test_without_scripts_it_says_where_the_others_are(browser: Any, file: Path) -> None:
    with opened(browser, file, java_script_enabled=False) as view:
        assert "shows one level only" in view.page.locator("main").inner_text()


def test_a_page_of_one_level_has_no_switch() -> None:
    with pytest.warns(UserWarning, match="Not counted"):
        made = le.publish(visits(crowd()), SHARES, listed(levels=(), group="district"), ledger=None)
    text = page(made).decode()
    for word in ('class="levels"', "level=", "<template", "MAIN_LEVEL"):
        assert word not in text
