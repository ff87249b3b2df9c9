"""An audit from start to end: search, attack, plant."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from locentropy_lab.audit.mutation.faults import CATALOGUE
from locentropy_lab.audit.mutation.faults.of_noise import ONE_FIFTH, TWO_THIRDS
from locentropy_lab.audit.mutation.trying import sound, try_fault
from locentropy_lab.audit.numerical.search import numerical, stopped
from locentropy_lab.audit.outcome import FULL, Audit, Statistical, Teeth
from locentropy_lab.audit.spreading import spread
from locentropy_lab.audit.statistical.confidence import Attack
from locentropy_lab.audit.statistical.draws import Drawn, attack_on_draws
from locentropy_lab.audit.statistical.releases import attack_on_releases, promised
from locentropy_lab.audit.subjects import at_defaults, subject_of, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locentropy_lab.audit.mutation.trying import Tried
    from locentropy_lab.audit.numerical.search import Numerical
    from locentropy_lab.audit.outcome import Settings
    from locentropy_lab.audit.subjects import Subject

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
    drawn = _drawn(subject, settings, progress)
    on_releases, runs = _released(subject, settings, progress)
    return Statistical(subject.name, subject.guarantee, promised(subject), *drawn, on_releases, runs)


def _drawn(subject: Subject, settings: Settings, progress: Progress, fault: str | None = None) -> Drawn:
    """An attack on draws. One that stops has shown nothing, and the audit fails, but goes on."""
    try:
        return attack_on_draws(
            subject,
            settings.draws if fault is None else settings.teeth,
            processes=settings.processes,
            few=settings.runs,
            fault=fault,
            progress=lambda part: progress(f"Drawing from {_told(subject, fault)}", part),
        )
    except Exception as error:
        return Drawn(Attack(math.inf, stopped(error), 0), 0, 0.0)


def _released(
    subject: Subject, settings: Settings, progress: Progress, fault: str | None = None
) -> tuple[Attack, int]:
    """The same for whole releases."""
    try:
        return attack_on_releases(
            subject,
            settings.runs,
            processes=settings.processes,
            fault=fault,
            progress=lambda part: progress(f"Publishing with {_told(subject, fault)}", part),
        )
    except Exception as error:
        return Attack(math.inf, stopped(error), 0), 0


def _told(subject: Subject, fault: str | None) -> str:
    return subject.name if fault is None else f"{subject.name}, {fault}"


def _teeth(attacked: Sequence[Statistical], settings: Settings, progress: Progress) -> Teeth | None:
    """The attacks on Limit again, with less noise than it promises."""
    known = [each for each in attacked if each.name == "limit"]
    if not known:
        return None
    limit, reached = at_defaults("limit"), known[0].on_draws
    if known[0].draws < settings.teeth:
        reached = _drawn(limit, replace(settings, draws=settings.teeth), progress).attack
    less = _drawn(limit, settings, progress, TWO_THIRDS.name).attack
    fifth = None
    if settings.runs >= FULL.runs:  # fewer releases show nothing, however little noise there is
        fifth, _ = _released(limit, settings, progress, ONE_FIFTH.name)
    claim = float(known[0].claim.epsilon or 0)
    return Teeth(claim, _shown(reached), _shown(less), None if fifth is None else _shown(fifth))


def _shown(attack: Attack) -> float:
    """What an attack has shown; nothing, if it stopped."""
    return attack.epsilon if attack.counted else 0.0


def _planted(progress: Progress) -> tuple[dict[str, tuple[str, ...]], tuple[Tried, ...]]:
    """The checks on the software as it is, and then every fault."""
    used = [fault.caught_by for fault in CATALOGUE]
    checks = sound(used, lambda name: progress(f"Checking: {name}", None))
    tried = []
    for number, fault in enumerate(CATALOGUE):
        progress(f"Planting: {fault.name}", number / len(CATALOGUE))
        tried.append(try_fault(fault))
    return checks, tuple(tried)
