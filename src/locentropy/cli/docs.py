"""`locentropy docs`: the documentation that comes with this installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from locentropy.cli.console import out, warn
from locentropy.core.errors import LocentropyError

ADDRESS: Final = ""
"""Where the documentation is on the web, once it is there."""


def docs(
    show: Annotated[
        bool, typer.Option("--open/--path", help="Open it in the browser, or only print where it is.")
    ] = True,
) -> None:
    """Open the documentation of this version, which needs no network.

    Examples:

      locentropy docs

      locentropy docs --path
    """
    start = ADDRESS or _built().as_uri()
    out.print(start, markup=False, soft_wrap=True)
    if show and typer.launch(start) != 0:
        warn("No browser could be started. Open that address in one.")


def _built() -> Path:
    """The first page: of the wheel, or of a checkout in which it was built."""
    package = Path(__file__).parent.parent
    for site in (package / "site", package.parent.parent / "site"):
        if (site / "index.html").is_file():
            return site / "index.html"
    raise LocentropyError(
        "This installation has no built documentation. In a checkout, build it: make docs. Wheels have it; the pages "
        "are also in the folder docs of the source distribution."
    )
