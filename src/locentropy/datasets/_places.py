"""The places of the synthetic city: where they stand, when they are open, how much they attract."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from locentropy.datasets._names import addresses, station_names, venue_names
from locentropy.datasets._people import KINDS
from locentropy.datasets._town import QUARTERS, Sites, draw_in_park, draw_sites, to_degrees

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KIND_NAMES = [kind.name for kind in KINDS]

DESERTED = 0.025
DESERTED_KINDS = ("cafe", "restaurant", "bar", "shop")
"""The share of venues of these kinds that nobody goes to."""

HIDDEN = 0.2
HIDDEN_KINDS = ("cafe", "bar", "shop", "gym", "worship")
"""The share of venues of these kinds that hardly anyone knows but their regulars and their staff."""


@dataclass(frozen=True)
class Places:
    """All places, column by column, ordered by kind."""

    location: list[str]
    name: list[str]
    kind: Ints
    """Index into KINDS."""
    x: Floats
    y: Floats
    lat: Floats
    lon: Floats
    opens: Ints
    """Minutes after midnight."""
    closes: Ints
    appeal: Floats
    """How likely it becomes somebody's favourite, home or place of work."""
    fame: Floats
    """How likely an occasional visitor picks it."""
    jobs: Floats

    def of_kind(self, kind: str) -> Ints:
        """The places of this kind."""
        return np.flatnonzero(self.kind == KIND_NAMES.index(kind))


def draw_places(random: np.random.Generator, count: int, homes: float = 1.0) -> Places:
    """`count` places, at least one of each kind, with `homes` times as many homes to a venue as usual."""
    numbers = _split(count, homes)
    kind = np.repeat(np.arange(len(KINDS)), numbers)
    sites = draw_sites(random, np.array([k.central for k in KINDS])[kind])
    x, y = _put_in_their_spots(random, sites, kind)
    lat, lon = to_degrees(x, y)
    opens, closes = _draw_hours(random, kind)
    appeal = _draw_appeal(random, kind, x, y)
    return Places(
        location=[f"{k.name}-{i:03}" for k, n in zip(KINDS, numbers, strict=True) for i in range(1, n + 1)],
        name=_draw_names(random, sites, kind, numbers),
        kind=kind,
        x=x,
        y=y,
        lat=lat,
        lon=lon,
        opens=opens,
        closes=closes,
        appeal=appeal,
        fame=appeal * _draw_fame(random, kind),
        jobs=appeal * np.array([k.jobs for k in KINDS])[kind],
    )


def _split(count: int, homes: float) -> list[int]:
    """How many places of each kind: one, and the rest in proportion to the shares."""
    shares = np.array([k.share * (homes if k.name == "home" else 1.0) for k in KINDS])
    exact = (count - len(KINDS)) * shares / shares.sum()
    numbers = np.floor(exact).astype(int)
    missing = count - len(KINDS) - int(numbers.sum())
    numbers[np.argsort(numbers - exact, kind="stable")[:missing]] += 1
    return [int(n) + 1 for n in numbers]


def _put_in_their_spots(random: np.random.Generator, sites: Sites, kind: Ints) -> tuple[Floats, Floats]:
    """Stations stand in the middle of the quarters, and a third of what is called a park in the large one."""
    x, y = sites.x.copy(), sites.y.copy()
    stations = np.flatnonzero(kind == KIND_NAMES.index("station"))[: len(QUARTERS)]
    x[stations] = [quarter.x for quarter in QUARTERS[: len(stations)]]
    y[stations] = [quarter.y for quarter in QUARTERS[: len(stations)]]
    parks = np.flatnonzero(kind == KIND_NAMES.index("park"))
    parks = parks[: -(-len(parks) // 3)]
    x[parks], y[parks] = draw_in_park(random, len(parks))
    return x, y


def _draw_hours(random: np.random.Generator, kind: Ints) -> tuple[Ints, Ints]:
    choice = random.integers(0, 2**31, len(kind))
    hours = [KINDS[k].hours[c % len(KINDS[k].hours)] for k, c in zip(kind, choice, strict=True)]
    opens, closes = np.array([[_minutes(text) for text in pair] for pair in hours], dtype=np.int64).T
    return opens, closes


def _minutes(text: str) -> int:
    hours, minutes = text.split(":")
    return 60 * int(hours) + int(minutes)


def _draw_appeal(random: np.random.Generator, kind: Ints, x: Floats, y: Floats) -> Floats:
    """Heavy-tailed, greater near the market square, and exactly 0 for the deserted."""
    appeal: Floats = np.exp(random.normal(size=len(kind)) * np.array([k.spread for k in KINDS])[kind])
    appeal *= 0.4 + np.exp(-np.hypot(x, y) / 900.0)
    # The first station is the central one and the first parks are the large one: everybody goes there.
    for name, factor in (("station", 5.0), ("park", 6.0)):
        appeal[np.flatnonzero(kind == KIND_NAMES.index(name))[0]] = factor
    appeal[_deserted(random, kind)] = 0.0
    return appeal


def _deserted(random: np.random.Generator, kind: Ints) -> Ints:
    """A few venues, and never the last open one of its kind."""
    among_first_three = np.concatenate([[True, True, True], kind[3:] != kind[:-3]])
    venues = np.flatnonzero(np.isin(kind, _indices(DESERTED_KINDS)) & ~among_first_three)
    return random.choice(venues, round(DESERTED * len(venues)), replace=False)


def _draw_fame(random: np.random.Generator, kind: Ints) -> Floats:
    """1 for most; next to nothing for hidden cafés, bars, shops and the like."""
    hidden = np.isin(kind, _indices(HIDDEN_KINDS)) & (random.random(len(kind)) < HIDDEN)
    return np.where(hidden, 0.01, 1.0)


def _indices(names: tuple[str, ...]) -> list[int]:
    return [KIND_NAMES.index(name) for name in names]


def _draw_names(random: np.random.Generator, sites: Sites, kind: Ints, numbers: list[int]) -> list[str]:
    homes = kind == KIND_NAMES.index("home")
    names: list[str] = []
    for k, count in zip(KINDS, numbers, strict=True):
        if k.name == "home":
            home_sites = Sites(*(column[homes] for column in vars(sites).values()))
            names += addresses(random, home_sites)
        elif k.name == "station":
            names += station_names(count)
        else:
            names += venue_names(random, k.name, count)
    return names
