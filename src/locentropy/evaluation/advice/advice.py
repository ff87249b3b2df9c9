"""Advice: a mechanism with its parameters, why, what error to expect, and what else could be used."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from locentropy.core.html import joined, tag
from locentropy.mechanisms.parameters import read_parameters
from locentropy.mechanisms.registry import mechanism_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.evaluation.advice.density import Density
    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.parameters import Value
    from locentropy.mechanisms.select import SelectLocations
    from locentropy.mechanisms.survey import Activity
    from locentropy.planning.level_outlook import LevelOutlook

Target = Literal["true", "bounded"]

LIST_OPTIONS = ("--places", "places.csv")
"""Options that name the places in a command, unless others are given."""


@dataclass(frozen=True)
class Choice:
    """A mechanism by name, with its parameters as they are written, and the selection before it, if any."""

    name: str
    parameters: Mapping[str, Value]
    selection: Mapping[str, Value] | None = None

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism itself."""
        return mechanism_from(self.name, self.parameters)

    @property
    def places(self) -> SelectLocations | None:
        """The private selection of places, where there is no list."""
        from locentropy.mechanisms.select import SelectLocations

        return (
            None
            if self.selection is None
            else SelectLocations(**read_parameters(SelectLocations, self.selection))
        )

    @property
    def options(self) -> list[str]:
        """Its options on the command line."""
        words = ["--mechanism", self.name]
        for prefix, given in (("", self.parameters), ("select-", self.selection or {})):
            for key, value in given.items():
                words += [f"--{prefix}{key.replace('_', '-')}", str(value)]
        return words


@dataclass(frozen=True)
class Alternative:
    """Another choice, and when it would be the better one."""

    choice: Choice
    when: str


@dataclass(frozen=True)
class Advice:
    """What to use, and why. It depends on visits only through an `Activity` that was paid for."""

    choice: Choice
    """The recommendation."""
    estimand: Target
    """Which entropy it estimates: the true one, or that of visits after bounding every user."""
    reasons: tuple[str, ...]
    """Why this mechanism and these parameters."""
    expected: tuple[str, ...]
    """What error to expect."""
    expected_range: tuple[float, float] | None
    """About the least and the largest typical error, in nats; None if unknown."""
    density: Density | None
    """The paper's dense or sparse; None without a public list, which its algorithms need."""
    alternatives: tuple[Alternative, ...]
    """What else could be used, and when."""
    warnings: tuple[str, ...] = ()
    """What to consider before anything is published."""
    activity: Activity | None = None
    """The noisy statistics that the advice is based on, if a survey was paid for."""
    levels: tuple[LevelOutlook, ...] = ()
    """What each level of the release gets of ε and is worth, if there are several."""
    series: tuple[str, ...] = ()
    """What each of several releases gets of one budget, and the errors to expect in later ones."""

    @property
    def mechanism(self) -> Mechanism:
        """The recommended mechanism."""
        return self.choice.mechanism

    def command(
        self,
        source: str = "visits.parquet",
        places: Sequence[str] = LIST_OPTIONS,
        ledger: str = "city.ledger",
        out: str = "release",
    ) -> str:
        """Return the command line to run next. If places are selected privately, `places` is left out."""
        named = [] if self.choice.selection is not None or self.mechanism.selects_locations else places
        return shlex.join(
            ["locentropy", "publish", source, *self.choice.options, *named, "--ledger", ledger, "--out", out]
        )

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The advice in sentences, under headings."""
        density = [] if self.density is None else [("Dense or sparse", (self.density.why,))]
        others = tuple(
            f"{' '.join(each.choice.options).removeprefix('--mechanism ')}: {each.when}"
            for each in self.alternatives
        )
        every = (
            ("Why", self.reasons),
            ("What error to expect", self.expected),
            ("Levels", self._levels),
            ("A release in every period", self.series),
            *density,
            ("Alternatives", others),
            ("Before you publish", self.warnings),
        )
        return tuple((heading, sentences) for heading, sentences in every if sentences)

    @property
    def _levels(self) -> tuple[str, ...]:
        if not self.levels:
            return ()
        whole = (
            "One ε pays for all levels. Errors that are told elsewhere are those of one level at the whole ε."
        )
        return (*(each.words for each in self.levels), whole)

    def __str__(self) -> str:
        parts = [f"Use {' '.join(self.choice.options).removeprefix('--mechanism ')}"]
        for heading, sentences in self.sections:
            parts += ["", f"{heading}:", *(f"- {sentence}" for sentence in sentences)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        use = tag("code", " ".join(self.choice.options).removeprefix("--mechanism "))
        parts = [tag("p", tag("strong", "Use "), use)]
        for heading, sentences in self.sections:
            parts += [tag("h4", heading), tag("ul", *(tag("li", sentence) for sentence in sentences))]
        return joined(*parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything it says, for JSON."""
        density = self.density
        return {
            "mechanism": {"name": self.choice.name, **self.choice.parameters},
            "selection": None if self.choice.selection is None else dict(self.choice.selection),
            "estimand": self.estimand,
            "reasons": list(self.reasons),
            "expected": list(self.expected),
            "expected_error": None if self.expected_range is None else list(self.expected_range),
            "unit": "nats",
            "density": None
            if density is None
            else {"verdict": density.verdict, "threshold": density.threshold, "why": density.why},
            "alternatives": [
                {
                    "mechanism": {"name": each.choice.name, **each.choice.parameters},
                    "selection": None if each.choice.selection is None else dict(each.choice.selection),
                    "when": each.when,
                }
                for each in self.alternatives
            ],
            "warnings": list(self.warnings),
            **({"levels": [each.to_dict() for each in self.levels]} if self.levels else {}),
            **({"series": list(self.series)} if self.series else {}),
            "activity": None if self.activity is None else self.activity.to_dict(),
        }
