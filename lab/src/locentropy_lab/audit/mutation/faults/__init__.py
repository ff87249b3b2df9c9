"""The catalogue of faults, by where they are planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy_lab.audit.mutation.faults import (
    of_counting,
    of_noise,
    of_publishing,
    of_selection,
    of_sensitivity,
    of_shares,
)

if TYPE_CHECKING:
    from locentropy_lab.audit.mutation.planting import Fault

CATALOGUE: Final[tuple[Fault, ...]] = (
    *of_sensitivity.FAULTS,
    *of_selection.FAULTS,
    *of_shares.FAULTS,
    *of_counting.FAULTS,
    *of_noise.FAULTS,
    *of_publishing.FAULTS,
)
"""All of them."""


def fault_named(name: str) -> Fault:
    """The one of this name."""
    [found] = [fault for fault in (*CATALOGUE, of_noise.ONE_FIFTH) if fault.name == name]
    return found
