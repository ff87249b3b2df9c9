"""Statement: everything that is said in public about a release, of which `About` holds the owner's words.

There is no field for a count, a path, a hash, a size, a date or a run time of the input, so none can be published by
mistake. What is here comes from the owner's words, from public parameters, from a random generator, or (`leans_on`,
`signal`) from noisy numbers that are published with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from datetime import date
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from locentropy.core.attributes import check_attribute_names
from locentropy.core.cell_kinds import CELL_KINDS
from locentropy.core.checks import positive_integer
from locentropy.core.errors import ParameterError
from locentropy.core.estimates import AttributeEffect, Estimand, Method
from locentropy.core.language import DEFAULT_LANGUAGE, check_language
from locentropy.core.levels import Scope, check_levels
from locentropy.core.public_columns import check_column_names
from locentropy.core.window_split import Period, split
from locentropy.core.windows import Window
from locentropy.ledger.accounts import Composition
from locentropy.privacy.guarantee import Guarantee, exact
from locentropy.privacy.units import Unit, check_unit, period_of
from locentropy.release.error_rule import check_max_std_error
from locentropy.release.signal import Signal, check_windows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.levels import LevelPart

EntropyUnit = Literal["nats", "bits"]
Sector = Literal["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]

UNSAID: Final = "not stated"
"""What is published where the owner said nothing; the page leaves it out."""

NOT_PRIVATE: Final = "NOT PRIVATE"
"""How every part of a release without a guarantee is marked."""

INFINITE: Final = "inf"
"""How the spend of a release without a guarantee is written."""

SOURCES: Final = ("public list", *CELL_KINDS, "private selection", "unprotected selection")
"""How a source of locations begins; more words may follow."""

_LONGEST: Final = 4000
_LONGEST_SHOWN: Final = 60
_MOST_PARAMETERS: Final = 100
_AMOUNT: Final = re.compile(r"[0-9]{1,200}(\.[0-9]{1,200})?(e[+-]?[0-9]{1,3})?|[0-9]{1,200}/[0-9]{1,200}")

MOST_PERIODS: Final = 2000
"""Releases of a series: five years of days."""

LONGEST_TITLE: Final = 300
"""Characters: the ledger records the title as the purpose of the spend, and takes no longer ones."""


@dataclass(frozen=True)
class About:
    """What the owner of the data says about the release; all of it is published."""

    title: str = field(
        default="Location entropy", metadata={"help": "What it is called; also noted in the ledger."}
    )
    """What it is called; the ledger records it as the purpose of the spend."""
    curator: str = field(default=UNSAID, metadata={"help": "Who answers for it."})
    """Who answers for it."""
    description: str = field(
        default="How evenly the visits of each place are spread over its visitors.",
        metadata={"help": "What it is about."},
    )
    """What it is about."""
    intended_use: str = field(default=UNSAID, metadata={"help": "What it is for."})
    """What it is for."""
    region: str = field(default=UNSAID, metadata={"help": "Which part of the world it is about."})
    """Which part of the world it is about."""
    sector: Sector | None = field(default=None, metadata={"help": f"{', '.join(get_args(Sector))}."})
    """Technology, Healthcare, Education, Government, Energy or Finance."""
    publication_date: str | None = field(
        default=None, metadata={"help": "Day of publication, such as 2026-11-15."}
    )
    """When it is published, such as 2026-11-15; None leaves it unset."""

    def __post_init__(self) -> None:
        if not isinstance(self.title, str) or len(self.title) > LONGEST_TITLE:
            raise ParameterError(
                f"must be one line of at most {LONGEST_TITLE} characters.",
                parameter="title",
                example='About(title="Map of May")',
            )
        _check_owner(self)

    def stated(self) -> dict[str, str]:
        """The words that differ from the defaults."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value != getattr(About, name)}


@dataclass(frozen=True)
class WithdrawnRelease:
    """An earlier release that its owner has withdrawn or replaced."""

    release: str
    """Its id."""
    title: str
    """What it was called."""
    why: str
    """The owner's words."""

    def __post_init__(self) -> None:
        _check_id("release", self.release)
        _check_words("title", self.title)
        _check_words("why", self.why)


@dataclass(frozen=True)
class LedgerNote:
    """What the ledger of these people said when the release was paid for. Amounts are exact, as text."""

    population: str
    """Whose budget it is, in the owner's words."""
    spend_id: str
    """The random id of the spend that paid for this release."""
    total_epsilon: str
    """ε of the whole budget."""
    total_delta: str
    """δ of the whole budget."""
    spent_epsilon: str
    """ε spent after this release, earlier ones included; `inf` once a release had no guarantee. Where ρ is counted, it
    is the plain sum, which is compared with nothing."""
    spent_delta: str
    """δ spent, likewise."""
    unit: Unit = "person"
    """Whose visits, and which of them, the ledger protects. Per period, the amounts above are those of `cell`."""
    cell: str | None = None
    """The period that this release was charged to, such as 2026-05; of several the first and the last, `2026-01 to
    2026-06`, and the amounts are the most that was charged to any."""
    composition: str = "sum"
    """How the ledger counts: plain sums, or `concentrated`, in ρ."""
    rho: str | None = None
    """ρ of the whole budget, where that is counted."""
    spent_rho: str | None = None
    """ρ spent, likewise."""
    person_epsilon: str | None = None
    """Per period: ε of the whole budget of somebody who is always in the data; the next five belong to it."""
    person_delta: str | None = None
    person_spent_epsilon: str | None = None
    person_spent_delta: str | None = None
    person_rho: str | None = None
    person_spent_rho: str | None = None
    rebuilt: bool = False
    """Whether the ledger was rebuilt from the releases that an earlier one had paid for."""
    withdrawn: tuple[WithdrawnRelease, ...] = ()
    """Releases that had been withdrawn or replaced before this one was paid for."""
    input_checked: bool = False
    """Whether ids, dates and dropped rows were compared with the exact data before this release was paid for."""

    def __post_init__(self) -> None:
        _check_words("population", self.population)
        _check_id("spend_id", self.spend_id)
        check_unit(self.unit)
        _check_choice("composition", self.composition, get_args(Composition))
        for name in ("input_checked", "rebuilt"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError("must be True or False.", parameter=name)
        if self.cell is not None:
            _check_words("cell", self.cell)
        for name in ("total_epsilon", "total_delta", "spent_epsilon", "spent_delta"):
            if (name, getattr(self, name)) != ("spent_epsilon", INFINITE):
                amount(getattr(self, name), name)
        optional = (
            "rho",
            "spent_rho",
            *(name for name in self.__dataclass_fields__ if name.startswith("person_")),
        )
        for name in optional:
            if getattr(self, name) is not None:
                amount(getattr(self, name), name)
        person = [
            getattr(self, f"person_{name}") for name in ("epsilon", "delta", "spent_epsilon", "spent_delta")
        ]
        if (period_of(self.unit) is None) != all(each is None for each in person):
            raise ParameterError(
                "A ledger with a unit per period has a budget of the person, and no other has."
            )


@dataclass(frozen=True)
class SeriesNote:
    """Which earlier releases the values lean on: a chain, in which each names the one before it."""

    series_id: str
    """The id of the first release, which is the series'."""
    number: int
    """Which release of the series this is, from 2: the first is a release of its own, and has no such note."""
    previous: str
    """The SHA-256 of the details of the release before it, which vouch for all of its files."""

    def __post_init__(self) -> None:
        _check_id("series_id", self.series_id)
        if not isinstance(self.number, int) or not 2 <= self.number <= MOST_PERIODS:
            raise ParameterError(f"The number of a release of a series must be from 2 to {MOST_PERIODS}.")
        if not isinstance(self.previous, str) or not re.fullmatch(r"[0-9a-f]{64}", self.previous):
            raise ParameterError("previous must be the SHA-256 of details.yaml, as 64 hexadecimal digits.")


@dataclass(frozen=True)
class Statement:
    """What a reader of the release is told. All of it is published, in `manifest.yaml` and `details.yaml`."""

    release_id: str
    """32 random hexadecimal digits, given by the caller; they tell nothing about anything."""
    guarantee: Guarantee
    """The guarantee of the whole release: choosing the locations and estimating."""
    mechanism: str
    """The class of the mechanism, e.g. `Limit`."""
    parameters: Mapping[str, str]
    """Its public parameters, as text."""
    method: Method
    """How the mechanism works, what it publishes, and where its guarantee is proved."""
    estimand: str
    """`bounded` or `true`: which entropy is estimated."""
    locations_source: str
    """Begins with one of `SOURCES`; of cells, their size and box follow, of zones the fingerprint of their map."""
    locations_provenance: str
    """Where the list comes from, in the owner's words."""
    title: str
    """The owner's words, as are the next four."""
    curator: str
    """Who publishes."""
    description: str
    """What the release is about."""
    intended_use: str
    """What it is meant for."""
    region: str
    """Which part of the world it is about."""
    software_version: str
    """The version of this package."""
    sector: Sector | None = None
    """One of the registry's sectors."""
    publication_date: str | None = None
    """`2026-11-15`, given by the owner, because a date taken from the clock would tell when the data was read."""
    max_users: int | None = None
    """The public bound on the number of users, if one was given."""
    ledger: LedgerNote | None = None
    """What the ledger said; None where there is no ledger."""
    tuned_unaccounted: bool = False
    """Whether the exact data was evaluated without budget, so that parameters may be tuned on it."""
    entropy_unit: EntropyUnit = "nats"
    """Of the entropy and its error."""
    expected_error: str | None = None
    """What was to be expected from public numbers alone, in words."""
    inference: str | None = None
    """The version of the mechanism's inference that computed the values; releases of version 0.1 do not say."""
    inferred_by: str | None = None
    """The version of this package that ran it."""
    refuse_empty: bool = False
    """Whether the release would have been refused if no visit were at any of the places: that it exists then tells."""
    user_column: str | None = None
    """The column whose ids are the people: who is protected; releases of version 0.1 do not say."""
    built_in: bool = True
    """Whether the mechanism comes with this package; if not, its author answers for the guarantee."""
    attributes: tuple[str, ...] = ()
    """Columns of the public list that the mechanism used, `coordinates` last; they are published."""
    leans_on: tuple[AttributeEffect, ...] = ()
    """How much the values lean on attributes, where the mechanism tells; set by `Release.of`."""
    max_std_error: float | None = None
    """In nats: places with a larger standard error have no value."""
    listed_columns: tuple[str, ...] = ()
    """Further columns of the public list, published as they are; no value leans on them. Set by `Release.of`."""
    grouped_by: str | None = None
    """The column of the public list by which places were grouped, if groups are published."""
    window: Window | None = None
    """Only visits that began in this window were read; None if all were."""
    windows: Period | None = None
    """What the window is cut into, if rows are about a place in one of several windows."""
    levels: tuple[LevelPart, ...] = ()
    """All levels of the release with what each costs, the main one first; none if there is one only. `guarantee` is
    that of all together, `mechanism` and `parameters` are those of one level."""
    level: str | None = None
    """The level that this is about."""
    outline: str | None = None
    """The background of the page's map in words, with the fingerprint of the owner's file; None if there is none."""
    series: SeriesNote | None = None
    """Earlier releases that the values lean on; None if there are none."""
    without_series: SeriesNote | None = None
    """Earlier releases that it was to go on with, and was finished without; no release can follow it."""
    signal: Signal | None = None
    """Whether the numbers of this table, added up, are more than noise; None if the mechanism does not tell, and in
    releases of earlier versions: `Release.signal` computes theirs."""
    language: str = DEFAULT_LANGUAGE
    """Of the page; all other files are in English."""

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, Guarantee):
            raise ParameterError("guarantee must be a Guarantee. For example: Guarantee.pure(0.5)")
        _check_id("release_id", self.release_id)
        for name in ("mechanism", "locations_source", "locations_provenance", "software_version"):
            _check_words(name, getattr(self, name))
        _check_owner(self)
        if self.expected_error is not None:
            _check_words("expected_error", self.expected_error, lines=True)
        for name in ("inference", "inferred_by", "user_column", "grouped_by", "outline"):
            if getattr(self, name) is not None:
                _check_words(name, getattr(self, name))
        _check_choice("estimand", self.estimand, get_args(Estimand))
        _check_choice("entropy_unit", self.entropy_unit, get_args(EntropyUnit))
        check_language(self.language)
        if not isinstance(self.method, Method):
            raise ParameterError("method must be a Method, as a mechanism has it. For example: Shares.method")
        for name in ("summary", "post_processing", "rounding", "proof"):
            _check_words(f"method.{name}", getattr(self.method, name))
        for name in ("built_in", "refuse_empty"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError("must be True or False.", parameter=name)
        if not self.locations_source.startswith(SOURCES):
            raise ParameterError(f"locations_source must begin with one of: {', '.join(SOURCES)}.")
        if self.max_users is not None:
            positive_integer("max_users", self.max_users, "max_users=1_000_000")
        if not isinstance(self.tuned_unaccounted, bool):
            raise ParameterError("tuned_unaccounted must be True or False.")
        if not isinstance(self.ledger, LedgerNote | None):
            raise ParameterError("ledger must be a LedgerNote, or None where there is no ledger.")
        if not isinstance(self.window, Window | None):
            raise ParameterError("window must be a Window, or None.")
        if not isinstance(self.signal, Signal | None):
            raise ParameterError("signal must be a Signal, or None.")
        check_windows(self.signal, () if self.windows is None else split(self.window, self.windows))
        if self.windows is not None and self.levels:
            raise ParameterError("Several windows and several levels are not published together.")
        if self.series is not None and (self.window is None or self.windows is not None or self.levels):
            raise ParameterError("A release of a series is about one window, at one level.")
        if self.series is not None and self.without_series is not None:
            raise ParameterError("A release goes on with a series, or was finished without it, and not both.")
        object.__setattr__(self, "attributes", check_attribute_names(self.attributes))
        further = check_column_names(self.listed_columns, self.attributes)
        object.__setattr__(self, "listed_columns", further)
        object.__setattr__(self, "max_std_error", check_max_std_error(self.max_std_error))
        object.__setattr__(self, "leans_on", tuple(self.leans_on))
        if not {effect.name for effect in self.leans_on} <= set(self.attributes):
            raise ParameterError("leans_on must be about attributes that were used.")
        object.__setattr__(self, "parameters", _checked_parameters(self.parameters))
        _check_parts(self)

    @property
    def part(self) -> LevelPart | None:
        """What is said of the level that this is about; None where there is one level only."""
        return next((part for part in self.levels if part.name == self.level), None)

    @property
    def label(self) -> str | None:
        """How the window is told in names of files, if there is one."""
        if self.window is None:
            return None
        return self.window.label if self.windows is None else f"{self.window.label}-by-{self.windows}"

    @property
    def private(self) -> bool:
        """Whether there is a guarantee; if not, every part of the release is marked."""
        return self.guarantee.private


def _check_parts(statement: Statement) -> None:
    """Raise unless what levels cost adds up to what is promised, and this level was measured at its own part."""
    parts = tuple(statement.levels)
    object.__setattr__(statement, "levels", parts)
    if not parts:
        if statement.level is not None:
            raise ParameterError("is that of a release with levels, and there are none.", parameter="level")
        return
    names = check_levels([part.name for part in parts]).names
    if statement.level not in names or any(part.scope not in get_args(Scope) for part in parts):
        raise ParameterError("must be one of the levels.", parameter="level")
    for part in parts:
        _check_words(f"levels[{part.name!r}]", part.measured_by)
    whole = statement.guarantee
    if (
        whole.epsilon != sum((part.epsilon for part in parts), Fraction(0))
        or whole.delta != sum((part.delta for part in parts), Fraction(0))
        or not all(part.epsilon > 0 for part in parts)
    ):
        raise ParameterError("must have parts of ε and δ that add up to the guarantee.", parameter="levels")
    own = next(part for part in parts if part.name == statement.level)
    for name, number in (("epsilon", own.epsilon), ("delta", own.delta)):
        if exact(statement.parameters.get(name, "0"), name) != number:
            raise ParameterError(
                f"{statement.level!r} was measured at another {name} than its part.", parameter="levels"
            )
    if statement.grouped_by != own.column:
        raise ParameterError("must be the column of the level.", parameter="grouped_by")


def amount(value: object, name: str) -> Fraction:
    """An ε or δ from its text; bounded, because the text may come from a file that somebody else wrote."""
    if not isinstance(value, str) or not _AMOUNT.fullmatch(value):
        raise ParameterError(f"{name} must be a number as text, such as '0.5', '1e-8' or '1/3'.")
    return exact(value, name)


def _checked_parameters(parameters: object) -> Mapping[str, str]:
    if not isinstance(parameters, dict | MappingProxyType) or len(parameters) > _MOST_PARAMETERS:
        raise ParameterError("parameters must be a dict of texts. For example: {'max_locations': '5'}")
    for name, value in parameters.items():
        if not isinstance(name, str) or not name.isidentifier() or len(name) > _MOST_PARAMETERS:
            raise ParameterError("The names of parameters must be names of fields, such as 'max_locations'.")
        _check_words(f"parameters[{name!r}]", value)
    return MappingProxyType(dict(parameters))


def _check_words(name: str, value: object, *, lines: bool = False) -> None:
    """Raise unless it is printable text of a bounded length; line breaks are for longer texts only."""
    text = value.replace("\n", " ") if lines and isinstance(value, str) else value
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST or not text.isprintable():
        kind = "printable text" if lines else "one line of printable text"
        raise ParameterError(f"must be {kind} of 1 to {_LONGEST:,} characters.", parameter=name)


def _check_owner(words: About | Statement) -> None:
    """Raise unless the owner's words can be published as they are."""
    for name in ("title", "curator", "region"):
        _check_words(name, getattr(words, name))
    for name in ("description", "intended_use"):
        _check_words(name, getattr(words, name), lines=True)
    if words.sector is not None:
        _check_choice("sector", words.sector, get_args(Sector))
    _check_date(words.publication_date)


def _check_id(name: str, value: object) -> None:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{32}", value):
        raise ParameterError(f"{name} must be 32 random hexadecimal digits. For example: {name}=new_id()")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        example = 'About(sector="Government")' if name == "sector" else None
        raise ParameterError(
            f"is not one of {', '.join(choices)}.", parameter=name, value=_clipped(value), example=example
        )


def _check_date(value: object) -> None:
    try:
        valid = value is None or (isinstance(value, str) and date.fromisoformat(value).isoformat() == value)
    except ValueError:
        valid = False
    if not valid:
        raise ParameterError(
            "is not a day.",
            parameter="publication_date",
            value=_clipped(value),
            example='About(publication_date="2026-11-15")',
        )


def _clipped(value: object) -> object:
    """The value, or its beginning: it may come from a file, and an error is a sentence."""
    text = str(value)
    return value if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
