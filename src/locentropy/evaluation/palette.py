"""One colour for each mechanism, the same on every page: Okabe and Ito's, which colour-blind people can tell apart."""

from __future__ import annotations

from typing import Final

_COLOURS: Final = {
    "shares": "#0072B2",  # blue
    "moments": "#D55E00",  # vermilion
    "limit": "#E69F00",  # orange
    "limit-ss": "#009E73",  # bluish green
    "limit-ptr": "#CC79A7",  # reddish purple
    "limit-cb": "#56B4E9",  # sky blue
    "baseline": "#F0E442",  # yellow
}
_MARKERS: Final = {
    "shares": "o",
    "moments": "s",
    "limit": "^",
    "limit-ss": "D",
    "limit-ptr": "v",
    "limit-cb": "P",
    "baseline": "X",
}

REFERENCE: Final = "#000000"
"""For what no mechanism made: a constant, the truth, a promise."""
MUTED: Final = "#666666"
"""For words and lines in the background; dark enough to be read on white."""
_OTHER: Final = MUTED


def colour_of(name: str) -> str:
    """The colour of a mechanism; one as the paper prints it has that of ours."""
    return _COLOURS.get(name.removesuffix("-as-printed"), _OTHER)


def marker_of(name: str) -> str:
    """The marker of a mechanism, for print without colours."""
    return _MARKERS.get(name.removesuffix("-as-printed"), "*")
