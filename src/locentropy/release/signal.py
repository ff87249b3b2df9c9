"""Signal: whether the noisy numbers of a release, added up, are more than noise.

Where ids of list and visits are written differently, or every row was left out, nobody is counted, and what is
published is noise. The sum of the noisy presence of all places tells that at no cost: it is published already, and the
law of its noise is public. A sum below what noise alone stays below with probability 99.86 % is no signal. So of a
thousand releases of pure noise about one is taken for more; and a little presence under much noise is no signal either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from locentropy.core.errors import LocentropyError, ParameterError, ReleaseError
from locentropy.core.language import ENGLISH
from locentropy.core.window_split import split
from locentropy.privacy.noise_sums import deviation, usual_most

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locentropy.core.estimates import Measurements, NoisyPresence
    from locentropy.core.language import Words
    from locentropy.core.locations import Locations
    from locentropy.mechanisms.base import Mechanism
    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

What = Literal["presence", "visits"]

_DIGITS: Final = 9
"""Of what is stated; more would differ between machines."""
_NAMED: Final = 10
"""Windows without a signal that are named."""
_OTHERS: Final = "The measurements are not those that the mechanism makes."


@dataclass(frozen=True)
class Signal:
    """Noisy numbers added up over all places, and what noise alone would give. Public."""

    of: What
    """What is added up: units of presence, of which each person has one, or visits within the bounds."""
    value: float
    """The sum."""
    deviation: float
    """The standard deviation of its noise."""
    threshold: float
    """What noise alone stays below with probability 99.86 %."""
    windows: tuple[Signal, ...] = ()
    """The same for each window, if there are several."""

    def __post_init__(self) -> None:
        numbers = (self.value, self.deviation, self.threshold)
        if (
            self.of not in get_args(What)
            or not all(isinstance(each, float) and math.isfinite(each) for each in numbers)
            or not 0 < self.deviation < self.threshold
        ):
            raise ParameterError("signal must be finite numbers, and its threshold above the deviation.")

    @property
    def present(self) -> bool:
        """Whether there is more than noise: in all windows together, or in any."""
        return self.value > self.threshold or any(each.present for each in self.windows)

    def close_to(self, other: Signal) -> bool:
        """Whether both are the same but for rounding on another machine."""
        mine, yours = ((each.value, each.deviation, each.threshold) for each in (self, other))
        within = 1e-6 * self.deviation
        return (
            self.of == other.of
            and bool(np.allclose(mine, yours, rtol=1e-6, atol=within))
            and len(self.windows) == len(other.windows)
            and all(one.close_to(two) for one, two in zip(self.windows, other.windows, strict=True))
        )


def signal_of(mechanism: Mechanism, measurements: Measurements, locations: Locations | None) -> Signal | None:
    """The signal in measurements about this list; None if the mechanism does not tell."""
    try:
        found = mechanism.presence(measurements, locations)
    except (KeyError, ValueError):  # they may come from anywhere
        raise ReleaseError(_OTHERS) from None
    if found is None or not len(found.integers):
        return None
    if found.integers.shape != (len(measurements.locations), len(found.weights)):
        raise ReleaseError(_OTHERS)
    paired = None if locations is None else locations.in_windows
    windows = 0 if paired is None else len(paired.windows)
    parts: tuple[Signal, ...] = ()
    if windows:
        each = len(found.integers) // windows
        parts = tuple(_signal(found.at(slice(at * each, (at + 1) * each))) for at in range(windows))
    return _signal(found, parts)


def signal_in(release: Release) -> Signal | None:
    """The signal of a release that may not state it: computed from its measurements, if they are those of today."""
    from locentropy.release.reestimate import listed_in, mechanism_of  # here, because it imports Release

    kept = release.measurements
    if release.statement.signal is not None or kept is None:
        return release.statement.signal
    try:
        mechanism, listed = mechanism_of(release.statement), listed_in(release)
        if dict(mechanism.public_scales(listed)) != dict(kept.scales):
            return None  # it was measured otherwise then
        return signal_of(mechanism, kept.measurements, listed)
    except LocentropyError:  # of a mechanism that is not here, or of anybody
        return None


def _signal(found: NoisyPresence, windows: tuple[Signal, ...] = ()) -> Signal:
    scales = tuple(abs(weight) * found.scale for weight in found.weights)
    places = len(found.integers)
    return Signal(
        found.of,
        _rounded(found.total),
        _rounded(deviation(found.noise, scales, places)),
        _rounded(usual_most(found.noise, scales, places)),
        windows,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def signal_words(signal: Signal | None, statement: Statement, say: Words = ENGLISH) -> str:
    """That there is no signal, in all or in some windows; empty where there is, or where that is not known."""
    if signal is None:
        return ""
    if not signal.present:
        level = "" if statement.level is None else say("signal.level", level=statement.level)
        told = say("signal.none", of=signal.of, sum=_sum(signal, say))
        return level + told + say("signal.law", most=_number(signal.threshold, signal, say))
    silent = list(_silent(signal, statement))
    if not silent:
        return ""
    named = [f"{text} ({_sum(each, say)})" for text, each in silent[:_NAMED]]
    more = f" (+{len(silent) - _NAMED})" if len(silent) > _NAMED else ""
    return say.count("signal.windows", len(silent), named=", ".join(named) + more)


def _silent(signal: Signal, statement: Statement) -> Iterator[tuple[str, Signal]]:
    """The windows without a signal."""
    if statement.windows is not None:
        for window, each in zip(split(statement.window, statement.windows), signal.windows, strict=True):
            if not each.present:
                yield window.text, each


def _sum(signal: Signal, say: Words) -> str:
    return f"{_number(signal.value, signal, say)} ± {_number(signal.deviation, signal, say)}"


def _number(value: float, signal: Signal, say: Words) -> str:
    """With as many decimals as the noise leaves."""
    decimals = max(0, 1 - math.floor(math.log10(signal.deviation)))
    return say.number(round(value, decimals) + 0.0, f",.{decimals}f").replace("-", "−")


def signal_entry(signal: Signal) -> dict[str, Any]:
    """The signal as details.yaml states it."""
    numbers = {name: getattr(signal, name) for name in ("of", "value", "deviation", "threshold")}
    return numbers | ({"windows": [signal_entry(each) for each in signal.windows]} if signal.windows else {})


def check_windows(signal: Signal | None, windows: Sequence[object]) -> None:
    """Raise ParameterError unless there is a signal for each window, and no further ones."""
    if signal is not None and len(signal.windows) != len(windows):
        raise ParameterError("signal must be told for each window.")
