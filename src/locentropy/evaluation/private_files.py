"""An evaluation on disk: a folder that, like every file in it, has PRIVATE in its name."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ReleaseError
from locentropy.core.files import atomic_write, check_writable, made_folder, sync_folder
from locentropy.core.version import __version__
from locentropy.evaluation.compare import NOT_FOR_PUBLICATION
from locentropy.evaluation.outcome import METRICS
from locentropy.evaluation.plots import PLOTS_MISSING, PlotsMissingWarning, can_draw, pictures, svg_of
from locentropy.evaluation.private_page import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.evaluation.compare import Compared, Evaluation, Score

MARK: Final = "PRIVATE"


def marked(folder: str | Path) -> Path:
    """Return the folder, with the mark added to its name if it is not there."""
    path = Path(os.path.abspath(folder))  # noqa: PTH100  # without dots, links left as they are
    # "NOT-PRIVATE" says the opposite.
    says_so = MARK in path.name.replace(f"NOT-{MARK}", "")
    return path if says_so else path.with_name(f"{path.name or 'evaluation'}-{MARK}")


def check_free(target: Path) -> None:
    """Raise unless the files can be written there: a new folder, or an empty one."""
    check_writable(target)
    if os.path.lexists(target) and not (
        target.is_dir() and not target.is_symlink() and not any(target.iterdir())
    ):
        raise ReleaseError(
            f"{target} is already there and not an empty folder. Choose a new name, for example --out "
            f"{target.name.removesuffix(f'-{MARK}')}-2"
        )


def save(evaluation: Evaluation, folder: str | Path) -> Path:
    """Write tables, pictures and page into a new folder, all or nothing, readable by their owner only."""
    target = marked(folder)
    check_free(target)
    files = contents(evaluation)
    with made_folder(target):
        target.chmod(0o700)  # before there is anything in it
        with atomic_write(*(target / name for name in files)) as parts:
            for part, text in zip(parts, files.values(), strict=True):
                part.touch(mode=0o600)
                part.write_text(text, encoding="utf-8")
        sync_folder(target)
    if not can_draw():
        warnings.warn(PLOTS_MISSING, PlotsMissingWarning, stacklevel=3)  # here, Evaluation.save, the caller
    return target


def contents(evaluation: Evaluation) -> dict[str, str]:
    """Return the text of every file by its name; without matplotlib, no pictures are among them."""
    figures = pictures(evaluation) if can_draw() else {}
    drawn = {name: (caption, svg_of(name, figure)) for name, (caption, figure) in figures.items()}
    return {
        f"evaluation-{MARK}.csv": as_csv(evaluation),
        f"evaluation-{MARK}.json": json.dumps(as_dict(evaluation), indent=2, ensure_ascii=False) + "\n",
        **{f"{name}-{MARK}.svg": svg for name, (_, svg) in drawn.items()},
        f"evaluation-{MARK}.html": page(evaluation, list(drawn.values())),
    }


def as_csv(evaluation: Evaluation) -> str:
    """Return one row for each candidate, ε, group of places and metric."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(("status", "candidate", "epsilon", "parameters", "places", "metric", "mean", "sd"))
    for each in (*evaluation.compared, *evaluation.references):
        parameters = "; ".join(f"{k}={v}" for k, v in each.parameters.items() if k != "epsilon")
        for group, metric, score in _rows(evaluation, each):
            cells = (
                each.label,
                each.epsilon or "",
                parameters,
                group,
                metric,
                _cell(score.mean),
                _cell(score.sd),
            )
            table.writerow((f"{MARK}: not for publication", *cells))
    return written.getvalue()


def _rows(evaluation: Evaluation, each: Compared) -> Iterator[tuple[str, str, Score]]:
    for metric, score in each.scores.items():
        yield "all", metric, score
    for octave, row in zip(evaluation.octaves, each.by_users, strict=True):
        for metric, score in row.items():
            yield f"users {octave.low} to {octave.high}", metric, score


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def as_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return the evaluation for JSON; None where a metric has no meaning."""
    crowd = evaluation.throwaway
    return {
        "not_for_publication": True,
        "tuned_on_data": True,
        "warning": NOT_FOR_PUBLICATION,
        "software": f"locentropy {__version__}",
        "unit": "nats",
        "places": len(evaluation.truth.entropy),
        "seeds": evaluation.seeds,
        "throwaway": {
            "max_locations": crowd.max_locations,
            "max_visits": crowd.max_visits,
            "min_users": crowd.min_users,
            "places": int(evaluation.truth.crowded.sum()),
        },
        "metrics": METRICS,
        "compared": [_compared(evaluation, each) for each in evaluation.compared],
        "references": [_compared(evaluation, each) for each in evaluation.references],
        "best": [
            {
                "epsilon": best.epsilon,
                "candidate": best.label,
                "parameters": best.parameters,
                "metric": best.metric,
                **_score(best.error),
                "published": best.published,
                "worse_than_constant": best.worse_than_constant,
                "tuned_on_data": best.tuned_on_data,
            }
            for best in evaluation.best()
        ],
    }


def _compared(evaluation: Evaluation, each: Compared) -> dict[str, Any]:
    return {
        "candidate": each.label,
        "mechanism": each.name,
        "epsilon": each.epsilon,
        "parameters": each.parameters,
        "scores": {metric: _score(score) for metric, score in each.scores.items()},
        "by_users": [
            {"from": octave.low, "to": octave.high} | {metric: _score(score) for metric, score in row.items()}
            for octave, row in zip(evaluation.octaves, each.by_users, strict=True)
        ],
    }


def _score(score: Score) -> dict[str, float | None]:
    return {
        name: None if math.isnan(value) else value for name, value in (("mean", score.mean), ("sd", score.sd))
    }
