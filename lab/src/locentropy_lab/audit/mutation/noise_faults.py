"""Faults in the noise: too small, repeated, or not the noise that the proofs are about."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from locentropy.core.estimates import Measurements
from locentropy.mechanisms import listed_estimates
from locentropy.mechanisms.paper.limit import Limit
from locentropy.privacy import noise
from locentropy.privacy.noise import LATTICE, OpenDPNoise
from locentropy_lab.audit.mutation.planting import Change, Fault, PredictableNoise


def _real_numbers(_: Any) -> Any:
    def laplace(self: OpenDPNoise, values: Any, scale: float) -> Any:
        return values + scale * PredictableNoise().reals(np.shape(values))

    return laplace


class _Louder:
    """Noise that grows with the number of people."""

    private = True

    def __init__(self, noise: Any, people: int) -> None:
        self.noise, self.people = noise, people

    def laplace(self, values: Any, scale: float) -> Any:
        """More noise than needed, by an amount that the data decides."""
        return self.noise.laplace(values, scale * (1 + self.people / 1000))


def _scale_of_the_data(true: Any) -> Any:
    def measure(self: Limit, queries: Any, locations: Any, noise: Any) -> Any:
        people = int(queries.profile(self.bounds).user_counts.max())
        return true(self, queries, locations, _Louder(noise, people))

    return measure


def _one_for_all(true: Any) -> Any:
    def laplace(self: OpenDPNoise, values: Any, scale: float) -> Any:
        return values + true(self, np.zeros(1, dtype=np.int64), scale)[0]

    return laplace


def _with_an_end(true: Any) -> Any:
    def noised(values: Any, scale: float) -> Any:
        end = int(_END * scale)
        return values + np.clip(true(np.zeros_like(values), scale), -end, end)

    return noised


def _same_for_every_chunk(true: Any) -> Any:
    def laplace(self: OpenDPNoise, values: Any, scale: float) -> Any:
        some = true(self, np.zeros(noise._CHUNK, dtype=np.int64), scale)
        return values + np.resize(some, np.shape(values))

    return laplace


def _same_coins_again(true: Any) -> Any:
    def bernoulli_each(self: OpenDPNoise, chances: Any) -> Any:
        some = true(self, np.asarray(chances).ravel()[:65_536])
        return np.resize(some, np.shape(chances))

    return bernoulli_each


def _one_digit(scales: Any) -> Any:
    size = 10.0 ** np.floor(np.log10(scales))
    return np.floor(scales / size) * size


_END: Final = 6.0  # scales


def _fainter(part: float) -> tuple[Change, ...]:
    return (
        Change(
            OpenDPNoise, "laplace", lambda true: lambda self, values, scale: true(self, values, scale * part)
        ),
    )


TWO_THIRDS: Final = Fault(
    "noise at two thirds of its scale",
    "every guarantee is off by half, and no formula shows it",
    "attack on draws, limit",
    _fainter(2 / 3),
)
"""What the attack on draws must show, to be strong enough."""

ONE_FIFTH: Final = Fault(
    "noise at a fifth of its scale",
    "every guarantee is off by a factor of five",
    "",
    _fainter(1 / 5),
)
"""What the attack on releases must see: thousands show less than millions. No check of the catalogue takes as long."""

FAULTS: Final = (
    TWO_THIRDS,
    Fault(
        "noise of single scales at two thirds",
        "the same, for Limit-SS only",
        "noise has its scale, value by value",
        (
            Change(
                OpenDPNoise,
                "laplace_each",
                lambda true: lambda self, values, scales: true(self, values, np.asarray(scales) * 2 / 3),
            ),
        ),
    ),
    Fault(
        "Gaussian noise at two thirds of its scale",
        "ρ is more than twice what it is said to be",
        "noise has its scale, value by value",
        (
            Change(
                OpenDPNoise,
                "gaussian",
                lambda true: lambda self, values, scale: true(self, values, scale * 2 / 3),
            ),
        ),
    ),
    Fault(
        "Laplace noise for Gaussian noise",
        "noise of the same size, for which ρ is another",
        "noise has its tails",
        (
            Change(
                OpenDPNoise,
                "gaussian",
                lambda _: lambda self, values, scale: self.laplace(values, scale / np.sqrt(2.0)),
            ),
        ),
    ),
    Fault(
        "scales of one digit",
        "a scale that is shortened is up to half too small",
        "noise has its scale, value by value",
        (
            Change(
                OpenDPNoise,
                "laplace_each",
                lambda true: lambda self, values, scales: true(self, values, _one_digit(np.asarray(scales))),
            ),
        ),
    ),
    Fault(
        "one draw for all places",
        "differences between places are published exactly",
        "noise has its scale, value by value",
        (Change(OpenDPNoise, "laplace", _one_for_all),),
    ),
    Fault(
        "the same noise for every four thousand places",
        "differences between places far apart in the list are published exactly",
        "noise has its scale, value by value",
        (Change(OpenDPNoise, "laplace", _same_for_every_chunk),),
    ),
    Fault(
        "noise that has an end",
        "what lies beyond the end tells neighbours apart with certainty",
        "noise has its tails",
        (Change(noise, "_add_laplace", _with_an_end),),
    ),
    Fault(
        "scale set by the data",
        "how far published values scatter tells how many people there are",
        "scales and questions are public",
        (Change(Limit, "measure", _scale_of_the_data),),
    ),
    Fault(
        "float noise",
        "the last bits of a real number tell which value it was added to",
        "noise keeps to whole lattice points",
        (
            Change(OpenDPNoise, "laplace", _real_numbers),
            Change(Measurements, "__post_init__", lambda _: lambda self: None),  # it takes integers only
            Change(listed_estimates, "from_lattice", lambda _: lambda points: np.asarray(points) / LATTICE),
        ),
    ),
    Fault(
        "seed reused",
        "two releases have the same noise, and their difference has none",
        "noise is drawn anew",
        (
            Change(
                OpenDPNoise,
                "laplace",
                lambda _: lambda self, values, scale: PredictableNoise().laplace(values, scale),
            ),
        ),
    ),
    Fault(
        "coins of a fixed seed",
        "places near the threshold appear always or never",
        "noise is drawn anew",
        (
            Change(
                OpenDPNoise,
                "bernoulli_each",
                lambda _: lambda self, chances: PredictableNoise().bernoulli_each(chances),
            ),
        ),
    ),
    Fault(
        "a scale of 0 accepted",
        "OpenDP adds no noise then, and says nothing",
        "noise refuses what would not protect",
        (Change(noise, "_check_scale", lambda _: lambda scale, *, show: None),),
    ),
    Fault(
        "coins of twice the probability",
        "places are named twice as readily as δ allows for",
        "coins have their probability",
        (Change(noise, "_coins", lambda true: lambda chance, many: true(min(0.5, 2 * chance), many)),),
    ),
    Fault(
        "coins never rarer than one in ten thousand",
        "what δ allows once in a hundred million releases happens in every one with enough places",
        "coins have their probability",
        (Change(noise, "_coins", lambda true: lambda chance, many: true(max(1e-4, chance), many)),),
    ),
    Fault(
        "the same coins for every sixty-five thousand places",
        "places far apart in the list are named together or not at all",
        "coins have their probability",
        (Change(OpenDPNoise, "bernoulli_each", _same_coins_again),),
    ),
)
