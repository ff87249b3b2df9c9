"""details.yaml says how the mechanism works and whose it is; reading it trusts nothing."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import locentropy as le
from locentropy.core.errors import LocentropyError, ParameterError, ReleaseError
from locentropy.core.estimates import Method
from locentropy.core.strict_yaml import MAX_DOCUMENT_BYTES
from locentropy.mechanisms.registry import mechanism_class, mechanism_names
from locentropy.release.details import details, statement_in
from locentropy.release.manifest import manifest, proof_words
from locentropy.release.release import Release
from locentropy.release.report.page import page
from locentropy.release.verify import verify

from .making import METHOD, estimates, places, release, statement

CLASSES = [mechanism_class(name) for name in mechanism_names()]
OUTSIDE = {"mechanism": "SomethingNew", "method": METHOD, "built_in": False}


def document(**changes: Any) -> dict[str, Any]:
    """As a reader of the file gets it."""
    found: dict[str, Any] = yaml.safe_load(yaml.safe_dump(details(statement(**changes), ["entropy"], 3, {})))
    return found


def outside() -> Release:
    return Release.of(estimates(bars=False), places(), statement(**OUTSIDE))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_there_and_back(kind: Any) -> None:
    said = statement(mechanism=kind.__name__)
    assert said.built_in
    found = statement_in(document(mechanism=kind.__name__))
    assert found == said
    assert found.method == kind.method


def test_there_and_back_from_outside(tmp_path: Path) -> None:
    directory = outside().save(tmp_path / "may")
    assert verify(directory).ok
    again = Release.load(directory).statement
    assert (again.method, again.built_in) == (METHOD, False)
    assert page(Release.load(directory)) == (directory / "report.html").read_bytes()


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_releases_of_version_0_1_say_neither(kind: Any) -> None:
    old = document(mechanism=kind.__name__)
    del old["mechanism"]["method"], old["mechanism"]["built_in"]
    found = statement_in(old)
    second = ("entropy_busy",) if kind is le.Shares else ()  # which version 0.1 had
    columns = (*kind.method.columns, *second)
    assert (found.method, found.built_in) == (replace(kind.method, columns=columns), True)


def test_an_unknown_mechanism_must_be_described() -> None:
    old = document(**OUTSIDE)
    del old["mechanism"]["method"], old["mechanism"]["built_in"]
    with pytest.raises(ReleaseError, match="'method' is missing"):
        statement_in(old)


@pytest.mark.parametrize("missing", ["method", "built_in"])
def test_one_without_the_other(missing: str) -> None:
    """The default must not make somebody else's mechanism one of ours."""
    cut = document(**OUTSIDE)
    del cut["mechanism"][missing]
    with pytest.raises(ReleaseError, match=missing):
        statement_in(cut)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("method", None),
        ("method", "Shares"),
        ("method", []),
        ("method", {}),
        ("built_in", None),
        ("built_in", 1),
        ("built_in", "true"),
    ],
)
def test_entries_of_another_type(key: str, value: Any) -> None:
    changed = document(**OUTSIDE)
    changed["mechanism"][key] = value
    with pytest.raises(ReleaseError, match="entry"):
        statement_in(changed)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            (key, None)
            for key in ("summary", "columns", "error_bars", "post_processing", "rounding", "proof")
        ),
        *((key, ["x"]) for key in ("summary", "error_bars", "post_processing", "rounding", "proof")),
        *((key, "") for key in ("summary", "error_bars", "post_processing", "rounding", "proof")),
        ("summary", "two\nlines"),
        ("summary", "escape \x1b[31m"),
        ("proof", "right\u202eleft"),
        ("proof", "\x00"),
        ("proof", "\ud800"),
        ("rounding", "x" * 4001),
        ("summary", "x" * 400_000),
        ("post_processing", 17),
        ("error_bars", "sure"),
        ("error_bars", "constant"),
        ("columns", "std_error"),
        ("columns", {"std_error": 1}),
        ("columns", ["users"]),
        ("columns", ["entropy"]),
        ("columns", ["std_error"]),
        ("columns", [["std_error"]]),
        ("columns", ["entropy_busy", "entropy_busy"]),
        ("columns", ["entropy_busy"] * 100_000),
    ],
)
def test_a_hostile_method(key: str, value: Any) -> None:
    changed = document(**OUTSIDE)
    changed["mechanism"]["method"][key] = value
    with pytest.raises(ReleaseError) as raised:
        statement_in(changed)
    assert len(str(raised.value)) < 400
    assert str(raised.value).isprintable()


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    directory = outside().save(tmp_path / "may")
    with (directory / "details.yaml").open("a") as file:
        file.write("#" * MAX_DOCUMENT_BYTES)
    [problem] = next(check.problems for check in verify(directory).checks if check.name == "details")
    assert "larger than" in problem


def test_a_method_that_cannot_be_published_shows_before_anything_is_spent() -> None:
    """What is too long to be read back must not be written after the spend."""
    for words in ({"summary": "x" * 4001}, {"summary": "fine", "proof": "x" * 4001}):
        with pytest.raises(ParameterError, match=r"method\..* must be"):
            statement(mechanism="SomethingNew", method=Method(**words), built_in=False)
    with pytest.raises(LocentropyError, match="built_in"):
        statement(built_in=1)


@pytest.mark.parametrize("harm", ["called ours", "other words", "more columns"])
def test_words_about_our_mechanisms_that_are_not_ours(harm: str, tmp_path: Path) -> None:
    """All files agree, and still say of a built-in mechanism what this software does not."""
    own = le.paper.LimitSS.method
    changes: dict[str, Any] = {
        "called ours": {"mechanism": "SomethingNew", "method": METHOD, "built_in": True},
        "other words": {"mechanism": "LimitSS", "method": Method("No noise at all.", proof=own.proof)},
        "more columns": {
            "mechanism": "LimitSS",
            "method": Method(
                own.summary,
                ("std_error", "low", "high"),
                "constant",
                own.post_processing,
                own.rounding,
                own.proof,
            ),
        },
    }[harm]
    made = Release.of(estimates(bars=harm == "more columns"), places(), statement(**changes))
    found = {check.name: check.problems for check in verify(made.save(tmp_path / "may")).checks}
    [problem] = found.pop("details")
    assert "what locentropy does not say" in problem
    assert not any(found.values())


def test_flipping_whose_it_is_does_not_verify(tmp_path: Path) -> None:
    directory = outside().save(tmp_path / "may")
    path = directory / "details.yaml"
    text = path.read_text()
    assert "built_in: false" in text
    path.write_text(text.replace("built_in: false", "built_in: true"))
    found = {check.name: check.problems for check in verify(directory).checks}
    assert found["details"]
    assert found["manifest"]


class TestWhoseProof:
    """The manifest and the page say who proves the guarantee."""

    def test_ours(self) -> None:
        made = release()
        assert proof_words(made.statement) == f"Proof of the guarantee: {le.paper.Limit.method.proof}."
        said = manifest(made.statement)["deployment"]["implementation"]
        assert proof_words(made.statement) in said["justification"]
        assert f"Limit of locentropy {le.__version__}" in said["mechanisms"]
        assert "author" not in said["justification"]
        assert proof_words(made.statement) in page(made).decode()

    def test_the_authors(self) -> None:
        made = outside()
        words = proof_words(made.statement)
        assert "by the author of SomethingNew, which is not part of locentropy" in words
        assert "was not checked by it" in words
        assert METHOD.proof in words
        said = manifest(made.statement)["deployment"]["implementation"]
        assert words in said["justification"]
        assert "noise is OpenDP's" not in said["justification"], (
            "what it does with it, its author answers for"
        )
        assert f"SomethingNew, run by locentropy {le.__version__}" in said["mechanisms"]
        assert METHOD.summary in said["mechanisms"]
        shown = page(made).decode()
        assert "which is not part of locentropy" in shown
        assert "the author&#x27;s article, theorem 3" in shown, "and it is escaped"

    def test_hostile_words_stay_text_on_the_page(self) -> None:
        evil = Method("<script>alert(1)</script>", proof="</li><img src=x onerror=alert(2)>")
        made = Release.of(estimates(bars=False), places(), statement(**(OUTSIDE | {"method": evil})))
        shown = page(made).decode()
        assert "<script>alert" not in shown
        assert "<img" not in shown

    def test_without_a_guarantee_there_is_no_proof(self) -> None:
        said = manifest(statement(guarantee=le.Guarantee.none("nothing was noised"), **OUTSIDE))
        assert "proof" not in said["deployment"]["implementation"]["justification"].lower()


def test_documents_are_not_changed_by_reading_them() -> None:
    before = document(**OUTSIDE)
    after = copy.deepcopy(before)
    statement_in(after)
    assert after == before


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        *(
            ("locations", "attributes", value)
            for value in ("kind", None, [1], [["kind"]], ["entropy"], ["x"] * 9)
        ),
        ("locations", "attributes", ["kind", "Kind"]),
        ("locations", "attributes", ["right\u202eleft"]),
        *(
            ("mechanism", "leans_on", value)
            for value in (None, "kind", ["kind"], [{}], [{"attribute": "kind"}])
        ),
        ("mechanism", "leans_on", [{"attribute": "kind", "explained": 0.5}]),
        ("mechanism", "leans_on", [{"attribute": "kind", "explained": float("nan")}]),
        ("mechanism", "leans_on", [{"attribute": "kind", "explained": 0.5}] * 100_000),
        *(
            ("table", "max_std_error", value)
            for value in ("0.5", 0, -1, True, float("inf"), float("nan"), [])
        ),
    ],
)
def test_hostile_attributes_and_limits(section: str, key: str, value: Any) -> None:
    changed = document()
    changed[section][key] = value
    with pytest.raises(ReleaseError) as raised:
        statement_in(changed)
    assert len(str(raised.value)) < 400
    assert str(raised.value).isprintable()


def test_releases_of_earlier_versions_have_neither() -> None:
    earlier = document()
    del (
        earlier["locations"]["attributes"],
        earlier["mechanism"]["leans_on"],
        earlier["table"]["max_std_error"],
    )
    found = statement_in(earlier)
    assert (found.attributes, found.leans_on, found.max_std_error) == ((), (), None)
