"""Public attributes on the page: their values, and what estimates owe to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES
from locentropy.release.columns import public_columns

if TYPE_CHECKING:
    from locentropy.release.release import Release

_SHORT: Final = 40
"""Letters of a value that a sentence can carry."""


def attribute_texts(release: Release) -> dict[str, list[str | None]]:
    """The values of each attribute that is a column, as text."""
    table = release.to_arrow()
    return {name: table[name].cast(pa.string()).to_pylist() for name in public_columns(release.statement)}


def leaning_sentence(release: Release) -> str:
    """What estimates lean on, in a sentence; empty where there are no attributes."""
    leans = [_example(release, name) for name in release.statement.attributes]
    if not leans:
        return ""
    return f"Values lean on what the public list says about places: {'; '.join(leans)}."


def leaning_paragraph(release: Release) -> str:
    """How estimates lean on attributes, and how much each explains."""
    said = (
        f"{leaning_sentence(release)} The less is known about a place itself, the more its value is that of places "
        "like it, and the more places there are like it, the surer that is. What a list says is public and was not "
        "made from the visits."
    )
    effects = [
        f"{effect.name} explains about {100 * effect.explained:.0f} % of how places differ"
        for effect in release.statement.leans_on
    ]
    return f"{said} Here {', '.join(effects)}." if effects else said


def _example(release: Release, name: str) -> str:
    if name == COORDINATES:
        return "estimates of places lean on places nearby"
    common = _most_common(release.to_arrow()[name])
    if isinstance(common, bool):
        return f"estimates of places lean on others for which “{name}” is the same"
    if common is None or len(str(common)) > _SHORT:
        return f"estimates of places lean on others of the same {name}"
    return f"estimates of places whose {name} is “{common}” lean on others of that {name}"


def _most_common(values: pa.ChunkedArray) -> Any:
    """The value that most places have, the first of several; None if none is known."""
    counted = pc.value_counts(values.drop_null())
    if not len(counted):
        return None
    at = int(pc.index(counted.field("counts"), pc.max(counted.field("counts"))).as_py())
    return counted.field("values")[at].as_py()
