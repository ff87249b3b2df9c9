"""The figures of Shares 0.1 on the sets of `utility.py`, to compare with: writes utility_today.json.

    git worktree add ../today 8c27e0f                        # the last commit with the mechanism of 0.1
    PYTHONPATH=../today/src:../today/lab/src python benchmarks/utility_today.py

It measures with the code of `utility.py`, so the sets, the noise seeds and the measures are the same. Sets with an
attribute are left out: 0.1 knew none. Run it again if a set or a measure changes; sets that are not chosen are kept.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from typing import Any

import locentropy as le
from utility import EPSILONS, run
from utility_data import DERIVED, REAL, SYNTHETIC, missing
from utility_goals import TODAY


def rounded(figures: Any) -> Any:
    """Four digits, and null for what there is none of."""
    if isinstance(figures, dict):
        return {name: rounded(value) for name, value in figures.items()}
    if isinstance(figures, float):
        return None if math.isnan(figures) else float(f"{figures:.4g}")
    return figures


def main() -> None:
    sets = [*SYNTHETIC, *REAL, *DERIVED]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=sets, default=sets)
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    if any(each.name == "delta" for each in dataclasses.fields(le.Shares)):
        sys.exit("This locentropy is newer than 0.1: set PYTHONPATH as described in --help.")
    names = [name for name in chosen.data if missing(name) is None]
    found = run(names, ["scores"], chosen.epsilon, chosen.seeds, chosen.processes, ["shares"])
    kept = json.loads(TODAY.read_text())["sets"] if TODAY.exists() else {}
    for name, figures in found["sets"].items():
        kept[name] = rounded({**figures, "scores": figures["scores"]["shares"]})
    ordered = {name: kept[name] for name in sets if name in kept}
    TODAY.write_text(json.dumps({"seeds": chosen.seeds, "sets": ordered}, indent=1) + "\n")


if __name__ == "__main__":
    main()
