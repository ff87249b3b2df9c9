"""What is to be published, as options say it: settled from public things alone, before any visits are read."""

from __future__ import annotations

import locale
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from locentropy.cli import options, place_options, plan_check
from locentropy.cli.console import warn
from locentropy.cli.mechanism_options import MechanismOptions, SelectionOptions, warnings_told
from locentropy.cli.option_groups import AboutOptions, option_name
from locentropy.cli.place_options import PlaceOptions
from locentropy.core.errors import ParameterError
from locentropy.core.language import DEFAULT_LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.ledger.ledger import Ledger
    from locentropy.planning.plans import Plan
    from locentropy.publishing.request import Request


@dataclass(frozen=True)
class RequestOptions:
    """What a release is, beside its mechanism, its places and the owner's words, and what pays for it."""

    provenance: place_options.Provenance = None
    exclude: place_options.Exclude = None
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", readable=False, help="The budget of these people; see `locentropy ledger`."),
    ] = None
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Count against no budget; only for synthetic data.")
    ] = False
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Run an approved plan, made by `locentropy plan --out`.")
    ] = None
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Needed where nothing is promised; closes the ledger.")
    ] = False
    large_epsilon: Annotated[
        bool,
        typer.Option("--large-epsilon", help="Needed for an ε above 10, which hides hardly anything."),
    ] = False
    refuse_empty: Annotated[
        bool,
        typer.Option(
            "--refuse-empty",
            help="Refuse if no visit is at any of the places. A release then reveals that somebody was there.",
        ),
    ] = False
    entropy_unit: Annotated[str, typer.Option("--entropy-unit", help="Unit of the entropy: nats, bits.")] = (
        "nats"
    )
    max_std_error: place_options.MaxStdError = None
    windows: options.Windows = None
    after: options.After = None
    without_series: options.WithoutSeries = False
    outline: Annotated[
        Path | None,
        typer.Option(
            "--outline",
            metavar="FILE",
            readable=False,
            help="A public map of the coast, borders or districts, drawn behind the places on the page.",
        ),
    ] = None
    language: options.Language = DEFAULT_LANGUAGE
    also: Annotated[
        str | None,
        typer.Option(
            "--also",
            metavar="FORMATS",
            help="The table in further formats, separated by commas: geojson, gpkg, excel-comma, excel-point.",
        ),
    ] = None
    csv_for_excel: Annotated[
        bool,
        typer.Option(
            "--csv-for-excel",
            help="Also write a CSV file that Excel opens with a double click: excel-comma or excel-point, by the "
            "decimal mark of this machine's locale.",
        ),
    ] = False


class Asked(NamedTuple):
    """What the options ask for, settled from public things alone. No visits were read."""

    request: Request
    account: Ledger | None
    planned: Plan | None
    formats: tuple[str, ...]
    """Further formats of the table."""


def asked_for(
    source: str,
    using: MechanismOptions,
    where: PlaceOptions,
    selecting: SelectionOptions,
    words: AboutOptions,
    reading: options.Reading,
    given: RequestOptions,
) -> Asked:
    """The request that the options describe; raise for whatever can be refused before visits are read."""
    from locentropy.ledger.ledger import Ledger
    from locentropy.publishing.publish import check_files, settle
    from locentropy.publishing.request import Request
    from locentropy.release.chain import read_chain
    from locentropy.release.statement import About
    from locentropy.visits.visits import Visits

    plan, ledger, windows, max_std_error = given.plan, given.ledger, given.windows, given.max_std_error
    selection = selecting.selection
    chosen = where.read_like(reading).chosen_or(selection, given.provenance)
    said = dict(words.given)
    planned: Plan | None = None
    if plan is None:
        mechanism = using.chosen
    else:
        with told():
            planned = plan_check.read_plan(plan, using.mechanism, using.parameters_given)
        plan_check.check_places(plan, planned, chosen)
        mechanism, chosen = planned.mechanism, plan_check.with_columns(plan, planned, chosen)
        max_std_error = plan_check.limit(plan, planned, max_std_error)
        said = _words_with(plan, planned, said)
    account = None if ledger is None else Ledger.open(ledger)
    book = None if account is None else account.read()
    zone = None if book is None else book.calendar.zone
    if zone is None and planned is not None and planned.schedule is not None:
        zone = planned.schedule.zone
    asked = reading.window_by(zone)
    if planned is not None and plan is not None:
        plan_check.check_schedule(plan, planned, asked, book)
    window, unit, cut = settle(asked, account, windows)  # type: ignore[arg-type]  # checked there
    if planned is not None and plan is not None:
        plan_check.check_unit(plan, planned, unit, ledger)
    visits = Visits(source, table=reading.table, **reading.id_rules)
    with warnings_told():
        request = Request(
            mechanism,
            chosen,
            place_options.excluded(given.exclude, reading),
            About(**said),
            given.entropy_unit,  # type: ignore[arg-type]  # checked by the request itself
            given.not_private,
            given.refuse_empty,
            given.large_epsilon,
            max_std_error,
            window,
            unit,
            cut,
            windows,  # type: ignore[arg-type]
            given.outline,
            None if given.after is None else read_chain(given.after),
            given.language,
            given.without_series,
            spelling=visits.spelling,
            missing_id_words=tuple(visits.missing_id_words),
        )
    # Before the list is read, for errors about a list name its columns.
    request.refuse_visits_as_public(visits)
    formats = _formats(given.also, csv_for_excel=given.csv_for_excel)
    check_files(request, formats, saved=True)
    with told():
        request.chosen.warn_of_exclusions()
    published = request.published
    if planned is not None and published is not None and planned.n_locations not in (None, len(published)):
        warn(f"{plan} expects {planned.n_locations:,} places, and there are {len(published):,}.")
    return Asked(request, account, planned, formats)


def _words_with(path: Path, plan: Plan, words: dict[str, Any]) -> dict[str, Any]:
    """Return the words of the options and of the plan together."""
    return words | {
        name: plan_check.agreed(
            path, AboutOptions.option_names.get(name, option_name(name)), words.get(name), known
        )
        for name, known in plan.about.stated().items()
    }


def _formats(also: str | None, *, csv_for_excel: bool) -> tuple[str, ...]:
    """The further formats that the options name."""
    named = [] if also is None else [name.strip() for name in also.split(",") if name.strip()]
    if csv_for_excel and not any(name.startswith("excel") for name in named):
        named.append(f"excel-{'comma' if _decimal_mark() == ',' else 'point'}")
    return tuple(named)


def _decimal_mark() -> str:
    """The decimal mark of the locale. Asked before any engine runs: while it is, it holds for the whole process."""
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, "")
        return str(locale.localeconv()["decimal_point"])
    except locale.Error:
        raise ParameterError(
            "--csv-for-excel takes the decimal mark from the locale, and that of this machine is not installed. Say "
            "which: --also excel-comma where decimals have a comma, --also excel-point where they have a point."
        ) from None
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


@contextmanager
def told() -> Iterator[None]:
    """Print warnings, and the notes of an error, such as that a failed attempt can be repeated."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except BaseException as error:
            for text in getattr(error, "__notes__", ()):
                warn(text)
            raise
        finally:
            for each in caught:
                if issubclass(each.category, UserWarning):
                    warn(str(each.message))
