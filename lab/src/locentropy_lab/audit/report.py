"""The tables of an audit: the same rows on the screen, in the documentation, and on a page that loads nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from locentropy.core.html import Html, filled, joined, policy_hash, tag
from locentropy.core.version import __version__
from locentropy.privacy.guarantee import exact_text
from locentropy_lab.audit.results import within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locentropy.privacy.guarantee import Guarantee
    from locentropy_lab.audit.confidence import Attack
    from locentropy_lab.audit.mutation.catalogue import Trial
    from locentropy_lab.audit.mutation.planting import Fault
    from locentropy_lab.audit.results import Audit, Power
    from locentropy_lab.audit.search import Numerical


Rows = list[tuple[str, ...]]

NUMERICAL: Final = ("mechanism", "guaranteed ε", "δ", "most found", "by", "verdict")
STATISTICAL: Final = (
    "mechanism",
    "guaranteed ε",
    "shown by draws",
    "draws",
    "shown by releases",
    "releases",
    "to expect of as few draws",
    "verdict",
)
FAULTS: Final = ("fault", "what it would do", "caught by")
TRIALS: Final = (*FAULTS, "what it said")
SHORT_TRIALS: Final = ("fault", "check", "")

_HOLDS, _BROKEN, _NONE, _STOPPED = "holds", "BROKEN", "no guarantee", "NOT FINISHED"


def numerical_rows(found: Audit) -> Rows:
    """Rows of what the worst neighbours cost."""
    return [
        (
            each.name,
            _epsilon(each.claim),
            exact_text(each.claim.delta) if each.claim.private else "",
            _number(each.epsilon),
            _worst(each),
            _NONE
            if each.kept is None
            else _verdict(each.kept, [cost.kept for cost in each.costs if cost.tried]),
        )
        for each in found.numerical
    ]


def _worst(each: Numerical) -> str:
    return max(each.costs, key=lambda cost: cost.epsilon).worst


def statistical_rows(found: Audit) -> Rows:
    """Rows of what attacks have shown."""
    rows: Rows = []
    for each in found.statistical:
        extra = "" if each.released == each.claim else f" (of {_epsilon(each.released)})"
        rows.append(
            (
                each.name,
                _epsilon(each.claim),
                _shown(each.on_draws),
                f"{each.draws:,}",
                f"{_shown(each.on_releases)}{extra}",
                f"{each.runs:,}",
                f"{each.with_few:.3f}",
                _verdict(each.kept, [within(*attack) for attack in each.attacks if attack[1].counted]),
            )
        )
    return rows


def _shown(attack: Attack) -> str:
    return attack.event if math.isinf(attack.epsilon) else f"ε ≥ {attack.epsilon:.3f}"


def power_text(power: Power | None) -> str:
    """Say whether the attacks are strong enough to show a fault."""
    if power is None:
        return "Whether the attacks are strong enough to show a fault was not tried: that is done with Limit."
    releases = (
        f", whole releases with a fifth of it ε ≥ {power.on_releases:.3f}"
        if power.on_releases is not None
        else ""
    )
    return (
        f"The attack on Limit shows {power.reached / power.claim:.0%} of the guaranteed ε; with two thirds of the "
        f"noise it shows ε ≥ {power.with_less_noise:.3f}{releases}, "
        + (
            "more than guaranteed: the attacks can show a fault."
            if power.sufficient
            else "which is NOT enough to show a fault."
        )
    )


def fault_rows(faults: Iterable[Fault]) -> Rows:
    """Rows of faults: what is wrong, what it would do, and the check that must see it."""
    return [(each.name, each.why, each.caught_by) for each in faults]


def trial_rows(found: Audit) -> Rows:
    """Rows of faults, with what the checks said."""
    return [(*fault_rows([each.fault])[0], _fate(each, each.complaints[:1])) for each in found.mutation]


def short_trial_rows(found: Audit) -> Rows:
    """Rows of faults with their checks and whether they were caught."""
    return [(each.fault.name, each.fault.caught_by, _fate(each, ("caught",))) for each in found.mutation]


def _fate(each: Trial, caught: tuple[str, ...]) -> str:
    return caught[0] if each.caught else f"NOT CAUGHT {each.stopped_on}".strip()


def faults_text(found: Audit) -> str:
    """Say how many faults were caught."""
    caught = sum(each.caught for each in found.mutation)
    wrong = [f"{name}: {said[0]}" for name, said in found.checks.items() if said]
    alarm = f" Without any fault these checks complain: {'; '.join(wrong)}." if wrong else ""
    return (
        f"{caught} of {len(found.mutation)} planted faults were caught, each by the check that is named for it; "
        f"{len(found.checks) - len(wrong)} of {len(found.checks)} checks find nothing wrong without a fault.{alarm}"
    )


def verdict_text(found: Audit) -> str:
    """Say whether the audit passed."""
    took = f"{found.seconds / 60:.0f} minutes" if found.seconds >= 90 else f"{found.seconds:.0f} seconds"
    part = "" if found.complete else " It was not a full audit: something was left out, or tried less often."
    return f"{'Passed' if found.ok else 'FAILED'}: the audit took {took}.{part}"


def _epsilon(claim: Guarantee) -> str:
    return "none" if claim.epsilon is None else exact_text(claim.epsilon)


def _verdict(kept: bool, finished: list[bool]) -> str:
    """What stopped on an error has shown nothing, neither that a guarantee holds nor that it is broken."""
    if kept:
        return _HOLDS
    return _STOPPED if all(finished) else _BROKEN


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.6f}"


# --- page ---------------------------------------------------------------------------------------------------------

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top; }
.verdict { padding: .6rem 1rem; border-left: .4rem solid; font-weight: 600; }
"""

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src $policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of locentropy</title>
<style>$style</style>
</head>
<body>
$body
</body>
</html>
"""


def page(found: Audit) -> str:
    """Return an audit as an HTML page."""
    body = [
        tag("h1", f"Audit of locentropy {__version__}"),
        tag("p", verdict_text(found), class_="verdict"),
        tag("h2", "What the worst neighbours cost"),
        tag(
            "p", "Computed from the integers and scales that each mechanism really uses, in both directions."
        ),
        _table(NUMERICAL, numerical_rows(found)),
        tag("h2", "What attackers could show"),
        tag("p", "Lower bounds on ε from outputs alone, each wrong with a probability of at most 1 %."),
        _table(STATISTICAL, statistical_rows(found)),
    ]
    if found.statistical:
        body.append(tag("p", power_text(found.power)))
    if found.mutation:
        body += [
            tag("h2", "Planted faults"),
            tag("p", faults_text(found)),
            _table(TRIALS, trial_rows(found)),
        ]
    return filled(_PAGE, policy=Html(policy_hash(_STYLE)), style=Html(_STYLE), body=joined(*body))


def _table(headings: Sequence[str], rows: Rows) -> Html:
    head = tag("tr", *(tag("th", heading) for heading in headings))
    body = joined(*(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")
