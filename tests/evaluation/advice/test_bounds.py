"""M and C: truncation against noise, by the rough laws that the module states."""

from __future__ import annotations

import math

import numpy as np
import pytest

from locentropy.evaluation.advice.bounds import (
    NOISE_PER_USER,
    Habits,
    choose_bounds,
    measured_habits,
    supposed_habits,
)

from .test_advisor import activity


class TestBounds:
    def test_the_share_that_is_kept(self) -> None:
        habits = Habits(((1.0, 10.0), (10.0, 10.0)), ())
        assert habits.kept(1) == pytest.approx(20 / 110)
        assert habits.kept(5) == pytest.approx(60 / 110)
        assert habits.kept(10) == 1

    def test_noise_as_measured(self) -> None:
        """THEORY's figures for M = C = 5 at ε = 1."""
        for users, error in ((100, 0.110), (1000, 0.0112)):
            assert pytest.approx(error, rel=0.05) == NOISE_PER_USER * 5 / users

    def test_more_budget_allows_more_places(self) -> None:
        habits = Habits(((1.0, 8000.0), (6.5, 8000.0), (48.5, 4000.0)))
        chosen = [choose_bounds(epsilon, 2000, 20_000, habits).max_locations for epsilon in (0.5, 1, 5, 50)]
        assert chosen == sorted(chosen)
        assert chosen[0] < chosen[2] < chosen[3]

    def test_where_people_go_to_one_place_m_is_one(self) -> None:
        assert choose_bounds(1, 2000, 20_000, supposed_habits(20_000, 1, 1)).max_locations == 1

    def test_minimises_what_it_says(self) -> None:
        """No other bound has less truncation and noise together, at places in proportion to 1/rank."""
        habits = Habits(((1.0, 4000.0), (6.5, 5000.0), (24.5, 1000.0)), ())
        choice = choose_bounds(1, 500, 10_000, habits)
        pairs = 4000 + 6.5 * 5000 + 24.5 * 1000
        sizes = np.minimum(pairs / sum(1 / r for r in range(1, 501)) / np.arange(1, 501), 10_000)
        sizes = sizes[sizes >= 20]

        def error(m: int) -> float:
            share = habits.kept(m)
            noise = np.minimum(NOISE_PER_USER * m / (share * sizes), math.log(10_000) / 2)
            return math.log(share) ** 2 + float(np.mean(noise**2))

        best = min(range(1, 101), key=error)
        assert error(choice.max_locations) <= 1.1 * error(best)
        assert choice.truncation == pytest.approx(-math.log(habits.kept(choice.max_locations)))
        assert error(choice.max_locations) == pytest.approx(
            choice.truncation**2 + (choice.noise or 0) ** 2, rel=0.1
        )

    def test_visits(self) -> None:
        def chosen(visits: list[int]) -> int:
            seen = measured_habits(activity([10_000], visits))
            return choose_bounds(1, 100, 10_000, seen).max_visits

        assert chosen([100_000]) == 1
        assert chosen([97_000, 3_000]) == 1
        assert chosen([90_000, 10_000]) == 2
        assert chosen([0, 0, 100_000]) == 4
        assert chosen([0, 0, 0, 100_000]) == 5
        assert chosen([0, 0, 0, 0, 0, 100_000]) == 5
        assert chosen([5_000]) == 5, (
            "all five thousand at most once, as far as noise lets one see: not far enough"
        )
        assert choose_bounds(1, 100, 10_000, supposed_habits(10_000, 3, 2)).max_visits == 2
        assert choose_bounds(1, 100, 10_000, supposed_habits(10_000, 3, 30)).max_visits == 5

    def test_without_numbers_the_usual(self) -> None:
        assert choose_bounds(1, 100, 1000, Habits()).max_locations == 5
        assert choose_bounds(1, None, 1000, supposed_habits(1000, 3, None)).max_locations == 3
        assert choose_bounds(1, None, 1000, supposed_habits(1000, 30, None)).max_locations == 5
