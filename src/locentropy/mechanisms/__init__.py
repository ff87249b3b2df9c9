"""The crossing: one file per algorithm, from integer queries on private data to estimates fit to publish.

Names load their module when first used, so that importing this package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locentropy.mechanisms.baseline import Baseline as Baseline
    from locentropy.mechanisms.limit import Limit as Limit
    from locentropy.mechanisms.limit_cb import LimitCB as LimitCB
    from locentropy.mechanisms.limit_ptr import LimitPTR as LimitPTR
    from locentropy.mechanisms.limit_ss import LimitSS as LimitSS
    from locentropy.mechanisms.mechanism import Mechanism as Mechanism
    from locentropy.mechanisms.moments import Moments as Moments
    from locentropy.mechanisms.parameters import LargeDeltaWarning as LargeDeltaWarning
    from locentropy.mechanisms.shares import Shares as Shares

_HOME = {
    "Baseline": "baseline",
    "LargeDeltaWarning": "parameters",
    "Limit": "limit",
    "LimitCB": "limit_cb",
    "LimitPTR": "limit_ptr",
    "LimitSS": "limit_ss",
    "Mechanism": "mechanism",
    "Moments": "moments",
    "Shares": "shares",
}

__all__ = [
    "Baseline",
    "LargeDeltaWarning",
    "Limit",
    "LimitCB",
    "LimitPTR",
    "LimitSS",
    "Mechanism",
    "Moments",
    "Shares",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
