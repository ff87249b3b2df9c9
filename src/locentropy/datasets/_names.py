"""Invented names for the places of the synthetic city."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from locentropy.datasets._town import QUARTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from locentropy.datasets._town import Sites


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
    """Unique names for places of this kind, which is neither home nor station."""
    pattern, words = PATTERNS[kind]
    names = [pattern.format(*choice) for choice in product(*words)]
    shuffled = [names[i] for i in random.permutation(len(names))]
    return [_again(shuffled[i % len(names)], i // len(names)) for i in range(count)]


def station_names(count: int) -> list[str]:
    """The first is the central one, then each quarter has its own, and the others are small."""
    stations = ["Central Station", *(f"{quarter.name} Station" for quarter in QUARTERS[1:])]
    halts = [f"{tree} Halt" for tree in TREES]
    small = max(0, count - len(stations))
    return stations[:count] + [_again(halts[i % len(halts)], i // len(halts)) for i in range(small)]


def addresses(random: np.random.Generator, sites: Sites) -> list[str]:
    """Unique addresses in which houses of one street share its name."""
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
    """On the same side of the street: 12, 12a, 12b … and then 14."""
    while True:
        yield f"{number} {street}"
        yield from (f"{number}{letter} {street}" for letter in "abcdef")
        number += 2


def _again(name: str, times: int) -> str:
    return name if times == 0 else f"{name} {times + 1}"
