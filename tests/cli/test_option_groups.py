"""Groups of options: Typer sees each of their options, and the command gets them whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from locentropy.cli.option_groups import with_option_groups


@dataclass(frozen=True)
class Where:
    lat: Annotated[float, typer.Option("--lat", help="Up.")] = 1.0
    lon: Annotated[float | None, typer.Option("--lon")] = None


@dataclass(frozen=True)
class When:
    day: Annotated[str, typer.Option("--day")] = "today"


def test_every_option_of_a_group_is_one_of_the_command() -> None:
    seen = []

    @with_option_groups
    def command(
        name: Annotated[str, typer.Argument()],
        where: Where,
        when: When,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        """Says something."""
        seen.append((name, where, when, loud))

    app = typer.Typer()
    app.command()(command)
    assert CliRunner().invoke(app, ["a", "--lon", "3", "--loud"]).exit_code == 0
    assert CliRunner().invoke(app, ["b", "--lat", "2", "--day", "monday"]).exit_code == 0
    assert CliRunner().invoke(app, ["c", "--where", "2"]).exit_code == 2
    assert seen == [("a", Where(1.0, 3.0), When(), True), ("b", Where(2.0), When("monday"), False)]
    told = CliRunner().invoke(app, ["--help"]).output
    assert "Says something." in told
    assert "Up." in told
