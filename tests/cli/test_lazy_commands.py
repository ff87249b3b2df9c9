"""Commands load when they are run, and commands of other distributions are found where those are installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from locentropy.cli import commands, datasets, main
from locentropy.core.errors import ParameterError

from ..test_lightness import run
from .running import in_process

GROUPS = [main._Commands, datasets._Datasets]
LAB = ["audit", "reproduce", "datasets sparse", "datasets dense"]

Install = Callable[[Mapping[str, Mapping[str, Any]]], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Let exactly these entry points be installed, by group and name."""

    def installing(found: Mapping[str, Mapping[str, Any]]) -> None:
        monkeypatch.setattr(commands, "installed_commands", lambda group: dict(found.get(group, {})))
        # Typer builds the group anew for every call, so no command is left from another test.

    return installing


class TestWithoutTheLab:
    @pytest.mark.parametrize("command", LAB)
    @pytest.mark.parametrize("arguments", [(), ("--fast", "--out", "x.html", "all"), ("--help",)])
    def test_a_line_says_how_to_install_it(
        self, command: str, arguments: tuple[str, ...], install: Install, tmp_path: Path
    ) -> None:
        install({})
        done = in_process(*command.split(), *arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        assert line == (
            f"Error: {command.split()[-1]} is part of locentropy-lab, which is not installed: pip install "
            "./lab, in a copy of the repository"
        )

    def test_help_lists_its_commands_with_a_note(self, install: Install) -> None:
        install({})
        for group, names in (((), ("audit", "reproduce")), (("datasets",), ("dense", "sparse"))):
            said = " ".join(in_process(*group, "--help", columns=250).stdout.split())
            assert all(name in said for name in names)
            assert said.count("Not installed: pip install ./lab") == len(names)

    def test_everything_else_works(self, install: Install, tmp_path: Path) -> None:
        install({})
        assert in_process("plan", "--epsilon", 1).returncode == 0
        assert in_process("datasets", "city", "--people", 20, "--days", 1, cwd=tmp_path).returncode == 0


def test_with_the_lab_help_has_no_note() -> None:
    assert "Not installed" not in in_process("--help").stdout + in_process("datasets", "--help").stdout
    assert in_process("audit", "--help").returncode == 0


class Stranger:
    """An entry point of another distribution."""

    def load(self) -> Callable[..., None]:
        def greet(times: Annotated[int, typer.Option("--times", help="How often.")] = 1) -> None:
            """Greet.

            Examples:

              locentropy greet --times 2
            """
            if times < 1:
                raise ParameterError(
                    "must be above 0.", parameter="times", value=times, example="greet(times=2)"
                )
            typer.echo("hello " * times)

        return greet


def test_another_distribution_may_bring_a_command(install: Install) -> None:
    install({"locentropy.commands": {"greet": Stranger()}})
    assert in_process("greet", "--times", 2).stdout.strip() == "hello hello"
    assert "greet" in in_process("--help").stdout
    refused = in_process("greet", "--times", 0)
    assert refused.returncode == 2
    assert "--times 0 must be above 0" in refused.stderr, "its errors name options as well"


def test_entry_points_are_looked_up_by_group() -> None:
    for group in GROUPS:
        found = commands.installed_commands(group.entry_points)
        assert all(isinstance(each, EntryPoint) for each in found.values())
        assert set(group.of_the_lab) <= set(found), "the lab is installed where this runs"
    assert commands.installed_commands("locentropy.nothing") == {}


@pytest.mark.parametrize("group", GROUPS)
def test_the_list_says_what_the_commands_say(group: type[commands.CommandGroup]) -> None:
    """The lines of help that are listed are copies: no command needs to be loaded for them."""
    for name, known in group.known.items():
        command = group(name="x").load(name)
        first = (command.help or "").partition("\n\n")[0]
        assert " ".join(first.split()) == known.help, name


def test_an_unknown_command_is_refused_and_a_typo_corrected() -> None:
    done = in_process("publsh")
    assert done.returncode == 2
    assert "No such command 'publsh'. Did you mean 'publish'" in done.stderr


def test_every_command_can_be_listed_and_run_by_typer() -> None:
    group = get_command(main.app)
    assert {"plan", "publish", "audit"} <= set(group.commands)  # type: ignore[attr-defined]
    assert CliRunner().invoke(main.app, ["plan", "--epsilon", "1"]).exit_code == 0


def modules_after(*arguments: str) -> set[str]:
    code = (
        f"import sys; sys.argv = {['locentropy', *arguments]!r}\nfrom locentropy.cli.main import run\ntry: run()\n"
        "except SystemExit: pass\nsys.stderr.write('\\n@' + ' '.join(m for m in sys.modules if 'locentropy' in m))"
    )
    return set(run(code).rpartition("@")[2].split())


def test_only_the_command_that_is_run_is_loaded() -> None:
    every = {known.home.partition(":")[0] for known in main._Commands.known.values()}
    assert modules_after("--version") & every == set()
    assert modules_after("--help") & every == set()
    assert modules_after("plan", "--epsilon", "1") & every == {"locentropy.cli.plan"}
    assert modules_after("verify", "--help") & every == {"locentropy.cli.verify"}


def test_other_distributions_are_not_looked_for_without_need() -> None:
    refuse = (
        "import importlib.metadata, sys\n"
        "def refuse(*names, **kinds): raise AssertionError('entry points were looked up')\n"
        "importlib.metadata.entry_points = refuse\n"
        "from locentropy.cli.main import app\n"
        "for words in (['--version'], ['plan', '--epsilon', '1'], ['publish', '--help'], ['ledger', '--help']):\n"
        "    try: app(words)\n"
        "    except SystemExit as ended: assert not ended.code\n"
    )
    assert "looked up" not in run(refuse)
    assert "locentropy_lab" not in " ".join(sorted(modules_after("plan", "--epsilon", "1")))
    assert sys.modules  # the check itself loads nothing else
