"""A run from the data to the page, a tenth as large as `--fast`: as many users per location, a tenth of both."""

from __future__ import annotations

import fcntl
import math
import os
import re
import shutil
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from locentropy.core.errors import ParameterError
from locentropy_lab import as_printed
from locentropy_lab.reproduction import result_files, run
from locentropy_lab.reproduction.claims import CLAIMS
from locentropy_lab.reproduction.claims.judging import Results, judge
from locentropy_lab.reproduction.experiments import EXPERIMENTS, DataSets
from locentropy_lab.reproduction.figures import figures_of
from locentropy_lab.reproduction.result_files import Store
from locentropy_lab.reproduction.sensitivities import crossings
from locentropy_lab.reproduction.settings import FAST
from locentropy_lab.reproduction.simulations import LINES, METRICS, PRINTED, Point, Simulations

SMALL = replace(
    FAST,
    label="small",
    sparse_users=10_000,
    dense_users=100_000,
    locations=1000,
    seeds=2,
    c_grid=(1, 2, 5, 10, 50),
)
TINY = replace(
    SMALL, label="tiny", sparse_users=300, dense_users=600, locations=200, seeds=2, epsilons=(1.0, 5.0),
    m_grid=(2, 5), c_grid=(1, 5), min_users=10,
)  # fmt: skip

WANTED = ["table2", "fig1", "fig2", "fig3", "fig7", "fig8", "fig12", "recommendations"]
"""Some experiments of each kind."""

VERDICTS = {
    "table 2, Sparse": "holds corrected only",
    "table 2, Dense": "holds corrected only",
    "smaller ids have higher entropy": "holds",
    "sensitivity grows with C": "holds corrected only",
    "Limit's noise is two orders below Baseline's": "holds",
    "Limit-CB's sensitivity is far below Limit's": "does not hold",
    "sensitivity falls with n": "holds",
    "n_CB from the sensitivities": "holds corrected only",
    "published ratio is 100 % on Dense": "holds corrected only",
    "published ratio is below 10 % on Sparse": "holds as printed only",
    "Limit publishes as many as Limit-CB at k = K": "does not hold",
    "Limit-SS is best on Dense, all locations": "holds",
    "Limit-SS is best on Dense, Throwaway": "holds",
    "Limit-CB is best on Sparse, all locations": "does not hold",
    "Limit-CB is best on Sparse, Throwaway": "holds",
    "Limit-CB is best at a small budget": "holds in most cases",
    "errors saturate at ε = 5": "holds as printed only",
    "errors are higher on Dense than on Sparse": "holds as printed only",
    "gains over Limit grow as ε falls": "holds in most cases",
    "best M of Limit on Dense is 5": "holds corrected only",
    "best M of Limit-SS on Dense is 30 or more": "holds as printed only",
    "best M of Limit-CB on Dense is 30 or more": "holds as printed only",
    "best M of Limit-SS on Sparse, Throwaway is 10": "holds corrected only",
    "best M of Limit-CB on Sparse, Throwaway is 20": "holds as printed only",
    "KL grows with C": "holds",
    "C of at most 10 is enough": "holds",
    "M matters more than C": "holds in most cases",
    "the rule for dense and sparse data": "does not hold",
}
"""What the small run says of each claim that needs no Gowalla; docs/reproduction.md has the larger ones."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Results:
    base = tmp_path_factory.getbasetemp()
    # Of several workers one computes, and the others find what it has finished.
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "small"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        store = Store(shared)
        data_sets = DataSets(SMALL, store, None, lambda *_: None)
        tables, _ = run.computed(list(EXPERIMENTS.values()), data_sets, store)
    return Results(SMALL, tables)


@pytest.mark.parametrize("name", VERDICTS)
def test_claim(name: str, small: Results) -> None:
    [claim] = [claim for claim in CLAIMS if claim.name == name]
    finding = judge(claim, small)
    assert finding.verdict == VERDICTS[name], [
        (case.way, case.where, case.holds, case.numbers) for case in finding.cases
    ]


def test_claims_about_gowalla_are_left_open(small: Results) -> None:
    findings = {claim.name: judge(claim, small).verdict for claim in CLAIMS if claim.name not in VERDICTS}
    assert set(findings.values()) == {"not judged"}
    assert "Gowalla behaves like Sparse" in findings


def test_every_line_is_in_every_comparison(small: Results) -> None:
    for name in ("fig8", "fig9", "fig10"):
        table = small.tables[name]
        assert set(LINES) < set(table["mechanism"].to_pylist())
        for metric in METRICS:
            assert not np.isnan(small.rows(name, data="dense")[metric].to_numpy()).all()
        assert set(small.rows(name, mechanism="moments")["seed"].to_pylist()) == {0, 1}


def test_shares_is_far_better_than_the_paper_s_own(small: Results) -> None:
    for data in ("dense", "sparse"):
        ours = small.rows("fig8", data=data, mechanism="shares", epsilon=1.0)["mse"].to_numpy().mean()
        for way in ("paper", "release"):
            for name in PRINTED:
                rows = small.rows("fig8", data=data, mechanism=name, epsilon=1.0, first_m=way)
                assert ours < rows["mse"].to_numpy().mean() / 5


def test_crossings_are_those_of_the_errata() -> None:
    assert crossings(FAST) == {
        "sensitivities": 51,
        "sensitivities, Algorithm 4": 44,
        "noise as printed": 96,
        "noise as corrected": 110,
    }


def test_printed_scales_are_those_of_the_paper() -> None:
    users = np.array([0, 1, 2, 17, 400, 5000, 40_000])
    smooth = as_printed.algorithm_4(5, 5.0, FAST.delta, FAST.floor, largest=40_000)
    ours = as_printed.limit_ss_scales(users, 5.0, FAST.delta, 5, 5, FAST.floor)
    assert ours.tolist() == (2 * 5 * smooth[users] / 5.0).tolist()


def test_lines_as_printed(tmp_path: Path) -> None:
    data = DataSets(TINY, Store(tmp_path), None, lambda *_: None).counted("sparse")
    simulations = Simulations(data, TINY)
    point = Point.default(TINY, "paper")
    for name in LINES:
        published = simulations.published(name, replace(point, epsilon=1.0), 0)
        assert published is not None
        there = published[~np.isnan(published)]
        assert there.min() >= 0
        assert there.max() <= math.log(data.users) + 1e-6
        again = simulations.published(name, replace(point, epsilon=1.0), 1)
        assert again is not None
        assert not np.array_equal(published, again, equal_nan=True)
    one_visit = replace(point, max_visits=1)
    assert all(simulations.published(name, one_visit, 0) is None for name in PRINTED)
    assert simulations.published("limit", one_visit, 0) is not None


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, run.Reproduction, list[str]]:
    """The folder of a tiny run of some experiments, what came of it, and what it said."""
    folder, said = tmp_path_factory.mktemp("tiny"), []
    return folder, run.run_experiments(WANTED, TINY, folder, told=said.append), said


def test_from_data_to_page(tiny: tuple[Path, run.Reproduction, list[str]]) -> None:
    tmp_path, made, said = tiny
    assert list(made.skipped) == ["fig3", "fig12"]
    assert len(said) == len(WANTED) - 2
    page = made.page.read_text()
    files = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert files == {"fig1", "fig2", "fig7", "fig8", "fig8-release", "recommendations"}
    assert page.count("<svg") == len(files) == len(list((tmp_path / "figures").glob("*.svg")))
    assert "<script" not in page
    assert not re.search(r"""\b(src|href)\s*=\s*["'](?!#|data:)""", page)  # nothing is loaded from anywhere
    for finding in made.findings:
        assert escape(finding.claim.name) in page
        assert escape(finding.summary) in page
        for case in finding.cases:
            assert escape(case.numbers) in page
    for name in made.results.tables:
        columns = pq.read_table(tmp_path / "numbers" / f"{name}.parquet")
        text = pa_csv.read_csv(tmp_path / "numbers" / f"{name}.csv")
        assert (columns.num_rows, columns.column_names) == (text.num_rows, text.column_names)
    assert not list(tmp_path.rglob("*.part"))
    assert "Dense has 10,000,000 users: what is said" in page


def test_figures_have_words_and_one_colour_for_each_mechanism(
    tiny: tuple[Path, run.Reproduction, list[str]], tmp_path: Path
) -> None:
    store = Store(shutil.copytree(tiny[0], tmp_path / "tiny"))  # which goes on where that run ended
    data_sets = DataSets(TINY, store, None, lambda *_: None)
    tables, _ = run.computed(list(EXPERIMENTS.values()), data_sets, store)
    drawn = {
        file: figure
        for name, table in tables.items()
        for file, figure in figures_of(name, table, TINY).items()
    }
    assert {"fig6", "fig6-release", "fig9", "fig9-release", "fig10", "fig10-release"} < set(drawn)
    colours: dict[str, set[str]] = {}
    for file, figure in drawn.items():
        assert figure.get_suptitle(), file
        for axis in figure.axes:
            assert axis.get_xlabel(), file
            assert axis.get_ylabel() or file == "fig7", file  # there one stands for a row of panels
            for line in axis.get_lines():
                mechanism = re.match(
                    r"(Limit|Limit-SS|Limit-CB|Limit-PTR|Moments|Shares)(,|$)", str(line.get_label())
                )
                if mechanism:
                    colours.setdefault(mechanism[1], set()).add(str(line.get_color()))
    assert {name: len(found) for name, found in colours.items()} == dict.fromkeys(
        ("Limit", "Limit-SS", "Limit-CB", "Limit-PTR", "Moments", "Shares"), 1
    )
    assert len({colour for found in colours.values() for colour in found}) == len(colours)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["fig1", "fig5", "fig7"]
    real = EXPERIMENTS["fig7"]

    def stop(_: object) -> pa.Table:
        raise KeyboardInterrupt

    monkeypatch.setitem(EXPERIMENTS, "fig7", replace(real, compute=stop))
    with pytest.raises(KeyboardInterrupt):
        run.run_experiments(wanted, TINY, tmp_path)
    assert not (tmp_path / "index.html").exists()
    monkeypatch.setitem(EXPERIMENTS, "fig7", real)
    for name in ("fig1", "fig5"):
        monkeypatch.setitem(EXPERIMENTS, name, replace(EXPERIMENTS[name], compute=stop))
    said: list[str] = []
    run.run_experiments(wanted, TINY, tmp_path, told=said.append)
    assert ["was finished" in line for line in said] == [True, True, False]
    with pytest.raises(KeyboardInterrupt):
        run.run_experiments(wanted, TINY, tmp_path, again=True)
    with pytest.raises(KeyboardInterrupt):  # other parameters: nothing of it is finished
        run.run_experiments(wanted, replace(TINY, seeds=3), tmp_path)
    monkeypatch.setattr(result_files, "__version__", "0.0.0")
    with pytest.raises(KeyboardInterrupt):
        run.run_experiments(wanted, TINY, tmp_path)


def test_counted_data_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    first = DataSets(TINY, store, None, lambda *_: None).counted("sparse")
    monkeypatch.setattr("locentropy_lab.reproduction.experiments.counted", lambda *_: 1 / 0)
    again = DataSets(TINY, store, None, lambda *_: None).counted("sparse")
    assert again.entropy.tolist() == first.entropy.tolist()
    with pytest.raises(ZeroDivisionError):
        DataSets(replace(TINY, sparse_users=301), store, None, lambda *_: None).counted("sparse")


def test_a_file_of_somebody_else_is_not_taken_for_ours(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "numbers" / "fig1.parquet").write_text("no table")
    assert store.finished("fig1", {"experiment": "fig1"}) is None
    store.keep("fig1", {"experiment": "fig1"}, pa.table({"a": [1]}))
    assert store.finished("fig1", {"experiment": "fig1"}) is not None
    assert store.finished("fig1", {"experiment": "fig1", "seeds": 2}) is None


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"fig13.*Choose from all, fig1"):
        run.chosen(["fig13"])
    assert [each.name for each in run.chosen(["fig2", "fig1"])] == ["fig1", "fig2"]
