"""What a release would be worth, and would cost, told from public numbers alone: nothing here reads data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.lazy import lazy_names

if TYPE_CHECKING:
    from locentropy.planning.plans import Plan as Plan
    from locentropy.planning.plans import plan as plan

_HOMES = {
    "Plan": "planning.plans",
    "plan": "planning.plans",
}

__all__ = [
    "Plan",
    "plan",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
