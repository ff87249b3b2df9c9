"""Run an audit: search for the worst neighbours, attack draws and releases, plant faults."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from locentropy_lab.audit.attack_draws import Drawn, attack_on_draws
from locentropy_lab.audit.attack_releases import attack_on_releases, release_guarantee
from locentropy_lab.audit.confidence import Attack
from locentropy_lab.audit.mutation.catalogue import CATALOGUE, run_checks, try_fault
from locentropy_lab.audit.mutation.noise_faults import ONE_FIFTH, TWO_THIRDS
from locentropy_lab.audit.parallel import spread
from locentropy_lab.audit.results import FULL, Audit, Power, Statistical
from locentropy_lab.audit.search import numerical, stopped
from locentropy_lab.audit.subjects import at_defaults, subject_of, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locentropy_lab.audit.mutation.catalogue import Trial
    from locentropy_lab.audit.results import Settings
    from locentropy_lab.audit.search import Numerical
    from locentropy_lab.audit.subjects import Subject

    Progress = Callable[[str, float | None], None]


def run_audit(
    names: Sequence[str] = (), settings: Settings = FULL, progress: Progress = lambda doing, part: None
) -> Audit:
    """Audit these mechanisms, or all. Faults are planted only when all are audited."""
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
    power = _power(attacked, settings, progress)
    checks, trials = _planted(progress) if not names else ({}, ())
    seconds = time.monotonic() - began
    return Audit(settings, searched, attacked, power, checks, trials, seconds)


def searched_for(name: str, holder: Any) -> Numerical:
    """Search for the worst neighbours of a mechanism; a function of its own, so that other processes can run it."""
    return numerical(subject_of(name, holder))


def _attacked(subject: Subject, settings: Settings, progress: Progress) -> Statistical:
    drawn = _drawn(subject, settings, progress)
    on_releases, runs = _released(subject, settings, progress)
    return Statistical(subject.name, subject.guarantee, release_guarantee(subject), *drawn, on_releases, runs)


def _drawn(subject: Subject, settings: Settings, progress: Progress, fault: str | None = None) -> Drawn:
    """Attack draws. An attack that stops on an error has shown nothing: the audit goes on, and fails."""
    try:
        return attack_on_draws(
            subject,
            settings.draws if fault is None else settings.power_draws,
            processes=settings.processes,
            few=settings.runs,
            fault=fault,
            progress=lambda part: progress(f"Drawing from {_described(subject, fault)}", part),
        )
    except Exception as error:
        return Drawn(Attack(math.inf, stopped(error), 0), 0, 0.0)


def _released(
    subject: Subject, settings: Settings, progress: Progress, fault: str | None = None
) -> tuple[Attack, int]:
    """Attack whole releases, likewise."""
    try:
        return attack_on_releases(
            subject,
            settings.runs,
            processes=settings.processes,
            fault=fault,
            progress=lambda part: progress(f"Publishing with {_described(subject, fault)}", part),
        )
    except Exception as error:
        return Attack(math.inf, stopped(error), 0), 0


def _described(subject: Subject, fault: str | None) -> str:
    return subject.name if fault is None else f"{subject.name}, {fault}"


def _power(attacked: Sequence[Statistical], settings: Settings, progress: Progress) -> Power | None:
    """Attack Limit again, with less noise than its guarantee needs."""
    known = [each for each in attacked if each.name == "limit"]
    if not known:
        return None
    limit, reached = at_defaults("limit"), known[0].on_draws
    if known[0].draws < settings.power_draws:
        reached = _drawn(limit, replace(settings, draws=settings.power_draws), progress).attack
    less = _drawn(limit, settings, progress, TWO_THIRDS.name).attack
    fifth = None
    if settings.runs >= FULL.runs:  # fewer releases show nothing, however little noise there is
        fifth, _ = _released(limit, settings, progress, ONE_FIFTH.name)
    claim = float(known[0].claim.epsilon or 0)
    return Power(claim, _shown(reached), _shown(less), None if fifth is None else _shown(fifth))


def _shown(attack: Attack) -> float:
    """What an attack has shown; 0 if it stopped."""
    return attack.epsilon if attack.counted else 0.0


def _planted(progress: Progress) -> tuple[dict[str, tuple[str, ...]], tuple[Trial, ...]]:
    """Run the checks on the software as it is, then try every fault."""
    used = [fault.caught_by for fault in CATALOGUE]
    checks = run_checks(used, lambda name: progress(f"Checking: {name}", None))
    trials = []
    for number, fault in enumerate(CATALOGUE):
        progress(f"Planting: {fault.name}", number / len(CATALOGUE))
        trials.append(try_fault(fault))
    return checks, tuple(trials)
