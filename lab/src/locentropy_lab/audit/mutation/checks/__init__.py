"""The checks, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy_lab.audit.mutation.check import Check
from locentropy_lab.audit.mutation.checks import (
    of_bounding,
    of_crossing,
    of_noise,
    of_promises,
    of_publishing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODULES: Final = (of_promises, of_bounding, of_noise, of_crossing, of_publishing)

CHECKS: Final[Mapping[str, Check]] = {
    each.name: each for module in _MODULES for each in vars(module).values() if isinstance(each, Check)
} | {each.name: each for each in of_promises.COSTS}
"""All of them."""
