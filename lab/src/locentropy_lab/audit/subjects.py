"""What is audited: every mechanism with a name, at the parameters its own examples show, and what goes before one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.mechanisms.registry import mechanism_class, mechanism_from, mechanism_names
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.survey import ActivitySurvey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import Noise

    Ask = Callable[[Queries, Locations, Noise], Any]

SELECTION: Final = "select-locations"
SURVEY: Final = "activity"


@dataclass(frozen=True, eq=False)
class Subject:
    """Something that promises privacy, or says that it does not."""

    name: str
    """As on the command line."""
    holder: Any
    """The mechanism, with its parameters."""
    ask: Ask
    """Its way from queries to noisy numbers."""
    shown: Callable[[Any, Locations], NDArray[np.bool_]]
    """Which locations its noisy numbers are about."""

    @property
    def guarantee(self) -> Guarantee:
        """What is claimed."""
        promise: Guarantee = self.holder.guarantee
        return promise

    @property
    def max_locations(self) -> int:
        """M: in how many locations one user can be seen; 1 for Shares, where all of a user may be in one."""
        return int(getattr(self.holder, "max_locations", 1))

    @property
    def by_place(self) -> bool:
        """Whether every noisy number belongs to one location, so that M locations like the worst are the worst."""
        return self.name not in ("shares", SURVEY)


def subject_of(name: str, holder: Any) -> Subject:
    """A mechanism with parameters of one's own, to be audited under a name."""
    if name == SELECTION:
        return Subject(name, holder, lambda queries, listed, noise: holder.select(queries, noise), _selected)
    if name == SURVEY:
        return Subject(name, holder, holder.measure, _everything)
    return Subject(name, holder, holder.measure, _measured)


def subject_names() -> tuple[str, ...]:
    """All that can be audited."""
    return (*mechanism_names(), SELECTION, SURVEY)


def subjects(names: Sequence[str] = ()) -> list[Subject]:
    """The ones of these names, or all."""
    known = subject_names()
    for name in names:
        if name not in known:
            raise ParameterError(
                f"{name[:40]!r} is none of {', '.join(known)}. For example: locentropy audit limit shares"
            )
    return [at_defaults(name) for name in known if not names or name in names]


def at_defaults(name: str) -> Subject:
    """A subject made anew, so that nothing it has computed before is remembered."""
    if name == SELECTION:
        return subject_of(name, SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20))
    if name == SURVEY:
        return subject_of(name, ActivitySurvey(epsilon=0.05, max_locations=5, busy_users=134))
    return subject_of(name, mechanism_from(name, mechanism_class(name).example))


def _everything(result: Any, listed: Locations) -> NDArray[np.bool_]:
    return np.ones(len(listed), dtype=np.bool_)


def _measured(result: Any, listed: Locations) -> NDArray[np.bool_]:
    return _among(result.locations, listed)


def _selected(result: Any, listed: Locations) -> NDArray[np.bool_]:
    return _among(result.ids, listed)


def _among(ids: pa.Array, listed: Locations) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    return np.asarray(
        pc.is_in(listed.ids, value_set=ids.cast(listed.ids.type)).to_numpy(zero_copy_only=False)
    )
