"""What the page lets readers do, in a real browser: background, labels, a search that acts on the map, files to take away."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from locentropy.core.background import Background
from locentropy.core.language import ENGLISH
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.release import Release
from locentropy.release.report.citation import citation
from locentropy.release.report.page import page

from .browsing import SIZES, Opened, chromium, opened
from .making import HOSTILE, Parsed, town

LAND = np.array([[-31.002, 42.99], [-30.987, 42.99], [-30.987, 43.02], [-31.002, 43.02], [-31.002, 42.99]])
RIVER = np.array([[-30.999, 42.995], [-30.995, 43.015]])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def written(folder: Path, content: bytes) -> Path:
    path = folder / "report.html"
    path.write_bytes(content)
    return path


def grounded(release: Release) -> Release:
    return release.with_background(Background(((LAND,),), (RIVER,)))


def labels(view: Opened) -> list[tuple[int, str, float, float]]:
    view.settle()
    return [tuple(each) for each in json.loads(view.page.locator("#canvas").get_attribute("data-labels"))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_outline_is_behind_the_places(scheme: Any, browser: Any, tmp_path: Path) -> None:
    release = town(60, mechanism="Shares")
    plain, drawn = page(release), page(grounded(release))
    assert len(drawn) - len(plain) < 2000
    sheets = {}
    for name, content in (("plain", plain), ("drawn", drawn)):
        folder = tmp_path / name
        folder.mkdir()
        with opened(browser, written(folder, content), color_scheme=scheme) as view:
            inside, outside = view.look(43.0035, -30.98903), view.look(43.0033, -31.00403)
            dot = view.look(*(float(release.table[axis][0].as_py()) for axis in ("lat", "lon")))
            sheets[name] = [view.colour(*at) for at in (inside, outside, dot)]
            assert view.said == []
            assert view.asked == []
    assert sheets["plain"][0] != sheets["drawn"][0]  # land
    assert sheets["plain"][1] == sheets["drawn"][1]  # sea
    assert sheets["drawn"][2] not in (sheets["drawn"][0], sheets["drawn"][1])  # the place is above it


def test_the_outline_is_on_the_side_of_the_places(browser: Any, tmp_path: Path) -> None:
    """Across the date line: places at 179.99 and -179.99, land at -179.99."""
    release = town(16, mechanism="Shares")
    lon = np.where(np.arange(16) % 2, 179.99, -179.99)
    table = release.table.set_column(
        release.table.column_names.index("lon"), "lon", pa.array(lon, pa.float64())
    )
    land = np.clip(LAND + np.array([-180 + 31.0005, 0.0]), (-180, -90), (180, 90))
    made = replace(release, table=table).with_background(Background(((land,),), ()))
    with opened(browser, written(tmp_path, page(made))) as view:
        inside, beyond = view.look(43.0015, 180.003), view.look(43.0015, 179.997)
        assert view.colour(*inside) != view.colour(*beyond)


@pytest.mark.parametrize("size", SIZES)
def test_labels_are_those_of_the_highest_and_never_overlap(size: str, browser: Any, tmp_path: Path) -> None:
    release = town(400, mechanism="Shares", names=HOSTILE)
    path = written(tmp_path, page(release))
    data = Parsed(path.read_bytes()).data
    with opened(browser, path, size) as view:
        first = labels(view)
        assert first[0][0] == 0  # the highest has the first choice
        assert [each[0] for each in first] == sorted(each[0] for each in first)
        assert len(first) == (14 if size == "desktop" else len(first))
        wide = view.page.evaluate(
            """words => { const ink = new OffscreenCanvas(1, 1).getContext("2d"); ink.font = "600 12px system-ui, sans-serif";
            return words.map(each => ink.measureText(each).width); }""",
            [each[1] for each in first],
        )
        boxes = [
            (left, top, left + width, top + 15) for (_, _, left, top), width in zip(first, wide, strict=True)
        ]
        for one, other in itertools.combinations(boxes, 2):
            assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
        across, down = view.canvas["width"], view.canvas["height"]
        for left, top, right, bottom in boxes:
            assert left >= 0
            assert top >= 0
            assert right <= across
            assert bottom <= down
        for number, words, *_ in first:
            name = data["columns"]["name"][number]
            assert words == name or (words.endswith("…") and name.startswith(words[:-1]))
    with opened(browser, path, size) as view:
        assert labels(view) == first  # the same page gives the same labels


def test_cells_without_names_have_their_ranks(browser: Any, tmp_path: Path) -> None:
    release = town(60, mechanism="Shares")
    table = release.table.drop_columns(["name"])
    cells = replace(release.statement, locations_source="grid of squares")
    with opened(browser, written(tmp_path, page(replace(release, table=table, statement=cells)))) as view:
        assert [each[1] for each in labels(view)][:2] == ["1", "2"]


@pytest.mark.parametrize("size", SIZES)
def test_search_and_filters_act_on_the_map(size: str, browser: Any, tmp_path: Path) -> None:
    kinds = pa.array(["park" if number % 3 else "café" for number in range(60)], pa.string())
    made = town(60, mechanism="Shares", attributes={"kind": kinds})
    path = written(tmp_path, page(made))
    columns = Parsed(path.read_bytes()).data["columns"]
    kept, gone = columns["a0"].index("café"), columns["a0"].index("park")
    with opened(browser, path, size) as view:

        def seen(i: int) -> tuple[int, ...]:
            return view.colour(*view.look(columns["lat"][i], columns["lon"][i]))

        before = seen(kept), seen(gone)
        view.page.get_by_label("kind").select_option(label="café")
        view.settle()
        assert seen(kept) == before[0]
        assert seen(gone) != before[1]
        assert {columns["a0"][each[0]] for each in labels(view)} == {"café"}
        view.page.locator("#canvas").scroll_into_view_if_needed()
        view.point(*view.look(columns["lat"][gone], columns["lon"][gone]))
        tip = view.page.locator("#tip")
        assert tip.is_hidden() or tip.get_attribute("data-place") != columns["id"][gone]
        view.page.get_by_label("kind").select_option(label="all")
        view.page.get_by_label("Find a place").fill(columns["name"][gone])
        view.page.locator("#found", has_text="1 found").wait_for()
        assert [each[0] for each in labels(view)] == [gone]
        view.page.get_by_label("Find a place").fill("")
        view.page.locator("#found", has_text="found").wait_for(state="hidden")
        view.settle()
        view.page.mouse.move(0, 0)
        assert len(labels(view)) > 1
        assert view.said == []


def test_error_bars_have_a_scale(browser: Any, tmp_path: Path) -> None:
    path = written(tmp_path, page(town(60, mechanism="Shares")))
    columns = Parsed(path.read_bytes()).data["columns"]
    with opened(browser, path) as view:
        ticks = view.page.locator("th.bar .scale span")
        values = [float(words) for words in ticks.all_inner_texts()]
        assert values == sorted(values)
        assert 3 <= len(values) <= 6
        boxes = [each.bounding_box() for each in ticks.all()]
        middles = [box["x"] + box["width"] / 2 for box in boxes]
        mark = view.page.locator("#places tbody tr").first.locator("line.value").bounding_box()
        at = np.interp(mark["x"] + mark["width"] / 2, middles, values)
        assert at == pytest.approx(columns["entropy"][0], abs=0.1)
        assert "nats" in view.page.locator("th.bar").inner_text()


def table_of(view: Opened) -> tuple[str, list[dict[str, str]]]:
    with view.page.expect_download() as waiting:
        view.page.get_by_role("button", name="Download this table (CSV)").click()
    found = waiting.value
    content = Path(found.path()).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")  # by which Excel knows UTF-8
    return found.suggested_filename, list(
        csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    )


def test_the_page_hands_out_its_table(browser: Any, tmp_path: Path) -> None:
    made = town(60, mechanism="Shares", counts=True, names=(*HOSTILE, 'say "hi", twice', "=1+1"))
    with opened(browser, written(tmp_path, page(made)), accept_downloads=True) as view:
        name, rows = table_of(view)
        assert name == "release-from-page.csv"
        assert view.said == []  # the policy of the page lets it
        assert all(address.startswith("blob:") for address in view.asked)
    by_id = {row["location"]: row for row in rows}
    assert len(by_id) == len(made)
    for place in made.to_arrow().to_pylist():
        row = by_id[place["location"]]
        assert row["name"] == (f"'{place['name']}" if place["name"].startswith("=") else place["name"])
        for column in ("entropy", "std_error", "low", "high", "visitors", "visits_high"):
            assert float(row[column]) == pytest.approx(place[column], abs=1e-4)
        assert float(row["effective_visitors"]) == pytest.approx(place["effective_visitors"], rel=1e-3)
    assert "not_private" not in rows[0]


def test_without_a_guarantee_the_table_is_marked(browser: Any, tmp_path: Path) -> None:
    made = town(20, guarantee=Guarantee.none("simulated noise"))
    with opened(browser, written(tmp_path, page(made)), accept_downloads=True) as view:
        name, rows = table_of(view)
    assert name == "release-from-page.NOT-PRIVATE.csv"
    assert {row["not_private"] for row in rows} == {"NOT PRIVATE"}
    assert "NOT PRIVATE" in citation(ENGLISH, made.statement)


def test_the_citation_is_copied(browser: Any, tmp_path: Path) -> None:
    made = town(
        20, mechanism="Shares", curator="Office <b>", publication_date="2026-11-16", title="Map of May"
    )
    told = citation(ENGLISH, made.statement)
    assert told.startswith("Office <b> (2026): Map of May. ")
    assert made.statement.release_id in told
    assert "ε = " in told
    permissions = {"permissions": ["clipboard-read", "clipboard-write"]}
    with opened(browser, written(tmp_path, page(made)), **permissions) as view:
        view.page.get_by_role("button", name="Copy the citation").click()
        view.page.get_by_text("Copied.", exact=True).wait_for()
        assert view.page.evaluate("navigator.clipboard.readText()") == told
        assert view.said == []
        assert view.asked == []


def test_where_the_clipboard_is_closed_the_citation_is_selected(browser: Any, tmp_path: Path) -> None:
    made = town(20, mechanism="Shares")
    with opened(browser, written(tmp_path, page(made))) as view:
        view.page.evaluate(
            "() => { navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false; }"
        )
        view.page.get_by_role("button", name="Copy the citation").click()
        view.page.get_by_text("It is selected").wait_for()
        assert view.page.evaluate("getSelection().toString()") == citation(ENGLISH, made.statement)


def test_without_scripts_there_are_no_buttons(browser: Any, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, page(grounded(town(20)))), java_script_enabled=False) as view:
        for name in ("#download", "#copy"):
            assert view.page.locator(name).is_hidden()
        assert view.page.locator("#citation").is_visible()


def test_what_was_not_said_is_not_cited() -> None:
    assert (
        citation(ENGLISH, town(5, curator="not stated", region="not stated").statement).count("not stated")
        == 0
    )
