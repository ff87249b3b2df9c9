"""What stands beside the map, the list and the drawing of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.report.html import Html, tag
from locentropy.report.standing import SETTLED, TOP
from locentropy.report.words import places_word

if TYPE_CHECKING:
    from locentropy.release.release import Release
    from locentropy.report.rows import Rows
    from locentropy.report.standing import Standing

LISTED: Final = ("public list", "grid")
"""How sources of places begin that could have coordinates."""


def selection(release: Release, rows: Rows) -> Html:
    """That not all places are shown, where that is so."""
    if not rows.left_out:
        return Html("")
    certain = " and those whose values are most certain" if "std_error" in rows.columns else ""
    return tag(
        "p",
        f"This page shows {len(rows):,} of {len(release):,} places: those with the highest values{certain}. Ranks, "
        "chances and the distribution are about all places; the tables beside this page have all of them.",
        class_="notice",
    )


def map_note(release: Release, rows: Rows) -> Html:
    """What is on the map, or why there is none."""
    if not rows.has_map:
        return tag("p", f"There is no map, because {_why_no_map(release)}.")
    certain = (
        " The larger and the more solid a dot, the surer is its value." if "certainty" in rows.columns else ""
    )
    missing = (
        f" {rows.without_coordinates:,} {places_word(rows.without_coordinates)} without coordinates "
        f"{'is' if rows.without_coordinates == 1 else 'are'} in the list only."
        if rows.without_coordinates
        else ""
    )
    return tag(
        "p",
        f"Each dot is a place, where the public list says it is; its colour is the published entropy.{certain}"
        f"{missing} ",
        tag(
            "span",
            "Drag to move; zoom with the buttons, or with the wheel after a click; point at a dot to see its numbers. "
            "With the keyboard: arrows, plus, minus, and zero for everything.",
            class_="for-mouse",
        ),
        tag(
            "span",
            "Move the map with two fingers, pinch to zoom, tap a dot to see its numbers.",
            class_="for-touch",
        ),
        class_="hint",
    )


def _why_no_map(release: Release) -> str:
    if not len(release):
        return "there is no place in this release"
    if release.statement.locations_source.startswith(LISTED):
        return "the public list of places has no coordinates"
    return "places were selected from the visits, whose coordinates are never published"


def list_note(release: Release, places: Standing) -> Html:
    """How the list is ranked, and what its chances are."""
    if not places.published:
        return tag("p", "No place has a value, so there is nothing to rank.", class_="hint")
    parts = ["Highest first."]
    if places.by == "entropy_busy":
        parts.append(
            "The order is that of the column entropy_busy, a second estimate from the same noisy answers that is "
            "better for busy places and worse for all places together; bars and numbers show the entropy itself, so "
            "they may be out of order."
        )
    if places.chance is not None:
        parts.append(
            f"“Top {TOP}” is the chance that a place is truly among the {TOP} highest{_of_published(release, places)}, "
            "computed from published values and error bars alone."
        )
    if (places.rank == 1).sum() > 1:
        parts.append("Places with equal values share a rank, marked with “=”.")
    return tag("p", " ".join(parts), class_="hint")


def distribution_note(release: Release, places: Standing) -> str:
    """Why the distribution of published values is not that of the true ones."""
    if not places.published:
        return ""
    if release.statement.mechanism in SETTLED:
        return (
            "Published values lie closer together than the true ones: where little is known, a value stays near what "
            "is usual. Point at a bar for its numbers."
        )
    return (
        "Published values are spread wider than the true ones, because noise was added to each. Point at a bar for "
        "its numbers."
    )


def _of_published(release: Release, places: Standing) -> str:
    return " of those that have a value" if places.published < len(release) else ""
