"""The histogram of published values, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.html import Html, joined, tag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.language import Words

    Reals = NDArray[np.float64]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 720, 240, 52, 40, 12, 14
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS: Final = 8
_FEWEST, _MOST = 8, 48


def histogram(say: Words, values: Reals, unit: str) -> Html:
    """A histogram; each bar tells its numbers when it is pointed at."""
    if not len(values):
        return tag("p", say("distribution.none"))
    unit = say("unit", of=unit)
    edges = _edges(values)
    counts, _ = np.histogram(values, edges)
    across = (_WIDTH - _LEFT - _RIGHT) / (edges[-1] - edges[0])
    highest = float(counts.max())
    up = (_HEIGHT - _BOTTOM - _TOP) / highest
    base = _HEIGHT - _BOTTOM
    bars = [
        tag(
            "rect",
            tag(
                "title",
                say.count(
                    "distribution.bar",
                    count,
                    low=say.number(low, ".4g"),
                    high=say.number(high, ".4g"),
                    unit=unit,
                ),
            ),
            class_="bar",
            x=_two(_LEFT + (low - edges[0]) * across + 0.5),
            y=_two(base - count * up),
            width=_two(max((high - low) * across - 1.0, 0.5)),
            height=_two(count * up),
        )
        for low, high, count in zip(edges, edges[1:], counts.tolist(), strict=False)
    ]
    label = say(
        "distribution.label",
        count=say.number(len(values)),
        middle=say.number(float(np.median(values)), ".3g"),
        unit=unit,
        least=say.number(float(values.min()), ".3g"),
        most=say.number(float(values.max()), ".3g"),
    )
    return tag(
        "svg",
        _axes(say, edges, across, highest, up, unit),
        *bars,
        class_="histogram",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=label,
    )


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers within [low, high], about as many as asked for, at least one."""
    span = high - low
    if span <= 0:
        return [low]
    rough = span / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * each for each in _STEPS if power * each >= rough * 0.999)
    first = np.ceil(low / step - 1e-9)
    ticks = [float((first + at) * step) for at in range(int(np.floor(high / step + 1e-9) - first) + 1)]
    return ticks or [low]


def _edges(values: Reals) -> Reals:
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.sqrt(len(values)), _FEWEST, _MOST))
    return np.linspace(low, high, bins + 1)


def _axes(say: Words, edges: Reals, across: float, highest: float, up: float, unit: str) -> Html:
    base = _HEIGHT - _BOTTOM
    parts = []
    for tick in nice_ticks(0.0, highest, 4):
        if tick != round(tick):
            continue  # places are whole
        y = _two(base - tick * up)
        parts.append(tag("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y))
        parts.append(
            tag(
                "text", say.number(tick, ",.0f"), class_="tick end", x=_LEFT - 8, y=_two(base - tick * up + 4)
            )
        )
    for tick in nice_ticks(float(edges[0]), float(edges[-1]), _TICKS):
        x = _two(_LEFT + (tick - edges[0]) * across)
        parts.append(tag("line", class_="mark", x1=x, x2=x, y1=base, y2=base + 5))
        parts.append(tag("text", say.number(tick, ".6g"), class_="tick middle", x=x, y=base + 18))
    parts.append(
        tag(
            "text",
            say("distribution.axis", unit=unit),
            class_="tick middle",
            x=(_LEFT + _WIDTH - _RIGHT) / 2,
            y=_HEIGHT - 4,
        )
    )
    return joined(*parts)


def _two(value: float) -> str:
    return f"{value:.2f}"
