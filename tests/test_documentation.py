"""What the documentation shows runs, and what it links to or names exists."""

from __future__ import annotations

import ast
import json
import math
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from locentropy.cli.main import app
from locentropy.privacy.guarantee import Guarantee
from tests.bare import stand_ins
from tests.cli.running import in_process
from tests.pages import commands, expected, our_commands, snippets

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TUTORIAL = ROOT / "docs" / "tutorial.md"
FORCING = {
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "PY_COLORS",
    "GITHUB_ACTIONS",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_in(page: Path) -> list[str]:
    return [each.text for each in snippets(page.read_text()) if each.language == "python"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


@cache
def code() -> tuple[set[str], dict[str, set[str]], dict[str, set[str]]]:
    """Every name of the code and its tests, the members of every class, and what every module defines."""
    names: set[str] = set()
    members: dict[str, set[str]] = defaultdict(set)
    defined: dict[str, set[str]] = defaultdict(set)
    bases: dict[str, set[str]] = defaultdict(set)
    for folder in ("src", "lab/src", "tests", "benchmarks"):
        for file in ROOT.joinpath(folder).rglob("*.py"):
            tree = ast.parse(file.read_text())
            defined[file.stem] |= named_in(tree)
            names |= named_in(tree)
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    members[node.name] |= named_in(node)
                    bases[node.name] |= {base.id for base in node.bases if isinstance(base, ast.Name)}
    for _ in range(3):  # generations
        for kind, parents in bases.items():
            members[kind] |= set().union(*(members[parent] for parent in parents))
    return names, members, defined


def named_in(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


OF_OTHERS = {"exp", "expm1", "locentropy"}


def unknown(text: str) -> list[str]:
    """The functions, classes, parameters and files that a page names in `code` and that are not there."""
    names, members, defined = code()
    missing = []
    for quoted in re.findall(r"`([^`\n]+)`", FENCED.sub("", text)):
        if re.search(r"/|\.py$", quoted):
            if re.match(r"(src|lab|tests|docs|benchmarks)/", quoted):
                there = (ROOT / quoted).exists()
            else:
                there = any(next(ROOT.glob(f"{home}/**/{quoted}"), None) for home in ("src", "lab", "tests"))
            missing += [] if there else [quoted]
            continue
        called = re.findall(r"[A-Za-z_][\w.]{2,}(?=\()", quoted)
        for word in {*re.findall(r"^[A-Za-z_][\w.]{2,}", quoted), *called}:
            first, _, rest = word.rpartition(".")
            owner = first.rpartition(".")[2]
            if owner == "np" or word in OF_OTHERS:
                continue
            if re.match(r"locentropy(_lab)?\.", word):
                pkgutil.resolve_name(word)  # raises
                known = True
            elif owner in members:
                known = rest in members[owner]
            elif owner in defined:
                known = rest in defined[owner]
            else:
                known = rest in names
            missing += [] if known else [word]
    return missing


FENCED = re.compile(r"^```.*?^```", re.S | re.M)
RELYING_ON_CODE = [*ROOT.glob("docs/proofs/*.md"), ROOT / "docs/paper-errata.md", ROOT / "docs/shares.md"]


@pytest.mark.parametrize("page", sorted(RELYING_ON_CODE), ids=name)
def test_what_a_proof_relies_on_exists(page: Path) -> None:
    assert unknown(page.read_text()) == []


@pytest.mark.parametrize(
    "gone",
    [
        "`no_such_function`",
        "`Limit.no_such_method`",
        "`noise.no_such_function`",
        "`lattice_sensitivity(no_such_function(C))`",
        "`src/locentropy/no_such_file.py`",
        "`no_such_file.py`",
    ],
)
def test_what_is_not_there_is_found(gone: str) -> None:
    assert unknown(f"By {gone}, and `Limit.scale`, `noise.to_lattice(profile.entropy)` and `np.rint`.")
    assert not unknown(
        "By `Baseline.scale`, `noise.to_lattice(profile.entropy)`, `tests/oracles` and `np.rint`."
    )


def test_files_that_pages_name_exist() -> None:
    """Wherever a page speaks of a file of the repository."""
    for page in PAGES:
        for path in re.findall(r"`((?:src|lab|tests|docs|examples|benchmarks)/[\w./-]+)`", page.read_text()):
            assert (ROOT / path).exists(), f"{name(page)}: {path}"


def test_pages_that_the_code_names_exist() -> None:
    for folder in ("src", "lab", "benchmarks"):
        for file in ROOT.joinpath(folder).rglob("*.py"):
            for path in re.findall(r"docs/[\w./-]+\.md", file.read_text()):
                assert (ROOT / path).exists(), f"{name(file)}: {path}"


def test_the_map_of_folders_is_the_import_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    entry, *layers = [layer.split(" | ") for layer in contract["layers"]]
    assert entry == ["__main__"], "python -m locentropy, above all folders"
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| (`[a-z]+(?:/|\.py)`.*?) \|.*\| (.*?) \|$", text, re.M)
    told = [word for folders, _ in rows for word in re.findall(r"[a-z]+(?=/|\.py)", folders)]
    assert told == [folder for layer in layers for folder in layer]
    below = {folder: layers[at + 1 :] for at, layer in enumerate(layers) for folder in layer}
    for folders, may_import in rows:
        folder = re.findall(r"[a-z]+(?=/|\.py)", folders)[-1]
        named = [[word] for word in re.findall(r"`(\w+)`", may_import) if "down" not in may_import]
        if may_import == "nothing":
            assert below[folder] == []
        elif named:
            assert named == below[folder]
        else:
            assert may_import in ("everything below", f"everything from `{below[folder][0][0]}` down")


# Whole stories, which tests of their own follow: below, and in tests/mechanisms/test_outside.py.
TOLD_ELSEWHERE = {TUTORIAL, ROOT / "docs" / "add-a-mechanism.md"}


@pytest.mark.filterwarnings("ignore:Geometry is in a geographic CRS")  # of GeoPandas, about degrees
@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_in(page) and page not in TOLD_ELSEWHERE], ids=name
)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_ins(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in python_in(page):
        exec(compile(snippet, name(page), "exec"), names)  # noqa: S102


def run(command: str) -> str:
    """Run a command line, which must end as it says it does; gives what it printed."""
    (program, *arguments), code = expected(command)
    assert program == "locentropy"
    done = in_process(*arguments, columns=100, terminal=arguments[0] == "check")
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_command_that_ends_otherwise_than_told_is_found(tmp_path: Path) -> None:
    missing = f"locentropy verify {tmp_path / 'none'}"
    run(f"{missing}  # exit code 9")
    for wrong in (missing, f"{missing}  # exit code 7"):
        with pytest.raises(AssertionError):
            run(wrong)


def test_what_a_snippet_needs_is_read(tmp_path: Path) -> None:
    text = "<!-- needs: pandas geopandas -->\n\n```python\n1\n```\n\n```console\n$ ls\n$ locentropy a \\\n  --b\n```\n"
    first, second = snippets(text)
    assert (first.needs, first.language, first.text) == ("pandas geopandas", "python", "1\n")
    assert second.needs == ""
    assert our_commands(second) == ["locentropy a   --b"]


def test_where_nothing_else_is_installed_a_page_is_followed_to_the_first_failure(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    program = tmp_path / "locentropy"
    program.write_text("#!/bin/sh\ntest -t 1 && exit $1\n")
    program.chmod(0o755)
    fails = "```console\n$ locentropy 0\n$ locentropy 7  # exit code 7\n$ locentropy 3\n```\n"
    for text, said in (
        (fails, "locentropy 3\nended with 3"),
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
    ):
        page.write_text(text)
        call = [
            sys.executable,
            "-P",
            str(ROOT / "tests" / "pages.py"),
            str(page),
            json.dumps({"": str(tmp_path)}),
        ]
        done = subprocess.run(call, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 1
        assert said in done.stderr


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command and every line of Python in turn, but for the installation."""
    monkeypatch.chdir(stand_ins(tmp_path))
    text = TUTORIAL.read_text()
    names: dict[str, object] = {}
    printed = {}
    for snippet in snippets(text):
        if snippet.language == "python":
            exec(compile(snippet.text, name(TUTORIAL), "exec"), names)  # noqa: S102
            continue
        for command in our_commands(snippet):
            printed[command.split(" --")[0]] = run(command)
    (told,) = re.findall(r"Expected error: (about \S+ to \S+ nats)", text)
    assert told in printed["locentropy plan"]
    assert "left: ε = 1, δ = 0" in printed["locentropy ledger show city.ledger"]
    assert (tmp_path / "march" / "report.html").exists()
    assert (tmp_path / "shops-2026" / "report.html").exists()


def test_what_somebody_can_come_to_believe_at_each_epsilon() -> None:
    """Rounded up, so that nothing is understated; and the word is the one that releases use."""
    rows = re.findall(
        r"^\| ([0-9.]+) \| ([0-9.]+) % \| (\w+)", (ROOT / "docs" / "epsilon.md").read_text(), re.M
    )
    assert len(rows) >= 5
    for epsilon, likely, word in rows:
        guarantee = Guarantee.pure(epsilon)
        assert float(likely) == math.ceil(1000 * guarantee.attacker_accuracy()) / 10, epsilon
        assert f"at most {likely} % and" in guarantee.explain()
        assert word == guarantee.strength


PLANNING = ROOT / "docs" / "planning.md"


@pytest.mark.parametrize("snippet", re.findall(r"^```console\n(.*?)^```", PLANNING.read_text(), re.S | re.M))
def test_what_a_plan_is_said_to_show_is_what_it_shows(
    snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, _, shown = snippet.removeprefix("$ ").partition("\n")
    assert run(command).split() == shown.split()


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/publishing.md"])
def test_commands_can_be_pasted(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In turn, from a folder in which only the demo has run."""
    monkeypatch.chdir(stand_ins(tmp_path))
    shown = [each for each in snippets((ROOT / page).read_text()) if each.language == "console"]
    ours = [line.replace(" --open", "") for each in shown for line in our_commands(each)]
    assert len(ours) > 5
    for command in ours:
        run(command)


def every_command(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*path, word))
        else:
            yield " ".join((*path, word)), command


COMMANDS = dict(every_command(get_command(app)))


def test_there_are_commands() -> None:
    assert {"publish", "plan", "ledger create", "datasets city", "audit", "reproduce"} <= COMMANDS.keys()


def options_of(command: str) -> set[str]:
    """The options of a command; of all commands for an empty name."""
    chosen = [COMMANDS[command]] if command else [*COMMANDS.values(), get_command(app)]
    return {"--help"}.union(*((*each.opts, *each.secondary_opts) for of in chosen for each in of.params))


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
OF_OTHER_PROGRAMS = {"--install-completion", "--show-completion", "--publications", "--seconds", "--seed"}
SAYS_WHAT_WAS = ROOT / "CHANGELOG.md"


@pytest.mark.parametrize("page", [page for page in PAGES if page != SAYS_WHAT_WAS], ids=name)
def test_commands_have_the_options_that_are_shown(page: Path) -> None:
    text = page.read_text()
    shown = [line for block in SHOWN.findall(text) for line in commands(block)]
    shown += re.findall(r"`(locentropy [^`]+)`", text)
    for line in shown:
        words = line.split("#")[0].split()
        if words[:1] != ["locentropy"]:
            continue
        command = next((" ".join(words[1:end]) for end in (3, 2) if " ".join(words[1:end]) in COMMANDS), "")
        assert set(OPTION.findall(line)) <= options_of(command) | OF_OTHER_PROGRAMS, line
    for quoted in re.findall(r"`(--[^`]+)`", text):
        assert set(OPTION.findall(quoted)) <= options_of("") | OF_OTHER_PROGRAMS, quoted


SHOWN = re.compile(r"^```(?:console|bash|)\n(.*?)^```", re.S | re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    assert f"locentropy {command}" in (COMMANDS[command].help or "").partition("Examples:")[2]


def test_no_colour_where_nobody_sees_it() -> None:
    """Neither help nor results: what is piped is plain text."""
    for call in (["publish", "--help"], ["plan", "--epsilon", "1", "--n-locations", "400"]):
        done = subprocess.run(
            [sys.executable, "-c", "from locentropy.cli.main import run; run()", *call],
            capture_output=True,
            text=True,
            check=True,
            env={key: value for key, value in os.environ.items() if key not in FORCING},
        )
        assert "\x1b" not in done.stdout + done.stderr
