"""Who draws the page of a release.

A page is made from a release, never the other way round, so nothing here knows how one is drawn: the package itself
says who draws, once, when it is loaded (`locentropy/__init__.py`).
"""

from __future__ import annotations

import warnings
from html import escape
from typing import TYPE_CHECKING, Final

from locentropy.release.statement import NOT_PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from locentropy.release.release import Release

    Draw = Callable[[Release], bytes]

_drawing: Final[list[Draw]] = []


class PageWarning(UserWarning):
    """The page of a release could not be drawn; its numbers are not affected."""


def draw_with(draw: Draw) -> None:
    """Have all pages drawn by this function from now on."""
    _drawing[:] = [draw]


def drawn(release: Release) -> bytes:
    """The page of a release. If it cannot be drawn, a plain one that says so: the numbers are paid for by now."""
    try:
        [draw] = _drawing
        return draw(release)
    except Exception as error:
        warnings.warn(
            f"The page of the release could not be drawn ({type(error).__name__}), and a plain one stands in for it. "
            "The other files are whole. To try again: locentropy report DIR --out page.html",
            PageWarning,
            stacklevel=2,
        )
        return _plain(release)


def _plain(release: Release) -> bytes:
    statement = release.statement
    title = statement.title if statement.private else f"{NOT_PRIVATE}: {statement.title}"
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'\"><title>{escape(title)}</title></head>\n"
        f"<body><h1>{escape(title)}</h1><p>{escape(str(statement.guarantee))}</p><p>This page could not be drawn. "
        "The numbers are in the table beside it, and what was promised in the manifest.</p></body></html>\n"
    ).encode()
