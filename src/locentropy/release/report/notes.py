"""What a page says beside its map, its list and its histogram."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

from locentropy.core.cell_kinds import CELL_KINDS
from locentropy.core.html import Html, tag
from locentropy.release.report.attributes import leaning_sentence
from locentropy.release.report.naming import is_cells, kind_of
from locentropy.release.report.ranking import TOP

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.report.rows import Rows

_LISTED: Final = ("public list", *CELL_KINDS)
"""How the sources of locations begin that may have coordinates."""


def map_note(say: Words, release: Release, rows: Rows) -> Html:
    """How to read and use the map, or why there is none."""
    if not rows.has_map:
        return tag("p", say("map.none", why=_why_no_map(say, release)))
    mark = "dot" if rows.outlines is None else "area"
    kind = kind_of(release.statement)
    told = [say("map.area" if mark == "area" else "map.dot", of=kind)]
    if "certainty" in rows.columns:
        told.append(say("map.certain", of=mark))
    if release.too_uncertain.any():
        told.append(say("map.grey", of=mark))
    told.append(say("map.labels", of=labels_of(release, rows)))
    if release.statement.outline is not None:
        told.append(say("map.outline"))
    if rows.without_coordinates:
        told.append(say.count("map.unplaced", rows.without_coordinates))
    return tag(
        "p",
        f"{''.join(told)} ",
        tag("span", say("map.mouse", of=mark), class_="for-mouse"),
        tag("span", say("map.touch", of=mark), class_="for-touch"),
        class_="hint",
    )


def labels_of(release: Release, rows: Rows) -> str:
    """What labels on the map are: cells without names have their `rank`, all others their `name`."""
    return "rank" if is_cells(release.statement) and not rows.has_names else "name"


def _why_no_map(say: Words, release: Release) -> str:
    if not len(release):
        return say("map.why", of="empty")
    listed = release.statement.locations_source.startswith(_LISTED)
    return say("map.why", of="list" if listed else "selected")


def list_note(say: Words, release: Release, ranking: Ranking) -> Html:
    """How the list is ranked, and what its chances mean."""
    if not ranking.published:
        return tag("p", say("list.empty"), class_="hint")
    unit = release.statement.entropy_unit
    parts = [say("list.order")] if len(release) > 1 else []
    entropy = say.number(log(20) * per_nat(unit), ".1f")
    parts.append(say("list.visitors", unit=say("unit", of=unit), entropy=entropy))
    if ranking.chance is not None:
        among = "published" if ranking.published < len(release) else "all"
        parts.append(say("list.chance", of=among, top=str(TOP)))
    if (ranking.rank == 1).sum() > 1:
        parts.append(say("list.equal"))
    if leaning := leaning_sentence(say, release):
        parts.append(leaning)
    return tag("p", " ".join(parts), class_="hint")


def per_nat(unit: str) -> float:
    """How much of the unit a nat is."""
    return 1.0 if unit == "nats" else 1 / log(2)


def distribution_note(say: Words, release: Release, ranking: Ranking) -> str:
    """Why the distribution of published values is not that of the true ones."""
    if not ranking.published:
        return ""
    model = release.statement.method.error_bars == "model"
    return say("distribution.model" if model else "distribution.noise")
