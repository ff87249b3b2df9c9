"""The privacy loss between two laws, as bounds from both sides on δ(ε) and on ε(δ).

``PrivacyLoss.between(components)`` takes the independent coordinates in which two neighbours differ, and bounds
sup_A P(A) − e^ε·Q(A). A claim is accepted when the upper bound is within it, and refuted when the lower bound is
above it; between the two nothing is said.

How. δ = E_P[(1 − e^(ε−L))₊] with L the sum of the coordinates' losses ln P/Q. Along the integers the loss of one
coordinate is linear in three pieces, so the mass of each cell of a grid of losses is a geometric sum. Losses are
rounded up to the grid and the masses convolved; all of it moved down by one cell for each coordinate bounds from
below. A coordinate that is shown by chance has one more outcome, "not shown", like any other; where only P can show
it, that is a certain loss, which counts in full. Coordinates that are nothing but chance have a few exact losses
and need no grid.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from locentropy_lab.audit.subjects import Law

    Reals = NDArray[np.float64]

TAIL: Final = (
    42.0  # noise beyond this many scales has mass e^-42; it counts as certain loss above, as none below
)
ROUNDING: Final = (
    1e-9  # a loss computed in floats is off by less; added above, taken off below, per coordinate
)
CELLS: Final = 2**16
_ONE: Final = Fraction(1)


class Between(NamedTuple):
    """Bounds: lower ≤ the value ≤ upper."""

    lower: float
    upper: float


class Component(NamedTuple):
    """One coordinate under two neighbours."""

    value: int
    scale: float
    other: int
    other_scale: float
    chance: Fraction = _ONE
    other_chance: Fraction = _ONE
    gaussian: bool = False
    """Whether the noise is Gaussian; Laplace otherwise."""

    def turned(self) -> Component:
        """Return the component with the neighbours exchanged."""
        return Component(
            self.other,
            self.other_scale,
            self.value,
            self.scale,
            self.other_chance,
            self.chance,
            self.gaussian,
        )


def components(here: Law, there: Law) -> list[Component] | None:
    """Where two laws differ; None if their coordinates are not the same, which alone tells them apart."""
    if here.values.shape != there.values.shape or (here.chances is None) != (there.chances is None):
        return None
    if here.gaussian != there.gaussian:
        return None
    certain = (_ONE,) * here.values.size
    rows = zip(
        here.values.tolist(), here.scales.tolist(), there.values.tolist(), there.scales.tolist(),
        here.chances or certain, there.chances or certain, strict=True,
    )  # fmt: skip
    found = (Component(*row)._replace(gaussian=here.gaussian) for row in rows)
    return [each for each in found if each != each.turned()]


def exact_loss(found: Sequence[Component] | None) -> Fraction | None:
    """The largest |ln P/Q|, exactly, if all scales are public and everything is shown; else None.

    Noise of one scale b on integers at distance s has the loss s/b at all outputs beyond either.
    """
    if found is None or any(
        each.scale != each.other_scale or each.chance != 1 or each.other_chance != 1 or each.gaussian
        for each in found
    ):
        return None
    return sum((abs(each.value - each.other) / Fraction(each.scale) for each in found), Fraction(0))


def exact_rho(found: Sequence[Component] | None) -> Fraction | None:
    """The ρ of neighbours whose every difference has Gaussian noise of a public scale, exactly; else None."""
    if not found or any(not each.gaussian or each.scale != each.other_scale for each in found):
        return None
    return sum(
        (Fraction((each.value - each.other) ** 2) / (2 * Fraction(each.scale) ** 2) for each in found),
        Fraction(0),
    )


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """The distribution of the loss under P, in masses at losses that are rounded up."""

    mass: Reals
    losses: Reals
    """In ascending order."""
    certain: float
    """Mass of outcomes that Q cannot have."""
    slack: float
    """By how much a loss may be rounded up in all."""
    missing: float
    """Mass that may have been lost or gained by cutting tails and by rounding."""

    @classmethod
    def between(cls, found: Iterable[Component], *, cells: int = CELLS) -> PrivacyLoss:
        """Return the loss of P, the first neighbour of each component, against Q."""
        counted = Counter(_shifted(each) for each in found)
        if all(shift is None for shift, *_ in counted):
            return _of_chances(counted)
        return _on_a_grid(counted, cells)

    def delta(self, epsilon: float) -> Between:
        """Bounds on δ(ε)."""
        upper = self._expected(self.losses, epsilon) + self.missing
        lower = self._expected(self.losses - self.slack, epsilon) - self.missing
        return Between(max(0.0, lower), min(1.0, upper))

    def epsilon(self, delta: float, precision: float = 1e-7) -> Between:
        """Bounds on ε(δ), the smallest ε that goes with δ, found to this precision; infinite where none does."""
        return Between(*(self._smallest(delta, precision, upper=upper) for upper in (False, True)))

    def _smallest(self, delta: float, precision: float, *, upper: bool) -> float:
        def kept(epsilon: float) -> bool:
            return self.delta(epsilon)[upper] <= delta

        low, high = 0.0, max(1.0, float(self.losses.max(initial=0.0)) + 1.0)
        if kept(low):
            return 0.0
        if not kept(high):
            return math.inf
        while high - low > precision * high:
            middle = (low + high) / 2
            low, high = (low, middle) if kept(middle) else (middle, high)
        return high if upper else low

    def _expected(self, losses: Reals, epsilon: float) -> float:
        above = slice(int(np.searchsorted(losses, epsilon)), None)  # smaller ones lose nothing
        return float((self.mass[above] * -np.expm1(epsilon - losses[above])).sum()) + self.certain


_Key = tuple[int | None, float, float, Fraction, Fraction]


def _shifted(each: Component) -> _Key:
    """A component up to its position on the integers; the shift is None if its value tells nothing."""
    if not each.chance or not each.other_chance:
        return None, 1.0, 1.0, each.chance, each.other_chance
    shift = abs(each.value - each.other)
    if shift == 0 and each.scale == each.other_scale:
        return None, 1.0, 1.0, each.chance, each.other_chance
    return shift, each.scale, each.other_scale, each.chance, each.other_chance


def _atoms(chance: Fraction, other: Fraction) -> tuple[list[tuple[float, float]], float]:
    """(loss, mass) of "shown" and "not shown", and the mass of outcomes that Q cannot have."""
    found, certain = [], 0.0
    for p, q in ((chance, other), (1 - chance, 1 - other)):
        if p and q:
            found.append((math.log(p / q) if p != q else 0.0, float(p)))
        else:
            certain += float(p)
    return found, certain


def _of_chances(counted: Counter[_Key]) -> PrivacyLoss:
    """All outcomes one by one: there are few, since equal coordinates differ only in how many are shown."""
    finite, certain, coordinates = 1.0, 0.0, 0
    losses: Reals = np.zeros(1)
    mass: Reals = np.ones(1)
    for (_, _, _, chance, other), times in counted.items():
        atoms, sure = _atoms(chance, other)
        for _ in range(times):
            certain, finite = certain + finite * sure, finite * (1.0 - sure)
            losses = np.add.outer(losses, [loss for loss, _ in atoms]).ravel()
            mass = np.multiply.outer(mass, [part for _, part in atoms]).ravel()
            losses, where = np.unique(np.round(losses, 13), return_inverse=True)
            mass = np.bincount(where, mass, len(losses)).astype(np.float64)
        coordinates += times
    slip = coordinates * ROUNDING
    return PrivacyLoss(mass, losses + slip, certain, 2 * slip, 0.0)


def _on_a_grid(counted: Counter[_Key], cells: int) -> PrivacyLoss:
    ranges = {key: _range(key) for key in counted}
    width = sum(times * (ranges[key][1] - ranges[key][0]) for key, times in counted.items())
    coordinates = sum(counted.values())
    grid = max(width, 1e-6) / cells
    size = 1 << (cells + 4 * coordinates + 2).bit_length()
    first, spectrum, norm, missing, finite, certain = (
        0,
        np.ones(size // 2 + 1, dtype=complex),
        0.0,
        0.0,
        1.0,
        0.0,
    )
    mass = np.ones(1)
    for key, times in counted.items():
        start, mass, sure = _masses(key, grid, *ranges[key])
        first += start * times
        for _ in range(times):
            certain, finite = certain + finite * sure, finite * (1.0 - sure)
        missing += times * 2.0 * math.exp(-TAIL)
        norm += times * float(np.sqrt((mass**2).sum()))
        if coordinates > 1:
            spectrum = spectrum * np.fft.rfft(mass, size) ** times
    if coordinates > 1:
        mass = np.maximum(np.fft.irfft(spectrum, size), 0.0)
        # rounding of the transforms, in the 2-norm as usual, then to the 1-norm by Cauchy and Schwarz
        missing += 4.0 * math.log2(size) * 2.0**-53 * norm * math.sqrt(size)
    slip = coordinates * ROUNDING
    losses: Reals = (first + np.arange(len(mass), dtype=np.float64)) * grid + slip
    return PrivacyLoss(mass, losses, certain, coordinates * grid + 2 * slip, missing)


def _pieces(shift: int, scale: float, other: float) -> list[tuple[int, int, float, float]]:
    """(first k, last k, intercept, slope): the loss along k = distance from P's centre, in three pieces."""
    reach = math.ceil(TAIL * scale)
    ratio = math.log(math.tanh(0.5 / scale)) - math.log(math.tanh(0.5 / other))
    away = (0, reach, ratio + shift / other, 1.0 / other - 1.0 / scale)
    between = (1, min(shift, reach), ratio + shift / other, -1.0 / other - 1.0 / scale)
    beyond = (shift + 1, reach, ratio - shift / other, 1.0 / other - 1.0 / scale)
    return [piece for piece in (away, between, beyond) if piece[0] <= piece[1]]


def _shown_loss(key: _Key) -> float:
    return math.log(key[3] / key[4]) if key[3] != key[4] else 0.0


def _range(key: _Key) -> tuple[float, float]:
    """The smallest and the largest loss of one coordinate."""
    shift, scale, other, chance, other_chance = key
    if shift is None:
        ends = [loss for loss, _ in _atoms(chance, other_chance)[0]]
    else:
        extra = _shown_loss(key)
        ends = [c + s * k + extra for low, high, c, s in _pieces(shift, scale, other) for k in (low, high)]
        if chance < 1 and other_chance < 1:
            ends.append(math.log((1 - chance) / (1 - other_chance)))
    return min(ends, default=0.0), max(ends, default=0.0)


def _masses(key: _Key, grid: float, low: float, high: float) -> tuple[int, Reals, float]:
    """P's mass by ⌈loss/grid⌉, the number of the first cell, and the mass of what Q cannot have."""
    shift, scale, other, chance, other_chance = key
    first = math.floor(low / grid) - 1
    cells = np.arange(first, math.ceil(high / grid) + 2)
    mass = np.zeros(len(cells))
    atoms, sure = _atoms(chance, other_chance)
    if shift is None:
        for loss, part in atoms:
            mass[math.ceil(loss / grid) - first] += part
        return first, mass, sure
    if chance < 1 and other_chance < 1:
        loss, part = atoms[-1]
        mass[math.ceil(loss / grid) - first] += part
    each = float(chance) / (1.0 + math.exp(-1.0 / scale))
    extra = _shown_loss(key)
    for start, end, intercept, slope in _pieces(shift, scale, other):
        intercept += extra
        if slope == 0.0:
            mass[math.ceil(intercept / grid) - first] += float(_geometric(start, end + 1, scale)) * each
            continue
        edge = (cells * grid - intercept) / slope
        if slope > 0.0:  # cell i holds the k in (edge[i−1], edge[i]]
            upto = np.clip(np.floor(edge) + 1.0, start, end + 1)
            mass[1:] += _geometric(upto[:-1], upto[1:], scale) * each
        else:  # cell i holds the k in [edge[i], edge[i−1])
            since = np.clip(np.ceil(edge), start, end + 1)
            mass[1:] += _geometric(since[1:], since[:-1], scale) * each
    return first, mass, sure


def _geometric(since: Reals | int, until: Reals | int, scale: float) -> Reals:
    """(1 − r)·Σ r^k over since ≤ k < until, r = e^(−1/scale), without cancellation."""
    begin = np.asarray(since, dtype=np.float64)
    sums: Reals = np.exp(-begin / scale) * -np.expm1((begin - until) / scale)
    return sums
