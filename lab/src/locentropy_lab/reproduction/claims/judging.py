"""A claim, the cases in which it is tested, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from locentropy_lab.reproduction.settings import Settings


Way = Literal["as printed", "corrected"]
"""As printed: the paper's algorithms as they are printed, with its experiments' first M (lowest ids). Corrected: the
algorithms as this package has them, with the first M that a release would keep."""

WAYS: Final[tuple[Way, ...]] = ("as printed", "corrected")

FIRST_M: Final[dict[Way, str]] = {"as printed": "paper", "corrected": "release"}
TIED: Final = 0.05
"""Errors this close are equal: seeds decide which is the lower one."""

HOLDS: Final = "holds"
MOSTLY: Final = "holds in most cases"
PRINTED_ONLY: Final = "holds as printed only"
CORRECTED_ONLY: Final = "holds corrected only"
FAILS: Final = "does not hold"
OPEN: Final = "not judged"
Verdict = Literal[
    "holds",
    "holds in most cases",
    "holds as printed only",
    "holds corrected only",
    "does not hold",
    "not judged",
]

RULE: Final = (
    "Holds: true in every case. Holds in most cases: true in more than half of the cases as printed, and in more than "
    "half of those corrected where there are any. Holds as printed only, holds corrected only: true in more than half "
    "of the cases of that kind, and in no more than half of the other. Does not hold: in no more than half of either. "
    "Not judged: the run lacks the data."
)


@dataclass(frozen=True)
class Case:
    """One instance of a claim, and whether it is true in our numbers."""

    way: Way
    where: str
    holds: bool
    numbers: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # JSON takes no NumPy booleans


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and how it is judged."""

    name: str
    """Short and lasting: tests and files refer to it."""
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
    """What a run says about a claim."""

    claim: Claim
    verdict: Verdict
    cases: tuple[Case, ...]
    why_open: str = ""
    """Why it is not judged."""

    @property
    def summary(self) -> str:
        """How many cases are true, as printed and corrected."""
        if self.verdict == OPEN:
            return self.why_open
        parts = []
        for way in dict.fromkeys(case.way for case in self.cases):
            own = [case for case in self.cases if case.way == way]
            parts.append(f"{sum(case.holds for case in own)} of {len(own)} cases {way}")
        return "True in " + " and ".join(parts) + "."


def judge(claim: Claim, results: Results) -> Finding:
    """Test a claim on the numbers of a run."""
    missing = [name for name in claim.needs if name not in results.tables]
    if missing:
        return Finding(claim, OPEN, (), f"It needs {', '.join(missing)}, which did not run.")
    cases = tuple(claim.cases(results))
    if not cases:
        return Finding(
            claim, OPEN, (), "It needs data of the paper's size, or Gowalla, which this run lacks."
        )
    return Finding(claim, verdict_of(cases), cases)


def verdict_of(cases: Sequence[Case]) -> Verdict:
    """The verdict that RULE gives, from how many cases of each way are true."""
    if all(case.holds for case in cases):
        return HOLDS
    by_way = {way: [case.holds for case in cases if case.way == way] for way in WAYS}
    holding = [way for way, own in by_way.items() if sum(own) * 2 > len(own)]
    tested = [way for way, own in by_way.items() if own]
    if holding == tested:
        return MOSTLY
    if not holding:
        return FAILS
    return PRINTED_ONLY if holding == ["as printed"] else CORRECTED_ONLY


def line_of(mechanism: str, way: Way) -> str:
    """The name of one of the paper's mechanisms among the lines."""
    return f"{mechanism}-as-printed" if way == "as printed" else mechanism


@dataclass(frozen=True)
class Results:
    """Tables by the name of the experiment."""

    settings: Settings
    tables: dict[str, pa.Table]

    def rows(self, experiment: str, **equal: Any) -> pa.Table:
        """The rows of an experiment in which columns have these values."""
        table = self.tables[experiment]
        for name, value in equal.items():
            table = table.filter(pc.equal(table[name], value))
        return table

    def has(self, experiment: str, data: str) -> bool:
        """Whether an experiment ran on a data set."""
        return experiment in self.tables and self.rows(experiment, data=data).num_rows > 0

    def curve(
        self, experiment: str, varied: str, data: str, way: Way, mechanism: str, metric: str
    ) -> dict[float, float]:
        """The mean over the seeds of a metric, by the varied parameter; values that are not defined are left out."""
        table = self.rows(
            experiment, varied=varied, data=data, first_m=FIRST_M[way], mechanism=line_of(mechanism, way)
        )
        at, found = table[varied].to_numpy(), table[metric].to_numpy()
        means = {float(x): float(np.mean(found[at == x])) for x in np.unique(at)}
        return {x: mean for x, mean in means.items() if not np.isnan(mean)}


def is_best(errors: dict[str, float], name: str) -> bool:
    """Whether no other error is clearly lower."""
    return errors[name] <= (1 + TIED) * min(errors.values())


def rank_correlation(curve: dict[float, float]) -> float:
    """Spearman's rank correlation of the parameter and the error."""
    from locentropy.evaluation.metrics import spearman

    return spearman(np.array(list(curve)), np.array(list(curve.values())))
