"""Shares and the survey: presence that is not one unit, cells that look at data, parts that exceed the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from locentropy.core import share_profile
from locentropy.core.share_profile import ShareProfile
from locentropy.mechanisms import survey as activity
from locentropy.mechanisms.shares import measurements as asking
from locentropy.mechanisms.shares.measurements import UNIT, ShareBudget, ShareQueries
from locentropy.visits import queries
from locentropy_lab.audit.mutation.planting import Change, Fault
from locentropy_lab.audit.recording import Recorder

_ENGINE: Final = "cost in the engine, shares"


def _in_two_cells(true: Any) -> Any:
    def cells(histogram: Any, thresholds: Any) -> Any:
        sums = true(histogram, thresholds)
        return sums + np.roll(sums, 1)

    return cells


def _cells_of_the_data(true: Any) -> Any:
    def cells(self: ShareProfile, thresholds: Any) -> Any:
        people = int(self.look.sum()) // self.unit
        return true(self, np.arange(len(thresholds)) + people % 3 + 1)

    return cells


def _more_than_all(true: Any) -> Any:
    def parts(epsilon: Any) -> Any:
        budget = true(epsilon)
        return replace(budget, look=budget.look + budget.split)

    return parts


def _bare_split(true: Any) -> Any:
    def privatize(self: ShareQueries, profile: Any, noise: Any) -> Any:
        return {**true(self, profile, noise), "split": true(self, profile, Recorder())["split"]}

    return privatize


FAULTS: Final = (
    Fault(
        "noise for one of two histograms",
        "a user is in both, and is protected in one",
        _ENGINE,
        (
            Change(
                asking,
                "laplace_scale",
                lambda true: lambda moved, epsilon: true(UNIT if moved == 2 * UNIT else moved, epsilon),
            ),
        ),
    ),
    Fault(
        "weights of the split not counted",
        "a share that counts thousandfold has the noise of one that counts once",
        _ENGINE,
        (
            Change(
                asking,
                "laplace_scale",
                lambda true: lambda moved, epsilon: true(min(moved, 2 * UNIT), epsilon),
            ),
        ),
    ),
    Fault(
        "presence not divided",
        "who was in a hundred places counts a hundred times",
        _ENGINE,
        (Change(queries, "share", lambda _: lambda places, unit, largest: np.full_like(places, largest)),),
    ),
    Fault(
        "shares rounded up",
        "seven sevenths are more than one",
        _ENGINE,
        (
            Change(
                queries,
                "share",
                lambda _: (
                    lambda places, unit, largest: np.minimum(np.int64(largest), -(-np.int64(unit) // places))
                ),
            ),
        ),
    ),
    Fault(
        "every row in two cells",
        "a histogram moves twice as far as its noise allows for",
        _ENGINE,
        (Change(share_profile, "_in_cells", _in_two_cells),),
    ),
    Fault(
        "bins from private values",
        "one user moves the edges, and with them everybody",
        _ENGINE,
        (Change(ShareProfile, "presence_by_visits", _cells_of_the_data),),
    ),
    Fault(
        "parts that add up to more than ε",
        "the split is given out, but not taken off the look",
        _ENGINE,
        (Change(ShareBudget, "of", _more_than_all),),
    ),
    Fault(
        "an answer used without its noise",
        "the inference reads exact sums, and publishes what they say",
        "what is published is computed from noisy numbers alone",
        (Change(ShareQueries, "privatize", _bare_split),),
    ),
    Fault(
        "M forgotten in the number of busy places",
        "one user can make M places busy, and is protected as if it were one",
        "cost in the engine, activity",
        (Change(activity, "laplace_scale", lambda true: lambda moved, epsilon: true(1, epsilon)),),
    ),
)
