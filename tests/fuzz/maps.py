"""Maps: what is read of one, whatever was changed in it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import shapely

import locentropy as le

SHAPES = shapely.to_wkb(
    np.array(
        [
            shapely.box(0, 0, 1, 1),
            shapely.MultiPolygon([shapely.box(1, 0, 2, 1), shapely.box(5, 5, 6, 6)]),
            shapely.Polygon([(9, 0), (12, 0), (12, 3), (9, 3)], [[(10, 1), (11, 1), (11, 2), (10, 2)]]),
        ]
    )
)
NAMES = ["a", "b", "c"]
FIRST = ("map.shp", "map.dbf", "map.shx", "map.prj")
"""Parts of a shapefile; the others are as they were when one is changed."""


@cache
def seeds(name: str) -> list[bytes]:
    """Good maps by the name of one, or good parts of one."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "map.shp" if name in FIRST else name)
        if name.endswith(".parquet"):
            about = {"encoding": "WKB", "geometry_types": []}
            geo = {"version": "1.1.0", "primary_column": "shape", "columns": {"shape": about}}
            table = pa.table({"shape": pa.array(SHAPES), "name": NAMES})
            pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
        else:
            columns = [np.array(NAMES, dtype=object)]
            pyogrio.raw.write(path, SHAPES, columns, ["name"], geometry_type="MultiPolygon", crs="EPSG:4326")
        return [Path(folder, name).read_bytes()]


def read(folder: Path, content: bytes, name: str) -> None:
    """Zones in it have ids of their own, and outlines on the Earth."""
    path = folder / ("map.shp" if name in FIRST else name)
    for other in FIRST if name in FIRST else ():
        (folder / other).write_bytes(seeds(other)[0])
    (folder / name).write_bytes(content)
    found = le.Zones(path, id="name").locations()
    assert len(found) == len(set(found.ids.to_pylist())) > 0
    outlines = shapely.from_wkb(found.outlines.to_pylist())
    assert shapely.is_valid(outlines).all()
    west, south, east, north = shapely.total_bounds(outlines)
    assert -180 <= west < east <= 180
    assert -90 <= south < north <= 90
