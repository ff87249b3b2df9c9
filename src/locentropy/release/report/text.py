"""The text of a page: what it says about the release, the guarantee, the map, the list and the histogram."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.cell_kinds import CELL_KINDS, public_words
from locentropy.core.html import Html, joined, paragraphs, tag
from locentropy.privacy.guarantee import exact_text
from locentropy.privacy.strength import LARGEST_EPSILON, is_large
from locentropy.privacy.units import period_of
from locentropy.release.count_words import counts_words, has_counts
from locentropy.release.error_rule import stated_in_words
from locentropy.release.level_words import levels_words
from locentropy.release.manifest import (
    TUNED,
    estimand_words,
    existence_words,
    grouped_words,
    ledger_words,
    person_words,
    places_words,
    proof_words,
    series_words,
    window_words,
)
from locentropy.release.report.attributes import leaning_paragraph, leaning_sentence, listed_paragraph
from locentropy.release.report.naming import named
from locentropy.release.report.ranking import TOP
from locentropy.release.statement import NOT_PRIVATE, UNSAID

if TYPE_CHECKING:
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.report.rows import Rows
    from locentropy.release.statement import Statement

_MOSTLY_REAL, _PARTLY_REAL = 0.8, 0.3
_LISTED: Final = ("public list", *CELL_KINDS)
"""How the sources of locations begin that may have coordinates."""


def title(statement: Statement) -> str:
    """The title of the page, marked if there is no guarantee."""
    return statement.title if statement.private else f"{NOT_PRIVATE}: {statement.title}"


def banner(statement: Statement) -> Html:
    """A warning at the top of the page if there is no guarantee."""
    if statement.private:
        return Html("")
    return tag(
        "div",
        tag("strong", f"{NOT_PRIVATE}. "),
        "There is no privacy guarantee for the people in the data. This page can reveal where they were: do not "
        "publish it or pass it on.",
        class_="banner",
        role="alert",
    )


def header(release: Release, ranking: Ranking) -> Html:
    """The title, a few facts, and the description."""
    statement = release.statement
    said = (
        statement.region,
        statement.curator if statement.curator == UNSAID else f"published by {statement.curator}",
        statement.publication_date or UNSAID,
    )
    facts = [named(statement).numbered(len(release)), *(fact for fact in said if fact != UNSAID)]
    if statement.window is not None:
        facts.insert(1, str(statement.window))
    uncertain = int(release.too_uncertain.sum())
    withheld = len(release) - ranking.published - uncertain
    if withheld:
        facts.insert(1, f"{withheld:,} of them withheld")
    if uncertain:
        facts.insert(1, f"{uncertain:,} of them not shown: too uncertain")
    return joined(
        tag("h1", title(statement)),
        tag("p", *_between(facts), class_="facts"),
        tag("div", paragraphs(statement.description), class_="lead"),
    )


def promise(statement: Statement) -> Html:
    """The guarantee in one sentence, above all else; what it says in full is below."""
    stated = statement.guarantee
    if stated.epsilon is None:
        told = "Nothing is guaranteed to the people whose visits this was made from."
    else:
        delta = f", δ = {exact_text(stated.delta)}" if stated.delta else ""
        told = f"Differentially private, ε = {exact_text(stated.epsilon)}{delta}: {stated.explain_strength()}"
    return tag(
        "p", f"{told} {_every(statement)}", tag("a", "What that means", href="#guarantee"), class_="promise"
    )


def _every(statement: Statement) -> str:
    """What holds for somebody who is always there, where a ledger counts that besides; one sentence."""
    note, period = statement.ledger, period_of(statement.guarantee.unit)
    if note is None or period is None:
        return ""
    return (
        f"This is for each {period}; for somebody there in every {period}, all releases together: "
        f"ε = {note.person_epsilon}{_delta(note.person_delta or '0')}. "
    )


def guarantee(statement: Statement) -> Html:
    """What is guaranteed, to whom, and what is not."""
    stated = statement.guarantee
    if stated.epsilon is None:
        return joined(
            tag("p", f"There is none. Why: {'; '.join(stated.reasons)}.", class_="big"),
            tag("p", stated.explain()),
        )
    numbers = f"ε = {exact_text(stated.epsilon)}" + (
        f", δ = {exact_text(stated.delta)}" if stated.delta else ""
    )
    period = period_of(stated.unit)
    record = "the whole record of a person" if period is None else f"all that a person did in one {period}"
    tuned = tag("p", f"Beware: {TUNED}.", class_="notice") if statement.tuned_unaccounted else Html("")
    return joined(
        tag("p", _lead(stated), class_="big"),
        _large(stated),
        _always(statement),
        tag("p", tag("strong", "For one person this means: "), stated.explain()),
        tag(
            "details",
            tag("summary", "What it covers, and what it does not"),
            tag(
                "ul",
                tag(
                    "li",
                    f"The guarantee is differential privacy with {numbers}, for {record}, present "
                    f"or absent, where a person is {person_words(statement)}. "
                    "Smaller numbers protect more. It holds whatever else somebody knows, now or later.",
                ),
                tag("li", stated.explain_groups()),
                tag("li", f"Not protected, because it is public anyway: {_public(statement)}."),
                tag(
                    "li",
                    f"Not protected either: that there is a release at all. {existence_words(statement)}",
                ),
                tag(
                    "li",
                    "Not guaranteed: that nothing can be learned about a place, or about people in general. A person "
                    "with several user ids is protected for each of them alone.",
                ),
                tag("li", proof_words(statement)),
                *([tag("li", window_words(statement))] if statement.window is not None else []),
                *([tag("li", series_words(statement))] if statement.series is not None else []),
                tag("li", ledger_words(statement)),
            ),
        ),
        tuned,
    )


def _always(statement: Statement) -> Html:
    """Per period and for somebody always present, where a ledger counts both."""
    note, period = statement.ledger, period_of(statement.guarantee.unit)
    if note is None or period is None:
        return Html("")
    return tag(
        "p",
        tag("strong", f"Each {period}: "),
        f"ε = {note.total_epsilon}{_delta(note.total_delta)}. ",
        tag("strong", f"Somebody there in every {period}: "),
        f"ε = {note.person_epsilon}{_delta(note.person_delta or '0')}, for all releases together.",
    )


def _delta(text: str) -> str:
    return "" if text == "0" else f", δ = {text}"


def _lead(stated: Guarantee) -> str:
    """The first sentences about the guarantee, which say no more than ε does."""
    made = "These numbers were made from visits of people"
    of_period = "" if (period := period_of(stated.unit)) is None else f" in one {period}"
    if is_large(stated.epsilon):
        return f"{made}, and a little noise was added. {stated.explain_strength()}"
    return (
        f"{made}, and noise was added to hide each of them. {stated.explain_strength()} To leave out a person is to "
        f"leave out everything that is known about them{of_period}: all their visits to all places."
    )


def _large(stated: Guarantee) -> Html:
    """A notice where ε is so large that the release should be read as one without protection."""
    if not is_large(stated.epsilon):
        return Html("")
    return tag(
        "p",
        tag("strong", "A very large ε. "),
        f"Above about {LARGEST_EPSILON} a guarantee promises next to nothing. Treat these numbers as if no noise had "
        "been added.",
        class_="notice",
        role="alert",
    )


def usefulness(release: Release, ranking: Ranking) -> Html:
    """How much of the differences is real, in a sentence or two."""
    if not ranking.published and release.too_uncertain.any():
        return tag(
            "p",
            "No place has a value here: the standard error of each is above the limit that the owner chose. The "
            "measurements beside this page are what is known.",
            class_="notice",
        )
    if not ranking.published:
        return tag(
            "p",
            "No place has a value here: for none did the release find clearly enough people to name it, or to give it "
            "a value. That does not mean that nobody was there.",
            class_="notice",
        )
    if ranking.certainty is None:
        return tag(
            "p",
            f"{release.statement.mechanism} publishes no error bars{_why_no_bars(release.statement)}. How sure a value "
            "or a rank is cannot be said from these files.",
            class_="notice",
        )
    if len(release) == 1:
        return Html("")  # there are no differences
    middle = float(np.nanmedian(ranking.certainty))
    if middle >= _MOSTLY_REAL:
        said = "Differences between places are mostly real. Small ones may still be noise."
    elif middle >= _PARTLY_REAL:
        said = "Differences between places are partly noise. Look at error bars before comparing two places."
    else:
        said = (
            "For most places, the noise is larger than the differences between them. Read this page for the places "
            "that stand out and for areas as a whole, not for one place."
        )
    if ranking.expected_right is not None:
        right = "hardly any" if ranking.expected_right < 0.5 else f"about {ranking.expected_right:.0f}"
        said += (
            f" Of the {TOP} places that are listed first, {right} can be expected to be truly among the {TOP} "
            "highest."
        )
    return tag("p", said, class_="notice")


def selection(release: Release, rows: Rows) -> Html:
    """A note that not all places are shown, if so."""
    if not rows.left_out:
        return Html("")
    certain = " and those whose values are most certain" if "std_error" in rows.columns else ""
    return tag(
        "p",
        f"This page shows {len(rows):,} of {len(release):,} places: those with the highest values{certain}. Ranks, "
        "chances and the distribution are about all places; the tables beside this page have all of them.",
        class_="notice",
    )


def map_note(release: Release, rows: Rows) -> Html:
    """How to read and use the map, or why there is none."""
    if not rows.has_map:
        return tag("p", f"There is no map, because {_why_no_map(release)}.")
    areas, shown = rows.outlines is not None, named(release.statement)
    mark, larger = ("area", "") if areas else ("dot", "larger and the ")
    certain = f" The {larger}more solid {'an' if areas else 'a'} {mark}, the surer is its value."
    certain = certain if "certainty" in rows.columns else ""
    if release.too_uncertain.any():
        grey = "Grey areas" if areas else "Small grey dots"
        certain += f" {grey} are places whose value is not shown, because it is too uncertain."
    missing = (
        f" {rows.without_coordinates:,} {places_word(rows.without_coordinates)} without coordinates "
        f"{'is' if rows.without_coordinates == 1 else 'are'} in the list only."
        if rows.without_coordinates
        else ""
    )
    return tag(
        "p",
        f"Each {mark} is a {shown.one}, {shown.position}; its colour is how many different people it draws."
        f"{certain}{_about_labels(release, rows)}{missing} ",
        tag(
            "span",
            "Drag to move; zoom with the buttons, or with the wheel after a click; point at "
            f"{'an area' if areas else 'a dot'} to see its numbers. "
            "With the keyboard: arrows, plus, minus, and zero for everything.",
            class_="for-mouse",
        ),
        tag(
            "span",
            f"Move the map with two fingers, pinch to zoom, tap {'an area' if areas else 'a dot'} to see its numbers.",
            class_="for-touch",
        ),
        class_="hint",
    )


def _about_labels(release: Release, rows: Rows) -> str:
    """What is written on the map, and what is behind the places."""
    cells = release.statement.locations_source.startswith(CELL_KINDS) and not rows.has_names
    said = (
        " Numbers are the ranks of the highest."
        if cells
        else " The highest have their names, where there is room."
    )
    if release.statement.outline is not None:
        said += " The lines behind them are a public outline, which was not made from the visits."
    return said


def list_note(release: Release, ranking: Ranking) -> Html:
    """How the list is ranked, and what its chances mean."""
    if not ranking.published:
        return tag("p", "No place has a value, so there is nothing to rank.", class_="hint")
    unit = release.statement.entropy_unit
    parts = ["Highest first."] if len(release) > 1 else []
    parts.append(
        "A place with 20 effective visitors is as mixed as one that 20 people visit equally often; "
        f"entropy is the logarithm of that number, in {unit}: {log(20) * (1.0 if unit == 'nats' else 1 / log(2)):.1f}."
    )
    if ranking.chance is not None:
        parts.append(
            f"“Top {TOP}” is the chance that a place is truly among the {TOP} highest"
            f"{_of_published(release, ranking)}, computed from published values and error bars alone."
        )
    if (ranking.rank == 1).sum() > 1:
        parts.append("Places with equal values share a rank, marked with “=”.")
    if leaning := leaning_sentence(release):
        parts.append(leaning)
    return tag("p", " ".join(parts), class_="hint") if parts else Html("")


def distribution_note(release: Release, ranking: Ranking) -> str:
    """Why the distribution of published values is not that of the true ones."""
    if not ranking.published:
        return ""
    if release.statement.method.error_bars == "model":
        return (
            "Published values lie closer together than the true ones: where little is known, a value stays near what "
            "is usual. Point at a bar for its numbers."
        )
    return (
        "Published values are spread wider than the true ones, because noise was added to each. Point at a bar for "
        "its numbers."
    )


def reading(release: Release, ranking: Ranking) -> Html:
    """How to read the page."""
    statement = release.statement
    in_unit = 1.0 if statement.entropy_unit == "nats" else 1.0 / log(2.0)
    entries = [
        (
            "What is entropy here?",
            "It tells how many different people a place draws, and how evenly. It is high where many people come about "
            "equally often, like a station or a square, and low where few people make most of the visits, like a home "
            "or an office. It is not a count of visits.",
        ),
        (
            "Effective visitors",
            "The same thing as a number one can picture: a place with 20 effective visitors is as mixed as one that 20 "
            f"people visit equally often. That is an entropy of {log(20) * in_unit:.2f} {statement.entropy_unit}; each "
            f"{log(2) * in_unit:.2f} {statement.entropy_unit} more double it. It is not the number of people who came.",
        ),
        ("Which entropy?", estimand_words(statement)),
    ]
    if has_counts(statement.method):
        entries.append(("Visitors and visits, bounded", _about_counts(statement)))
    if ranking.published:
        entries.append(("Error bars", _about_intervals(release)))
    if ranking.chance is not None:
        entries.append(
            (
                "How sure is a rank?",
                f"The line between the {TOP}th and the {TOP + 1}th place is put where {TOP} places are expected above "
                "it. The chance of a place is the probability that its true value is above that line, given its "
                f"published value and error bar. {_about_chances(statement)} It is an approximation: treat 90 % as "
                "“quite sure”, not as an exact number.",
            )
        )
    if statement.levels:
        entries.append(("Levels", levels_words(statement).strip()))
    elif statement.grouped_by is not None:
        entries.append(("Groups of places", grouped_words(statement).strip()))
    if statement.listed_columns:
        entries.append(("Columns of the public list", listed_paragraph(statement)))
    if statement.attributes:
        entries.append(("What values lean on", leaning_paragraph(release)))
    if statement.max_std_error is not None:
        entries.append(("Not shown: too uncertain", stated_in_words(statement)))
    if ranking.published + release.too_uncertain.sum() < len(release):
        entries.append(
            (
                "Withheld places",
                _about_withheld(statement),
            )
        )
    entries.append(
        (
            "What not to conclude",
            "A single value may be far off by chance. Do not rank neighbours by small differences, do not add values "
            "up, and do not take a high value for a large crowd.",
        )
    )
    return tag("dl", *(joined(tag("dt", term), tag("dd", text)) for term, text in entries))


def use(statement: Statement) -> Html:
    """The intended use, if the owner stated it."""
    if statement.intended_use == UNSAID:
        return Html("")
    return tag("p", tag("strong", "Meant for: "), statement.intended_use)


def places_word(count: int) -> str:
    """'place' or 'places'."""
    return "place" if count == 1 else "places"


def _between(facts: list[str]) -> list[str]:
    separated: list[str] = []
    for fact in facts:
        separated += [Html(" · "), fact] if separated else [fact]
    return separated


def _public(statement: Statement) -> str:
    known = [str(public) for public in statement.guarantee.public_inputs if public.name != "locations"]
    if statement.locations_source.startswith("private selection"):
        listed = "that places were chosen privately, at a cost that is included"
    else:
        listed = f"the {public_words(statement.locations_source)} ({places_words(statement)})"
    return "; ".join([listed, *known])


def _why_no_map(release: Release) -> str:
    if not len(release):
        return "there is no place in this release"
    if release.statement.locations_source.startswith(_LISTED):
        return "the public list of places has no coordinates"
    return "places were selected from the visits, whose coordinates are never published"


def _of_published(release: Release, ranking: Ranking) -> str:
    return " of those that have a value" if ranking.published < len(release) else ""


def _about_intervals(release: Release) -> str:
    """What the line through a value means, for the kind of error bars that the mechanism has."""
    if "low" not in release.to_arrow().column_names:
        return f"This release has none{_why_no_bars(release.statement)}."
    apart = "Two places whose lines overlap widely cannot be told apart."
    if release.statement.method.error_bars == "model":
        return (
            "The line through a value is a 95 % interval. It rests on a model of how people and places are made up: "
            "where visitors of a place are quite unlike those of others, the value may lie outside more often than in "
            f"5 of 100 cases. {apart}"
        )
    if release.statement.estimand == "true":
        return f"The line through a value is a 95 % interval: in 95 of 100 cases the true value lies within. {apart}"
    return (
        "The line through a value is a 95 % interval for the entropy of the bounded visits, see above: in 95 of 100 "
        f"cases it lies within. How far bounding has moved it is not part of the line. {apart}"
    )


def _about_counts(statement: Statement) -> str:
    """What counts are, and what must not be done with them."""
    return (
        f"{counts_words(statement)} The interval beside a count is one of the noise alone: it holds the bounded count "
        "in at least 95 of 100 cases, at every place. Counts below 0 were set to 0, so sums over many places come out "
        "too high: the measurements beside this page have the counts before that."
    )


def _why_no_bars(statement: Statement) -> str:
    """Why a mechanism of this package publishes no error bars; what others do is their authors' to explain."""
    return ", because they could tell how many people were at a place" if statement.built_in else ""


def _about_withheld(statement: Statement) -> str:
    """Why a place has no value."""
    if statement.private and statement.built_in:
        return (
            "The mechanism publishes a value only where it found enough people by a private test. A withheld place "
            "may be quiet, or was withheld by chance."
        )
    return "The mechanism publishes no value there."


def _about_chances(statement: Statement) -> str:
    """What the chances are based on."""
    if statement.method.error_bars == "model":
        return (
            "It rests on the same model as the error bars, and counts only the part of an error that places do not "
            "share: what is off everywhere changes no order. Where visitors of a place are quite unlike those of "
            "others, it may say too much."
        )
    return "High noisy values are partly luck, and that is taken into account."
