"""What an audit has found, and whether it passes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.version import __version__
from locentropy.privacy.guarantee import exact_text

if TYPE_CHECKING:
    from locentropy.privacy.guarantee import Guarantee
    from locentropy_lab.audit.confidence import Attack
    from locentropy_lab.audit.mutation.catalogue import Trial
    from locentropy_lab.audit.search import Cost, Numerical


ENOUGH: Final = 0.8
"""An attack is strong enough to find faults if it shows this part of the guaranteed ε."""


@dataclass(frozen=True)
class Settings:
    """How much an audit does."""

    draws: int
    """Draws from every mechanism, both neighbours together."""
    runs: int
    """Whole releases of every mechanism, both neighbours together."""
    power_draws: int
    """Draws from Limit for the attack on noise that is too small."""
    processes: int = 2
    """Processes that draw and publish at the same time."""


FULL: Final = Settings(draws=1_000_000, runs=2_000, power_draws=1_000_000)
# With far fewer draws, chance decides what the attack for the power shows.
FAST: Final = Settings(draws=40_000, runs=40, power_draws=1_000_000)


@dataclass(frozen=True)
class Statistical:
    """Both attacks on one mechanism."""

    name: str
    claim: Guarantee
    """The guarantee of the noisy integers."""
    released: Guarantee
    """The guarantee of whole releases: what follows a selection costs extra."""
    on_draws: Attack
    draws: int
    with_few: float
    """What the attack on draws would be expected to show with only as many draws as there are releases."""
    on_releases: Attack
    runs: int

    @property
    def kept(self) -> bool:
        """Whether neither attack has shown more than is guaranteed."""
        return all(within(claim, shown) for claim, shown in self.attacks)

    @property
    def attacks(self) -> tuple[tuple[Guarantee, Attack], ...]:
        """Each attack with the guarantee that it is about."""
        return (self.claim, self.on_draws), (self.released, self.on_releases)


def within(claim: Guarantee, shown: Attack) -> bool:
    """Whether an attack has shown no more than is guaranteed."""
    return claim.epsilon is not None and shown.epsilon <= claim.epsilon


@dataclass(frozen=True)
class Power:
    """Whether the attacks are strong enough to show a fault: on Limit as it is, and with too little noise."""

    claim: float
    reached: float
    """Shown by draws with all of the noise."""
    with_less_noise: float
    """Shown by draws with two thirds of it."""
    on_releases: float | None = None
    """Shown by whole releases with a fifth of it; None if there were too few to show anything."""

    @property
    def sufficient(self) -> bool:
        """Whether they come close to the claim as it is, and exceed it with too little noise."""
        return (
            self.reached >= ENOUGH * self.claim
            and self.with_less_noise > self.claim
            and (self.on_releases is None or self.on_releases > self.claim)
        )


@dataclass(frozen=True)
class Audit:
    """Everything that an audit has found."""

    settings: Settings
    numerical: tuple[Numerical, ...]
    statistical: tuple[Statistical, ...]
    power: Power | None
    """None if Limit was not audited."""
    checks: dict[str, tuple[str, ...]]
    """What each check finds wrong with the software as it is: nothing, if all is well."""
    mutation: tuple[Trial, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every guarantee held, the attacks are strong enough, and every fault was caught."""
        return (
            all(each.kept is not False for each in self.numerical)
            and all(each.kept for each in self.statistical)
            and (self.power is None or self.power.sufficient)
            and not any(self.checks.values())
            and all(each.caught for each in self.mutation)
        )

    @property
    def complete(self) -> bool:
        """Whether all mechanisms and faults were tried, with at least the usual number of draws and releases."""
        enough = self.settings.draws >= FULL.draws and self.settings.runs >= FULL.runs
        return enough and self.power is not None and bool(self.mutation)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON takes it; infinite numbers become null."""
        return {
            "software": f"locentropy {__version__}",
            "ok": self.ok,
            "complete": self.complete,
            "seconds": round(self.seconds, 1),
            "settings": asdict(self.settings),
            "numerical": [_numerical(each) for each in self.numerical],
            "statistical": [_statistical(each) for each in self.statistical],
            "power": None
            if self.power is None
            else {**asdict(self.power), "sufficient": self.power.sufficient},
            "checks": {name: list(said) for name, said in self.checks.items()},
            "faults": [
                {
                    "fault": each.fault.name,
                    "why": each.fault.why,
                    "caught_by": each.fault.caught_by,
                    "caught": each.caught,
                    "said": list(each.complaints),
                    "stopped_on": each.stopped_on,
                }
                for each in self.mutation
            ],
        }


def _guarantee(claim: Guarantee) -> dict[str, Any]:
    if claim.epsilon is None:
        return {"epsilon": None, "delta": None}
    return {"epsilon": exact_text(claim.epsilon), "delta": exact_text(claim.delta)}


def _numerical(each: Numerical) -> dict[str, Any]:
    return {
        "mechanism": each.name,
        "claim": _guarantee(each.claim),
        "kept": each.kept,
        "crowds": None if each.crowds is None else _cost(each.crowds),
        "tables": _cost(each.tables),
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return _finite(asdict(cost))


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value in (math.inf, -math.inf) else value for name, value in values.items()}


def _statistical(each: Statistical) -> dict[str, Any]:
    return {
        "mechanism": each.name,
        "kept": each.kept,
        "draws": {
            "claim": _guarantee(each.claim),
            "many": each.draws,
            **_finite(each.on_draws._asdict()),
            "with_as_few_as_releases": each.with_few,
        },
        "releases": {
            "claim": _guarantee(each.released),
            "many": each.runs,
            **_finite(each.on_releases._asdict()),
        },
    }
