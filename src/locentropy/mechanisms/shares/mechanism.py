"""Shares: everyone has one unit of presence, and statistics do the rest.

Claim. Neighbours differ in all visits of one user. `Shares` is ε-differentially private, with no δ.

Why. A user's unit is divided over their places by their own rows alone. The three queries of `measurements.py` are
integers that one user moves by at most their stated ℓ₁ sensitivities, together within ε by `ShareBudget`; nobody is
truncated, and no bound is asked of the data. All that follows (`estimator/`) is computed from the noisy answers and
public numbers. Every location of a public list is published, visited or not. Proof: docs/proofs/shares.md.

What is published is an estimate of the true entropy, not of a bounded one: a mean over what the answers leave open,
given how people and places are made up in general. Its error bars are computed from the same noisy answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.estimates import Estimates, Measurements, Method
from locentropy.mechanisms.base import Mechanism, require_locations
from locentropy.mechanisms.parameters import (
    HELP,
    LISTED,
    check_epsilon,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
)
from locentropy.mechanisms.shares.measurements import LOOK, PROFILE, SPLIT, ShareQueries
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import is_private

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.estimates import Estimand
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ExpectedError, Supposed
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

_CALL = "Shares(epsilon=1.0)"
_MOST_USERS = 10**10
_LEAST_EPSILON, _MOST_EPSILON = 0.001, 10_000


@dataclass(frozen=True)
class Shares(Mechanism):
    """The true entropy of every listed location, from shares of presence. The mechanism to begin with."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε, for one user's whole record."""
    max_users: int = parameter(HELP["max_users"], 10_000_000)
    """A public bound on the number of users; published values are at most its logarithm."""

    name: ClassVar[str] = "shares"
    estimand: ClassVar[Estimand] = "true"
    compared: ClassVar[bool] = True
    uses_attributes: ClassVar[bool] = True
    queries: ClassVar[tuple[str, ...]] = (LOOK, PROFILE, SPLIT)
    publishes_measurements: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Value]] = {"epsilon": "1.0"}
    method: ClassVar[Method] = Method(
        "Each person has one unit of presence, in equal shares at the places where they were, no share larger than 1/M "
        "of it, with M = max(1, ε/2). Three kinds of whole numbers get discrete Laplace noise, and ε is divided among "
        "them: the presence at each location; all presence in two histograms, by the number of places of its people "
        "and by their visits to the place; and a pair at each location, the sum of shares times a fixed public table "
        "with a pair for each number of visits up to a fixed one. One person changes the first by at most their unit, "
        "the histograms by one each, the pairs by the unit times the largest pair of the table. All that is published "
        "is inferred from the noisy numbers.",
        columns=("std_error", "low", "high", "entropy_busy"),
        error_bars="model",
        post_processing="Entropies are inferred. The noisy histograms are smoothed into how many places people visit "
        "and how often; from these, places of every size are made up, with their presence, pair and entropy; how "
        "common each size and each way to split visits is among the places is learnt from all noisy numbers together; "
        "entropy is then the mean over what the noisy numbers of a place leave open, std_error, low and high are taken "
        "from the same, widened for what the model leaves out, and entropy_busy is the mean with busier places "
        "weighing more. Values and ends of intervals are clipped",
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

    @property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy."""
        return Guarantee.pure(self.epsilon, public_inputs(self, LISTED))

    @cached_property
    def share_queries(self) -> ShareQueries:
        """What is asked of the data, and with how much noise; public."""
        return ShareQueries(self.epsilon)

    @property
    def public_scales(self) -> Mapping[str, float]:
        """The scales of the noise of the three queries."""
        return dict(zip((LOOK, PROFILE, SPLIT), self.share_queries.scales, strict=True))

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """Noisy presence and a noisy pair for every location of the list, and two noisy histograms."""
        listed = require_locations(locations, type(self).__name__)
        _ = self.share_queries.scales  # refuses an impossible ε before anything is asked
        exact = self.share_queries.ask(queries, listed)
        return Measurements(listed.ids, self.share_queries.privatize(exact, noise), is_private(noise))

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """Two values, a standard error and an interval for every location of the list."""
        from locentropy.mechanisms.shares.estimator.inference import infer  # a plan has nothing to infer

        listed = require_locations(locations, type(self).__name__)
        inferred = infer(self.share_queries.answers(measurements.values), self.max_users)
        return Estimates(
            listed.ids,
            inferred.entropy,
            "true",
            measurements.private,
            std_error=inferred.std_error,
            low=inferred.low,
            high=inferred.high,
            entropy_busy=inferred.entropy_busy,
        )

    def rehearse(self, queries: Queries) -> bool:
        """Ask for all shares."""
        from locentropy.core.locations import Locations

        return bool(self.share_queries.ask(queries, Locations(queries.locations)).look.any())

    def few_locations_warning(self, n_locations: int) -> str | None:
        """That a short list leaves little to learn from."""
        from locentropy.mechanisms.shares.expected_error import SHORT_LIST, short_list_warning

        return short_list_warning() if n_locations < SHORT_LIST else None

    def expected_error(self, supposed: Supposed) -> ExpectedError:
        """The error by how many people there are for each place."""
        from locentropy.mechanisms.shares.expected_error import SharesError

        return SharesError(self, supposed)
