"""Whether "in the top 10 with probability p" is true in a share p of the cases: the page's chances against the truth.

    python benchmarks/ranks.py                                   # all of it
    python benchmarks/ranks.py --data city --epsilon 1 --seeds 2

Shares is compared with the true entropy; Moments, Limit and Limit-PTR, which say so, with the entropy of bounded visits
(M = C = 5, k = 50, δ = 1e-8), among the places that have a value. Noise is simulated, from public seeds. "right" is how
many of the ten places that a page lists first are truly among the ten highest, and "said" how many it expects to be.
The cells are chances that were said and how often they came true, over all of a mechanism's releases; the goal is that
these differ by at most 0.07 for Shares. Data sets are those of `utility_data.py`; what cannot be had is left out.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import locentropy as le
from locentropy.core.bounds import Bounds
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.release.report.ranking import TOP, posterior_of, top_chances
from utility_data import missing, open_data

if TYPE_CHECKING:
    from utility_data import DataSet

DATA = (
    "city",
    "clustered",
    "homes",
    "regulars",
    "gowalla",
    "jakarta",
    "sao-paulo",
    "sao-paulo-30",
    "jakarta+category",
)
EPSILONS = (0.5, 1.0, 5.0)
SPANS = ((0.02, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))
FARTHEST = 0.07
"""The goal: what was said and what came true differ by no more, on average in every span."""
M, C, K, DELTA = 5, 5, 50, 1e-8


class Chances(NamedTuple):
    """One release: the chance of every place, whether it came true, and the sums over those listed first."""

    chance: np.ndarray
    true: np.ndarray
    right: float
    said: float


def mechanisms(epsilon: float) -> dict[str, Any]:
    return {
        "Shares": le.Shares(epsilon),
        "Shares with δ": le.Shares(epsilon, delta=DELTA),
        "Moments": le.Moments(epsilon, max_locations=M, max_visits=C),
        "Limit": le.paper.Limit(epsilon, max_locations=M, max_visits=C),
        "LimitPTR": le.LimitPTR(epsilon, delta=DELTA, max_locations=M, max_visits=C, min_users=K),
    }


def chances(data: DataSet, name: str, mechanism: Any, seed: int) -> Chances | None:
    """The chances of one release; None if no more than ten places have a value."""
    made = mechanism.estimate(
        mechanism.measure(data.queries, data.locations, SimulatedNoise(seed)), data.locations
    )
    truth = data.truth if made.estimand == "true" else data.queries.profile(Bounds(M, C)).entropy
    known = ~np.isnan(made.entropy)
    if known.sum() <= TOP:
        return None
    value, error, truth = made.entropy[known], made.std_error[known], truth[known]
    chance = top_chances(posterior_of(mechanism.method, value, error))
    true = np.zeros(len(truth), dtype=bool)
    true[np.argsort(-truth, kind="stable")[:TOP]] = True
    first = np.argsort(-value, kind="stable")[:TOP]
    return Chances(chance, true, float(true[first].sum()), float(chance[first].sum()))


def print_table(name: str, found: dict[tuple[str, float], list[Chances]]) -> None:
    print(f"\n{name}\n\n{'data':<10}{'ε':>5}{'right':>7}{'said':>6}")
    for (data, epsilon), runs in found.items():
        right, said = (np.mean([getattr(run, part) for run in runs]) for part in ("right", "said"))
        print(f"{data:<10}{epsilon:>5g}{right:>7.1f}{said:>6.1f}")
    runs = [run for each in found.values() for run in each]
    right, said = (np.mean([getattr(run, part) for run in runs]) for part in ("right", "said"))
    print(f"{'all':<15}{right:>7.1f}{said:>6.1f}\n\n{'chance':<14}{'places':>7}{'said':>7}{'came true':>11}")
    chance, true = (np.concatenate([getattr(run, part) for run in runs]) for part in ("chance", "true"))
    for low, high in SPANS:
        at = (chance >= low) & (chance < high)
        if at.any():
            shown = f"{low:g} to {min(high, 1.0):g}"
            said, came = chance[at].mean(), true[at].mean()
            verdict = "" if abs(said - came) <= FARTHEST else f"   off by more than {FARTHEST}"
            print(f"{shown:<14}{at.sum():>7}{said:>7.2f}{came:>11.2f}{verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    found: dict[str, dict[tuple[str, float], list[Chances]]] = {name: {} for name in mechanisms(1.0)}
    for data_name in asked.data:
        if missing(data_name):
            continue
        with open_data(data_name) as data:
            for epsilon in asked.epsilon:
                for name, mechanism in mechanisms(epsilon).items():
                    if "+" in data_name and not name.startswith("Shares"):
                        continue  # nobody else uses attributes
                    runs = [chances(data, name, mechanism, seed) for seed in range(asked.seeds)]
                    kept = [run for run in runs if run is not None]
                    if kept:
                        found[name][data_name, epsilon] = kept
    for name, results in found.items():
        if results:
            print_table(name, results)


if __name__ == "__main__":
    main()
