"""SelectLocations: a list of places where none is public, found by a private test of their users.

Claim. Neighbours differ in all visits of one user. The list that `select` returns is (ε, δ)-differentially private.
Whatever is published about its places afterwards comes on top: guarantees add up.

Why. After bounding, a user is in at most M locations, and a location of n users is named with probability π(n), a
curve that moves so slowly that naming costs (ε, δ) in all; a place that nobody visits is never named. Ids are
returned as texts in the order of their texts, so neither their type nor their order depends on a place that is not
named. Proof: docs/proofs/selection.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from locentropy.core.bounds import Bounds
from locentropy.mechanisms.base import bounded_profile
from locentropy.mechanisms.parameters import (
    HELP,
    check_bounds,
    check_epsilon,
    check_fraction,
    check_max_users,
    normalize_numpy_scalars,
    parameter,
    warn_of_large_delta,
)
from locentropy.privacy.guarantee import Guarantee, PublicInput
from locentropy.privacy.selection import SelectionCurve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.bounds import Keep
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

_CALL = "SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20)"


@dataclass(frozen=True)
class SelectLocations:
    """Places with clearly some users, chosen privately; the more users, the surer a place is."""

    epsilon: float = parameter("ε of the selection, on top.", positional=True)
    """ε of the selection, for one user's whole record; what is published of the places costs extra."""
    delta: float = parameter("δ of the selection, on top.")
    """δ of the selection. There is no default: it should be far below one over the number of users."""
    max_locations: int = parameter("A person counts in at most this many places when places are selected.")
    """M: a user counts in at most this many locations when places are selected."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = parameter("A public bound on the number of people, to judge δ by.", None)
    """A public bound on the number of users. It changes no number: δ is warned of if it is too large for so many."""

    example: ClassVar[Mapping[str, Value]] = {"epsilon": "0.2", "delta": "1e-8", "max_locations": 20}

    def __post_init__(self) -> None:
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        check_fraction(_CALL, "delta", self.delta)
        check_bounds(_CALL, self.max_locations, 1, self.keep)
        check_max_users(_CALL, self.max_users)
        _ = self.curve  # refuses a budget beyond what the curve's proof covers
        warn_of_large_delta(self.delta, self.max_users)

    @cached_property
    def curve(self) -> SelectionCurve:
        """π: how likely a place is named, by its users; public."""
        return SelectionCurve(self.epsilon, self.delta, self.max_locations)

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ)-differential privacy of the list."""
        parameters = {field.name: getattr(self, field.name) for field in fields(self)}
        known = [
            PublicInput(f"selection_{name}", str(value))
            for name, value in parameters.items()
            if value is not None
        ]
        return Guarantee.approximate(self.epsilon, self.delta, known)

    def followed_by(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee of selecting places and then publishing about them.

        A mechanism takes its list for public; here the selection made it, and paid for it.
        """
        known = tuple(each for each in guarantee.public_inputs if each.name != "locations")
        return replace(guarantee, public_inputs=known) + self.guarantee

    @property
    def bounds(self) -> Bounds:
        """How users are bounded when places are selected; visits do not matter there."""
        return Bounds(self.max_locations, 1, self.keep)

    def rehearse(self, queries: Queries) -> None:
        """Ask what `select` will ask, so that what can fail because of the data fails before the spend."""
        queries.profile(self.bounds)

    def select(self, queries: Queries, noise: Noise) -> Locations:
        """The places that are named. From here on they are public."""
        import pyarrow as pa  # slow to load, and a plan never gets here
        import pyarrow.compute as pc

        from locentropy.core.locations import Locations

        profile = bounded_profile(queries, self.bounds, None)
        named = self.curve.select(profile.user_counts, noise)
        ids = profile.locations.filter(pa.array(named)).cast(pa.string())
        return Locations(ids.take(pc.sort_indices(ids)))
