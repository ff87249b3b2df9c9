"""A plan in words and in JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from locentropy.mechanisms.moments import Moments
from locentropy.mechanisms.registry import described, written_parameters
from locentropy.planning.outlook import LARGEST_SIZE, USEFUL
from locentropy.planning.shares_outlook import USEFUL as SHARES_USEFUL
from locentropy.planning.shares_outlook import errors_by_signal
from locentropy.privacy.guarantee import NEIGHBOURS, UNIT, exact_text

if TYPE_CHECKING:
    from locentropy.planning.plans import Plan
    from locentropy.planning.shares_outlook import PeopleRow, SharesOutlook
    from locentropy.privacy.guarantee import Guarantee


def headline(plan: Plan) -> str:
    """The mechanism, its parameters, and where the places come from."""
    name, parameters = described(plan.mechanism)
    listed = ", ".join(f"{key} {value}" for key, value in parameters.items())
    number = f"{plan.locations:,} places" if plan.locations else "places"
    source = {
        "public-list": "of a public list",
        "grid": "of a public grid",
        "selection": "to select from privately",
        "by-mechanism": "for the mechanism to choose from",
    }[plan.places]
    return f"{name} ({listed}), {number} {source}"


def promise(guarantee: Guarantee) -> str:
    """The promise in a line."""
    if guarantee.epsilon is None:
        return f"Not differentially private: {'; '.join(guarantee.reasons)}."
    delta = f", δ = {exact_text(guarantee.delta)}" if guarantee.delta else ""
    return f"Differentially private with ε = {exact_text(guarantee.epsilon)}{delta}, for {UNIT}."


def usefulness(plan: Plan) -> str:
    """From how many users on values are useful, and for how many places that is expected."""
    if plan.shares is not None:
        return " ".join(plan.shares.sentences)
    start = plan.useful_from
    told = (
        f"There is no number of users, up to {LARGEST_SIZE:,}, from which on places are useful."
        if start is None
        else f"Places are useful from {counted(start, 'user')} on."
    )
    if plan.share_useful is None:
        hint = " A guess of the users per place would tell how many places that makes."
        return told if start is None else told + hint
    number = f", about {plan.share_useful * plan.locations:,.0f} places" if plan.locations else ""
    return f"{told} Expected to be published and useful, by your guess: {percent(plan.share_useful)}{number}."


def noise(plan: Plan) -> str:
    """The noise in a line."""
    if plan.shares is not None:
        scales = plan.shares.noise
        return (
            "Noise: Laplace, in units of what one person can change at most, on the presence at every place (scale "
            f"{nats(scales.presence)}), on two histograms of all presence ({nats(scales.habits)}) and on how the "
            f"visits of every place are split ({nats(scales.split)}). Every value comes with its own error bar, "
            "computed from the noisy sums."
        )
    if isinstance(plan.mechanism, Moments):
        return (
            "Noise: on two sums of visits at every place, so errors fall as one over the visits there. Every value "
            "comes with its own error bar, computed from the noisy sums."
        )
    if plan.noise_scale is None:
        return "Noise: its scale falls with the users of a place, so a release carries no error bars."
    return f"Noise: Laplace of scale {nats(plan.noise_scale)} nats on every value."


def expected_error(plan: Plan) -> str:
    """The noise, and what error to expect, for who reads the release: from public numbers alone."""
    if plan.shares is not None:
        return (
            f"{noise(plan)} Root mean squared error over all places, in nats, as measured on other data, by a supposed "
            f"number of people, as ε·people/places: {errors_by_signal()}."
        )
    errors = "; ".join(f"{row.users:,}: {nats(row.error)}" for row in plan.rows if row.published)
    return (
        f"{noise(plan)} Expected distance from the bounded entropy, in nats, at most, by a supposed number "
        f"of users of a place: {errors or 'none'}."
    )


def people_in(row: PeopleRow) -> str:
    """How many people a row is about: in all where that is known, else for each place."""
    return f"{row.per_place:,g} per place" if row.people is None else f"{row.people:,}"


def as_text(plan: Plan) -> str:
    """The plan as a short text."""
    return "\n".join(
        (
            f"Plan: {headline(plan)}.",
            promise(plan.guarantee),
            plan.guarantee.odds(),
            noise(plan),
            *(_rows_by_users(plan) if plan.shares is None else _rows_by_people(plan.shares)),
            usefulness(plan),
            *plan.warnings,
        )
    )


def _rows_by_users(plan: Plan) -> list[str]:
    return [
        f"{'users':>9}  {'error':>8}  {'guess':>6}  {'published':>9}",
        *(
            f"{row.users:>9,}  {'—' if row.published == 0 else nats(row.error):>8}  {nats(row.guess):>6}  "
            f"{percent(row.published):>9}  {row.verdict}"
            for row in plan.rows
        ),
    ]


def _rows_by_people(shares: SharesOutlook) -> list[str]:
    return [
        f"{'people':>15}  {'error':>12}",
        *(
            f"{people_in(row):>15}  {'—' if row.expected is None else row.expected.words:>12}  {row.verdict}"
            for row in shares.rows
        ),
    ]


def as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON takes it."""
    name, parameters = described(plan.mechanism)
    share = plan.share_useful
    return {
        "mechanism": {"name": name, **parameters},
        "places": {"kind": plan.places, **(written_parameters(plan.selection) if plan.selection else {})},
        "locations": plan.locations,
        "people": plan.people,
        "users_per_location": list(plan.users_per_location),
        "words": plan.words.given(),
        "guarantee": _guarantee(plan.guarantee),
        "odds": _odds(plan.guarantee),
        "unit": "nats",
        "noise_scale": plan.noise_scale,
        "shares": None if plan.shares is None else _shares(plan.shares),
        "rows": [
            {
                "users": row.users,
                "probability_published": row.published,
                "expected_noise": row.noise,
                "expected_error": row.error if row.published else None,
                "guess_error": row.guess,
                "verdict": row.verdict,
            }
            for row in plan.rows
        ],
        "useful_from_users": plan.useful_from,
        "share_useful": share,
        "locations_useful": share * plan.locations if share is not None and plan.locations else None,
        "useful_means": USEFUL if plan.shares is None else SHARES_USEFUL,
        "warnings": list(plan.warnings),
    }


def _shares(shares: SharesOutlook) -> dict[str, Any]:
    return {
        "noise_scales": asdict(shares.noise),
        "expected_error": None if shares.expected is None else [shares.expected.low, shares.expected.high],
        "rows": [
            {
                "people": row.people,
                "people_per_location": row.per_place,
                "expected_error": None if row.expected is None else [row.expected.low, row.expected.high],
                "verdict": row.verdict,
            }
            for row in shares.rows
        ],
    }


def nats(value: float) -> str:
    """Three significant digits, without exponent for anything one would publish."""
    return f"{value:.3g}" if 1e-4 <= value < 1000 or value == 0 else f"{value:.2e}"


def counted(number: int, thing: str) -> str:
    """A number of things."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(probability: float) -> str:
    """A probability that reads as 0 or 100 % only where it is."""
    if 0 < probability < 0.001:
        return "< 0.1 %"
    if 0.999 < probability < 1:
        return "> 99.9 %"
    return f"{probability * 100:.3g} %"


def _guarantee(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "kind": guarantee.kind,
        "epsilon": None if guarantee.epsilon is None else exact_text(guarantee.epsilon),
        "delta": None if guarantee.epsilon is None else exact_text(guarantee.delta),
        "protects": UNIT,
        "neighbours": NEIGHBOURS,
        "public_inputs": {each.name: each.value for each in guarantee.public_inputs},
        "reasons": list(guarantee.reasons),
    }


def _odds(guarantee: Guarantee) -> dict[str, Any]:
    belief = guarantee.belief()
    return {
        "text": guarantee.odds(),
        "prior": belief.prior,
        "most": belief.most,
        "least": belief.least,
        "exceptions": exact_text(belief.exceptions),
        "best_guess_right": guarantee.guess(),
    }
