"""What every mechanism owes its callers: the list, the nulls, the marks, the refusals, the promise in words."""

from __future__ import annotations

import math
import warnings
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

import locentropy as le
from locentropy import LimitPTR, Moments
from locentropy.core.errors import EngineError, ParameterError
from locentropy.core.estimates import Estimates
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms import LargeDeltaWarning
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.paper import Baseline, Limit, LimitCB, LimitSS
from locentropy.privacy.calibration import lattice_scales
from locentropy.privacy.noise import LATTICE, OpenDPNoise, to_lattice

from .recording import CrowdQueries, Recorder

ALL = [
    Baseline(1.0, max_locations=100, max_visits=1000),
    Limit(1.0, max_locations=3, max_visits=2),
    Moments(1.0, max_locations=3, max_visits=2),
    LimitSS(1.0, delta=1e-6, max_locations=3, max_visits=2),
    LimitPTR(2.0, delta=1e-6, max_locations=3, max_visits=2, min_users=2),
    LimitCB(1.0, max_locations=3, max_visits=2, min_users=3, accept_no_guarantee=True),
]
SELECTING = [mechanism for mechanism in ALL if isinstance(mechanism, LimitPTR | LimitCB)]
LISTING = [mechanism for mechanism in ALL if mechanism not in SELECTING]
ON_ENTROPY = [mechanism for mechanism in ALL if not isinstance(mechanism, Moments)]
"""Those that add noise to the entropy itself."""
SHARES = Shares(1.0)
"""The one that bounds nobody, and asks for shares where the others ask for a bounded profile."""


def name(mechanism: object) -> str:
    return type(mechanism).__name__


each = pytest.mark.parametrize("mechanism", ALL, ids=name)
each_and_shares = pytest.mark.parametrize("mechanism", [*ALL, SHARES], ids=name)
each_listing = pytest.mark.parametrize("mechanism", [*LISTING, SHARES], ids=name)
each_on_entropy = pytest.mark.parametrize("mechanism", ON_ENTROPY, ids=name)
each_selecting = pytest.mark.parametrize("mechanism", SELECTING, ids=name)

CROWDS = [{1: 400, 2: 30}, {}, {2: 1}, {1: 1, 2: 1}, {2: 300}]
IDS = ["park", "nowhere", "attic", "cellar", "museum"]


def through(mechanism, noise, *, listed=True, crowds=CROWDS, ids=IDS):
    queries = CrowdQueries(crowds, ids)
    return mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations) if listed else None, noise),
        Locations(queries.locations) if listed else None,
    )


# --- through the engine -----------------------------------------------------------------------------------------


def visits() -> le.Visits:
    rows = [(user, place) for user in range(400) for place in ("park", "museum", "elsewhere")[: 1 + user % 3]]
    rows += [(0, "park")] * 50 + [(1, "attic")] * 3
    return le.Visits(pa.table({"user": [u for u, _ in rows], "location": [at for _, at in rows]}))


@each_and_shares
def test_every_listed_location_is_there_visited_or_not(mechanism):
    listed = pa.array(["park", "nowhere", "attic", "museum"])
    with le.private.open_queries(visits(), locations=listed) as queries:
        estimates = mechanism.estimate(
            mechanism.measure(queries, Locations(listed), OpenDPNoise()), Locations(listed)
        )
    assert estimates.locations.equals(listed)
    table = estimates.to_arrow()
    assert table["location"].to_pylist() == listed.to_pylist()
    shown = [value is not None for value in table["entropy"].to_pylist()]
    assert shown == ([True, False, False, True] if mechanism in SELECTING else [True] * 4)
    assert estimates.estimand == ("true" if mechanism is SHARES else "bounded")
    assert estimates.private == mechanism.guarantee.private
    assert (estimates.entropy[[0, 3]] >= 0).all()


@each_selecting
def test_without_a_list_withheld_locations_are_absent(mechanism):
    with le.private.open_queries(visits()) as queries:
        assert "attic" in queries.locations.to_pylist()
        estimates = mechanism.estimate(mechanism.measure(queries, None, OpenDPNoise()), None)
    assert estimates.to_arrow()["location"].to_pylist() == ["elsewhere", "museum", "park"]
    assert estimates.to_arrow()["entropy"].null_count == 0


@each_selecting
def test_without_a_list_one_odd_id_does_not_show_in_the_others(mechanism, tmp_path):
    """In a text file ids are numbers if all of them are; one user's visit to "x" must not turn the others' type or order."""
    rows = [f"{user},{place}" for user in range(900) for place in (9, 10)]
    found = []
    for extra in ([], ["0,x"]):
        path = tmp_path / f"{len(extra)}.csv"
        path.write_text("\n".join(["user,location", *rows, *extra]))
        with le.private.open_queries(le.Visits(path)) as queries:
            found.append(
                (
                    queries.locations.type,
                    mechanism.estimate(mechanism.measure(queries, None, OpenDPNoise()), None).locations,
                )
            )
    (type_without, without), (type_with, with_) = found
    assert type_without != type_with, "or this tests nothing"
    assert without.equals(with_)
    assert without.to_pylist() == ["10", "9"]


@each_selecting
@pytest.mark.parametrize("listed", [True, False])
def test_nothing_to_publish_is_a_release_too(mechanism, listed):
    estimates = through(mechanism, OpenDPNoise(), listed=listed, crowds=[{1: 1}, {}], ids=["a", "b"])
    assert estimates.to_arrow()["entropy"].to_pylist() == ([None, None] if listed else [])
    assert estimates.locations.type == pa.string()


@each_listing
def test_without_a_list_the_others_refuse(mechanism):
    with pytest.raises(ParameterError, match=r"locations=None.*LimitPTR"):
        through(mechanism, OpenDPNoise(), listed=False)


@each_and_shares
@pytest.mark.parametrize(
    "other",
    [["park"], IDS[::-1], [*IDS[:-1], "moved"], [*IDS, "more"], [1, 2, 3, 4, 5]],
    ids=["fewer", "reordered", "renamed", "more", "numbers"],
)
def test_a_list_that_the_queries_do_not_follow_is_refused(mechanism, other):
    queries = CrowdQueries(CROWDS, IDS)
    with pytest.raises(ParameterError, match="not opened with the public list"):
        mechanism.estimate(
            mechanism.measure(queries, Locations(pa.array(other)), OpenDPNoise()), Locations(pa.array(other))
        )
    assert queries.asked == []


class Loose(CrowdQueries):
    """An engine that does not bound."""

    def profile(self, bounds):
        return super().profile(le.private.Bounds(bounds.max_locations, 10 * bounds.max_visits))


class Other(CrowdQueries):
    """An engine that answers about other locations."""

    def profile(self, bounds):
        return CrowdQueries(CROWDS[1:], IDS[1:]).profile(bounds)


@each
@pytest.mark.parametrize("kind", [Loose, Other])
def test_an_answer_to_another_question_is_refused(mechanism, kind):
    queries = kind(CROWDS, IDS)
    with pytest.raises(EngineError, match="another profile"):
        mechanism.estimate(
            mechanism.measure(queries, Locations(queries.locations), OpenDPNoise()),
            Locations(queries.locations),
        )


@each
def test_asks_for_its_own_bounds(mechanism):
    queries = CrowdQueries(CROWDS, IDS)
    mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), Recorder()), Locations(queries.locations)
    )
    assert queries.asked == [le.private.Bounds(mechanism.max_locations, mechanism.max_visits)]


# --- values -------------------------------------------------------------------------------------------------------


def recorded(mechanism) -> tuple[Recorder, Estimates]:
    noise = Recorder()
    return noise, through(mechanism, noise)


@each_on_entropy
def test_the_lattice_points_of_the_entropy_are_noised(mechanism):
    noise, estimates = recorded(mechanism)
    exact = (
        CrowdQueries(CROWDS, IDS)
        .profile(le.private.Bounds(mechanism.max_locations, mechanism.max_visits))
        .entropy
    )
    shown = ~np.isnan(estimates.entropy)
    assert noise.values.dtype == np.int64
    assert noise.values.tolist() == to_lattice(exact[shown]).tolist()
    assert estimates.entropy[shown].tolist() == (noise.values / LATTICE).tolist()


@each_on_entropy
def test_values_are_on_the_lattice_and_not_negative(mechanism):
    estimates = through(mechanism, OpenDPNoise(), crowds=CROWDS * 50, ids=[f"{i:03}" for i in range(250)])
    for column in (estimates.entropy, estimates.low, estimates.high):
        if column is not None:
            shown = column[~np.isnan(column)]
            assert (shown * LATTICE == np.rint(shown * LATTICE)).all()
            assert (shown >= 0).all()


@pytest.mark.parametrize("max_users", [1, 20])
def test_values_are_at_most_the_logarithm_of_the_users(max_users):
    for mechanism in (
        Limit(0.1, max_locations=3, max_visits=2, max_users=max_users),
        Moments(0.1, max_locations=3, max_visits=2, max_users=max_users),
        LimitSS(0.1, delta=1e-6, max_locations=3, max_visits=2, max_users=max_users),
        LimitPTR(5.0, delta=1e-6, max_locations=3, max_visits=2, min_users=2, max_users=max_users),
        LimitCB(
            0.1, max_locations=3, max_visits=2, min_users=3, accept_no_guarantee=True, max_users=max_users
        ),
    ):
        estimates = through(mechanism, OpenDPNoise(), crowds=CROWDS * 20, ids=[f"{i:03}" for i in range(100)])
        assert np.nanmax(estimates.entropy) == pytest.approx(math.log(max_users))
        for column in (estimates.low, estimates.high):
            assert column is None or np.nanmax(column) <= math.log(max_users)


def test_limit_ss_applies_each_location_its_own_scale():
    """Whatever the order of the locations, and for sizes that occur more than once."""
    sizes = np.random.default_rng(3).permutation([0, 0, 1, 2, 2, 3, 17, 500, 500, 30_000])
    mechanism = LimitSS(1.0, delta=1e-8, max_locations=5, max_visits=5)
    noise = Recorder()
    through(mechanism, noise, crowds=[{1: int(n)} for n in sizes], ids=[str(i) for i in range(10)])
    for n, scale in zip(sizes, noise.scales, strict=True):
        assert scale == lattice_scales(mechanism.calibration, mechanism.sensitivity, [int(n)])[0]


def test_limit_ss_noise_is_as_wide_as_its_scales():
    """By drawing, with a public seed: the mean of |noise| is the scale."""
    mechanism = LimitSS(1.0, delta=1e-8, max_locations=5, max_visits=5, split=0.9)
    sizes = [300] * 4000 + [5000] * 4000
    noise = SimulatedNoise(7)
    estimates = through(mechanism, noise, crowds=[{1: n} for n in sizes], ids=[str(i) for i in range(8000)])
    scales = lattice_scales(mechanism.calibration, mechanism.sensitivity, [300, 5000]) / LATTICE
    for at, n, scale in ((slice(4000), 300, scales[0]), (slice(4000, None), 5000, scales[1])):
        assert np.abs(estimates.entropy[at] - math.log(n)).mean() == pytest.approx(scale, rel=0.07)


# --- marks and error bars -------------------------------------------------------------------------------------


@each_and_shares
def test_simulated_noise_is_marked(mechanism):
    assert not through(mechanism, SimulatedNoise(1)).private


@each_on_entropy
def test_error_bars_are_public_constants_or_absent(mechanism):
    estimates = through(mechanism, OpenDPNoise())
    if isinstance(mechanism, LimitSS | LimitCB):
        assert estimates.std_error is estimates.low is estimates.high is None
        assert estimates.to_arrow().column_names == ["location", "entropy"]
        return
    shown = ~np.isnan(estimates.entropy)
    assert len(set(estimates.std_error[shown])) == 1
    assert np.isnan(estimates.low[~shown]).all()
    assert (estimates.low[shown] <= estimates.entropy[shown]).all()
    assert (estimates.entropy[shown] <= estimates.high[shown]).all()
    assert estimates.to_arrow().column_names == ["location", "entropy", "std_error", "low", "high"]


# --- promises in words ------------------------------------------------------------------------------------------


def test_guarantees_say_what_is_promised_and_what_is_public():
    said = str(Limit(0.1, max_locations=5, max_visits=3, keep="first", max_users=1000).guarantee)
    assert said.startswith("Differentially private with ε = 0.1, for one user's whole record")
    for known in ("epsilon = 0.1", "max_locations = 5", "max_visits = 3", "keep = first", "max_users = 1000"):
        assert known in said
    assert "locations = the list, which was not made from the visits" in said
    assert Limit(0.1, max_locations=5, max_visits=3).guarantee.kind == "pure"
    assert (
        Moments(0.1, max_locations=5, max_visits=3).guarantee
        == Limit(0.1, max_locations=5, max_visits=3).guarantee
    )
    assert (
        Baseline(0.1, max_locations=5, max_visits=3).guarantee
        == Limit(0.1, max_locations=5, max_visits=3).guarantee
    )
    for mechanism in (
        LimitSS(0.1, delta=1e-9, max_locations=5, max_visits=3),
        LimitPTR(0.1, delta=1e-9, max_locations=5, max_visits=3, min_users=7),
    ):
        assert mechanism.guarantee.kind == "approximate"
        assert str(mechanism.guarantee).startswith("Differentially private with ε = 0.1, δ = 1e-9")
        assert "split = 0.5" in str(mechanism.guarantee)
    assert "min_users = 7" in str(
        LimitPTR(0.1, delta=1e-9, max_locations=5, max_visits=3, min_users=7).guarantee
    )
    assert "floor = 0.001" in str(LimitSS(0.1, delta=1e-9, max_locations=5, max_visits=3).guarantee)
    assert str(ALL[-1].guarantee).startswith("Not differentially private: which locations Limit-CB publishes")


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 1 / 3, 7])
@pytest.mark.parametrize("split", [0.1, 0.3, 1 / 3, 0.7])
def test_the_parts_of_limit_ptr_add_up_to_epsilon(epsilon, split):
    mechanism = LimitPTR(epsilon, delta=1e-8, max_locations=5, max_visits=5, min_users=50, split=split)
    assert sum(mechanism.budgets) == mechanism.guarantee.epsilon
    assert min(mechanism.budgets) > 0


# --- refusals -----------------------------------------------------------------------------------------------------

GOOD = {
    Baseline: {"epsilon": 1.0, "max_locations": 5, "max_visits": 5},
    Limit: {"epsilon": 1.0, "max_locations": 5, "max_visits": 5},
    Moments: {"epsilon": 1.0, "max_locations": 5, "max_visits": 5},
    Shares: {"epsilon": 1.0},
    LimitSS: {"epsilon": 1.0, "delta": 1e-8, "max_locations": 5, "max_visits": 5},
    LimitPTR: {"epsilon": 1.0, "delta": 1e-8, "max_locations": 5, "max_visits": 5, "min_users": 50},
    LimitCB: {
        "epsilon": 1.0,
        "max_locations": 5,
        "max_visits": 5,
        "min_users": 50,
        "accept_no_guarantee": True,
    },
}
BAD = {
    "epsilon": [0.0, -1.0, math.inf, math.nan, "1", None, True, np.float32(0.1)],
    "delta": [0.0, 1.0, -1e-8, math.nan, "1e-8", None, True],
    "max_locations": [0, -1, 2.0, True, "5", 2**31],
    "max_visits": [0, -1, 2.0, True, "5", 2**31, 1_000_001],
    "min_users": [-1, 2.0, True, "5"],
    "split": [0.0, 1.0, -0.5, math.nan, "half"],
    "floor": [-1e-3, math.nan, math.inf, "0"],
    "keep": ["last"],
    "max_users": [0, -1, 1.5, True],
    "accept_no_guarantee": [False, None, 1, "yes"],
    "counts": [-0.1, 0.91, 1, math.nan, "0.2", True],
}


@pytest.mark.parametrize("kind", GOOD)
def test_refuses_with_the_name_the_value_and_a_correct_call(kind):
    bad = [(field, value) for field in fields(kind) for value in BAD[field.name]]
    for parameter, value in [(field.name, value) for field, value in bad if value != field.default]:
        with pytest.raises(ParameterError) as refused:
            kind(**(GOOD[kind] | {parameter: value}))
        message = str(refused.value)
        assert f"{parameter}={value!r}" in message
        assert f"{kind.__name__}(" in message or parameter == "keep", message


def test_delta_has_no_default_and_limit_cb_is_refused_by_default():
    with pytest.raises(TypeError, match="delta"):
        LimitSS(epsilon=1.0, max_locations=5, max_visits=5)
    with pytest.raises(TypeError, match="delta"):
        LimitPTR(epsilon=1.0, max_locations=5, max_visits=5, min_users=50)
    with pytest.raises(ParameterError, match=r"not differentially private.*LimitPTR"):
        LimitCB(1.0, max_locations=5, max_visits=5, min_users=50)
    with pytest.raises(ParameterError, match="min_users=0"):
        LimitCB(1.0, max_locations=5, max_visits=5, min_users=0, accept_no_guarantee=True)


def test_a_budget_for_which_no_noise_is_enough_is_refused_before_anything_is_asked():
    with pytest.raises(ParameterError, match="no usable noise"):
        LimitSS(1e-7, delta=1e-8, max_locations=1000, max_visits=5)
    with pytest.raises(ParameterError, match="must leave each of the M = 1000 locations"):
        LimitPTR(1e-7, delta=1e-8, max_locations=1000, max_visits=5, min_users=50)
    queries = CrowdQueries(CROWDS, IDS)
    with pytest.raises(ParameterError, match="too large"):
        Limit(1e-12, max_locations=1000, max_visits=5).estimate(
            Limit(1e-12, max_locations=1000, max_visits=5).measure(
                queries, Locations(queries.locations), OpenDPNoise()
            ),
            Locations(queries.locations),
        )
    assert queries.asked == []


@pytest.mark.parametrize(
    "make",
    [
        lambda users: LimitSS(1.0, delta=1e-4, max_locations=5, max_visits=5, max_users=users),
        lambda users: LimitPTR(1.0, delta=1e-4, max_locations=5, max_visits=5, min_users=50, max_users=users),
    ],
)
def test_warns_of_a_delta_above_one_over_the_users(make):
    with pytest.warns(LargeDeltaWarning, match="δ = 0.0001 is above one over the number of users") as caught:
        make(100_000)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(10_000)
        make(None)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint16, np.int64])
def test_narrow_whole_numbers_do_not_overflow(kind):
    """6000 · 726,819 is beyond 32 bits: multiplied as such it would become a small sensitivity."""
    many = 100 if kind is np.int8 else 6000
    for plain, narrow in (
        (
            Limit(1.0, max_locations=many, max_visits=5),
            Limit(1.0, max_locations=kind(many), max_visits=kind(5)),
        ),
        (
            Moments(1.0, max_locations=many, max_visits=5),
            Moments(1.0, max_locations=kind(many), max_visits=kind(5)),
        ),
        (
            LimitPTR(1.0, delta=1e-8, max_locations=many, max_visits=5, min_users=50),
            LimitPTR(1.0, delta=1e-8, max_locations=kind(many), max_visits=kind(5), min_users=kind(50)),
        ),
    ):
        assert narrow == plain
        assert narrow.scale == plain.scale
    assert (
        LimitSS(1.0, delta=1e-8, max_locations=kind(many), max_visits=kind(5)).calibration
        == LimitSS(1.0, delta=1e-8, max_locations=many, max_visits=5).calibration
    )


def test_a_selection_says_what_it_takes_as_public() -> None:
    selection = SelectLocations(0.2, delta=1e-8, max_locations=20)
    assert "selection_max_locations = 20" in str(selection.guarantee)
    both = selection.followed_by(Limit(1.0, max_locations=5, max_visits=5).guarantee)
    assert "not made from the visits" not in str(both)
    assert float(both.epsilon or 0) == 1.2
