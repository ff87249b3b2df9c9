"""Shares: everyone has one unit of presence, and statistics do the rest.

Claim. Neighbours differ in all visits of one user. `Shares` is ε-differentially private, with no δ.

Why. A user's unit is divided over their places by their own rows alone. The three queries of `asking.py` are integers
that one user moves by at most their stated ℓ₁ sensitivities, together within ε by `Budget`; nobody is truncated, and
no bound is asked of the data. All that follows (`inference/`) is computed from the noisy answers and public numbers.
Every location of a public list is published, visited or not. Proof: docs/proofs/shares.md.

What is published is an estimate of the true entropy, not of a bounded one: a mean over what the answers leave open,
given how people and places are made up in general. Its error bars are computed from the same noisy answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.estimates import Estimates
from locentropy.mechanisms.crossing import is_private, required
from locentropy.mechanisms.parameters import LISTED, check_epsilon, make_plain, public_inputs
from locentropy.mechanisms.shares.asking import Questions
from locentropy.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise

_CALL = "Shares(epsilon=1.0)"
_MOST_USERS = 10**10
_LEAST_EPSILON, _MOST_EPSILON = 0.001, 10_000


@dataclass(frozen=True)
class Shares:
    """The true entropy of every listed location, from shares of presence. The mechanism to begin with."""

    epsilon: float
    """ε, for one user's whole record."""
    max_users: int = 10_000_000
    """A public bound on the number of users; published values are at most its logarithm."""

    def __post_init__(self) -> None:
        make_plain(self)
        check_epsilon(_CALL, self.epsilon)
        if not _LEAST_EPSILON <= self.epsilon <= _MOST_EPSILON:
            raise ParameterError(
                f"epsilon={self.epsilon!r} must be between {_LEAST_EPSILON} and {_MOST_EPSILON} for Shares: below, "
                f"noise is all there is; above, there is no privacy. A correct call: {_CALL}"
            )
        check_whole(_CALL, "max_users", self.max_users, 2, _MOST_USERS)

    @property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy."""
        return Guarantee.pure(self.epsilon, public_inputs(self, LISTED))

    @cached_property
    def questions(self) -> Questions:
        """What is asked of the data, and with how much noise; public."""
        return Questions(self.epsilon)

    def estimate(self, queries: Queries, locations: Locations | None, noise: Noise) -> Estimates:
        """Two values, a standard error and an interval for every location of the list."""
        from locentropy.mechanisms.shares.inference.reading import read  # a plan has nothing to read

        places = required(locations, type(self).__name__)
        questions = self.questions
        _ = questions.scales  # refuses an impossible ε before anything is asked
        answers = questions.noised(questions.ask(queries, places), noise)
        reading = read(answers, self.max_users)
        return Estimates(
            places.ids,
            reading.entropy,
            "true",
            is_private(noise),
            std_error=reading.std_error,
            low=reading.low,
            high=reading.high,
            entropy_busy=reading.entropy_busy,
        )
