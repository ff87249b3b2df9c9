"""A plan in words and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from locentropy.mechanisms.moments import Moments
from locentropy.mechanisms.registry import described, written_parameters
from locentropy.planning.outlook import LARGEST_SIZE, USEFUL
from locentropy.privacy.guarantee import NEIGHBOURS, UNIT, exact_text

if TYPE_CHECKING:
    from locentropy.planning.plans import Plan
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
    if isinstance(plan.mechanism, Moments):
        return (
            "Noise: on two sums of visits at every place, so errors fall as one over the visits there. Every value "
            "comes with its own error bar, computed from the noisy sums."
        )
    if plan.noise_scale is None:
        return "Noise: its scale falls with the users of a place, so a release carries no error bars."
    return f"Noise: Laplace of scale {nats(plan.noise_scale)} nats on every value."


def as_text(plan: Plan) -> str:
    """The plan as a short text."""
    rows = [
        f"{row.users:>9,}  {'—' if row.published == 0 else nats(row.error):>8}  {nats(row.guess):>6}  "
        f"{percent(row.published):>9}  {row.verdict}"
        for row in plan.rows
    ]
    return "\n".join(
        (
            f"Plan: {headline(plan)}.",
            promise(plan.guarantee),
            plan.guarantee.odds(),
            noise(plan),
            f"{'users':>9}  {'error':>8}  {'guess':>6}  {'published':>9}",
            *rows,
            usefulness(plan),
            *plan.warnings,
        )
    )


def as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON takes it."""
    name, parameters = described(plan.mechanism)
    share = plan.share_useful
    return {
        "mechanism": {"name": name, **parameters},
        "places": {"kind": plan.places, **(written_parameters(plan.selection) if plan.selection else {})},
        "locations": plan.locations,
        "users_per_location": list(plan.users_per_location),
        "words": plan.words.given(),
        "guarantee": _guarantee(plan.guarantee),
        "odds": _odds(plan.guarantee),
        "unit": "nats",
        "noise_scale": plan.noise_scale,
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
        "useful_means": USEFUL,
        "warnings": list(plan.warnings),
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
