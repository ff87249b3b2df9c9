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

    It is a site where that was built, as in a wheel of a release, and otherwise the folder of its pages in Markdown.

    Examples:

      locentropy docs

      locentropy docs --path
    """
    first = _first_page()
    start = ADDRESS or first.as_uri()
    where = start if ADDRESS or first.suffix == ".html" else str(first.parent)
    out.print(where, markup=False, soft_wrap=True)
    if show and typer.launch(start) != 0:
        warn("It could not be opened here. Open that address in a browser, or that folder in an editor.")


def _first_page() -> Path:
    """The page to begin with: of the site if it was built, else of the Markdown; of the wheel, or of a checkout."""
    package = Path(__file__).parent.parent
    for page in ("site/index.html", "docs/index.md"):
        for home in (package, package.parent.parent):
            if (home / page).is_file():
                return home / page
    raise LocentropyError("This installation lacks its documentation. Install locentropy again to have it.")
