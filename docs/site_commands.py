"""The reference of the command line, made from the commands themselves when the site is built."""

from __future__ import annotations

import re
from typing import Any

import typer

from locentropy.cli.main import app


def commands_reference() -> str:
    """Every command with its help, its arguments and its options, as Markdown."""
    group: Any = typer.main.get_command(app)
    return "\n\n".join(_described(group.load(name), f"locentropy {name}") for name in sorted(group.known))


def _described(command: Any, words: str) -> str:
    """A command, or each command of a group."""
    if hasattr(command, "list_commands"):
        with typer._click.Context(command) as context:
            inner = [
                (name, command.get_command(context, name)) for name in sorted(command.list_commands(context))
            ]
        return "\n\n".join(_described(each, f"{words} {name}") for name, each in inner)
    parts = [f"## {words}", _help(command.help or "")]
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        if parameter.name != "help":
            panels.setdefault(_panel(parameter), []).append(parameter)
    for panel, parameters in panels.items():
        parts += [f"**{panel}**", "\n".join(_line(each) for each in parameters)]
    return "\n\n".join(parts)


def _panel(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"


def _line(parameter: Any) -> str:
    """One parameter: how it is written, what it does, and what it is without being given."""
    every = [*parameter.opts, *parameter.secondary_opts]
    written = ", ".join(every) if parameter.param_type_name == "option" else parameter.metavar
    value = getattr(parameter, "metavar", None) or ""
    taken = "" if getattr(parameter, "is_flag", False) or not value or value == written else f" {value}"
    default = parameter.default
    shown = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    stands = f" Default: `{default}`." if shown and getattr(parameter, "show_default", False) else ""
    needed = " Required." if parameter.required else ""
    told = re.sub(r"\s+", " ", getattr(parameter, "help", None) or "").strip()
    return f"- `{written}{taken}`: {_plain(told)}{stands}{needed}"


def _help(text: str) -> str:
    """The help of a command: paragraphs, and examples as code."""
    before, examples, after = text.partition("Examples:")
    if not examples:
        return _plain(text.strip())
    calls = "\n".join(line.strip() for line in after.replace("\b", "").splitlines() if line.strip())
    return f"{_plain(before.strip())}\n\n```text\n{calls}\n```"


def _plain(text: str) -> str:
    """Without the marks that steer a terminal, and with those of Markdown as they are."""
    return re.sub(r"\[/?(?:bold|italic|dim|red|yellow|cyan)[^\]]*\]", "", text).replace("<", "&lt;")
