"""A real Chromium, without a network, and what it noticed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def in_unit(value: float) -> str:
    """An entropy as the page shows it: the page keeps four decimals, and rounds them, halves up, as scripts do."""
    return str(Decimal(round(value, 4)).quantize(Decimal("0.01"), ROUND_HALF_UP))


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser, with an empty profile. Where there is none its tests skip, except where they must not."""
    if not Path(CHROMIUM).exists():
        if os.environ.get("LOCENTROPY_CHROMIUM") == "required":
            pytest.fail(f"{CHROMIUM} is missing")
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page in a window, and all that went wrong in it."""

    page: Any
    said: list[str] = field(default_factory=list)
    """What was written to the console, and errors of scripts."""
    asked: list[str] = field(default_factory=list)
    """Addresses that were asked for, besides the file itself."""
    refused: dict[str, str] = field(default_factory=dict)
    """Those that got no answer, and why."""

    @property
    def canvas(self) -> dict[str, float]:
        box: dict[str, float] = self.page.locator("#canvas").bounding_box()
        return box

    def look(self, lat: float, lon: float) -> tuple[float, float]:
        """Where a place must be on the canvas, by Mercator's formula and what the page says it shows."""
        x, y, scale = json.loads(self.page.locator("#canvas").get_attribute("data-view"))
        width, height = self.page.evaluate("() => [canvas.clientWidth, canvas.clientHeight]")
        away = math.asinh(math.tan(math.radians(lat))) / (2 * math.pi)
        return (
            (lon / 360 + 0.5 - x) * scale + width / 2,
            (0.5 - away - y) * scale + height / 2,
        )

    def settle(self) -> None:
        """Until what was asked for is drawn."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def colour(self, x: float, y: float) -> tuple[int, ...]:
        """The colour of the map's sheet at a point."""
        found = self.page.evaluate(
            """([x, y]) => {
                const canvas = document.getElementById("canvas");
                const ratio = canvas.width / canvas.clientWidth;
                const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
                copy.drawImage(canvas, -Math.round(x * ratio), -Math.round(y * ratio));
                return [...copy.getImageData(0, 0, 1, 1).data];
            }""",
            [x, y],
        )
        return tuple(found)

    def point(self, x: float, y: float) -> None:
        """Move the mouse to a point of the map."""
        box = self.canvas
        self.page.mouse.move(box["x"] + x, box["y"] + y)
        self.settle()

    @property
    def rows(self) -> list[list[str]]:
        """The texts of the list as it is shown."""
        found: list[list[str]] = self.page.evaluate(
            "() => [...document.querySelectorAll('#places tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))"
        )
        return found

    @property
    def first_names(self) -> list[str]:
        """Names in the list, without their ids."""
        found: list[str] = self.page.locator("#places tbody td.name bdi:not(small bdi)").all_inner_texts()
        return found


@contextmanager
def opened(browser: Any, path: Path, size: str = "desktop", **context: Any) -> Iterator[Opened]:
    """A page opened from its file, in a window of its own."""
    width, height = SIZES[size]
    window = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=size == "phone",
        is_mobile=size == "phone",
        reduced_motion="reduce",
        **context,
    )
    found = Opened(window.new_page())
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("dialog", lambda dialog: (found.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    address = path.resolve().as_uri()
    found.page.on("request", lambda request: request.url != address and found.asked.append(request.url))
    found.page.on("requestfailed", lambda request: found.refused.update({request.url: request.failure}))
    found.page.goto(address)
    if context.get("java_script_enabled", True):
        found.settle()
    try:
        yield found
    finally:
        window.close()
