"""What a plan says of Shares: a rule by people and places, the noise of its three queries, a file that holds it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy import Moments, Shares
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.shares.expected_error import (
    MEASURED,
    PER_PLACE,
    TYPICAL_SPREAD,
    PeopleRow,
    SharesError,
    SharesExpectation,
)
from locentropy.mechanisms.shares.measurements import TABLE, UNIT
from locentropy.paper import Limit
from locentropy.planning import Plan, plan


def expected(epsilon: float = 1.0, **numbers: int) -> SharesError:
    found = plan(Shares(epsilon), **numbers).expected
    assert isinstance(found, SharesError)
    return found


@given(st.floats(0.005, 100))
def test_the_noise_is_what_the_mechanism_draws(epsilon: float) -> None:
    look, profile, split = Shares(epsilon).share_queries.scales
    told = expected(epsilon).noise_scales
    assert told.presence == pytest.approx(look / UNIT)
    assert told.habits == pytest.approx(profile / UNIT)
    assert told.split == pytest.approx(split / (UNIT * TABLE.sensitivity), rel=1e-9)
    assert abs(TABLE.sensitivity / TABLE.unit - 1) < 1e-3, "what a plan takes it to be, without computing it"


def test_the_noise_in_words() -> None:
    told = expected(1.0).noise_scales
    text = plan(Shares(1.0)).expected.noise
    for scale in (told.presence, told.habits, told.split):
        assert f"{scale:.3g}" in text


@pytest.mark.parametrize("measured", MEASURED, ids=lambda row: f"{row.data} {row.epsilon}")
def test_what_was_measured_is_within_what_is_told(measured: object) -> None:
    found = expected(measured.epsilon, n_locations=measured.locations, n_users=measured.people).expected
    assert found is not None
    typical = TYPICAL_SPREAD * np.sqrt(measured.left)
    assert found.low - 1e-9 <= typical <= found.high + 1e-9


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
        return PeopleRow(1.0, None, SharesExpectation(1.0, low, high, hardly)).verdict

    assert verdict(0.1, 0.49) == "useful"
    assert verdict(0.1, 0.5) == "rough"
    assert verdict(0.94, 0.95, hardly=True) == "as one number for all"
    assert PeopleRow(1.0, None, None).verdict == "not measured"


def test_it_says_what_it_cannot_know() -> None:
    assert "other data" in plan(Shares(1.0)).warnings[0]
    thin = plan(Shares(0.1), n_locations=10_000, n_users=100).warnings
    assert any("too thin" in text for text in thin)
    assert any("moments" in text for text in plan(Shares(1.0), n_locations=9).warnings)
    assert not any("moments" in text for text in plan(Shares(1.0), n_locations=10).warnings)
    unknown = plan(Shares(1.0), n_locations=10, n_users=10**6)
    assert "nothing like it has been measured" in str(unknown)


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
    assert answer["mechanism"] == {"name": "shares", "epsilon": "1.0", "max_users": 10_000_000}
    told = answer["expected_error"]
    assert set(told["noise_scales"]) == {"presence", "habits", "split"}
    assert told["expected_error"] == [made.expected.expected.low, made.expected.expected.high]
    assert [row["n_users"] for row in told["rows"]] == [row.people for row in made.expected.rows]
    bounded = plan(Limit(1.0, max_locations=5, max_visits=5)).to_dict()["expected_error"]
    assert "noise_scales" not in bounded, "there is one scale"
    assert "bounded" not in made.expected.summary
    assert "bounded" in plan(Moments(1.0, max_locations=5, max_visits=5)).expected.summary


@pytest.mark.parametrize("numbers", [{}, {"n_locations": 9}, {"n_locations": 9, "n_users": 10_000}])
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
        ({}, "The number of places and of people would tell"),
        ({"n_locations": 400}, "The number of people would tell"),
        ({"n_users": 3000}, "The number of places would tell"),
        ({"n_locations": 400, "n_users": 3000}, "Expected error"),
    ],
)
def test_only_what_is_missing_is_asked_for(known: dict[str, int], words: str) -> None:
    told = str(plan(Shares(1), **known))
    assert words in told
    assert ("would tell which row" in told) == (len(known) < 2)
