"""Bounds: the most that is counted of one user's record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from locentropy.core.checks import check_choice, positive_integer
from locentropy.core.errors import ColumnError

Keep = Literal["first", "most-visited", "lowest-id"]
"""Which of a user's locations are kept when there are more than `max_locations`."""


@dataclass(frozen=True)
class Bounds:
    """At most `max_locations` (M) locations per user, and at most `max_visits` (C) visits in each.

    Bounding a user depends on that user's own rows only: every sensitivity rests on this.
    Both numbers are public inputs: take them from general knowledge, never from the data.
    """

    max_locations: int
    """M: a user counts in at most this many locations."""

    max_visits: int
    """C: further visits of a user to the same location are not counted."""

    keep: Keep | None = None
    """The locations kept: those visited `first`, the `most-visited`, or those with the `lowest-id` (for reproducing
    the paper's experiments; ids are ordered by the length of their text and then byte by byte, which for whole numbers
    from 0 is by value). None means `first` if the table has times, else `most-visited`. Ties are broken by the md5 of
    the id's text, which is the same on every engine and independent of popularity."""

    def __post_init__(self) -> None:
        call = "Bounds(max_locations=5, max_visits=5)"
        for name in ("max_locations", "max_visits"):
            positive_integer(name, getattr(self, name), call)
            # Sensitivities are products of these: a NumPy integer would overflow in silence.
            object.__setattr__(self, name, int(getattr(self, name)))
        if self.keep is not None:
            example = 'Bounds(max_locations=5, max_visits=5, keep="most-visited")'
            check_choice(example, "keep", self.keep, get_args(Keep))

    @property
    def may_need_times(self) -> bool:
        """Whether they may keep what was visited first."""
        return self.keep in (None, "first")

    def resolved(self, *, has_time: bool) -> Bounds:
        """These bounds with `keep` chosen for a table with or without times."""
        if self.keep == "first" and not has_time:
            raise ColumnError(
                'keep="first" (--keep first) needs the time of each visit, and the table has no time column. Name it: '
                'time="checkin_time" (--time checkin_time); or use keep="most-visited" (--keep most-visited).'
            )
        return replace(self, keep=self.keep or ("first" if has_time else "most-visited"))
