"""One strict loader: what is typed in a release document is text in a plan, and both refuse the same things."""

from __future__ import annotations

import pytest

from locentropy.core.errors import ParameterError
from locentropy.core.strict_yaml import dump_document, parse_mapping

SCALARS = b"a: 12\nb: -1.5e-7\nc: true\nd: ~\ne: '1'\nf: 1e-6\n1: [yes, 007]\n"


def test_scalars_of_release_documents_have_types() -> None:
    assert parse_mapping(SCALARS, typed=True, max_depth=3) == {
        "a": 12, "b": -1.5e-7, "c": True, "d": None, "e": "1", "f": "1e-6", 1: [True, 7],
    }  # fmt: skip


def test_scalars_of_plans_are_the_text_that_was_written() -> None:
    assert parse_mapping(SCALARS, typed=False, max_depth=3) == {
        "a": "12", "b": "-1.5e-7", "c": "true", "d": "~", "e": "1", "f": "1e-6", "1": ["yes", "007"],
    }  # fmt: skip


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "mapping"),
        (b"- 1\n", "mapping"),
        (b"\xff\xfe", "UTF-8"),
        (b"a: [1\n", "is not YAML, line 2"),
        (b"a: 1\n---\nb: 1\n", "is not YAML, line 2"),
        (b"a: &x 1\nb: *x\n", "line 2: aliases"),
        (b"a: *nobody\n", "line 1: aliases"),
        (b"a: 1\nb: !!str 1\n", "line 2: the tag"),
        (b"b: ! 1\n", "line 1: the tag"),
        (b"!!python/object/apply:os.system ['true']\n", "line 1: the tag"),
        (b"a: {b: 1, b: 1}\n", "a.b is given twice"),
        (b"? [a]\n: 1\n", "a key that is not a word"),
        (b"a: {b: {c: {d: 1}}}\n", "line 1 is nested deeper than 3 levels"),
        (b"[" * 100_000, "line 1 is nested deeper"),
        (b"{a: " * 100_000, "line 1 is nested deeper"),
    ],
)
def test_both_refuse(text: bytes, words: str, *, typed: bool) -> None:
    with pytest.raises(ParameterError, match=words):
        parse_mapping(text, typed=typed, max_depth=3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a: 1" + b":1" * 5000, "a is a number with too many digits"),
        (b"a: " + b"9" * 5000, "a is a number with too many digits"),
        (b"a: 2026-99-99\n", "a is not a value"),
        (b"1: a\n0x1: b\n", "0x1 is given twice"),
        (b"<<: {a: 1}\n", "is not YAML"),
    ],
)
def test_types_are_refused_that_cannot_be_made(text: bytes, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        parse_mapping(text, typed=True, max_depth=3)
    parse_mapping(text, typed=False, max_depth=3)


def test_what_is_written_can_be_read() -> None:
    shared = ["x", "y"]
    document = {"text": "two\nlines", "number": 3, "no": None, "list": shared, "again": shared, "1": "1"}
    written = dump_document(document, "A heading\nof two lines")
    assert written.startswith(b"# A heading\n# of two lines\n")
    assert b"&" not in written
    assert parse_mapping(written, typed=True, max_depth=2) == document
