"""Plans of a release in every period: what each gets from one budget, and what later ones may expect."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BudgetError, ParameterError
from locentropy.mechanisms.shares.expected_error import look_noise
from locentropy.mechanisms.shares.series_risk import kept_at_most, parts_left
from locentropy.planning.schedule import Schedule, admits, scheduled
from locentropy.planning.series_outlook import other_outlook, series_lines, series_outlook

MOMENTS = {"max_locations": 5, "max_visits": 5}
FOUR = le.Shares(4.0, delta=1e-9, max_users=100_000)


def two_years(mechanism: Any = FOUR, **options: Any) -> le.Plan:
    return le.plan(mechanism, period="month", periods=24, **options)


# --- what each gets -----------------------------------------------------------------------------------------------


def test_each_release_of_two_years() -> None:
    pure = two_years(le.Shares(4.0))
    assert pure.mechanism.guarantee.epsilon == Fraction("0.166"), "4/24, rounded down"
    assert pure.schedule == Schedule("month", 24, Fraction(4), Fraction(0), "sum")
    counted = two_years()
    assert counted.schedule is not None
    assert counted.schedule.composition == "concentrated"
    cap = counted.schedule.cap
    assert cap is not None
    assert cap.rho is not None
    rho = counted.guarantee.rho
    assert rho is not None
    assert Fraction(98, 100) * cap.rho < 24 * rho <= cap.rho
    by_sums = two_years(composition="sum")
    assert (by_sums.guarantee.epsilon, by_sums.guarantee.delta) == (Fraction("0.166"), Fraction("4.16e-11"))
    bounded = two_years(le.Moments(4.0, **MOMENTS))
    assert bounded.guarantee.epsilon == Fraction("0.166")


@settings(max_examples=25, deadline=None)
@given(st.decimals("0.5", "9.9", places=2), st.integers(2, 400), st.sampled_from([0, 1e-6, 1e-9]))
def test_so_many_fit_and_hardly_more(epsilon: Any, periods: int, delta: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = le.Shares(float(epsilon), delta=delta)
        schedule, each = scheduled(whole, "day", periods)
    assert schedule.cap is not None
    assert admits(schedule.cap, each.guarantee, periods)
    assert not admits(schedule.cap, each.guarantee, int(1.05 * periods) + 1)


@pytest.mark.parametrize("unit", ["person", "person-month"])
@pytest.mark.parametrize("mechanism", [le.Shares(4.0), FOUR], ids=["pure", "counted in ρ"])
def test_the_ledger_that_is_named_pays_for_all_and_no_more(
    unit: Any, mechanism: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = le.plan(mechanism, period="month", periods=3, unit=unit, zone="UTC")
    command = series_lines(planned)[-1].removeprefix(
        "Its ledger: locentropy ledger create FILE --population WHO "
    )
    from tests.cli.running import in_process

    made = in_process("ledger", "create", "city.ledger", "--population", "us", *command.split(), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    ledger = le.Ledger.open(tmp_path / "city.ledger")
    for month in (1, 2, 3):
        ledger.spend(planned.guarantee, "map", window=le.Window(f"2026-0{month}", zone="UTC"))
    with pytest.raises(BudgetError):
        ledger.spend(planned.guarantee, "map", window=le.Window("2026-04", zone="UTC"))


def test_levels_are_charged_the_sum_of_their_rho() -> None:
    planned = two_years(levels=["place", "all"], level_sizes=[1000, 1])
    parts = [each.guarantee.rho for each in planned.level_mechanisms.values()]
    assert planned.guarantee.rho == sum(parts)
    assert planned.guarantee.rho_delta == 0
    unread = two_years(levels=["place", "all"])
    assert unread.mechanism == planned.mechanism, "the list, which has the sizes, is not needed for it"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"period": "year"}, "not one of day, week, month"),
        ({"periods": 12}, "period is needed"),
        ({"period": "month", "periods": 1}, "periods"),
        ({"period": "month", "composition": "sum"}, "several periods together"),
        ({"period": "month", "periods": 12, "composition": "concentrated"}, "needs a δ"),
        ({"period": "month", "periods": 9_999}, "leave less for each"),
        ({"period": "month", "zone": "Berlin"}, "IANA"),
        ({"period": "month", "unit": "person-week"}, "does not always lie inside one week"),
        ({"period": "week", "unit": "person-month"}, "does not always lie inside one month"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        le.plan(le.Shares(4.0), **options)


def test_a_selection_must_fit_as_well() -> None:
    chosen = le.SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20)
    with pytest.raises(ParameterError, match="cost more than all of them may together"):
        two_years(le.Shares(4.0), selection=chosen)


# --- the file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"periods": 24}, {"periods": 24, "unit": "person-month", "zone": "UTC"}]
)
def test_a_plan_file_has_the_period(options: dict[str, Any], tmp_path: Path) -> None:
    planned = le.plan(FOUR, period="month", **options)
    planned.to_yaml(tmp_path / "plan.yaml")
    assert "period: month" in (tmp_path / "plan.yaml").read_text()
    assert le.Plan.from_yaml(tmp_path / "plan.yaml") == planned


def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    two_years().to_yaml(path)
    text = path.read_text()
    for old, new, words in (
        ("periods: 24", "periods: 48", "cost more than all"),
        ("period: month", "period: year", "not one of"),
        ("period: month\n", "", "belong to a period"),
        ("composition: concentrated", "composition: much", "composition"),
        ("  composition: concentrated\n", "", "series.composition is missing"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(ParameterError, match=words):
            le.Plan.from_yaml(path)


# --- errors to expect ---------------------------------------------------------------------------------------------


def test_what_is_left_falls_and_stays_above_nothing() -> None:
    for mechanism in (le.Shares(1.0), le.Shares(1.0, delta=1e-9)):
        found = parts_left(look_noise(mechanism.share_queries), 5.0, None, 24)
        for left in found.values():
            assert left[0] == pytest.approx(1.0), "the first has nothing before it"
            assert all(0.05 < each <= 1.0 for each in left)
            assert left[23] < left[5] < left[1] < 0.99
    assert kept_at_most(0.5) == 0.75
    for left in parts_left(look_noise(le.Shares(1.0).share_queries), 5.0, None, 5000).values():
        assert len(left) == 5000
        assert set(left[100:]) == {left[59]}


def test_it_is_the_same_every_time() -> None:
    noise = look_noise(le.Shares(1.0).share_queries)
    first = parts_left(noise, 5.0, 4.0, 6)
    parts_left.__globals__["_parts_left"].cache_clear()
    assert parts_left(noise, 5.0, 4.0, 6) == first


def test_words() -> None:
    planned = two_years(n_locations=1000, n_users=5000)
    own, other = series_outlook(planned), other_outlook(planned)
    assert list(own.errors) == [1, 6, 24]
    assert own.errors[24][0] < own.errors[6][0] < own.errors[1][0]
    alone = planned.expected.expected  # type: ignore[attr-defined]
    assert own.errors[1] == pytest.approx((alone.low, alone.high)), "the first is as any release alone"
    assert other is not None
    assert other.schedule.composition == "sum"
    assert own.errors[24][1] < other.errors[24][1]
    told = str(planned)
    for words in (
        "A release in every month, 24 of them, from ε = 4, δ = 1e-9 in all for somebody who is always there",
        "counted in ρ: each release has ρ = ",
        "month 1: ",
        "month 24: ",
        "By plain sums and without a δ: each release has ε = 0.166",
        "without that, every month is as the first",
        "--epsilon 4 --delta 1e-9 --composition concentrated",
    ):
        assert words in told
    assert not other_outlook(le.plan(FOUR, period="month"))
    in_numbers = planned.to_dict()["series"]
    assert (in_numbers["periods"], in_numbers["each"]["composition"]) == (24, "concentrated")
    assert in_numbers["otherwise"]["epsilon"] == "0.166"
    assert series_lines(two_years(le.Moments(4.0, **MOMENTS)))[0].endswith("each release has ε = 0.166.")
