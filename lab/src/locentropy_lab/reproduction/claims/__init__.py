"""What the paper claims, each by name, and what our numbers say to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy_lab.reproduction.claims.about_bounds import ABOUT_BOUNDS
from locentropy_lab.reproduction.claims.about_budget import ABOUT_BUDGET
from locentropy_lab.reproduction.claims.about_data import ABOUT_DATA
from locentropy_lab.reproduction.claims.about_gowalla import ABOUT_GOWALLA
from locentropy_lab.reproduction.claims.about_noise import ABOUT_NOISE
from locentropy_lab.reproduction.claims.about_publishing import ABOUT_PUBLISHING

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.claim import Claim

CLAIMS: Final[tuple[Claim, ...]] = (
    *ABOUT_DATA,
    *ABOUT_NOISE,
    *ABOUT_PUBLISHING,
    *ABOUT_BUDGET,
    *ABOUT_BOUNDS,
    *ABOUT_GOWALLA,
)
