"""Releases to draw pages of."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa

from locentropy.core.estimates import AttributeEffect, Estimates
from locentropy.core.locations import Locations
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.release.release import Release

from ..making import parameters, statement

COUNTED = Shares(1.0, counts=0.2, max_locations=10, max_visits=5)

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    '"><svg onload=alert(4)>',
    "<!--<script>",
    "]]></script>",
    "{{7*7}} ${alert(5)} $title",
    "line\u2028paragraph\u2029end",
    "right\u202eleft",
    "&lt;b&gt; &amp; 'quotes' \"more\"",
    "\\u003cscript\\u003e",
)


def town(
    count: int,
    *,
    mechanism: str = "Moments",
    names: Any = None,
    coordinates: bool = True,
    attributes: Any = None,
    explained: float = 0.5,
    counts: bool = False,
    **words: Any,
) -> Release:
    """A release of places that lie near the knots of a grid, so that each can be told apart from its neighbours."""
    generator = np.random.default_rng(7)
    truth = generator.gamma(2.0, 1.2, count)
    error = generator.uniform(0.05, 0.8, count)
    if mechanism in ("Baseline", "Limit", "LimitPTR"):
        error[:] = 0.5
    entropy = truth + error * generator.normal(size=count)
    side = int(np.ceil(np.sqrt(count)))
    at = np.arange(count)
    lat = 43.0 + 0.001 * (at // side + generator.uniform(-0.2, 0.2, count))
    lon = -31.0 + 0.0014 * (at % side + generator.uniform(-0.2, 0.2, count))
    ids = pa.array([f"place-{number}" for number in at], pa.string())
    called = [f"Place {number} of {count}" for number in at]
    called[: len(names or ())] = list(names or ())
    bars = mechanism not in ("LimitSS", "LimitCB")
    columns: dict[str, Any] = (
        {"std_error": error, "low": entropy - 2 * error, "high": entropy + 2 * error} if bars else {}
    )
    if counts:
        visitors, visits = np.floor(np.exp(truth)), np.floor(3 * np.exp(truth))
        columns |= {"visitors": visitors, "visitors_low": visitors // 2, "visitors_high": visitors + 90}
        columns |= {"visits": visits, "visits_low": visits // 3, "visits_high": visits + 400}
        words = {"method": COUNTED.method_used, "parameters": parameters(COUNTED)} | words
    if mechanism == "LimitPTR":
        for column in (entropy, *columns.values()):
            column[::3] = np.nan
    estimand = "true" if mechanism == "Shares" else "bounded"
    private = "guarantee" not in words
    named = tuple(attributes or ())
    columns["leans_on"] = tuple(AttributeEffect(name, explained) for name in named)
    estimates = Estimates(ids, entropy, estimand, private, **columns)
    where = (lat, lon) if coordinates else (None, None)
    places = Locations(ids, pa.array(called, pa.string()), *where, attributes or {}, bool(attributes))
    words |= {"attributes": places.attribute_names}
    return Release.of(estimates, places, statement(mechanism=mechanism, estimand=estimand, **words))


class Parsed(HTMLParser):
    """What a browser would find in a page: elements, texts, and the data of the script."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.scripts: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts[0])
        return found

    @property
    def words(self) -> str:
        return " ".join(" ".join(text for texts in self.texts.values() for text in texts).split())
