"""The algorithms of To, Nguyen and Shahabi (SIGSPATIAL 2016), with guarantees that hold; `LimitCB` has none.

To compare with the paper. To publish with, there are `Shares`, `Moments` and `LimitPTR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.lazy import lazy_names

if TYPE_CHECKING:
    from locentropy.mechanisms.paper.limit import Baseline as Baseline
    from locentropy.mechanisms.paper.limit import Limit as Limit
    from locentropy.mechanisms.paper.limit_cb import LimitCB as LimitCB
    from locentropy.mechanisms.paper.limit_ss import LimitSS as LimitSS

_HOMES = {
    "Baseline": "mechanisms.paper.limit",
    "Limit": "mechanisms.paper.limit",
    "LimitCB": "mechanisms.paper.limit_cb",
    "LimitSS": "mechanisms.paper.limit_ss",
}

__all__ = [
    "Baseline",
    "Limit",
    "LimitCB",
    "LimitSS",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
