"""How a release of many places is inferred, written, drawn and opened: 1,000, 100,000 and a million places.

    python benchmarks/page.py
    python benchmarks/page.py --places 1000000

Visits are those of inference_time.py, published with real noise; places have names and coordinates. Inference, tables
and page are timed in this process, after a release of a few places. The page is then opened by a headless Chromium
(CHROMIUM names it, if it is not /usr/bin/chromium) in a window of 1280 by 800 pixels: `open` is from asking for the
file until list and map are painted; `search`, `sort`, `zoom` and `move` are from the key or click until the next
picture, the slowest of a few; memory is that of the browser's process for the page.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import psutil
import pyarrow as pa

import locentropy as le
from inference_time import made_up
from locentropy.release import files
from locentropy.release.report.page import page

PLACES = (1_000, 100_000, 1_000_000)
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
)
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
TIMED = """async ([act, until]) => {
    const painted = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const acting = eval(act), isDone = eval(until);
    await painted();
    const began = performance.now();
    acting();
    do { await painted(); } while (!isDone());
    return (performance.now() - began) / 1000;
}"""
ROUNDS = 5


class Made(NamedTuple):
    """A release, and the seconds that its parts took."""

    release: le.Release
    inference: float
    files: float
    page: float
    megabytes: float
    files_megabytes: float


def made(places: int, folder: Path) -> Made:
    """A release of so many places; its page is in the folder."""
    draw = np.random.default_rng(2)
    table = pa.table(
        {
            "location": np.arange(places),
            "name": [f"Place {at} of Street {at % 997}" for at in range(places)],
            "lat": 40.7 + 0.1 * draw.normal(size=places),
            "lon": -74.0 + 0.1 * draw.normal(size=places),
        }
    )
    spent: list[float] = []

    def estimate(self: le.Shares, *args: Any, inferred: Any = le.Shares.estimate, **options: Any) -> Any:
        began = time.perf_counter()
        found = inferred(self, *args, **options)
        spent.append(time.perf_counter() - began)
        return found

    with patch.object(le.Shares, "estimate", estimate):
        release = le.publish(
            le.Visits(made_up(places)), le.Shares(1.0), le.PublicLocations(table), ledger=None
        )
    began = time.perf_counter()
    drawn = page(release)
    drawing = time.perf_counter() - began
    (folder / "page.html").write_bytes(drawn)
    with patch.object(files, "_page", lambda release: b""):
        began = time.perf_counter()
        release.save(folder / "may")
        writing = time.perf_counter() - began
    stored = sum(path.stat().st_size for path in (folder / "may").iterdir())
    return Made(release, sum(spent), writing, drawing, len(drawn) / 1e6, stored / 1e6)


def opened(path: Path, browser: Any) -> dict[str, float]:
    """What the browser takes, in seconds and megabytes."""
    window = browser.new_page(viewport={"width": 1280, "height": 800})
    window.set_default_timeout(600_000)
    window.goto(path.resolve().as_uri())
    took = {"open": window.evaluate(PAINTED) / 1000}

    def timed(act: str, until: str = "() => true", rounds: int = ROUNDS) -> float:
        return max(float(window.evaluate(TIMED, [act, until])) for _ in range(rounds))

    def search(words: str) -> str:
        field = "document.getElementById('search')"
        return f"() => {{ {field}.value = '{words}'; {field}.dispatchEvent(new Event('input')); }}"

    found = "document.getElementById('found').textContent"
    took["search"] = timed(search("street 77"), f"() => {found} !== ''", 1)
    took["search"] = max(took["search"], timed(search("street 771"), f"() => {found} !== ''", 1))
    timed(search(""), f"() => {found} === ''", 1)
    took["sort"] = timed("() => document.querySelector('th.std_error button').click()", rounds=2)
    took["zoom"] = timed("() => document.getElementById('zoom-in').click()")
    timed("() => document.getElementById('zoom-all').click()")
    took["move"] = timed(
        "() => document.getElementById('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))"
    )
    renderers = [
        each for each in psutil.process_iter(["cmdline"]) if "--type=renderer" in (each.info["cmdline"] or ())
    ]
    took["memory"] = max(each.memory_info().rss for each in renderers) / 1e6
    window.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--places", type=int, nargs="+", default=PLACES)
    chosen = parser.parse_args()
    from playwright.sync_api import sync_playwright

    print(
        "| places | inference, s | tables, s | tables, MB | page, s | page, MB "
        "| open, s | search, s | sort, s | zoom, s | move, s | browser, MB |"
    )
    print("|" + "--:|" * 12)
    warnings.simplefilter("ignore")  # about ledgers and lists, which synthetic data has no need of
    with tempfile.TemporaryDirectory() as folder:
        made(100, Path(folder))
    for places in chosen.places:
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
            here = made(places, Path(folder))
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            took = opened(Path(folder) / "page.html", browser)
            browser.close()
        print(
            f"| {places:,} | {here.inference:.1f} | {here.files:.1f} | {here.files_megabytes:.1f} | {here.page:.1f} | "
            f"{here.megabytes:.1f} | {took['open']:.1f} | {took['search']:.2f} | {took['sort']:.2f} | "
            f"{took['zoom']:.2f} | {took['move']:.2f} | {took['memory']:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
