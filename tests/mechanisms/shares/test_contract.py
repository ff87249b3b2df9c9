"""What Shares owes its callers beyond what every mechanism does: ../test_contract.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from locentropy.core.errors import EngineError, ParameterError
from locentropy.core.estimates import Estimates, Measurements
from locentropy.core.locations import Locations
from locentropy.core.shares import ShareRule
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.noise import OpenDPNoise
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


class Elsewhere(CrowdQueries):
    """An engine that answers about other locations."""

    def look(self, rule: ShareRule) -> Any:
        return CrowdQueries(CROWDS[1:], IDS[1:]).look(rule)


class Fractions(CrowdQueries):
    """An engine that does not answer in integers."""

    def look(self, rule: ShareRule) -> Any:
        return super().look(rule) / 2


class OtherCells(CrowdQueries):
    """An engine that has more cells than it was asked for."""

    def presence(self, rule: ShareRule, bands: Any, places: Any, visits: Any) -> Any:
        return super().presence(rule, bands, (*places, 10**6), visits)


@pytest.mark.parametrize(("queries", "drawn"), [(Elsewhere, 0), (Fractions, 0), (OtherCells, 1)])
def test_an_answer_to_another_question_is_refused(queries: Any, drawn: int) -> None:
    """Before it gets noise; what was noised earlier is nobody's business."""
    noise, asked = Recorder(), queries(CROWDS, IDS)
    with pytest.raises(EngineError, match="The engine answered"):
        Shares(1.0).measure(asked, Locations(asked.locations), noise)
    assert len(noise.drawn) == drawn


def test_queries_about_another_list_are_refused() -> None:
    noise, asked = Recorder(), CrowdQueries(CROWDS, IDS)
    with pytest.raises(ParameterError, match="not opened with the public list"):
        Shares(1.0).measure(asked, Locations.of(IDS[1:]), noise)
    assert noise.drawn == []


class Watched(CrowdQueries):
    """Writes down what is asked, among what is noised."""

    def __init__(self, noise: Recorder) -> None:
        super().__init__(CROWDS, IDS)
        self.noise = noise
        self.order: list[tuple[str, int]] = []

    def look(self, rule: ShareRule) -> Any:
        self.order.append(("look", len(self.noise.drawn)))
        return super().look(rule)

    def presence(self, *asked: Any) -> Any:
        self.order.append(("presence", len(self.noise.drawn)))
        return super().presence(*asked)

    def restricted_to(self, locations: Locations) -> Any:
        self.order.append(("restricted_to", len(self.noise.drawn)))
        return super().restricted_to(locations)


@pytest.mark.parametrize("delta", [0.0, 1e-8])
def test_every_stage_is_noised_before_the_next_is_asked(delta: float) -> None:
    noise = Recorder(1, all_clear=True)
    queries = Watched(noise)
    Shares(1.0, delta=delta).measure(queries, Locations(queries.locations), noise)
    assert queries.order == [("look", 0), ("presence", 1), ("presence", 2), ("restricted_to", 3)]
    assert len(noise.drawn) == 4


def test_without_a_clear_place_no_split_is_asked() -> None:
    class Drowned(Recorder):
        def laplace(self, values: Any, scale: float) -> Any:
            return super().laplace(values, scale) * 0

    queries = CrowdQueries(CROWDS, IDS)
    measured = Shares(1.0).measure(queries, Locations(queries.locations), Drowned())
    assert measured.values["split"].shape == (0,)
    assert set(measured.values) == set(Shares(1.0).query_names(Locations(queries.locations)))


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
    for column in (estimates.entropy, estimates.low, estimates.high):
        assert (column >= 0).all()
        assert (column <= math.log(max_users)).all()


def test_there_are_error_bars_of_their_own() -> None:
    estimates = through(Shares(1.0))
    columns = ["location", "entropy", "std_error", "low", "high"]
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
    ]


@pytest.mark.parametrize("name", ["look", "sizes", "visits", "split"])
def test_measurements_of_other_shapes_are_refused(name: str) -> None:
    """They may come from a file that anybody has written."""
    queries = CrowdQueries(CROWDS, IDS)
    listed = Locations(queries.locations)
    measured = Shares(1.0).measure(queries, listed, SimulatedNoise(1))
    for wrong in (
        measured.values[name][None],
        measured.values[name].repeat(2, axis=0),
        np.zeros((3, 0), int),
    ):
        with pytest.raises(ParameterError, match="do not have the shapes"):
            Shares(1.0).estimate(
                Measurements(listed.ids, dict(measured.values) | {name: wrong}, True), listed
            )
    fewer = {kept: values for kept, values in measured.values.items() if kept != name}
    with pytest.raises(ParameterError, match="do not have the shapes"):
        Shares(1.0).estimate(Measurements(listed.ids, fewer, True), listed)
