"""What the documentation shows runs, and what it links to exists."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from locentropy.datasets.city import City

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/choosing.md",
        "docs/evaluating.md",
        "docs/planning.md",
        "docs/publishing.md",
        "docs/visits.md",
    ],
)
def test_snippets_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    City(people=50, days=3).write(tmp_path / "demo")
    visits = pq.read_table(tmp_path / "demo" / "visits.parquet")
    pq.write_table(visits.rename_columns(["uid", "at", "venue", "lat", "lon"]), tmp_path / "checkins.parquet")
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)
    assert snippets
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), names)  # noqa: S102
