"""Advice: what is recommended when, from public numbers and from noisy statistics; and that it never sees visits."""

from __future__ import annotations

import inspect
import json
import math
import shlex
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy import LimitPTR
from locentropy.core.errors import ParameterError
from locentropy.evaluation.advice import advisor, recommendations
from locentropy.evaluation.advice.advice import Advice
from locentropy.evaluation.advice.advisor import advise
from locentropy.evaluation.advice.bounds import measured_habits
from locentropy.evaluation.advice.density import crossover, measured_density, supposed_density
from locentropy.evaluation.advice.recommendations import proposed_delta, roomy
from locentropy.mechanisms.expected_error import named_from
from locentropy.mechanisms.registry import mechanism_from, mechanism_names
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.survey import Activity, ActivitySurvey
from locentropy.paper import LimitCB, LimitSS
from locentropy.privacy.noise import LATTICE


def activity(
    places: list[int],
    visits: list[int],
    busy: int = 0,
    locations: int = 1000,
    epsilon: float = 0.05,
    private: bool = True,
) -> Activity:
    """What a survey might have found."""
    survey = ActivitySurvey(epsilon, 5, 134)
    return Activity(
        survey.guarantee, private, locations, 5, 134,
        (*places, *[0] * (14 - len(places))), survey.margins["places"],
        (*visits, *[0] * (13 - len(visits))), survey.margins["visits"],
        busy, survey.margins["busy"],
    )  # fmt: skip


class TestPublicNumbers:
    def test_shares_by_default(self) -> None:
        advice = advise(1, n_locations=14_058, n_users=10_000)
        assert (advice.choice.name, advice.estimand) == ("shares", "true")
        assert advice.choice.parameters == {"epsilon": "1"}
        assert advice.density is not None
        assert advice.density.verdict == "sparse"
        assert [each.choice.name for each in advice.alternatives] == ["shares", "moments", "limit-ptr"]
        assert advice.expected_range is not None
        low, high = advice.expected_range
        assert 0 < low < high < 2

    def test_moments_for_short_lists(self) -> None:
        short, longer = (advise(1, n_locations=n, n_users=50_000) for n in (9, 10))
        assert (short.choice.name, longer.choice.name) == ("moments", "shares")
        assert short.estimand == "bounded"
        assert "short" in short.reasons[0]
        assert advise(1, n_locations=3).choice.parameters["max_locations"] == 3, "nobody can be in more"

    def test_moments_where_the_bounded_entropy_is_enough_and_places_are_busy(self) -> None:
        busy = {"n_locations": 400, "n_users": 200_000, "locations_per_user": 10}
        assert advise(1, **busy).choice.name == "shares"
        assert advise(1, **busy, bounded_is_enough=True).choice.name == "moments"
        thin = advise(1, n_locations=100_000, n_users=20_000, locations_per_user=10, bounded_is_enough=True)
        assert thin.choice.name == "shares"
        assert "too small" in thin.reasons[-1]
        unknown = advise(1, n_locations=400, bounded_is_enough=True)
        assert unknown.choice.name == "shares", "nobody knows whether places are busy"

    def test_a_selection_where_no_list_is_public(self) -> None:
        advice = advise(1, n_users=100_000, delta=1e-8)
        assert advice.choice.name == "shares"
        assert advice.choice.parameters == {"epsilon": "0.7"}
        assert advice.choice.selection == {"epsilon": "0.3", "delta": "1e-08", "max_locations": 5}
        assert advice.choice.places is not None
        assert advice.density is None
        assert [each.choice.name for each in advice.alternatives] == ["limit-ptr"]
        assert "--places" not in advice.command()
        curve = advice.choice.places.curve.probability
        [named] = [n for n in range(1, 2000) if curve(np.array([n]))[0] >= 0.5][:1]
        assert f"about {named:,} counted users" in advice.expected[0]

    def test_budgets_add_up_exactly(self) -> None:
        from fractions import Fraction

        for epsilon in (0.1, 0.7, 3):
            choice = advise(epsilon, n_users=1000).choice
            assert choice.selection is not None
            parts = Fraction(str(choice.parameters["epsilon"])) + Fraction(str(choice.selection["epsilon"]))
            assert parts == Fraction(str(epsilon))

    def test_thin_data_is_warned_of(self) -> None:
        thin = advise(0.1, n_locations=14_058, n_users=5_800)
        assert any("too thin" in text for text in thin.warnings)
        assert not any("too thin" in text for text in advise(1, n_locations=1000, n_users=50_000).warnings)

    def test_hardly_anybody(self) -> None:
        few = advise(1, n_locations=9, n_users=7)
        assert few.expected_range is None
        assert "nothing but noise" in few.expected[0]

    def test_hardly_any_budget(self) -> None:
        """Where what would be recommended refuses the ε, so does the advice."""
        assert "Not even places of 1,048,576 users" in named_from(
            SelectLocations(3e-7, delta=1e-8, max_locations=5)
        )
        for numbers in ({}, {"n_locations": 1000}):
            with pytest.raises(ParameterError, match=r"epsilon=.* for Shares"):
                advise(1e-6, n_users=10_000, **numbers)

    def test_unknown_is_said_to_be_unknown(self) -> None:
        advice = advise(1, n_locations=1000)
        assert advice.expected_range is None
        assert advice.expected[0].startswith("Unknown: the number of people is not given")
        assert advice.density is not None
        assert advice.density.verdict == "unknown"

    def test_a_delta_is_proposed_and_said_to_be(self) -> None:
        proposed = advise(1, n_locations=14_058, n_users=10_000)
        assert any("δ = 1e-8 is a proposal" in text for text in proposed.warnings)
        given_ = advise(1, n_locations=14_058, n_users=10_000, delta=1e-6)
        assert not any("proposal" in text for text in given_.warnings)
        assert given_.alternatives[-1].choice.parameters["delta"] == "1e-06"
        loose = advise(1, n_locations=14_058, n_users=10_000, delta=1e-4)
        assert any("not far below" in text for text in loose.warnings)
        for people in (1, 999, 1000, 10**6, 2**31 - 1):
            assert float(proposed_delta(people)) <= 1e-3 / people

    @given(
        epsilon=st.sampled_from([0.01, 0.1, 0.5, 1, 3, 20]),
        locations=st.none() | st.integers(1, 10**7),
        people=st.none() | st.integers(1, 10**8),
        places_per_person=st.none() | st.integers(1, 10**4),
        visits_per_place=st.none() | st.integers(1, 10**4),
        bounded=st.booleans(),
    )
    def test_always_something_that_can_be_run(
        self, epsilon, locations, people, places_per_person, visits_per_place, bounded
    ) -> None:
        advice = advise(
            epsilon, n_locations=locations, n_users=people, locations_per_user=places_per_person,
            visits_per_location=visits_per_place, bounded_is_enough=bounded,
        )  # fmt: skip
        for choice in (advice.choice, *(each.choice for each in advice.alternatives)):
            if choice.name in mechanism_names():
                assert mechanism_from(choice.name, choice.parameters) == choice.mechanism
            assert choice.parameters.get("max_locations", 1) <= (locations or math.inf)
            _ = choice.places
        assert advice.reasons
        assert advice.expected
        assert json.loads(json.dumps(advice.to_dict()))["mechanism"]["name"] == advice.choice.name
        assert shlex.split(advice.command())[:2] == ["locentropy", "publish"]
        assert "nan" not in str(advice)


class TestSeen:
    def test_people_and_places_come_from_the_statistics(self) -> None:
        found = activity([0, 0, 0, 20_000, 20_000], [0, 0, 40_000], busy=100)
        advice = advise(1, activity=found)
        assert advice.choice.name == "shares"
        assert advice.activity is found
        assert advice.density is not None
        assert advice.density.verdict == "sparse"
        moments = advice.alternatives[1].choice.parameters
        assert moments["max_visits"] == 4
        assert 5 < moments["max_locations"] <= 16
        assert moments["max_users"] == 100_000, "with room above a noisy number"
        known = advise(1, n_users=45_678, activity=found).alternatives[1].choice.parameters
        assert known["max_users"] == 100_000, "what is said is a guess, too"

    def test_a_proposed_bound_on_people_is_called_one(self) -> None:
        minded = [
            text for text in advise(1, n_locations=400, n_users=3000).warnings if "--max-users 5000" in text
        ]
        assert len(minded) == 1
        assert "must be public" in minded[0]
        assert not [text for text in advise(1, n_locations=400).warnings if "--max-users" in text]

    def test_noise_that_says_nothing_falls_back_to_the_usual(self) -> None:
        quiet = activity([30, -20, 60, 10, -80, 90, 3, 100, -7, 55, 120, 90, 60, 130], [50, -30, 20])
        habits = measured_habits(quiet)
        assert (habits.places, habits.visits) == ((), ())
        moments = advise(1, activity=quiet).alternatives[1].choice.parameters
        assert (moments["max_locations"], moments["max_visits"]) == (5, 5)

    def test_noise_in_the_tail_does_not_decide(self) -> None:
        """A hundred people who are not there would have been at 4,097 places each and outweighed all others."""
        calm = activity([5000, 3000], [8000])
        noisy = activity([5000, 3000, *[0] * 11, 350], [8000])
        both = [advise(1, activity=each).alternatives[1].choice.parameters for each in (calm, noisy)]
        assert both[0] == both[1]

    def test_a_short_list_in_the_data(self) -> None:
        found = activity([3000, 3000], [6000], locations=9)
        assert advise(1, activity=found).choice.name == "moments"

    def test_the_verdict_is_undecided_within_noise(self) -> None:
        margin = activity([], []).busy_margin
        line = 9000
        for busy, verdict in (
            (line + margin, "dense"),
            (line + margin - 1, "undecided"),
            (line - margin, "undecided"),
            (line - margin - 1, "sparse"),
        ):
            seen = measured_density(activity([], [], busy=busy, locations=10_000))
            assert seen.verdict == verdict
            assert seen.why.lower().startswith(verdict)
            assert ("could decide" in seen.why) == (verdict == "undecided")
        dense = advise(1, activity=activity([99_000], [99_000], busy=9990, locations=10_000))
        assert [each.choice.name for each in dense.alternatives] == ["shares", "moments", "limit-ss"]

    def test_the_spend_that_could_tell(self) -> None:
        """With that spend the margin is a twentieth of the places."""
        seen = measured_density(activity([], [], busy=800, locations=1000))
        spend = float(seen.why.rsplit("ε = ", 1)[1].split(" ")[0])
        margin = ActivitySurvey(spend, 5, 134).margins["busy"]
        assert margin == pytest.approx(50, rel=0.1)

    def test_a_noisy_number_is_told_within_what_is_possible(self) -> None:
        assert "0 to" in measured_density(activity([], [], busy=-5000, locations=10_000)).why
        assert "to 10,000 of" in measured_density(activity([], [], busy=20_000, locations=10_000)).why


class TestOnlyWhatWasPaidFor:
    def test_takes_no_visits(self) -> None:
        assert set(inspect.signature(advise).parameters) == {
            "epsilon", "n_locations", "n_users", "delta", "locations_per_user", "visits_per_location",
            "bounded_is_enough", "activity", "levels", "level_sizes", "period", "periods",
        }  # fmt: skip
        with pytest.raises(ParameterError, match="takes no visits"):
            advise(1, activity="visits.parquet")  # type: ignore[arg-type]

    def test_refuses_simulated_noise(self) -> None:
        with pytest.raises(ParameterError, match="locentropy evaluate"):
            advise(1, activity=activity([9], [9], private=False))

    def test_the_advisor_cannot_read(self) -> None:
        """Neither it nor what it uses knows of visits or engines; the paying does, in a module of its own."""
        for module in (advisor, recommendations):
            assert "locentropy.visits" not in inspect.getsource(module)

    def test_refuses_contradictions(self) -> None:
        with pytest.raises(ParameterError, match="contradicts"):
            advise(1, n_locations=5, activity=activity([9], [9], locations=6))


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": 1, "n_locations": 0}, "n_locations=0"),
        ({"epsilon": 1, "n_users": 2.5}, "n_users=2.5"),
        ({"epsilon": 1, "delta": 1}, "delta=1"),
        ({"epsilon": 1, "locations_per_user": -1}, "locations_per_user=-1"),
        ({"epsilon": 1, "visits_per_location": True}, "visits_per_location=True"),
    ],
)
def test_errors_show_a_correct_call(given_: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as raised:
        advise(**given_)
    assert "advise(epsilon=1.0, n_locations=14_058, n_users=10_000" in str(raised.value)


class TestCrossover:
    def test_the_corrected_number_of_the_paper(self) -> None:
        assert crossover(5, 1e-8, 5, 5, 50) == 110
        assert crossover(1, 1e-8, 5, 5, 50) == 134

    @pytest.mark.parametrize(
        ("epsilon", "max_locations", "min_users"), [(0.5, 1, 20), (1, 20, 50), (2, 5, 100)]
    )
    def test_compares_the_noise_that_is_drawn(self, epsilon, max_locations, min_users) -> None:
        threshold = crossover(epsilon, 1e-8, max_locations, 5, min_users)
        smooth = LimitSS(epsilon, delta=1e-8, max_locations=max_locations, max_visits=5)
        crowd = LimitCB(
            epsilon, max_locations=max_locations, max_visits=5, min_users=min_users, accept_no_guarantee=True
        )
        before, *after = smooth.scales(np.arange(threshold - 1, threshold + 500))
        assert before > crowd.scale
        assert max(after) <= crowd.scale

    def test_never(self) -> None:
        assert crossover(0.001, 1e-12, 50, 5, 10**6) is None
        assert supposed_density(None, 10, 10, 5).verdict == "sparse"

    def test_too_few_people_is_sparse_for_certain(self) -> None:
        assert supposed_density(100, 10, 180, 5).verdict == "unknown", "180 people 5 times fill 9 places"
        assert supposed_density(100, 10, 179, 5).verdict == "sparse"
        assert supposed_density(100, 1, 99, 5).verdict == "sparse"
        assert supposed_density(100, 10, None, 5).verdict == "unknown"


def test_room_for_a_noisy_number_of_people() -> None:
    assert [roomy(n) for n in (1, 3, 4, 9, 40_000, 66_666, 66_667)] == [
        2,
        5,
        10,
        20,
        100_000,
        100_000,
        200_000,
    ]
    assert roomy(None) is None
    assert roomy(10**12) == 2**31 - 1, "mechanisms take no more, and noise may look like any number"


@pytest.mark.parametrize("given", [{"epsilon": 5000}, {"epsilon": 1, "delta": 1e-300}], ids=str)
@pytest.mark.parametrize("noisy", [0, 10**6, 10**12])
def test_advice_that_was_paid_for_is_given(given: dict[str, Any], noisy: int) -> None:
    """Whatever noise says, and also where an alternative cannot be had."""
    found = activity([noisy], [noisy], busy=noisy, locations=100)
    advice = advise(**given, activity=found)
    assert advice.mechanism
    assert all(each.choice.mechanism for each in advice.alternatives)


class TestLimitPtr:
    @pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3])
    def test_k_is_the_least_round_one_that_is_useful(self, epsilon) -> None:
        advice = advise(epsilon, n_users=10_000)
        k = advice.alternatives[0].choice.parameters["min_users"]
        for users, useful in ((k, True), (k // 2 - 1, False)):
            noise = (
                LimitPTR(
                    epsilon,
                    delta=float(proposed_delta(10_000)),
                    max_locations=5,
                    max_visits=5,
                    min_users=users,
                ).scale
                / LATTICE
            )
            assert (noise < 0.5) == useful

    def test_says_so_where_none_is(self) -> None:
        advice = advise(0.001, n_locations=9, n_users=10_000)
        [tested] = [each for each in advice.alternatives if each.choice.name == "limit-ptr"]
        assert "still leaves too much noise" in tested.when


class TestWords:
    @pytest.fixture
    def every(self) -> Iterator[Advice]:
        return iter(
            [
                advise(1, n_locations=14_058, n_users=10_000),
                advise(1, n_locations=9, n_users=100),
                advise(1, n_users=100_000),
                advise(1, activity=activity([9000], [9000])),
            ]
        )

    def test_as_text(self, every: Iterator[Advice]) -> None:
        for advice in every:
            text = str(advice)
            assert text.startswith(f"Use {advice.choice.name} --epsilon")
            for heading in ("Why:", "What error to expect:"):
                assert heading in text
            for reason in (*advice.reasons, *advice.expected, *advice.warnings):
                assert reason in text
                assert reason.endswith(".")

    def test_the_command_quotes_names(self) -> None:
        advice = advise(1, n_locations=14_058, n_users=10_000)
        words = shlex.split(advice.command(source="my visits.csv", ledger="a b.ledger"))
        assert words[2] == "my visits.csv"
        assert words[-3] == "a b.ledger"
        assert words[3:7] == ["--mechanism", "shares", "--epsilon", "1"]


@pytest.mark.parametrize(("people", "hopeless"), [(10, True), (10**6, False)])
def test_fewer_people_than_limit_ptr_needs_are_told(people: int, hopeless: bool) -> None:
    advice = advise(epsilon=1, n_users=people)
    told = next(each.when for each in advice.alternatives if each.choice.name == "limit-ptr")
    assert ("would name no place" in told) == hopeless


def test_a_release_in_every_month_from_one_budget() -> None:
    found = advise(4.0, n_locations=1000, n_users=5000, period="month", periods=24)
    assert found.mechanism.guarantee.epsilon == Fraction("0.166"), "a 24th, rounded down"
    told = str(found)
    assert "A release in every month, 24 of them, from ε = 4 in all" in told
    assert "Counted in ρ, with δ = 1e-8 in all: each release has ρ = " in told
    assert found.to_dict()["series"] == list(found.series)
    short = advise(4.0, n_locations=5, n_users=5000, period="week", periods=4)
    assert short.series == ("4 releases, one in every week, at ε = 1 each, by plain sums.",)
    half: Any
    for half in ({"period": "month"}, {"periods": 24}):
        with pytest.raises(ParameterError, match="is needed"):
            advise(4.0, n_locations=1000, n_users=5000, **half)
    assert not advise(1.0, n_locations=1000).series
