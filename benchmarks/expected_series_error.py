"""Whether a plan foretells what earlier releases take from the error of later ones: measured beside what is told.

    python benchmarks/expected_series_error.py                       # all sets
    python benchmarks/expected_series_error.py --data year --epsilon 1

*Left* is the part of the mean squared error of independent releases that is left with `--after`, in months 2, 6 and 12:
measured, and as `plan --periods` computes it from public numbers alone (places, people of a month, ε and δ) for cities
of many kinds (`shares/series_risk.py`). The second number of what is told is widened, as a plan widens it.
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import locentropy as le
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.expected_error import look_noise
from locentropy.mechanisms.shares.series_risk import kept_at_most, parts_left
from series_data import FRESH, SETS, missing, open_series

MONTHS = (2, 6, 12)


def measured(data: object, mechanism: le.Shares, seed: int) -> list[float]:
    """The part that is left in each month."""
    smoother, left = mechanism.smoother(data.locations), []  # type: ignore[attr-defined]
    for number, period in enumerate(data.periods):  # type: ignore[attr-defined]
        answers = data.answers(number, mechanism, SimulatedNoise(1000 * seed + number))  # type: ignore[attr-defined]
        found = smoother.conclude(answers)
        errors = [np.mean((each.entropy - period.truth) ** 2) for each in (found.smoothed, found.alone)]
        left.append(float(errors[0] / errors[1]))
    return left


def around(left: list[float], month: int) -> float:
    """The mean of a month and its neighbours, for single months scatter."""
    return float(np.mean(left[max(month - 2, 1) : month + 1] if month > MONTHS[0] else left[1:2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    there = [name for name in SETS | FRESH if missing(name) is None]
    parser.add_argument("--data", nargs="+", choices=there, default=there)
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 1 / 3])
    parser.add_argument("--delta", nargs="+", type=float, default=[0.0, 1e-6])
    asked = parser.parse_args()
    warnings.simplefilter("ignore", le.mechanisms.LargeDeltaWarning)
    print("| data | people for each place | ε | δ | left, measured: 2, 6, 12 | told |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in asked.data:
        with open_series(name) as data:
            people = np.mean([period.queries.locations_per_user().sum() for period in data.periods])
            per_place = float(people / len(data.locations.ids))
            for epsilon in asked.epsilon:
                for delta in asked.delta:
                    mechanism = le.Shares(round(epsilon, 3), delta=delta)
                    found = measured(data, mechanism, 0)
                    look = look_noise(mechanism.share_queries)
                    kinds = np.array(list(parts_left(look, per_place, None, MONTHS[-1]).values()))
                    told = "; ".join(
                        f"{kinds[:, month - 1].min():.2f} to {kept_at_most(float(kinds[:, month - 1].max())):.2f}"
                        for month in MONTHS
                    )
                    came = ", ".join(f"{around(found, month):.2f}" for month in MONTHS)
                    print(
                        f"| {name} | {per_place:.2g} | {epsilon:.2g} | {delta:g} | {came} | {told} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
