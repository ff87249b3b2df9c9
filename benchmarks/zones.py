"""What it costs to find the zone or cell of each visit, against the square grid: `python benchmarks/zones.py`.

Prints seconds of an exact profile of the same visits by squares, by zones and by H3 cells, and their ratio to squares:
the median over rounds, each of which runs all of them.
Building, which is reading the map and making the raster in front of the rule, is done once a release.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import locentropy as le
from locentropy.private import exact_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from locentropy.core.locations import Cells

SOUTH, WEST, NORTH, EAST = BOX = (40.60, -74.05, 40.85, -73.85)


def districts(path: Path, across: int, corners: int = 1) -> Path:
    """About across² crooked zones that fill the box; each side is drawn in so many straight pieces."""
    rng = np.random.default_rng(7)
    x, y = np.meshgrid(
        np.linspace(WEST, EAST, across + 1), np.linspace(SOUTH, NORTH, across + 1), indexing="ij"
    )
    side = (EAST - WEST) / across
    ends = np.stack([x, y], axis=2) + rng.normal(0, side / 12, (*x.shape, 2))
    # Neighbours share their sides: each is drawn once, and walked in one direction or the other.
    along, up = (
        _crooked(ends[: across + 1 - a, : across + 1 - b], ends[a:, b:], corners, side / 5, rng)
        for a, b in ((1, 0), (0, 1))
    )
    features = []
    for i in range(across):
        for j in range(across):
            ring = [along[i, j], up[i + 1, j], along[i, j + 1][::-1], up[i, j][::-1]]
            points = np.concatenate([each[:-1] for each in ring])
            shape = {"type": "Polygon", "coordinates": [[*points.tolist(), points[0].tolist()]]}
            features.append({"type": "Feature", "properties": {"name": f"{i}-{j}"}, "geometry": shape})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def _crooked(
    start: NDArray[np.float64], end: NDArray[np.float64], pieces: int, jitter: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Lines from start to end in so many pieces, whose inner corners are moved across the line."""
    share = np.linspace(0, 1, pieces + 1)[:, None]
    lines = start[:, :, None] + (end - start)[:, :, None] * share
    across = (end - start)[..., ::-1] * (1, -1)
    across /= np.linalg.norm(across, axis=2, keepdims=True)
    # Less near the ends, where sides that meet would cross.
    moved = rng.uniform(-jitter, jitter, lines.shape[:3]) * np.minimum(share, 1 - share)[:, 0]
    return lines + across[:, :, None] * moved[..., None]


def visits(path: Path, rows: int) -> Path:
    rng = np.random.default_rng(1)
    users = rng.integers(0, max(rows // 100, 1), rows)
    table = {"user": users, "lat": rng.uniform(SOUTH, NORTH, rows), "lon": rng.uniform(WEST, EAST, rows)}
    pq.write_table(pa.table(table), path)
    return path


def clocks() -> NDArray[np.float64]:
    """Seconds by the clock, and of the processors."""
    return np.array([time.perf_counter(), time.process_time()])


def timed(run: Callable[[], object]) -> NDArray[np.float64]:
    start = clocks()
    run()
    return clocks() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--zones", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = visits(folder / "visits.parquet", given.rows)
        across = round(given.zones**0.5)
        ways: dict[str, Cells] = {
            "squares": le.Grid(*BOX, cell=500),
            f"{across**2:,} zones of 4 corners": le.Zones(
                districts(folder / "zones.geojson", across), id="name"
            ),
            f"{across**2:,} zones of 200 corners": le.Zones(
                districts(folder / "detailed.geojson", across, 50), id="name"
            ),
            "H3, resolution 9": le.H3Cells(9, within=BOX),
            "squares within the zones": le.Grid(
                *BOX, cell=500, within=le.Zones(folder / "zones.geojson", id="name")
            ),
        }
        built = {way: timed(cells.locator) for way, cells in ways.items()}
        took: dict[str, list[NDArray[np.float64]]] = {way: [] for way in ways}
        for _ in range(given.repeats):  # in turn, so that what else the machine does concerns all alike
            for way, cells in ways.items():
                run = timed(lambda cells=cells: exact_profile(le.Visits(source), locations=cells))
                took[way].append(run)
        print(f"{given.rows:,} visits, the best of {given.repeats}; in brackets processor seconds\n")
        print("| | places | built, s | profile, s | both, against squares |\n|---|---|---|---|---|")
        for way, cells in ways.items():
            # Against squares of the same round, and the median of rounds.
            rounds = zip(took[way], took["squares"], strict=True)
            ratio = np.median([(built[way] + here) / squares for here, squares in rounds], axis=0)
            figures = (_both(each) for each in (built[way], np.min(took[way], axis=0), ratio))
            print(f"| {way} | {len(cells.locations()):,} | {' | '.join(figures)} |")


def _both(seconds: NDArray[np.float64]) -> str:
    return f"{seconds[0]:.2f} ({seconds[1]:.2f})"


if __name__ == "__main__":
    main()
