"""The places of the synthetic city: their kinds, sites, opening hours, appeal and invented names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from locentropy.datasets._town import QUARTERS, Sites, draw_in_park, draw_sites, to_degrees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """One kind of place."""

    name: str
    """Also the start of its ids: `cafe-007`."""
    share: float
    """Its share of all places, relative to the others."""
    central: float
    """1 if all of them are where the centre is busy, 0 if they are where people live."""
    hours: tuple[tuple[str, str], ...]
    """The opening hours that such places choose from, never over midnight."""
    spread: float
    """How unequal their appeal is: the standard deviation of its logarithm."""
    jobs: float = 0.0
    """How many jobs one of average appeal offers, relative to the others."""


ALWAYS = (("00:00", "23:59"),)

KINDS: tuple[Kind, ...] = (
    Kind("home", 130, 0.05, ALWAYS, 0.5),
    Kind("office", 34, 0.75, (("07:00", "19:00"), ("07:30", "18:30"), ("06:30", "20:00")), 0.9, jobs=5),
    Kind("workshop", 14, 0.10, (("06:00", "18:00"), ("07:00", "17:30")), 0.8, jobs=5),
    Kind("school", 8, 0.15, (("07:30", "17:00"),), 0.3, jobs=2),
    Kind("cafe", 36, 0.60, (("07:00", "18:00"), ("08:00", "19:00"), ("07:30", "22:00")), 0.9, jobs=0.5),
    Kind("bakery", 14, 0.25, (("06:00", "14:00"), ("06:30", "18:00")), 0.6, jobs=0.5),
    Kind("restaurant", 36, 0.65, (("11:30", "22:30"), ("11:00", "23:00"), ("17:30", "23:30")), 0.9, jobs=1),
    Kind("bar", 22, 0.75, (("17:00", "23:30"), ("16:00", "23:45"), ("18:00", "23:59")), 1.0, jobs=0.5),
    Kind("shop", 40, 0.65, (("09:30", "18:30"), ("10:00", "19:00"), ("09:00", "18:00")), 1.1, jobs=0.4),
    Kind("supermarket", 12, 0.20, (("07:00", "21:00"), ("08:00", "20:00")), 0.5, jobs=1.5),
    Kind("gym", 9, 0.40, (("06:00", "22:30"), ("07:00", "22:00")), 0.7, jobs=0.5),
    Kind("park", 12, 0.20, (("06:00", "22:00"),), 1.0),
    Kind("museum", 6, 0.80, (("10:00", "18:00"), ("10:00", "17:00")), 0.9, jobs=1),
    Kind("library", 4, 0.40, (("09:00", "19:00"), ("10:00", "18:00")), 0.5, jobs=0.7),
    Kind("cinema", 4, 0.70, (("14:00", "23:30"),), 0.6, jobs=0.7),
    Kind("clinic", 8, 0.35, (("08:00", "18:00"), ("07:30", "19:00")), 0.6, jobs=2),
    Kind("worship", 8, 0.35, (("07:00", "20:00"), ("08:00", "21:00")), 0.7, jobs=0.1),
    Kind("station", 8, 0.30, (("05:00", "23:59"),), 0.4, jobs=0.5),
)

KIND_NAMES = [kind.name for kind in KINDS]

DESERTED = 0.025
DESERTED_KINDS = ("cafe", "restaurant", "bar", "shop")
"""The share of venues of these kinds that nobody goes to."""

HIDDEN = 0.2
HIDDEN_KINDS = ("cafe", "bar", "shop", "gym", "worship")
"""The share of venues of these kinds that hardly anybody but regulars and staff visits."""


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
    """How likely it becomes somebody's favourite, home or place of work, up to a factor."""
    fame: Floats
    """How likely an occasional visitor chooses it, up to a factor."""
    jobs: Floats

    def of_kind(self, kind: str) -> Ints:
        """Return the positions of the places of this kind."""
        return np.flatnonzero(self.kind == KIND_NAMES.index(kind))


def draw_places(random: np.random.Generator, count: int, homes: float = 1.0) -> Places:
    """Draw `count` places, at least one of each kind, with `homes` times as many homes per venue as usual."""
    numbers = _split(count, homes)
    kind = np.repeat(np.arange(len(KINDS)), numbers)
    sites = draw_sites(random, np.array([k.central for k in KINDS])[kind])
    x, y = _move_stations_and_parks(random, sites, kind)
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
    """Return the number of places of each kind: one, and the rest in proportion to the shares."""
    shares = np.array([k.share * (homes if k.name == "home" else 1.0) for k in KINDS])
    exact = (count - len(KINDS)) * shares / shares.sum()
    numbers = np.floor(exact).astype(int)
    missing = count - len(KINDS) - int(numbers.sum())
    numbers[np.argsort(numbers - exact, kind="stable")[:missing]] += 1
    return [int(n) + 1 for n in numbers]


def _move_stations_and_parks(random: np.random.Generator, sites: Sites, kind: Ints) -> tuple[Floats, Floats]:
    """Put stations in the middle of the quarters, and a third of the parks inside the large one."""
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
    """Draw appeals: heavy-tailed, greater near the market square, and exactly 0 for deserted places."""
    appeal: Floats = np.exp(random.normal(size=len(kind)) * np.array([k.spread for k in KINDS])[kind])
    appeal *= 0.4 + np.exp(-np.hypot(x, y) / 900.0)
    # The first station is the central one and the first park is in the large one: everybody goes there.
    for name, factor in (("station", 5.0), ("park", 6.0)):
        appeal[np.flatnonzero(kind == KIND_NAMES.index(name))[0]] = factor
    appeal[_deserted(random, kind)] = 0.0
    return appeal


def _deserted(random: np.random.Generator, kind: Ints) -> Ints:
    """Choose a few venues, never the first three of a kind."""
    among_first_three = np.concatenate([[True, True, True], kind[3:] != kind[:-3]])
    venues = np.flatnonzero(np.isin(kind, _indices(DESERTED_KINDS)) & ~among_first_three)
    return random.choice(venues, round(DESERTED * len(venues)), replace=False)


def _draw_fame(random: np.random.Generator, kind: Ints) -> Floats:
    """Draw the fame: 1 for most places, and next to nothing for hidden ones."""
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


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COLOURS = _words("Amber Azure Copper Crimson Golden Green Ivory Red Silver Striped Velvet White")
CREATURES = _words("Badger Crane Fox Hare Heron Magpie Otter Owl Pike Stork Swan Wren")
FAMILIES = _words(
    "Abbery Belcourt Corvane Dunmarsh Ellering Farrowby Gellin Hartsel Isbrook Jarrow Kestrane Lindqvale "
    "Morvane Nettleby Ostrell Pellaway Quillon Rosthorn Sandrell Tavener Umberley Vantry Wexcombe Yarling"
)
FOODS = _words("Almond Apricot Basil Chestnut Clove Fennel Honey Lemon Olive Pepper Saffron Thyme")
TREES = _words("Alder Ash Beech Birch Cedar Elm Hazel Juniper Larch Linden Maple Oak Poplar Rowan Willow")
STREET_WORDS = _words(
    "Anchor Apple Barley Bell Bridle Candle Castle Chapel Cherry Clover Cooper Dove Dyer Falcon Ferry Fern "
    "Garden Glazier Hawthorn Heather Ivy Kiln Lantern Lark Laurel Lily Market Meadow Mercer Mill Mint Moss "
    "Orchard Pear Plum Potter Quay Rope Rose Saddler Sail Sparrow Spring Stone Swallow Tanner Thistle "
    "Tower Vine Violet Walnut Weaver Well Wharf Windmill"
)
STREET_ENDINGS = ("Street", "Lane", "Road", "Row")

# For each kind, a pattern and the words that fill it. Patterns of different kinds never give equal names.
PATTERNS: dict[str, tuple[str, tuple[Iterable[str], ...]]] = {
    "office": ("{} {}", (FAMILIES, ("Partners", "& Co.", "Insurance", "Studio", "Systems"))),
    "workshop": ("{} {}", (FAMILIES, ("Boatyard", "Joinery", "Metalworks", "Printers"))),
    "school": ("{} School", (FAMILIES,)),
    "cafe": ("Café {} {}", (COLOURS, FOODS)),
    "bakery": ("{}’s {}", (FAMILIES, ("Bakery", "Ovens"))),
    "restaurant": ("{} & {}", (FOODS, ("Anchor", "Ember", "Fig", "Oyster", "Rye", "Salt", "Smoke", "Vine"))),
    "bar": ("The {} {}", (COLOURS, CREATURES)),
    "shop": ("{} {}", (FAMILIES, ("Books", "Cycles", "Fabrics", "Flowers", "Hardware", "Records", "Toys"))),
    "supermarket": ("{} {}", (TREES, ("Grocers", "Provisions", "Food Hall"))),
    "gym": ("{} {}", (TREES, ("Gym", "Climbing Hall", "Yoga Rooms", "Baths"))),
    "park": ("{} {}", (TREES, ("Gardens", "Green", "Meadow", "Playground"))),
    "museum": (
        "Museum of {}",
        (_words("Tides Maps Clocks Glass Lanterns Ships Puppets Bridges Bells Kites"),),
    ),
    "library": ("{} Library", (FAMILIES,)),
    "cinema": ("{} Pictures", (_words("Aurora Comet Lumen Meridian Nova Orion Parade Zenith"),)),
    "clinic": ("{} {}", (TREES, ("Clinic", "Dental Surgery", "Health Centre"))),
    "worship": ("{} {}", (TREES, ("Chapel", "Temple", "Prayer House", "Meeting House"))),
}


def venue_names(random: np.random.Generator, kind: str, count: int) -> list[str]:
    """Draw unique names for places of this kind, which is neither home nor station."""
    pattern, words = PATTERNS[kind]
    names = [pattern.format(*choice) for choice in product(*words)]
    shuffled = [names[i] for i in random.permutation(len(names))]
    return [_again(shuffled[i % len(names)], i // len(names)) for i in range(count)]


def station_names(count: int) -> list[str]:
    """Return names of stations: the central one, one for each quarter, then small ones."""
    stations = ["Central Station", *(f"{quarter.name} Station" for quarter in QUARTERS[1:])]
    halts = [f"{tree} Halt" for tree in TREES]
    small = max(0, count - len(stations))
    return stations[:count] + [_again(halts[i % len(halts)], i // len(halts)) for i in range(small)]


def addresses(random: np.random.Generator, sites: Sites) -> list[str]:
    """Draw unique addresses; houses of one street share its name."""
    streets = [f"{word} {ending}" for ending in STREET_ENDINGS for word in STREET_WORDS]
    order = random.permutation(len(streets))
    keys = sites.street.tolist()
    name_of = {key: streets[order[i % len(streets)]] for i, key in enumerate(sorted(set(keys)))}
    taken: set[str] = set()
    return [
        _first_free(taken, name_of[key], number)
        for key, number in zip(keys, sites.number.tolist(), strict=True)
    ]


def _first_free(taken: set[str], street: str, number: int) -> str:
    address = next(free for free in _house_numbers(street, number) if free not in taken)
    taken.add(address)
    return address


def _house_numbers(street: str, number: int) -> Iterator[str]:
    """Yield numbers on the same side of the street: 12, 12a, 12b … and then 14."""
    while True:
        yield f"{number} {street}"
        yield from (f"{number}{letter} {street}" for letter in "abcdef")
        number += 2


def _again(name: str, times: int) -> str:
    return name if times == 0 else f"{name} {times + 1}"
