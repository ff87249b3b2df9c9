"""What each mechanism does to the data, and then to noisy numbers, in words for who has only the release."""

from __future__ import annotations

from typing import Final

_LIMIT: Final = (
    "Each location's entropy gets discrete Laplace noise of one scale, a public constant set by the most that one "
    "person, within the bounds, can change all entropies together."
)
_MECHANISMS: Final = {
    "Baseline": _LIMIT,
    "Limit": _LIMIT,
    "LimitSS": "Each location's entropy gets discrete Laplace noise that follows its smooth sensitivity. The scale "
    "depends on how many people were there, so neither it nor any error bar is published.",
    "LimitPTR": "A private test names locations of clearly more than min_users people; the entropy of those gets "
    "discrete Laplace noise of one scale, a public constant. The others are withheld.",
    "LimitCB": "Locations of at least min_users people, counted without noise, are published; their entropy gets "
    "discrete Laplace noise. The choice of locations gives people away.",
    "Moments": "Two whole numbers at each location, sums over its people of a fixed public table with a pair for each "
    "number of visits, get discrete Laplace noise of one scale, a public constant set by the most that one person, "
    "within the bounds, can change all of them together. Entropy and error bars are computed from the noisy pairs.",
    "Shares": "Each person has one unit of presence, in equal shares at the places where they were, no share larger "
    "than 1/M of it, with M = max(1, ε/2). Three kinds of whole numbers get discrete Laplace noise, and ε is divided "
    "among them: the presence at each location; all presence in two histograms, by the number of places of its people "
    "and by their visits to the place; and a pair at each location, the sum of shares times a fixed public table with "
    "a pair for each number of visits up to a fixed one. One person changes the first by at most their unit, "
    "the histograms by one each, the pairs by the unit times the largest pair of the table. All that is "
    "published is inferred from the noisy numbers.",
}
_CLIPPED: Final = "Noisy values, and the ends of intervals where there are any, are clipped"
_ROUNDED: Final = (
    " Where a real number gets noise, it is rounded to a multiple of 2^-20 nats first, which the noise "
    "covers."
)
_AFTERWARDS: Final = {
    "Moments": (
        "Each noisy pair is moved to the nearest one that visits can make, near in the sense of the noise; entropy, "
        "its standard error and an interval follow from it. Values and ends of intervals are clipped",
        " Only whole numbers get noise; the table was rounded to whole numbers before its largest pair was taken.",
    ),
    "Shares": (
        "Entropies are inferred. The noisy histograms are smoothed into how many places people visit and how often; "
        "from these, places of every size are made up, with their presence, pair and entropy; how common each size and "
        "each way to split visits is among the places is learnt from all noisy numbers together; entropy is then the "
        "mean over what the noisy numbers of a place leave open, std_error, low and high are taken from the same, "
        "widened for what the model leaves out, and entropy_busy is the mean with busier places weighing more. Values "
        "and ends of intervals are clipped",
        " Only whole numbers get noise: shares are rounded down to multiples of 2^-20 of a person's unit.",
    ),
}
"""What happens to noisy numbers, up to how far they are clipped; and what was rounded before."""


def what_it_does(mechanism: str) -> str:
    """The mechanism in a few sentences."""
    return _MECHANISMS.get(mechanism, "Its module in the software states what it does.")


def after_the_noise(mechanism: str) -> tuple[str, str]:
    """What is done with noisy numbers, in words that go on with how far values are clipped; and what was rounded."""
    return _AFTERWARDS.get(mechanism, (_CLIPPED, _ROUNDED))
