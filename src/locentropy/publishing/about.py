"""What the owner of the data says about a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from locentropy.release.statement import Sector

LONGEST_TITLE = 300
"""The title is also the purpose that the ledger notes, and it takes no longer ones."""

_UNSAID = "not stated"


@dataclass(frozen=True)
class About:
    """What the owner of the data says about the release; all of it is published."""

    title: str = "Location entropy"
    """What it is called; the ledger notes it as the purpose of the spend."""
    curator: str = _UNSAID
    """Who answers for it."""
    description: str = "How evenly the visits of each place are spread over its visitors."
    """What it is about."""
    intended_use: str = _UNSAID
    """What it is for."""
    region: str = _UNSAID
    """Which part of the world it is about."""
    sector: Sector | None = None
    """Technology, Healthcare, Education, Government, Energy or Finance."""
    publication_date: str | None = None
    """When it is published, such as 2026-11-15; None leaves it unset."""

    def __post_init__(self) -> None:
        # The other words are checked by the statement that is made of them.
        if not isinstance(self.title, str) or len(self.title) > LONGEST_TITLE:
            raise ParameterError(
                f'title must be one line of at most {LONGEST_TITLE} characters. For example: title="Map of May"'
            )
