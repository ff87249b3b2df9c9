"""Shares: everyone has one unit of presence, and statistics do the rest.

Claim. Neighbours differ in all visits of one user. `Shares(ε)` is ε-differentially private, with no δ; `Shares(ε, δ)`
is (ε, δ)-differentially private.

Why. A user's unit is divided over their places by their own rows alone. The queries of `measurements.py` are integers
that one user moves by at most one unit each, in ℓ₁ or in ℓ₂; each is noised before the next is chosen, and together
they are within ε, or within a ρ that (ε, δ) admits, by `ShareBudget`. Nobody is truncated, and no bound is asked of the
data. All that follows (`estimator/`) is computed from the noisy answers and public things. Every location of a public
list is published, visited or not. A part of the budget may be set aside for counts of visitors and visits, for which
users are bounded (`counts.py`). Proof: docs/proofs/shares.md.

What is published is an estimate of the true entropy, not of a bounded one: a mean over what the answers leave open,
given how people and places are made up in general. Its error bars are computed from the same noisy answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.estimates import COUNTS, Estimates, Measurements, Method, NoisyPresence
from locentropy.mechanisms.base import Mechanism, require_locations
from locentropy.mechanisms.parameters import (
    HELP,
    LISTED,
    check_epsilon,
    check_fraction,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
    warn_of_large_delta,
)
from locentropy.mechanisms.shares.counts import CountQueries, check_counts
from locentropy.mechanisms.shares.measurements import LOOK, SIZES, SPLIT, UNIT, VISITS, ShareQueries
from locentropy.privacy.concentrated import admissible_rho
from locentropy.privacy.guarantee import Guarantee, exact
from locentropy.privacy.noise import is_private

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimand
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ExpectedError, Supposed
    from locentropy.mechanisms.parameters import Value
    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.inference import Inferred
    from locentropy.mechanisms.shares.series.smoothing import Smoother
    from locentropy.privacy.noise import Noise

_CALL = "Shares(epsilon=1.0)"
_CALL_WITH_DELTA = "Shares(epsilon=1.0, delta=1e-8)"
_MOST_USERS = 10**10
_LEAST_EPSILON, _MOST_EPSILON = 0.001, 10_000
_FOR_COUNTS = ("max_locations", "max_visits", "keep")


@dataclass(frozen=True)
class Shares(Mechanism):
    """The true entropy of every listed location, from shares of presence. The mechanism to begin with."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε, for one user's whole record."""
    delta: float = parameter(HELP["delta"], 0.0)
    """δ, likewise; 0 for a guarantee that never fails, with Laplace noise. Above 0 noise is Gaussian."""
    max_users: int = parameter(HELP["max_users"], 10_000_000)
    """A public bound on the number of users; published values are at most its logarithm."""
    counts: float | None = parameter(
        "The part of the budget, such as 0.2, that pays for counts of visitors and visits. They need M and C.",
        None,
    )
    """The part of ε (of ρ, if there is a δ) that is set aside for counts of visitors and visits; None or 0 for none."""
    max_locations: int | None = parameter(HELP["max_locations"], None)
    """M, with counts and for them alone: a user counts in at most this many locations."""
    max_visits: int | None = parameter(HELP["max_visits"], None)
    """C, likewise: with at most this many visits in each."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept, likewise; see `Bounds`."""

    name: ClassVar[str] = "shares"
    estimand: ClassVar[Estimand] = "true"
    compared: ClassVar[bool] = True
    uses_attributes: ClassVar[bool] = True
    queries: ClassVar[tuple[str, ...]] = (LOOK, SIZES, VISITS, SPLIT)
    publishes_measurements: ClassVar[bool] = True
    smooths: ClassVar[bool] = True
    inference: ClassVar[str] = "2"
    only_with: ClassVar[Mapping[str, str]] = dict.fromkeys(_FOR_COUNTS, "counts")
    example: ClassVar[Mapping[str, Value]] = {"epsilon": "1.0"}
    method: ClassVar[Method] = Method(
        "Each person has one unit of presence, divided among the places where they were by their own visits alone. "
        "Whole numbers get noise, in stages. First the presence at each location, where a place has less of the unit "
        "the more often the person was there; below ε = 1 also its sums by each public attribute of the list. Then, "
        "by bands of the noisy presence, all presence in two histograms: by how many places its people have, and by "
        "their visits to the place, for people of few and of many places. Last, at the locations whose noisy presence "
        "is clear of the noise, the presence of people who returned there. In the histograms and at the end shares "
        "are equal. What is asked next depends on noisy numbers only. One person changes each answer by at most their "
        "unit. Without δ, no share is larger than 1/M of the unit, M = max(1, ε/2), noise is discrete Laplace, and ε "
        "is divided among the answers. With a δ, shares at single locations have squares that add up to the square of "
        "the unit, noise is discrete Gaussian, and the answers share a ρ of zero-concentrated differential privacy "
        "that (ε, δ) admits. All that is published is inferred from the noisy numbers.",
        columns=("std_error", "low", "high"),
        error_bars="model",
        post_processing="Entropies are inferred. The noisy histograms are smoothed into how many places people visit "
        "and how often, for places of every size; from these, places are made up, with their presence and entropy; "
        "how common each size is, how much places differ in who returns, and what public attributes of the list say "
        "about sizes is learnt from all noisy numbers together; entropy is then the mean over what the noisy numbers "
        "of a place leave open, std_error, low and high are taken from the same, widened for what the model leaves "
        "out. Values and ends of intervals are clipped",
        rounding="Only whole numbers get noise: shares are rounded down to multiples of 2^-20 of a person's unit.",
        proof="docs/proofs/shares.md of locentropy",
    )

    def __post_init__(self) -> None:
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        if not _LEAST_EPSILON <= self.epsilon <= _MOST_EPSILON:
            raise ParameterError(
                f"must be between {_LEAST_EPSILON} and {_MOST_EPSILON} for Shares: below, noise is all there is; "
                "above, there is no privacy.",
                parameter="epsilon",
                value=self.epsilon,
                example=_CALL,
            )
        check_whole(_CALL, "max_users", self.max_users, 2, _MOST_USERS)
        if self.delta != 0 or isinstance(self.delta, bool):
            check_fraction(_CALL_WITH_DELTA, "delta", self.delta)
            warn_of_large_delta(self.delta, self.max_users)
        check_counts(self.counts, self.max_locations, self.max_visits, self.keep)
        if self.counts == 0:
            object.__setattr__(self, "counts", None)

    @property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy; with a δ, ρ-zCDP and the (ε, δ) that follows from it."""
        public = public_inputs(self, LISTED)
        if self.count_queries is None:
            public = [each for each in public if each.name != "keep"]  # which is said where it is None, too
        if self.delta == 0:
            return Guarantee.pure(self.epsilon, public)
        # All noise is Gaussian then, and its ρ is what fits this ε and δ: `share_queries`, `count_queries`.
        return Guarantee.concentrated(self.epsilon, self.delta, self._rho, public)

    @cached_property
    def _rho(self) -> Fraction:
        return admissible_rho(self.epsilon, self.delta)

    @cached_property
    def share_queries(self) -> ShareQueries:
        """What is asked of a list without attributes, and with how much noise; public."""
        return ShareQueries(self.epsilon, self.delta, set_aside=self.counts or 0)

    @cached_property
    def count_queries(self) -> CountQueries | None:
        """How visitors and visits are counted, and with how much noise; None without counts. Public."""
        if self.counts is None or self.max_locations is None or self.max_visits is None:
            return None
        whole = self._rho if self.delta else exact(self.epsilon)
        bounds = Bounds(self.max_locations, self.max_visits, self.keep)
        return CountQueries(bounds, exact(self.counts, "counts") * whole, self.share_queries.noise)

    @property
    def method_used(self) -> Method:
        """The method, with what is done about counts where there are some."""
        return self.method if self.count_queries is None else _WITH_COUNTS

    @property
    def needs_first_times(self) -> bool:
        """Only counts bound anybody."""
        return self.count_queries is not None

    def queries_about(self, locations: Locations) -> ShareQueries:
        """What is asked of this list, and with how much noise; public."""
        return replace(self.share_queries, attributes=len(locations.attributes))

    def query_names(self, locations: Locations | None) -> tuple[str, ...]:
        """The names of the queries about this list."""
        counting = self.count_queries
        asking = self.queries_about(require_locations(locations, type(self).__name__))
        return asking.names if counting is None else (*asking.names, *counting.names)

    def public_scales(self, locations: Locations | None) -> Mapping[str, float]:
        """The scales of the noise of the queries about this list."""
        counting = self.count_queries
        asking = self.queries_about(require_locations(locations, type(self).__name__))
        return asking.scales if counting is None else {**asking.scales, **counting.scales}

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """Noisy presence at every location of the list and in histograms, asked in stages; then counts, if any."""
        listed = require_locations(locations, type(self).__name__)
        _ = self.public_scales(listed)  # refuses an impossible ε before anything is asked
        values = self.queries_about(listed).measure(queries, listed, noise)
        if self.count_queries is not None:
            values |= self.count_queries.measure(queries, listed, noise)
        return Measurements(listed.ids, values, is_private(noise))

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value, a standard error and an interval for every location of the list; counts, if there are any."""
        # A plan has nothing to infer.
        from locentropy.mechanisms.shares.estimator.attributes import declared_attributes
        from locentropy.mechanisms.shares.estimator.covering_cells import are_cells
        from locentropy.mechanisms.shares.estimator.inference import infer

        listed = require_locations(locations, type(self).__name__)
        answers = self.answers(measurements, listed)
        inferred = infer(answers, self.max_users, declared_attributes(listed), cells=are_cells(listed))
        return self._estimates(measurements, listed, inferred)

    def prepare_estimate(self) -> None:
        """Load the inference, and fill its tables of chance and of shapes."""
        from locentropy.mechanisms.shares.estimator.inference import prepare

        prepare(self.max_users)

    def estimate_after(
        self, earlier: Sequence[Measurements], measurements: Measurements, locations: Locations | None
    ) -> Estimates:
        """The same given earlier periods, with the value of this one alone, and whether a location changed."""
        listed = require_locations(locations, type(self).__name__)
        smoother = self.smoother(listed)
        for each in earlier:
            smoother.skip(self.answers(each, listed))
        found = smoother.conclude(self.answers(measurements, listed))
        return replace(
            self._estimates(measurements, listed, found.smoothed),
            entropy_alone=found.alone.entropy,
            change=tuple(found.change.tolist()),
            change_probability=found.change_probability,
        )

    def _estimates(self, measurements: Measurements, listed: Locations, inferred: Inferred) -> Estimates:
        """What was inferred, with counts if there are any."""
        counting = self.count_queries
        counted: dict[str, Any] = (
            {} if counting is None else counting.columns(measurements.values, len(listed))
        )
        return Estimates(
            listed.ids,
            inferred.entropy,
            "true",
            measurements.private,
            std_error=inferred.std_error,
            low=inferred.low,
            high=inferred.high,
            leans_on=inferred.leans_on,
            **counted,
        )

    def presence(self, measurements: Measurements, locations: Locations | None) -> NoisyPresence:
        """The ordinary look, in units of presence."""
        asking = self.queries_about(require_locations(locations, type(self).__name__))
        look = measurements.values[LOOK].reshape(-1, 1)
        return NoisyPresence("presence", look, (1 / UNIT,), asking.scales[LOOK], asking.noise)

    def answers(self, measurements: Measurements, locations: Locations) -> Answers:
        """The measurements as the inference reads them: without counts, in units of presence."""
        counting = self.count_queries
        left_out = () if counting is None else counting.names
        values = {name: each for name, each in measurements.values.items() if name not in left_out}
        return self.queries_about(locations).answers(values, locations)

    def smoother(self, locations: Locations) -> Smoother:
        """Successive releases about this list, each given those before it: it takes what `answers` returns."""
        from locentropy.mechanisms.shares.estimator.attributes import declared_attributes
        from locentropy.mechanisms.shares.estimator.covering_cells import are_cells
        from locentropy.mechanisms.shares.series.smoothing import Smoother

        return Smoother(self.max_users, declared_attributes(locations), cells=are_cells(locations))

    def rehearse(self, queries: Queries) -> bool:
        """Ask for the exact look, and for the exact counts if there are any."""
        if self.count_queries is not None:
            self.count_queries.ask(queries, None)
        return bool(self.share_queries.ask_look(queries).any())

    def few_locations_warning(self, n_locations: int) -> str | None:
        """That a short list leaves little to learn from."""
        from locentropy.mechanisms.shares.expected_error import SHORT_LIST, short_list_warning

        return short_list_warning() if n_locations < SHORT_LIST else None

    def expected_error(self, supposed: Supposed) -> ExpectedError:
        """The error by how many people there are for each place."""
        from locentropy.mechanisms.shares.expected_error import SharesError

        return SharesError(self, supposed)


_WITH_COUNTS = replace(
    Shares.method,
    summary=f"{Shares.method.summary} A part of ε, or of ρ, is set aside (counts) for two further answers at each "
    "location: the number of its visitors, and of their visits, after each person was cut to at most max_locations "
    "places, chosen by that person's own visits, and at most max_visits visits in each. One person changes the first "
    "by at most max_locations, the second by at most max_locations times max_visits; with a δ, where squares count, by "
    "the square root of max_locations, and that times max_visits. Each has half of the part; what is said above of ε "
    "and ρ is about the rest.",
    columns=(*Shares.method.columns, *COUNTS),
    post_processing="visitors and visits are the noisy bounded counts, rounded to whole numbers, and 0 where they are "
    "below; their intervals follow from the law of the noise alone, hold the bounded count in at least 95 % of draws, "
    f"and are rounded outwards. {Shares.method.post_processing}",
)
