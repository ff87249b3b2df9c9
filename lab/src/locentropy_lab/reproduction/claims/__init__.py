"""The paper's claims, each with a name, and what our numbers say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy_lab.reproduction.claims.data import DATA_CLAIMS, PUBLISHING_CLAIMS
from locentropy_lab.reproduction.claims.gowalla import GOWALLA_CLAIMS
from locentropy_lab.reproduction.claims.noise import NOISE_CLAIMS
from locentropy_lab.reproduction.claims.parameters import BOUNDS_CLAIMS, BUDGET_CLAIMS

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.judging import Claim

CLAIMS: Final[tuple[Claim, ...]] = (
    *DATA_CLAIMS,
    *NOISE_CLAIMS,
    *PUBLISHING_CLAIMS,
    *BUDGET_CLAIMS,
    *BOUNDS_CLAIMS,
    *GOWALLA_CLAIMS,
)
