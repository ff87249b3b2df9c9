"""All files or none; what is staged is nobody else's business; what comes back is what went in."""

from __future__ import annotations

import json
import os
import shutil
import stat
import struct
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.errors import ReleaseError
from locentropy.core.locations import Locations
from locentropy.release import files
from locentropy.release.files import finish, holds, stage, staged_path
from locentropy.release.release import Release
from locentropy.release.verify import verify
from tests.examples import examples

from .making import LEDGER, NONE, estimates, not_private, places, release, statement

NAMES = ["datapackage.json", "details.yaml", "manifest.yaml", "release.csv", "release.parquet", "report.html"]


def listing(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- there and back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"entropy_unit": "bits", "publication_date": "2026-11-15", "sector": "Government"},
        {"ledger": LEDGER, "tuned_unaccounted": True, "expected_error": "about 0.4 nats\nfor 100 users"},
        {
            "description": "Ünïcode – 'quotes', \"more\": {yaml} [x] # not a comment\n  and lines",
            "max_users": None,
        },
        {"locations_source": "grid from 40.7, -74.0 to 40.8, -73.9, cells of 500 m"},
        {"guarantee": NONE},
    ],
)
def test_a_release_comes_back_as_it_was(changes, tmp_path):
    made = release(**changes)
    directory = made.save(tmp_path / "out")
    again = Release.load(directory)
    assert again.to_arrow().equals(made.to_arrow())
    assert again.statement == made.statement
    assert verify(directory).ok, verify(directory)


ids = st.one_of(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=6).map(
        lambda texts: pa.array(texts, pa.string())
    ),
    st.lists(
        st.sampled_from(
            ['=1+1"', "+x", "-1", "@a", "a\nb", "a\r\nb", "", " ", ",", "NULL", "é", "🦆", "\t="]
        ),
        unique=True,
    ).map(lambda texts: pa.array(texts, pa.string())),
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=6).map(
        lambda n: pa.array(n, pa.int64())
    ),
)
reals = st.floats(0, 60, allow_nan=False)


@given(ids, st.data())
@settings(max_examples=examples(20))
def test_odd_ids_and_any_number_come_back(array, data):
    """Also nobody's: a private selection may name no place at all."""
    entropy = [data.draw(st.one_of(reals, st.just(np.nan))) for _ in range(len(array))]
    found = estimates(array, bars=False, entropy=np.array(entropy, dtype=float))
    listed = Locations(array, pa.array([str(i) for i in array.to_pylist()], pa.string()))
    made = Release.of(found, data.draw(st.sampled_from([listed, None])), statement())
    with tempfile.TemporaryDirectory() as folder:
        directory = made.save(Path(folder) / "out")
        assert Release.load(directory).to_arrow().equals(made.to_arrow())
        report = verify(directory)
        assert report.ok, report


def test_no_place_at_all_is_a_release(tmp_path):
    made = Release.of(
        estimates(()), None, statement(mechanism="LimitPTR", locations_source="private selection")
    )
    directory = made.save(tmp_path / "out")
    assert len(Release.load(directory)) == 0
    assert verify(directory).ok
    empty = Release.of(estimates(()), places(()), statement(release_id="0" * 32))
    directory = empty.save(tmp_path / "listed")
    assert verify(directory).ok
    assert "bbox" not in pq.read_schema(directory / "release.parquet").metadata[b"geo"].decode()


# --- Parquet --------------------------------------------------------------------------------------------------------


def test_geoparquet(tmp_path):
    directory = release().save(tmp_path / "out")
    table = pq.read_table(directory / "release.parquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    assert geo["version"] == "1.1.0"
    assert geo["primary_column"] == "geometry"
    assert geo["columns"]["geometry"] == {
        "encoding": "WKB",
        "geometry_types": ["Point"],
        "bbox": [-74.0, 40.5, -73.5, 41.0],
    }
    assert table.schema.field("geometry").type == pa.binary()
    decoded = [wkb and struct.unpack("<BIdd", wkb) for wkb in table["geometry"].to_pylist()]
    assert decoded == [(1, 1, -74.0, 40.5), None, (1, 1, -73.5, 41.0)]


def test_without_coordinates_it_is_a_plain_parquet_file(tmp_path):
    directory = Release.of(estimates(), None, statement()).save(tmp_path / "out")
    schema = pq.read_schema(directory / "release.parquet")
    assert "geometry" not in schema.names
    assert b"geo" not in schema.metadata
    said = json.loads(schema.metadata[b"locentropy"])
    assert said["release_id"] == "ab" * 16
    assert "ε = 0.3" in said["guarantee"]


# --- marks ----------------------------------------------------------------------------------------------------------


def test_what_is_not_private_is_marked_everywhere_and_stays_closed(tmp_path):
    directory = not_private().save(tmp_path / "out")
    assert directory.name == "out.NOT-PRIVATE"
    assert all("NOT-PRIVATE" in name for name in listing(directory))
    assert mode(directory) == 0o700
    assert {mode(path) for path in directory.iterdir()} == {0o600}
    for path in directory.iterdir():
        content = path.read_bytes()
        assert b"NOT PRIVATE" in (content.splitlines()[0] if path.suffix == ".yaml" else content)
    rows = (directory / "release.NOT-PRIVATE.csv").read_text().splitlines()[1:]
    assert rows
    assert all(row.endswith('"NOT PRIVATE"') for row in rows)
    schema = pq.read_schema(directory / "release.NOT-PRIVATE.parquet")
    assert json.loads(schema.metadata[b"locentropy"])["status"] == "NOT PRIVATE"
    manifest = yaml.safe_load((directory / "manifest.NOT-PRIVATE.yaml").read_text())
    assert manifest["deployment"]["basic"]["name"].startswith("NOT PRIVATE: ")
    assert not Release.load(directory).statement.private
    report = verify(directory)
    assert report.ok
    assert any("NOT PRIVATE" in note for note in report.notes)


def test_a_marked_name_is_not_marked_twice_and_an_unmarked_one_is_not_staged(tmp_path):
    assert not_private().save(tmp_path / "x-NOT-PRIVATE").name == "x-NOT-PRIVATE"
    with pytest.raises(ReleaseError, match="NOT-PRIVATE in its name"):
        stage(not_private(), tmp_path / "out")


# --- all or none ----------------------------------------------------------------------------------------------------


def test_staged_files_are_for_their_owner_and_published_ones_for_everybody(tmp_path):
    old = os.umask(0)  # the most careless one
    try:
        staged = stage(release(), tmp_path / "out")
    finally:
        os.umask(old)
    assert staged == staged_path(tmp_path / "out", "ab" * 16)
    assert listing(tmp_path) == [f".out.{'ab' * 16}.staged"]
    assert mode(staged) == 0o700
    assert {mode(path) for path in staged.iterdir()} == {0o600}
    directory = finish(staged, tmp_path / "out")
    assert listing(tmp_path) == ["out"]
    assert listing(directory) == NAMES
    assert mode(directory) == 0o755
    assert {mode(path) for path in directory.iterdir()} == {0o644}


class BrokenError(Exception):
    pass


def failing(monkeypatch, number):
    """Let the system fail at the given call, counting everything that writes."""
    calls = []

    def breaking(name, real):
        def call(*args, **kwargs):
            calls.append(name)
            if len(calls) == number:
                raise BrokenError(name)
            return real(*args, **kwargs)

        return call

    for owner, name in (
        (os, "open"), (os, "fsync"), (os, "fdopen"), (Path, "mkdir"), (Path, "rename"), (Path, "chmod"),
        (files, "parquet_of"), (files, "csv_of"), (files, "manifest"), (files, "details"), (files, "dump_document"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, breaking(name, getattr(owner, name)))
    return calls


def test_a_failure_at_any_step_leaves_nothing(tmp_path):
    made, seen = release(), set()
    for number in range(1, 200):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            calls = failing(patch, number)
            try:
                made.save(folder / "deep" / "out")
            except BrokenError:
                done, step = calls[: number - 1], calls[number - 1]  # cleaning up makes more
            else:
                break
        seen.add(step)
        if done.count("rename") == 2:  # it has its name, and is whole
            assert verify(folder / "deep" / "out").ok
        else:
            assert listing(folder) == [], step
    assert number > 25
    assert seen >= {
        "open",
        "fsync",
        "mkdir",
        "rename",
        "chmod",
        "parquet_of",
        "csv_of",
        "manifest",
        "details",
    }


def test_an_occupied_target_is_refused_and_left_alone(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="not an empty directory"):
        release().save(target)
    assert listing(target) == ["mine.txt"]
    assert listing(tmp_path) == ["out"]
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("file", "link"):
        with pytest.raises(ReleaseError, match="already there"):
            release().save(tmp_path / name)
    assert listing(release().save(tmp_path / "empty")) == NAMES


def test_somebody_faster_is_not_overwritten(tmp_path):
    staged = stage(release(), tmp_path / "out")
    other = release(release_id="0" * 32).save(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in other.iterdir()}
    with pytest.raises(ReleaseError, match="already there"):
        finish(staged, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in other.iterdir()} == before
    assert listing(staged) == NAMES, "it can still be finished elsewhere"


def test_to_finish_twice_changes_nothing(tmp_path):
    staged = stage(release(), tmp_path / "out")
    with pytest.raises(ReleaseError, match="already there: finish that release"):
        stage(release(), tmp_path / "out")
    assert not holds(tmp_path / "out", "ab" * 16)
    finish(staged, tmp_path / "out")
    assert holds(tmp_path / "out", "ab" * 16)
    assert not holds(tmp_path / "out", "0" * 32)
    (tmp_path / "out").chmod(0o700)  # as after a kill just before the directory was opened
    assert finish(staged, tmp_path / "out") == tmp_path / "out"
    assert mode(tmp_path / "out") == 0o755
    with pytest.raises(ReleaseError, match="another release"):
        finish(staged_path(tmp_path / "out", "0" * 32), tmp_path / "out")
    with pytest.raises(ReleaseError, match="not staged for"):
        finish(staged, tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match="No release"):
        finish(staged_path(tmp_path / "none", "0" * 32), tmp_path / "none")


def test_what_a_crash_left_half_written_is_written_anew(tmp_path):
    part = staged_path(tmp_path / "out", "ab" * 16).with_suffix(".part")
    part.mkdir()
    (part / "release.parquet").write_text("half")
    assert verify(release().save(tmp_path / "out")).ok
    assert listing(tmp_path) == ["out"]


def test_relative_and_dotted_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert release().save("out/.").name == "out"
    assert verify("out").ok
    assert listing(release(release_id="0" * 32).save(Path("a") / ".." / "b")) == NAMES


# --- reading with suspicion -----------------------------------------------------------------------------------------

HOSTILE = {
    "empty": b"",
    "not yaml": b"{[}",
    "not text": b"\xff\xfe\x00",
    "a list": b"- 1\n- 2\n",
    "objects": b"!!python/object/apply:os.system ['touch hacked']\n",
    "aliases": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "repeated keys": b"format: locentropy release 1\nformat: locentropy release 1\n",
    "deep": b"[" * 20_000,
    "large": b"a: " + b"x" * 600_000,
    "huge number": b"a: " + b"9" * 5000,
    "unhashable key": b"? [a]\n: b\n",
    "bad date": b"a: 2026-99-99\n",
    "other format": b"format: locentropy release 2\n",
    "only the format": b"format: locentropy release 1\n",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_details_are_an_error_in_a_sentence(content, tmp_path):
    directory = release().save(tmp_path / "out")
    (directory / "details.yaml").write_bytes(content)
    with pytest.raises(ReleaseError, match=r"details\.yaml"):
        Release.load(directory)
    assert not verify(directory).ok
    (directory / "details.yaml").unlink()
    shutil.rmtree(directory)


WRONG = [
    ("release_id", 7),
    ("release_id", "../x"),
    ("owner", []),
    ("owner.title", None),
    ("guarantee.epsilon", 0.3),
    ("guarantee.epsilon", "1e999999999"),
    ("guarantee.epsilon", "1e999"),
    ("guarantee.epsilon", "nan"),
    ("guarantee.epsilon", "-1"),
    ("guarantee.epsilon", "inf"),
    ("guarantee.delta", "1"),
    ("guarantee.delta", "1/0"),
    ("guarantee.kind", "approximate"),
    ("guarantee.public_inputs", ["x"]),
    ("guarantee.reasons", [1]),
    ("mechanism.name", None),
    ("mechanism.parameters", {"a": 1}),
    ("mechanism.max_users", True),
    ("mechanism.max_users", "many"),
    ("mechanism.tuned_unaccounted", "no"),
    ("locations.source", "guesswork"),
    ("ledger", "none"),
    ("ledger", {"population": "x"}),
    ("table.unit", "miles"),
    ("files", {"release.parquet": 1}),
    ("files", {}),
]


@pytest.mark.parametrize(("where", "value"), WRONG)
def test_wrong_types_and_values_are_an_error_in_a_sentence(where, value, tmp_path):
    directory = release().save(tmp_path / "out")
    path = directory / "details.yaml"
    document = yaml.safe_load(path.read_text())
    *above, last = where.split(".")
    part = document
    for name in above:
        part = part[name]
    part[last] = value
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(ReleaseError, match=r"details\.yaml: "):
        Release.load(directory)
    assert not verify(directory).ok


def test_missing_and_linked_files(tmp_path):
    with pytest.raises(ReleaseError, match="not a directory"):
        Release.load(tmp_path / "none")
    with pytest.raises(ReleaseError, match="not a release"):
        Release.load(tmp_path)
    directory = release().save(tmp_path / "out")
    (directory / "release.parquet").rename(tmp_path / "moved")
    with pytest.raises(ReleaseError, match="missing"):
        Release.load(directory)
    (directory / "release.parquet").symlink_to(tmp_path / "moved")
    with pytest.raises(ReleaseError, match="not a plain file"):
        Release.load(directory)
    assert not verify(directory).ok


def test_a_changed_table_is_not_loaded(tmp_path):
    directory = release().save(tmp_path / "out")
    (directory / "release.parquet").write_bytes(b"PAR1")
    with pytest.raises(ReleaseError, match="SHA-256"):
        Release.load(directory)
