"""Spending: what a spend writes: its parts and itself, after the terms where it is the first about a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError
from locentropy.core.windows import Window
from locentropy.ledger.entries import Entry, stamp
from locentropy.ledger.parts import part_of
from locentropy.ledger.rules import amounts_as_text
from locentropy.ledger.terms import Terms
from locentropy.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from fractions import Fraction

    from locentropy.ledger.rules import Account

Windows = Window | tuple[Window | None, ...] | None
"""The window that a release is about, or that of each of its parts."""


def each_window(window: Windows) -> tuple[Window | None, ...]:
    """The window of each part."""
    if isinstance(window, tuple):
        return window or (None,)
    return (window,)


def amounts(guarantee: Guarantee, parts: int = 1) -> tuple[Fraction | None, Fraction]:
    """What so many parts cost together, for somebody who is in all of them."""
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(
            "guarantee must be a Guarantee. For example: "
            'ledger.spend(Guarantee.pure(0.5), purpose="map of May")'
        )
    if guarantee.epsilon is None:
        return None, guarantee.delta
    return parts * guarantee.epsilon, parts * guarantee.delta


def spend_entries(
    account: Account,
    spend: str,
    guarantee: Guarantee,
    purpose: str,
    window: Windows,
    release: str | None = None,
) -> list[Entry]:
    """What a spend writes. `release` is for one of an earlier ledger: the release that it paid for, or "" if none."""
    windows = each_window(window)
    values = {
        "id": spend,
        **amounts_as_text(*amounts(guarantee, len(windows))),
        "purpose": purpose,
        **stamp(),
    }
    made = [Entry("spend", values) if release is None else Entry("earlier", values | {"release": release})]
    for each in windows:
        if each is not None:
            account.calendar.check_zone(each, account.name)
    if not account.has_terms and windows == (None,):
        return made
    if guarantee.private:  # without a guarantee there is no part: no account can hold it
        parts = [part_of(spend, guarantee, each, account.calendar) for each in windows]
        made = [*(Entry("part", part.as_values()) for part in parts), *made]
    if not account.has_terms:
        made.insert(0, Entry("rules", {**Terms().as_values(), **stamp()}))
    return made
