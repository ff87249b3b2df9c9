"""A plan in words and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from locentropy.mechanisms.parameters import written_parameters
from locentropy.mechanisms.registry import described
from locentropy.planning.series_outlook import other_outlook, series_lines, series_outlook
from locentropy.privacy.guarantee import exact_text
from locentropy.privacy.units import neighbours, period_of, protects
from locentropy.release.error_rule import rule_in_words

if TYPE_CHECKING:
    from locentropy.mechanisms.expected_error import ExpectedError
    from locentropy.planning.plans import Plan
    from locentropy.privacy.guarantee import Guarantee


def headline(plan: Plan) -> str:
    """The mechanism, its parameters, and where the places come from."""
    name, parameters = described(plan.mechanism)
    listed = ", ".join(f"{key} {value}" for key, value in parameters.items())
    things = "places" if plan.group is None else "groups of places"
    number = f"{plan.n_locations:,} {things}" if plan.n_locations else things
    source = {
        "public-list": "of a public list",
        "grid": "of a public grid",
        "zones": "that are zones of a public map",
        "h3": "that are H3 cells of a public region",
        "inspire": "that are INSPIRE squares of a public region",
        "selection": "to select from privately",
        "by-mechanism": "for the mechanism to choose from",
    }[plan.locations]
    with_attributes = f" with their {' and '.join(plan.attributes)}" if plan.attributes else ""
    grouped = "" if plan.group is None else f" by their {plan.group}"
    if plan.levels:
        grouped = f" at the levels {', '.join(plan.levels)}"
    if plan.cells is not None:
        source = f"{source} ({plan.cells})"
    return f"{name} ({listed}), {number} {source}{grouped}{with_attributes}"


def guarantee_line(guarantee: Guarantee) -> str:
    """The guarantee in a line."""
    if guarantee.epsilon is None:
        return f"Not differentially private: {'; '.join(guarantee.reasons)}."
    delta = f", δ = {exact_text(guarantee.delta)}" if guarantee.delta else ""
    return f"Differentially private with ε = {exact_text(guarantee.epsilon)}{delta}, for {protects(guarantee.unit)}."


def as_text(plan: Plan) -> str:
    """The plan as a short text."""
    return "\n".join(
        (
            f"Plan: {headline(plan)}.",
            guarantee_line(plan.guarantee),
            plan.guarantee.explain_strength(),
            plan.guarantee.explain(),
            *always_present(plan),
            *series_lines(plan),
            *level_lines(plan),
            plan.expected.noise,
            *_rows(plan.expected),
            plan.expected.usefulness,
            *release_rules(plan),
            *plan.warnings,
        )
    )


def always_present(plan: Plan) -> list[str]:
    """What a unit per period means for somebody who is in the data in several of them."""
    period, guarantee = period_of(plan.unit), plan.guarantee
    if period is None or guarantee.epsilon is None:
        return []
    if plan.schedule is not None and plan.schedule.epsilon is not None:
        return []  # which says what all of them may cost together
    twice = f"ε = {exact_text(2 * guarantee.epsilon)}"
    if guarantee.delta:
        twice += f", δ = {exact_text(2 * guarantee.delta)}"
    return [
        f"Somebody who is in the data in several {period}s gets the sum over these {period}s: at one such release "
        f"each, {twice} after two. The ledger's budget of the person bounds it for somebody who is always there."
    ]


def level_lines(plan: Plan) -> list[str]:
    """What each level gets and is worth, and of which level the numbers are that follow."""
    if not plan.levels:
        return []
    told = [each.words for each in plan.level_outlooks]
    main = plan.levels.names[0]
    if told:
        return [*told, f"What follows is about the level {main}."]
    return [
        "ε is divided among the levels by a public rule: a fiftieth for each, and the rest in proportion to the cube "
        "roots of the numbers of their locations. These are not given here; the list has them. What follows is about "
        f"the level {main} at the whole ε, of which it will have a part."
    ]


def release_rules(plan: Plan) -> list[str]:
    """What is published beside the values, and what is done with these after the noise, by the owner's choice."""
    words = rule_in_words(plan.max_std_error, plan.mechanism.method_used)
    shown = ", ".join(map(repr, plan.publish_columns or ()))
    columns = f"These columns of the list are published as they are: {shown}." if shown else ""
    return [each for each in (words, columns) if each]


def _rows(expected: ExpectedError) -> list[str]:
    """The table, each column as wide as its widest text."""
    table = expected.table
    if not table:
        return []
    lines = [[*expected.headings, ""], *table]
    widths = [max(len(line[at]) for line in lines) for at in range(len(expected.headings))]
    return [
        "  ".join(
            [*(f"{text:>{width}}" for text, width in zip(line[:-1], widths, strict=True)), line[-1]]
        ).rstrip()
        for line in lines
    ]


def as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON takes it."""
    name, parameters = described(plan.mechanism)
    return {
        "mechanism": {"name": name, **parameters},
        "locations": {
            "kind": plan.locations,
            **({} if plan.cells is None else {"cells": plan.cells}),
            **({"attributes": list(plan.attributes)} if plan.attributes else {}),
            **({} if plan.group is None else {"group": plan.group}),
            **({"levels": list(plan.levels)} if plan.levels else {}),
            **({"publish_columns": list(plan.publish_columns)} if plan.publish_columns else {}),
            **(written_parameters(plan.selection) if plan.selection else {}),
        },
        **({"levels": [each.to_dict() for each in plan.level_outlooks]} if plan.levels else {}),
        "n_locations": plan.n_locations,
        "n_users": plan.n_users,
        "locations_per_user": plan.locations_per_user,
        "users_per_location": list(plan.users_per_location),
        "about": plan.about.stated(),
        "guarantee": _guarantee(plan.guarantee),
        "explanation": _explanation(plan.guarantee),
        "entropy_unit": "nats",
        "max_std_error": plan.max_std_error,
        "unit": plan.unit,
        **({} if plan.schedule is None else {"series": _series(plan)}),
        "expected_error": plan.expected.to_dict(),
        "warnings": list(plan.warnings),
    }


def _series(plan: Plan) -> dict[str, Any]:
    schedule = plan.schedule
    assert schedule is not None  # noqa: S101  # asked by the caller
    other = other_outlook(plan)
    return {
        "period": schedule.period,
        "periods": schedule.periods,
        "time_zone": schedule.zone,
        "epsilon": None if schedule.epsilon is None else exact_text(schedule.epsilon),
        "delta": exact_text(schedule.delta),
        "each": series_outlook(plan).to_dict(),
        "otherwise": None if other is None else other.to_dict(),
    }


def _guarantee(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "kind": guarantee.kind,
        "epsilon": None if guarantee.epsilon is None else exact_text(guarantee.epsilon),
        "delta": None if guarantee.epsilon is None else exact_text(guarantee.delta),
        "protects": protects(guarantee.unit),
        "neighbours": neighbours(guarantee.unit),
        "public_inputs": {each.name: each.value for each in guarantee.public_inputs},
        "reasons": list(guarantee.reasons),
    }


def _explanation(guarantee: Guarantee) -> dict[str, Any]:
    belief, replaced = guarantee.belief(), guarantee.for_replaced_record()
    between = replaced.belief()
    return {
        "text": guarantee.explain(),
        "strength": guarantee.strength,
        "strength_in_words": guarantee.explain_strength(),
        "prior": belief.prior,
        "most": belief.most,
        "least": belief.least,
        "exceptions": exact_text(belief.exceptions),
        "attacker_accuracy": guarantee.attacker_accuracy(),
        "two_records_of_one_person": {
            "epsilon": None if replaced.epsilon is None else exact_text(replaced.epsilon),
            "delta": None if replaced.epsilon is None else exact_text(replaced.delta),
            "most": between.most,
            "least": between.least,
            "exceptions": exact_text(between.exceptions),
        },
    }
