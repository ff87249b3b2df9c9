"""`locentropy estimate`: a release computed anew from its own measurements, at no cost of budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from locentropy.cli import options
from locentropy.cli.console import note, out


def estimate(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The directory of a release.", show_default=False)
    ],
    to: Annotated[
        Path, typer.Option("--out", help="Directory of the new release, a new one.", show_default=False)
    ],
    language: options.OtherLanguage = None,
    as_json: options.Json = False,
) -> None:
    """Compute a release anew from its measurements, with the inference of this version. Costs no budget.

    The noisy measurements, and with them the guarantee and the release's id, stay the same.

    Examples:

      locentropy estimate release --out release-2

      locentropy estimate release --language de --out release-de
    """
    from locentropy.core.errors import ReleaseError
    from locentropy.core.language import check_language
    from locentropy.release.release import Release
    from locentropy.release.verify import verify

    if language is not None:
        check_language(language)  # before anything is computed
    report = verify(directory)
    if not report.ok:
        raise ReleaseError(
            f"{directory} is not whole, or its files do not agree: see `locentropy verify {directory}`. "
            "Estimates are computed from a release that is as it was published."
        )
    earlier = Release.load(directory)
    made = earlier.reestimate()
    target = made.save(to, language=language)
    statement = made.statement
    if as_json:
        out.print_json(
            json.dumps(
                {
                    "directory": str(target),
                    "release_id": statement.release_id,
                    "inference": statement.inference,
                    "inferred_by": statement.inferred_by,
                    "earlier_inference": earlier.statement.inference,
                    "places": len(made),
                }
            )
        )
        return
    out.print(f"Computed {len(made):,} places anew, to {target}", markup=False, soft_wrap=True)
    note(
        f"Inferred by locentropy {statement.inferred_by} (inference {statement.inference} of {statement.mechanism}; "
        f"before: {earlier.statement.inference}). Nothing was spent: the measurements are the same."
    )
