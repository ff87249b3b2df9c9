"""Spellings and words for missing ids in what is published: lists, exclusions, attempts, manifests and series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.spelling import Spelling
from locentropy.publishing.chosen_locations import ChosenLocations
from locentropy.publishing.publication import ResumedWarning
from locentropy.publishing.request import Request
from locentropy.release.chain import check_follows
from tests.publishing.making import LIMIT, MEASURED, Publishing, public, visits_in

ROWS = "uid,venue\nAnn, zoo\nann ,ZOO\nbob,Park\nGAST,park\ngast,zoo\n,zoo\n"
CHOSEN: dict[str, Any] = {"ids": "trim,fold", "missing_id_words": ["GAST"]}
PLACES = ["Zoo", "PARK", "pier"]


def listed(*ids: str) -> le.PublicLocations:
    return le.PublicLocations(list(ids or PLACES), provenance="the register")


def visits(folder: Path) -> le.Visits:
    return replace(visits_in(folder, ROWS), **CHOSEN)


def release(folder: Path, **changed: Any) -> le.Release:
    given = {"mechanism": LIMIT, "locations": listed(), "ledger": None, "out": folder / "may"} | changed
    return le.publish(visits(folder), **given)


def test_ids_come_out_as_the_list_has_them(tmp_path: Path) -> None:
    assert release(tmp_path).to_arrow()["location"].to_pylist() == PLACES
    assert le.verify(tmp_path / "may").ok
    counted = le.private.exact_profile(visits(tmp_path), locations=PLACES).to_arrow().to_pylist()
    assert counted == [
        {"location": "Zoo", "visits": 2, "users": 1},
        {"location": "PARK", "visits": 1, "users": 1},
    ], "Ann under two spellings is one person, and GAST none"


def test_two_listed_ids_that_become_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'Zoo' and 'ZOO' become one"):
        release(tmp_path, locations=listed("Zoo", "ZOO", "park"))
    assert not (tmp_path / "may").exists()


def test_places_are_excluded_in_any_spelling(tmp_path: Path) -> None:
    assert release(tmp_path, exclude=listed(" zoo ")).to_arrow()["location"].to_pylist() == ["PARK", "pier"]
    as_written = ChosenLocations(listed(), listed(" zoo "))
    with pytest.raises(ParameterError, match="None of the places to exclude"):
        _ = as_written.listed


def test_exclusions_where_places_are_selected(tmp_path: Path) -> None:
    chosen = ChosenLocations(None, listed("Zoo", "ZOO "), spelling=Spelling.of("trim,fold"))
    with chosen.open(lambda **asked: le.private.open_queries(visits(tmp_path), **asked)) as queries:
        assert queries.locations.to_pylist() == ["park"]


def test_the_manifest_says_so(tmp_path: Path) -> None:
    release(tmp_path)
    said = " ".join((tmp_path / "may" / "manifest.yaml").read_text().split())
    assert (
        "blanks at either end do not count and capital letters count as small ones (--ids text,trim,fold)"
        in said
    )
    assert "NA, n/a, and what the owner named: GAST) are left out" in said


class TestIdentity:
    """Attempts that were begun before have none of these keys, and stay the same requests."""

    def test_only_what_is_given(self) -> None:
        plain = Request(LIMIT, public()).identity(None)
        assert Request(LIMIT, public(), spelling=Spelling.of("text")).identity(None) == plain
        both = Request(LIMIT, public(), spelling=Spelling.of("fold"), missing_id_words=("GAST",))
        assert both.identity(None) == plain | {"ids": "text,fold", "missing_id_words": '["GAST"]'}

    @pytest.mark.parametrize("said", [{"ids": "fold"}, {"missing_id_words": ["GAST"]}])
    def test_a_retry_must_say_the_same(
        self, said: dict[str, Any], again: Publishing, cut: Callable[..., None]
    ) -> None:
        given = le.Visits("unread.csv", **said)
        cut(MEASURED, visits=given)
        with pytest.raises(le.LocentropyError, match=next(iter(said))):
            again()
        with pytest.warns(ResumedWarning):
            assert next(iter(said)) in again(visits=given).statement.parameters


@pytest.mark.parametrize(("name", "option"), [("ids", "--ids"), ("missing_id_words", "--missing-id-words")])
def test_a_series_has_one_rule(name: str, option: str, tmp_path: Path) -> None:
    window = le.Window("2026-01", zone="as-written")
    path = tmp_path / "v.csv"
    path.write_text("user,location,time\nann,Zoo,2026-01-05\n")
    made = le.publish(
        le.Visits(path, ids="trim", missing_id_words=["GAST"]),
        le.Shares(1.0, max_users=100),
        listed(),
        window=window,
        ledger=None,
        out=tmp_path / "january",
    )
    before = le.Release.load(tmp_path / "january")
    later = replace(made.statement, window=le.Window("2026-02", zone="as-written"))
    check_follows(before, later, listed().load())
    other = {key: value for key, value in later.parameters.items() if key != name}
    with pytest.raises(ReleaseError, match=f"its {option} is none"):
        check_follows(before, replace(later, parameters=other), listed().load())
