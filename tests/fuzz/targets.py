"""Every reader of a file that somebody else may have made: good inputs, how to change them, and how to read them.

A reader may accept an input or refuse it with a LocentropyError. Where more can be told than that, it is asserted: what
is accepted keeps a rule, and what is refused is refused without a private value in its words.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.fuzz import budgets, maps, mutating, releases, tables


@dataclass(frozen=True)
class Target:
    """A reader, and what it is given."""

    seeds: Callable[[], list[bytes]]
    """Good inputs, the same each time."""
    mutate: mutating.Mutator
    read: Callable[[Path, bytes], None]
    """Put an input into an empty folder and read it."""
    made: list[bytes] = field(default_factory=list)

    def input(self, seed: int, number: int) -> bytes:
        """The input of a number: nothing but a function of the seed and it."""
        if not self.made:
            self.made.extend(self.seeds())
        draw = mutating.Random(f"{seed} {number}")
        return draw.choice(self.made) if number % 50 == 0 else self.mutate(self.made, draw)


TARGETS = {
    "csv": Target(
        tables.csv_seeds,
        mutating.text,
        lambda folder, content: tables.read_visits(folder, content, "rows.csv"),
    ),
    "parquet": Target(
        tables.parquet_seeds,
        mutating.binary,
        lambda folder, content: tables.read_visits(folder, content, "rows.parquet"),
    ),
    "german": Target(tables.german_seeds, mutating.text, tables.read_german),
    "json lines": Target(
        tables.json_seeds,
        mutating.text,
        lambda folder, content: tables.read_visits(folder, content, "rows.jsonl"),
    ),
    "workbook": Target(
        tables.workbook_seeds,
        mutating.binary,
        lambda folder, content: tables.read_visits(folder, content, "rows.xlsx"),
    ),
    "places": Target(tables.places_seeds, tables.mutate_places, tables.read_places),
    "documents": Target(
        lambda: [bytes(releases.FILES[releases.DETAILS]), bytes(releases.FILES[releases.MANIFEST])],
        mutating.text,
        releases.read_documents,
    ),
    "table": Target(
        lambda: [bytes(releases.FILES[releases.TABLE])],
        mutating.binary,
        lambda folder, content: releases.read_release(folder, releases.TABLE, content),
    ),
    "data package": Target(
        lambda: [bytes(releases.FILES[releases.PACKAGE])],
        mutating.text,
        lambda folder, content: releases.read_beside(folder, releases.PACKAGE, content),
    ),
    "geopackage": Target(
        lambda: [bytes(releases.FILES[releases.LAYER])],
        mutating.binary,
        lambda folder, content: releases.read_beside(folder, releases.LAYER, content),
    ),
    "ledger": Target(budgets.ledger_seeds, mutating.binary, budgets.read_ledger),
    "plan": Target(budgets.plan_seeds, mutating.text, budgets.read_plan),
    **{
        name: Target(partial(maps.seeds, name), mutate, partial(maps.read, name=name))
        for name, mutate in (
            ("map.geojson", mutating.text),
            ("map.gpkg", mutating.binary),
            ("map.parquet", mutating.binary),
            ("map.shp", mutating.binary),
            ("map.dbf", mutating.binary),
            ("map.prj", mutating.text),
        )
    },
    "claim": Target(budgets.claim_seeds, mutating.text, budgets.read_claim),
}


def emptied(folder: Path) -> Path:
    """An empty folder of this name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
