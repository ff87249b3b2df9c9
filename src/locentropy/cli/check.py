"""`locentropy check`: do ids and times fit, before anything is spent? Private."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from locentropy.cli import disclosure, options
from locentropy.cli.console import print_text, printable, progress_bar
from locentropy.cli.mechanism_options import MechanismOptions, SelectionOptions
from locentropy.cli.option_groups import AboutOptions, with_option_groups
from locentropy.cli.place_options import PlaceOptions
from locentropy.cli.request_options import RequestOptions, asked_for, told
from locentropy.core.errors import ParameterError

_WHERE: Final = (
    "What a check finds is private: it is shown on a terminal, and here the output goes elsewhere. To keep it, name a "
    "file that only you can read: --out found.txt"
)


@with_option_groups
def check(
    source: options.Input,
    *,
    using: MechanismOptions,
    where: PlaceOptions,
    selecting: SelectionOptions,
    asking: RequestOptions,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Write it to this file instead; its name will say not-private."),
    ] = None,
    words: AboutOptions,
    reading: options.Reading,
) -> None:
    r"""Compare ids, dates and dropped rows with the exact data, before you spend. PRIVATE: not for publication.

    It takes the options of `publish`, reads what that would read, and spends nothing. The ledger notes it first.

    Examples:

      locentropy check checkins.parquet --epsilon 1 --places venues.csv \
      --ledger city.ledger

      locentropy check trips.csv --plan plan.yaml --places venues.csv \
      --window 2026-05 --time-zone Europe/Berlin --bad-rows drop \
      --ledger city.ledger --out found.txt
    """
    from locentropy.evaluation.input_check import check_request

    target = None if to is None else disclosure.marked(to)
    if target is None and (sys.stdout is None or not sys.stdout.isatty()):
        raise ParameterError(_WHERE)
    asked = asked_for(source, using, where, selecting, words, reading, asking)
    request = asked.request
    visits = reading.visits_of(source, request.window)
    with told(), progress_bar() as progress:
        checked = check_request(
            request,
            visits,
            ledger=asked.account,
            resources=reading.resources,
            progress=progress,
            when_open=partial(
                disclosure.tell_privacy_unit, private=request.guarantee.private, unit=request.unit
            ),
        )
    disclosure.tell_checked(asking.ledger)
    text = printable(checked.report(), keep="\n")
    if target is None:
        print_text(text)
    else:
        disclosure.write_private(target, lambda part: part.write_text(f"{text}\n", encoding="utf-8"))
