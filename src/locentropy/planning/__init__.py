"""What a release would be worth, and would cost, told from public numbers alone: nothing here reads data.

Names load their module when first used, so that importing this package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locentropy.planning.plans import Plan as Plan
    from locentropy.planning.plans import Words as Words
    from locentropy.planning.plans import plan as plan

_HOME = {"Plan": "plans", "Words": "plans", "plan": "plans"}

__all__ = ["Plan", "Words", "plan"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
