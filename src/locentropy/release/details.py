"""details.yaml: what the registry's fields have no place for, and the statement for machines to read back.

Reading trusts nothing: types, kinds and lengths are checked here and by `Statement`, and the size of the file before
(core/strict_yaml.py). Every problem is a ReleaseError that names the entry.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from locentropy.core.attributes import MAX_ATTRIBUTES
from locentropy.core.civil_time import read_intervals, written
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.estimates import COLUMNS, AttributeEffect, Method
from locentropy.core.language import DEFAULT_LANGUAGE
from locentropy.core.levels import MAX_LEVELS, LevelPart
from locentropy.core.window_split import MAX_WINDOWS
from locentropy.core.windows import Window
from locentropy.mechanisms.registry import built_in_class
from locentropy.privacy.guarantee import Guarantee, PublicInput, exact_text
from locentropy.privacy.units import neighbours, protects
from locentropy.release.columns import described
from locentropy.release.count_words import counts_words
from locentropy.release.error_rule import stated_in_words
from locentropy.release.manifest import (
    TUNED,
    checked_words,
    estimand_words,
    existence_words,
    ledger_words,
    series_words,
)
from locentropy.release.signal import Signal, signal_entry, signal_words
from locentropy.release.statement import (
    INFINITE,
    NOT_PRIVATE,
    LedgerNote,
    SeriesNote,
    Statement,
    WithdrawnRelease,
    amount,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT: Final = "locentropy release 1"
FURTHER: Final = "further_levels"
"""The entry about further levels: of each what the document itself says of the main one."""
_OF_LEVEL: Final = ("level", "mechanism", "locations", "table")
UNKNOWN: Final = "unknown without a ledger"
"""Whether parameters were tuned on the data, where there is no ledger to record it."""
_MOST_INPUTS: Final = 200
_MOST_WITHDRAWN: Final = 1000
_FIRST_COLUMNS: Final = {"Shares": ("std_error", "low", "high", "entropy_busy")}
"""Columns of mechanisms in version 0.1, where they were others."""
_METHOD_TEXTS: Final = ("summary", "error_bars", "post_processing", "rounding", "proof")

_OWNER: Final = ("title", "curator", "description", "intended_use", "region", "sector", "publication_date")
_SELDOM: Final = ("rebuilt", "withdrawn", "input_checked")
"""What a ledger says of few releases; the others do not have the entry."""
_LEDGER: Final = tuple(name for name in LedgerNote.__dataclass_fields__ if name not in _SELDOM)
_LATER: Final = tuple(
    name for name, field in LedgerNote.__dataclass_fields__.items() if field.default is None
)


class TableShape(NamedTuple):
    """What is said about a table: of which release or level, its columns and the number of its rows."""

    statement: Statement
    columns: list[str]
    rows: int


def details(
    statement: Statement,
    columns: list[str],
    rows: int,
    hashes: Mapping[str, str],
    further: Sequence[TableShape] = (),
) -> dict[str, Any]:
    """The document; `hashes` are the SHA-256 of the other published files, `further` the further levels."""
    marked = {} if statement.private else {"status": f"{NOT_PRIVATE}: not for publication"}
    first = TableShape(statement, columns, rows)
    return marked | {
        "format": FORMAT,
        "release_id": statement.release_id,
        "software_version": statement.software_version,
        "owner": {name: getattr(statement, name) for name in _OWNER},
        "guarantee": _guarantee(statement),
        "window": None if statement.window is None else _window(statement.window),
        **({} if statement.windows is None else {"windows": statement.windows}),
        **{
            name: _series(note, statement)
            for name in ("series", "without_series")
            if (note := getattr(statement, name)) is not None
        },
        **({} if statement.outline is None else {"outline": statement.outline}),
        **({} if statement.language == DEFAULT_LANGUAGE else {"language": statement.language}),
        **({"levels": [_part(part) for part in statement.levels]} if statement.levels else {}),
        **_level(first),
        "refuse_empty": statement.refuse_empty,
        "existence_in_words": existence_words(statement),
        "ledger": None if statement.ledger is None else _ledger(statement.ledger),
        "ledger_in_words": ledger_words(statement),
        **({"checked_in_words": words} if (words := checked_words(statement)) else {}),
        "table": _table(first),
        **({FURTHER: [{**_level(each), "table": _table(each)} for each in further]} if further else {}),
        "files": dict(hashes),
    }


def _ledger(note: LedgerNote) -> dict[str, Any]:
    seldom = {name: value for name in _SELDOM if (value := getattr(note, name))}
    if note.withdrawn:
        seldom["withdrawn"] = [asdict(each) for each in note.withdrawn]
    return {name: getattr(note, name) for name in _LEDGER} | seldom


def _series(note: SeriesNote, statement: Statement) -> dict[str, Any]:
    return {**asdict(note), "in_words": series_words(statement)}


def _series_in(entry: dict[str, Any] | None) -> SeriesNote | None:
    if entry is None:
        return None
    return SeriesNote(get(entry, "series_id", str), get(entry, "number", int), get(entry, "previous", str))


def _part(part: LevelPart) -> dict[str, str]:
    return {
        "name": part.name,
        "consists_of": part.scope,
        "epsilon": exact_text(part.epsilon),
        "delta": exact_text(part.delta),
        "measured_by": part.measured_by,
    }


def _level(shape: TableShape) -> dict[str, Any]:
    """What is said of the mechanism and the places of one level; a release without levels is one level."""
    statement = shape.statement
    return {
        **({} if statement.level is None else {"level": statement.level}),
        "mechanism": {
            "name": statement.mechanism,
            "parameters": dict(statement.parameters),
            "max_users": statement.max_users,
            "built_in": statement.built_in,
            "method": {**asdict(statement.method), "columns": list(statement.method.columns)},
            "inference": statement.inference,
            "inferred_by": statement.inferred_by,
            "estimand": statement.estimand,
            "estimand_in_words": estimand_words(statement),
            **({"counts_in_words": words} if (words := counts_words(statement)) else {}),
            "expected_error": statement.expected_error,
            "leans_on": [
                {"attribute": effect.name, "explained": effect.explained} for effect in statement.leans_on
            ],
            "tuned_unaccounted": _tuned(statement),
            **({"tuned_in_words": TUNED} if statement.tuned_unaccounted else {}),
        },
        "locations": {
            "source": statement.locations_source,
            "provenance": statement.locations_provenance,
            "attributes": list(statement.attributes),
            "columns": list(statement.listed_columns),
            "grouped_by": statement.grouped_by,
        },
    }


def _table(shape: TableShape) -> dict[str, Any]:
    statement = shape.statement
    return {
        "rows": shape.rows,
        "unit": statement.entropy_unit,
        "max_std_error": statement.max_std_error,
        **(
            {}
            if statement.signal is None
            else {"signal": signal_entry(statement.signal) | _verdict(statement)}
        ),
        **({"rule_in_words": rule} if (rule := stated_in_words(statement)) else {}),
        "columns": {name: described(name, statement) for name in shape.columns},
    }


def _verdict(statement: Statement) -> dict[str, str]:
    words = signal_words(statement.signal, statement)
    return {"in_words": words} if words else {}


def _signal_in(table: dict[str, Any]) -> Signal | None:
    entry = get({"signal": None} | table, "signal", dict | None)
    if entry is None:
        return None
    parts = get({"windows": []} | entry, "windows", list)
    if len(parts) > MAX_WINDOWS or not all(
        isinstance(part, dict) and "windows" not in part for part in parts
    ):
        raise ReleaseError("its entry 'signal' is not what it should be")
    windows = tuple(_signal_in({"signal": part}) for part in parts)
    value, most, noise = (get(entry, name, float) for name in ("value", "threshold", "deviation"))
    return Signal(
        get(entry, "of", str), value, noise, most, tuple(each for each in windows if each is not None)
    )


def _tuned(statement: Statement) -> bool | str:
    """Whether parameters may be tuned on the data: only a ledger that records no evaluation can say no."""
    if statement.ledger is None and not statement.tuned_unaccounted:
        return UNKNOWN
    return statement.tuned_unaccounted


def _guarantee(statement: Statement) -> dict[str, Any]:
    guarantee = statement.guarantee
    return {
        "kind": guarantee.kind,
        "epsilon": INFINITE if guarantee.epsilon is None else exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        **({} if guarantee.rho is None else _concentrated(guarantee)),
        "unit": guarantee.unit,
        "protects": protects(guarantee.unit) if guarantee.private else "nobody",
        "user_column": statement.user_column,
        "strength": guarantee.strength,
        "neighbours": neighbours(guarantee.unit),
        "for_one_person": guarantee.explain(),
        "for_two_records_of_one_person": _replaced(guarantee.for_replaced_record()),
        "for_others": guarantee.explain_groups(),
        "reasons": list(guarantee.reasons),
        "public_inputs": [{"name": public.name, "value": public.value} for public in guarantee.public_inputs],
    }


def _concentrated(guarantee: Guarantee) -> dict[str, str]:
    rho, delta = guarantee.concentrated_cost
    return {"rho": exact_text(rho), "rho_delta": exact_text(delta)}


def _window(window: Window) -> dict[str, Any]:
    """The window as it was written, and the very instants that were read."""
    return {
        "text": window.text,
        "zone": window.zone,
        "weekdays": window.weekdays,
        "hours": window.hours,
        "start": window.start.isoformat(),
        "end": window.end.isoformat(),
        "instants": written(window.instants),
        "in_words": window.in_words(),
    }


def _window_in(document: dict[str, Any] | None) -> Window | None:
    """The window, with the instants that were read if those of the time zone data are others by now."""
    if document is None:
        return None
    window = Window(
        get(document, "text", str),
        zone=get(document, "zone", str),
        weekdays=get(document, "weekdays", str | None),
        hours=get(document, "hours", str | None),
    )
    try:
        instants = read_intervals(get(document, "instants", str), window.zone)
    except ValueError:
        raise ReleaseError("its entry 'instants' is not what it should be") from None
    return window if window.instants == instants else replace(window, within=instants)


def _replaced(guarantee: Guarantee) -> dict[str, str]:
    """ε and δ between two possible records of one person."""
    return {
        "epsilon": INFINITE if guarantee.epsilon is None else exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
    }


def level_documents(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said of each further level, in the shape of a document about it alone."""
    entries = get({FURTHER: []} | document, FURTHER, list)
    if len(entries) >= MAX_LEVELS or not all(
        isinstance(entry, dict) and set(entry) == set(_OF_LEVEL) for entry in entries
    ):
        raise ReleaseError(f"its entry '{FURTHER}' is not what it should be")
    return [
        document | {key: get(entry, key, str if key == "level" else dict) for key in _OF_LEVEL}
        for entry in entries
    ]


def statement_in(document: dict[str, Any]) -> Statement:
    """The statement that a document holds, or a ReleaseError that names what is wrong."""
    if document.get("format") != FORMAT:
        raise ReleaseError(f"its format is not '{FORMAT}'; a newer version of locentropy may read it")
    mechanism, place = get(document, "mechanism", dict), get(document, "locations", dict)
    owner, ledger = get(document, "owner", dict), get(document, "ledger", dict | None)
    try:
        return Statement(
            release_id=get(document, "release_id", str),
            software_version=get(document, "software_version", str),
            guarantee=_guarantee_in(get(document, "guarantee", dict)),
            mechanism=get(mechanism, "name", str),
            parameters=get(mechanism, "parameters", dict),
            max_users=get(mechanism, "max_users", int | None),
            estimand=get(mechanism, "estimand", str),
            expected_error=get(mechanism, "expected_error", str | None),
            tuned_unaccounted=mechanism.get("tuned_unaccounted") != UNKNOWN
            and get(mechanism, "tuned_unaccounted", bool),
            locations_source=get(place, "source", str),
            locations_provenance=get(place, "provenance", str),
            ledger=None if ledger is None else LedgerNote(**_ledger_in(ledger)),
            **_method_in(mechanism),
            # Versions that do not say always refused to publish about places without a visit.
            refuse_empty=get({"refuse_empty": True} | document, "refuse_empty", bool),
            user_column=get(
                {"user_column": None} | get(document, "guarantee", dict), "user_column", str | None
            ),
            inference=get({"inference": None} | mechanism, "inference", str | None),
            inferred_by=get({"inferred_by": None} | mechanism, "inferred_by", str | None),
            **_later_entries(document),
            entropy_unit=get(get(document, "table", dict), "unit", str),
            **{name: get(owner, name, str | None) for name in _OWNER},
        )
    except ParameterError as error:
        raise ReleaseError(str(error)) from None


def _ledger_in(ledger: dict[str, Any]) -> dict[str, Any]:
    """What the ledger said; releases of earlier versions were all paid for by plain sums for the person."""
    later = {"unit": "person", "composition": "sum"}
    said = {
        name: get({name: None} | later | ledger, name, str | None if name in _LATER else str)
        for name in _LEDGER
    }
    for name in ("rebuilt", "input_checked"):
        said[name] = get({name: False} | ledger, name, bool)
    withdrawn = get({"withdrawn": []} | ledger, "withdrawn", list)
    if len(withdrawn) > _MOST_WITHDRAWN or not all(isinstance(each, dict) for each in withdrawn):
        raise ReleaseError("its entry 'withdrawn' is not what it should be")
    said["withdrawn"] = tuple(
        WithdrawnRelease(*(get(each, name, str) for name in ("release", "title", "why")))
        for each in withdrawn
    )
    return said


def _later_entries(document: dict[str, Any]) -> dict[str, Any]:
    """Columns of the list, groups, and the rule for uncertain rows, which releases of earlier versions do not have."""
    earlier: dict[str, Any] = {"attributes": [], "columns": [], "grouped_by": None}
    place = earlier | get(document, "locations", dict)
    effects = get({"leans_on": []} | get(document, "mechanism", dict), "leans_on", list)
    if len(effects) > MAX_ATTRIBUTES or not all(isinstance(effect, dict) for effect in effects):
        raise ReleaseError("its entry 'leans_on' is not what it should be")
    limit = get({"max_std_error": None} | get(document, "table", dict), "max_std_error", float | int | None)
    parts = get({"levels": []} | document, "levels", list)
    if len(parts) > MAX_LEVELS or not all(isinstance(part, dict) for part in parts):
        raise ReleaseError("its entry 'levels' is not what it should be")
    return {
        "levels": tuple(map(_part_in, parts)),
        "level": get({"level": None} | document, "level", str | None),
        "attributes": get(place, "attributes", list),
        "listed_columns": get(place, "columns", list),
        "grouped_by": get(place, "grouped_by", str | None),
        "leans_on": tuple(
            AttributeEffect(get(effect, "attribute", str), get(effect, "explained", float))
            for effect in effects
        ),
        "max_std_error": limit,
        "signal": _signal_in(get(document, "table", dict)),
        **{
            name: _series_in(get({name: None} | document, name, dict | None))
            for name in ("series", "without_series")
        },
        "window": _window_in(get({"window": None} | document, "window", dict | None)),
        "windows": get({"windows": None} | document, "windows", str | None),
        "outline": get({"outline": None} | document, "outline", str | None),
        # Pages were in English before there was a choice.
        "language": get({"language": DEFAULT_LANGUAGE} | document, "language", str),
    }


def _part_in(entry: dict[str, Any]) -> LevelPart:
    epsilon, delta = (amount(get(entry, name, str), name) for name in ("epsilon", "delta"))
    name, scope, words = (get(entry, key, str) for key in ("name", "consists_of", "measured_by"))
    return LevelPart(name, scope, epsilon, delta, words)  # the scope is checked by Statement


def _method_in(mechanism: dict[str, Any]) -> dict[str, Any]:
    """How the mechanism works, and whether it is built in. Releases of version 0.1 say neither: all theirs are."""
    if "method" not in mechanism and "built_in" not in mechanism:
        name = get(mechanism, "name", str)
        kind = built_in_class(name)
        if kind is None:
            raise ReleaseError("its mechanism is not known, and its entry 'method' is missing")
        columns = _FIRST_COLUMNS.get(name, kind.method.columns)
        return {"method": replace(kind.method, columns=columns), "built_in": True}
    method = get(mechanism, "method", dict)
    columns = get(method, "columns", list)
    if len(columns) > len(COLUMNS) or not all(isinstance(each, str) for each in columns):
        raise ReleaseError("its entry 'columns' is missing or not what it should be")
    texts = {name: get(method, name, str) for name in _METHOD_TEXTS}
    return {"method": Method(columns=tuple(columns), **texts), "built_in": get(mechanism, "built_in", bool)}


def _guarantee_in(document: dict[str, Any]) -> Guarantee:
    epsilon, delta = get(document, "epsilon", str), get(document, "delta", str)
    inputs = [
        get({"public_inputs": entry}, "public_inputs", dict) for entry in get(document, "public_inputs", list)
    ]
    reasons = get(document, "reasons", list)
    if len(inputs) > _MOST_INPUTS or not all(isinstance(reason, str) for reason in reasons):
        raise ReleaseError("its entry 'guarantee' is not what it should be")
    guarantee = Guarantee(
        None if epsilon == INFINITE else amount(epsilon, "epsilon"),
        Fraction(amount(delta, "delta")),
        tuple(PublicInput(get(entry, "name", str), get(entry, "value", str)) for entry in inputs),
        tuple(reasons),
    )
    if "rho" in document:
        rho, rho_delta = (amount(get(document, name, str), name) for name in ("rho", "rho_delta"))
        guarantee = replace(guarantee, rho=Fraction(rho), rho_delta=Fraction(rho_delta))
    guarantee = guarantee.for_unit(get({"unit": "person"} | document, "unit", str))
    if guarantee.kind != document.get("kind"):
        raise ReleaseError("its entry 'kind' does not fit its ε and δ")
    return guarantee


def get(mapping: dict[Any, Any], key: str, kind: Any) -> Any:
    """The value of a key; raises ReleaseError unless it is there and of a type."""
    value = mapping.get(key)
    if key not in mapping or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ReleaseError(f"its entry '{key}' is missing or not what it should be")
    return value
