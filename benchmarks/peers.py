"""What privacy costs here and elsewhere: time and memory of a full `publish` beside its peers, in one run.

    python benchmarks/peers.py                        # 1 and 10 million rows, 5 rounds
    python benchmarks/peers.py --rows 100000 --rounds 1 --only duckdb shares opendp
    python benchmarks/peers.py --inputs texts csv --only duckdb duckdb-md5 command
    python benchmarks/peers.py --earlier ../earlier --only limit moments shares command

All read the same visits and the same public list of places (see `profiles.py`: 10 million visits of 1 million users to
100,000 places), stored in three ways: whole numbers in Parquet, text ids in Parquet, text ids in CSV (`inputs.py`).
`locentropy publish` is measured as people run it, from starting Python to the last file, with its page; other rows
leave out starting, and the page, which no peer draws. Peers take part where they read the input. Nobody else
publishes location entropy under user-level privacy; the closest that others offer is the number of users of every
place, each user counting in at most M = 5 places, at the same ε = 1. Every answer is checked before its time counts.

Contenders take turns, each in a process of its own that first answers for a few rows, so that loading does
not count. Ratios are to the DuckDB query of the same round: a busy machine weighs on both alike. All but DuckDB
are installed into environments of their own under `.benchmarks/peers`, ours too, as its users have it; who does not
install or run is skipped, with the reason. The slow ones get as many rounds as fit into `--patience`. `--earlier` names
another checkout of this repository, whose version takes part beside this one: whether anything became slower.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from inputs import INPUTS, Input
from peers.checks import Truth
from peers.contenders import CONTENDERS, DUCKDB, Contender, earlier
from peers.environments import NotInstalledError, interpreter
from peers.running import FailedError, Turn, run
from peers.turn import EPSILON, M
from profiles import FOLDER

if TYPE_CHECKING:
    from collections.abc import Collection

TOO_LONG = 600.0
"""Seconds of one turn beyond which a contender is not let loose on a table."""
WARM = 10_000


class Field:
    """The contenders, where they run, how long they took so far, and why some do not."""

    def __init__(self, contenders: list[Contender], stored: Input) -> None:
        self.contenders = contenders
        self.stored = stored
        self.pythons: dict[Contender, str] = {}
        self.skipped: dict[Contender, str] = {}
        self.seconds: dict[tuple[Contender, int], float] = {}
        for each in contenders:
            try:
                self.pythons[each] = interpreter(each, FOLDER / "peers")
            except NotInstalledError as reason:
                self.skipped[each] = str(reason)

    def turn(self, contender: Contender, rows: int, truth: Truth | None = None) -> Turn:
        """One turn; its answer is held against the truth, if that is known."""
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder) / "answer.parquet"
            python = self.pythons[contender]
            warm, real = self.stored.files(WARM), self.stored.files(rows)
            done = run(contender, python, warm, real, answer, 2 * TOO_LONG)
            if truth is not None:
                truth.check(contender, answer)
        self.seconds[contender, rows] = done.seconds
        return done

    def guess(self, contender: Contender, rows: int) -> float:
        """How long a turn will take, if it grows as it did from a hundredth to a tenth of the rows."""
        sizes = [max(rows // part, WARM) for part in (100, 10)]
        for size in sizes:
            if (contender, size) not in self.seconds:
                self.turn(contender, size)
        small, large = (self.seconds[contender, size] for size in sizes)
        return large * max(large / small, 1.0)

    def without_the_endless(self, rows: int) -> dict[Contender, str]:
        """Why some do not take part on a table of so many rows."""
        skipped = dict(self.skipped)
        for each in self.contenders:
            if each.slow and each not in skipped:
                try:
                    seconds = self.guess(each, rows)
                except FailedError as reason:
                    skipped[each] = self.skipped[each] = str(reason)
                    continue
                if seconds > TOO_LONG:
                    skipped[each] = f"would take about {seconds / 60:.0f} minutes"
        return skipped


def compare(field: Field, rows: int, rounds: int, patience: float) -> None:
    """All rounds on one table, and the table of what they took."""
    truth = Truth(field.stored.files(rows))
    skipped = field.without_the_endless(rows)
    turns: dict[Contender, dict[int, Turn]] = {each: {} for each in field.contenders}
    for round_ in range(rounds):
        for each in field.contenders:
            if each in skipped or (each.slow and not has_time(turns[each].values(), patience)):
                continue
            tell(f"{rows:,} rows, round {round_ + 1} of {rounds}: {each.name}")
            try:
                done = turns[each][round_] = field.turn(each, rows, truth)
            except (FailedError, AssertionError) as reason:
                if each.must_answer:
                    raise
                skipped[each] = str(reason)
            else:
                tell(f"    {done.seconds:.2f} s, {done.peak_mb:,.0f} MB")
    print(f"\n{field.stored.title}: {rows:,} visits, {rows // 10:,} users, {truth.places:,} places,")
    print(f"M = C = {M}, ε = {EPSILON:g};")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores\n")
    print(
        "| | version | computes | seconds | of it noise | × DuckDB | in each round "
        "| processor seconds | peak MB | rounds |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for each in field.contenders:
        print(skipped_row(each, skipped[each]) if each in skipped else row(each, turns[each], turns[DUCKDB]))
    print("".join(map(start_note, turns.items())))


def has_time(turns: Collection[Turn], patience: float) -> bool:
    """Whether one more turn fits; the first always does."""
    spent = sum(turn.wall for turn in turns)
    return not turns or spent + spent / len(turns) <= patience


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def skipped_row(contender: Contender, reason: str) -> str:
    package, _, version = contender.packages[0].partition("==")
    return f"| {contender.title} | {version or package} | {contender.computes} | skipped: {reason} | | | | | | 0 |"


def row(contender: Contender, mine: dict[int, Turn], base: dict[int, Turn]) -> str:
    turns = list(mine.values())
    (_, version), *others = turns[0].versions.items()
    with_ = f" ({', '.join(f'{name} {each}' for name, each in others)})" if others else ""
    noise = [turn.noise_seconds for turn in turns if turn.noise_seconds is not None]
    used = [turn.processor_seconds for turn in turns if turn.processor_seconds is not None]
    ratios = [turn.seconds / base[round_].seconds for round_, turn in mine.items()]
    cells = (
        contender.title,
        version + with_,
        contender.computes,
        f"{statistics.median(turn.seconds for turn in turns):.2f}",
        f"{statistics.median(noise):.2f}" if noise else "",
        f"{statistics.median(ratios):.2f}",
        f"{min(ratios):.2f}–{max(ratios):.2f}",
        f"{statistics.median(used):.1f}" if used else "",
        f"{statistics.median(turn.peak_mb for turn in turns):,.0f}",
        str(len(turns)),
    )
    return f"| {' | '.join(cells)} |"


def start_note(entry: tuple[Contender, dict[int, Turn]]) -> str:
    contender, turns = entry
    starts = [turn.start_seconds for turn in turns.values() if turn.start_seconds is not None]
    if not starts:
        return ""
    return f"\n{contender.title} took {statistics.median(starts):.1f} s to start, which are not counted.\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [each.name for each in CONTENDERS]
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), help="how visits are stored"
    )
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="DuckDB always takes part")
    parser.add_argument(
        "--patience", type=float, default=10, help="minutes for all turns of a slow contender on one table"
    )
    parser.add_argument(
        "--earlier", type=Path, help="a checkout whose version takes part as well, where ours does"
    )
    chosen = parser.parse_args()
    before = () if chosen.earlier is None else earlier(chosen.earlier)
    for name in chosen.inputs:
        taking_part = [
            each
            for each in (*CONTENDERS, *before)
            if name in each.reads and (each is DUCKDB or each.name.removesuffix("-earlier") in chosen.only)
        ]
        field = Field(taking_part, INPUTS[name])
        for rows in chosen.rows:
            compare(field, rows, chosen.rounds, 60 * chosen.patience)


if __name__ == "__main__":
    main()
