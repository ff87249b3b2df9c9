"""The noise has exactly the stated distribution, in the right places, and is never missing.

Every statistical test has a proved chance of at most 1e-6 of failing by bad luck, and is itself tested: it
must reject a scale that is 5 % off.
"""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.privacy import noise as noise_module
from locentropy.privacy.noise import (
    LARGEST_SCALE,
    LARGEST_VALUE,
    LATTICE,
    OpenDPNoise,
    from_lattice,
    gaussian_rho,
    gaussian_scale,
    laplace_epsilon,
    laplace_scale,
    lattice_sensitivity,
    to_lattice,
)

SAMPLES = 60_000
ALARM = math.log(2 / 1e-6)  # a bound 2·e^-x is at most 1e-6 from here on


def zeros(size: int) -> np.ndarray:
    return np.zeros(size, dtype=np.int64)


# --- the tests of fit ---------------------------------------------------------------------------------------


def mean_size(scale: float) -> float:
    """The mean of |X| for discrete Laplace noise X."""
    return 1 / math.sinh(1 / scale)


def scale_of_mean(mean: float) -> float:
    return 1 / math.asinh(1 / mean)


def divergence(found: float, claimed: float) -> float:
    """KL(found ‖ claimed) between discrete Laplace distributions of two scales."""
    ratio = math.tanh(0.5 / found) / math.tanh(0.5 / claimed)
    return math.log(ratio) - mean_size(found) * (1 / found - 1 / claimed)


def wrong_size(noise: np.ndarray, scale: float) -> bool:
    """Chernoff: for the true scale, n·KL(best fit ‖ claimed) exceeds x with probability at most 2·e^-x."""
    found = scale_of_mean(float(np.abs(noise).mean()))
    return noise.size * divergence(found, scale) > ALARM


def distribution(points: np.ndarray, scale: float) -> np.ndarray:
    """P(X ≤ k), from the pmf tanh(1/2s)·e^(−|k|/s)."""
    tail = np.exp(-(np.abs(points) + (points >= 0)) / scale) / (1 + math.exp(-1 / scale))
    return np.where(points < 0, tail, 1 - tail)


def wrong_shape(noise: np.ndarray, scale: float) -> bool:
    """Dvoretzky-Kiefer-Wolfowitz: the largest gap to the true distribution exceeds t with probability
    at most 2·e^(−2nt²)."""
    points, counts = np.unique(noise, return_counts=True)
    claimed = distribution(points, scale)
    found = counts.cumsum() / noise.size
    below = np.concatenate([[0], found[:-1]]) - distribution(points - 1, scale)
    gap = max(np.abs(found - claimed).max(), np.abs(below).max())
    return 2 * noise.size * gap**2 > ALARM


def test_the_distribution_written_here_is_the_one_of_the_pmf() -> None:
    for scale in (0.3, 2.0, 17.5):
        points = np.arange(-2000, 2001)
        pmf = math.tanh(0.5 / scale) * np.exp(-np.abs(points) / scale)
        np.testing.assert_allclose(pmf.cumsum(), distribution(points, scale), atol=1e-12)
        assert float((pmf * np.abs(points)).sum()) == pytest.approx(mean_size(scale))
        assert scale_of_mean(mean_size(scale)) == pytest.approx(scale)


@pytest.mark.parametrize("scale", [0.7, 3.0, 1234.5, 3.6e6])
def test_one_scale(scale: float) -> None:
    noise = OpenDPNoise(threads=2).laplace(zeros(SAMPLES), scale)
    assert noise.dtype == np.int64
    assert not wrong_size(noise, scale)
    assert not wrong_shape(noise, scale)
    # The same noise against a wrong claim: the tests above can fail.
    assert wrong_size(noise, scale * 1.05)
    assert wrong_size(noise, scale * 0.95)


@pytest.mark.parametrize("off", [1.05, 0.95])
def test_a_planted_wrong_scale_is_rejected(off: float) -> None:
    noise = OpenDPNoise().laplace(zeros(SAMPLES), 100.0 * off)
    assert wrong_size(noise, 100.0)


def test_a_planted_wrong_shape_of_the_right_size_is_rejected() -> None:
    scale = 100.0
    noise = np.abs(OpenDPNoise().laplace(zeros(SAMPLES), scale))  # the right sizes, all on one side
    assert not wrong_size(noise, scale)
    assert wrong_shape(noise, scale)


def test_each_scale_in_its_own_place() -> None:
    scales = np.tile([2.0, 500.0, 40.0], 60_000)
    values = np.tile([0, 10**9, -(10**12)], 60_000)
    noise = OpenDPNoise(threads=2).laplace_each(values, scales) - values
    for scale in (2.0, 500.0, 40.0):
        mine = noise[scales == scale]
        assert not wrong_size(mine, scale)
        assert not wrong_shape(mine, scale)
        assert wrong_size(mine, 1.05 * scale)
        assert wrong_size(mine, 0.95 * scale)


def test_scales_are_not_rounded_together() -> None:
    asked = []

    class Listening(OpenDPNoise):
        def _run(self, draw, jobs, out):
            jobs = list(jobs)
            asked.extend(key for key, _ in jobs)
            super()._run(draw, jobs, out)

    scales = np.array([1.0, np.nextafter(1.0, 2.0), 1.0, 5.0])
    Listening().laplace_each(zeros(4), scales)
    assert asked == [1.0, np.nextafter(1.0, 2.0), 5.0]


def test_values_keep_their_places_and_shape() -> None:
    values = (np.arange(30_000).reshape(3, 10_000) - 15_000) * 10**9
    scales = np.linspace(1, 5, 30_000).reshape(3, 10_000).round(2)
    noise = OpenDPNoise(threads=3)
    for noised in (noise.laplace(values, 5.0), noise.laplace_each(values, scales)):
        assert noised.shape == values.shape
        assert np.abs(noised - values).max() < 5.0 * 200  # further off with probability below 1e-80


def test_no_draw_is_used_twice() -> None:
    noise = OpenDPNoise(threads=2)
    drawn = np.concatenate(
        [noise.laplace(zeros(20_000), 1e15), noise.laplace_each(zeros(20_000), np.tile([1e15, 2e15], 10_000))]
    )
    # 40,000 draws spread over 4e15: two equal ones have probability below 1e-6.
    assert np.unique(drawn).size == drawn.size


def test_neighbouring_positions_are_independent() -> None:
    noise = OpenDPNoise(threads=2).laplace(zeros(SAMPLES), 1e9)
    for lag in (1, 2, 4096):
        agree = np.mean(np.sign(noise[lag:]) == np.sign(noise[:-lag]))
        # Hoeffding; sums of products of independent signs are sums of independent signs.
        assert 2 * (SAMPLES - lag) * (agree - 0.5) ** 2 < ALARM


def test_a_forked_process_draws_its_own_noise() -> None:
    script = (
        "import os, numpy as np\n"
        "from locentropy.privacy.noise import OpenDPNoise\n"
        "noise = OpenDPNoise(threads=1)\n"
        "draw = lambda: print(*noise.laplace(np.zeros(3, dtype=np.int64), 1e15), flush=True)\n"
        "draw()\n"
        "for _ in range(2):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        draw()\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
        "draw()\n"
    )
    lines = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert len(lines) == 12
    assert len(set(lines)) == 12


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0, 0.0, -1.0, math.nan, math.inf, -math.inf, True, 2 * LARGEST_SCALE, "5"])
def test_a_scale_that_is_none_is_refused(scale: float) -> None:
    noise = OpenDPNoise()
    with pytest.raises(ParameterError, match="scale"):
        noise.laplace(zeros(3), scale)
    with pytest.raises(ParameterError, match="scale"):
        laplace_epsilon(1, scale)
    if isinstance(scale, float):
        with pytest.raises(ParameterError, match="every scale"):
            noise.laplace_each(zeros(3), np.array([1.0, scale, 1.0]))


def test_a_zero_scale_is_refused_even_for_no_values() -> None:
    with pytest.raises(ParameterError):
        OpenDPNoise().laplace(zeros(0), 0.0)


def test_messages_show_no_private_value() -> None:
    noise = OpenDPNoise()
    with pytest.raises(ParameterError) as caught:
        noise.laplace(np.array([LARGEST_VALUE + 12345]), 1.0)
    assert "12345" not in str(caught.value)
    with pytest.raises(ParameterError) as caught:
        noise.laplace_each(zeros(1), np.array([-12345.0]))
    assert "12345" not in str(caught.value)
    with pytest.raises(ParameterError) as caught:
        to_lattice(np.array([1.2345e300]))
    assert "1.2345" not in str(caught.value)


@pytest.mark.parametrize("value", [LARGEST_VALUE + 1, -LARGEST_VALUE - 1, 2**63 - 1, -(2**63)])
def test_values_near_the_end_of_the_integers_are_refused(value: int) -> None:
    with pytest.raises(ParameterError, match=r"2\^61"):
        OpenDPNoise().laplace(np.array([0, value]), 1.0)


def test_unsigned_values_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"2\^61"):
        OpenDPNoise().laplace(np.array([2**64 - 1], dtype=np.uint64), 1.0)


def test_the_largest_values_and_scales_do_not_saturate() -> None:
    values = np.array([LARGEST_VALUE, -LARGEST_VALUE] * 500)
    noised = OpenDPNoise().laplace(values, LARGEST_SCALE)
    assert np.abs(noised).max() < 2**63 - 1
    assert (LARGEST_VALUE + 192 * int(LARGEST_SCALE)) <= 2**63


@pytest.mark.parametrize("values", [np.array([1.0, 2.0]), np.array([True]), np.array(["a"])])
def test_values_that_are_not_integers_are_refused(values: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="integers"):
        OpenDPNoise().laplace(values, 1.0)


def test_scales_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="shape"):
        OpenDPNoise().laplace_each(zeros(3), np.ones(2))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("way", ["laplace", "laplace_each", "bernoulli_each"])
def test_a_draw_that_fails_in_part_fails(way: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody has filled in is whatever the memory held before, and would go out as noisy values."""
    many, drawn = 200_000, []

    def failing(*_: object) -> np.ndarray:
        drawn.append(1)
        if len(drawn) == 2:
            raise MemoryError
        return np.zeros(1, dtype=np.int64)

    monkeypatch.setattr(noise_module, "_add_laplace", failing)
    monkeypatch.setattr(noise_module, "_coins", failing)
    noise = OpenDPNoise(threads=threads)
    calls = {
        "laplace": lambda: noise.laplace(zeros(many), 3.0),
        "laplace_each": lambda: noise.laplace_each(zeros(many), np.full(many, 3.0)),
        "bernoulli_each": lambda: noise.bernoulli_each(np.full(many, 0.25)),
    }
    with pytest.raises(MemoryError):
        calls[way]()


def test_threads_are_checked() -> None:
    with pytest.raises(ParameterError, match="threads"):
        OpenDPNoise(threads=0)


def test_no_values_no_noise() -> None:
    noise = OpenDPNoise()
    assert noise.laplace(zeros(0), 1.0).shape == (0,)
    assert noise.laplace_each(zeros(0), np.zeros(0)).shape == (0,)
    assert noise.bernoulli_each(np.zeros(0)).shape == (0,)


def test_only_this_noise_is_private() -> None:
    assert OpenDPNoise().private is True


# --- the lattice --------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_to_the_nearest_lattice_point(values: list[float]) -> None:
    points = to_lattice(np.array(values))
    assert points.dtype == np.int64
    for value, point in zip(values, points.tolist(), strict=True):
        assert abs(Fraction(value) * LATTICE - point) <= Fraction(1, 2)
    np.testing.assert_array_equal(to_lattice(from_lattice(points)), points)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e13, -1e13])
def test_what_has_no_lattice_point_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match="finite"):
        to_lattice(np.array([0.0, value]))


def test_noised_values_are_on_the_lattice() -> None:
    noised = from_lattice(OpenDPNoise().laplace(to_lattice(np.linspace(0, 7, 5000)), 1e6))
    assert np.all(noised * LATTICE == np.rint(noised * LATTICE))


@given(st.floats(0, 10), st.floats(-100, 100), st.floats(-1, 1))
def test_lattice_points_move_by_at_most_the_sensitivity(delta: float, value: float, share: float) -> None:
    # Both values are off by up to a quarter of a lattice step, far more than logarithms ever are.
    other = value + share * delta
    quarter = 0.25 / LATTICE
    points = to_lattice(np.array([value - quarter, value + quarter, other - quarter, other + quarter]))
    assert np.ptp(points) <= lattice_sensitivity(delta)


def test_lattice_sensitivity_in_numbers() -> None:
    assert lattice_sensitivity(0.0) == 2
    assert lattice_sensitivity(1.0) == LATTICE + 2
    assert lattice_sensitivity(math.nextafter(1.0, 2.0)) == LATTICE + 3
    for bad in (-1.0, math.nan, math.inf, "1"):
        with pytest.raises(ParameterError, match="delta"):
            lattice_sensitivity(bad)


# --- scale and ε --------------------------------------------------------------------------------------------


@given(st.integers(1, 2**40), st.sampled_from([0.1, 1.0, 0.3, 1e-4, 7.0, "1/3"]))
def test_the_scale_keeps_epsilon_as_it_was_written(sensitivity: int, epsilon: float | str) -> None:
    scale = laplace_scale(sensitivity, epsilon)
    assert Fraction(laplace_epsilon(sensitivity, scale)) <= Fraction(str(epsilon))
    smaller = scale * (1 - 1e-15)
    assert Fraction(laplace_epsilon(sensitivity, smaller)) > Fraction(str(epsilon)) * (
        1 - Fraction(3, 10**15)
    )
    # What the map says is what the pmf says: neighbours at distance d differ by e^(d/scale) at most.
    assert Fraction(sensitivity) / Fraction(scale) <= Fraction(str(epsilon))


@pytest.mark.parametrize(
    ("sensitivity", "epsilon"),
    [(0, 1.0), (-1, 1.0), (1.5, 1.0), (1, 0.0), (1, -1.0), (1, math.nan), (2**60, 1e-3), (2**70, 2.0**40)],
)
def test_no_scale_for_nonsense(sensitivity: int, epsilon: float) -> None:
    with pytest.raises(ParameterError):
        laplace_scale(sensitivity, epsilon)


# --- coins --------------------------------------------------------------------------------------------------


def wrong_share(flips: np.ndarray, probability: float) -> bool:
    """Chernoff: n·KL(found ‖ claimed) exceeds x with probability at most 2·e^-x."""
    found = float(flips.mean())
    terms = [a * math.log(a / b) for a, b in ((found, probability), (1 - found, 1 - probability)) if a > 0]
    return flips.size * sum(terms) > ALARM


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_coins_come_up_as_often_as_asked(probability: float) -> None:
    flips = OpenDPNoise(threads=2).bernoulli_each(np.full(400_000, probability))
    assert flips.dtype == np.bool_
    assert not wrong_share(flips, probability)
    tail = min(probability, 1 - probability)
    assert wrong_share(flips == (probability < 0.5), tail * 0.75)
    assert wrong_share(flips == (probability < 0.5), tail * 1.25)


def test_rare_coins_are_rare() -> None:
    noise = OpenDPNoise()
    flips = noise.bernoulli_each(np.full(1_000_000, 1e-4))
    assert not wrong_share(flips, 1e-4)
    # At 1e-9 a million coins show two heads with probability below 1e-6, and 1 − 1e-9 two tails.
    assert noise.bernoulli_each(np.full(1_000_000, 1e-9)).sum() <= 1
    assert (~noise.bernoulli_each(np.full(1_000_000, 1 - 1e-9))).sum() <= 1


def test_coins_in_their_places() -> None:
    chances = np.tile([0.0, 1.0, 0.25, 0.75, 0.5], 40_000).reshape(1000, 200)
    flips = OpenDPNoise(threads=2).bernoulli_each(chances)
    assert flips.shape == chances.shape
    assert not flips[chances == 0].any()
    assert flips[chances == 1].all()
    for chance in (0.25, 0.5, 0.75):
        assert not wrong_share(flips[chances == chance], chance)


def test_every_position_of_a_short_row_is_a_coin() -> None:
    noise = OpenDPNoise(threads=1)
    for size in (1, 7, 8, 9):
        rows = np.array([noise.bernoulli_each(np.full(size, 0.5)) for _ in range(300)])
        # A position that never changes has probability 2·2^-300.
        assert (rows.any(axis=0) & ~rows.all(axis=0)).all()


@pytest.mark.parametrize("chance", [-0.1, 1.1, math.nan, math.inf, 1e-310, -1e-310])
def test_what_is_no_probability_is_refused(chance: float) -> None:
    with pytest.raises(ParameterError, match="probabilities"):
        OpenDPNoise().bernoulli_each(np.array([0.5, chance]))


def test_the_flip_is_exactly_twice_the_smaller_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    import locentropy.privacy.noise as module

    asked = []
    real = module._flip_measurement
    monkeypatch.setattr(module, "_flip_measurement", lambda flip: (asked.append(flip), real(flip))[1])
    chances = [1e-9, 0.3, 0.5, 0.7, 1 - 2.0**-53]
    OpenDPNoise(threads=1).bernoulli_each(np.array(chances))
    want = sorted({2 * min(Fraction(chance), 1 - Fraction(chance)) for chance in chances})
    assert [Fraction(flip) for flip in asked] == want


def test_a_scale_that_is_zero_as_a_float_is_zero() -> None:
    with pytest.raises(ParameterError):
        laplace_epsilon(1, Fraction(1, 10**400))  # type: ignore[arg-type]


# --- Gaussian noise -----------------------------------------------------------------------------------------


def gaussian_pmf(points: np.ndarray, scale: float) -> np.ndarray:
    everywhere = np.arange(-math.ceil(15 * scale), math.ceil(15 * scale) + 1)
    return np.exp(-((points / scale) ** 2) / 2) / np.exp(-((everywhere / scale) ** 2) / 2).sum()


def wrong_gaussian(noise: np.ndarray, scale: float) -> bool:
    """Dvoretzky-Kiefer-Wolfowitz against the discrete Gaussian; for wide noise, its distribution on a grid of points."""
    ends = np.arange(-math.ceil(8 * scale), math.ceil(8 * scale) + 1)
    claimed = gaussian_pmf(ends, scale).cumsum()
    found = np.searchsorted(np.sort(noise), ends, side="right") / noise.size
    return 2 * noise.size * float(np.abs(found - claimed).max()) ** 2 > ALARM


def wrong_spread(noise: np.ndarray, scale: float) -> bool:
    """Laurent-Massart for χ²: the mean square is off by more than 2√(x/n) + 2x/n with probability below 2·e^-x.

    The square of a discrete Gaussian has smaller exponential moments than that of a continuous one of the same scale
    (it is subgaussian with the same parameter), and from a scale of 3 on the same variance to thirty digits.
    """
    off = abs(float((noise.astype(np.float64) ** 2).mean()) / scale**2 - 1)
    return off > 2 * math.sqrt(ALARM / noise.size) + 2 * ALARM / noise.size


@pytest.mark.parametrize("scale", [0.7, 3.0, 1234.5])
def test_gaussian_noise_is_the_discrete_gaussian(scale: float) -> None:
    noise = OpenDPNoise(threads=2).gaussian(zeros(SAMPLES), scale)
    assert noise.dtype == np.int64
    assert not wrong_gaussian(noise, scale)
    laplace = OpenDPNoise(threads=2).laplace(zeros(SAMPLES), scale / math.sqrt(2))
    assert wrong_gaussian(laplace, scale), "or Laplace noise would pass"


@pytest.mark.parametrize("scale", [3.0, 1234.5, 6.3e6])
def test_gaussian_noise_is_as_wide_as_stated(scale: float) -> None:
    noise = OpenDPNoise(threads=2).gaussian(zeros(SAMPLES), scale)
    assert not wrong_spread(noise, scale)
    assert wrong_spread(noise, scale * 1.05)
    assert wrong_spread(noise, scale * 0.95)


def test_gaussian_values_keep_their_places_and_shape() -> None:
    values = (np.arange(30_000).reshape(3, 10_000) - 15_000) * 10**9
    noised = OpenDPNoise(threads=3).gaussian(values, 5.0)
    assert noised.shape == values.shape
    assert np.abs(noised - values).max() < 5.0 * 30
    kept = zeros(3)
    kept.flags.writeable = False
    assert OpenDPNoise().gaussian(kept, 5.0).shape == OpenDPNoise().laplace(kept, 5.0).shape == (3,)
    assert kept.tolist() == [0, 0, 0], "a cached answer stays as it is"
    drawn = OpenDPNoise(threads=2).gaussian(zeros(20_000), 1e15)
    assert np.unique(drawn).size == drawn.size, "no draw is used twice"
    assert OpenDPNoise().gaussian(zeros(0), 3.0).shape == (0,)


@given(st.integers(1, 2**40), st.fractions(Fraction(1, 10**9), 10**6))
def test_the_scale_is_the_smallest_whose_map_is_within_rho(sensitivity: int, rho: Fraction) -> None:
    scale = gaussian_scale(sensitivity, rho)
    assert Fraction(gaussian_rho(sensitivity, scale)) <= rho
    assert Fraction(gaussian_rho(sensitivity, math.nextafter(scale, 0.0))) > rho


@given(st.integers(1, 2**40), st.floats(1e-3, 2.0**55))
def test_the_map_is_never_below_the_true_rho(sensitivity: int, scale: float) -> None:
    """OpenDP computes Δ²/(2σ²) and rounds up once: it is not below, and not above by more than the last digit."""
    true = Fraction(sensitivity) ** 2 / (2 * Fraction(scale) ** 2)
    found = Fraction(gaussian_rho(sensitivity, scale))
    assert true <= found <= true * (1 + Fraction(1, 2**51))


@pytest.mark.parametrize(
    "scale", [0, 0.0, -1.0, math.nan, math.inf, LARGEST_SCALE * 2, Fraction(1, 10**400), "3", True]
)
def test_gaussian_scales_that_protect_nobody_are_refused(scale: object) -> None:
    """OpenDP would add nothing at 0, silently."""
    with pytest.raises(ParameterError):
        OpenDPNoise().gaussian(zeros(3), scale)
    with pytest.raises(ParameterError):
        gaussian_rho(5, scale)


@pytest.mark.parametrize(
    ("sensitivity", "rho"),
    [
        (0, Fraction(1)),
        (5, Fraction(0)),
        (5, -Fraction(1)),
        (5, 0.5),
        (5, 1),
        (2**40, Fraction(1, 10**40)),
        (1, Fraction(10**80)),
    ],
)
def test_gaussian_budgets_that_cannot_be_right_are_refused(sensitivity: int, rho: object) -> None:
    with pytest.raises(ParameterError):
        gaussian_scale(sensitivity, rho)


def test_values_at_the_limits_leave_room_for_gaussian_noise() -> None:
    values = np.array([LARGEST_VALUE, -LARGEST_VALUE] * 500)
    noised = OpenDPNoise().gaussian(values, LARGEST_SCALE)
    assert np.abs(noised - values).max() < LARGEST_SCALE * 40
    with pytest.raises(ParameterError):
        OpenDPNoise().gaussian(values * 2, 1.0)
