"""The plan file: YAML that one person approves and another runs.

Nothing in it is guessed: keys that are not known, keys given twice, and a budget that is not what the parts cost are
refused. Scalars are read as the text they are, so that no 0.1 turns into a binary fraction and no 010 into eight.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError
from locentropy.core.files import atomic_write
from locentropy.core.strict_yaml import parsed
from locentropy.mechanisms.parameters import read_parameters, written_parameters
from locentropy.mechanisms.registry import described, mechanism_from
from locentropy.mechanisms.select import SelectLocations
from locentropy.planning.plans import Plan
from locentropy.privacy.guarantee import exact_text
from locentropy.release.statement import About

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locentropy.mechanisms.base import Mechanism

VERSION: Final = 1
LARGEST_FILE: Final = 64 * 2**10

_HEADER: Final = (
    "# A plan of locentropy: what is to be published, and what it costs. No data was read to make it.\n"
)
_ABOUT: Final = tuple(field.name for field in fields(About))
_OLD_ABOUT: Final = {"purpose": "intended_use"}
"""Keys of plan files that earlier versions wrote, and what they are called now."""
_KEYS: Final = ("version", *_ABOUT, *_OLD_ABOUT, "mechanism", "locations", "places", "expected", "budget")
_SELECTION: Final = ("epsilon", "delta", "max_locations", "keep")
_EXPECTED: Final = ("n_locations", "n_users", "users_per_location", "locations", "people")
"""The last two are what earlier versions called the first two."""
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
    """The plan of a plan file. Every complaint names the file and, where there is one, the key."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ParameterError(
            f"{source}: the plan cannot be read: {error.strerror or type(error).__name__}. "
            "Make one with: locentropy plan … --out plan.yaml"
        ) from None
    with _complaints(f"{source}: "):
        if len(raw) > LARGEST_FILE:
            raise ParameterError(f"larger than {LARGEST_FILE // 1024} KB, which no plan is.")
        return _plan_of(parsed(raw))


def _content(plan: Plan) -> dict[str, Any]:
    name, parameters = described(plan.mechanism)
    expected: dict[str, Any] = {}
    if plan.n_locations is not None:
        expected["n_locations"] = int(plan.n_locations)
    if plan.n_users is not None:
        expected["n_users"] = int(plan.n_users)
    if plan.users_per_location:
        expected["users_per_location"] = [int(users) for users in plan.users_per_location]
    return {
        "version": VERSION,
        **plan.about.stated(),
        "mechanism": {"name": name, **parameters},
        "locations": {
            "kind": plan.locations,
            **(written_parameters(plan.selection) if plan.selection else {}),
        },
        **({"expected": expected} if expected else {}),
        "budget": _budget(plan),
    }


def _budget(plan: Plan) -> dict[str, str]:
    promise = plan.guarantee
    if promise.epsilon is None:
        return {"epsilon": _NO_BUDGET, "delta": _NO_BUDGET}
    return {"epsilon": exact_text(promise.epsilon), "delta": exact_text(promise.delta)}


def _plan_of(content: dict[str, Any]) -> Plan:
    _refuse_unknown("", content, _KEYS)
    if content.get("version") != str(VERSION):
        raise ParameterError(f"version must be {VERSION}, the only one this software knows.")
    budget = _section(content, "budget", _BUDGET)
    with _complaints("mechanism: "):
        mechanism = _mechanism(_section(content, "mechanism"))
    given = "places" if "places" in content and "locations" not in content else "locations"
    with _complaints(f"{given}: "):
        kind, selection = _locations(_section(content, given, ("kind", *_SELECTION)))
    with _complaints("expected: "):
        n_locations, n_users, sizes = _expected(
            _section(content, "expected", _EXPECTED) if "expected" in content else {}
        )
    about = About(
        **{_OLD_ABOUT.get(key, key): content[key] for key in (*_OLD_ABOUT, *_ABOUT) if key in content}
    )
    plan = Plan(mechanism, kind, selection, n_locations, sizes, about, n_users)
    due = _budget(plan)
    if budget != due:
        raise ParameterError(
            f"budget must be what the parts cost, epsilon: '{due['epsilon']}' and delta: '{due['delta']}'. "
            "Was the file edited? Make it again with: locentropy plan … --out plan.yaml"
        )
    return plan


def _mechanism(section: dict[str, Any]) -> Mechanism:
    name = section.pop("name", None)
    if not isinstance(name, str):
        raise ParameterError("name is missing. For example: name: shares")
    return mechanism_from(name, _texts(section))


def _locations(section: dict[str, Any]) -> tuple[Any, SelectLocations | None]:
    """The kind, which `Plan` checks, and the selection if there is one."""
    kind = section.pop("kind", None)
    if not section:
        return kind, None
    missing = [name for name in _SELECTION[:3] if name not in section]
    if missing:
        raise ParameterError(f"{', '.join(missing)} of the selection is missing.")
    return kind, SelectLocations(**read_parameters(SelectLocations, _texts(section)))


def _expected(section: dict[str, Any]) -> tuple[int | None, int | None, tuple[int, ...]]:
    n_locations, n_users = (
        next((_whole(name, section[name]) for name in names if section.get(name) is not None), None)
        for names in (("n_locations", "locations"), ("n_users", "people"))
    )
    sizes = section.get("users_per_location", [])
    if not isinstance(sizes, list):
        raise ParameterError("users_per_location must be a list, such as [1, 5, 50].")
    return (
        n_locations,
        n_users,
        tuple(_whole("users_per_location", size) for size in sizes),
    )


def _section(content: dict[str, Any], key: str, known: Iterable[str] | None = None) -> dict[str, Any]:
    section = content.get(key)
    if not isinstance(section, dict):
        raise ParameterError(f"{key} is missing, or not a mapping.")
    if known is not None:
        _refuse_unknown(f"{key}.", section, known)
    return section


def _refuse_unknown(path: str, section: dict[str, Any], known: Iterable[str]) -> None:
    names = tuple(known)
    for key in section:
        if key not in names:
            raise ParameterError(f"{path}{key[:60]} is not known here; known are {', '.join(names)}.")


def _texts(section: dict[str, Any]) -> dict[str, Any]:
    for key, value in section.items():
        if not isinstance(value, str):
            raise ParameterError(f"{key} must be a single value.")
    return section


def _whole(name: str, value: Any) -> int:
    if not (isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 15):
        raise ParameterError(f"{name} must be a whole number. For example: {name}: 5")
    return int(value)


@contextmanager
def _complaints(where: str) -> Iterator[None]:
    """Say where in the file it is that something is wrong."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{where}{error}") from None
