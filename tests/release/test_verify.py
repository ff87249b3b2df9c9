"""Verification finds every kind of tampering, and says which."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.errors import ReleaseError
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.chain import read_chain
from locentropy.release.release import Release
from locentropy.release.statement import LedgerNote
from locentropy.release.tables import csv_of
from locentropy.release.verify import verify
from tests.cli.running import in_process
from tests.examples import examples

from .making import IDS, NONE, estimates, places, release, statement


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return release().save(tmp_path_factory.mktemp("whole") / "out")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return release().save(tmp_path / "out")


def bad(directory: Path, ledger: Ledger | None = None) -> dict[str, str]:
    """What is wrong, by the name of the check."""
    report = verify(directory, ledger)
    found = {check.name: " ".join(check.problems) for check in report.checks if check.problems}
    assert report.ok == (not found)
    return found


def edit(path: Path, old: str, new: str) -> None:
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new))


def rehash(directory: Path) -> None:
    """As somebody would who knows about the fingerprints."""
    known = yaml.safe_load((directory / "details.yaml").read_text())["files"]
    for path in (
        directory / "datapackage.json",
        directory / "details.yaml",
    ):  # each holds those of files before it
        content = path.read_bytes()
        for name, old in known.items():
            content = content.replace(
                old.encode(), hashlib.sha256((directory / name).read_bytes()).hexdigest().encode()
            )
        path.write_bytes(content)


def rewrite(directory: Path, change) -> None:
    """Change the table of the Parquet file, the CSV file and the fingerprints alike."""
    table = pq.read_table(directory / "release.parquet")
    changed = change(table).replace_schema_metadata(table.schema.metadata)
    pq.write_table(changed, directory / "release.parquet")
    shown = [name for name in changed.column_names if name != "geometry"]
    (directory / "release.csv").write_bytes(csv_of(changed.select(shown)))
    rehash(directory)


def replaced(name, values):
    def change(table):
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    return change


def test_nothing_wrong(directory):
    report = verify(directory)
    assert report.ok
    assert [check.name for check in report.checks] == [
        "directory",
        "fingerprints",
        "details",
        "manifest",
        "table",
        "data package",
    ]
    assert report.release_id == "ab" * 16
    assert report.fingerprint == hashlib.sha256((directory / "details.yaml").read_bytes()).hexdigest()
    assert any("no ledger" in note for note in report.notes)


@pytest.mark.parametrize(
    "name",
    ["release.parquet", "release.csv", "report.html", "manifest.yaml", "details.yaml", "datapackage.json"],
)
def test_a_missing_file(directory, name):
    (directory / name).unlink()
    assert name in " ".join(bad(directory).values())


@pytest.mark.parametrize("name", ["visits.csv", ".hidden", "map.html"])
def test_an_extra_file(directory, name):
    (directory / name).write_text("user,location")
    assert "does not belong" in bad(directory)["directory"]


@pytest.mark.parametrize("name", ["release.csv", "report.html", "manifest.yaml", "datapackage.json"])
def test_an_edited_text_file(directory, name):
    with (directory / name).open("a") as file:
        file.write("\n")
    assert "was changed" in bad(directory)["fingerprints"]


def test_one_byte_of_the_parquet_file(directory):
    path = directory / "release.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert "release.parquet was changed" in bad(directory)["fingerprints"]


def test_an_edited_csv_with_its_fingerprint(directory):
    edit(directory / "release.csv", "cafe-1", "cafe-9")
    rehash(directory)
    assert list(bad(directory)) == ["table"]
    assert "different tables" in bad(directory)["table"]


@pytest.mark.parametrize(
    "content",
    [b"", b"location\n", b"\xff\xfe", b'"location"\n"a","b","c"\n"d'],
    ids=["empty", "short", "bytes", "cut"],
)
def test_a_csv_that_is_none(directory, content):
    (directory / "release.csv").write_bytes(content)
    rehash(directory)
    assert "release.csv" in bad(directory)["table"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon: 0.3\n", "epsilon: 0.1\n"),
        ("variant_name: Pure DP", "variant_name: Renyi DP"),
        ("url_slug: locentropy-ab", "url_slug: locentropy-cd"),
        ("max_locations = 5", "max_locations = 4"),
        ("City of Example", "City of Elsewhere"),
        ("tier: 3", "tier: 1"),
        ("# The privacy guarantee", "# The best guarantee"),
        ("tier: 3", "tier: 3  # users: 4711"),
    ],
)
def test_an_edited_manifest_with_its_fingerprint(directory, old, new):
    edit(directory / "manifest.yaml", old, new)
    rehash(directory)
    assert list(bad(directory)) == ["manifest"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ε = 0.3", "ε = 0.1"),
        ('"epsilon": 0.3', '"epsilon": 0.1'),
        ('"type": "number"', '"type": "string"'),
        ('"path": "release.csv"', '"path": "other.csv"'),
        ("{", '{"users": 4711,'),
        ('"name": "locentropy-', '"name": "another-'),
    ],
)
def test_an_edited_data_package_with_its_fingerprint(directory, old, new):
    edit(directory / "datapackage.json", old, new)
    rehash(directory)
    assert list(bad(directory)) == ["data package"]


def test_a_release_without_a_data_package(directory):
    """Every release of this version has one, whatever its details say."""
    (directory / "datapackage.json").unlink()
    lines = (directory / "details.yaml").read_text().splitlines(keepends=True)
    (directory / "details.yaml").write_text("".join(line for line in lines if "datapackage" not in line))
    assert "datapackage.json" in bad(directory)["data package"]


@pytest.mark.parametrize("version", ["0.0.1"])
def test_another_versions_release_is_compared_by_its_numbers(tmp_path, version):
    """Its words may be others; its guarantee may not."""
    directory = release(software_version=version).save(tmp_path / "old")
    edit(directory / "manifest.yaml", "Central", "Local")
    rehash(directory)
    assert verify(directory).ok
    edit(directory / "manifest.yaml", "epsilon: 0.3\n", "epsilon: 0.1\n")
    rehash(directory)
    assert "another ε" in bad(directory)["manifest"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon: '0.3'", "epsilon: '0.1'"),
        ("the city's register", "the visits themselves"),
        ("tuned_unaccounted: unknown without a ledger", "tuned_unaccounted: false"),
        ("tuned_unaccounted: unknown without a ledger", "tuned_unaccounted: true"),
        ("rows: 3", "rows: 4"),
        ("estimand: bounded", "estimand: 'true'"),
        ("name: Limit\n", "name: LimitSS\n"),
        ("name: Limit\n", "name: Moments\n"),
        ("unit: nats", "unit: bits"),
        ("    lon: longitude", "    lom: longitude"),
        ("max_users: 1000\n", "max_users: 999\n"),
        ("format:", "users: 4711\nformat:"),
        ("format:", "# users: 4711\nformat:"),
        ("at most 57.5 %", "at most 50.1 %"),
    ],
)
def test_edited_details(directory, old, new):
    edit(directory / "details.yaml", old, new)
    assert bad(directory)


def test_details_of_another_release(tmp_path, directory):
    other = release(release_id="0" * 32).save(tmp_path / "other")
    (directory / "details.yaml").write_bytes((other / "details.yaml").read_bytes())
    assert {"fingerprints", "manifest"} <= set(bad(directory))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.slice(0, 2), "2 rows"),
        (lambda table: table.drop_columns(["name"]), "other columns"),
        (
            lambda table: table.add_column(4, "users", pa.array([1, 2, 3])),
            "columns that a release does not have",
        ),
        (replaced("effective_visitors", [5.0, None, 5.0]), "effective_visitors"),
        (replaced("lat", [1.0, None, 1.0]), "geometry"),
        (replaced("geometry", [b"x", None, b"y"]), "geometry"),
        (replaced("std_error", [0.1, None, 0.2]), "one constant"),
        (replaced("entropy", [0.5, 1.0, 3.0]), "withheld"),
    ],
    ids=["rows", "column", "extra", "visitors", "lat", "geometry", "std_error", "null"],
)
def test_a_table_changed_in_both_files_with_fingerprints(directory, change, words):
    rewrite(directory, change)
    assert words in bad(directory)["table"]


@pytest.mark.parametrize(
    "read",
    [Release.load, read_chain, "report", "estimate", verify],
    ids=["load", "after", "report", "estimate", "verify"],
)
def test_a_small_table_that_stands_for_a_huge_one_is_not_unpacked(directory, tmp_path, read):
    """A name of 100 kB that three million rows have: 40 kB that would become 300 GB."""
    table, rows = pq.read_table(directory / "release.parquet").slice(0, 1), 3_000_000
    huge = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 100_000]))
    table = table.take(pa.array(np.zeros(rows, np.int64)))
    table = table.set_column(table.column_names.index("name"), "name", huge)
    pq.write_table(table, directory / "release.parquet", store_schema=False)
    assert (directory / "release.parquet").stat().st_size < 500_000
    rehash(directory)
    words = "unpacks to a table that is much larger"
    if read is verify:
        assert words in bad(directory)["table"]
    elif isinstance(read, str):
        done = in_process(
            read, str(directory), *(["--out", str(tmp_path / "again")] if read == "estimate" else [])
        )
        assert done.returncode == 9
        assert (words if read == "report" else "is not whole") in " ".join(done.stderr.split())
    else:
        with pytest.raises(ReleaseError, match=words):
            read(directory)


def test_error_bars_that_may_not_be(tmp_path):
    made = Release.of(estimates(bars=False), places(), statement(mechanism="LimitSS"))
    directory = made.save(tmp_path / "out")
    rewrite(directory, lambda table: table.add_column(6, "std_error", pa.array([0.1, None, 0.1])))
    assert "may not be published" in bad(directory)["table"]


@pytest.mark.parametrize("key", [b"pandas", b"locentropy", b"geo"])
def test_metadata_of_the_parquet_file(directory, key):
    table = pq.read_table(directory / "release.parquet")
    pq.write_table(
        table.replace_schema_metadata(table.schema.metadata | {key: b'{"n": 4711}'}),
        directory / "release.parquet",
    )
    rehash(directory)
    assert "release.parquet" in bad(directory)["table"]


def test_names_of_a_guarantee_where_there_is_none(tmp_path):
    directory = release(guarantee=NONE).save(tmp_path / "out")
    for path in list(directory.iterdir()):
        path.rename(directory / path.name.replace(".NOT-PRIVATE", ""))
    edit(directory / "details.yaml", ".NOT-PRIVATE", "")
    assert "do not fit its guarantee" in bad(directory)["details"]


def test_a_directory_without_its_mark(tmp_path):
    directory = release(guarantee=NONE).save(tmp_path / "out")
    assert "NOT-PRIVATE in its name" in bad(directory.rename(tmp_path / "out"))["directory"]


def test_two_columns_of_one_name(directory):
    table = pq.read_table(directory / "release.parquet")
    pq.write_table(table.append_column("lat", table["lat"]), directory / "release.parquet")
    rehash(directory)
    assert "cannot be read" in bad(directory)["table"]


NAMES = ["release.parquet", "release.csv", "report.html", "manifest.yaml", "details.yaml", "datapackage.json"]


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=examples(25))
def test_damage_is_reported_and_never_a_crash(whole, name, data):
    """Any bytes put anywhere into a file, with its fingerprint or without."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(shutil.copytree(whole, Path(folder) / "out"))
        content = (directory / name).read_bytes()
        at = data.draw(st.integers(0, len(content)))
        to = data.draw(st.integers(at, min(len(content), at + 20)))
        put = data.draw(st.binary(max_size=5) | st.sampled_from([b"&a ", b"*a", b"!!set", b"? ", b"<<: "]))
        changed = content[:at] + put + content[to:]
        (directory / name).write_bytes(changed)
        if name != "details.yaml":
            assert "fingerprints" in bad(directory) or changed == content
            rehash(directory)
        found = bad(directory)
        if name.endswith((".yaml", ".json")):
            assert found or changed == content
        with suppress(ReleaseError):
            Release.load(directory)


def test_texts_that_look_like_formulas_are_pointed_out(tmp_path):
    ids = ("=1+1", *IDS[1:])
    directory = Release.of(estimates(ids), places(ids), statement()).save(tmp_path / "out")
    report = verify(directory)
    assert report.ok
    assert any("formulas" in note for note in report.notes)


def test_no_directory(tmp_path):
    assert "not a directory" in bad(tmp_path / "none")["directory"]
    (tmp_path / "details.yaml").mkdir()
    assert not verify(tmp_path).ok


# --- the ledger -----------------------------------------------------------------------------------------------------


def paid(tmp_path: Path, *, guarantee: Guarantee | None = None, **changes):
    """A release that a ledger has paid for, after another one."""
    stated = guarantee or statement().guarantee
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", epsilon=4, delta="1e-6")
    ledger.spend(Guarantee.approximate(1, "1e-7"), purpose="earlier")
    spend = ledger.spend(stated, purpose="this one")
    spent = "inf" if stated.epsilon is None else "1.3"
    note = {
        "population": "riders",
        "spend_id": spend.id,
        "total_epsilon": "4",
        "total_delta": "1e-6",
        "spent_epsilon": spent,
        "spent_delta": "1e-7",
    }
    made = release(guarantee=stated, ledger=LedgerNote(**(note | changes)), release_id=new_id())
    ledger.record_release(spend.id, made.statement.release_id, "staged")
    return made.save(tmp_path / "paid"), ledger


@pytest.mark.parametrize("guarantee", [None, NONE], ids=["private", "not private"])
def test_a_release_that_the_ledger_knows(tmp_path, guarantee):
    directory, ledger = paid(tmp_path, guarantee=guarantee)
    ledger_after = Ledger.open(ledger.path)
    if guarantee is None:
        ledger_after.spend(Guarantee.pure(1), purpose="later")
    assert bad(directory, ledger_after) == {}
    assert verify(directory, ledger).checks[-1].name == "ledger"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spend_id": "0" * 32}, "has no spend"),
        ({"population": "others"}, "another population"),
        ({"total_epsilon": "40"}, "another population or budget"),
        ({"spent_epsilon": "0.3"}, "another sum"),
        ({"spent_delta": "0"}, "another sum"),
        ({"spent_epsilon": "inf"}, "another sum"),
        ({"input_checked": True}, "whether the input was checked"),
    ],
)
def test_a_ledger_that_says_otherwise(tmp_path, changes, words):
    directory, ledger = paid(tmp_path, **changes)
    assert words in bad(directory, ledger)["ledger"]


def test_a_ledger_that_charged_less_or_for_another_release(tmp_path):
    directory, ledger = paid(tmp_path)
    note = Release.load(directory).statement.ledger
    cheaper = release(guarantee=Guarantee.pure("0.2"), ledger=note).save(tmp_path / "cheaper")
    found = bad(cheaper, ledger)["ledger"]
    assert "charged another ε" in found
    assert "paid for another release" in found


def test_a_release_without_a_ledger_against_one(directory, tmp_path):
    _, ledger = paid(tmp_path)
    assert "without a ledger" in bad(directory, ledger)["ledger"]


def test_the_error_has_an_exit_code_of_its_own():
    assert ReleaseError.exit_code == 9
