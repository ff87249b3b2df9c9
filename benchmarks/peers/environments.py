"""An environment for each contender that needs one, made once and made again when what it needs changes."""

from __future__ import annotations

import compileall
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from peers.contenders import Contender

# This interpreter first; a peer may be too old for it.
_PYTHONS = [sys.executable, *filter(None, map(shutil.which, ("python3.12", "python3.11", "python3.10")))]


class NotInstalledError(Exception):
    """A contender cannot take part; says why."""


def interpreter(contender: Contender, folder: Path) -> str:
    """The interpreter a contender runs in; its packages are installed, and compiled as pip does."""
    if not contender.packages:
        return sys.executable
    # Contenders with the same packages share an environment. A checkout says in its pyproject.toml what it needs.
    asked = (Path(package) / "pyproject.toml" for package in contender.packages)
    wanted = "\n".join((*contender.packages, *(file.read_text() for file in asked if file.is_file())))
    home = folder / hashlib.sha256(wanted.encode()).hexdigest()[:12]
    venv, stamp = home / "venv", home / "installed"
    if not (stamp.exists() and stamp.read_text() == wanted):
        _install(contender, venv)
        stamp.write_text(wanted)
    for package in contender.packages:
        if (source := Path(package) / "src").is_dir():  # an editable one: pip leaves it as it is
            compileall.compile_dir(source, quiet=1)
    return str(venv / "bin" / "python")


def _install(contender: Contender, venv: Path) -> None:
    reasons = []
    for python in _PYTHONS:
        print(f"installing {', '.join(contender.packages)}", file=sys.stderr)
        pip = [str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        try:
            for command in ([python, "-m", "venv", "--clear", str(venv)], [*pip, *contender.packages]):
                subprocess.run(command, check=True, capture_output=True, text=True)
            return
        except subprocess.CalledProcessError as error:
            reasons.append(last_line(error.stderr or error.stdout))
    raise NotInstalledError(f"does not install: {reasons[0]}")


def last_line(text: str) -> str:
    """The line that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["no reason given"])[-1]
