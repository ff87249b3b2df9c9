"""Languages: every file has the same keys and names, every key is used, and no words stand anywhere else."""

from __future__ import annotations

import ast
import re
from datetime import date
from pathlib import Path
from string import Formatter

import pytest

import locentropy
from locentropy.core.errors import ParameterError
from locentropy.core.html import Html
from locentropy.core.language import ENGLISH, STORED, Text, Words, check_language, languages, words_in
from locentropy.release.statement import SOURCES

SOURCE = Path(locentropy.__file__).parent
PAGE = SOURCE / "release" / "report"
OTHERS = [language for language in languages() if language != "en"]
GERMAN = words_in("de")
COUNTS = range(250)


def names_in(text: str) -> set[str]:
    return {name for _, name, *_ in Formatter().parse(text) if name is not None}


def variants(text: Text) -> dict[str, str]:
    return {"": text} if isinstance(text, str) else text


def is_plural(text: Text) -> bool:
    """Whether numbers decide: the last part of every variant's name is one that English counts with."""
    return isinstance(text, dict) and {each.split(".")[-1] for each in text} == {"one", "other"}


def expected_variants(say: Words, key: str) -> set[str]:
    text = ENGLISH.texts[key]
    if not is_plural(text):
        return set(variants(text))
    before = {".".join(each.split(".")[:-1]) for each in variants(text)}
    forms = {say.plural(number) for number in COUNTS}
    return {f"{each}.{form}" if each else form for each in before for form in forms}


# --- the files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_keys(language: str) -> None:
    assert list(words_in(language).texts) == list(ENGLISH.texts), "and in the same order, to be compared"


@pytest.mark.parametrize("language", languages())
def test_every_text_has_the_same_variants_and_names(language: str) -> None:
    say = words_in(language)
    for key, text in say.texts.items():
        assert set(variants(text)) == expected_variants(say, key), key
        original = variants(ENGLISH.texts[key])
        allowed = set.union(*map(names_in, original.values()))
        for variant, words in variants(text).items():
            if variant in original and not is_plural(text):
                assert names_in(words) == names_in(original[variant]), (key, variant)
            else:
                assert names_in(words) <= allowed, (key, variant)


@pytest.mark.parametrize("language", languages())
def test_texts_are_texts(language: str) -> None:
    """What begins or ends with a blank does so in every language, for pieces are put together as they are."""
    for key, text in words_in(language).texts.items():
        for variant, words in variants(text).items():
            assert words.strip(), (key, variant)
            assert "<" not in words, (key, variant)
            english = variants(ENGLISH.texts[key]).get(variant)
            if english is not None:
                assert words.endswith(" ") == english.endswith(" "), (key, variant)


def test_german_is_another_language() -> None:
    """Only what is written alike in both is the same."""
    same = {
        f"{key} {variant}".strip()
        for key, text in GERMAN.texts.items()
        for variant, words in variants(text).items()
        if words == variants(ENGLISH.texts[key])[variant]
    }
    assert same == {
        "list.name zone",
        "list.name group",
        "list.heading chance",
        "script.compass N",
        "script.compass S",
        "script.compass W",
    }


# --- where they are used --------------------------------------------------------------------------------------------


def keys_of(node: ast.expr) -> list[str] | None:
    """The keys that an argument may be: a text, or one of two."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        both = [keys_of(node.body), keys_of(node.orelse)]
        return None if None in both else [key for keys in both for key in keys or ()]
    return None


def asked_in(path: Path) -> list[tuple[list[str], set[str] | None]]:
    """The keys that a module asks for, each with the names that it gives; None for what tells of stored texts."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        owner = called.value if isinstance(called, ast.Attribute) else called
        if not isinstance(owner, ast.Name) or owner.id not in ("say", "ENGLISH"):
            continue
        how = called.attr if isinstance(called, ast.Attribute) else ""
        if how not in ("", "html", "count", "stored"):
            continue
        if ast.unparse(node.args[0]) == "found[1]":
            continue  # of a file of the page, whose keys are found in it
        keys = keys_of(node.args[0])
        if how == "stored":
            found.append(([f"{STORED}{key}" for key in keys or ()], None))
            continue
        assert keys is not None, f"{path}: the key must be written where it is asked for"
        given = {each.arg or "" for each in node.keywords} - {"of"} | ({"n"} if how == "count" else set())
        found.append((keys, given))
    return found


def modules() -> list[Path]:
    """All but the catalogues, and the command line, which speaks English to owners and has a `say` of its own."""
    return [
        path
        for path in SOURCE.rglob("*.py")
        if path.parent.name not in ("words", "cli") and path.name != "language.py"
    ]


def test_every_key_that_is_asked_for_is_there_and_gets_its_names() -> None:
    for path in modules():
        for keys, given in asked_in(path):
            for key in keys:
                if given is None:
                    assert any(each == key or each.startswith(f"{key}.") for each in ENGLISH.texts), key
                else:
                    needed = set.union(*map(names_in, variants(ENGLISH.texts[key]).values()))
                    assert needed <= given, (path, key)


def test_every_key_is_used() -> None:
    asked = {key for path in modules() for keys, given in asked_in(path) if given is not None for key in keys}
    in_files = {
        key
        for path in PAGE.joinpath("assets").glob("*.html")
        for key in re.findall(r"\{\{(.+?)\}\}", path.read_text())
    }
    scripts = "".join(path.read_text() for path in PAGE.joinpath("assets").glob("*.js"))
    in_scripts = {f"script.{key}" for key in re.findall(r'\bsay(?:Count)?\("(\w+)"', scripts)}
    inner = {"and"}  # of `Words` itself
    known = {key for key in ENGLISH.texts if not key.startswith(STORED)}
    assert asked | in_files | in_scripts | inner == known


def test_every_name_of_a_script_text_is_given() -> None:
    """What a script fills in is named there, beside the key or a line below."""
    scripts = "".join(path.read_text() for path in PAGE.joinpath("assets").glob("*.js"))
    for key, text in ENGLISH.under("script.").items():
        [used] = [re.findall(rf'\bsay(Count)?\("{key}"(.{{0,120}})', scripts)]
        for name in set.union(*map(names_in, variants(text).values())):
            assert all(counted or re.search(rf"\b{name}\b", after) for counted, after in used), (key, name)


# --- and nowhere else -----------------------------------------------------------------------------------------------

SHOWN = ("aria_label", "title", "placeholder", "aria_roledescription", "summary")
PROSE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
CODE = re.compile(r"^[#.]|sans-serif")
"""Selectors and fonts, in scripts."""
NOT_PROSE = {
    # Of the page's policy, of notebooks' frames, of classes, and a command.
    "allow-scripts allow-downloads",
    "locentropy verify",
    "tick end",
    "tick middle",
    "count {}",
    "width=device-width, initial-scale=1",
}


def prose_in(path: Path) -> list[str]:
    """Texts for readers in a module: sentences anywhere, and any word that becomes part of an element."""
    tree = ast.parse(path.read_text())
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        told = isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn"
        )
        documented = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if told or documented:
            skipped |= set(ast.walk(node))
    found = []
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and PROSE.search(node.value):
            found.append(node.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tag", "joined", "Html"):
            parts = [*node.args[ast.unparse(node.func) == "tag" :]]
            parts += [each.value for each in node.keywords if each.arg in SHOWN]
            for part in parts:
                pieces = part.values if isinstance(part, ast.JoinedStr) else [part]
                found += [
                    each.value
                    for each in pieces
                    if isinstance(each, ast.Constant) and re.search(r"[A-Za-z]{2}", str(each.value))
                ]
    return [text for text in found if text.strip() not in {*NOT_PROSE, *SOURCES}]


def test_no_words_stand_in_the_code_of_the_page() -> None:
    for path in PAGE.glob("*.py"):
        assert [text for text in prose_in(path) if not is_markup(text)] == [], path.name


def is_markup(text: str) -> bool:
    """Of the plain page, and the parts of a policy."""
    return text.lstrip().startswith(("<", "'", '"use strict"')) or "-src " in text or "'none'" in text


def test_a_word_in_the_code_of_the_page_would_be_found(tmp_path: Path) -> None:
    for planted in (
        'x = f"There are {n} places"',
        'tag("p", "Hello")',
        'tag("b", x, aria_label="Map")',
        'joined(f"Level {n}")',
    ):
        (tmp_path / "planted.py").write_text(planted)
        assert prose_in(tmp_path / "planted.py") != [], planted


def test_no_words_stand_in_the_files_of_the_page() -> None:
    for path in PAGE.joinpath("assets").glob("*.html"):
        without = re.sub(r"\{\{.+?\}\}|\$\w+", "", path.read_text())
        shown = re.sub(r"<[^>]*>", "\n", without)
        assert re.findall(r"[A-Za-z]{2,}", shown) == [], path.name
        told = re.findall(
            r'(?:aria-label|title|placeholder|aria-roledescription|data-\w+)="([^"]*)"', without
        )
        assert re.findall(r"[A-Za-z]{2,}", " ".join(told)) == [], path.name
    for path in PAGE.joinpath("assets").glob("*.js"):
        code = re.sub(r"//.*", "", path.read_text())
        texts = [text for _, text in re.findall(r"([\"'`])((?:(?!\1).)*)\1", code)]
        shown = [re.sub(r"\$\{.*?\}", "", text) for text in texts]
        assert [text for text in shown if PROSE.search(text) and not CODE.search(text)] == [], path.name


# --- what they do ---------------------------------------------------------------------------------------------------


def test_numbers_and_days() -> None:
    assert GERMAN.number(1234567) == "1.234.567"
    assert GERMAN.number(1234.5, ",.2f") == "1.234,50"
    assert GERMAN.written("1.5e-7") == "1,5e-7"
    assert ENGLISH.number(1234.5, ",.2f") == "1,234.50"
    assert GERMAN.day(date(2026, 5, 3)) == "03.05.2026"
    assert ENGLISH.day(date(2026, 5, 3)) == "2026-05-03"


def test_plurals() -> None:
    assert [GERMAN.count("places", number) for number in (0, 1, 2, 1000)] == [
        "0 Orte",
        "1 Ort",
        "2 Orte",
        "1.000 Orte",
    ]
    assert [ENGLISH.count("things", number, of="zone") for number in (1, 2)] == ["1 zone", "2 zones"]


def test_enumerations() -> None:
    assert GERMAN.together(["a"]) == "a"
    assert GERMAN.together(["a", "b", "c"]) == "a, b und c"


def test_pieces_of_a_page_stay_pieces_and_texts_are_escaped() -> None:
    made = GERMAN.html("files.tables", csv=Html("<code>x</code>"), parquet="<y>")
    assert made == "<code>x</code> und &lt;y&gt;"


def test_an_unknown_language_is_refused_with_those_that_there_are() -> None:
    for unknown in ("xx", "DE", "", None, 7, "__init__", "../en"):
        with pytest.raises(ParameterError, match="is not one of de, en") as caught:
            check_language(unknown)
        assert "\n" not in str(caught.value)


def test_a_further_language_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beside the others is found, with its own way to count."""
    text = Path(SOURCE / "core" / "words" / "en.py").read_text()
    text = text.replace('return "one" if number == 1', 'return "one" if number < 2')
    (tmp_path / "tlh.py").write_text(text)
    monkeypatch.setattr("locentropy.core.words.__path__", [*locentropy.core.words.__path__, str(tmp_path)])
    try:
        assert check_language("tlh") in languages()
        assert words_in("tlh").count("places", 0) == "0 place"
    finally:
        words_in.cache_clear()


STORED_TEXTS = {
    ("source", "public list"): "öffentliche Liste",
    (
        "source",
        "public list, at the levels place, district",
    ): "öffentliche Liste, auf den Ebenen place, district",
    (
        "source",
        "public list, its places grouped by their kind, less places that the owner excluded",
    ): "öffentliche Liste, deren Orte nach kind zusammengefasst sind, ohne Orte, die die herausgebende Stelle "
    "ausgeschlossen hat",
    (
        "source",
        "grid of 3 × 4 square cells of 500 m, south 40.5, west -74.0, north 41, east -73",
    ): "Raster aus 3 × 4 quadratischen Zellen von 500 m, Süden 40,5, Westen -74,0, Norden 41, Osten -73",
    (
        "source",
        'H3 cells of resolution 8, within zones: 1,234 polygons of the layer "of a map" of a map with SHA-256 ab, ids '
        '"a and names b" and names "c"',
    ): 'H3-Zellen der Auflösung 8, innerhalb von Zonen: 1.234 Polygone der Schicht "of a map" einer Karte mit SHA-256 '
    'ab, IDs "a and names b" und Namen "c"',
    ("title", "Location entropy"): "Entropie von Orten",
    ("title", "Location entropy of Bonn"): "Location entropy of Bonn",
    ("title", "public list"): "public list",
    ("nothing", "public list"): "public list",
}


@pytest.mark.parametrize(("what", "text"), STORED_TEXTS)
def test_texts_that_releases_keep_are_found_again(what: str, text: str) -> None:
    assert GERMAN.stored(what, text) == STORED_TEXTS[what, text]
    assert ENGLISH.stored(what, text) == text
