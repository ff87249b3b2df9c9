"""What a plan says of Shares: errors by people and places, the noise of its queries, a file that holds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy import Moments, Shares
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.shares.expected_error import (
    PER_PLACE,
    PeopleRow,
    SharesError,
    SharesExpectation,
    delta_pays,
)
from locentropy.mechanisms.shares.measurements import UNIT
from locentropy.paper import Limit
from locentropy.planning import Plan, plan


def expected(epsilon: float = 1.0, delta: float = 0.0, **numbers: int) -> SharesError:
    found = plan(Shares(epsilon, delta=delta, max_users=10**6), **numbers).expected
    assert isinstance(found, SharesError)
    return found


@pytest.mark.parametrize("delta", [0.0, 1e-8])
@given(epsilon=st.floats(0.005, 100))
def test_the_noise_is_what_the_mechanism_draws(delta: float, epsilon: float) -> None:
    told = expected(epsilon, delta).noise_scales
    drawn = Shares(epsilon, delta=delta, max_users=10**5).share_queries.scales
    assert told == {name: scale / UNIT for name, scale in drawn.items()}


@pytest.mark.parametrize(("delta", "kind"), [(0.0, "Laplace"), (1e-8, "Gaussian")])
def test_the_noise_in_words(delta: float, kind: str) -> None:
    found = expected(1.0, delta)
    assert kind in found.noise
    for scale in found.noise_scales.values():
        assert f"{scale:.3g}" in found.noise


SETS = {
    "Gowalla New York": (5800, 14_058, 9, 0.87),
    "a city of 20,000": (20_000, 3000, 7, 0.68),
    "a million people, Zipf": (1_000_000, 10_000, 15, 0.16),
}
"""People, places, places of a person, and the error that version 0.1 had at ε = 1 (root mean square)."""


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("known", [True, False])
def test_what_version_0_1_had_is_within_what_is_told(name: str, *, known: bool) -> None:
    people, places, each, error = SETS[name]
    numbers = {"locations_per_user": each} if known else {}
    found = plan(Shares(1.0), n_locations=places, n_users=people, **numbers).expected.expected
    assert found is not None
    assert found.low <= error <= found.high


def test_more_is_known_where_the_places_of_a_person_are() -> None:
    unknown = expected(1.0, n_locations=14_058, n_users=5800).expected
    known = expected(1.0, n_locations=14_058, n_users=5800, locations_per_user=9).expected
    assert unknown is not None
    assert known is not None
    assert unknown.low < known.low < known.high < unknown.high


@given(st.floats(0.001, 100), st.sampled_from([0.0, 1e-8]), st.integers(1, 10**6), st.integers(1, 10**5))
def test_any_numbers_have_an_answer(epsilon: float, delta: float, places: int, people: int) -> None:
    found = expected(epsilon, delta, n_locations=places, n_users=people).expected
    if found is not None:
        assert 0 <= found.low <= found.high < 20


def test_more_budget_is_never_worse() -> None:
    errors = [expected(epsilon, n_locations=3000, n_users=20_000).expected for epsilon in (0.1, 0.5, 1, 5)]
    ends = [(each.low, each.high) for each in errors if each is not None]
    assert ends == sorted(ends, reverse=True)


def test_whether_a_delta_pays() -> None:
    few, many = (
        str(plan(Shares(1.0), n_locations=8826, n_users=6206, locations_per_user=each)) for each in (3, 60)
    )
    assert "With delta=1e-8" in many
    assert "for a guarantee with a δ" in many
    assert "for a guarantee with a δ" not in few
    with_one = plan(Shares(1.0, delta=1e-8, max_users=10**5), n_locations=8826, n_users=6206)
    assert "Without a δ it would be" in str(with_one)
    here = SharesExpectation(0.5, 1.0, hardly=False, busy=0.4)
    assert "for some places" in delta_pays(here, SharesExpectation(0.6, 1.2, hardly=False, busy=0.3))
    assert "does not pay" in delta_pays(here, SharesExpectation(0.6, 1.2, hardly=False, busy=0.4))
    assert "hardly pays" in delta_pays(here, here)
    assert "0.20 instead of 0.40" in delta_pays(here, SharesExpectation(0.5, 1.0, hardly=False, busy=0.2))
    assert "many places" in delta_pays(None, None)


def test_rows_are_about_the_places_that_were_named() -> None:
    rows = expected(1.0, n_locations=1000).rows
    assert [row.people for row in rows] == [10, 100, 1000, 10_000, 100_000, 1_000_000]
    assert [row.per_place for row in rows] == list(PER_PLACE)
    assert [row.people for row in expected(1.0).rows] == [None] * len(PER_PLACE)
    assert expected(1.0, n_locations=1).rows[0].people == 1, "not less than one person"
    few = plan(Shares(1.0, max_users=5000), n_locations=1000).expected
    assert isinstance(few, SharesError)
    assert max(row.people or 0 for row in few.rows) <= 5000, "no more than there can be"


def test_verdicts() -> None:
    def verdict(low: float, high: float, *, hardly: bool = False) -> str:
        return PeopleRow(1.0, None, SharesExpectation(low, high, hardly)).verdict

    assert verdict(0.1, 0.49) == "useful"
    assert verdict(0.1, 0.5) == "rough"
    assert verdict(0.94, 0.95, hardly=True) == "as one number for all"
    assert PeopleRow(1.0, None, None).verdict == "unknown"


def test_it_says_what_it_cannot_know() -> None:
    assert "supposed cities" in plan(Shares(1.0)).warnings[0]
    thin = plan(Shares(0.1), n_locations=10_000, n_users=100).warnings
    assert any("too thin" in text for text in thin)
    assert any("moments" in text for text in plan(Shares(1.0), n_locations=9).warnings)
    assert not any("moments" in text for text in plan(Shares(1.0), n_locations=10).warnings)
    unknown = plan(Shares(1.0), n_locations=10**6, n_users=1)
    assert "too few or too many people" in str(unknown)


def test_a_selection_before_it() -> None:
    made = plan(Shares(0.7), selection=(0.3, 1e-8, 5))
    assert (str(made.guarantee.epsilon), made.guarantee.kind) == ("1", "approximate")
    assert "named every other time from about" in str(made)
    assert "number of selected places" in str(made)


def test_in_words_and_as_json() -> None:
    made = plan(Shares(1.0), n_locations=14_058, n_users=5800)
    text = str(made)
    assert "14,058 places" in text
    assert made.guarantee.explain() in text
    assert len(text.splitlines()) < 25
    answer = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert answer["mechanism"] == {
        "name": "shares",
        "epsilon": "1.0",
        "max_users": 10_000_000,
    }
    told = answer["expected_error"]
    assert set(told["noise_scales"]) == {"look", "sizes", "visits", "split"}
    assert told["expected_error"] == [made.expected.expected.low, made.expected.expected.high]
    assert [row["n_users"] for row in told["rows"]] == [row.people for row in made.expected.rows]
    bounded = plan(Limit(1.0, max_locations=5, max_visits=5)).to_dict()["expected_error"]
    assert "noise_scales" not in bounded, "there is one scale"
    assert "bounded" not in made.expected.summary
    assert "bounded" in plan(Moments(1.0, max_locations=5, max_visits=5)).expected.summary


@pytest.mark.parametrize(
    "numbers", [{}, {"n_locations": 9}, {"n_locations": 9, "n_users": 10_000, "locations_per_user": 4}]
)
@pytest.mark.parametrize("selection", [None, ("0.2", "1e-8", 20)])
def test_a_file_holds_it(numbers: dict[str, int], selection: object, tmp_path: Path) -> None:
    made = plan(Shares(0.1, max_users=900_000), selection=selection, **numbers)
    made.to_yaml(tmp_path / "plan.yaml")
    again = Plan.from_yaml(tmp_path / "plan.yaml")
    assert again == made
    assert again.guarantee == made.guarantee
    text = (tmp_path / "plan.yaml").read_text()
    (tmp_path / "plan.yaml").write_text(text.replace("name: shares", "name: limit"))
    with pytest.raises(ParameterError, match="needs max_locations"):
        Plan.from_yaml(tmp_path / "plan.yaml")


@pytest.mark.parametrize(
    ("mechanism", "options", "words"),
    [
        (Shares(1.0), {"users_per_location": 5}, "n_users=10_000"),
        (Shares(1.0), {"n_users": 0}, "n_users=0"),
        (Shares(1.0), {"locations_per_user": 0}, "locations_per_user=0"),
        (Shares(1.0, max_users=100), {"n_users": 101}, "n_users=101"),
        (Shares(1.0), {"locations": "by-mechanism"}, "shares needs a list"),
        (Limit(1.0, max_locations=5, max_visits=5), {"n_users": 100}, "n_users tells nothing about limit"),
    ],
)
def test_what_is_wrong_is_said(mechanism: object, options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError) as raised:
        plan(mechanism, **options)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "depends on the number of places (--n-locations) and of people (--n-users): "),
        ({"n_locations": 400}, "depends on the number of people (--n-users): "),
        ({"n_users": 3000}, "depends on the number of places (--n-locations): "),
        ({"n_locations": 400, "n_users": 3000}, "Expected error"),
    ],
)
def test_only_what_is_missing_is_asked_for(known: dict[str, int], words: str) -> None:
    told = str(plan(Shares(1), **known))
    assert words in " ".join(told.split())
    assert ("Which row it is" in told) == (len(known) < 2)
