"""An audit in tables: the same rows on the screen, on the page and in the documentation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from locentropy.privacy.guarantee import exact_text
from locentropy_lab.audit.outcome import within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from locentropy.privacy.guarantee import Guarantee
    from locentropy_lab.audit.mutation.planting import Fault
    from locentropy_lab.audit.mutation.trying import Tried
    from locentropy_lab.audit.numerical.search import Numerical
    from locentropy_lab.audit.outcome import Audit, Teeth
    from locentropy_lab.audit.statistical.confidence import Attack

Rows = list[tuple[str, ...]]

NUMERICAL: Final = ("mechanism", "promised ε", "δ", "most found", "by", "verdict")
STATISTICAL: Final = (
    "mechanism",
    "promised ε",
    "shown by draws",
    "draws",
    "shown by releases",
    "releases",
    "to expect of as few draws",
    "verdict",
)
FAULTS: Final = ("fault", "what it would do", "caught by")
TRIED: Final = (*FAULTS, "what it said")
SEEN: Final = ("fault", "check", "")

_HOLDS, _BROKEN, _NONE, _STOPPED = "holds", "BROKEN", "promises nothing", "NOT FINISHED"


def numerical_rows(found: Audit) -> Rows:
    """What the worst neighbours cost."""
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
    """What attackers could show."""
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


def told_teeth(teeth: Teeth | None) -> str:
    """Whether the attacks would have seen a fault."""
    if teeth is None:
        return "Whether the attacks have teeth was not tried: that is done with Limit."
    releases = (
        f", whole releases with a fifth of it ε ≥ {teeth.on_releases:.3f}"
        if teeth.on_releases is not None
        else ""
    )
    return (
        f"The attack on Limit shows {teeth.reached / teeth.claim:.0%} of what is promised; with two thirds of the "
        f"noise it shows ε ≥ {teeth.with_less_noise:.3f}{releases}, "
        + ("more than promised: it has teeth." if teeth.sharp else "which is NOT enough to see a fault.")
    )


def fault_rows(faults: Iterable[Fault]) -> Rows:
    """The catalogue."""
    return [(each.name, each.why, each.caught_by) for each in faults]


def tried_rows(found: Audit) -> Rows:
    """The catalogue, and what the checks said."""
    return [(*fault_rows([each.fault])[0], _fate(each, each.seen[:1])) for each in found.mutation]


def seen_rows(found: Audit) -> Rows:
    """The same in short."""
    return [(each.fault.name, each.fault.caught_by, _fate(each, ("caught",))) for each in found.mutation]


def _fate(each: Tried, caught: tuple[str, ...]) -> str:
    return caught[0] if each.caught else f"NOT CAUGHT {each.broken}".strip()


def told_faults(found: Audit) -> str:
    """How many were caught."""
    caught = sum(each.caught for each in found.mutation)
    wrong = [f"{name}: {said[0]}" for name, said in found.checks.items() if said]
    alarm = f" Without any fault these checks complain: {'; '.join(wrong)}." if wrong else ""
    return (
        f"{caught} of {len(found.mutation)} planted faults were caught, each by the check that is named for it; "
        f"{len(found.checks) - len(wrong)} of {len(found.checks)} checks find nothing wrong without a fault.{alarm}"
    )


def told_verdict(found: Audit) -> str:
    """All in one sentence."""
    took = f"{found.seconds / 60:.0f} minutes" if found.seconds >= 90 else f"{found.seconds:.0f} seconds"
    part = "" if found.complete else " It was not a full audit: something was left out, or tried less often."
    return f"{'Passed' if found.ok else 'FAILED'}: the audit took {took}.{part}"


def _epsilon(claim: Guarantee) -> str:
    return "none" if claim.epsilon is None else exact_text(claim.epsilon)


def _verdict(kept: bool, finished: list[bool]) -> str:
    """What stopped half-way has shown nothing, neither that a promise holds nor that it is broken."""
    if kept:
        return _HOLDS
    return _STOPPED if all(finished) else _BROKEN


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.6f}"
