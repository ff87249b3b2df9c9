"""What `utility.py` measures: one release after another, scored against the truth."""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import locentropy as le
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy_lab import as_printed
from utility_data import TWINS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from utility_data import DataSet

    Score = dict[str, float]
    Scores = dict[str, dict[str, Score]]
    """For each method and ε, the mean over seeds of every measure."""

M, C, K, DELTA = 5, 5, 50, 1e-8
"""The paper's defaults."""

HINDSIGHT_M, HINDSIGHT_C = (1, 2, 5, 10, 20, 30), (5, 20)
TOP = 20
"""So many places are at the top of a page."""
LIST_SIZES = (10, 30, 100, 300, 1000)


def simulated(mechanism: le.Mechanism, data: DataSet, seed: int) -> le.mechanisms.Estimates:
    """What a mechanism would publish, with noise from a seed."""
    measurements = mechanism.measure(data.queries, data.locations, SimulatedNoise(seed))
    return mechanism.estimate(measurements, data.locations)


def score(data: DataSet, entropy: np.ndarray, estimates: le.mechanisms.Estimates | None = None) -> Score:
    """Errors over all places and over busy and large ones; of intervals and of what is listed first, too."""
    # As in the paper, a place that is withheld counts as published with 0.
    off = np.nan_to_num(entropy, nan=0.0) - data.truth
    groups = {"": slice(None), "_busy": data.busy, "_large": data.large}
    measured = {f"mse{group}": mean(off[chosen] ** 2) for group, chosen in groups.items()}
    if estimates is None:
        return measured
    if estimates.entropy_busy is not None:
        measured["mse_busy_column"] = mean(((estimates.entropy_busy - data.truth) ** 2)[data.busy])
    if estimates.low is not None and estimates.high is not None:
        # An end that is printed as the truth covers it: 1e-9 is rounding.
        covered = (estimates.low <= data.truth + 1e-9) & (data.truth <= estimates.high + 1e-9)
        measured |= {f"covered{group}": mean(covered[chosen]) for group, chosen in groups.items()}
        measured["width"] = mean(estimates.high - estimates.low)
        measured["too_wide"] = too_wide(data.truth, estimates)
        first = np.argsort(-estimates.entropy, kind="stable")[:TOP]
        measured |= {"covered_top": mean(covered[first]), "bias_top": mean(off[first])}
    return measured


def tell(text: str) -> None:
    """Print progress, from any of the processes."""
    print(text, file=sys.stderr, flush=True)


def mean(values: np.ndarray) -> float:
    """The mean; NaN of nothing."""
    return float(values.mean()) if len(values) else float("nan")


def too_wide(truth: np.ndarray, estimates: le.mechanisms.Estimates) -> float:
    """How many times wider the intervals are than they need to be: shrunk by this, they still cover 95 %."""
    assert estimates.low is not None
    assert estimates.high is not None
    off = truth - estimates.entropy
    room = np.where(off > 0, estimates.high - estimates.entropy, estimates.entropy - estimates.low)
    used = np.divide(np.abs(off), room, out=np.where(off == 0, 0.0, np.inf), where=room > 0)
    needed = float(np.quantile(used, 0.95, method="higher"))
    return 1.0 / needed if needed > 0 else float("inf")


def averaged(rounds: Iterator[tuple[str, float, Score]]) -> Scores:
    """The mean over seeds for each method and ε."""
    kept: dict[tuple[str, float], list[Score]] = defaultdict(list)
    for method, epsilon, measured in rounds:
        kept[method, epsilon].append(measured)
    scores: Scores = {}
    for (method, epsilon), seeds in kept.items():
        means = {name: float(np.mean([each[name] for each in seeds])) for name in seeds[0]}
        scores.setdefault(method, {})[f"{epsilon:g}"] = means
    return scores


def printed(data: DataSet, epsilons: Sequence[float], seeds: int) -> Iterator[tuple[str, float, Score]]:
    """The paper's three as printed.

    Users keep the same places as for Moments. The paper's own experiments kept those of the lowest id, which are the
    most popular ones on Sparse: worse by some 3 nats² there.
    """
    bounded = data.queries.profile(le.private.Bounds(M, C))
    entropy, users = bounded.entropy, bounded.user_counts
    for epsilon in epsilons:
        scales = {
            "limit": as_printed.limit_scale(epsilon, M, C),
            "limit-ss": as_printed.limit_ss_scales(users, epsilon, DELTA, M, C),
        }
        for seed in range(seeds):
            for name, scale in scales.items():
                yield name, epsilon, score(data, as_printed.noisy(entropy, scale, seed).entropy)
            crowd = as_printed.limit_cb(users, entropy, epsilon, M, C, K, seed)
            yield "limit-cb", epsilon, score(data, crowd.entropy)


def moments(data: DataSet, epsilons: Sequence[float], seeds: int) -> Iterator[tuple[str, float, Score]]:
    """Moments, with every bound that hindsight may choose from."""
    for epsilon, m, c in product(epsilons, HINDSIGHT_M, HINDSIGHT_C):
        mechanism = le.Moments(epsilon, max_locations=m, max_visits=c)
        for seed in range(seeds):
            yield f"moments M={m} C={c}", epsilon, score(data, simulated(mechanism, data, seed).entropy)


def shares(data: DataSet, epsilons: Sequence[float], seeds: int) -> Iterator[tuple[str, float, Score]]:
    """Shares without δ."""
    for epsilon, seed in product(epsilons, range(seeds)):
        estimates = simulated(le.Shares(epsilon), data, seed)
        yield "shares", epsilon, score(data, estimates.entropy, estimates)


def shares_delta(data: DataSet, epsilons: Sequence[float], seeds: int) -> Iterator[tuple[str, float, Score]]:
    """Shares with a δ."""
    for epsilon, seed in product(epsilons, range(seeds)):
        estimates = simulated(le.Shares(epsilon, delta=DELTA), data, seed)
        yield "shares-delta", epsilon, score(data, estimates.entropy, estimates)


METHODS = {"paper": printed, "moments": moments, "shares": shares, "shares-delta": shares_delta}


def on_all_places(
    data: DataSet, epsilons: Sequence[float], seeds: int, methods: Sequence[str]
) -> dict[str, Any]:
    """The chosen methods on the whole list. Attributes are for Shares alone."""

    def rounds() -> Iterator[tuple[str, float, Score]]:
        for method in methods:
            if method.startswith("shares") or "+" not in data.name:
                yield from METHODS[method](data, epsilons, seeds)
                tell(f"{data.name}: {method} done")

    # The best constant for all places is their mean, so publishing the population mean scores the same.
    groups = {"mse": data.users >= 0, "mse_busy": data.busy, "mse_large": data.large}
    constant = {name: mean((data.truth[at] - mean(data.truth[at])) ** 2) for name, at in groups.items()}
    people = int(data.queries.locations_per_user().sum())
    counts = {
        "people": people,
        "locations": len(data.truth),
        "busy": int(data.busy.sum()),
        "large": int(data.large.sum()),
    }
    return {**counts, "constant": constant, "scores": averaged(rounds())}


def on_short_lists(
    data: DataSet, epsilons: Sequence[float], seeds: int, _: Sequence[str] = ()
) -> dict[str, Any]:
    """Shares on random parts of the list, beside publishing the mean entropy of the whole for every place.

    Every list has a noise seed of its own. What is compared are means over the lists of one size.
    """
    mean_of_all = data.truth.mean()
    sizes: dict[str, Any] = {}
    for size in (size for size in LIST_SIZES if size < len(data.truth)):
        errors: dict[float, list[float]] = {epsilon: [] for epsilon in epsilons}
        constant = []
        for seed in range(seeds):
            chosen = np.random.default_rng([size, seed]).choice(len(data.truth), size, replace=False)
            part = data.restricted_to(np.sort(chosen))
            constant.append(float(np.mean((part.truth - mean_of_all) ** 2)))
            for epsilon in epsilons:
                estimates = simulated(le.Shares(epsilon), part, seed)
                errors[epsilon].append(score(part, estimates.entropy)["mse"])
        measured = {f"{epsilon:g}": float(np.mean(values)) for epsilon, values in errors.items()}
        tell(f"{data.name}: lists of {size} done")
        sizes[str(size)] = {"mean": float(np.mean(constant)), "shares": measured}
    return sizes


def on_twins(data: DataSet, epsilons: Sequence[float], seeds: int, _: Sequence[str] = ()) -> dict[str, Any]:
    """The part of the true difference between the two places of each pair that Shares shows."""
    ids = data.locations.ids.to_pylist()
    pairs = {kind: tuple(ids.index(name) for name in names) for kind, names in TWINS.items()}
    found: dict[str, Any] = {}
    for kind, (even, ruled) in pairs.items():
        found[kind] = {"true": float(data.truth[even] - data.truth[ruled]), "parts": {}}
    for epsilon in epsilons:
        runs = [simulated(le.Shares(epsilon), data, seed) for seed in range(seeds)]
        for kind, (even, ruled) in pairs.items():
            apart = [run.entropy[even] - run.entropy[ruled] for run in runs]
            found[kind]["parts"][f"{epsilon:g}"] = float(np.mean(apart) / found[kind]["true"])
    return found
