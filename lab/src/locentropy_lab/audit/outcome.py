"""What an audit has found, and whether it is good enough."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.version import __version__
from locentropy.privacy.guarantee import exact_text

if TYPE_CHECKING:
    from locentropy.privacy.guarantee import Guarantee
    from locentropy_lab.audit.mutation.trying import Tried
    from locentropy_lab.audit.numerical.search import Cost, Numerical
    from locentropy_lab.audit.statistical.confidence import Attack

ENOUGH: Final = 0.8
"""An attack has teeth if it shows this part of what is promised."""


@dataclass(frozen=True)
class Settings:
    """How much an audit does."""

    draws: int
    """Draws of every mechanism, both neighbours together."""
    runs: int
    """Whole releases of every mechanism, both neighbours together."""
    teeth: int
    """Draws of Limit for the attack on noise that is too small."""
    processes: int = 2
    """That draw and publish at the same time."""


FULL: Final = Settings(draws=1_000_000, runs=2_000, teeth=1_000_000)
FAST: Final = Settings(draws=40_000, runs=40, teeth=1_000_000)  # with far fewer the attack is blunt by chance


@dataclass(frozen=True)
class Statistical:
    """Both attacks on one mechanism."""

    name: str
    claim: Guarantee
    """What the noisy integers promise."""
    released: Guarantee
    """What whole releases promise: a selection is followed by something that costs extra."""
    on_draws: Attack
    draws: int
    with_few: float
    """What the attack on draws could be expected to show of as few draws as there are releases."""
    on_releases: Attack
    runs: int

    @property
    def kept(self) -> bool:
        """Whether neither attack has shown more than was promised."""
        return all(within(claim, shown) for claim, shown in self.attacks)

    @property
    def attacks(self) -> tuple[tuple[Guarantee, Attack], ...]:
        """Each with what it is about."""
        return (self.claim, self.on_draws), (self.released, self.on_releases)


def within(claim: Guarantee, shown: Attack) -> bool:
    """Whether an attack has shown no more than was promised."""
    return claim.epsilon is not None and shown.epsilon <= claim.epsilon


@dataclass(frozen=True)
class Teeth:
    """Whether the attacks would show a fault: on Limit as it is, and with too little noise."""

    claim: float
    reached: float
    """By draws, with all of the noise."""
    with_less_noise: float
    """By draws, with two thirds of it."""
    on_releases: float | None = None
    """By whole releases, with a fifth of it; None if there were too few to show anything."""

    @property
    def sharp(self) -> bool:
        """Close to the claim where all is well, beyond it where it is not."""
        return (
            self.reached >= ENOUGH * self.claim
            and self.with_less_noise > self.claim
            and (self.on_releases is None or self.on_releases > self.claim)
        )


@dataclass(frozen=True)
class Audit:
    """All of it."""

    settings: Settings
    numerical: tuple[Numerical, ...]
    statistical: tuple[Statistical, ...]
    teeth: Teeth | None
    """None where Limit was not audited."""
    checks: dict[str, tuple[str, ...]]
    """What each check says of the software as it is: nothing, if all is well."""
    mutation: tuple[Tried, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every promise held, the attack has teeth, and every fault was caught."""
        return (
            all(each.kept is not False for each in self.numerical)
            and all(each.kept for each in self.statistical)
            and (self.teeth is None or self.teeth.sharp)
            and not any(self.checks.values())
            and all(each.caught for each in self.mutation)
        )

    @property
    def complete(self) -> bool:
        """Whether nothing was left out: all mechanisms and faults, and as many draws and releases as usual."""
        enough = self.settings.draws >= FULL.draws and self.settings.runs >= FULL.runs
        return enough and self.teeth is not None and bool(self.mutation)

    def to_dict(self) -> dict[str, Any]:
        """For machines; infinite numbers as null."""
        return {
            "software": f"locentropy {__version__}",
            "ok": self.ok,
            "complete": self.complete,
            "seconds": round(self.seconds, 1),
            "settings": asdict(self.settings),
            "numerical": [_numerical(each) for each in self.numerical],
            "statistical": [_statistical(each) for each in self.statistical],
            "teeth": None if self.teeth is None else {**asdict(self.teeth), "sharp": self.teeth.sharp},
            "checks": {name: list(said) for name, said in self.checks.items()},
            "faults": [
                {
                    "fault": each.fault.name,
                    "why": each.fault.why,
                    "caught_by": each.fault.caught_by,
                    "caught": each.caught,
                    "said": list(each.seen),
                    "stopped_on": each.broken,
                }
                for each in self.mutation
            ],
        }


def _promise(claim: Guarantee) -> dict[str, Any]:
    if claim.epsilon is None:
        return {"epsilon": None, "delta": None}
    return {"epsilon": exact_text(claim.epsilon), "delta": exact_text(claim.delta)}


def _numerical(each: Numerical) -> dict[str, Any]:
    return {
        "mechanism": each.name,
        "claim": _promise(each.claim),
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
            "claim": _promise(each.claim),
            "many": each.draws,
            **_finite(each.on_draws._asdict()),
            "with_as_few_as_releases": each.with_few,
        },
        "releases": {
            "claim": _promise(each.released),
            "many": each.runs,
            **_finite(each.on_releases._asdict()),
        },
    }
