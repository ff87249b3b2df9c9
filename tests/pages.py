"""What pages show: their snippets, and following a page, which runs each command and each line of Python in turn.

It needs the standard library alone, for `make bare` runs it where the product is installed and nothing else is.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_SNIPPET = re.compile(r"(?:^<!-- needs: ([^\n]+) -->\n+)?^```(python|console|bash)\n(.*?)^```", re.S | re.M)
EXIT_CODE = re.compile(r"  # exit code (\d+)$")


class Snippet(NamedTuple):
    """A block of code that readers can copy, and the packages it needs beside the product itself."""

    needs: str
    language: str
    text: str


def snippets(text: str) -> list[Snippet]:
    """The snippets of a page in order."""
    return [Snippet(*found) for found in _SNIPPET.findall(text)]


def commands(console: str) -> list[str]:
    """The command lines of a console snippet, those that go on over several lines in one."""
    return [line.removeprefix("$ ") for line in console.replace("\\\n", "").splitlines()]


def our_commands(snippet: Snippet) -> list[str]:
    """The commands of `locentropy` in a snippet; others are about installing it."""
    return [line for line in commands(snippet.text) if line.startswith("locentropy ")]


def expected(command: str) -> tuple[list[str], int]:
    """The words of a command, and the exit code that the page says it has."""
    said = EXIT_CODE.search(command)
    return shlex.split(EXIT_CODE.sub("", command), comments=True), int(said[1]) if said else 0


def follow(page: Path, programs: Mapping[str, str]) -> None:
    """Do what a page shows, in this folder.

    `programs` says where `locentropy` is with each of the things that are needed; without it, Python alone is run.
    """
    names: dict[str, object] = {}
    for snippet in snippets(page.read_text("utf-8")):
        if snippet.language == "python":
            exec(compile(snippet.text, str(page), "exec"), names)  # noqa: S102  # our own pages
        elif programs:
            for command in our_commands(snippet):
                _run(command, programs[snippet.needs])


def _run(command: str, programs: str) -> None:
    """On a terminal, as readers do: what is private is shown there only."""
    words, code = expected(command)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{programs}{os.pathsep}{before}"
    print(f"$ {command}", flush=True)  # noqa: T201
    ended = os.waitstatus_to_exitcode(pty.spawn(words))
    os.environ["PATH"] = before
    if ended != code:
        raise SystemExit(f"{command}\nended with {ended} and not with {code}.")


if __name__ == "__main__":
    follow(Path(sys.argv[1]), json.loads(sys.argv[2]))
