"""Groups of options: Typer sees each of their options, and the command gets them whole."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from locentropy import About, SelectLocations
from locentropy.cli.main import app as locentropy_app
from locentropy.cli.mechanism_options import ComparedOptions, MechanismOptions, SelectionOptions
from locentropy.cli.option_groups import AboutOptions, with_option_groups
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.parameters import help_of
from locentropy.mechanisms.registry import mechanism_class, mechanism_names


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


def options_of(command: str) -> dict[str, Any]:
    found = get_command(locentropy_app).commands[command]  # type: ignore[attr-defined]
    return {option.name: option for option in found.params}


@pytest.mark.parametrize("name", mechanism_names())
def test_every_parameter_of_every_mechanism_is_an_option(name: str) -> None:
    kind: Any = mechanism_class(name)
    for field in fields(kind):
        for command in ("plan", "publish"):
            option = options_of(command)[field.name]
            assert option.opts == [f"--{field.name.replace('_', '-')}"]
            assert help_of(field) in option.help
            everybody = all(field.name in _names(mechanism_class(each)) for each in mechanism_names())
            assert everybody or name in option.help or "(Not for " in option.help
        compared = options_of("evaluate").get(field.name)
        assert (compared is None) == (field.name == "accept_no_guarantee")
        assert compared is None or compared.multiple


def _names(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}


@pytest.mark.parametrize("command", ["plan", "publish"])
def test_selection_and_words_are_options(command: str) -> None:
    given = options_of(command)
    for field in fields(SelectLocations):
        assert help_of(field) == given[f"select_{field.name}"].help
    for field in fields(About):
        assert help_of(field) == given[field.name].help
    assert given["publication_date"].opts == ["--date"]


def test_numbers_that_decide_about_privacy_are_taken_as_written() -> None:
    """Neither rounded to a binary fraction nor rewritten on the way."""
    types = {each.name: str(each.annotation) for each in MechanismOptions.parameters()}
    for name in ("epsilon", "delta", "split", "floor"):
        assert "str | None" in types[name]
    assert "int | None" in types["max_locations"]
    assert (
        "int"
        not in {each.name: str(each.annotation) for each in SelectionOptions.parameters()}["select_delta"]
    )
    assert MechanismOptions(epsilon="0.10", mechanism="limit").parameters_given == {"epsilon": "0.10"}


def test_what_was_given_is_told_from_what_was_not() -> None:
    given = MechanismOptions(epsilon="1", max_locations=0, keep=None, accept_no_guarantee=False, parameter=[])
    assert given.parameters_given == {"epsilon": "1", "max_locations": 0}, "0 is a number that was given"
    assert SelectionOptions(select_epsilon=None).selection is None
    assert AboutOptions(title="", region=None).given == {"title": ""}
    assert ComparedOptions(epsilon=[], delta=["1e-6", "1e-8"]).choices == {"delta": ["1e-6", "1e-8"]}
    assert ComparedOptions(mechanism=["limit", "limit"]).names == ["limit"]


def test_mechanisms_from_outside_take_any_parameter() -> None:
    given = MechanismOptions(mechanism="theirs", epsilon="1", parameter=["sigma=2.5", "max-steps=3"])
    assert given.parameters_given == {"epsilon": "1", "sigma": "2.5", "max_steps": "3"}
    with pytest.raises(ParameterError, match="must be name=value"):
        _ = MechanismOptions(parameter=["sigma"]).parameters_given
