"""What people see in a notebook, in a real kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pyarrow as pa
import pytest

import locentropy as le
from locentropy.evaluation.compare import NOT_FOR_PUBLICATION
from tests.notebooks.executing import EXAMPLES, cells, execute
from tests.publishing.making import ROWS, ledger_in

NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
PUBLISH = """
import pyarrow as pa
import locentropy as le
places = le.PublicLocations(pa.table({"location": ["bar", "cafe", "park", "<script>alert(1)</script>"]}))
release = le.publish(
    le.Visits("visits.csv", user="uid", location="venue"), le.Shares(1.0), places, ledger="city.ledger", out="release"
)
release
"""


def kinds(cell: Any) -> list[tuple[str, list[str]]]:
    """What a cell put out, but not what it says: values are random."""
    return [(output.output_type, sorted(output.get("data", {}))) for output in cell.get("outputs", [])]


def html_of(cell: Any) -> str:
    [output] = [each for each in cell.outputs if "text/html" in each.get("data", {})]
    return str(output.data["text/html"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    ledger_in(tmp_path, 2)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_an_example_shows_what_running_it_gives(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    kept = nbformat.read(path, as_version=4)
    shown = [kinds(cell) for cell in kept.cells]
    assert any(shown), "it has outputs when it is opened"
    again = execute(nbformat.read(path, as_version=4), tmp_path)
    assert [kinds(cell) for cell in again.cells] == shown
    assert list(tmp_path.glob("*/release/report.html"))


WITHOUT_WIDGETS = """
import sys
sys.modules["ipywidgets"] = None  # importing it fails, as where it is not installed
"""
DUCKDB_REFUSES = """
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.InvalidInputException:
    print("refused")
"""


@pytest.mark.slow
def test_publishing_needs_no_widgets(folder: Path) -> None:
    notebook = execute(
        cells(WITHOUT_WIDGETS, DUCKDB_REFUSES, PUBLISH, "le.Ledger.open('city.ledger')"), folder
    )
    _, refused, *results = notebook.cells
    assert "refused" in str(refused.outputs), "this test is about a kernel without them"
    shown, ledger = map(html_of, results)
    assert (folder / "release" / "report.html").exists()
    assert "<iframe" in shown
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert "<script" not in shown, "nothing of the release is a part of the notebook itself"
    assert "left of ε = 2" in ledger


@pytest.mark.slow
def test_progress_comes_late_and_goes_away(folder: Path) -> None:
    slow = (
        "import time\nfrom locentropy.core.notebook_progress import shown_progress\n"
        "with shown_progress(None) as report:\n    report('At once', None)\n    time.sleep(1.1)\n"
        "    report('Counting', 0.5)\n    time.sleep(0.3)\n    report('Counting', 0.75)\n    shown = report.__self__._shown"
    )
    look = "[bool(shown), shown.display_id]"
    cell, seen = execute(cells(slow, look), folder).cells
    assert "[True, " in str(seen.outputs), "it was there"
    assert cell.outputs == []


def test_elsewhere_nothing_is_shown() -> None:
    from locentropy.core.notebook_progress import shown_progress

    with shown_progress(None) as report:
        assert report is None
    given = print
    with shown_progress(given) as report:
        assert report is given


def test_every_result_has_a_form_for_notebooks(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(ROWS)
    visits = le.Visits(tmp_path / "visits.csv", user="uid", location="venue")
    places = le.PublicLocations(pa.table({"location": ["bar", "cafe", "park", "pier"]}))
    ledger = le.Ledger.create(tmp_path / "city.ledger", "riders & <others>", 3)
    evaluation = le.evaluate(visits, [le.Shares(1.0)], places, seeds=1, ledger=None)
    for shown, words in (
        (le.Guarantee.pure(1), "Differentially private with ε = 1"),
        (le.plan(le.Shares(1.0), n_locations=4, n_users=10), "shares"),
        (le.advise(1.0, n_locations=400, n_users=9000), "<li>"),
        (ledger, "riders &amp; &lt;others&gt;"),
        (evaluation, NOT_FOR_PUBLICATION.split(":")[0]),
    ):
        html = shown._repr_html_()
        assert words in html
        assert not re.search(r"<(?!/?(p|pre|strong|code|ul|li|h4|table|thead|tbody|tr|th|td)\b)", html)
