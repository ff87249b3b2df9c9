"""Commands that load when they are run, and commands that other installed distributions bring.

Loading every command would take longer than most of them run. So a group knows its commands by name and a line of help,
and imports the module of the one that is asked for. The entry points of other distributions are looked up only where
such a command, or help, is asked for: reading the metadata of all that is installed takes time as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from locentropy.cli.error_format import in_options
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer._click import Context  # what Typer's own classes are annotated with

INSTALL: Final = "pip install ./lab, in a copy of the repository"


class Command(TyperCommand):
    """A command whose errors name its options."""

    def invoke(self, ctx: Context) -> Any:
        """Run it."""
        options = {
            each.name: each.opts[0] for each in self.params if each.name and each.opts[0].startswith("--")
        }
        with in_options(" ".join(_path(ctx)), options):
            return super().invoke(ctx)


def _path(ctx: Context) -> list[str]:
    """The words that name the command, without the program's own."""
    return [] if ctx.parent is None else [*_path(ctx.parent), str(ctx.info_name)]


@dataclass(frozen=True)
class Known:
    """A command that is part of this distribution."""

    home: str
    """`module:name` of its function, or of a Typer app."""
    help: str
    """What it does, in a line; the first sentence of its own help."""


class CommandGroup(TyperGroup):
    """A group whose commands load when they are asked for. Subclasses say which there are."""

    known: ClassVar[Mapping[str, Known]] = {}
    """The commands of this distribution."""
    entry_points: ClassVar[str] = ""
    """The entry point group of other distributions' commands: functions with Typer's annotations."""
    of_the_lab: ClassVar[Mapping[str, str]] = {}
    """Commands of locentropy-lab with their help, so that they are found where it is not installed."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands(self)  # type: ignore[assignment]  # loads each command when it is looked up
        self._listing = False

    def get_command(self, ctx: Context, cmd_name: str) -> Any:
        """Return the command; in a list of commands, only its name and help."""
        if not self._listing:
            return self.commands.get(cmd_name)
        if cmd_name in self.known:
            return TyperCommand(cmd_name, help=self.known[cmd_name].help)
        missing = cmd_name in self.of_the_lab and cmd_name not in self._installed()
        note = f" Not installed: {INSTALL}" if missing else ""
        return TyperCommand(
            cmd_name, help=f"{self.of_the_lab.get(cmd_name, 'Of another distribution.')}{note}"
        )

    def format_help(self, ctx: Context, formatter: Any) -> None:
        """Write the help, for which no command needs to be loaded."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of all commands, in order."""
        return self.names()

    def names(self) -> list[str]:
        """The names of all commands, in order."""
        return sorted({*self.known, *self.of_the_lab, *self._installed()})

    def load(self, name: str) -> Any:
        """Return a command, ready to run; raises KeyError for an unknown name."""
        if name in self.known:
            module, _, attribute = self.known[name].home.partition(":")
            return self._command(name, getattr(import_module(module), attribute))
        installed = self._installed()
        if name in installed:
            return self._command(name, installed[name].load())
        if name in self.of_the_lab:
            return _NotInstalled(name)
        raise KeyError(name)

    def _command(self, name: str, run: Any) -> Any:
        if isinstance(run, typer.Typer):
            return typer.main.get_command(run)
        alone = typer.Typer(add_completion=False, rich_markup_mode=self.rich_markup_mode)
        alone.command(name, cls=Command)(run)
        return typer.main.get_command(alone)

    def _installed(self) -> Mapping[str, Any]:
        return installed_commands(self.entry_points)


def installed_commands(group: str) -> dict[str, Any]:
    """Return the entry points of a group by name."""
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=group)}


class _Commands(Mapping[str, Any]):
    """The commands of a group by name; each loads when it is looked up."""

    def __init__(self, group: CommandGroup) -> None:
        self._group = group
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._group.load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._group.names())

    def __len__(self) -> int:
        return len(self._group.names())


class _NotInstalled(TyperCommand):
    """A command of the lab, where the lab is not installed: whatever its arguments, it says how to install it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, add_help_option=False)

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Raise: the options are known to the lab alone."""
        raise ParameterError(f"{ctx.info_name} is part of locentropy-lab, which is not installed: {INSTALL}")
