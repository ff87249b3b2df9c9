"""What Shares owes its callers beyond what every mechanism does: ../test_contract.py."""

from __future__ import annotations

import math
from typing import Any

import pytest

from locentropy.core.errors import EngineError
from locentropy.core.estimates import Estimates
from locentropy.core.locations import Locations
from locentropy.core.share_profile import ShareProfile
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.measurements import SPLIT_MAX_VISITS
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.noise import LATTICE, OpenDPNoise
from tests.mechanisms.recording import Crowd, CrowdQueries

from .recording import Recorder

CROWDS: list[Crowd] = [{1: 400, 2: 30}, {}, {2: 1}, {1: 1, 2: 1}, {2: 300}]
IDS = ["park", "nowhere", "attic", "cellar", "museum"]


def through(mechanism: Shares, crowds: list[Crowd] = CROWDS) -> Estimates:
    queries = CrowdQueries(crowds)
    return mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), SimulatedNoise(1)),
        Locations(queries.locations),
    )


class OtherShares(CrowdQueries):
    """Engines that cut otherwise than they were asked to, in each way there is."""

    asked_for = (0, 0, 0)

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        changed = [had + more for had, more in zip((unit, largest, max_visits), self.asked_for, strict=True)]
        return super().shares(*changed)


class ElsewhereShares(CrowdQueries):
    """An engine that answers about other locations."""

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        return CrowdQueries(CROWDS[1:], IDS[1:]).shares(unit, largest, max_visits)


@pytest.mark.parametrize(
    "queries",
    [
        *(
            type("Changed", (OtherShares,), {"asked_for": more})(CROWDS, IDS)
            for more in ((2**20, 0, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
        ),
        ElsewhereShares(CROWDS, IDS),
    ],
    ids=["a larger unit", "another share", "more visits", "fewer visits", "elsewhere"],
)
def test_an_answer_about_other_shares_is_refused(queries: Any) -> None:
    noise = Recorder()
    with pytest.raises(EngineError, match="other shares"):
        Shares(1.0).estimate(
            Shares(1.0).measure(queries, Locations(queries.locations), noise), Locations(queries.locations)
        )
    assert noise.drawn == [], "nothing was drawn"


def test_shares_asks_once_and_for_shares_alone() -> None:
    queries = CrowdQueries(CROWDS, IDS)
    Shares(1.0).estimate(
        Shares(1.0).measure(queries, Locations(queries.locations), OpenDPNoise()),
        Locations(queries.locations),
    )
    assert queries.asked == [(LATTICE, LATTICE, SPLIT_MAX_VISITS)]


@pytest.mark.parametrize(
    "max_users",
    [
        2,
        20,
        100,
        150,
    ],
)
def test_values_are_at_most_the_logarithm_of_the_users(max_users: int) -> None:
    crowds: list[Crowd] = [{1: 900}, {2: 700}]
    assert through(Shares(5.0), crowds).entropy.max() > math.log(max_users), "or this tests nothing"
    estimates = through(Shares(5.0, max_users=max_users), crowds)
    for column in (estimates.entropy, estimates.entropy_busy, estimates.low, estimates.high):
        assert (column >= 0).all()
        assert (column <= math.log(max_users)).all()


def test_there_are_error_bars_of_their_own_and_a_second_value() -> None:
    estimates = through(Shares(1.0))
    columns = ["location", "entropy", "std_error", "low", "high", "entropy_busy"]
    assert estimates.to_arrow().column_names == columns
    assert (estimates.low <= estimates.entropy).all()
    assert (estimates.entropy <= estimates.high).all()
    assert (estimates.std_error > 0).all()


def test_the_guarantee_says_what_is_promised_and_what_is_public() -> None:
    assert Shares(0.1).guarantee.kind == "pure"
    said = str(Shares(0.1, max_users=1000).guarantee)
    assert said.startswith("Differentially private with ε = 0.1, for one user's whole record")
    for known in ("epsilon = 0.1", "max_users = 1000", "the list, which was not made from the visits"):
        assert known in said


def test_a_list_of_no_place_has_all_columns_and_no_row() -> None:
    """A selection may name none: that is an answer, not an error."""
    queries = CrowdQueries([], [])
    estimates = Shares(1.0).estimate(
        Shares(1.0).measure(queries, Locations(queries.locations), OpenDPNoise()),
        Locations(queries.locations),
    )
    assert len(estimates) == 0
    assert estimates.private
    assert estimates.to_arrow().column_names == [
        "location",
        "entropy",
        "std_error",
        "low",
        "high",
        "entropy_busy",
    ]
