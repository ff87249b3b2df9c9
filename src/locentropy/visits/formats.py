"""Published data sets that come as text without a header, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from locentropy.core.errors import ParameterError


@dataclass(frozen=True)
class Format:
    """How a published file is laid out."""

    about: str
    """What it is and whom to credit."""

    columns: tuple[str, ...]
    """The names of its columns, in order; the usual names make them recognised."""

    encoding: str = "utf-8"

    no_location: str | None = None
    """The location id that stands for "unknown place", read as missing."""


_SNAP: Final = ("user", "time", "lat", "lon", "location")

FORMATS: Final[dict[str, Format]] = {
    "gowalla": Format(
        about="Gowalla check-ins as published by SNAP (Cho, Myers, Leskovec, KDD 2011)",
        columns=_SNAP,
    ),
    "brightkite": Format(
        about="Brightkite check-ins as published by SNAP (Cho, Myers, Leskovec, KDD 2011)",
        columns=_SNAP,
        no_location="0" * 32,
    ),
    "foursquare": Format(
        about="Foursquare check-ins in New York and Tokyo (Yang, Zhang, Zheng, Yu, TSMC 2014)",
        columns=(
            "user", "location", "category_id", "category", "lat", "lon", "offset_minutes", "time",
        ),
        encoding="latin-1",
    ),
}  # fmt: skip


def format_named(name: str) -> Format:
    """The published format of that name."""
    if name not in FORMATS:
        raise ParameterError(
            f"format={name!r} is not known. Known formats: {', '.join(FORMATS)}. For example: --format gowalla. "
            "Other text files need no format: name their columns instead."
        )
    return FORMATS[name]
