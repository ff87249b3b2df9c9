"""Who takes part, what each computes, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

_OURS = ("--editable", str(Path(__file__).parents[2]))
"""This checkout with what it asks for and nothing else, as its users have it."""
_COUNTS = "private users per place"
_ENTROPY = "private entropy per place"


@dataclass(frozen=True)
class Contender:
    """One row of the table."""

    name: str
    """For the command line and its folder."""
    title: str
    computes: str
    answers: Literal["release", "bounded", "bounded, ties aside", "true", "users"]
    """What its answer is held against; see `checks.py`."""
    script: str
    argument: str | None = None
    packages: tuple[str, ...] = ()
    """What its own environment gets; none: it runs in this one."""
    must_answer: bool = False
    """Whether a failure ends the comparison: ours, and what all are compared with."""
    slow: bool = False
    """Whether to guess how long it will take before it is let loose on a large table."""
    reads: tuple[str, ...] = ("numbers",)
    """The inputs on which it takes part: see `inputs.py`."""


_ALL = ("numbers", "texts", "csv")


def _ours(mechanism: str) -> Contender:
    return Contender(
        mechanism.lower(),
        f"locentropy, `{mechanism}`",
        _ENTROPY,
        "release",
        "ours.py",
        mechanism.lower(),
        _OURS,
        must_answer=True,
        reads=_ALL,
    )


_BOUNDED = "entropy per place, bounded"
DUCKDB = Contender(
    "duckdb",
    "DuckDB, by hand",
    _BOUNDED,
    "bounded, ties aside",
    "duckdb_query.py",
    "id",
    must_answer=True,
    reads=_ALL,
)
"""As short as it gets: of places that a user was at first in the same second, the one with the lower id."""

CONTENDERS = (
    DUCKDB,
    Contender(
        "duckdb-md5",
        "DuckDB, by hand, ties by md5",
        _BOUNDED,
        "bounded",
        "duckdb_query.py",
        "md5",
        must_answer=True,
        reads=_ALL,
    ),
    _ours("Limit"),
    _ours("Moments"),
    _ours("Shares"),
    Contender(
        "command",
        "`locentropy publish`, Shares, with its page",
        _ENTROPY,
        "release",
        "command.py",
        "shares",
        _OURS,
        must_answer=True,
        reads=_ALL,
    ),
    Contender(
        "opendp",
        "OpenDP, Context API",
        _COUNTS,
        "users",
        "opendp_counts.py",
        packages=("opendp[polars]==0.16.0",),
        slow=True,
        reads=_ALL,
    ),
    Contender(
        "pipelinedp",
        "PipelineDP, local backend",
        _COUNTS,
        "users",
        "pipelinedp_counts.py",
        packages=("pipeline-dp==0.3.1", "pyarrow"),
        slow=True,
        reads=_ALL,
    ),
    Contender(
        "tumult",
        "Tumult Analytics on Spark",
        _COUNTS,
        "users",
        "tumult_counts.py",
        packages=("tmlt.analytics==0.21.0",),
        slow=True,
        reads=_ALL,
    ),
    Contender(
        "skmob",
        "scikit-mobility",
        "entropy per place",
        "true",
        "skmob_entropy.py",
        # It makes coordinates of ids, so these are numbers. And it asks for pandas 1, which is older than NumPy 2 and
        # all that was built for it.
        packages=("scikit-mobility==1.3.1", "numpy<2", "pyarrow<20", "scipy<1.12", "shapely<2"),
        slow=True,
    ),
)


def earlier(checkout: Path) -> tuple[Contender, ...]:
    """Ours as it was in another checkout of this repository."""
    packages = ("--editable", str(checkout.resolve()))
    return tuple(
        replace(each, name=f"{each.name}-earlier", title=f"{each.title}, earlier", packages=packages)
        for each in CONTENDERS
        if each.packages == _OURS
    )
