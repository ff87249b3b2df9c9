"""Every command that a message or a help text shows can be pasted, and works."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import locentropy
from locentropy.cli.error_format import EXAMPLES
from locentropy.cli.main import app

from ..examples import at_night
from ..examples_in_messages import stand_ins
from ..publishing.making import PAID, Killed
from .running import Done, in_process

SOURCE = Path(locentropy.__file__).parent
SHOWN = re.compile(r"For example: (.*)$", re.M | re.S)
BAD = ("x", "0", "-1")
"""Some of which every option refuses that refuses anything."""
FEWER = {"evaluate": "--seeds 1", "demo": "--people 100", "datasets city": "--people 100"}
"""What is added to commands that would take long: of an option that is there twice, the latter counts."""
IN_SHORT = {"publish": ("--dry-run",), "evaluate": ("--mechanism", "limit")}
"""What makes a command short that would take a second: all options are read and all files but the visits of `publish`."""

LIKE = {
    "evaluate": ("publish", "entropy"),
    "advise": ("plan", "entropy"),
    "check": ("publish", "entropy"),
}
"""Commands whose options are mostly those of others, and who take long: before a push their own are tried."""

SKIPPED = {"to", "seed", "engine", "parameter", "ledger", "plan"}
"""Options that take any of these, or whose refusal is about a file."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that examples name."""
    return stand_ins(tmp_path_factory.mktemp("files"))


@pytest.fixture
def folder(files: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(files, tmp_path / "work"))


def publish_from_a_ledger(folder: Path) -> None:
    """Releases of a ledger of few people, and an attempt that was interrupted after its spend."""
    (folder / "city.ledger").unlink()
    ledger = locentropy.Ledger.create(folder / "city.ledger", "riders of the city's bicycles", epsilon=4)
    given = (
        locentropy.Visits(folder / "checkins.parquet"),
        locentropy.Shares(epsilon=0.5),
        locentropy.PublicLocations(folder / "places.csv"),
    )
    for name in ("may", "june"):
        locentropy.publish(*given, ledger=ledger, out=folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PAID, _end)
        with pytest.raises(Killed):
            locentropy.publish(*given, ledger=ledger, out=folder / "july")


def _end(*_: Any, **__: Any) -> None:
    raise Killed


def works(command: str, folder: Path, *, in_short: bool = False) -> Done:
    program, *words = shlex.split(command.replace("\\\n", " "))
    assert program == "locentropy"
    if words[:2] == ["ledger", "create"]:
        (folder / words[2]).unlink(missing_ok=True)
    for longer, fewer in FEWER.items():
        if f"{' '.join(words)} ".startswith(f"{longer} "):
            words += fewer.split()
    if in_short and "--mechanism" not in words:
        words += IN_SHORT.get(words[0], ())
    done = in_process(*words, cwd=folder, terminal=words[0] == "check")
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done


def every_command(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for word, command in (get_command(app) if group is None else group).commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*path, word))
        elif word not in ("audit", "reproduce", "sparse", "dense", "docs"):  # which have tests of their own
            yield " ".join((*path, word)), command


COMMANDS = dict(every_command())


@pytest.mark.parametrize(
    "command",
    [*(each for each in EXAMPLES if each != "demo"), *at_night("demo")],  # whose help has one too
)
def test_the_examples_of_commands_work(command: str, folder: Path) -> None:
    assert EXAMPLES[command].startswith(f"locentropy {command} ")
    works(EXAMPLES[command], folder)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_help_work(command: str, folder: Path) -> None:
    """In their order, for a later one may need what an earlier one wrote."""
    text = re.sub(r" \\\n *", " ", COMMANDS[command].help.partition("Examples:")[2])
    examples = [line.strip() for line in text.splitlines() if line.strip()]
    assert examples
    if command in ("publish", "check"):
        (folder / "approved.yaml").rename(folder / "plan.yaml")
    if command in ("ledger rebuild", "ledger withdraw"):
        publish_from_a_ledger(folder)
    for example in examples[-1:] if command == "demo" else examples:  # whose first one has a test above
        if "--open" in example or "0f6c0b1d" in example or "gowalla_totalCheckins" in example:
            continue  # a browser, a spend of somebody else's ledger, a download
        works(example, folder)
        if command == "ledger create":
            (folder / "city.ledger").unlink()


@cache
def base_of(command: str) -> list[str]:
    return shlex.split(EXAMPLES[command])[1:]


@pytest.mark.slow
@pytest.mark.parametrize("in_short", [True, *at_night(False)])
@pytest.mark.parametrize("command", EXAMPLES)
def test_what_refused_options_show_works(command: str, in_short: bool, folder: Path) -> None:
    """Every option of every command, with values that it may refuse: the command in its place works.

    Where an option takes the value, the visits are not found, or the folder or ledger is there already. In short, what
    two commands show for an option that both have is tried with one of them.
    """
    others = LIKE.get(command, ()) if in_short else ()
    tried_there = {option.name for other in others for option in COMMANDS[other].params}
    for name in ("city", "may"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "visits.parquet").touch()
    seen: dict[str, None] = {}  # in their order
    shows = set()
    for option in COMMANDS[command].params:
        if option.name in SKIPPED or not option.opts[0].startswith("--") or getattr(option, "is_flag", False):
            continue
        for value in BAD:
            if in_short and value == BAD[-1] and option.name in shows:
                continue
            words = _with(base_of(command), option.opts[0], value)
            done = in_process(
                *("nowhere.csv" if word == "checkins.parquet" else word for word in words),
                cwd=folder,
                terminal=words[0] == "check",
            )
            found = SHOWN.search(done.stderr)
            if done.returncode == 2 and found is not None:
                shows.add(option.name)
                assert found[1].startswith("locentropy "), f"{' '.join(words)}: {found[1]}"
                if option.name not in tried_there:
                    seen.setdefault(found[1].strip())
            assert "Traceback" not in done.stderr
    assert {"epsilon", "people", "max_locations", "threads"} & shows, "something is refused with an example"
    for example in seen:
        if example in EXAMPLES.values():
            continue  # has a test above
        for name in ("city", "may"):
            shutil.rmtree(folder / name, ignore_errors=True)
        works(example, folder, in_short=in_short)


def _with(words: list[str], option: str, value: str) -> list[str]:
    """The command with another value for an option."""
    if option in words:
        at = words.index(option)
        return [*words[: at + 1], value, *words[at + 2 :]]
    return [*words, option, value]


@pytest.mark.parametrize("in_short", [True, *at_night(False)])
@pytest.mark.parametrize(
    "command",
    [
        "plan",
        "plan --mechanism gauss",
        "plan --mechanism limit",
        "plan --mechanism limit-cb --epsilon 1 --max-locations 5 --max-visits 5 --min-users 50",
        "plan --epsilon 1 --max-visits 5",
        "plan --epsilon 1 --users-per-location 5",
        "plan --mechanism moments --epsilon 1 --max-locations 5 --max-visits 5 --n-users 5",
        "plan --epsilon 1 --places-kind selection",
        "plan --epsilon 1 --places-kind by-mechanism",
        "plan --epsilon 1 --select-epsilon 0.2",
        "plan --epsilon 1 --select-epsilon 0.2 --select-delta 1e-8 --select-max-locations 0",
        "plan --mechanism limit-ss --epsilon 1e-9 --delta 1e-8 --max-locations 5 --max-visits 5",
        "plan --mechanism limit-ptr --epsilon 1e-300 --delta 1e-8 --max-locations 5 --max-visits 5 --min-users 5",
        "advise --n-users 5",
        "advise --epsilon 1 --spend 0.05",
        "advise checkins.parquet --epsilon 1",
        "advise checkins.parquet --epsilon 1 --spend 0.05",
        "advise checkins.parquet --epsilon 1 --spend 0.05 --ledger city.ledger",
        "advise checkins.parquet --epsilon 1 --spend x --ledger city.ledger --places places.csv",
        "entropy checkins.parquet --max-visits 5",
        "evaluate checkins.parquet --places places.csv --mechanism gauss",
        "publish checkins.parquet --epsilon 1 --no-ledger --out may --cell 500",
        "publish checkins.parquet --epsilon 1 --no-ledger --out may --cell 500 --grid 5,5,4,4",
        "publish checkins.csv --epsilon 1 --no-ledger --out may --places places.csv --format orkut",
        "publish checkins.parquet --epsilon 1 --no-ledger --out may --places places.csv --delimiter x",
    ],
)
def test_what_refused_commands_show_works(command: str, in_short: bool, folder: Path) -> None:
    done = in_process(*shlex.split(command), cwd=folder)
    assert done.returncode == 2, done.stderr
    found = SHOWN.search(done.stderr)
    assert found is not None, done.stderr
    works(found[1].strip(), folder, in_short=in_short)


def commands_in(text: str) -> list[str]:
    """Commands that a message shows besides: from the program's name to where the sentence goes on."""
    return re.findall(
        r"locentropy (?:ledger|plan|publish|advise|evaluate|verify|datasets|demo)\b[^.;:,`)]*", text
    )


def messages() -> Iterator[tuple[str, str]]:
    """Every text in the code that is not a docstring, with what is filled in as {}."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        plain = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
        }
        plain |= {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in plain:
                yield where, node.value
            elif isinstance(node, ast.JoinedStr):
                yield (
                    where,
                    "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values),
                )


def test_no_message_shows_a_command_with_gaps_or_speaks_of_correct_calls() -> None:
    """A command with … in it cannot be pasted."""
    told = list(messages())
    assert [(where, each) for where, text in told for each in commands_in(text) if "…" in each] == []
    assert [where for where, text in told if "A correct call" in text] == []
