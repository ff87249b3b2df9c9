"""Compare mechanisms on the owner's own data with the truth. All results are private.

    several = candidates(epsilons=["0.5", "1"])
    evaluation = evaluate(visits, several, PublicLocations("places.csv"), ledger="city.ledger")
    print(evaluation.best())

Noise is simulated from public seeds and exact values are shown, so no budget can pay for it. A release whose
parameters are chosen this way is tuned on the data. The ledger notes that before anything is simulated, and the
manifests of later releases say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError, SourceError
from locentropy.core.html import joined, table, tag
from locentropy.core.notebook_progress import shown_progress
from locentropy.evaluation import metrics
from locentropy.evaluation.candidates import labels
from locentropy.evaluation.outcome import (
    BY_USERS,
    METRICS,
    Outcome,
    Truth,
    open_visits,
    scores,
    scores_by_users,
    simulate,
)
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.base import require_mechanism
from locentropy.mechanisms.registry import described
from locentropy.places.public_list import PublicLocations
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.publishing.chosen_locations import THREE_WAYS, ChosenLocations
from locentropy.visits.queries import DEFAULT_RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from locentropy.core.bounds import Keep
    from locentropy.evaluation.metrics import Octave
    from locentropy.evaluation.outcome import OpenVisits
    from locentropy.mechanisms.base import Mechanism
    from locentropy.publishing.chosen_locations import LocationsChoice
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import Visits

BANNER: Final = "PRIVATE — not for publication"
NOT_FOR_PUBLICATION: Final = (
    f"{BANNER}: computed from exact values, without any protection. Parameters chosen by it are tuned on the data, and "
    "no budget accounts for that."
)
PURPOSE: Final = "compared mechanisms with the exact data"
"""What the ledger notes."""
CONSTANT: Final = "best constant"
POPULATION: Final = "population mean"
MAX_SEEDS: Final = 10_000
_CALL: Final = "evaluate(visits, [Shares(epsilon=1.0)], places, seeds=10)"


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
    """A metric over the seeds; NaN where it has no meaning, such as the width of intervals if there are none."""

    mean: float
    sd: float
    """Standard deviation over the seeds; NaN for fewer than two of them."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Score:
        """Summarise one value per seed; seeds in which the metric has no meaning are left out."""
        there = np.array([value for value in values if not np.isnan(value)])
        if not len(there):
            return cls(float("nan"), float("nan"))
        return cls(float(there.mean()), float(there.std(ddof=1)) if len(there) > 1 else float("nan"))


@dataclass(frozen=True, eq=False)
class Compared:
    """The scores of one candidate, or of one reference."""

    name: str
    """The name of the mechanism."""
    label: str
    """The name, with parameters where several of that name are compared."""
    epsilon: str | None
    """ε: the parameter of that name, or else the mechanism's guarantee; None for a reference."""
    parameters: dict[str, Any]
    """As they are written; none for a reference."""
    scores: dict[str, Score]
    """By metric; see `METRICS`."""
    by_users: list[dict[str, Score]] = field(repr=False)
    """Some of them, for each of the evaluation's octaves of users."""
    example: Outcome = field(repr=False)
    """What was simulated with the first seed."""


@dataclass(frozen=True)
class Best:
    """The candidate with the lowest error. Private advice: following it tunes parameters on the data."""

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


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """How mechanisms compare on one set of visits. Private."""

    seeds: int
    octaves: list[Octave]
    compared: list[Compared]
    """In the order in which they were given."""
    references: list[Compared]
    """What could be published without a mechanism by somebody who knew it."""
    throwaway: Throwaway
    truth: Truth

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(each.name for each in self.compared))
        epsilons = f" at ε = {', '.join(self.epsilons)}" if self.epsilons else ""
        seeds = f"{self.seeds} seed{'' if self.seeds == 1 else 's'}"
        return f"<Evaluation of {names}{epsilons}, {seeds}: {BANNER}>"

    def _repr_html_(self) -> str:
        from locentropy.evaluation.private_page import ERRORS, best_sentences, rows

        best = tag("ul", *(tag("li", sentence) for sentence in best_sentences(self)))
        return joined(tag("p", tag("strong", NOT_FOR_PUBLICATION)), best, table(*rows(self, ERRORS)))

    @property
    def epsilons(self) -> list[str]:
        """Every ε, from the smallest."""
        return sorted({each.epsilon for each in self.compared if each.epsilon is not None}, key=Fraction)

    @property
    def by_epsilon(self) -> list[tuple[str, list[Compared]]]:
        """The candidates by ε, from the smallest; a mechanism that states none comes last."""
        groups = [
            (epsilon, [each for each in self.compared if each.epsilon == epsilon])
            for epsilon in (*self.epsilons, None)
        ]
        return [(epsilon or "not stated", group) for epsilon, group in groups if group]

    def best(self, metric: str = "mse") -> tuple[Best, ...]:
        """Return the candidate of the lowest error for each ε, by a metric; private advice, tuned on the data."""
        if metric not in METRICS or not metric.startswith(("mse", "kl")):
            known = ", ".join(name for name in METRICS if name.startswith(("mse", "kl")))
            raise ParameterError(
                f"is not an error. Choose from {known}.",
                parameter="metric",
                value=metric,
                example='evaluation.best("mse")',
            )
        return tuple(
            self._best(group, metric) for _, group in self.by_epsilon if _with_an_error(group, metric)
        )

    def _best(self, group: list[Compared], metric: str) -> Best:
        first = min(_with_an_error(group, metric), key=lambda each: each.scores[metric].mean)
        constant = self.references[0].scores[metric].mean
        error = first.scores[metric]
        published = first.scores["published"].mean
        return Best(
            first.epsilon, first.label, first.parameters, metric, error, published, error.mean > constant
        )

    def save(self, folder: str | Path) -> Path:
        """Write tables, pictures and a page into a new folder, and return its path.

        Its name says PRIVATE and only you can read it. Without matplotlib (`pip install 'locentropy[plots]'`) there
        are no pictures, and a `PlotsMissingWarning` says so.
        """
        from locentropy.evaluation.private_files import save

        return save(self, folder)


def _with_an_error(group: list[Compared], metric: str) -> list[Compared]:
    """Return those that have an error and published anything: withholding every place is not advice."""
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
    """Simulate what each mechanism would publish, and compare it with the truth. Private, never for publication.

    Of the result, `best()` names the lowest errors, and `save(folder)` writes tables, pictures and a page.

    Parameters
    ----------
    visits
        The private table, such as `Visits("checkins.parquet", user="uid", location="venue")`.
    mechanisms
        What is compared: `Shares(epsilon=1.0)`, any other mechanism, or your own. `candidates()` in
        `locentropy.evaluation.candidates` makes every combination of names, ε and parameters.
    locations
        Which places are judged, as in `publish`: a `PublicLocations`, a `Grid` or a `SelectLocations`. None is for
        mechanisms that select places by themselves.
    seeds
        How many releases are simulated of each mechanism.
    ledger
        The ledger of these people, or its file: it notes, before anything is simulated, that mechanisms were compared
        on the data. Nothing is spent.
    exclude
        Places never to publish: visits to them do not count at all.
    throwaway
        The bounds and k of the paper's Throwaway, over which some errors are also given.
    resources
        Memory, threads and engine.
    progress
        A function that is called with what is being done.
    """
    check_whole(_CALL, "seeds", seeds, 1, MAX_SEEDS)
    given = list(mechanisms)
    chosen = ChosenLocations(locations, exclude, spelling=visits.spelling)
    if chosen.level_names:
        raise one_at_a_time()
    _check(given, locations)
    chosen.warn_of_exclusions()
    book = Ledger.open(ledger) if isinstance(ledger, str | Path) else ledger
    crowd = throwaway or Throwaway()
    with shown_progress(progress) as shown, open_visits(visits, chosen, resources, shown) as data:
        truth = _truth(data, crowd)
        if book is not None:
            book.record_evaluation(PURPOSE)
        octaves = metrics.octaves(truth.users)
        compared = _compared(given, data, truth, octaves, seeds, shown)
    constants = {CONSTANT: float(truth.entropy.mean())}
    if isinstance(locations, PublicLocations):
        # The mean over all places that anybody visited, listed or not.
        with open_visits(
            visits, ChosenLocations(None, exclude, spelling=visits.spelling), resources, progress
        ) as everywhere:
            constants[POPULATION] = float(everywhere.queries.exact_profile().entropy.mean())
    references = [_reference(name, value, truth, octaves) for name, value in constants.items()]
    return Evaluation(int(seeds), octaves, compared, references, crowd, truth)


def one_at_a_time() -> ParameterError:
    """The error for levels: what each gets of ε is not what mechanisms would be compared at."""
    return ParameterError(
        "are published together, and compared one at a time: by group, at the level's part of ε.",
        parameter="levels",
        example='evaluate(visits, [Shares(epsilon=0.1)], PublicLocations("places.csv", group="district"))',
    )


def _check(given: list[Mechanism], locations: LocationsChoice | None) -> None:
    if not given:
        raise ParameterError(
            "is empty, so there is nothing to compare.", parameter="mechanisms", example=_CALL
        )
    for each in given:
        require_mechanism(each, _CALL)
        if locations is None and not each.selects_locations:
            raise ParameterError(f"{each.name} was given no places. {THREE_WAYS}")


def _truth(data: OpenVisits, crowd: Throwaway) -> Truth:
    exactly = data.queries.exact_profile()
    if not len(exactly.index):
        raise SourceError(
            "No visit is at any of the places, so there is nothing to compare with. Are ids written alike in the "
            "visits and in the list? Are the edges of the grid in the order south, west, north, east?"
        )
    bounded = data.queries.profile(Bounds(crowd.max_locations, crowd.max_visits, crowd.keep))
    return Truth(exactly.entropy, exactly.user_counts, bounded.user_counts >= crowd.min_users)


def _compared(
    given: list[Mechanism],
    data: OpenVisits,
    truth: Truth,
    octaves: list[Octave],
    seeds: int,
    progress: Progress | None,
) -> list[Compared]:
    found = []
    for number, (mechanism, label) in enumerate(zip(given, labels(given), strict=True)):
        name, parameters = described(mechanism)

        def simulated(seed: int, mechanism: Mechanism = mechanism, number: int = number) -> Outcome:
            if progress is not None:
                progress("Comparing mechanisms", (number + seed / seeds) / len(given))
            return simulate(mechanism, data, truth, seed)

        found.append(
            _scored(name, label, _epsilon_of(mechanism), parameters, simulated, seeds, truth, octaves)
        )
    return found


def _epsilon_of(mechanism: Mechanism) -> str | None:
    """ε as it is written; the same text for the same number, whether it was given as 1 or as 1.0."""
    epsilon = getattr(mechanism, "epsilon", None)
    known = mechanism.guarantee.epsilon if epsilon is None else exact(epsilon)
    return None if known is None else exact_text(known)


def _scored(
    name: str,
    label: str,
    epsilon: str | None,
    parameters: dict[str, Any],
    simulated: Callable[[int], Outcome],
    seeds: int,
    truth: Truth,
    octaves: list[Octave],
) -> Compared:
    """Score the simulations of all seeds; only the first of them is kept."""
    example = simulated(0)
    runs, by_users = [], []
    for seed in range(seeds):
        outcome = simulated(seed) if seed else example
        runs.append(scores(truth, outcome))
        by_users.append(scores_by_users(truth, outcome, octaves))
    return Compared(
        name,
        label,
        epsilon,
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
    return _scored(name, name, None, {}, lambda _: same, 1, truth, octaves)
