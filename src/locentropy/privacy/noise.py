"""The lattice and the noise: the only module that randomises anything derived from data.

Claim: `OpenDPNoise.laplace` adds independent discrete Laplace noise of exactly the given scale to every
integer, `laplace_each` of exactly the given scale to each, and `bernoulli_each` flips independent coins of
exactly the given probabilities. All draws come from OpenDP, whose generator is seeded by the operating system;
nothing here can be repeated on purpose. Integers whose ℓ₁ norm changes by at most `sensitivity` when a user is added
or removed are ε-differentially private at `laplace_scale(sensitivity, ε)`, by OpenDP's own privacy map.
`OpenDPNoise.gaussian` adds independent discrete Gaussian noise: integers whose ℓ₂ norm changes by at most `sensitivity`
are ρ-zero-concentrated differentially private at `gaussian_scale(sensitivity, ρ)`, by OpenDP's map again.

Real values are rounded to a lattice first (`to_lattice`, `lattice_sensitivity`): docs/proofs/lattice.md.
The coins: docs/proofs/selection.md.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from itertools import pairwise
from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from locentropy.core.checks import check_whole, positive_integer
from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import Number, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

LATTICE = 2**20
"""Lattice points per unit: real values are published in steps of 2^-20."""

LARGEST_VALUE = 2**61
LARGEST_SCALE = 2.0**55
"""With values and scales up to these, noise leaves the 64-bit integers with probability below e^-192: it would have to
exceed 2^62, which is 2^7 scales of Laplace noise at least, for Gaussian noise even below e^-8191. Where it does, OpenDP
returns the nearest 64-bit integer, which costs no privacy."""

SMALLEST_PROBABILITY = 2.0**-1000
"""Smaller probabilities are refused: OpenDP's map overflows for them, and they practically never occur."""

_CHUNK = 4096  # Values per call: enough to hide the cost of a call, few enough to share between threads.
_LAPLACE_CALL = "OpenDPNoise().laplace(np.array([3, 4]), scale=5.0)"
_GAUSSIAN_CALL = "gaussian_scale(sensitivity=5, rho=Fraction(1, 10))"
_COINS = 16 * _CHUNK  # Coins are about fifteen times faster than Laplace noise.


class Noise(Protocol):
    """The noise that a mechanism may use. A simulation passes its own, with `private` false."""

    @property
    def private(self) -> bool:
        """Whether the results may be published; true for `OpenDPNoise` only."""
        ...

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Values plus independent discrete Laplace noise of one scale."""
        ...

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Values plus independent discrete Laplace noise, each of its own scale."""
        ...

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Values plus independent discrete Gaussian noise of one scale."""
        ...

    def bernoulli_each(self, probabilities: Reals) -> Booleans:
        """Independent coins, each true with its own probability."""
        ...


def to_lattice(values: Reals) -> Integers:
    """The nearest lattice points, as integers; raise ParameterError for values that are not finite or too large."""
    points = np.rint(np.asarray(values, dtype=np.float64) * LATTICE)  # times a power of two: exact
    # This form refuses NaN too. No value is shown: they are private.
    if not np.all(np.abs(points) <= LARGEST_VALUE):
        raise ParameterError(
            f"must be finite and at most {LARGEST_VALUE // LATTICE} in size.",
            parameter="values",
            example="to_lattice(np.array([0.0, 1.5]))",
        )
    return points.astype(np.int64)


def from_lattice(points: Integers) -> Reals:
    """The real values of lattice points."""
    return np.asarray(points, dtype=np.int64) / LATTICE


def lattice_sensitivity(delta: float) -> int:
    """How much a lattice point can change when its real value changes by at most `delta`.

    This includes one unit for the two roundings to the lattice, and one for the rounding errors of logarithms.
    """
    if not (
        isinstance(delta, int | float) and math.isfinite(delta) and 0 <= delta * LATTICE <= LARGEST_VALUE
    ):
        raise ParameterError(
            "must be finite and at least 0.",
            parameter="delta",
            value=delta,
            example="lattice_sensitivity(0.6931)",
        )
    return math.ceil(Fraction(delta) * LATTICE) + 2


def laplace_epsilon(sensitivity: int, scale: float) -> float:
    """The ε of noise of this scale for this ℓ₁ sensitivity, by OpenDP's privacy map; rounded up."""
    _check_sensitivity(sensitivity)
    _check_scale(scale, show=True)
    return float(_laplace_measurement(float(scale)).map(int(sensitivity)))


def laplace_scale(sensitivity: int, epsilon: Number) -> float:
    """The smallest scale whose ε, by OpenDP's privacy map, is at most `epsilon` as it was written."""
    call = "laplace_scale(sensitivity=5, epsilon=1.0)"
    _check_sensitivity(sensitivity)
    budget = exact(epsilon)
    if budget == 0:
        raise ParameterError("must be above 0.", parameter="epsilon", value=epsilon, example=call)
    if not Fraction(2) ** -1000 < int(sensitivity) / budget < int(LARGEST_SCALE):
        raise ParameterError(
            f"A sensitivity of {sensitivity} at ε = {epsilon} needs noise too large or too small for 64-bit integers.",
            example=call,
        )
    scale = float(int(sensitivity) / budget)
    while Fraction(laplace_epsilon(sensitivity, scale)) > budget:  # the map rounds up: one or two steps
        scale = math.nextafter(scale, math.inf)
    return scale


def gaussian_rho(sensitivity: int, scale: float) -> float:
    """The ρ of discrete Gaussian noise of this scale for this ℓ₂ sensitivity, by OpenDP's privacy map; rounded up."""
    _check_sensitivity(sensitivity)
    _check_scale(scale, show=True)
    return float(_gaussian_measurement(float(scale)).map(int(sensitivity)))


def gaussian_scale(sensitivity: int, rho: Fraction) -> float:
    """The smallest scale whose ρ, by OpenDP's privacy map, is at most `rho`.

    On integers the discrete Gaussian is Δ²/(2σ²)-zCDP (Canonne, Kamath, Steinke 2020, Theorem 4). The search starts
    below and goes up by single floats: the map rounds up, and decreases with the scale.
    """
    _check_sensitivity(sensitivity)
    if not isinstance(rho, Fraction) or rho <= 0:
        raise ParameterError(
            "must be a Fraction above 0.", parameter="rho", value=rho, example=_GAUSSIAN_CALL
        )
    squared = int(sensitivity) ** 2 / (2 * rho)
    if not Fraction(2) ** -200 < squared < int(LARGEST_SCALE) ** 2:
        raise ParameterError(
            f"A sensitivity of {sensitivity} at ρ = {float(rho)} needs noise too large or too small for 64-bit "
            "integers.",
            example=_GAUSSIAN_CALL,
        )
    scale = _root_below(squared)
    while Fraction(gaussian_rho(sensitivity, scale)) > rho:
        scale = math.nextafter(scale, math.inf)
    return scale


def _root_below(squared: Fraction) -> float:
    """The largest float whose square is at most a positive fraction."""
    root = math.sqrt(float(squared))
    while Fraction(root) ** 2 > squared:
        root = math.nextafter(root, 0.0)
    while Fraction(math.nextafter(root, math.inf)) ** 2 <= squared:
        root = math.nextafter(root, math.inf)
    return root


class OpenDPNoise:
    """Noise for releases: OpenDP's exact samplers on the operating system's randomness."""

    private = True

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None:
            positive_integer("threads", threads, "OpenDPNoise(threads=2)")
        self.threads = int(threads) if threads is not None else _processors()

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Values plus independent discrete Laplace noise of one scale, in the order of the values."""
        return self._one_scale(values, scale, _add_laplace)

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Values plus independent discrete Gaussian noise of one scale, in the order of the values."""
        return self._one_scale(values, scale, _add_gaussian)

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Values plus independent discrete Laplace noise, each of its own scale, in the order of the values.

        One OpenDP measurement per distinct scale; scales are never rounded or grouped.
        """
        widths = np.asarray(scales, dtype=np.float64)
        if widths.shape != np.shape(values):
            raise ParameterError(
                f"of shape {widths.shape} do not fit values of shape {np.shape(values)}.",
                parameter="scales",
                example="OpenDPNoise().laplace_each(np.array([3, 4]), np.array([1.5, 2.0]))",
            )
        # A scale may be private (smooth sensitivity is a function of the data): never show one.
        if widths.size:
            _check_scale(float(widths.min()), show=False)
            _check_scale(float(widths.max()), show=False)
        order, groups = _grouped(widths.ravel())
        flat = _checked_values(values)[order]
        out = np.empty_like(flat)
        self._run(lambda part, at: _add_laplace(flat[at], part), _chunks(groups, _CHUNK), out)
        return _in_first_order(out, order).reshape(widths.shape)

    def bernoulli_each(self, probabilities: Reals) -> Booleans:
        """Independent coins, each true with exactly its own probability; for 0 and 1 nothing is drawn."""
        chances = np.asarray(probabilities, dtype=np.float64)
        tails = np.minimum(chances, 1 - chances)  # exact: 1 − p is a float for every p in [½, 1]
        if not np.all((tails == 0) | (tails >= SMALLEST_PROBABILITY)):
            raise ParameterError(
                "must be between 0 and 1, and 0 or at least 2^-1000.",
                parameter="probabilities",
                example="OpenDPNoise().bernoulli_each(np.array([0.0, 0.25, 1.0]))",
            )
        order, groups = _grouped(tails.ravel())
        out = np.zeros(tails.size, dtype=np.bool_)
        jobs = _chunks((group for group in groups if group[0] > 0), _COINS)
        self._run(lambda part, at: _coins(part, at.stop - at.start), jobs, out)
        return _in_first_order(out, order).reshape(chances.shape) ^ (chances > 0.5)

    def _one_scale(
        self, values: Integers, scale: float, add: Callable[[Integers, float], Integers]
    ) -> Integers:
        _check_scale(scale, show=True)
        flat = _checked_values(values)
        out = np.empty_like(flat)
        jobs = _chunks([(float(scale), slice(0, flat.size))], _CHUNK)
        self._run(lambda part, at: add(flat[at], part), jobs, out)
        return out.reshape(np.shape(values))

    def _run(
        self,
        draw: Callable[[float, slice], NDArray[Any]],
        jobs: Iterable[tuple[float, slice]],
        out: NDArray[Any],
    ) -> None:
        """Fill `out` piece by piece, in threads: OpenDP releases the interpreter lock while it draws."""

        def fill(job: tuple[float, slice]) -> None:
            out[job[1]] = draw(*job)

        work = list(jobs)
        if self.threads == 1 or len(work) < 2:
            for job in work:
                fill(job)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            for _ in pool.map(fill, work):  # a failure in any thread is raised here
                pass


def is_private(noise: Noise) -> bool:
    """Whether noise protects anybody: true for `OpenDPNoise` only, whatever other noise says of itself."""
    return isinstance(noise, OpenDPNoise)


def _check_sensitivity(sensitivity: int) -> None:
    call = "laplace_scale(sensitivity=5, epsilon=1.0)"
    check_whole(call, "sensitivity", sensitivity, 1, LARGEST_VALUE)


def _check_scale(scale: float, *, show: bool) -> None:
    """Raise ParameterError for an invalid scale; above all for 0, at which OpenDP silently adds no noise."""
    usable = isinstance(scale, Real) and not isinstance(scale, bool)
    # Checked as the float that is used: a tiny fraction becomes 0.
    if not usable or not 0 < float(scale) <= LARGEST_SCALE:
        shown = f"scale={scale!r}" if show else "every scale"
        raise ParameterError(f"{shown} must be above 0 and at most 2^55.", example=_LAPLACE_CALL)


def _checked_values(values: Integers) -> Integers:
    """The values as one contiguous array of 64-bit integers; anything else is refused, without showing it."""
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise ParameterError(
            f"of type {given.dtype} must be integers (see to_lattice).",
            parameter="values",
            example=_LAPLACE_CALL,
        )
    if given.size and (given.max() > LARGEST_VALUE or given.min() < -LARGEST_VALUE):
        raise ParameterError(
            "must be at most 2^61 in size, to leave room for noise.",
            parameter="values",
            example=_LAPLACE_CALL,
        )
    # OpenDP takes no array that is read-only, as a cached answer is.
    return np.require(given.ravel(), dtype=np.int64, requirements=["C", "W"])


def _grouped(keys: Reals) -> tuple[NDArray[np.intp], list[tuple[float, slice]]]:
    """An order that groups equal keys, and the slice of each distinct key in this order."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    edges = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), ordered.size]
    groups = [(float(ordered[start]), slice(start, stop)) for start, stop in pairwise(edges) if start < stop]
    return order, groups


def _in_first_order(sorted_values: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]:
    out = np.empty_like(sorted_values)
    out[order] = sorted_values
    return out


def _chunks(groups: Iterable[tuple[float, slice]], size: int) -> Iterator[tuple[float, slice]]:
    for key, at in groups:
        for start in range(at.start, at.stop, size):
            yield key, slice(start, min(start + size, at.stop))


def _add_laplace(values: Integers, scale: float) -> Integers:
    return np.array(_laplace_measurement(scale)(values), dtype=np.int64)


def _add_gaussian(values: Integers, scale: float) -> Integers:
    return np.array(_gaussian_measurement(scale)(values), dtype=np.int64)


def _coins(probability: float, count: int) -> Booleans:
    """Coins of one probability in (0, ½]: the bits that randomised response flips in a vector of zeros.

    OpenDP flips each bit with probability f/2, and f = 2·probability is exact. The last byte is discarded: OpenDP
    before 0.16 never flipped the last bit of the vector.
    """
    zeros = bytes((count + 7) // 8 + 1)
    flipped = np.frombuffer(_flip_measurement(2 * probability)(zeros), dtype=np.uint8)
    if flipped.size != len(zeros):
        raise RuntimeError("OpenDP returned a vector of bits of another length.")
    return np.unpackbits(flipped)[:count].astype(np.bool_)


@cache
def _opendp() -> Any:
    """OpenDP's samplers, loaded when noise is first drawn. OpenDP's prelude would load Polars needlessly."""
    from opendp import domains, measurements, metrics, mod

    mod.enable_features("contrib")
    return SimpleNamespace(domains=domains, measurements=measurements, metrics=metrics)


@cache
def _integers() -> Any:
    domains = _opendp().domains
    return domains.vector_domain(domains.atom_domain(T="i64"))


def _laplace_measurement(scale: float) -> Any:
    dp = _opendp()
    return dp.measurements.make_laplace(_integers(), dp.metrics.l1_distance(T="i64"), scale=scale)


def _gaussian_measurement(scale: float) -> Any:
    dp = _opendp()
    return dp.measurements.make_gaussian(_integers(), dp.metrics.l2_distance(T="i64"), scale=scale)


def _flip_measurement(flip: float) -> Any:
    dp = _opendp()
    # A vector of zeros has weight 0; the weight only enters OpenDP's map, which is not used for coins.
    return dp.measurements.make_randomized_response_bitvec(
        dp.domains.bitvector_domain(max_weight=1), dp.metrics.discrete_distance(), f=flip
    )


def _processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
