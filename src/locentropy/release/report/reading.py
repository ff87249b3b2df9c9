"""The section of a page about how to read it: what its numbers are, how sure they are, what not to conclude."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from locentropy.core.html import Html, joined, tag
from locentropy.release.count_words import counts_words, has_counts
from locentropy.release.error_rule import stated_in_words
from locentropy.release.level_words import levels_words
from locentropy.release.manifest import estimand_words, grouped_words
from locentropy.release.report.attributes import leaning_paragraph, listed_paragraph
from locentropy.release.report.notes import per_nat
from locentropy.release.report.overview import why_no_bars
from locentropy.release.report.ranking import TOP
from locentropy.release.statement import UNSAID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.statement import Statement


def reading(say: Words, release: Release, ranking: Ranking) -> Html:
    """How to read the page."""
    entries = (*_numbers(say, release), *_sureness(say, release, ranking), *_places(say, release, ranking))
    return tag("dl", *(joined(tag("dt", term), tag("dd", text)) for term, text in entries))


def use(say: Words, statement: Statement) -> Html:
    """The intended use, if the owner stated it."""
    if statement.intended_use == UNSAID:
        return Html("")
    return tag("p", tag("strong", say("reading.use")), statement.intended_use)


def _numbers(say: Words, release: Release) -> Iterator[tuple[str, str]]:
    """What the published numbers are."""
    statement = release.statement
    scale = per_nat(statement.entropy_unit)
    yield say("reading.entropy_title"), say("reading.entropy")
    yield (
        say("reading.visitors_title"),
        say(
            "reading.visitors",
            twenty=say.number(log(20) * scale, ".2f"),
            two=say.number(log(2) * scale, ".2f"),
            unit=say("unit", of=statement.entropy_unit),
        ),
    )
    yield say("reading.estimand_title"), estimand_words(statement, say)
    if has_counts(statement.method):
        yield say("reading.counts_title"), say("reading.counts", counts=counts_words(statement, say))


def _sureness(say: Words, release: Release, ranking: Ranking) -> Iterator[tuple[str, str]]:
    """How sure a value or a rank is."""
    if ranking.published:
        yield say("reading.bars_title"), _about_intervals(say, release)
    if ranking.chance is not None:
        model = release.statement.method.error_bars == "model"
        basis = say("reading.rank_model" if model else "reading.rank_noise")
        yield (
            say("reading.rank_title"),
            say("reading.rank", top=str(TOP), next=str(TOP + 1), basis=basis),
        )


def _places(say: Words, release: Release, ranking: Ranking) -> Iterator[tuple[str, str]]:
    """Which places there are, what their values lean on, and why some have none."""
    statement = release.statement
    if statement.levels:
        yield say("reading.levels_title"), levels_words(statement, say).strip()
    elif statement.grouped_by is not None:
        yield say("reading.groups_title"), grouped_words(statement, say).strip()
    if statement.listed_columns:
        yield say("reading.columns_title"), listed_paragraph(say, statement)
    if statement.attributes:
        yield say("reading.leaning_title"), leaning_paragraph(say, release)
    if statement.max_std_error is not None:
        yield say("reading.uncertain_title"), stated_in_words(statement, say)
    if ranking.published + release.too_uncertain.sum() < len(release):
        tested = statement.private and statement.built_in
        withheld = say("reading.withheld" if tested else "reading.withheld_other")
        yield say("reading.withheld_title"), withheld
    yield say("reading.not_title"), say("reading.not")


def _about_intervals(say: Words, release: Release) -> str:
    """What the line through a value means, for the kind of error bars that the mechanism has."""
    statement = release.statement
    if "low" not in release.to_arrow().column_names:
        return say("reading.bars_none", why=why_no_bars(say, statement))
    model = statement.method.error_bars == "model"
    return say("reading.bars", of="model" if model else statement.estimand)
