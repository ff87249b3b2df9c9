"""Whether "in the top 10 with probability p" is true in a share p of the cases: the page's chances against the truth.

    python benchmarks/ranks.py                                   # all of it
    python benchmarks/ranks.py --data city gowalla --epsilon 1 --seeds 2

Shares, without and with δ, is compared with the true entropy; Moments, Limit and Limit-PTR, which say so, with the
entropy of bounded visits (M = C = 5, k = 50), among the places that have a value. Noise is simulated, from public
seeds. "right" is how many of the ten places that a page lists first are truly among the ten highest, and "said" how
many it expects to be. The cells are chances that were said and how often they came true, over all of a mechanism's
releases, each data set counting alike; "off" is the difference, which is to be within 0.07. Cities with a number are
other cities of the same habits, with other people and places: nothing was fitted to them. Real ones are left out
without their files (utility_data.py).
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import locentropy as le
import utility_data
from locentropy.core.bounds import Bounds
from locentropy.datasets import City
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.release.report.ranking import TOP, posterior_of, top_chances
from utility_data import open_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from utility_data import DataSet

HABITS = ("usual", "clustered", "homes", "regulars")
EPSILONS = (0.5, 1.0, 5.0)
SPANS = ((0.02, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))
M, C, K, DELTA = 5, 5, 50, 1e-8


class Chances(NamedTuple):
    """One release: the chance of every place, whether it came true, and the sums over those listed first."""

    chance: np.ndarray
    true: np.ndarray
    right: float
    said: float


def fresh_city(habits: Any, people: int, places: int, seed: int) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        made = City(people=people, places=places, habits=habits, seed=seed)
        made.write(folder)
        return le.Visits(folder / "visits.parquet"), le.mechanisms.Locations.of(made.places()["location"])

    return make


FRESH = {
    f"{habits}-{seed}": fresh_city(habits, people, places, seed)
    for habits in HABITS
    for seed, people, places in ((11, 20_000, 3000), (12, 5000, 800))
}
MADE_UP = ("city", "clustered", "homes", "regulars")


REAL = ("gowalla", "jakarta", "sao-paulo")


def mechanisms(epsilon: float) -> dict[str, Any]:
    return {
        "Shares": le.Shares(epsilon),
        f"Shares, δ = {DELTA:g}": le.Shares(epsilon, delta=DELTA),
        "Moments": le.Moments(epsilon, max_locations=M, max_visits=C),
        "Limit": le.paper.Limit(epsilon, max_locations=M, max_visits=C),
        "LimitPTR": le.LimitPTR(epsilon, delta=DELTA, max_locations=M, max_visits=C, min_users=K),
    }


def chances(data: DataSet, mechanism: Any, seed: int) -> Chances | None:
    """The chances of one release; None if no more than ten places have a value."""
    made = mechanism.estimate(
        mechanism.measure(data.queries, data.locations, SimulatedNoise(seed)), data.locations
    )
    truth = data.truth if made.estimand == "true" else data.queries.profile(Bounds(M, C)).entropy
    known = ~np.isnan(made.entropy)
    if known.sum() <= TOP:
        return None
    columns = (made.entropy, made.std_error, made.low, made.high)
    value, *bars = (column[known] for column in columns)
    chance = top_chances(posterior_of(mechanism.method, value, *bars))
    true = np.zeros(len(value), dtype=bool)
    true[np.argsort(-truth[known], kind="stable")[:TOP]] = True
    first = np.argsort(-value, kind="stable")[:TOP]
    return Chances(chance, true, float(true[first].sum()), float(chance[first].sum()))


def print_table(name: str, found: dict[tuple[str, float], list[Chances]]) -> None:
    print(f"\n{name}\n\n{'data':<14}{'ε':>5}{'right':>7}{'said':>6}")
    for (data, epsilon), runs in found.items():
        right, said = (np.mean([getattr(run, part) for run in runs]) for part in ("right", "said"))
        print(f"{data:<14}{epsilon:>5g}{right:>7.1f}{said:>6.1f}")
    all_runs = [run for each in found.values() for run in each]
    right, said = (np.mean([getattr(run, part) for run in all_runs]) for part in ("right", "said"))
    print(f"{'all':<19}{right:>7.1f}{said:>6.1f}\n")
    print(f"{'chance':<14}{'places':>7}{'said':>7}{'came true':>11}{'off':>7}")
    # A release of every data set and ε weighs alike, however many were made of it.
    weight = np.concatenate(
        [np.full(len(run.chance), 1.0 / len(runs)) for runs in found.values() for run in runs]
    )
    chance, true = (np.concatenate([getattr(run, part) for run in all_runs]) for part in ("chance", "true"))
    for low, high in SPANS:
        at = (chance >= low) & (chance < high)
        if at.any():
            said, seen = (float(np.average(column[at], weights=weight[at])) for column in (chance, true))
            shown = f"{low:g} to {min(high, 1.0):g}"
            print(f"{shown:<14}{at.sum():>7}{said:>7.2f}{seen:>11.2f}{seen - said:>+7.2f}")


def kind(data_name: str) -> str:
    """What a data set is like, for those that are counted together."""
    return "real" if data_name in REAL else data_name.replace("city", "usual").split("-")[0]


def print_kinds(name: str, found: dict[tuple[str, float], list[Chances]]) -> None:
    print(f"\n{name}, by kind of city: right, said")
    for each in dict.fromkeys(kind(data) for data, _ in found):
        runs = [run for (data, _), runs in found.items() if kind(data) == each for run in runs]
        right, said = (np.mean([getattr(run, part) for run in runs]) for part in ("right", "said"))
        print(f"{each:<19}{right:>7.1f}{said:>6.1f}")


def main() -> None:
    known = [*MADE_UP, *FRESH, *(name for name in REAL if not utility_data.missing(name))]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=known, choices=known)
    parser.add_argument(
        "--mechanism", nargs="+", default=list(mechanisms(1.0)), choices=list(mechanisms(1.0))
    )
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    utility_data.SETS.update(FRESH)
    found: dict[str, dict[tuple[str, float], list[Chances]]] = {name: {} for name in asked.mechanism}
    for data_name in asked.data:
        with open_data(data_name) as data:
            for epsilon in asked.epsilon:
                for name in asked.mechanism:
                    mechanism = mechanisms(epsilon)[name]
                    runs = [chances(data, mechanism, seed) for seed in range(asked.seeds)]
                    kept = [run for run in runs if run is not None]
                    if kept:
                        found[name][data_name, epsilon] = kept
    for name, results in found.items():
        if results:
            print_table(name, results)
    shares = {name: results for name, results in found.items() if name.startswith("Shares") and results}
    if len(shares) == 2:
        pure, approximate = shares.values()
        both = {at: pure[at] + approximate[at] for at in pure if at in approximate}
        print_table("Shares, without and with δ", both)
        for name, results in {**shares, "Shares, without and with δ": both}.items():
            print_kinds(name, results)


if __name__ == "__main__":
    main()
