"""An audit from start to end: search, attack, plant."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from locentropy.audit.mutation.faults import CATALOGUE
from locentropy.audit.mutation.faults.of_noise import TWO_THIRDS
from locentropy.audit.mutation.trying import sound, try_fault
from locentropy.audit.numerical.search import numerical
from locentropy.audit.outcome import FULL, Audit, Statistical, Teeth
from locentropy.audit.spreading import spread
from locentropy.audit.statistical.draws import attack_on_draws
from locentropy.audit.statistical.releases import attack_on_releases, promised
from locentropy.audit.subjects import at_defaults, subject_of, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locentropy.audit.mutation.trying import Tried
    from locentropy.audit.numerical.search import Numerical
    from locentropy.audit.outcome import Settings
    from locentropy.audit.subjects import Subject

    Progress = Callable[[str, float | None], None]


def audit(
    names: Sequence[str] = (), settings: Settings = FULL, progress: Progress = lambda doing, part: None
) -> Audit:
    """Audit these mechanisms, or all; the faults are those of the whole software, and planted when all are audited."""
    began = time.monotonic()
    chosen = subjects(names)
    searched = tuple(
        spread(
            searched_for,
            [(each.name, each.holder) for each in chosen],
            settings.processes,
            lambda part: progress("Searching the worst neighbours", part),
        )
    )
    attacked = tuple(_attacked(each, settings, progress) for each in chosen if each.guarantee.private)
    teeth = _teeth(attacked, settings, progress)
    checks, tried = _planted(progress) if not names else ({}, ())
    seconds = time.monotonic() - began
    return Audit(settings, searched, attacked, teeth, checks, tried, seconds)


def searched_for(name: str, holder: Any) -> Numerical:
    """What the worst neighbours of a mechanism cost."""
    return numerical(subject_of(name, holder))


def _attacked(subject: Subject, settings: Settings, progress: Progress) -> Statistical:
    name = subject.name
    drawn = attack_on_draws(
        subject,
        settings.draws,
        processes=settings.processes,
        few=settings.runs,
        progress=lambda part: progress(f"Drawing from {name}", part),
    )
    on_releases, runs = attack_on_releases(
        subject,
        settings.runs,
        processes=settings.processes,
        progress=lambda part: progress(f"Publishing with {name}", part),
    )
    return Statistical(name, subject.guarantee, promised(subject), *drawn, on_releases, runs)


def _teeth(attacked: Sequence[Statistical], settings: Settings, progress: Progress) -> Teeth | None:
    """The attack on Limit again, with two thirds of its noise."""
    known = [each for each in attacked if each.name == "limit"]
    if not known:
        return None

    def shown(doing: str, processes: int) -> float:
        found = attack_on_draws(
            at_defaults("limit"),
            settings.teeth,
            processes=processes,
            progress=lambda part: progress(doing, part),
        )
        return found.attack.epsilon

    enough = known[0].draws >= settings.teeth
    reached = known[0].on_draws.epsilon if enough else shown("Drawing more from limit", settings.processes)
    with TWO_THIRDS.planted():
        less = shown("Drawing from limit with too little noise", 1)  # here, where the fault is planted
    return Teeth(float(known[0].claim.epsilon or 0), reached, less)


def _planted(progress: Progress) -> tuple[dict[str, tuple[str, ...]], tuple[Tried, ...]]:
    """The checks on the software as it is, and then every fault."""
    used = [fault.caught_by for fault in CATALOGUE]
    checks = sound(used, lambda name: progress(f"Checking: {name}", None))
    tried = []
    for number, fault in enumerate(CATALOGUE):
        progress(f"Planting: {fault.name}", number / len(CATALOGUE))
        tried.append(try_fault(fault))
    return checks, tuple(tried)
