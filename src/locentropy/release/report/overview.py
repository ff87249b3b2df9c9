"""The head of a page: its title, a few facts, the promise in one sentence, and how useful the numbers are."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.html import Html, joined, paragraphs, tag
from locentropy.privacy.guarantee import numbers_in_words
from locentropy.privacy.units import period_of
from locentropy.release.report.naming import kind_of
from locentropy.release.report.ranking import TOP
from locentropy.release.signal import signal_words
from locentropy.release.statement import UNSAID

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.report.rows import Rows
    from locentropy.release.statement import Statement

_MOSTLY_REAL, _PARTLY_REAL = 0.8, 0.3


def title(say: Words, statement: Statement) -> str:
    """The title of the page, marked if there is no guarantee."""
    given = say.stored("title", statement.title)
    return given if statement.private else f"{say('mark')}: {given}"


def banner(say: Words, statement: Statement) -> Html:
    """A warning at the top of the page if there is no guarantee."""
    if statement.private:
        return Html("")
    return tag("div", tag("strong", f"{say('mark')}. "), say("page.banner"), class_="banner", role="alert")


def header(say: Words, release: Release, ranking: Ranking) -> Html:
    """The title, a few facts, and the description."""
    statement = release.statement
    facts = [say.count("things", len(release), of=kind_of(statement))]
    uncertain = int(release.too_uncertain.sum())
    withheld = len(release) - ranking.published - uncertain
    if uncertain:
        facts.append(say("facts.uncertain", n=say.number(uncertain)))
    if withheld:
        facts.append(say("facts.withheld", n=say.number(withheld)))
    if statement.window is not None:
        facts.append(statement.window.in_short(say))
    if statement.region != UNSAID:
        facts.append(statement.region)
    if statement.curator != UNSAID:
        facts.append(say("facts.published_by", curator=statement.curator))
    if statement.publication_date is not None:
        facts.append(say.day(date.fromisoformat(statement.publication_date)))
    return joined(
        tag("h1", title(say, statement)),
        tag("p", " · ".join(facts), class_="facts"),
        tag("div", paragraphs(say.stored("description", statement.description)), class_="lead"),
    )


def promise(say: Words, statement: Statement) -> Html:
    """The guarantee in one sentence, above all else; what it says in full is below."""
    stated = statement.guarantee
    if stated.epsilon is None:
        told = say("promise.none")
    else:
        numbers = numbers_in_words(stated, say)
        told = say("promise.private", numbers=numbers, strength=stated.explain_strength(say))
    return tag(
        "p",
        f"{told} {_every(say, statement)}",
        tag("a", say("promise.link"), href="#guarantee"),
        class_="promise",
    )


def _every(say: Words, statement: Statement) -> str:
    """What holds for somebody who is always there, where a ledger counts that besides; one sentence."""
    note, period = statement.ledger, period_of(statement.guarantee.unit)
    if note is None or period is None:
        return ""
    return say("promise.every", of=period, numbers=amounts(say, note.person_epsilon, note.person_delta))


def amounts(say: Words, epsilon: str | None, delta: str | None) -> str:
    """ε, and δ where there is one, of a ledger's note."""
    on_top = "" if delta in (None, "0") else f", δ = {say.written(str(delta))}"
    return f"ε = {say.written(str(epsilon))}{on_top}"


def no_signal(say: Words, release: Release) -> Html:
    """A warning, if these numbers are no more than noise."""
    told = signal_words(release.signal, release.statement, say)
    return tag("p", tag("strong", told), class_="notice", role="alert") if told else Html("")


def usefulness(say: Words, release: Release, ranking: Ranking) -> Html:
    """How much of the differences is real, in a sentence or two."""
    if not ranking.published:
        told = say("useful.uncertain" if release.too_uncertain.any() else "useful.nothing")
    elif ranking.certainty is None:
        why = why_no_bars(say, release.statement)
        told = say("useful.no_bars", mechanism=release.statement.mechanism, why=why)
    elif len(release) == 1:
        return Html("")  # there are no differences
    else:
        told = _differences(say, float(np.nanmedian(ranking.certainty)), ranking.expected_right)
    return tag("p", told, class_="notice")


def _differences(say: Words, certainty: float, expected_right: float | None) -> str:
    real = "mostly" if certainty >= _MOSTLY_REAL else "partly" if certainty >= _PARTLY_REAL else "hardly"
    told = say("useful.differences", of=real)
    if expected_right is None:
        return told
    if expected_right < 0.5:
        return told + say("useful.top_none", top=str(TOP))
    return told + say("useful.top", top=str(TOP), right=say.number(expected_right, ".0f"))


def why_no_bars(say: Words, statement: Statement) -> str:
    """Why a mechanism of this package publishes no error bars; what others do is their authors' to explain."""
    return say("no_bars.why") if statement.built_in else ""


def selection(say: Words, release: Release, rows: Rows) -> Html:
    """A note that not all places are shown, if so."""
    if not rows.left_out:
        return Html("")
    certain = say("selection.certain") if "std_error" in rows.columns else ""
    told = say("selection", shown=say.number(len(rows)), total=say.number(len(release)), certain=certain)
    return tag("p", told, class_="notice")
