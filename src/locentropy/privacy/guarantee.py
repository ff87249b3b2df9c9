"""Privacy guarantees, what they mean for one person, and how they add up.

Claim: if every part of a release has its own `Guarantee`, the whole has their sum (`+` or `total`): the ε add up, the
δ add up, and one part without a guarantee leaves the whole without one. This is basic composition; it also holds when
a later part was chosen after seeing an earlier one, which is how a budget is spent. Sums are exact: ten releases at
0.1 spend 1, not 0.9999999999999999.

Claim: a guarantee is about one person's record being in the data or not. For k people together it becomes
(kε, δ(1 + e^ε + … + e^((k−1)ε))) (`for_group`). Between two possible records of one person, and for one of several
people who share an id, it is that of two, (2ε, (1 + e^ε)δ) (`for_replaced_record`).
Why: let P₀, …, P_k be the laws of the release on tables of which each is a neighbour of the next. By induction
P₀(A) ≤ e^ε·P₁(A) + δ ≤ e^ε·(e^((k−1)ε)·P_k(A) + δ(1 + … + e^((k−2)ε))) + δ. To replace a record is to remove one
and to add another: two steps. Whoever leaves an id that others use as well replaces its record.

Claim: a guarantee may also state ρ, if it is known to be ρ-zCDP, up to a probability `rho_delta`: then a ledger that
counts in ρ charges that (`concentrated_cost`). These add up as well. Proof: docs/proofs/concentrated.md.

There is no default δ: an (ε, δ) guarantee must name its δ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Literal

from locentropy.core.errors import ParameterError
from locentropy.core.html import joined, tag
from locentropy.core.language import ENGLISH
from locentropy.privacy.rounding import (
    exponential_below,
    float_above,
    float_below,
    group_delta,
    percent_down,
    percent_up,
)
from locentropy.privacy.strength import CERTAIN, Strength, strength_of, strength_words
from locentropy.privacy.units import Unit, check_unit, neighbours, period_of, protects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locentropy.core.language import Words

Number = int | float | str | Decimal | Fraction
Kind = Literal["pure", "approximate", "none"]

_CALL = "Guarantee.approximate(epsilon=1.0, delta=1e-8)"

_ENDLESS = re.compile(r"e[+-]?[\d_]{4}", re.IGNORECASE)
"""An exponent that no ε or δ has; files by others have numbers, too."""
_LARGEST = Fraction(10) ** 300


def exact(value: Number, name: str = "epsilon") -> Fraction:
    """The number as it was written: 0.1 is one tenth, not the nearest binary fraction."""
    try:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, str) and _ENDLESS.search(value):
            raise ValueError("a number whose zeros fill the memory")
        fraction = value if isinstance(value, Fraction) else Fraction(str(value))
        if fraction > _LARGEST:
            raise ValueError("a number that no float can hold")
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError("must be a finite number.", parameter=name, value=value, example=_CALL) from None
    if fraction < 0:
        raise ParameterError("must not be negative.", parameter=name, value=value, example=_CALL)
    return fraction


@dataclass(frozen=True, order=True)
class PublicInput:
    """Something that the guarantee does not protect, because it is taken as public: a bound, a list."""

    name: str
    """Its name in the interface, e.g. `max_locations`."""
    value: str
    """Its value as text, e.g. `5`."""

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, say: Words = ENGLISH) -> str:
        """Its name and its value."""
        return f"{self.name} = {say.stored(self.name, self.value)}"


@dataclass(frozen=True)
class AttackerBelief:
    """How much a release can change an attacker's belief that one given person is in the data."""

    prior: float
    """The probability that the attacker assumes before."""
    most: float
    """The largest probability that the attacker can assume after."""
    least: float
    """The smallest probability that the attacker can assume after."""
    exceptions: Fraction
    """The largest probability with which a release can move the belief above `most`, or below `least`."""


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of one release, or of all releases of one table together.

    Built by `Guarantee.pure`, `Guarantee.approximate` or `Guarantee.none`; added with `+`.
    """

    epsilon: Fraction | None
    """ε, exactly; None without a guarantee."""
    delta: Fraction
    """δ, exactly; 0 for a pure guarantee."""
    public_inputs: tuple[PublicInput, ...] = ()
    """What is taken as public and not protected; sorted, without repeats."""
    reasons: tuple[str, ...] = ()
    """Why there is no guarantee; empty if there is one."""
    unit: Unit = "person"
    """Whose visits, and which of them, it is about."""
    rho: Fraction | None = None
    """ρ, exactly, if the release is also known to be ρ-zCDP; None if only ε and δ are known."""
    rho_delta: Fraction = Fraction(0)
    """The probability up to which it is ρ-zCDP: 0 for Gaussian noise alone."""

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not isinstance(value, Fraction | None) or (value is None and name == "delta"):
                raise ParameterError("is not a Fraction.", parameter=name, value=value, example=_CALL)
        if self.epsilon is not None and (self.epsilon < 0 or not 0 <= self.delta < 1):
            raise ParameterError(
                f"epsilon={self.epsilon} must be at least 0 and delta={self.delta} in [0, 1).", example=_CALL
            )
        if (self.epsilon is None) != bool(self.reasons) or (self.epsilon is None and self.delta):
            raise ParameterError(
                "A guarantee has either an epsilon, or reasons why it has none.",
                example='Guarantee.none("why not")',
            )
        check_unit(self.unit)
        if self.rho is not None and (self.epsilon is None or self.rho < 0 or not 0 <= self.rho_delta < 1):
            raise ParameterError("must be at least 0, of a guarantee.", parameter="rho", example=_CALL)
        # A normal form, so that the order in which guarantees are added makes no difference.
        object.__setattr__(self, "public_inputs", tuple(sorted(set(self.public_inputs))))
        object.__setattr__(self, "reasons", tuple(sorted(set(self.reasons))))

    @classmethod
    def pure(cls, epsilon: Number, public_inputs: Iterable[PublicInput] = ()) -> Guarantee:
        """ε-differential privacy."""
        return cls(exact(epsilon), Fraction(0), tuple(public_inputs))

    @classmethod
    def approximate(
        cls, epsilon: Number, delta: Number, public_inputs: Iterable[PublicInput] = ()
    ) -> Guarantee:
        """(ε, δ)-differential privacy, with 0 < δ < 1."""
        share = exact(delta, "delta")
        if not 0 < share < 1:
            raise ParameterError(
                "must be above 0 and below 1.", parameter="delta", value=delta, example=_CALL
            )
        return cls(exact(epsilon), share, tuple(public_inputs))

    @classmethod
    def concentrated(
        cls, epsilon: Number, delta: Number, rho: Fraction, public_inputs: Iterable[PublicInput] = ()
    ) -> Guarantee:
        """ρ-zero-concentrated differential privacy, and the (ε, δ) that follows from it."""
        from locentropy.privacy.concentrated import admissible_rho

        if rho > admissible_rho(epsilon, delta):
            raise ParameterError("is more than fits this ε and δ.", parameter="rho", example=_CALL)
        stated = cls.approximate(epsilon, delta, public_inputs)
        return replace(stated, rho=rho)

    @classmethod
    def none(cls, reason: str, public_inputs: Iterable[PublicInput] = ()) -> Guarantee:
        """No guarantee, and the reason."""
        return cls(None, Fraction(0), tuple(public_inputs), (reason,))

    @property
    def kind(self) -> Kind:
        """The kind of guarantee."""
        if self.epsilon is None:
            return "none"
        return "approximate" if self.delta else "pure"

    @property
    def private(self) -> bool:
        """Whether there is any guarantee."""
        return self.epsilon is not None

    @property
    def strength(self) -> Strength:
        """How much it hides: "strong", "moderate", "weak", "none to speak of", or "none"."""
        return strength_of(self.epsilon, self.delta)

    def explain_strength(self, say: Words = ENGLISH) -> str:
        """How much it hides, in a sentence or two. Part of the published documents."""
        delta = exact_text(self.delta) if self.delta else None
        return strength_words(self.strength, self.epsilon, delta, say)

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        if self.unit != other.unit:
            raise ParameterError("Guarantees about different units do not add up.", example=_CALL)
        public = self.public_inputs + other.public_inputs
        if self.epsilon is None or other.epsilon is None:
            return Guarantee(None, Fraction(0), public, self.reasons + other.reasons, self.unit)
        delta = self.delta + other.delta
        if delta >= 1:
            raise ParameterError(
                f"The δ of these releases add up to {exact_text(delta)}; from 1 on there is no guarantee. "
                "Spend less on each.",
                example=_CALL,
            )
        added = Guarantee(self.epsilon + other.epsilon, delta, public, unit=self.unit)
        if self.rho is None and other.rho is None:
            return added
        (one, one_delta), (two, two_delta) = self.concentrated_cost, other.concentrated_cost
        return replace(added, rho=one + two, rho_delta=one_delta + two_delta)

    @property
    def concentrated_cost(self) -> tuple[Fraction, Fraction]:
        """(ρ, δ): it is δ-approximately ρ-zCDP. What is (ε, δ)-private is so with ρ = ε²/2, if no ρ is stated."""
        if self.epsilon is None:
            raise ParameterError("Without a guarantee there is no ρ.", example=_CALL)
        return (self.epsilon**2 / 2, self.delta) if self.rho is None else (self.rho, self.rho_delta)

    def for_unit(self, unit: Unit) -> Guarantee:
        """The same guarantee about another unit: of a part that reads only visits in one cell of it."""
        return replace(self, unit=unit)

    def for_group(self, size: int) -> Guarantee:
        """The guarantee of `size` people together, or of one person under so many ids.

        ε is exact. δ is exact or rounded up; if it would be 1 or more, there is no guarantee.
        """
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ParameterError(
                "must be a whole number of at least 1.",
                parameter="size",
                value=size,
                example="guarantee.for_group(4)",
            )
        if self.epsilon is None or size == 1:
            return self
        delta = group_delta(self.epsilon, self.delta, size)
        if delta is None:
            none = Guarantee.none(f"the δ of {size} people together is not below 1", self.public_inputs)
            return none.for_unit(self.unit)
        return Guarantee(size * self.epsilon, delta, self.public_inputs, unit=self.unit)

    def for_replaced_record(self) -> Guarantee:
        """The guarantee between two possible records of one person: where they went, how often, with whom.

        Also that of one of several people who share an id: without this person, the id has another record.
        """
        return self.for_group(2)

    def belief(self, prior: float = 0.5) -> AttackerBelief:
        """How much a release can change an attacker's belief that one given person is in the data.

        Pure: the odds change by a factor of at most e^ε, whatever is published. With δ no bound holds for every
        release; the bound given is the factor 2e^ε, which is exceeded upwards, or downwards, with probability at most
        2δ: outputs whose odds ratio exceeds 2e^ε have probability p with p − e^ε·p/(2e^ε) ≤ δ, hence p ≤ 2δ.

        `guarantee.for_replaced_record().belief()` is about the belief that a person's record is one of two.
        """
        if not 0 < prior < 1:
            raise ParameterError(
                "must be above 0 and below 1.",
                parameter="prior",
                value=prior,
                example="guarantee.belief(prior=0.5)",
            )
        if self.epsilon is None:
            return AttackerBelief(prior, 1.0, 0.0, Fraction(1))
        shrink = exponential_below(-self.epsilon) / (2 if self.delta else 1)
        before = Fraction(prior)
        most = before / (before + (1 - before) * shrink)
        least = before * shrink / (before * shrink + 1 - before)
        exceptions = min(2 * self.delta, Fraction(1))
        return AttackerBelief(prior, float_above(most), float_below(least), exceptions)

    def attacker_accuracy(self) -> float:
        """The best accuracy in guessing whether a person is in the data, if both are equally likely before.

        At most (e^ε + δ) / (1 + e^ε), which includes δ.
        """
        if self.epsilon is None:
            return 1.0
        shrink = exponential_below(-self.epsilon)
        return float_above((1 + self.delta * shrink) / (1 + shrink))

    def explain(self, say: Words = ENGLISH) -> str:
        """What the guarantee means for one person, without formulas. Part of the published documents."""
        if self.epsilon is None:
            return say("belief.none")
        return say(
            "belief.present",
            in_data=self._in_data(say),
            bounds=self._bounds_in_words(say),
            replaced=self._explain_replaced(say),
        )

    def explain_groups(self, say: Words = ENGLISH) -> str:
        """What the guarantee becomes for two records of one person and for several people, in numbers."""
        if self.epsilon is None:
            return say("groups.none")
        return say(
            "groups",
            numbers=numbers_in_words(self, say),
            in_data=self._in_data(say),
            replaced=numbers_in_words(self.for_replaced_record(), say),
            delta=say("groups.delta") if self.delta else "",
        )

    def _in_data(self, say: Words) -> str:
        """Where somebody is, who is protected."""
        return say("in_data", of=period_of(self.unit) or "person")

    def _explain_replaced(self, say: Words) -> str:
        """What somebody may learn who asks which record, rather than whether there is one."""
        replaced = self.for_replaced_record()
        if replaced.epsilon is None:
            return say("belief.replaced_none")
        return say("belief.replaced", bounds=replaced._bounds_in_words(say))

    def _bounds_in_words(self, say: Words) -> str:
        belief = self.belief()
        if belief.most > CERTAIN:  # rounded, it would read "at most 100 % and at least 0 %"
            return say("belief.certain")
        most, least = say.written(percent_up(belief.most)), say.written(percent_down(belief.least))
        if not self.delta:
            return say("belief.bounds", most=most, least=least)
        exceptions = say.written(exact_text(belief.exceptions))
        return say("belief.bounds_but", most=most, least=least, exceptions=exceptions)

    def in_words(self, say: Words = ENGLISH) -> str:
        """What is guaranteed, to whom, and what is taken as public."""
        if self.epsilon is None:
            stated = say("stated.none", reasons=self.reasons_in_words(say))
        else:
            stated = say(
                "stated.private",
                numbers=numbers_in_words(self, say),
                protects=protects(self.unit, say),
                neighbours=neighbours(self.unit, say),
            )
        known = "; ".join(public.in_words(say) for public in self.public_inputs)
        return f"{stated} {say('stated.public', public=known or say('stated.nothing'))}"

    def reasons_in_words(self, say: Words = ENGLISH) -> str:
        """Why there is no guarantee."""
        return "; ".join(say.stored("reason", reason) for reason in self.reasons)

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return joined(tag("p", str(self)), tag("p", self.explain()))


def total(guarantees: Iterable[Guarantee]) -> Guarantee:
    """The guarantee of several releases of one table together; of no release, ε = 0."""
    return reduce(add, guarantees, Guarantee.pure(0))


def numbers_in_words(guarantee: Guarantee, say: Words = ENGLISH) -> str:
    """ε and, if there is one, δ; exactly."""
    if guarantee.epsilon is None:
        return say("numbers.none")
    delta = f", δ = {say.written(exact_text(guarantee.delta))}" if guarantee.delta else ""
    return f"ε = {say.written(exact_text(guarantee.epsilon))}{delta}"


def exact_text(value: Fraction) -> str:
    """The exact number: as a decimal if it is finite, else as a fraction."""
    try:
        ratio = Context(prec=30, traps=[Inexact]).divide(Decimal(value.numerator), Decimal(value.denominator))
    except Inexact:
        return str(value)
    return (
        f"{ratio.normalize():f}" if value == 0 or value >= Fraction(1, 10_000) else f"{ratio.normalize():e}"
    )
