"""Near misses: ids that are not on a list, and would be if they were written a little differently.

A register that went through a spreadsheet has 1 for 0001, and one that was typed has blanks and capitals of its own. No
such pair is ever taken for one id here: what is found is told to the owner of the data, who mends it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_INVISIBLE: Final = ("Cc", "Cf")
"""Unicode's categories of characters that nobody sees, such as a zero-width space."""


def _without_invisible(text: str) -> str:
    """The text in Unicode's compatible form, in which one letter has one spelling."""
    if text.isascii() and text.isprintable():
        return text
    seen = "".join(each for each in text if unicodedata.category(each) not in _INVISIBLE)
    return unicodedata.normalize("NFKC", seen)


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "blanks": lambda text: text.strip().strip("\u200b\ufeff").strip(),
    "Unicode": _without_invisible,
    "case": str.casefold,
    "decimals": lambda text: re.sub(r"^([+-]?[0-9]+)\.0+$", r"\1", text),
    "zeros": lambda text: re.sub(r"(?<![0-9])0+(?=[0-9])", "", text),
}
"""What two spellings of one id may differ in, and how it is put aside."""


class NearMiss(NamedTuple):
    """An id that is not on the list, and the listed one that it may be."""

    unlisted: str
    listed: str
    differ: tuple[str, ...]
    """In which of `SPELLINGS`."""


def near_misses(unlisted: Iterable[str], listed: Iterable[str]) -> list[NearMiss]:
    """Those of the unlisted ids that a listed id equals but for its spelling."""
    known: dict[str, str] = {}
    for each in listed:
        known.setdefault(_plain(each), each)
    found = []
    for each in unlisted:
        near = known.get(_plain(each))
        if near is not None and near != each:
            found.append(NearMiss(each, near, _differ(each, near)))
    return found


def by_spelling(found: Iterable[NearMiss]) -> dict[tuple[str, ...], list[NearMiss]]:
    """Near misses by what they differ in, the most frequent first."""
    groups: dict[tuple[str, ...], list[NearMiss]] = {}
    for each in found:
        groups.setdefault(each.differ, []).append(each)
    order = Counter({differ: len(group) for differ, group in groups.items()})
    return {differ: groups[differ] for differ, _ in order.most_common()}


def _plain(text: str, without: str = "") -> str:
    """The text with every difference but one put aside."""
    return reduce(lambda so_far, name: SPELLINGS[name](so_far), (n for n in SPELLINGS if n != without), text)


def _differ(one: str, other: str) -> tuple[str, ...]:
    """What has to be put aside for two texts to be equal; where either of two would do, the first of them."""
    needed = tuple(name for name in SPELLINGS if _plain(one, name) != _plain(other, name))
    return needed or tuple(name for name in SPELLINGS if SPELLINGS[name](one) == SPELLINGS[name](other))[:1]
