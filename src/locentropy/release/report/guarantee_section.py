"""The section of a page about the guarantee: what is guaranteed, to whom, and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.html import Html, joined, tag
from locentropy.privacy.guarantee import numbers_in_words
from locentropy.privacy.strength import LARGEST_EPSILON, is_large
from locentropy.privacy.units import period_of
from locentropy.release.manifest import (
    checked_words,
    existence_words,
    ledger_words,
    person_words,
    places_words,
    proof_words,
    series_words,
    window_words,
)
from locentropy.release.report.naming import is_cells
from locentropy.release.report.overview import amounts

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.privacy.guarantee import Guarantee, PublicInput
    from locentropy.release.statement import Statement


def guarantee(say: Words, statement: Statement) -> Html:
    """What is guaranteed, to whom, and what is not."""
    stated = statement.guarantee
    if stated.epsilon is None:
        return joined(
            tag("p", say("guarantee.none", reasons=stated.reasons_in_words(say)), class_="big"),
            tag("p", stated.explain(say)),
        )
    tuned = say("guarantee.beware", tuned=say("tuned"))
    return joined(
        tag("p", _lead(say, stated), class_="big"),
        _large(say, stated),
        _always(say, statement),
        tag("p", tag("strong", say("guarantee.for_one")), stated.explain(say)),
        tag(
            "details",
            tag("summary", say("guarantee.covers")),
            tag("ul", *(tag("li", told) for told in _covered(say, statement) if told)),
        ),
        tag("p", tuned, class_="notice") if statement.tuned_unaccounted else Html(""),
    )


def _covered(say: Words, statement: Statement) -> list[str]:
    """What it covers, and what it does not, point by point."""
    stated = statement.guarantee
    return [
        say(
            "guarantee.is",
            numbers=numbers_in_words(stated, say),
            record=say("guarantee.record", of=period_of(stated.unit) or "person"),
            person=person_words(statement, say),
        ),
        stated.explain_groups(say),
        say("guarantee.public", public=_public(say, statement)),
        say("guarantee.existence", existence=existence_words(statement, say)),
        say("guarantee.not"),
        proof_words(statement, say),
        window_words(statement, say),
        series_words(statement, say),
        ledger_words(statement, say),
        checked_words(statement, say),
    ]


def _always(say: Words, statement: Statement) -> Html:
    """Per period and for somebody always present, where a ledger counts both."""
    note, period = statement.ledger, period_of(statement.guarantee.unit)
    if note is None or period is None:
        return Html("")
    always = amounts(say, note.person_epsilon, note.person_delta)
    return tag(
        "p",
        tag("strong", say("guarantee.each", of=period)),
        f"{amounts(say, note.total_epsilon, note.total_delta)}. ",
        tag("strong", say("guarantee.always", of=period)),
        say("guarantee.all_together", numbers=always),
    )


def _lead(say: Words, stated: Guarantee) -> str:
    """The first sentences about the guarantee, which say no more than ε does."""
    strength = stated.explain_strength(say)
    if is_large(stated.epsilon):
        return say("guarantee.lead_large", strength=strength)
    return say("guarantee.lead", of=period_of(stated.unit) or "person", strength=strength)


def _large(say: Words, stated: Guarantee) -> Html:
    """A notice where ε is so large that the release should be read as one without protection."""
    if not is_large(stated.epsilon):
        return Html("")
    return tag(
        "p",
        tag("strong", say("guarantee.large_title")),
        say("guarantee.large", largest=str(LARGEST_EPSILON)),
        class_="notice",
        role="alert",
    )


def _public(say: Words, statement: Statement) -> str:
    """What is taken as public: where places come from, and every parameter."""
    source = statement.locations_source
    if source.startswith("private selection"):
        listed = say("guarantee.chosen_privately")
    else:
        taken = "zones" if source.startswith("zones") else "cells" if is_cells(statement) else "list"
        listed = say("guarantee.taken_from", of=taken, source=places_words(statement, say))
    known = [each for each in statement.guarantee.public_inputs if each.name != "locations"]
    return "; ".join([listed, *(_known(say, statement, each) for each in known)])


def _known(say: Words, statement: Statement, public: PublicInput) -> str:
    window = statement.window
    if window is not None and public.value == str(window):
        return f"{public.name} = {window.in_short(say)}"
    return public.in_words(say)
