"""The page in a real browser: drawn, found, sorted, and silent towards the network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from locentropy.release.release import Release
from locentropy.release.report.page import page

from ..making import not_private
from .browsing import SIZES, Opened, chromium, in_unit, opened
from .making import HOSTILE, town

COUNT = 14_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def made() -> Release:
    return town(COUNT)


@pytest.fixture(scope="module")
def file(made: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.save(tmp_path_factory.mktemp("pages") / "may") / "report.html"


@pytest.fixture(params=["desktop", "phone"])
def view(request: pytest.FixtureRequest, browser: Any, file: Path) -> Iterator[Opened]:
    """The page of a large release; whatever is done to it, it stays silent."""
    with opened(browser, file, request.param) as found:
        yield found
        assert found.said == []
        assert found.asked == []


def written(directory: Path, content: bytes) -> Path:
    path = directory / "page.html"
    path.write_bytes(content)
    return path


def row(made: Release, at: int) -> dict[str, Any]:
    found: dict[str, Any] = made.to_arrow().slice(at, 1).to_pylist()[0]
    return found


def by_entropy(made: Release) -> list[dict[str, Any]]:
    return sorted(made.to_arrow().to_pylist(), key=lambda each: -each["entropy"])


SOME = np.random.default_rng(3).choice(COUNT, 25, replace=False).tolist()


def test_all_places_are_drawn(view: Opened, made: Release) -> None:
    sea = view.colour(3, view.canvas["height"] / 2)
    for at in SOME:
        x, y = view.look(row(made, at)["lat"], row(made, at)["lon"])
        assert 0 < x < view.canvas["width"]
        assert 0 < y < view.canvas["height"]
        if x > 60 and 22 < y < view.canvas["height"] - 40:  # beside the words
            assert view.colour(x, y) != sea, at
    assert len({view.colour(*view.look(row(made, at)["lat"], row(made, at)["lon"])) for at in SOME}) > 5


def test_a_dot_has_the_colour_of_its_entropy(view: Opened, made: Release) -> None:
    """Highest and lowest entropies, surely known, seen from near: dark and light."""
    ranked = [each for each in by_entropy(made) if each["std_error"] < 0.2]
    brightness = []
    for place in (ranked[0], ranked[-1]):
        view.page.get_by_label("Find a place").fill(place["location"])
        view.page.locator("#places tbody td.name button", has_text=place["name"]).first.click()
        view.settle()
        brightness.append(sum(view.colour(*view.look(place["lat"], place["lon"]))[:3]))
    assert brightness[0] < brightness[1] - 150


def test_pointing_shows_the_right_place(view: Opened, made: Release) -> None:
    for _ in range(3):
        view.page.locator("#zoom-in").click()
    view.settle()
    middle = (int(np.sqrt(COUNT)) // 2) * (int(np.ceil(np.sqrt(COUNT))) + 1)
    tip = view.page.locator("#tip")
    view.page.locator("#map").scroll_into_view_if_needed()
    side = int(np.ceil(np.sqrt(COUNT)))
    for at in (*range(middle, middle + 12), middle + 2 * side, middle - 3 * side):
        place = row(made, at)
        view.point(*view.look(place["lat"], place["lon"]))
        assert tip.locator("strong").inner_text() == place["name"]
        told = tip.inner_text()
        assert f"{in_unit(place['entropy'])} nats" in told
        assert f"{in_unit(place['low'])} to {in_unit(place['high'])}" in told
        assert place["location"] in told
    view.page.locator("#zoom-all").click()
    view.settle()
    view.point(4, view.canvas["height"] / 2)
    assert tip.is_hidden()


def test_tapping_shows_the_right_place(browser: Any, file: Path, made: Release) -> None:
    with opened(browser, file, "phone") as view:
        for _ in range(5):
            view.page.locator("#zoom-in").tap()
        view.settle()
        place = row(made, 59 * 119 + 59)
        view.page.locator("#map").scroll_into_view_if_needed()
        x, y = view.look(place["lat"], place["lon"])
        view.page.touchscreen.tap(view.canvas["x"] + x, view.canvas["y"] + y)
        view.settle()
        assert view.page.locator("#tip strong").inner_text() == place["name"]
        assert view.said == []


def test_dragging_moves_the_map(view: Opened, made: Release) -> None:
    place = row(made, 7000)
    before = view.look(place["lat"], place["lon"])
    view.page.locator("#map").scroll_into_view_if_needed()
    box = view.canvas
    view.page.mouse.move(box["x"] + 100, box["y"] + 100)
    view.page.mouse.down()
    view.page.mouse.move(box["x"] + 160, box["y"] + 130, steps=4)
    view.page.mouse.up()
    view.settle()
    assert view.look(place["lat"], place["lon"]) == pytest.approx((before[0] + 60, before[1] + 30), abs=1)


@dataclass
class Hand:
    """Fingers on the glass, as a phone reports them."""

    view: Opened

    def __post_init__(self) -> None:
        self._glass = self.view.page.context.new_cdp_session(self.view.page)

    def touch(self, kind: str, *fingers: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(fingers)]
        self._glass.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    def drag(self, fingers: Sequence[tuple[float, float]], to: Sequence[tuple[float, float]]) -> None:
        """Put fingers down one after the other and move them together; they stay."""
        for number in range(1, len(fingers) + 1):
            self.touch("Start", *fingers[:number])
        for step in range(1, 11):
            moved = [
                (x + (u - x) * step / 10, y + (v - y) * step / 10)
                for (x, y), (u, v) in zip(fingers, to, strict=True)
            ]
            self.touch("Move", *moved)
            self.view.settle()


@pytest.fixture
def phone(browser: Any, file: Path) -> Iterator[Opened]:
    """A phone with the map in the middle of the screen."""
    with opened(browser, file, "phone") as found:
        found.page.evaluate("() => document.getElementById('map').scrollIntoView({ block: 'center' })")
        found.settle()
        yield found
        assert found.said == []


def scrolled(view: Opened) -> float:
    return float(view.page.evaluate("() => scrollY"))


def looks(view: Opened) -> str:
    return str(view.page.locator("#canvas").get_attribute("data-view"))


@pytest.mark.parametrize(("dx", "dy"), [(0, -150), (120, 0)])
def test_one_finger_leaves_the_map_alone_and_says_why(phone: Opened, dx: float, dy: float) -> None:
    hint, hand, box = phone.page.locator("#two-fingers"), Hand(phone), phone.canvas
    x, y = box["x"] + 150, box["y"] + box["height"] / 2
    before, seen = scrolled(phone), looks(phone)
    assert hint.evaluate("each => getComputedStyle(each).opacity") == "0"
    hand.drag([(x, y)], [(x + dx, y + dy)])
    assert looks(phone) == seen, "the map stays"
    assert hint.evaluate("each => getComputedStyle(each).opacity") == "1"
    assert hint.inner_text() == "Use two fingers to move the map"
    hand.touch("End")
    phone.settle()
    assert hint.evaluate("each => getComputedStyle(each).opacity") == "0"
    assert (scrolled(phone) > before + 50) == (dy != 0), "the page scrolls"


def test_two_fingers_move_the_map_and_not_the_page(phone: Opened, made: Release) -> None:
    place, hand, box = row(made, 7000), Hand(phone), phone.canvas
    at, before = phone.look(place["lat"], place["lon"]), scrolled(phone)
    x, y = box["x"] + 100, box["y"] + 150
    hand.drag([(x, y), (x + 100, y)], [(x + 30, y + 80), (x + 130, y + 80)])
    assert phone.page.locator("#two-fingers").evaluate("each => getComputedStyle(each).opacity") == "0"
    hand.touch("End")
    phone.settle()
    assert scrolled(phone) == before
    assert phone.look(place["lat"], place["lon"]) == pytest.approx((at[0] + 30, at[1] + 80), abs=12)


def test_two_fingers_zoom(phone: Opened) -> None:
    hand, box = Hand(phone), phone.canvas
    scale = json.loads(looks(phone))[2]
    x, y = box["x"] + 170, box["y"] + 200
    hand.drag([(x - 30, y), (x + 30, y)], [(x - 120, y), (x + 120, y)])
    hand.touch("End")
    phone.settle()
    assert json.loads(looks(phone))[2] == pytest.approx(4 * scale, rel=0.25)
    assert phone.page.evaluate("() => visualViewport.scale") == 1, "the page is not magnified"


def test_search(view: Opened) -> None:
    search = view.page.get_by_label("Find a place")
    search.fill("place 1234 OF")
    view.page.locator("#found", has_text="1 found").wait_for()
    assert view.first_names == [f"Place 1234 of {COUNT}"]
    search.fill("place-777")
    view.page.locator("#found", has_text="11 found").wait_for()  # 777 and 7770 to 7779
    search.fill("nowhere")
    view.page.locator("#found", has_text="0 found").wait_for()
    assert view.rows == []
    search.fill("")
    view.page.locator("#range", has_text="14,000").wait_for()


def test_the_list_is_ranked_and_sorts(view: Opened, made: Release) -> None:
    ranked = by_entropy(made)
    assert view.first_names == [place["name"] for place in ranked[:25]]
    assert [cells[0] for cells in view.rows] == [str(rank) for rank in range(1, 26)]
    assert view.rows[0][3] == in_unit(ranked[0]["entropy"])
    heading = view.page.locator("th.visitors")  # on a phone entropy, its logarithm, is not shown
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert view.first_names[0] == ranked[0]["name"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert view.first_names == [place["name"] for place in ranked[::-1][:25]]
    view.page.locator("th.name button").click()
    assert view.first_names[:3] == [f"Place {number} of {COUNT}" for number in range(3)]
    view.page.locator("th.rank button").click()
    view.page.locator("#next").click()
    assert view.first_names == [place["name"] for place in ranked[25:50]]
    view.page.locator("#previous").click()
    assert view.page.locator("#previous").is_disabled()


def test_a_place_of_the_list_is_shown_on_the_map(view: Opened, made: Release) -> None:
    place = by_entropy(made)[4]
    view.page.locator("#places tbody tr").nth(4).locator("button").click()
    view.settle()
    assert view.look(place["lat"], place["lon"]) == pytest.approx(
        (view.canvas["width"] / 2, view.canvas["height"] / 2), abs=0.5
    )
    assert view.page.locator("#tip strong").inner_text() == place["name"]
    assert view.page.evaluate("document.activeElement.id") == "canvas"
    assert place["name"] in view.page.locator("#said").text_content()


def test_with_the_keyboard_alone(view: Opened) -> None:
    canvas = view.page.locator("#canvas")
    canvas.focus()
    seen = [canvas.get_attribute("data-view")]
    for key in ("+", "ArrowLeft", "ArrowUp", "-", "0"):
        view.page.keyboard.press(key)
        view.settle()
        seen.append(canvas.get_attribute("data-view"))
    assert len(set(seen)) == 5
    assert seen[-1] == seen[0], "zero shows everything again"
    view.page.locator("th.chance button").focus()
    view.page.keyboard.press("Enter")
    assert view.page.locator("th.chance").get_attribute("aria-sort") == "descending"
    view.page.locator("summary").last.focus()
    view.page.keyboard.press("Enter")
    assert view.page.locator("details pre").is_visible()
    assert "privacy_loss" in view.page.locator("details pre").inner_text()
    nameless = "() => [...document.querySelectorAll('button, input, canvas')].filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).length"
    assert view.page.evaluate(nameless) == 0


def test_nothing_is_wider_than_the_window(view: Opened) -> None:
    assert view.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    table = view.page.evaluate(
        "(() => { const s = document.querySelector('.scroll'); return s.scrollWidth - s.clientWidth; })()"
    )
    assert table <= 0


def test_light_dark_and_paper(browser: Any, file: Path) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        with opened(browser, file, color_scheme=scheme) as view:
            grounds.append(sum(view.colour(3, view.canvas["height"] / 2)[:3]))
            paper = view.page.pdf()
            assert b"/Subtype /Image\n/Width %d\n" % round(view.canvas["width"]) in paper, "the map"
            view.page.emulate_media(media="print")
            for hidden in ("#controls", "#pager", ".zoom"):
                assert view.page.locator(hidden).is_hidden()
            assert (
                view.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            )
            assert view.said == []
    assert grounds[0] > 600 > 200 > grounds[1]


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_hostile_texts_stay_texts(size: str, browser: Any, tmp_path: Path) -> None:
    made = town(len(HOSTILE) + 1, names=HOSTILE, title=HOSTILE[0], curator=HOSTILE[1], description=HOSTILE[2])
    with opened(browser, written(tmp_path, page(made)), size) as view:
        assert view.page.title() == HOSTILE[0]
        assert view.page.locator("h1").inner_text() == HOSTILE[0]
        shown = view.page.locator("#places tbody td.name bdi:not(small bdi)").all_text_contents()
        assert set(HOSTILE) < set(shown)
        tip = view.page.locator("#tip strong")
        for at, name in enumerate(shown):
            view.page.locator("#places tbody tr").nth(at).locator("button").click()
            assert tip.text_content() == name
        assert view.page.evaluate("document.scripts.length") == 3
        assert view.page.locator("img").count() == 0
        assert view.said == []


def test_what_is_not_escaped_would_still_not_run(browser: Any, tmp_path: Path) -> None:
    """The second line of defence, and that the first check can fail: texts put into the page as they are."""
    evil = b"<script>window.ran = 1</script><img src='https://example.org/x.png'><p onclick='1'></p>"
    drawn = page(town(12)).replace(b"<main>", b"<main>" + evil)
    with opened(browser, written(tmp_path, drawn)) as view:
        assert view.page.evaluate("window.ran") is None
        assert any("Content Security Policy" in said for said in view.said)
        assert view.refused == {"https://example.org/x.png": "csp"}, "refused before anybody was asked"
    start = drawn.index(b'<meta http-equiv="Content-Security-Policy"')
    without = drawn[:start] + drawn[drawn.index(b">", start) + 1 :]
    with opened(browser, written(tmp_path, without)) as view:
        assert view.page.evaluate("window.ran") == 1
        assert view.asked == ["https://example.org/x.png"]
        assert view.refused != {"https://example.org/x.png": "csp"}


def test_without_coordinates(browser: Any, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, page(town(60, coordinates=False)))) as view:
        assert view.page.locator("#canvas").count() == 0
        assert len(view.rows) == 25
        view.page.locator("th.chance button").click()
        assert view.page.locator("#places tbody button").count() == 0
        assert view.said == []


@pytest.mark.parametrize("mechanism", ["LimitPTR", "LimitSS", "Shares", "none"])
def test_other_releases(mechanism: str, browser: Any, tmp_path: Path) -> None:
    made = not_private() if mechanism == "none" else town(40, mechanism=mechanism)
    with opened(browser, written(tmp_path, page(made))) as view:
        for heading in view.page.locator("th button").all():
            heading.click()
            heading.click()
        if mechanism == "LimitPTR":
            view.page.locator("#next").click()
            assert view.rows[-1][0] == "–"
            assert view.rows[-1][2] == "withheld"
        assert view.page.locator(".banner").count() == (mechanism == "none")
        assert view.said == []
        assert view.asked == []


@pytest.mark.parametrize("size", SIZES)
def test_attributes_and_places_that_are_too_uncertain(size: str, browser: Any, tmp_path: Path) -> None:
    kinds = pa.array(
        [HOSTILE[number] if number < len(HOSTILE) else "Café" for number in range(60)], pa.string()
    )
    opened_in = pa.array([1990 + number % 2 for number in range(60)], pa.int64())
    made = town(60, mechanism="Shares", attributes={"kind": kinds, "opened": opened_in}, max_std_error=0.4)
    shown = [place for place in made.to_arrow().to_pylist() if place["entropy"] is not None]
    with opened(browser, written(tmp_path, page(made)), size) as view:
        assert "opened 199" in view.rows[0][1]
        view.page.get_by_label("Find a place").fill("cafe")
        view.page.locator("#found", has_text=f"{60 - len(HOSTILE)} found").wait_for()
        view.page.get_by_label("Find a place").fill("<script>alert(1)")
        view.page.locator("#found", has_text="1 found").wait_for()
        view.page.get_by_label("Find a place").fill("")
        view.page.locator("#range", has_text="of 60").wait_for()
        for _ in range(2):
            view.page.locator("#next").click()
        assert view.rows[-1][0] == "–"
        assert view.rows[-1][2] == "not shown: too uncertain"
        assert sum(row[0] != "–" for row in view.rows) == max(len(shown) - 50, 0)
        view.page.locator("#places tbody tr").last.locator("button").click()
        view.settle()
        told = view.page.locator("#tip").inner_text()
        assert "not shown: too uncertain" in told
        assert "kind" in told
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert view.said == []
        assert view.asked == []


@pytest.mark.parametrize("size", SIZES)
def test_columns_of_the_list_filter(size: str, browser: Any, tmp_path: Path) -> None:
    kinds = pa.array(
        [HOSTILE[number] if number < len(HOSTILE) else "Café" for number in range(60)], pa.string()
    )
    lit = pa.array([[True, False, None][number % 3] for number in range(60)], pa.bool_())
    codes = pa.array([f"code {number}" for number in range(60)], pa.string())
    made = town(60, mechanism="Shares", attributes={"kind": kinds, "lit": lit, "code": codes})
    with opened(browser, written(tmp_path, page(made)), size) as view:
        assert view.page.locator("#controls select").count() == 3
        view.page.get_by_label("lit").select_option(label="not known")
        view.page.locator("#found", has_text="20 found").wait_for()
        view.page.get_by_label("kind").select_option(label="Café")
        there = sum(
            each == "Café" and flag is None
            for each, flag in zip(kinds.to_pylist(), lit.to_pylist(), strict=True)
        )
        view.page.locator("#found", has_text=f"{there} found").wait_for()
        view.page.get_by_label("lit").select_option(label="all")
        view.page.get_by_label("Find a place").fill("code 5")
        view.page.locator("#found", has_text="found").wait_for()
        assert all("Café" in row[1] for row in view.rows)
        for label in HOSTILE:
            assert label in view.page.locator("#filter-0 option").all_text_contents()
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert view.said == []
        assert view.asked == []


@pytest.mark.parametrize("size", SIZES)
def test_bounded_counts(size: str, browser: Any, tmp_path: Path) -> None:
    made = town(60, mechanism="Shares", counts=True, max_std_error=0.4)
    by_location = {place["name"]: place for place in made.to_arrow().to_pylist()}
    with opened(browser, written(tmp_path, page(made)), size) as view:
        heading = view.page.get_by_role("button", name="Visitors, bounded")
        if size == "desktop":  # a phone has no room for them in the list
            heading.click()
            first = view.page.locator("#places tbody tr").first
            most = max(by_location.values(), key=lambda place: place["visitors"])
            assert first.locator("td.counted_visitors").inner_text() == f"{most['visitors']:,.0f}"
            interval = f"95 % interval {most['visitors_low']:,.0f} to {most['visitors_high']:,.0f}"
            assert first.locator("td.counted_visitors").get_attribute("title") == interval
            view.page.get_by_role("button", name="Rank").click()
        else:
            assert heading.count() == 0
        for _ in range(2):
            view.page.locator("#next").click()
        last = view.page.locator("#places tbody tr").last
        hidden = by_location[last.locator("bdi").first.inner_text()]
        assert hidden["entropy"] is None
        assert last.locator("td.withheld").inner_text() == "not shown: too uncertain"
        counted = last.locator("td.counted_visitors").text_content()
        assert counted == f"{hidden['visitors']:,.0f}", "counts stay"
        last.locator("button").click()
        view.settle()
        told = " ".join(view.page.locator("#tip").inner_text().split())
        assert f"visitors, bounded {hidden['visitors']:,.0f} ({hidden['visitors_low']:,.0f} to" in told
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert view.said == []
        assert view.asked == []


def test_without_scripts_the_first_ten_are_there(browser: Any, tmp_path: Path, made: Release) -> None:
    with opened(browser, written(tmp_path, page(made)), java_script_enabled=False) as view:
        names = view.page.locator("#places tbody bdi").all_text_contents()
        assert names == [place["name"] for place in by_entropy(made)[:10]]
        assert "Without scripts" in view.page.locator("noscript").inner_text()


def test_a_hundred_thousand_places(browser: Any, tmp_path: Path) -> None:
    made = town(100_000)
    with opened(browser, written(tmp_path, page(made))) as view:
        place = by_entropy(made)[0]
        assert view.first_names[0] == place["name"]
        view.page.get_by_label("Find a place").fill("place 99999 of")
        view.page.locator("#found", has_text="1 found").wait_for()
        last = row(made, 99_999)
        view.page.locator("#places tbody button").click()
        view.settle()
        assert view.page.locator("#tip strong").inner_text() == last["name"]
        view.page.get_by_label("Find a place").fill("")
        view.page.locator("th.std_error button").click()
        surest = made.to_arrow()["std_error"].to_numpy().argmin()
        view.page.locator("#range", has_text="100,000").wait_for()
        assert view.first_names[0] == row(made, int(surest))["name"]
        assert view.said == []
        assert view.asked == []
