"""How much a guarantee hides, in words that follow ε; and the ε above which a caller must say that it is meant.

    strong             ε ≤ 1     one person changes the chance of any outcome by a factor of at most e = 2.7
    moderate           ε ≤ 3     by a factor of at most 20
    weak               ε ≤ 10    by a factor of up to 22,000
    none to speak of   ε > 10    the noise hides hardly anything about one person

The sentences are published, so none may promise more than ε does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

from locentropy.core.errors import ParameterError
from locentropy.core.language import ENGLISH
from locentropy.privacy.rounding import exponential_above

if TYPE_CHECKING:
    from fractions import Fraction

    from locentropy.core.language import Words

Strength = Literal["strong", "moderate", "weak", "none to speak of", "none"]

LARGEST_EPSILON: Final = 10
"""Of a release or a ledger, unless `large_epsilon=True` says that more is meant."""

LARGE_DELTA: Final = 1e-3
"""Above it no guarantee is called strong or moderate, whatever its ε: δ is the chance that nothing is promised."""

CERTAIN: Final = 0.999
"""From here on a probability is told in words: 100 % would be wrong, and many nines tell nobody anything."""

_STRONG: Final = 1
_MODERATE: Final = 3


def strength_of(epsilon: Fraction | None, delta: Fraction) -> Strength:
    """How much a guarantee hides, in a word or three."""
    if epsilon is None:
        return "none"
    if is_large(epsilon):
        return "none to speak of"
    if epsilon > _MODERATE or delta > LARGE_DELTA:
        return "weak"
    return "strong" if epsilon <= _STRONG else "moderate"


def strength_words(
    strength: Strength, epsilon: Fraction | None, delta: str | None, say: Words = ENGLISH
) -> str:
    """What leaving out one person can change, in a sentence or two; `delta` is δ as text, where there is one."""
    if epsilon is None:
        return say("strength.none")
    if strength == "none to speak of":
        return say("strength.large")
    changed = say(
        "strength.changed",
        strength=say("strength.word", of=strength),
        factor=say.written(_factor(epsilon)),
        on_top="" if delta is None else say("strength.on_top", delta=say.written(delta)),
    )
    return changed if strength == "strong" else changed + say("strength.sure", of=strength)


def is_large(epsilon: Fraction | None) -> bool:
    """Whether the caller must say that an ε is meant."""
    return epsilon is not None and epsilon > LARGEST_EPSILON


def check_large_epsilon(epsilon: Fraction | None, *, accepted: bool, of: str, example: str) -> None:
    """Raise for an ε above 10, unless it was said that it is meant; `of` is what has it, such as "a release"."""
    if not isinstance(accepted, bool):
        raise ParameterError(
            "must be True or False.", parameter="large_epsilon", value=accepted, example=example
        )
    if is_large(epsilon) and not accepted:
        raise ParameterError(
            f"An ε above {LARGEST_EPSILON} for {of} hides hardly anything about one person. Choose a smaller one; or, "
            "if it is meant, say so: large_epsilon=True (--large-epsilon).",
            example=example,
        )


def _factor(epsilon: Fraction) -> str:
    """e^ε, rounded up, so that no change is understated."""
    factor = exponential_above(epsilon)
    digits = 2 if factor < 10 else 1 if factor < 100 else 0
    return f"{math.ceil(factor * 10**digits) / 10**digits:,.{digits}f}"
