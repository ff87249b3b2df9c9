"""A claim, the cases in which it is looked at, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from locentropy_lab.reproduction.claims.results import Results

Way = Literal["as printed", "corrected"]
"""As printed: the paper's algorithms as they are printed, with its experiments' first M (lowest ids). Corrected: the
algorithms as this package has them, with the first M that a release would keep."""

AGREES: Final = "agrees"
CORRECTED: Final = "agrees with a correction"
FAILS: Final = "does not hold"
OPEN: Final = "not judged"
Verdict = Literal["agrees", "agrees with a correction", "does not hold", "not judged"]

RULE: Final = (
    "Agrees: true in every case. Agrees with a correction: not in every case, but in most of those as printed or in "
    "most of those corrected. Does not hold: in no more than half of either. Not judged: the run lacks the data."
)


@dataclass(frozen=True)
class Case:
    """One instance of a claim, and whether it is true in our numbers."""

    way: Way
    where: str
    holds: bool
    numbers: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # NumPy's is no JSON


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and how it is judged."""

    name: str
    """Short and lasting: tests and files call it by this."""
    experiment: str
    """The table or figure that it stands with."""
    paper: str
    """What the paper says."""
    judged: str
    """When a case counts as true."""
    needs: tuple[str, ...]
    """The experiments whose numbers decide."""
    cases: Callable[[Results], list[Case]]


@dataclass(frozen=True)
class Finding:
    """What came out."""

    claim: Claim
    verdict: Verdict
    cases: tuple[Case, ...]
    why_open: str = ""
    """Where it is not judged."""

    @property
    def summary(self) -> str:
        """How many cases are true, by way."""
        if self.verdict == OPEN:
            return self.why_open
        parts = []
        for way in dict.fromkeys(case.way for case in self.cases):
            own = [case for case in self.cases if case.way == way]
            parts.append(f"{sum(case.holds for case in own)} of {len(own)} cases {way}")
        return "True in " + " and ".join(parts) + "."


def judge(claim: Claim, results: Results) -> Finding:
    """The verdict on a claim, computed from the numbers."""
    missing = [name for name in claim.needs if name not in results.tables]
    if missing:
        return Finding(claim, OPEN, (), f"It needs {', '.join(missing)}, which did not run.")
    cases = tuple(claim.cases(results))
    if not cases:
        return Finding(
            claim, OPEN, (), "It needs data of the paper's size, or Gowalla, which this run lacks."
        )
    return Finding(claim, verdict_of(cases), cases)


def verdict_of(cases: tuple[Case, ...]) -> Verdict:
    """RULE, in code."""
    if all(case.holds for case in cases):
        return AGREES
    for way in {case.way for case in cases}:
        own = [case.holds for case in cases if case.way == way]
        if sum(own) * 2 > len(own):
            return CORRECTED
    return FAILS
