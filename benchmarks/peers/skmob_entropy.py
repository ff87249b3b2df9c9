"""scikit-mobility: the entropy of every place from all visits of all users, without bounds and without privacy.

It knows places by their coordinates, so every id becomes a point of a grid.
"""

from __future__ import annotations

import warnings

warnings.simplefilter("ignore")  # it uses what its libraries have long deprecated

import pandas as pd  # noqa: E402
from skmob import TrajDataFrame  # noqa: E402
from skmob.measures.collective import uncorrelated_location_entropy  # noqa: E402
from turn import take_turn  # noqa: E402

ROW = 1000


def entropies(visits: str, places: str) -> pd.DataFrame:
    table = pd.read_parquet(visits)
    table["lat"], table["lng"] = table["location"] // ROW / 10, table["location"] % ROW / 10
    return uncorrelated_location_entropy(
        TrajDataFrame(table, datetime="time", user_id="user"), show_progress=False
    )


def write(answer: pd.DataFrame, path: str) -> None:
    location = (answer["lat"] * 10).round() * ROW + (answer["lng"] * 10).round()
    entropy = answer["uncorrelated_location_entropy"]
    pd.DataFrame({"location": location.astype("int64"), "entropy": entropy}).to_parquet(path)


if __name__ == "__main__":
    take_turn(entropies, write, ["scikit-mobility", "pandas"])
