"""The map of the invented town, in metres east (x) and north (y) of its market square.

A river comes down from the north, is crossed by two bridges, and meets the sea in the south beside the
harbour. Quarters with their own loose street grids stand around a dense old town, avenues join them, and a
large park lies in the north-east.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Metres = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

# Open Atlantic, some 400 km from the nearest island: no real place can be mistaken for one of these.
SQUARE_LAT, SQUARE_LON = 43.0, -31.0
METRES_PER_DEGREE = 111_320.0

RIVER_WIDTH = 130.0
BRIDGES = (120.0, -1080.0)
"""The y of the two bridges."""

PARK_X, PARK_Y, PARK_EAST, PARK_NORTH = 1180.0, 930.0, 430.0, 290.0
"""Middle and half axes of the large park."""


@dataclass(frozen=True)
class Quarter:
    """A part of the town with its own street grid."""

    name: str
    x: float
    y: float
    radius: float
    """About two thirds of its places lie within."""
    block: float
    """The distance between its streets."""
    turn: float
    """The rotation of its grid, in degrees."""
    bustle: float
    """Its share of what follows the centre."""
    dwellings: float
    """Its share of what follows where people live."""


QUARTERS: tuple[Quarter, ...] = (
    Quarter("Old Town", 150, 0, 300, 85, 14, 5.0, 1.6),
    Quarter("Harbour", 560, -1300, 280, 110, -8, 1.8, 1.2),
    Quarter("Westbank", -1230, 60, 380, 140, 27, 1.1, 2.0),
    Quarter("Northgate", 300, 1330, 320, 130, -20, 0.8, 1.6),
    Quarter("Eastfield", 1560, -200, 420, 150, 6, 0.7, 2.0),
    Quarter("Mill Hill", -1080, 1330, 320, 150, 41, 0.3, 1.1),
    Quarter("Saltings", -1330, -1150, 300, 140, -15, 0.3, 0.9),
)

ON_AVENUES = 0.2
"""The share of places that stand along an avenue."""


@dataclass(frozen=True)
class Sites:
    """Sites along the streets, column by column."""

    x: Metres
    y: Metres
    street: npt.NDArray[np.int64]
    """A number that sites of one street share."""
    number: npt.NDArray[np.int64]
    """The house number."""


def river_x(y: Metres) -> Metres:
    """Return the x of the middle of the river at this y."""
    return -480.0 + 260.0 * np.sin(y / 620.0) + 0.05 * y


def coast_y(x: Metres) -> Metres:
    """Return the y of the southern coast at this x."""
    return -1950.0 + 140.0 * np.sin(x / 520.0)


def is_land(x: Metres, y: Metres) -> npt.NDArray[np.bool_]:
    """Return whether a site can be there: not in the river, the sea or the large park."""
    dry = (np.abs(x - river_x(y)) > 0.75 * RIVER_WIDTH) & (y > coast_y(x) + 40.0)
    return np.asarray(dry & ~_in_park(x, y))


def _in_park(x: Metres, y: Metres) -> npt.NDArray[np.bool_]:
    inside = ((x - PARK_X) / PARK_EAST) ** 2 + ((y - PARK_Y) / PARK_NORTH) ** 2 < 1.0
    return np.asarray(inside)


def avenues() -> list[list[tuple[float, float]]]:
    """Return the courses of the avenues, which lead over the bridges, and of the quay."""
    upper, lower = ((float(river_x(np.array(y))), y) for y in BRIDGES)
    old_town, harbour, westbank, northgate, eastfield, mill_hill, saltings = ((q.x, q.y) for q in QUARTERS)
    quay = [(x, float(coast_y(np.array(x))) + 70.0) for x in np.linspace(-150.0, 1450.0, 9).tolist()]
    return [
        [old_town, upper, westbank],
        [old_town, (250.0, -700.0), harbour],
        [old_town, (150.0, 700.0), northgate],
        [old_town, (800.0, -20.0), eastfield],
        [harbour, (-150.0, -1100.0), lower, saltings],
        [westbank, mill_hill],
        [westbank, saltings],
        [northgate, (690.0, 850.0), (950.0, 600.0), eastfield],
        quay,
    ]


def draw_sites(random: np.random.Generator, central: Metres) -> Sites:
    """Draw one site for each entry: how much it follows the centre rather than the dwellings."""
    count = len(central)
    x, y = np.empty(count), np.empty(count)
    street, number = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while len(missing):
        on_avenue = random.random(len(missing)) < ON_AVENUES
        for chosen, sites in (
            (missing[on_avenue], _draw_on_avenues(random, int(on_avenue.sum()))),
            (missing[~on_avenue], _draw_on_grids(random, central[missing[~on_avenue]])),
        ):
            x[chosen], y[chosen], street[chosen], number[chosen] = (
                sites.x,
                sites.y,
                sites.street,
                sites.number,
            )
        missing = missing[~is_land(x[missing], y[missing])]
    return Sites(x, y, street, number)


def _draw_on_grids(random: np.random.Generator, central: Metres) -> Sites:
    """Draw sites on the streets of the quarters; some may be in the water."""
    count = len(central)
    quarter = _draw_quarters(random, central)
    middle_x, middle_y, radius, block, turn = np.array(
        [(q.x, q.y, q.radius, q.block, q.turn) for q in QUARTERS]
    )[quarter].T
    along, across = random.triangular(-2.0, 0.0, 2.0, (2, count)) * radius
    line = np.rint(across / block)
    side, offset = _draw_sides(random, count)
    across = line * block + offset
    turned = random.integers(0, 2, count)
    angle = np.radians(turn + 90.0 * turned)
    x = middle_x + along * np.cos(angle) - across * np.sin(angle)
    y = middle_y + along * np.sin(angle) + across * np.cos(angle)
    # Room for 100 lines either way in each direction of each quarter; avenues have negative numbers.
    street = (2 * quarter + turned) * 200 + 100 + line.astype(np.int64)
    return Sites(x, y, street, _house_number(along + 2.0 * radius, side))


def _draw_on_avenues(random: np.random.Generator, count: int) -> Sites:
    """Draw sites along the avenues, more of them near their beginnings."""
    courses = [np.array(course) for course in avenues()]
    lengths = np.array([np.hypot(*np.diff(course, axis=0).T).sum() for course in courses])
    avenue = random.choice(len(courses), count, p=lengths / lengths.sum())
    along = lengths[avenue] * random.random(count) ** 1.3
    side, offset = _draw_sides(random, count)
    x, y = np.empty(count), np.empty(count)
    for index, course in enumerate(courses):
        chosen = avenue == index
        steps = np.diff(course, axis=0)
        ends = np.cumsum(np.hypot(*steps.T))
        step = np.minimum(np.searchsorted(ends, along[chosen]), len(steps) - 1)
        direction = steps[step] / np.hypot(*steps[step].T)[:, None]
        back = (along[chosen] - ends[step])[:, None] * direction
        x[chosen], y[chosen] = (course[step + 1] + back).T
        x[chosen] -= offset[chosen] * direction[:, 1]
        y[chosen] += offset[chosen] * direction[:, 0]
    return Sites(x, y, -1 - avenue, _house_number(along, side))


def _draw_sides(random: np.random.Generator, count: int) -> tuple[npt.NDArray[np.int64], Metres]:
    """Draw the side of the street of each site, and its distance from the middle in metres."""
    side = random.integers(0, 2, count)
    return side, (2 * side - 1) * random.uniform(8.0, 16.0, count)


def _house_number(along: Metres, side: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return house numbers: a house every 16 metres, even numbers on one side."""
    return 2 * np.floor(along / 16.0).astype(np.int64) + 2 - side


def _draw_quarters(random: np.random.Generator, central: Metres) -> npt.NDArray[np.int64]:
    bustle = np.array([q.bustle for q in QUARTERS])
    dwellings = np.array([q.dwellings for q in QUARTERS])
    follows_centre = random.random(len(central)) < central
    by_bustle = random.choice(len(QUARTERS), len(central), p=bustle / bustle.sum())
    by_dwellings = random.choice(len(QUARTERS), len(central), p=dwellings / dwellings.sum())
    return np.where(follows_centre, by_bustle, by_dwellings)


def draw_in_park(random: np.random.Generator, count: int) -> tuple[Metres, Metres]:
    """Draw points in the large park."""
    angle, radius = random.uniform(0.0, 2.0 * np.pi, count), 0.85 * np.sqrt(random.random(count))
    return PARK_X + PARK_EAST * radius * np.cos(angle), PARK_Y + PARK_NORTH * radius * np.sin(angle)


def walks(from_x: Metres, from_y: Metres, to_x: Metres, to_y: Metres) -> Metres:
    """Return the distance from every start to every end, over the nearer bridge if the river is between."""
    straight = np.hypot(from_x[:, None] - to_x, from_y[:, None] - to_y)
    over = np.full_like(straight, np.inf)
    for y in BRIDGES:
        x = river_x(np.array(y))
        there, onward = np.hypot(from_x - x, from_y - y), np.hypot(to_x - x, to_y - y)
        over = np.minimum(over, there[:, None] + onward)
    across = (from_x > river_x(from_y))[:, None] != (to_x > river_x(to_y))
    return np.where(across, over, straight)


def to_degrees(x: Metres, y: Metres) -> tuple[Metres, Metres]:
    """Return latitude and longitude, to six decimals (0.1 m)."""
    lat = SQUARE_LAT + y / METRES_PER_DEGREE
    lon = SQUARE_LON + x / (METRES_PER_DEGREE * np.cos(np.radians(SQUARE_LAT)))
    return np.round(lat, 6), np.round(lon, 6)
