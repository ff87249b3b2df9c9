"""Publishing by an approved plan: options may not contradict it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from locentropy.cli.option_groups import option_name
from locentropy.core.errors import ParameterError
from locentropy.core.levels import check_levels

if TYPE_CHECKING:
    from pathlib import Path

    from locentropy.core.levels import Levels
    from locentropy.core.windows import Window
    from locentropy.ledger.rules import Account
    from locentropy.planning.plans import Plan
    from locentropy.publishing.chosen_locations import LocationsChoice

_WAYS = {
    "public-list": "a public list (--places FILE)",
    "grid": "a grid (--grid S,W,N,E --cell METRES)",
    "zones": "the zones of a map (--zones FILE --zone-id COLUMN)",
    "h3": "H3 cells (--h3 RESOLUTION --box S,W,N,E)",
    "inspire": "INSPIRE squares (--inspire SIZE --box S,W,N,E)",
    "selection": "the private selection that it describes",
    "by-mechanism": "the mechanism itself",
}


def read_plan(path: Path, name: str | None, given: dict[str, Any]) -> Plan:
    """Return the plan of a file; raise ParameterError if the options given contradict it."""
    from locentropy.mechanisms.parameters import read_parameters
    from locentropy.planning.plans import Plan

    plan = Plan.from_yaml(path)
    planned = plan.mechanism.name
    if name not in (None, planned):
        raise _contradiction(path, f"--mechanism {name}", planned)
    for key, value in read_parameters(type(plan.mechanism), given).items():
        known = getattr(plan.mechanism, key, None)
        if value != known:
            raise _contradiction(path, f"{option_name(key)} {value}", known)
    return plan


def check_places(path: Path, plan: Plan, chosen: LocationsChoice | None) -> None:
    """Raise ParameterError unless places come from where the plan says."""
    from locentropy.core.locations import Cells
    from locentropy.mechanisms.select import SelectLocations

    selection = chosen if isinstance(chosen, SelectLocations) else None
    kind = (
        "selection"
        if selection
        else chosen.kind
        if isinstance(chosen, Cells)
        else "public-list"
        if chosen
        else None
    )
    if kind is None and plan.locations not in ("selection", "by-mechanism"):
        raise ParameterError(f"{path} takes its places from {_WAYS[plan.locations]}, and none was given.")
    if selection not in (None, plan.selection) or kind not in (None, plan.locations):
        raise ParameterError(
            f"{path} takes its places from {_WAYS[plan.locations]}, and the options say otherwise. Leave them out, or "
            "have another plan approved."
        )
    if isinstance(chosen, Cells) and plan.cells not in (None, chosen.described):
        raise ParameterError(
            f"{path} is about the {plan.cells}, and the options describe the {chosen.described}. Give the options that "
            "the plan was made with, or have another plan approved."
        )


def with_columns(path: Path, plan: Plan, chosen: LocationsChoice | None) -> LocationsChoice | None:
    """Return the places with attributes and groups of the plan; raise ParameterError if the options give others."""
    from locentropy.core.locations import Cells
    from locentropy.places.public_list import PublicLocations

    if isinstance(chosen, Cells):
        return replace(chosen, attributes=plan.attributes)  # type: ignore[type-var]  # every kind is a dataclass
    if not isinstance(chosen, PublicLocations):
        return chosen or plan.selection
    if chosen.attributes and chosen.attributes != plan.attributes:
        raise _contradiction(
            path,
            f"--attribute {' --attribute '.join(chosen.attributes)}",
            ", ".join(plan.attributes) or "none",
        )
    if chosen.group not in (None, plan.group):
        raise _contradiction(path, f"--group-by {chosen.group}", plan.group or "no groups")
    given = check_levels(chosen.levels)
    if given and (given.names != plan.levels.names or not _same_parts(given, plan.levels)):
        raise _contradiction(path, f"--levels {given.written}", plan.levels.written or "no levels")
    shown = tuple(chosen.publish_columns)
    if plan.publish_columns is not None:
        if shown and {*shown} != {*plan.publish_columns}:
            raise _contradiction(
                path,
                f"--publish-column {' --publish-column '.join(shown)}",
                ", ".join(plan.publish_columns) or "none",
            )
        shown = plan.publish_columns
    return replace(
        chosen, attributes=plan.attributes, group=plan.group, levels=plan.levels, publish_columns=shown
    )


def _same_parts(given: Levels, planned: Levels) -> bool:
    """Whether the options divide ε as the plan does, or leave that to it."""
    from locentropy.privacy.guarantee import exact

    return not given.epsilons or list(map(exact, given.epsilons)) == list(map(exact, planned.epsilons))


def check_unit(path: Path, plan: Plan, unit: str, ledger: Path | None) -> None:
    """Raise ParameterError if the plan is for a ledger of another unit."""
    if ledger is not None and plan.unit != unit:
        raise ParameterError(
            f"{path} is for a ledger of the unit {plan.unit}, and {ledger} has {unit}: it guarantees something else. "
            f"Have another plan approved: locentropy plan --unit {unit}"
        )


def check_schedule(path: Path, plan: Plan, window: Window | None, account: Account | None) -> None:
    """Raise ParameterError unless a window is one period of the plan, and the ledger counts as the plan says."""
    schedule = plan.schedule
    if schedule is None:
        return
    try:
        schedule.check_window(window)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None
    if account is None or schedule.periods is None:
        return
    if account.terms.composition != schedule.composition:
        raise ParameterError(
            f"{path} is for a ledger that counts by the rule {schedule.composition}, and {account.name} counts by "
            f"{account.terms.composition}: its budget would not last for the {schedule.periods} {schedule.period}s "
            "that were planned, or last longer. Have another plan approved, or make the ledger that the plan names."
        )


def limit(path: Path, plan: Plan, given: float | None) -> float | None:
    """Return the limit of standard errors of the plan; raise ParameterError if the option gives another."""
    if given not in (None, plan.max_std_error):
        raise _contradiction(path, f"--max-std-error {given:g}", plan.max_std_error or "no limit")
    return plan.max_std_error


def agreed(path: Path, option: str, given: str | None, planned: str | None) -> str | None:
    """Return the words of the plan or of the options; raise ParameterError if both give different ones."""
    if None not in (given, planned) and given != planned:
        raise _contradiction(path, f"{option} {given!r}", repr(planned))
    return planned if given is None else given


def _contradiction(path: Path, option: str, planned: object) -> ParameterError:
    return ParameterError(
        f"{option} contradicts {path}, which says {planned}. Leave the option out, or have another plan approved."
    )
