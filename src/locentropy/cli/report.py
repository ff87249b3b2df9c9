"""`locentropy report`: find and check the page of a release, or draw it anew."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from locentropy.cli import options
from locentropy.cli.console import out, printable, warn
from locentropy.core.errors import ParameterError, ReleaseError

if TYPE_CHECKING:
    from locentropy.release.release import Release


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The directory of a release.", show_default=False)
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Draw the page anew into this file, outside of the release.", show_default=False
        ),
    ] = None,
    language: options.OtherLanguage = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: options.Json = False,
) -> None:
    """Find the page of a release and check that it shows these numbers, or draw it anew into a file of its own.

    Every release has its page, report.html: a map, a ranked list, and what was
    promised. It is one file and loads nothing from any network. Exit
    code 9 if the page is not the one of this release, or its files do not agree.

    Examples:

      locentropy report release --open

      locentropy report release --out page.html

      locentropy report release --language de --out seite.html
    """
    from locentropy.core.language import check_language
    from locentropy.release.files import names_of
    from locentropy.release.release import Release

    if language is not None:
        check_language(language)
        if to is None:
            raise ParameterError(
                "--language draws the page anew, so a file must be named for it: --out page.html"
            )
    release = Release.load(directory).with_earlier_found()  # its page shows them
    private = release.statement.private
    own = directory / names_of(release.statement).report
    _refuse_tampered(directory, None if to is None else own)
    if to is None:
        path, state = _checked(release, own)
    else:
        wanted = release if language is None else release.with_language(language)
        path, state = _drawn(wanted, to), "drawn"
    if as_json:
        out.print_json(json.dumps({"page": str(path), "state": state, "places": len(release)}))
    else:
        out.print(_told(path, state), markup=False, soft_wrap=True)
    if not private:
        warn("NOT PRIVATE: nothing is promised to the people in the data. Do not publish it.")
    if show and typer.launch(path.resolve().as_uri()) != 0:
        warn(f"No browser could be started. Open {path} in one.")


def _refuse_tampered(directory: Path, replaced: Path | None) -> None:
    """Raise for a release whose files do not agree; `replaced` is a page that is not looked at."""
    from locentropy.release.verify import verify

    found = verify(directory)
    for check in found.checks:
        problems = [
            problem
            for problem in check.problems
            if replaced is None or not problem.startswith(f"{replaced} ")
        ]
        if problems and check.name == "directory":
            for problem in problems:
                warn(printable(problem))
        elif problems:
            raise ReleaseError(
                f"{printable(problems[0])} Do not rely on this release, nor on a page of it. To see all that is wrong: "
                f"locentropy verify {quote(str(directory))}"
            )


def _told(path: Path, state: str) -> str:
    return {
        "drawn": f"Drawn: {path}",
        "same": f"{path} is the page of this release, and shows its numbers.",
        "other version": (
            f"{path} is the page of this release, drawn by another version of locentropy; what it shows was not "
            "compared. To have it drawn by this one: --out page.html"
        ),
        "earlier missing": (
            f"{path} is the page of this release. It shows earlier releases of its series as well, which are not all "
            "beside it; what it shows was not compared."
        ),
    }[state]


def _checked(release: Release, path: Path) -> tuple[Path, str]:
    """Compare the page in the release with what this version would draw."""
    from locentropy.core.version import __version__
    from locentropy.release.reading import regular
    from locentropy.release.report.page import page

    regular(path)
    if release.statement.software_version != __version__:
        return path, "other version"
    if release.statement.series is not None and not release.earlier:
        return path, "earlier missing"
    if path.read_bytes() != page(release):
        raise ReleaseError(
            f"{path} is not the page that these numbers give: it was replaced, or drawn with other versions of NumPy "
            "and SciPy. To have it drawn anew: --out page.html"
        )
    return path, "same"


def _drawn(release: Release, to: Path) -> Path:
    """Write the page into a file of its own, whose name says it where nothing is promised."""
    from locentropy.core.files import atomic_write, check_writable
    from locentropy.release.files import MARK, MARKED, PRIVATE
    from locentropy.release.report.page import page

    if to.suffix != ".html":
        raise ParameterError(f"--out {to}: the name must end in .html, as in page.html.")
    check_writable(to)
    if any((to.parent / names.details).exists() for names in (PRIVATE, MARKED)):
        raise ParameterError(
            f"--out {to} is among the files of a release, which vouch for each other. Choose another folder."
        )
    private = release.statement.private
    target = to if private or MARK in to.name else to.with_name(f"{to.stem}.{MARK}{to.suffix}")
    with atomic_write(target) as [part]:
        part.touch(mode=0o644 if private else 0o600)
        part.write_bytes(page(release))
    return target
