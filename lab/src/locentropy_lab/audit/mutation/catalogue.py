"""All faults and all checks by name, and the trial of a fault: its check must see it, and nothing without it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from locentropy_lab.audit.mutation import (
    calibration_faults,
    count_faults,
    counting_faults,
    crossing_checks,
    existence_checks,
    existence_faults,
    guarantee_checks,
    noise_checks,
    noise_faults,
    period_checks,
    period_faults,
    publishing_checks,
    publishing_faults,
    shares_checks,
    wording_checks,
    wording_faults,
)
from locentropy_lab.audit.mutation.planting import Check
from locentropy_lab.audit.search import stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from locentropy_lab.audit.mutation.planting import Fault

CATALOGUE: Final[tuple[Fault, ...]] = (
    *calibration_faults.FAULTS,
    *counting_faults.FAULTS,
    *count_faults.FAULTS,
    *noise_faults.FAULTS,
    *publishing_faults.FAULTS,
    *period_faults.FAULTS,
    *existence_faults.FAULTS,
    *wording_faults.FAULTS,
)
"""The faults that an audit plants."""

_CHECK_MODULES: Final = (
    guarantee_checks,
    shares_checks,
    noise_checks,
    crossing_checks,
    publishing_checks,
    period_checks,
    existence_checks,
    wording_checks,
)

CHECKS: Final[Mapping[str, Check]] = {
    each.name: each for module in _CHECK_MODULES for each in vars(module).values() if isinstance(each, Check)
} | {each.name: each for each in guarantee_checks.COSTS}
"""The checks, by name."""


def fault_named(name: str) -> Fault:
    """Return the fault of this name, out of the catalogue or the one that attacks on releases use."""
    [found] = [fault for fault in (*CATALOGUE, noise_faults.ONE_FIFTH) if fault.name == name]
    return found


@dataclass(frozen=True)
class Trial:
    """A planted fault, and what its check said."""

    fault: Fault
    complaints: tuple[str, ...]
    """What the check found wrong first; empty if it saw nothing."""
    stopped_on: str = ""
    """The type of the error that stopped the check, if one did. Then nothing was caught."""

    @property
    def caught(self) -> bool:
        """Whether the check ran to its end and saw the fault."""
        return bool(self.complaints) and not self.stopped_on


def run_checks(
    names: Iterable[str], progress: Callable[[str], None] = lambda _: None
) -> dict[str, tuple[str, ...]]:
    """Run these checks on the software as it is, and return what each finds wrong."""
    found = {}
    for name in dict.fromkeys(names):
        progress(name)
        try:
            found[name] = tuple(CHECKS[name].find())
        except Exception as error:  # a check that stops counts as a complaint
            found[name] = (stopped(error),)
    return found


def try_fault(fault: Fault) -> Trial:
    """Plant a fault and run the check that must see it."""
    with fault.planted():
        try:
            return Trial(fault, tuple(islice(CHECKS[fault.caught_by].find(), 1)))
        except Exception as error:
            return Trial(fault, (), type(error).__name__)
