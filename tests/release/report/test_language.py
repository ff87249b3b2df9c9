"""Pages in other languages, in a browser: nothing of English is left, and numbers are written as there.

A made-up language has each letter of English in a wider form. Whatever letter is left on its page in the usual form does
not come from the catalogue: it is the owner's, a name of the interface, or a word that was written elsewhere by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter, ascii_letters
from typing import Any

import pytest

from locentropy.core.language import ENGLISH, Text, Words, words_in
from locentropy.release.release import Release
from locentropy.release.report import page as pages
from tests.examples import at_night

from .browsing import SIZES, Opened, chromium, opened
from .every_kind import greek, published, stated

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

PUBLISHED = [
    "levels", "groups", "leaning", "selected", "excluded", "zones", "grid", "box", "h3", "inspire", "windows",
    "by-month", "mapped", "series",
]  # fmt: skip
KINDS = [*stated(), *PUBLISHED]
AT_NIGHT = ["moments", "smooth", "weak", "moderate", "few", "outlined", "leaning"]
"""Kinds whose pages have no word that no other has: `test_the_kinds_before_a_push_have_all_words`."""
GERMAN_BEFORE_A_PUSH = [
    "shares", "counts", "ptr", "none", "large", "monthly", "nobody", "columns", "levels", "selected", "zones",
    "grid", "by-month", "series",
]  # fmt: skip
"""Kinds that differ in their numbers and parts. Their words are all in the catalogue, whichever kind they are on."""
WIDE = {ord(letter): chr(ord(letter) + 0xFEE0) for letter in ascii_letters}
GERMAN = words_in("de")

TEXTS = """() => {
    const found = [];
    const told = ["aria-label", "title", "placeholder", "aria-roledescription", "data-done", "data-selected"];
    const walk = (node) => {
        if (node.nodeType === 3) found.push(node.textContent);
        if (node.nodeType !== 1 || ["SCRIPT", "STYLE", "PRE", "CODE"].includes(node.tagName)) return;
        for (const name of told) if (node.hasAttribute(name)) found.push(node.getAttribute(name));
        for (const child of (node.tagName === "TEMPLATE" ? node.content : node).childNodes) walk(child);
    };
    walk(document.documentElement);
    return found.map((text) => text.trim()).filter((text) => text);
}"""
"""All that a page shows or tells, but for the manifest and names of files; of every level and window."""

INTERFACE = re.compile(
    r"\b[a-z_]+ ?= ?[^;,)]+"  # parameters, with their values
    r"|\b[0-9a-f]{32,}\b|docs/proofs/[\w-]+\.md|\bplace-\d+|\bW\d\d\b|\bEurope/Berlin\b|\bUTC\b"
    r"|\b(?:LimitPTR|LimitSS|LimitCB|Limit|Moments|Shares)\b|\b[0-9.]+(?:dev\d+)?\b"
    r"|\bplace\b|\bcity\b|\bd\d-\d\b|\bZone d\d-\d\b|\b[0-9a-f]{15}\b|\b1kmN\d+E\d+\b|\"\w+\"|\b1km\b"
    r"|\bcoordinates\b|\b\d+e-\d+|\be\^"
    r"|<code>.*?</code>|<[^>]*>"  # where scripts run, what is meant for those without is one text
)
"""What is neither words of the page nor of the owner: names that the interface has, ids of cells and zones."""


def widened(text: Text) -> Text:
    """A text with wide letters, and the same names in it."""
    if isinstance(text, dict):
        return {variant: str(widened(each)) for variant, each in text.items()}
    parts = Formatter().parse(text)
    return "".join(literal.translate(WIDE) + (f"{{{name}}}" if name else "") for literal, name, *_ in parts)


WIDER = replace(
    ENGLISH, language="en-x-wide", texts={key: widened(text) for key, text in ENGLISH.texts.items()}
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Release]:
    return stated() | published(tmp_path_factory.mktemp("published"))


def drawn(release: Release, folder: Path, say: Words, monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as patched:
        patched.setattr(pages, "words_in", lambda language: say)
        (folder / "page.html").write_bytes(pages.page(release))
    return folder / "page.html"


def told_by(view: Opened) -> list[str]:
    """All that a page says, before and after a place was asked for, and one was searched."""
    found: list[str] = view.page.evaluate(TEXTS)
    shown = view.page.locator("#places tbody button")
    for at in {0, 1, 2, max(shown.count() - 1, 0)} if shown.count() else ():
        if at < shown.count():
            shown.nth(at).click()
            view.settle()
            found += view.page.evaluate(TEXTS)
    if view.page.locator("#search").is_visible():
        for text in ("1", "nowhere"):
            view.page.locator("#search").fill(text)
            view.page.wait_for_function("() => document.getElementById('found').textContent")
            view.page.wait_for_timeout(100)
            found += view.page.evaluate(TEXTS)
    assert view.said == []
    assert view.asked == []
    return found


@pytest.mark.parametrize("kind", [*(kind for kind in KINDS if kind not in AT_NIGHT), *at_night(*AT_NIGHT)])
def test_all_words_of_a_page_are_in_the_catalogue(
    kind: str, made: dict[str, Release], browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drawn(made[kind], tmp_path, WIDER, monkeypatch)
    with opened(browser, path) as view:
        for text in told_by(view):
            left = re.findall("[A-Za-z]{2,}", INTERFACE.sub(" ", text))
            assert left == [], text


def sentences() -> set[str]:
    """Pieces of English texts that no German text has, of three words or more, or a sentence's."""
    german = " ".join(
        each
        for text in GERMAN.texts.values()
        for each in (text.values() if isinstance(text, dict) else [text])
    )
    return {
        piece
        for text in ENGLISH.texts.values()
        for each in (text.values() if isinstance(text, dict) else [text])
        for piece, *_ in Formatter().parse(each)
        if len(re.findall("[A-Za-z]{2,}", piece)) >= 3 and piece.strip() not in german
    }


def test_the_kinds_before_a_push_have_all_words(
    made: dict[str, Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is tried at night only has no text, and no variant of one, that is not on another page as well.

    How useful a release is depends on its noise, and so does the variant that says so.
    """
    used: set[tuple[str, str | None]] = set()
    find = Words._text

    def noted(self: Words, key: str, of: str | None = None) -> str:
        used.add((key, None if key.startswith("useful.") else of))
        return find(self, key, of)

    monkeypatch.setattr(Words, "_text", noted)
    for kinds in ([kind for kind in KINDS if kind not in AT_NIGHT], AT_NIGHT):
        before = set(used)
        for kind in kinds:
            pages.page(made[kind].with_language("de"))
    assert before
    assert used == before


@pytest.mark.parametrize(
    "kind", [*GERMAN_BEFORE_A_PUSH, *at_night(*(kind for kind in KINDS if kind not in GERMAN_BEFORE_A_PUSH))]
)
def test_no_english_is_left_on_a_german_page(
    kind: str, made: dict[str, Release], browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_bytes(pages.page(made[kind].with_language("de")))
    with opened(browser, tmp_path / "page.html") as view:
        assert view.page.locator("html").get_attribute("lang") == "de"
        assert view.page.locator("pre").get_attribute("lang") == "en"
        told = "\n".join(told_by(view))
        assert [piece for piece in sentences() if piece.strip() in told] == []
        # Numbers: what is left of them with a point are versions, parameters, and thousands.
        without = INTERFACE.sub(" ", told.replace("locentropy", ""))
        assert re.findall(r"\d\.\d{1,2}\b(?!\.)", without) == []
        assert re.findall(r"\d,\d{3}\b", re.sub(r"0,\d+", "", without)) == []


def test_a_german_page_counts_and_measures_as_germans_do(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(
        pages.page(greek(1500, counts=True, mechanism="Shares", language="de"))
    )
    with opened(browser, tmp_path / "page.html") as view:
        assert view.page.locator(".facts").inner_text() == (
            "1.500 Orte · Ελλάδα · veröffentlicht von Δήμος · 15.11.2026"
        )
        assert view.page.locator("#range").inner_text() == "1–25 von 1.500"
        for cell in view.page.locator("td.entropy").all_inner_texts():
            assert re.fullmatch(r"\d+,\d\d", cell)
        for cell in view.page.locator("td.std_error").all_inner_texts():
            assert re.fullmatch(r"± \d,\d\d\d?", cell)
        view.page.locator("#search").fill("№7")
        view.page.locator("#found", has_text="gefunden").wait_for()
        view.page.locator("#places tbody button").first.click()
        view.settle()
        tip = " ".join(view.page.locator("#tip").inner_text().split())
        assert re.search(
            r"Rang [\d.]+=? von 1\.500 Entropie \d+,\d\d Nat 95-%-Intervall \d+,\d\d bis \d+,\d\d", tip
        )
        assert (
            "Differentiell privat, ε = 0,3: Die Garantie ist stark:"
            in view.page.locator(".promise").inner_text()
        )
        assert view.said == []


@pytest.mark.parametrize("size", ["phone", *at_night("desktop")])
@pytest.mark.parametrize("kind", ["counts", "monthly", "levels", "series", "shares", "none"])
def test_nothing_is_wider_than_the_window(
    kind: str, size: str, made: dict[str, Release], browser: Any, tmp_path: Path
) -> None:
    """German words are long."""
    (tmp_path / "page.html").write_bytes(pages.page(made[kind].with_language("de")))
    with opened(browser, tmp_path / "page.html", size) as view:
        assert view.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
        for summary in view.page.locator("summary").all():
            summary.click()
        assert view.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]


def test_without_scripts(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(pages.page(greek(language="de")))
    with opened(browser, tmp_path / "page.html", java_script_enabled=False) as view:
        assert (
            "Ohne Skripte zeigt diese Seite nur die ersten Orte."
            in view.page.locator("noscript").inner_text()
        )
        assert re.fullmatch(r"\d,\d\d", view.page.locator("tbody tr").first.locator("td").nth(3).inner_text())
