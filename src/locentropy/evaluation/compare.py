"""Compare mechanisms on the owner's own data with the truth. What comes out is private, whatever it looks like.

    several = candidates(epsilons=["0.5", "1"])
    evaluation = evaluate(visits, several, PublicLocations("places.csv"), ledger="city.ledger")
    print(evaluation.best())

Noise is simulated from public seeds and exact values are shown, so no budget can pay for it. Whoever then publishes
has tuned on the data. The ledger of the people notes that before anything is known, and later manifests say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError, SourceError
from locentropy.evaluation import metrics
from locentropy.evaluation.candidates import labels
from locentropy.evaluation.outcome import BY_USERS, METRICS, Outcome, Truth, outcome, scores, scores_by_users
from locentropy.evaluation.places import opened
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.base import require_mechanism
from locentropy.mechanisms.registry import described
from locentropy.places.public_list import PublicLocations
from locentropy.publishing.request import THREE_WAYS
from locentropy.visits.queries import DEFAULT_RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from locentropy.core.bounds import Keep
    from locentropy.evaluation.metrics import Octave
    from locentropy.evaluation.places import Opened
    from locentropy.mechanisms.base import Mechanism
    from locentropy.publishing.request import LocationsChoice
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import Visits

NOT_FOR_PUBLICATION: Final = (
    "PRIVATE — not for publication: computed from exact values, without any protection. Parameters chosen by it are "
    "tuned on the data, and no budget accounts for that."
)
NOTED: Final = "compared mechanisms with the exact data"
CONSTANT: Final = "best constant"
POPULATION: Final = "population mean"
MOST_RUNS: Final = 10_000
_CALL: Final = "evaluate(visits, [Limit(1.0, max_locations=5, max_visits=5)], places, seeds=10)"


@dataclass(frozen=True)
class Throwaway:
    """The paper's Throwaway: the places that Limit-CB publishes, those of at least k users after bounding."""

    max_locations: int = 5
    """M."""
    max_visits: int = 5
    """C."""
    min_users: int = 50
    """k."""
    keep: Keep | None = None
    """Which M locations are kept; see `Bounds`."""


@dataclass(frozen=True)
class Score:
    """A metric over the seeds; NaN where it has no meaning, as the width of intervals that there are none of."""

    mean: float
    sd: float
    """Standard deviation over the seeds; NaN for fewer than two of them."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Score:
        """Of one value per seed; those of seeds in which it has no meaning are left out."""
        there = np.array([value for value in values if not np.isnan(value)])
        if not len(there):
            return cls(float("nan"), float("nan"))
        return cls(float(there.mean()), float(there.std(ddof=1)) if len(there) > 1 else float("nan"))


@dataclass(frozen=True, eq=False)
class Compared:
    """How one mechanism, or one reference, did."""

    name: str
    """Of the mechanism."""
    label: str
    """The name, with parameters where several of that name are compared."""
    parameters: dict[str, Any]
    """As they are written; none for a reference."""
    scores: dict[str, Score]
    """By metric; see `METRICS`."""
    by_users: list[dict[str, Score]]
    """Some of them, for each of the evaluation's octaves of users."""
    example: Outcome = field(repr=False)
    """What was simulated with the first seed."""

    @property
    def epsilon(self) -> str | None:
        """ε as it is written; None for a reference."""
        written = self.parameters.get("epsilon")
        return None if written is None else str(written)


@dataclass(frozen=True)
class Best:
    """Which mechanism had the lowest error. Private advice: whoever follows it has tuned on the data."""

    epsilon: str | None
    label: str
    parameters: dict[str, Any]
    metric: str
    error: Score
    published: float
    """The share of places that it publishes; withheld ones count as 0 in errors over all places."""
    worse_than_constant: bool
    """Whether publishing one constant for all places would have done better."""
    tuned_on_data: bool = True
    """Always: no budget accounts for this choice."""
    warning: str = NOT_FOR_PUBLICATION


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How mechanisms compare on one set of visits. Private."""

    seeds: int
    octaves: list[Octave]
    compared: list[Compared]
    """In the order in which they were given."""
    references: list[Compared]
    """What one could publish without a mechanism, if one knew it."""
    throwaway: Throwaway
    truth: Truth = field(repr=False)

    @property
    def epsilons(self) -> list[str]:
        """Every ε, from the smallest."""
        return sorted({each.epsilon for each in self.compared if each.epsilon is not None}, key=float)

    def best(self, metric: str = "mse") -> tuple[Best, ...]:
        """For each ε the mechanism of the lowest error by a metric; private advice, tuned on the data."""
        if metric not in METRICS or not metric.startswith(("mse", "kl")):
            known = ", ".join(name for name in METRICS if name.startswith(("mse", "kl")))
            raise ParameterError(
                f'metric={metric!r} is no error; these are: {known}. For example: best("mse")'
            )
        groups = [
            [each for each in self.compared if each.epsilon == epsilon]
            for epsilon in dict.fromkeys([*self.epsilons, *(each.epsilon for each in self.compared)])
        ]
        return tuple(self._best(group, metric) for group in groups if _judged(group, metric))

    def _best(self, group: list[Compared], metric: str) -> Best:
        first = min(_judged(group, metric), key=lambda each: each.scores[metric].mean)
        constant = self.references[0].scores[metric].mean
        error = first.scores[metric]
        published = first.scores["published"].mean
        return Best(
            first.epsilon, first.label, first.parameters, metric, error, published, error.mean > constant
        )

    def save(self, folder: str | Path) -> Path:
        """Write table, plots and page into a new folder, marked and readable by you alone; says where."""
        from locentropy.evaluation.private_files import save

        return save(self, folder)


def _judged(group: list[Compared], metric: str) -> list[Compared]:
    """Those that have an error, and published anything: to withhold every place is no advice."""
    return [
        each for each in group if not np.isnan(each.scores[metric].mean) and each.scores["published"].mean > 0
    ]


def evaluate(
    visits: Visits,
    mechanisms: Iterable[Mechanism],
    locations: LocationsChoice | None = None,
    *,
    seeds: int = 10,
    ledger: Ledger | str | Path | None = None,
    exclude: PublicLocations | None = None,
    throwaway: Throwaway | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> Evaluation:
    """Simulate what each mechanism would publish, `seeds` times, and compare it with the truth.

    With the ledger of these people, that it was done is noted before anything is known.
    """
    check_whole(_CALL, "seeds", seeds, 1, MOST_RUNS)
    given = list(mechanisms)
    _check(given, locations)
    book = Ledger.open(ledger) if isinstance(ledger, str | Path) else ledger
    crowd = throwaway or Throwaway()
    with opened(visits, locations, exclude, resources, progress) as at:
        truth = _truth(at, crowd)
        if book is not None:
            book.record_evaluation(NOTED)
        octaves = metrics.octaves(truth.users)
        compared = _compared(given, at, truth, octaves, seeds, progress)
    constants = {CONSTANT: float(truth.entropy.mean())}
    if isinstance(locations, PublicLocations):
        # The mean of all places that anybody visited: what one would publish who has never heard of the list.
        with opened(visits, None, exclude, resources, progress) as everywhere:
            constants[POPULATION] = float(everywhere.queries.exact_profile().entropy.mean())
    references = [_reference(name, value, truth, octaves) for name, value in constants.items()]
    return Evaluation(int(seeds), octaves, compared, references, crowd, truth)


def _check(given: list[Mechanism], locations: LocationsChoice | None) -> None:
    if not given:
        raise ParameterError(f"mechanisms is empty, so there is nothing to compare. For example: {_CALL}")
    for each in given:
        require_mechanism(each, _CALL)
        if locations is None and not each.selects_locations:
            raise ParameterError(f"{each.name} was given no places. {THREE_WAYS}")


def _truth(at: Opened, crowd: Throwaway) -> Truth:
    exact = at.queries.exact_profile()
    if not len(exact.index):
        raise SourceError(
            "No visit is at any of the places, so there is nothing to compare with. Are ids written alike in the "
            "visits and in the list? Are the edges of the grid in the order south, west, north, east?"
        )
    bounded = at.queries.profile(Bounds(crowd.max_locations, crowd.max_visits, crowd.keep))
    return Truth(exact.entropy, exact.user_counts, bounded.user_counts >= crowd.min_users)


def _compared(
    given: list[Mechanism],
    at: Opened,
    truth: Truth,
    octaves: list[Octave],
    seeds: int,
    progress: Progress | None,
) -> list[Compared]:
    found = []
    for number, (each, label) in enumerate(zip(given, labels(given), strict=True)):
        name, parameters = described(each)

        def simulated(seed: int, each: Mechanism = each, number: int = number) -> Outcome:
            if progress is not None:
                progress("Comparing mechanisms", (number + seed / seeds) / len(given))
            return outcome(each, at, truth, seed)

        found.append(_judge(name, label, parameters, simulated, seeds, truth, octaves))
    return found


def _judge(
    name: str,
    label: str,
    parameters: dict[str, Any],
    simulated: Callable[[int], Outcome],
    seeds: int,
    truth: Truth,
    octaves: list[Octave],
) -> Compared:
    """Scores over the seeds; of what was simulated only the first is kept."""
    example = simulated(0)
    runs, by_users = [], []
    for seed in range(seeds):
        made = simulated(seed) if seed else example
        runs.append(scores(truth, made))
        by_users.append(scores_by_users(truth, made, octaves))
    return Compared(
        name,
        label,
        parameters,
        {metric: Score.of([run[metric] for run in runs]) for metric in METRICS},
        [
            {metric: Score.of([run[row][metric] for run in by_users]) for metric in BY_USERS}
            for row in range(len(octaves))
        ],
        example,
    )


def _reference(name: str, value: float, truth: Truth, octaves: list[Octave]) -> Compared:
    same = Outcome(np.full(len(truth.entropy), value))
    return _judge(name, name, {}, lambda _: same, 1, truth, octaves)
