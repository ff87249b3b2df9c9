"""A page says what the release says, as text, and needs nothing else."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.estimates import Method
from locentropy.core.html import Html, filled, joined, policy_hash, script_json, tag
from locentropy.release.release import Release
from locentropy.release.report.page import SCRIPTS, page
from locentropy.release.report.rows import _size
from locentropy.release.statement import About
from tests.examples import examples

from ..making import NONE, estimates, not_private, places, release, statement
from .making import HOSTILE, Parsed, town

MEGABYTE = 1_000_000


def test_every_release_has_its_page(tmp_path: Path) -> None:
    made = town(30)
    directory = made.save(tmp_path / "may")
    assert (directory / "report.html").read_bytes() == page(made)
    assert page(made) == page(Release.load(directory)), "drawn from what is published, and nothing else"
    assert le.verify(directory).ok


@pytest.mark.parametrize("mechanism", ["Moments", "Limit", "LimitPTR", "LimitSS", "Shares"])
def test_the_numbers_are_those_of_the_table(mechanism: str) -> None:
    made = town(40, mechanism=mechanism)
    columns = Parsed(page(made)).data["columns"]
    table = {row["location"]: row for row in made.to_arrow().to_pylist()}
    assert sorted(columns["id"]) == sorted(table)
    for at, place in enumerate(columns["id"]):
        for name in {"lat", "lon", "entropy", "std_error", "low", "high"} & set(table[place]):
            known = table[place][name]
            assert columns[name][at] == (known if known is None else pytest.approx(known, abs=6e-5))
        assert columns["name"][at] == table[place]["name"]
    assert ("std_error" in columns) == ("chance" in columns) == (mechanism != "LimitSS")
    ranked = [table[place]["entropy"] for place in columns["id"] if table[place]["entropy"] is not None]
    assert ranked == sorted(ranked, reverse=True)


def test_nothing_is_asked_of_any_network() -> None:
    for made in (town(30), town(30, coordinates=False), not_private()):
        text = page(made).decode()
        parsed = Parsed(text.encode())
        assert set(re.findall(r"https?://[^\"'\s<)]*", text)) == {"http://www.w3.org/2000/svg"}, (
            "a name, no address"
        )
        for _, attributes in parsed.elements:
            assert not {"src", "srcset", "action", "data", "background", "poster"} & set(attributes)
            assert attributes.get("href", "#") in ("#", "data:,", "#list", "#guarantee")
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(|@import|url\((?!#)", text)
        [policy] = [meta["content"] for meta in parsed.named("meta") if "http-equiv" in meta]
        assert policy is not None
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        assert policy_hash(parsed.scripts[-1]) in policy
        assert text.index("Content-Security-Policy") < text.index("<style>")


def test_hostile_texts_are_texts() -> None:
    words = HOSTILE[0] + HOSTILE[1]
    made = town(
        40, names=HOSTILE, title=words, curator=words, description=words, intended_use=words, region=words,
        locations_provenance=words,
    )  # fmt: skip
    parsed = Parsed(page(made))
    assert len(parsed.scripts) == 3
    assert not parsed.named("img")
    assert set(HOSTILE) <= set(parsed.data["columns"]["name"])
    assert parsed.texts["title"][0] == words
    assert parsed.words.count("<script>alert(1)</script>") >= 7, "also in the manifest"
    assert "<" not in parsed.scripts[0]


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_any_name_comes_back_as_it_was(names: list[str]) -> None:
    parsed = Parsed(page(town(12, names=names)))
    assert len(parsed.scripts) == 3
    assert set(names) <= set(parsed.data["columns"]["name"])


@given(TEXTS, TEXTS)
def test_pieces_of_a_page(text: str, other: str) -> None:
    made = Parsed(tag("p", text, title=other).encode())
    assert "".join(made.texts.get("p", [])) == text.replace("\r\n", "\n").replace("\r", "\n") or "\r" in text
    assert made.elements == [("p", {"title": other})]
    assert not re.search("[<>&\u2028\u2029]", script_json([text, {"k": other}]))
    with pytest.raises(TypeError):
        filled("$part", part=text)  # type: ignore[arg-type]
    assert filled("a $part", part=joined("<", Html("<b>"))) == "a &lt;<b>"


@given(st.none() | TEXTS)
def test_how_many_bytes_a_text_takes(text: str | None) -> None:
    """Computed without writing it, for nearly every text."""
    assert _size(text) == len(f"{script_json(text)},".encode())


def test_without_a_promise_it_shows() -> None:
    parsed = Parsed(page(not_private()))
    assert parsed.texts["title"][0].startswith("NOT PRIVATE: ")
    assert next(element["class"] for element in parsed.named("div")) == "banner"
    assert "do not publish it" in parsed.words
    assert "Differential privacy" not in parsed.words
    promised = Parsed(page(release()))
    assert "NOT PRIVATE" not in promised.words
    assert "ε = 0.3" in promised.words
    assert release().statement.guarantee.explain() in promised.words
    assert release().statement.guarantee.explain_groups() in promised.words


def test_without_coordinates_there_is_no_map() -> None:
    parsed = Parsed(page(town(30, coordinates=False)))
    assert not parsed.named("canvas")
    assert "no coordinates" in parsed.words
    assert Parsed(page(town(30))).named("canvas")


def test_without_error_bars_no_certainty_is_claimed() -> None:
    parsed = Parsed(page(town(30, mechanism="LimitSS")))
    assert "publishes no error bars" in parsed.words
    assert not {"chance", "certainty", "std_error", "low"} & set(parsed.data["columns"])
    assert "Top 10" not in parsed.words


def test_attributes_are_shown_and_what_they_did_is_said() -> None:
    kinds = pa.array(["café"] * 20 + ["park"] * 9 + [None], pa.string())
    made = town(30, mechanism="Shares", attributes={"kind": kinds}, explained=0.43)
    parsed = Parsed(page(made))
    assert parsed.data["attributes"] == ["kind"]
    table = {row["location"]: row["kind"] for row in made.to_arrow().to_pylist()}
    columns = parsed.data["columns"]
    assert columns["a0"] == [table[place] for place in columns["id"]]
    assert (
        "lean on others with the same kind (those of “café” on each other) and places nearby" in parsed.words
    )
    assert "kind explains about 43 % of how places differ" in parsed.words
    without = Parsed(page(town(30, mechanism="Shares")))
    assert without.data["attributes"] == []
    assert " lean on " not in without.words


def test_places_that_are_too_uncertain_are_said_not_to_be_shown() -> None:
    made = town(30, max_std_error=0.4)
    parsed = Parsed(page(made))
    left_out = int(made.to_arrow()["entropy"].null_count)
    assert 0 < left_out < 30
    assert sum(parsed.data["columns"]["uncertain"]) == left_out
    assert f"{left_out} of them not shown: too uncertain" in parsed.words
    assert "of them withheld" not in parsed.words
    assert "Small grey dots are places whose value is not shown" in parsed.words
    assert "protects" in parsed.words or "protect anybody" in parsed.words
    nothing = Parsed(page(town(30, max_std_error=0.001)))
    assert "above the limit that the owner chose" in nothing.words


def test_withheld_places_are_there_and_said() -> None:
    made = town(30, mechanism="LimitPTR")
    parsed = Parsed(page(made))
    assert parsed.data["columns"]["entropy"][-10:] == [None] * 10
    assert parsed.data["columns"]["rank"][-10:] == [None] * 10
    assert "10 of them withheld" in parsed.words


@pytest.mark.parametrize("count", [1, 2, 10, 11])
@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_few_places(count: int, unit: str) -> None:
    parsed = Parsed(page(town(count, entropy_unit=unit)))
    assert ("chance" in parsed.data["columns"]) == (count > 10)
    assert parsed.data["unit"] == unit


def test_nothing_is_published() -> None:
    made = town(1, mechanism="LimitPTR")
    parsed = Parsed(page(made))
    assert "No place has a value" in parsed.words


def before_the_manifest(made: Release) -> str:
    return Parsed(page(made).split(b"<pre>")[0]).words


def test_what_the_owner_did_not_say_is_left_out() -> None:
    """The words that the page leaves out are those of `About`: one does not know the other."""
    silent = About()
    words = {"region": silent.region, "curator": silent.curator, "intended_use": silent.intended_use}
    told = before_the_manifest(town(12, **words))
    assert "not stated" not in told
    assert "published by" not in told
    assert "Meant for" not in told
    said = Parsed(page(town(12, region="Example, Europe"))).words
    assert "Example, Europe" in said
    assert "published by City of Example" in said


@pytest.mark.parametrize("mechanism", ["Shares", "Moments", "LimitSS"])
def test_a_selection_that_names_no_place(mechanism: str) -> None:
    made = town(
        12, mechanism=mechanism, locations_source="private selection (epsilon=0.2)", coordinates=False
    )
    none = Release(made.to_arrow().slice(0, 0).drop_columns(["name"]), made.statement)
    words = before_the_manifest(none)
    assert "No place has a value here" in words
    assert "there is no place in this release" in words
    assert "nothing to rank" in words
    for wrong in (
        "error bars",
        "Error bars",
        "public list of places has no",
        "Highest first",
        "lie closer",
        "wider than",
    ):
        assert wrong not in words
    some = Parsed(page(Release(made.to_arrow().drop_columns(["name"]), made.statement))).words
    assert "places were selected from the visits" in some
    assert "Error bars" in some


def test_all_alike() -> None:
    made = town(20)
    table = made.to_arrow()
    for name, value in {
        "entropy": 2.0,
        "effective_visitors": np.exp(2.0),
        "std_error": 0.0,
        "low": 2.0,
        "high": 2.0,
    }.items():
        table = table.set_column(table.column_names.index(name), name, [[value] * 20])
    parsed = Parsed(page(Release(table, made.statement)))
    assert parsed.data["columns"]["rank"] == [1] * 20
    assert parsed.data["columns"]["chance"] == [0.5] * 20
    assert "share a rank" in parsed.words


# --- as many as a page can carry ------------------------------------------------------------------------------------


def test_a_hundred_thousand_are_all_shown() -> None:
    made = page(town(100_000))
    assert len(made) < 20 * MEGABYTE
    assert len(Parsed(made).data["columns"]["id"]) == 100_000
    assert b"This page shows" not in made


def test_of_more_the_highest_and_the_most_certain_are_shown() -> None:
    made = town(1000)
    parsed = Parsed(page(made, most=100))
    assert "This page shows 100 of 1,000 places" in parsed.words
    table = made.to_arrow().to_pylist()
    highest = sorted(table, key=lambda place: -place["entropy"])
    surest = sorted(table, key=lambda place: place["std_error"])
    expected: list[str] = []
    for one, other in zip(highest, surest, strict=True):
        expected += [place["location"] for place in (one, other) if place["location"] not in expected]
    shown = parsed.data["columns"]
    assert set(shown["id"]) == set(expected[:100])
    ranks = {place["location"]: rank for rank, place in enumerate(highest, 1)}
    assert shown["rank"] == [ranks[place] for place in shown["id"]], "among all places"
    assert parsed.data["total"] == 1000


def test_long_texts_do_not_make_it_too_large() -> None:
    names = ["<" * 4000] * 30_000
    made = page(town(30_000, names=names))
    assert len(made) < 20 * MEGABYTE
    assert b"This page shows" in made
    assert Parsed(made).data["columns"]["name"][0] == "<" * 119 + "…"


def test_the_parts_of_the_script_are_all_used() -> None:
    there = {path.name for path in files("locentropy.release.report").joinpath("assets").iterdir()}
    levels, series = {"levels.css", "levels.js"}, {"series.css", "series.js"}
    assert there == {*SCRIPTS, "style.css", "template.html", "content.html", "map.html", *levels, *series}


def test_a_marked_page_has_a_marked_name(tmp_path: Path) -> None:
    directory = town(12, guarantee=NONE).save(tmp_path / "may")
    assert (directory / "report.NOT-PRIVATE.html").is_file()
    assert (directory / "report.NOT-PRIVATE.html").stat().st_mode & 0o077 == 0


def test_a_source_of_places_is_named_once() -> None:
    source = "grid of 3 × 3 square cells of 500 m, south 1, west 1, north 2, east 2"
    parsed = Parsed(page(release(locations_source=source, locations_provenance=source)))
    assert f"the grid of cells ({source});" in parsed.words
    listed = Parsed(page(release()))
    assert "the list of places (public list; the owner says: the city's register of venues);" in listed.words


@pytest.mark.parametrize(
    ("bars", "estimand", "said"),
    [
        ("none", "true", "This release has none."),
        ("noise", "true", "in 95 of 100 cases the true value lies within"),
        ("noise", "bounded", "95 % interval for the entropy of the bounded visits"),
        ("model", "true", "rests on a model"),
        ("model", "bounded", "rests on a model"),
    ],
)
def test_error_bars_are_explained_for_what_they_are(bars: Any, estimand: Any, said: str) -> None:
    """By what the mechanism declares, not by which one it is."""
    columns = () if bars == "none" else ("std_error", "low", "high")
    method = Method("It adds noise.", columns, bars)
    words = {"mechanism": "SomethingNew", "method": method, "estimand": estimand, "built_in": False}
    made = Release.of(estimates(bars=bars != "none", estimand=estimand), places(), statement(**words))
    assert said in Parsed(page(made)).words
