"""The contract of a mechanism: what it asks, what it guarantees, what it publishes, and what it says about itself.

A mechanism is two steps. `measure` asks integer queries on private data and adds noise: it is the crossing, and the
only step that costs privacy. `estimate` computes entropies from the noisy integers and public things alone. All else
that depends on the mechanism is a member of it as well, so that nothing outside `mechanisms/` needs to know which
mechanisms there are. How to write one: docs/add-a-mechanism.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, ClassVar

from locentropy.core.bounds import Bounds
from locentropy.core.errors import EngineError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimand, Estimates, Measurements, Method, NoisyPresence
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.core.visit_profile import VisitProfile
    from locentropy.mechanisms.expected_error import ErrorByUsers, ExpectedError, Supposed
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import Noise


class Mechanism(ABC):
    """An algorithm that turns private counts into estimates, and says what that costs.

    Subclasses are frozen dataclasses whose fields are the parameters: public numbers, never read off the data. One
    call of `measure` spends the whole of `guarantee` once; two calls spend it twice.
    """

    name: ClassVar[str]
    """What plans, messages and the command line call it, such as `shares`."""

    method: ClassVar[Method]
    """How it works and what it publishes, for readers of a release."""

    example: ClassVar[Mapping[str, Value]]
    """Parameters of a call that works, for messages."""

    estimand: ClassVar[Estimand] = "bounded"
    """Which entropy it estimates."""

    selects_locations: ClassVar[bool] = False
    """Whether it chooses locations by itself. If not, it needs a list: a public one, a grid, or a private selection."""

    compared: ClassVar[bool] = False
    """Whether `evaluate` compares it unless told otherwise."""

    uses_attributes: ClassVar[bool] = False
    """Whether it uses the attributes of the public list, such as the category of a place."""

    publishes_measurements: ClassVar[bool] = False
    """Whether its measurements are published with a release: noisy integers, and nothing about withheld locations."""

    smooths: ClassVar[bool] = False
    """Whether it can use measurements of earlier releases about the same list: see `estimate_after`."""

    queries: ClassVar[tuple[str, ...]] = ()
    """The names of its queries, as its measurements have them; none if it does not declare them."""

    inference: ClassVar[str] = "1"
    """The version of `estimate`: another one may compute other estimates from the same measurements."""

    only_with: ClassVar[Mapping[str, str]] = {}
    """Parameters that are taken only together with another one, by name, and that other one."""

    @property
    def method_used(self) -> Method:
        """The method with these parameters, for readers of a release: `method`, unless parameters add to it."""
        return self.method

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one release guarantees, to whom, under which neighbours, and what it takes as public.

        It holds for the noise of `OpenDPNoise`; measurements say whether that is what was used.
        """

    @abstractmethod
    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """Ask, and add noise: the crossing from private to public.

        `queries` may be asked more than once, and what is asked may depend on what was already noised: the whole is
        then one adaptive composition, which `guarantee` covers. Nothing that was asked may steer a question, or
        anything else, before it was noised.

        `locations` is the public list, and must be the one that the queries were opened with: a user's visits are
        bounded after they were restricted to it. None is for mechanisms that select locations by themselves.
        """

    @abstractmethod
    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """Compute estimates from measurements, the parameters and the public list: post-processing.

        The same measurements give the same estimates. With a list, every location of it is in the result, in its
        order, withheld ones as NaN. Without one, withheld locations are left out: a null would tell that the data
        holds such a place.
        """

    def prepare_estimate(self) -> None:  # noqa: B027  # there may be nothing to prepare
        """Load and compute what `estimate` needs whatever was measured: called while visits are still counted.

        What it leaves undone `estimate` does.
        """

    def estimate_after(
        self, earlier: Sequence[Measurements], measurements: Measurements, locations: Locations | None
    ) -> Estimates:
        """The same, given also the published measurements of earlier periods, the first first: post-processing, too.

        For mechanisms that declare `smooths`. All measurements are by this mechanism, about this list.
        """
        raise ParameterError(f"{type(self).__name__} cannot use earlier releases.")

    def presence(self, measurements: Measurements, locations: Locations | None) -> NoisyPresence | None:
        """How much there is at each location, from measurements alone; None where they do not tell.

        Added up, it says whether a release has any signal, or is noise: see `release/signal.py`.
        """
        return None

    def rehearse(self, queries: Queries) -> bool:
        """Ask what `measure` will ask first, and return whether anybody was counted.

        What can fail because of the data fails here, before anything is spent. The answer is private.
        """
        return True

    @property
    def bounds(self) -> Bounds | None:
        """The bounds that users are held to; None where nobody is bounded."""
        return None

    @property
    def needs_first_times(self) -> bool:
        """Whether it may ask for a profile under `Bounds`, which may keep the locations that a user visited first.

        Where it never does, visits are counted without their times, which takes less time and memory.
        """
        return self.bounds is None or self.bounds.may_need_times

    def public_scales(self, locations: Locations | None) -> Mapping[str, float]:
        """The scale of the noise of each query, by its name, where it is a public constant.

        It may depend on the public list, through its attributes; `locations` is as in `measure`.
        """
        return {}

    def query_names(self, locations: Locations | None) -> tuple[str, ...]:
        """The names of all queries that it may ask about this list; none if it does not declare them."""
        return self.queries

    def expected_error(self, supposed: Supposed) -> ExpectedError:
        """What error to expect, from public numbers alone."""
        from locentropy.mechanisms.expected_error import UnknownError

        return UnknownError(self, supposed)

    def few_locations_warning(self, n_locations: int) -> str | None:
        """What to know about a release of so few locations; None where they are enough."""
        return None

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with this package, which then answers for its proof."""
        return type(self).__module__.partition(".")[0] == __name__.partition(".")[0]


class BoundedMechanism(Mechanism):
    """A mechanism that bounds every user first: at most M locations, and at most C visits in each."""

    max_locations: int
    """M: a user counts in at most this many locations."""
    max_visits: int
    """C: a user counts with at most this many visits in each."""
    keep: Keep | None
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None
    """A public bound on the number of users."""

    @property
    def bounds(self) -> Bounds:
        """M and C, and which locations are kept."""
        return Bounds(self.max_locations, self.max_visits, self.keep)

    def rehearse(self, queries: Queries) -> bool:
        """Ask for the bounded profile."""
        return bool(queries.profile(self.bounds).users.any())

    @abstractmethod
    def error_by_users(self) -> ErrorByUsers:
        """How the error and the chance of being published depend on the users of a location."""

    def expected_error(self, supposed: Supposed) -> ExpectedError:
        """The error by the number of users of a location."""
        from locentropy.mechanisms.expected_error import BoundedError

        return BoundedError(self, supposed)


def require_mechanism(candidate: object, call: str) -> Mechanism:
    """Return the mechanism, or raise ParameterError if it is none; `call` shows a correct call."""
    if not isinstance(candidate, Mechanism):
        raise ParameterError(f"{type(candidate).__name__} is not a mechanism. For example: {call}")
    if not is_dataclass(candidate):
        raise ParameterError(
            f"{type(candidate).__name__} must be a dataclass whose fields are its parameters: write "
            "@dataclass(frozen=True) above its class."
        )
    return candidate


def require_locations(locations: Locations | None, mechanism: str) -> Locations:
    """Return the public list, for a mechanism that cannot do without one."""
    if locations is None:
        raise ParameterError(
            f"{mechanism} needs a public list, and locations=None gives none: which places the visits name is "
            "private. Give Locations.of([...]), or use LimitPTR, which selects places privately."
        )
    return locations


def check_locations(queries: Queries, locations: Locations) -> None:
    """Raise ParameterError unless the queries are about the visits at the public list."""
    if not queries.locations.equals(locations.ids):
        raise ParameterError(
            "The queries were not opened with the public list: their locations are others, or in another order "
            "or type. For example: open_queries(visits, locations=locations)"
        )


def bounded_profile(queries: Queries, bounds: Bounds, locations: Locations | None) -> VisitProfile:
    """Return the profile under `bounds` of visits restricted to the public list, if there is one. Private.

    The rows were restricted to the list before they were counted, or the guarantee would be about other data.
    """
    if locations is not None:
        check_locations(queries, locations)
    profile = queries.profile(bounds)
    held = profile.bounds
    if (
        held is None
        or (held.max_locations, held.max_visits) != (bounds.max_locations, bounds.max_visits)
        or bounds.keep not in (None, held.keep)
        or profile.visits.max(initial=0) > bounds.max_visits
        or not profile.locations.equals(queries.locations)
    ):
        raise EngineError("The engine answered with another profile than the bounded one that was asked for.")
    return profile
