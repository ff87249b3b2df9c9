"""The documentation as a site: built strictly, complete, and silent towards the network."""

from __future__ import annotations

import html
import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import locentropy
import locentropy.mechanisms
import locentropy.paper
import locentropy.private

from .cli.running import process
from .release.report.browsing import chromium

ROOT = Path(__file__).parent.parent
LOADING = {"src", "srcset", "data", "poster"}
LINKS_THAT_LOAD = set(
    "stylesheet icon shortcut preload modulepreload prefetch preconnect dns-prefetch".split()
)


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    # Not --quiet: warnings that are not shown are not counted either, and --strict lets them pass.
    options = ["--strict", "-f", str(config), "-d", str(site)]
    call = [sys.executable, "-m", "mkdocs", "build", *options]
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
    }  # an advertisement, and no warning about the pages
    return subprocess.run(call, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Loaded(HTMLParser):
    """The addresses that a page asks for by itself, not those that somebody may click on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = re.findall(r"(?:@import|url\()\s*['\"]?([^'\")\s]+)", text)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.found += [given[key] for key in LOADING & given.keys()]
        if tag == "link" and LINKS_THAT_LOAD & set(given.get("rel", "").split()):
            self.found.append(given.get("href", ""))


def elsewhere(text: str) -> list[str]:
    return [address for address in Loaded(text).found if re.match(r"(?:\w+:)?//", address)]


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(files) > 30
    assert {str(file): found for file in files if (found := elsewhere(file.read_text()))} == {}


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/x.css">',
        '<img src="http://example.org/x.png">',
        "@import 'https://fonts.example/x.css';",
        "a { background: url(https://example.org/x.png) }",
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(text: str) -> None:
    assert elsewhere(text)
    assert not elsewhere('<a href="https://example.org">read on</a><img src="images/x.png">')


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    text = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    for module, elsewhere in (
        (locentropy, {"__version__"}),
        (locentropy.mechanisms, {"Mechanism"}),  # it has its place as `le.Mechanism`
        (locentropy.paper, set()),
        (locentropy.private, set()),
    ):
        described = set(re.findall(rf'id="{re.escape(module.__name__)}\.(\w+)"', text))
        assert described == set(module.__all__) - elsewhere, module.__name__


def test_every_option_is_in_the_reference(site: Path) -> None:
    text = html.unescape((site / "reference" / "commands.html").read_text())
    names = ("publish", "check", "plan", "advise", "evaluate", "entropy", "verify", "report", "ledger create")
    for name in names:
        shown = text[text.index(f'id="locentropy-{name.replace(" ", "-")}"') :]
        told = process(*name.split(), "--help", columns=400).stdout
        options = set(re.findall(r"--[a-z][\w-]+", told)) - {"--help"}
        assert options
        assert {option for option in options if option not in shown.split('<h2 id="locentropy-')[0]} == set()


def test_signatures_are_those_of_python(site: Path) -> None:
    """A mechanism's parameters are shown with their defaults, and by keyword where they are."""
    text = (site / "reference" / "paper.html").read_text()
    shown = html.unescape(re.sub(r"<[^>]+>", "", text[text.index('id="locentropy.paper.LimitSS"') :]))
    parameters = shown[shown.index("LimitSS(") + len("LimitSS(") : shown.index("\n)")]
    told = [line.strip().rstrip(",") for line in parameters.splitlines() if line.strip()]
    real = inspect.signature(locentropy.paper.LimitSS).parameters.values()
    assert told[:2] == ["epsilon: float", "*"]
    assert [line.partition(":")[0] for line in told if line != "*"] == [each.name for each in real]
    assert [line.partition(" = ")[2] for line in told if line != "*"] == [
        "" if each.default is each.empty else repr(each.default) for each in real
    ]


def test_links_to_the_code_become_paths(site: Path) -> None:
    assert (
        "<code>src/locentropy/mechanisms/shares/measurements.py</code>" in (site / "shares.html").read_text()
    )
    for page in site.rglob("*.html"):
        assert not re.search(r'href="[^"]*\bsrc/locentropy', page.read_text()), page


def small(folder: Path, text: str) -> Path:
    """A site of one page, built as the real one is."""
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(text)
    config = folder / "mkdocs.yml"
    config.write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nnav: [index.md]\nplugins: []\nextra_css: []\n"
        f"hooks: [{ROOT / 'docs' / 'site_hooks.py'}]\n"
    )
    return config


@pytest.mark.parametrize("link", ["nowhere.md", "../src/locentropy/nowhere.py", "#nowhere", "/absolute.md"])
def test_a_link_that_leads_nowhere_stops_the_build(link: str, tmp_path: Path) -> None:
    done = build(small(tmp_path, f"# A page\n\n[a link]({link})\n"), tmp_path / "site")
    assert done.returncode == 1
    assert link in done.stderr


def test_pages_are_suited_to_the_site(tmp_path: Path) -> None:
    """Lists that follow a paragraph at once, headings that begin with a number, links to files, and code left alone."""
    text = "# A page\n\n## 1. Step\nSo\n- one [list](../pyproject.toml)\n- of two\n\n```text\nSo\n- [code](../README.md)\n```\n"
    done = build(small(tmp_path, text), tmp_path / "site")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    assert "<li>of two</li>" in page
    assert "list (<code>pyproject.toml</code>)" in page
    assert 'id="s-1-step"' in page
    assert "- [code](../README.md)" in page


HERE = "http://site.test/"


def serve(site: Path, route: Any) -> None:
    """Answer what is asked of the site; there is no network behind it."""
    path = site / route.request.url.removeprefix(HERE).split("?")[0]
    route.fulfill(path=path) if route.request.url.startswith(HERE) and path.is_file() else route.abort()


def find(page: Any, words: str) -> None:
    page.locator(".md-search__input").press_sequentially(words)
    page.locator(".md-search-result__item").first.wait_for()


@pytest.mark.slow
def test_from_a_file(site: Path) -> None:
    """A page that was opened by a double click finds words, and asks no network for anything."""
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for words in ("regulars", "--encoding"):
            page.goto((site / "proofs" / "shares.html").as_uri())
            find(page, words)
    assert [url for url in asked if not url.startswith(site.as_uri())] == []


@pytest.mark.slow
def test_in_a_browser(site: Path) -> None:
    """Pages load without a word of complaint and from here alone; search finds, light and dark can be switched."""
    said: list[str] = []
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page(color_scheme="dark")
        page.route("**/*", lambda route: serve(site, route))
        page.on("console", lambda message: message.type in ("error", "warning") and said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index", "tutorial", "reference/publishing", "reference/mechanisms"):
            page.goto(f"{HERE}{name}.html", wait_until="networkidle")
            assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
        find(page, "--encoding")
        page.keyboard.press(
            "Escape"
        )  # what the theme lays over the page while one searches is as wide as it likes
        for width, height in ((1280, 800), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    assert [url for url in asked if not url.startswith(HERE)] == []
