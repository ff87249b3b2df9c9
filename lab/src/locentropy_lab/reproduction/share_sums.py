"""Share profiles of several groups of people, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.core.share_profile import ShareProfile

if TYPE_CHECKING:
    from collections.abc import Sequence


def total_shares(profiles: Sequence[ShareProfile]) -> ShareProfile:
    """The share profile of several groups of people together; nobody may be in two of them.

    A share depends on the user's own rows only, so sums over groups are sums over all. The groups must have been
    asked the same question about the same list of locations.
    """
    if not profiles:
        raise ParameterError("There are no share profiles, so there is no total.")
    first = profiles[0]
    asked = (first.unit, first.largest, first.max_visits)
    for each in profiles[1:]:
        if (each.unit, each.largest, each.max_visits) != asked or not each.locations.equals(first.locations):
            raise ParameterError("Share profiles of different questions or lists do not add up.")
    rows = (
        np.concatenate([each.index for each in profiles]),
        np.concatenate([each.visits for each in profiles]),
        np.concatenate([each.shares for each in profiles]),
    )
    by_share, by_visits = (
        tuple(np.concatenate([getattr(each, name)[part] for each in profiles]) for part in (0, 1))
        for name in ("by_share", "by_visits")
    )
    return ShareProfile.from_rows(
        first.locations, asked, rows, (by_share[0], by_share[1]), (by_visits[0], by_visits[1])
    )
