"""The recommendation for each case, in sentences. advisor.py decides which case applies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ParameterError
from locentropy.core.number_format import nats
from locentropy.evaluation.advice.advice import Advice, Alternative, Choice
from locentropy.evaluation.advice.density import crossover, measured_density, supposed_density
from locentropy.mechanisms.expected_error import USEFUL_BELOW, BoundedError, Supposed, named_from
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.shares.expected_error import (
    SHORT_LIST,
    TOO_THIN,
    delta_pays,
    shares_error,
    shares_expectation,
)
from locentropy.mechanisms.shares.measurements import ShareQueries
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.privacy.noise import LATTICE

if TYPE_CHECKING:
    from locentropy.evaluation.advice.advice import Target
    from locentropy.evaluation.advice.bounds import BoundsChoice
    from locentropy.evaluation.advice.density import Density
    from locentropy.mechanisms.parameters import Value
    from locentropy.mechanisms.shares.expected_error import SharesExpectation
    from locentropy.mechanisms.survey import Activity

USUAL_MIN_USERS: Final = 50
"""k: the paper's default, by which n_CB is computed."""

MAX_DELTA_TIMES_USERS: Final = 0.01
"""δ times the number of people should be below this."""

SELECTION_SHARE: Final = (3, 10)
"""The part of ε that selects places, if no list is public: 3 of 10."""

LARGEST_MAX_USERS: Final = 2**31 - 1
"""The largest max_users that every mechanism takes."""

_SIZES: Final = (20, 100, 1000)
"""The numbers of users for which the error of Moments is given."""


def proposed_delta(n_users: int | None) -> str:
    """Propose a δ: at most a thousandth of one over the number of people, and 1e-8 if that is unknown."""
    return f"1e-{len(str(n_users or 99_999)) + 3}"


def roomy(n_users: int | None) -> int | None:
    """Return a round bound well above a rough number of people: 1, 2 or 5 times a power of ten, up to the largest."""
    if n_users is None:
        return None
    tens = int("1" + "0" * (len(str(n_users)) - 1))
    room = next(lead * tens for lead in (2, 5, 10, 20) if lead * tens >= 1.5 * n_users)
    return min(room, LARGEST_MAX_USERS)  # noise alone may look like more people than that


@dataclass(frozen=True)
class Case:
    """The numbers that recommendations use; all public or paid for."""

    epsilon: float
    """ε of the release."""
    n_locations: int | None
    """Listed places; None if no list is public."""
    n_users: int | None
    """About how many people there are; None if unknown."""
    max_users: int | None
    """A bound on that; values are cut at its logarithm."""
    delta: float | None
    """δ, if one was given."""
    bounds: BoundsChoice
    """M and C for the mechanisms that need them."""
    activity: Activity | None
    """What a paid survey found, if there was one."""
    locations_per_user: int | None = None
    """How many places a typical person visits, if that is known."""

    def shares(self, *, bounded_is_enough: bool) -> Advice:
        """Recommend Shares, the default."""
        reasons = [
            "Shares estimates the true entropy: nobody's visits are cut, so there is no M or C to get wrong.",
            f"Its guarantee is pure (ε = {self._written}, no δ), and it publishes an error bar for every place.",
        ]
        if bounded_is_enough:
            reasons.append(
                "The bounded entropy is enough for you, but places are too small, or too little is known about them, "
                "for Moments to do better."
            )
        supposed = Supposed(self.n_locations, self.n_users, locations_per_user=self.locations_per_user)
        rule = shares_expectation(Shares(self.epsilon).share_queries, supposed)
        return self._advice(
            Choice(Shares.name, {"epsilon": self._written}),
            "true",
            reasons,
            shares_error(rule, supposed),
            None if rule is None else (rule.low, rule.high),
            [self._shares_with_delta(rule, supposed), self._moments_instead(), *self._paper()],
            [TOO_THIN] if rule is not None and rule.hardly else [],
        )

    def _shares_with_delta(self, pure: SharesExpectation | None, supposed: Supposed) -> Alternative:
        """Shares with Gaussian noise, and whether it pays."""
        told = shares_expectation(ShareQueries(self.epsilon, self._delta), supposed)
        return Alternative(
            Choice(Shares.name, {"epsilon": self._written, "delta": self._delta, **self._capped}),
            delta_pays(pure, told),
        )

    def moments(self, reason: str) -> Advice:
        """Recommend Moments: for short lists, and for busy places if the bounded entropy is enough."""
        choice = self._moments_choice()
        expected, expected_range = self._moments_error()
        shares = Alternative(
            Choice(Shares.name, {"epsilon": self._written}),
            "estimates the true entropy; it needs a longer list to learn from."
            if (self.n_locations or 0) < SHORT_LIST
            else "estimates the true entropy, with nothing cut.",
        )
        reasons = [
            reason,
            f"Its guarantee is pure (ε = {self._written}, no δ), with an error bar from the noisy counts alone.",
            *self.bounds.why,
        ]
        return self._advice(
            choice, "bounded", reasons, expected, expected_range, [shares, *self._paper()], []
        )

    def without_a_list(self) -> Advice:
        """Recommend a private selection and then Shares, or Limit-PTR, which does both: if no list is public."""
        whole, part = exact(self.epsilon), exact(self.epsilon) * SELECTION_SHARE[0] / SELECTION_SHARE[1]
        selection: dict[str, Value] = {
            "epsilon": exact_text(part),
            "delta": self._delta,
            "max_locations": self.bounds.max_locations,
        }
        choice = Choice(Shares.name, {"epsilon": exact_text(whole - part)}, selection)
        selecting = SelectLocations(
            float(part), delta=float(self._delta), max_locations=self.bounds.max_locations
        )
        reasons = [
            "No list of places is public, and which places the visits name is private. So places are selected first, "
            f"by a private test that takes ε = {exact_text(part)} and δ = {self._delta} of the budget.",
            "Shares then estimates the true entropy of the selected places with the rest.",
            *self.bounds.why[:1],
        ]
        expected = [
            named_from(selecting),
            "A public list or a grid of cells would publish all places, and cost no δ.",
            "The errors are unknown, because the number of selected places is. Compare with a grid: give the number of "
            "its cells as --n-locations.",
        ]
        return self._advice(choice, "true", reasons, expected, None, self._ptr(), [])

    @property
    def _written(self) -> str:
        """ε as it is written."""
        return exact_text(exact(self.epsilon))

    @property
    def _delta(self) -> str:
        return proposed_delta(self.n_users) if self.delta is None else str(self.delta)

    @property
    def _bounded(self) -> dict[str, Value]:
        return {"max_locations": self.bounds.max_locations, "max_visits": self.bounds.max_visits}

    @property
    def _capped(self) -> dict[str, Value]:
        return {} if self.max_users is None else {"max_users": self.max_users}

    def _advice(
        self,
        choice: Choice,
        estimand: Target,
        reasons: list[str],
        expected: list[str],
        expected_range: tuple[float, float] | None,
        alternatives: list[Alternative],
        warnings: list[str],
    ) -> Advice:
        _ = choice.mechanism  # raises for an ε that the recommended mechanism does not take
        uses_delta = choice.selection is not None or any(
            "delta" in each.choice.parameters for each in alternatives
        )
        return Advice(
            choice,
            estimand,
            tuple(reasons),
            tuple(expected),
            expected_range,
            None if self.n_locations is None else self._density,
            tuple(alternatives),
            (*warnings, *(self._about_delta() if uses_delta else ())),
            self.activity,
        )

    def _about_delta(self) -> tuple[str, ...]:
        if self.delta is None:
            return (
                f"δ = {self._delta} is a proposal, for the mechanisms that need one; choose your own, far below one "
                "over the number of people.",
            )
        if self.n_users is not None and self.delta * self.n_users > MAX_DELTA_TIMES_USERS:
            return (
                f"δ = {self._delta} is not far below one over the number of people: a guarantee that weak comes close "
                f"to allowing somebody's whole record to be published. Use {proposed_delta(self.n_users)} or less.",
            )
        return ()

    def _moments(self) -> Moments:
        bounds = self.bounds
        return Moments(
            self.epsilon,
            max_locations=bounds.max_locations,
            max_visits=bounds.max_visits,
            max_users=self.max_users,
        )

    def _moments_choice(self) -> Choice:
        return Choice(Moments.name, {"epsilon": self._written, **self._bounded, **self._capped})

    def _moments_error(self) -> tuple[list[str], tuple[float, float] | None]:
        rows = BoundedError(self._moments(), Supposed()).rows_at(
            [n for n in _SIZES if n <= (self.n_users or n)]
        )
        sizes = "; ".join(f"{row.users:,} users: {nats(row.error)}" for row in rows)
        expected = [
            f"Noise by the counted users of a place, in nats, at most on average: {sizes}."
            if rows
            else f"With fewer than {_SIZES[0]} people, expect nothing but noise."
        ]
        lost = self.bounds.truncation
        expected.append(
            "How far the bounded entropy is from the true one is unknown without data."
            if lost is None
            else f"In addition, bounding lowers values by about {nats(lost)} nats against the true entropy."
        )
        errors = [row.error for row in rows]
        return expected, (min(errors), max(errors)) if errors else None

    def _moments_instead(self) -> Alternative:
        return Alternative(
            self._moments_choice(),
            "if you want the entropy of bounded visits, above all of busy places; assumes nothing about other places. "
            + " ".join(self.bounds.why),
        )

    @cached_property
    def _density(self) -> Density:
        if self.activity is not None:
            return measured_density(self.activity)
        return supposed_density(
            crossover(
                self.epsilon,
                float(self._delta),
                self.bounds.max_locations,
                self.bounds.max_visits,
                USUAL_MIN_USERS,
            ),
            self.n_locations,
            self.n_users,
            self.bounds.max_locations,
        )

    def _paper(self) -> list[Alternative]:
        """The paper's choice, for comparison, with a guarantee that holds."""
        smooth = Alternative(
            Choice(
                LimitSS.name,
                {"epsilon": self._written, "delta": self._delta, **self._bounded, **self._capped},
            ),
            "the paper's choice for dense data; for comparison only, without error bars.",
        )
        rule = {"dense": [smooth], "sparse": self._ptr()}
        return rule.get(self._density.verdict, [smooth, *self._ptr()])

    def _ptr(self) -> list[Alternative]:
        """Limit-PTR; nothing for an ε or δ that it does not take, because other advice still holds."""
        try:
            min_users = self._least_min_users()
        except ParameterError:
            return []
        when = (
            "names only places of clearly more than k people, so it needs no list, and estimates the bounded entropy "
            "with the same noise for all; it replaces the paper's choice for sparse data, Limit-CB, which protects "
            f"nobody. k = {min_users:,}"
            + (
                f" is the least for which that noise is below {USEFUL_BELOW} nats."
                if self._ptr_noise(min_users) < USEFUL_BELOW
                else " still leaves too much noise at this ε."
            )
            + (
                " There are fewer people than that, so it would name no place."
                if self.n_users is not None and self.n_users <= min_users
                else ""
            )
        )
        parameters: dict[str, Value] = {"epsilon": self._written, "delta": self._delta, **self._bounded}
        return [
            Alternative(Choice(LimitPTR.name, {**parameters, "min_users": min_users, **self._capped}), when)
        ]

    def _ptr_noise(self, min_users: int) -> float:
        bounds = self.bounds
        ptr = LimitPTR(
            self.epsilon,
            delta=float(self._delta),
            max_locations=bounds.max_locations,
            max_visits=bounds.max_visits,
            min_users=min_users,
        )
        return ptr.scale / LATTICE

    def _least_min_users(self) -> int:
        """Return the least round k at which the noise of Limit-PTR is below half a nat."""
        rounded: list[int] = [lead * 10**power for power in range(1, 5) for lead in (1, 2, 5)]
        return next((users for users in rounded if self._ptr_noise(users) < USEFUL_BELOW), rounded[-1])
