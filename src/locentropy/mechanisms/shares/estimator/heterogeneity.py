"""How much places of one size differ in who comes.

Two places of the same look may be visited by people of few places and by people of many: then one has fewer visitors
than the other. Nothing that is asked shows this place by place. But the histograms show how much *bands* of places
differ in who comes; and where bands are alike, as in a city whose people choose places by popularity alone, so are the
places within them, while tourists' and commuters' places, or communities that keep to places of their own, make bands
differ too. So the spread between bands, beyond their noise, stands for that between places, which is `WITHIN` times as
large; a weak belief in what is usual decides where there are few bands or none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

USUAL: Final = 0.35
"""Standard deviation of ln(presence/n) between places of one size, beyond chance, as it is in many cities;"""
SURE: Final = 0.5
"""and that of its logarithm between cities."""
WITHIN: Final = 1.5
"""Places within a band differ so many times as much as bands do."""
LEAST: Final = 0.02
"""Bands may be misread by this much, noise aside."""

_TRIED: Final[NDArray[np.float64]] = np.exp(np.linspace(math.log(0.04), math.log(0.7), 40))


def learn_heterogeneity(between: Reals, deviation: Reals) -> float:
    """The standard deviation of ln(presence/n) between places of one size.

    `between` is what each band says of it, up to a constant, and `deviation` how surely.
    """
    fit = -((np.log(_TRIED / USUAL) / SURE) ** 2) / 2
    if between.size:
        variance = (_TRIED[:, None] / WITHIN) ** 2 + deviation**2 + LEAST**2
        precision = (1 / variance).sum(axis=1)
        middle = (between / variance).sum(axis=1) / precision
        # Normal, with a mean about which nothing is known.
        off = (between - middle[:, None]) ** 2
        fit = fit - ((off / variance + np.log(variance)).sum(axis=1) + np.log(precision)) / 2
    weight = np.exp(fit - fit.max())
    return float(weight @ _TRIED / weight.sum())
