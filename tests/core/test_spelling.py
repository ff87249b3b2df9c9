"""Spellings of ids: what is trimmed and folded is fixed, the same in Python, in SQL and in expressions."""

from __future__ import annotations

import hashlib
import unicodedata

import duckdb
import ibis
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.core.spelling import AS_STORED, BLANKS, CAPITAL, SMALL, Spelling
from locentropy.visits.spelled import spelled, spelled_sql

CON = duckdb.connect()
LETTERS = st.text(
    st.sampled_from(
        [*CAPITAL, *SMALL, *map(chr, BLANKS), "\x85", "\u2028", "İ", "ı", "ß", "ς", "a", "\u0301"]
    )
)


def test_the_table_is_fixed() -> None:
    """Another one would make other people of the same ids: it can only be a new word beside `fold`."""
    assert len(CAPITAL) == len(SMALL) == len(set(CAPITAL)) == 203
    digest = hashlib.sha256(f"{CAPITAL}|{SMALL}|{BLANKS}".encode()).hexdigest()
    assert digest == "fad29103808541f69364af5b585c01e2814d47554fbdc47b141ff4b0156d7f53"


def test_letters_become_their_small_ones() -> None:
    assert not set(CAPITAL) & set(SMALL), "folding twice is folding once"
    for capital, small in zip(CAPITAL, SMALL, strict=True):
        assert (unicodedata.category(capital), unicodedata.category(small)) == ("Lu", "Ll")
        assert capital.lower() == small
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜẞÀÉÇÑŁŠŽÅØÞĆŐȘΑΣΩΆЁЖЯІҐ"
    assert set(alphabet) <= set(CAPITAL)


def test_what_is_trimmed() -> None:
    assert set(BLANKS) == {*range(0x09, 0x0E), 0x20, 0xA0, 0x200B, 0xFEFF}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("as-they-are", AS_STORED),
        ("text", Spelling(text=True)),
        ("trim", Spelling(text=True, trim=True)),
        ("fold, trim", Spelling(text=True, trim=True, fold=True)),
        (["text", "fold"], Spelling(text=True, fold=True)),
    ],
)
def test_words_of_the_option(said: object, meant: Spelling) -> None:
    """`trim` and `fold` imply `text`, and the order does not matter."""
    assert Spelling.of(said) == meant
    assert Spelling.of(str(meant)) == meant


@pytest.mark.parametrize("said", ["", "lower", "text,text", "as-they-are,text", [], [1], None, 7])
def test_other_words_are_refused(said: object) -> None:
    with pytest.raises(ParameterError, match="list of text, trim and fold"):
        Spelling.of(said)


@given(
    LETTERS | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.sampled_from(["trim", "fold", "trim,fold"]),
)
def test_python_sql_and_expressions_agree(text: str, said: str) -> None:
    spelling = Spelling.of(said)
    [expected] = spelling.spelled(pa.array([text], pa.string())).to_pylist()
    [[by_sql]] = CON.execute(f"SELECT {spelled_sql('id', spelling)} FROM (SELECT ? AS id)", [text]).fetchall()
    query = ibis.to_sql(
        ibis.table({"id": "string"}, "t").select(id=spelled(ibis._.id, spelling, "duckdb")), "duckdb"
    )
    [[by_expression]] = CON.execute(f"WITH t AS (SELECT ? AS id) {query}", [text]).fetchall()
    assert by_sql == by_expression == expected
    assert spelling.spelled(pa.array([expected], pa.string())).to_pylist() == [expected], "once is enough"


class TestLists:
    SPELLING = Spelling.of("trim,fold")

    def test_two_ids_that_become_one(self) -> None:
        with pytest.raises(ParameterError, match=r"'Zoo' and ' zoo' become one .*--ids text,trim,fold"):
            self.SPELLING.keys(pa.array(["park", "Zoo", " zoo"]))
        assert Spelling.of("text").keys(pa.array(["Zoo", " zoo"])).to_pylist() == ["Zoo", " zoo"]

    def test_an_id_of_blanks(self) -> None:
        with pytest.raises(ParameterError, match="nothing but blanks"):
            self.SPELLING.keys(pa.array(["park", " \ufeff"]))

    def test_ids_in_the_spelling_of_a_list(self) -> None:
        listed = pa.array(["Zoo", "Park"])
        assert self.SPELLING.as_listed(pa.array(["ZOO ", "zoo", "pier"]), listed).to_pylist() == [
            "Zoo",
            "pier",
        ]
