"""What experiments work with: the settings, the counted data, and somebody to report to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from locentropy_lab.reproduction.lines import Simulations
from locentropy_lab.reproduction.paper_data import GOWALLA, counted, identity

if TYPE_CHECKING:
    from pathlib import Path

    from locentropy.visits.engines.base import Progress
    from locentropy_lab.reproduction.counted import Counted
    from locentropy_lab.reproduction.settings import Settings
    from locentropy_lab.reproduction.storing import Store


class Laboratory:
    """Data is counted when it is first asked for, and kept for later runs."""

    def __init__(self, settings: Settings, store: Store, gowalla: Path | None, progress: Progress) -> None:
        self.settings = settings
        self.progress = progress
        self._store = store
        self._gowalla = gowalla
        self._identities: dict[str, dict[str, Any]] = {}
        self._simulations: dict[str, Simulations] = {}

    def has(self, name: str) -> bool:
        """Whether a data set can be had: Gowalla only where there is a file."""
        return name != GOWALLA or self._gowalla is not None

    def identity(self, name: str) -> dict[str, Any]:
        """What decides the counts of a data set."""
        if name not in self._identities:
            self._identities[name] = identity(name, self.settings, self._gowalla)
        return self._identities[name]

    def counted(self, name: str) -> Counted:
        """A data set."""
        return self.simulations(name).data

    def simulations(self, name: str) -> Simulations:
        """Simulated releases of a data set."""
        if name not in self._simulations:
            data = self._store.counted(
                self.identity(name), lambda: counted(name, self.settings, self._gowalla, self.progress)
            )
            self._simulations[name] = Simulations(data, self.settings)
        return self._simulations[name]
