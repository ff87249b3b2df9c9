"""Run the paper's evaluation again, from nothing but this package (and a Gowalla file, if there is one).

Noise is simulated from public seeds, and the exact values stand beside it: for the paper's data, which is synthetic or
public, and never for data about people whom a release is to protect.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from locentropy.core.errors import ParameterError
from locentropy.core.version import __version__
from locentropy_lab.reproduction.claims import CLAIMS
from locentropy_lab.reproduction.claims.judging import RULE, Results, judge
from locentropy_lab.reproduction.experiments import EXPERIMENTS, DataSets
from locentropy_lab.reproduction.figures import figures_of
from locentropy_lab.reproduction.result_files import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pyarrow as pa

    from locentropy.visits.engines.base import Progress
    from locentropy_lab.reproduction.claims.judging import Finding
    from locentropy_lab.reproduction.experiments import Experiment
    from locentropy_lab.reproduction.settings import Settings


ALL = "all"
NO_GOWALLA = (
    "Gowalla is left out: name SNAP's loc-gowalla_totalCheckins.txt.gz, or the New York extract, with --gowalla FILE "
    "or in the environment variable LOCENTROPY_GOWALLA."
)


@dataclass(frozen=True)
class Reproduction:
    """The results of a run."""

    settings: Settings
    results: Results
    findings: tuple[Finding, ...]
    page: Path
    skipped: dict[str, str] = field(default_factory=dict)
    """Experiments that did not run, and why."""


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments of these names, in the paper's order; raises ParameterError for an unknown name."""
    for name in names:
        if name != ALL and name not in EXPERIMENTS:
            known = ", ".join((ALL, *EXPERIMENTS))
            raise ParameterError(
                f"Unknown experiment {name[:40]!r}. Choose from {known}. For example: locentropy reproduce table2"
            )
    wanted = set(EXPERIMENTS) if ALL in names or not names else set(names)
    return [each for each in EXPERIMENTS.values() if each.name in wanted]


def run_experiments(
    names: Sequence[str],
    settings: Settings,
    folder: Path,
    *,
    gowalla: Path | None = None,
    again: bool = False,
    progress: Progress = lambda *_: None,
    told: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Run experiments and write numbers, figures and the page into a folder. Finished ones there are not run again."""
    store = Store(folder, again=again)
    data_sets = DataSets(settings, store, gowalla, progress)
    tables, skipped = computed(chosen(names), data_sets, store, told)
    results = Results(settings, tables)
    findings = tuple(judge(claim, results) for claim in CLAIMS if claim.experiment in tables)
    made = Reproduction(settings, results, findings, folder / "index.html", skipped)
    progress("Drawing figures", None)
    _write(made, store, folder)
    return made


def computed(
    experiments: Sequence[Experiment],
    data_sets: DataSets,
    store: Store,
    told: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """Compute experiments, keeping each once it is finished; returns their numbers, and why others did not run."""
    tables, skipped = {}, {}
    for place, each in enumerate(experiments, start=1):
        if each.data and not any(data_sets.has(name) for name in each.data):
            skipped[each.name] = NO_GOWALLA
            continue
        identity = _identity(each, data_sets)
        table = store.finished(each.name, identity)
        kept = table is not None
        if table is None:
            table = each.compute(data_sets)
            store.keep(each.name, identity, table)
        tables[each.name] = table
        told(f"{each.name}: {each.title} ({place} of {len(experiments)}{', was finished' if kept else ''})")
    return tables, skipped


def _identity(experiment: Experiment, data_sets: DataSets) -> dict[str, Any]:
    """All that the numbers of an experiment depend on."""
    settings = {name: value for name, value in data_sets.settings.as_dict().items() if name != "label"}
    data = [data_sets.identity(name) for name in experiment.data if data_sets.has(name)]
    return {"experiment": experiment.name, "settings": settings, "data": data}


def _write(made: Reproduction, store: Store, folder: Path) -> None:
    """Write figures, verdicts and the page; the page last, so that it never shows what is missing."""
    from locentropy_lab.reproduction.figures.style import png_of, svg_of
    from locentropy_lab.reproduction.page import page

    drawn: dict[str, dict[str, str]] = {}
    for name, table in made.results.tables.items():
        drawn[name] = {}
        for file, figure in figures_of(name, table, made.settings).items():
            drawn[name][file] = svg_of(file, figure)
            store.write({
                store.figures / f"{file}.png": png_of(figure), store.figures / f"{file}.svg": drawn[name][file]
            })  # fmt: skip
    store.write({
        folder / "verdicts.json": json.dumps(verdicts(made), indent=2, ensure_ascii=False) + "\n",
        made.page: page(made, drawn),
    })  # fmt: skip


def verdicts(made: Reproduction) -> dict[str, Any]:
    """Return every verdict with its cases, for JSON."""
    return {
        "software": f"locentropy {__version__}",
        "settings": made.settings.as_dict(),
        "rule": RULE,
        "skipped": made.skipped,
        "claims": [
            {
                "name": each.claim.name, "experiment": each.claim.experiment, "paper": each.claim.paper,
                "judged": each.claim.judged, "verdict": each.verdict, "summary": each.summary,
                "cases": [vars(case) for case in each.cases],
            }
            for each in made.findings
        ],
    }  # fmt: skip
