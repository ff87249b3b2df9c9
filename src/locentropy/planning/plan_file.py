"""The plan file: YAML that one person approves and another runs.

Nothing in it is guessed: unknown keys, keys given twice, and a budget that is not what the parts cost are refused.
Scalars are read as the text they are, so that 0.1 does not become a binary fraction, nor 010 eight. Version 0.1 had
other names for some keys; they are read as well, but no file may use the old and the new name of one thing.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError
from locentropy.core.files import atomic_write
from locentropy.core.levels import check_levels
from locentropy.core.public_columns import check_publish_columns
from locentropy.core.strict_yaml import parse_mapping
from locentropy.mechanisms.parameters import read_parameters, written_parameters
from locentropy.mechanisms.registry import described, mechanism_from
from locentropy.mechanisms.select import SelectLocations
from locentropy.planning.plans import Plan
from locentropy.planning.schedule import Schedule
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.release.statement import About

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from locentropy.mechanisms.base import Mechanism

VERSION: Final = 1
LARGEST_FILE: Final = 64 * 2**10

_HEADER: Final = (
    "# A plan of locentropy: what is to be published, and what it costs. No data was read to make it.\n"
)
_ABOUT: Final = tuple(field.name for field in fields(About))
_SERIES: Final = ("periods", "epsilon", "delta", "composition")
_KEYS: Final = (
    *("version", *_ABOUT, "mechanism", "locations", "max_std_error", "unit", "period", "time_zone", "series"),
    *("expected", "budget"),
)
_OLD_KEYS: Final = {"purpose": "intended_use", "places": "locations"}
"""What version 0.1 wrote, and what it is called now."""
_SELECTION: Final = ("epsilon", "delta", "max_locations", "keep", "max_users")
_EXPECTED: Final = ("n_locations", "n_users", "users_per_location", "locations_per_user")
_OLD_EXPECTED: Final = {"locations": "n_locations", "people": "n_users"}
_USED: Final = ("attributes", "group", "levels")
"""Columns of a list that a release makes something of."""
_BUDGET: Final = ("epsilon", "delta")
_NO_BUDGET: Final = "none"


def write(plan: Plan, path: str | Path) -> None:
    """Write a plan file, which appears whole or not at all."""
    import yaml

    target = Path(path)
    text = yaml.safe_dump(_content(plan), sort_keys=False, allow_unicode=True, width=110)
    with atomic_write(target) as [part]:
        part.write_text(_HEADER + text, encoding="utf-8")


def read(path: str | Path) -> Plan:
    """Read a plan file. Every error names the file and, where there is one, the key."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ParameterError(
            f"{source}: the plan cannot be read: {error.strerror or type(error).__name__}. "
            "Make one with: locentropy plan --epsilon 1 --out plan.yaml"
        ) from None
    with _complaints(f"{source}: "):
        if len(raw) > LARGEST_FILE:
            raise ParameterError(f"larger than {LARGEST_FILE // 1024} KB, which no plan is.")
        return _plan_of(parse_mapping(raw, typed=False, max_depth=3))


def _content(plan: Plan) -> dict[str, Any]:
    name, parameters = described(plan.mechanism)
    expected: dict[str, Any] = {}
    if plan.n_locations is not None:
        expected["n_locations"] = int(plan.n_locations)
    if plan.n_users is not None:
        expected["n_users"] = int(plan.n_users)
    if plan.locations_per_user is not None:
        expected["locations_per_user"] = int(plan.locations_per_user)
    if plan.users_per_location:
        expected["users_per_location"] = [int(users) for users in plan.users_per_location]
    return {
        "version": VERSION,
        **plan.about.stated(),
        "mechanism": {"name": name, **parameters},
        "locations": {
            "kind": plan.locations,
            **({} if plan.cells is None else {"cells": plan.cells}),
            **({"attributes": list(plan.attributes)} if plan.attributes else {}),
            **({} if plan.group is None else {"group": plan.group}),
            **({"levels": _levels(plan)} if plan.levels else {}),
            **_columns(plan),
            **(written_parameters(plan.selection) if plan.selection else {}),
        },
        **({} if plan.max_std_error is None else {"max_std_error": repr(plan.max_std_error)}),
        **({} if plan.unit == "person" else {"unit": plan.unit}),
        **({} if plan.schedule is None else _series(plan.schedule)),
        **({"expected": expected} if expected else {}),
        "budget": _budget(plan),
    }


def _columns(plan: Plan) -> dict[str, list[str]]:
    """The columns to publish, also where there are none: a plan that says nothing of them is of an earlier version."""
    listed = plan.locations == "public-list" and plan.publish_columns is not None
    return {"publish_columns": list(plan.publish_columns or ())} if listed else {}


def _series(schedule: Schedule) -> dict[str, Any]:
    """The period of each release; and how many there are to be, and what all may cost together, if that is planned."""
    zone = {} if schedule.zone is None else {"time_zone": schedule.zone}
    if schedule.epsilon is None:
        return {"period": schedule.period, **zone}
    whole = {
        "periods": schedule.periods,
        "epsilon": exact_text(schedule.epsilon),
        "delta": exact_text(schedule.delta),
        "composition": schedule.composition,
    }
    return {"period": schedule.period, **zone, "series": whole}


def _schedule(content: dict[str, Any]) -> Schedule | None:
    if "period" not in content:
        if "series" in content or "time_zone" in content:
            raise ParameterError("series and time_zone belong to a period. For example: period: month")
        return None
    zone = content.get("time_zone")
    if "series" not in content:
        return Schedule(content["period"], zone=zone)
    section = _texts(_section(content, "series", _SERIES))
    missing = [name for name in _SERIES if name not in section]
    if missing:
        raise ParameterError(f"series.{missing[0]} is missing.")
    return Schedule(
        content["period"],
        _whole("periods", section["periods"]),
        exact(section["epsilon"]),
        exact(section["delta"], "delta"),
        section["composition"],
        zone,
    )


def _levels(plan: Plan) -> dict[str, str] | list[str]:
    """The part of ε of each level, if it is known: who approves the plan approves these, or else the rule."""
    if not plan.level_mechanisms:
        return list(plan.levels)
    parts = {name: each.guarantee.epsilon for name, each in plan.level_mechanisms.items()}
    return {name: exact_text(part) for name, part in parts.items() if part is not None}


def _budget(plan: Plan) -> dict[str, str]:
    guarantee = plan.guarantee
    if guarantee.epsilon is None:
        return {"epsilon": _NO_BUDGET, "delta": _NO_BUDGET}
    return {"epsilon": exact_text(guarantee.epsilon), "delta": exact_text(guarantee.delta)}


def _plan_of(content: dict[str, Any]) -> Plan:
    _check_keys("", content, _KEYS, _OLD_KEYS)
    if content.get("version") != str(VERSION):
        raise ParameterError(f"version must be {VERSION}, the only one this software knows.")
    budget = _section(content, "budget", _BUDGET)
    with _complaints("mechanism: "):
        mechanism = _mechanism(_section(content, "mechanism"))
    given = "places" if "places" in content else "locations"
    with _complaints(f"{given}: "):
        places = _section(content, given, ("kind", "cells", "publish_columns", *_USED, *_SELECTION))
        group, cells = places.pop("group", None), places.pop("cells", None)
        columns = places.pop("publish_columns", None if places.get("kind") == "public-list" else [])
        levels = places.pop("levels", {})
        kind, attributes, selection = _locations(places)
    with _complaints("expected: "):
        n_locations, n_users, each, sizes = _expected(
            _section(content, "expected", _EXPECTED, _OLD_EXPECTED) if "expected" in content else {}
        )
    words = {_OLD_KEYS.get(key, key): value for key, value in content.items()}
    about = About(**{name: words[name] for name in _ABOUT if name in words})
    limit = _real("max_std_error", content["max_std_error"]) if "max_std_error" in content else None
    plan = Plan(
        mechanism,
        kind,
        selection,
        n_locations,
        sizes,
        about,
        n_users,
        attributes,
        limit,
        each,
        group,
        unit=content.get("unit", "person"),
        levels=check_levels(levels),
        cells=cells,
        schedule=_schedule(content),
        publish_columns=None if columns is None else check_publish_columns(columns),
    )
    due = _budget(plan)
    if budget != due:
        raise ParameterError(
            f"budget must be what the parts cost, epsilon: '{due['epsilon']}' and delta: '{due['delta']}'. "
            "Was the file edited? Make it again with: locentropy plan --epsilon 1 --out plan.yaml"
        )
    return plan


def _mechanism(section: dict[str, Any]) -> Mechanism:
    name = section.pop("name", None)
    if not isinstance(name, str):
        raise ParameterError("name is missing. For example: name: shares")
    return mechanism_from(name, _texts(section))


def _locations(section: dict[str, Any]) -> tuple[Any, tuple[str, ...], SelectLocations | None]:
    """The kind and the attributes, which `Plan` checks, and the selection if there is one."""
    kind = section.pop("kind", None)
    if not isinstance(kind, str):
        raise ParameterError("kind is missing. For example: kind: public-list")
    attributes = section.pop("attributes", [])
    if not isinstance(attributes, list) or not all(isinstance(name, str) for name in attributes):
        raise ParameterError("attributes must be a list, such as [category].")
    if not section:
        return kind, tuple(attributes), None
    missing = [name for name in _SELECTION[:3] if name not in section]
    if missing:
        raise ParameterError(f"{', '.join(missing)} of the selection is missing.")
    selection = SelectLocations(**read_parameters(SelectLocations, _texts(section)))
    return kind, tuple(attributes), selection


def _expected(section: dict[str, Any]) -> tuple[int | None, int | None, int | None, tuple[int, ...]]:
    n_locations, n_users, each = (
        next((_whole(name, section[name]) for name in names if name in section), None)
        for names in (("n_locations", "locations"), ("n_users", "people"), ("locations_per_user",))
    )
    sizes = section.get("users_per_location", [])
    if not isinstance(sizes, list):
        raise ParameterError("users_per_location must be a list, such as [1, 5, 50].")
    return (
        n_locations,
        n_users,
        each,
        tuple(_whole("users_per_location", size) for size in sizes),
    )


def _section(
    content: dict[str, Any],
    key: str,
    known: tuple[str, ...] | None = None,
    old: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    section = content.get(key)
    if not isinstance(section, dict):
        raise ParameterError(f"{key} is missing, or not a mapping.")
    if known is not None:
        _check_keys(f"{key}.", section, known, old)
    return section


def _check_keys(path: str, section: dict[str, Any], known: tuple[str, ...], old: Mapping[str, str]) -> None:
    """Raise for a key that is not known, and for one that is there under its old name as well."""
    for key in section:
        if key not in known and key not in old:
            raise ParameterError(f"{path}{key[:60]} is not known here; known are {', '.join(known)}.")
        if old.get(key) in section:
            raise ParameterError(f"{path}{key} is the old name of {path}{old[key]}. Remove one of them.")


def _texts(section: dict[str, Any]) -> dict[str, Any]:
    for key, value in section.items():
        if not isinstance(value, str):
            raise ParameterError(f"{key} must be a single value.")
    return section


def _whole(name: str, value: Any) -> int:
    if not (isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 15):
        raise ParameterError(f"{name} must be a whole number. For example: {name}: 5")
    return int(value)


def _real(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number. For example: {name}: 0.5") from None


@contextmanager
def _complaints(where: str) -> Iterator[None]:
    """Add to an error where in the file it is."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{where}{error}") from None
