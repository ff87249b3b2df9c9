"""`locentropy publish`: from a table of visits to a release that may be given away."""

from __future__ import annotations

import locale
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from locentropy.cli import options, place_options, plan_check
from locentropy.cli.console import note, progress_bar, warn
from locentropy.cli.disclosure import tell_privacy_unit
from locentropy.cli.mechanism_options import MechanismOptions, SelectionOptions, warnings_told
from locentropy.cli.option_groups import AboutOptions, option_name, with_option_groups
from locentropy.cli.place_options import PlaceOptions
from locentropy.cli.signals import ignore_signals
from locentropy.core.errors import ParameterError
from locentropy.core.language import DEFAULT_LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.places.public_list import PublicLocations
    from locentropy.planning.plans import Plan
    from locentropy.publishing.request import Request

WHICH_LEDGER: Final = (
    "Say whether this release is counted. --ledger city.ledger counts it against the budget of these people, and "
    "refuses what would exceed it; make one with: locentropy ledger create city.ledger --population "
    "'riders of the city' --epsilon 4. --no-ledger does not count it against any budget: use this only with "
    "synthetic data."
)


@with_option_groups
def publish(
    source: options.Input,
    *,
    using: MechanismOptions,
    where: PlaceOptions,
    provenance: place_options.Provenance = None,
    selecting: SelectionOptions,
    exclude: place_options.Exclude = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", readable=False, help="The budget of these people; see `locentropy ledger`."),
    ] = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Count against no budget; only for synthetic data.")
    ] = False,
    to: Annotated[Path | None, typer.Option("--out", help="Directory of the release, a new one.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show guarantee, cost and expected error; read no visits.")
    ] = False,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Run an approved plan, made by `locentropy plan --out`.")
    ] = None,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Needed where nothing is promised; closes the ledger.")
    ] = False,
    large_epsilon: Annotated[
        bool,
        typer.Option("--large-epsilon", help="Needed for an ε above 10, which hides hardly anything."),
    ] = False,
    refuse_empty: Annotated[
        bool,
        typer.Option(
            "--refuse-empty",
            help="Refuse if no visit is at any of the places; that a release exists then tells, and it says so.",
        ),
    ] = False,
    entropy_unit: Annotated[
        str, typer.Option("--entropy-unit", help="Unit of the entropy: nats, bits.")
    ] = "nats",
    max_std_error: place_options.MaxStdError = None,
    windows: options.Windows = None,
    after: options.After = None,
    outline: Annotated[
        Path | None,
        typer.Option(
            "--outline",
            metavar="FILE",
            readable=False,
            help="A public map of the coast, borders or districts, drawn behind the places on the page.",
        ),
    ] = None,
    language: options.Language = DEFAULT_LANGUAGE,
    also: Annotated[
        str | None,
        typer.Option(
            "--also",
            metavar="FORMATS",
            help="The table in further formats, separated by commas: geojson, gpkg, excel-comma, excel-point.",
        ),
    ] = None,
    csv_for_excel: Annotated[
        bool,
        typer.Option(
            "--csv-for-excel",
            help="Also write a CSV file that Excel opens with a double click: excel-comma or excel-point, by the "
            "decimal mark of this machine's locale.",
        ),
    ] = False,
    words: AboutOptions,
    reading: options.Reading,
    as_json: options.Json = False,
) -> None:
    r"""Publish the location entropy of places under differential privacy: a directory of files fit to be given away.

    If it is interrupted, repeat the same command: nothing is spent or drawn twice.

    Examples:

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --provenance "the city's register" --ledger city.ledger --dry-run

      locentropy publish checkins.parquet --plan plan.yaml \
      --places venues.csv --ledger city.ledger --out may

      locentropy publish trips.csv --mechanism moments --epsilon 1 \
      --max-locations 5 --max-visits 5 --grid 40.70,-74.03,40.80,-73.92 \
      --cell 500 --ledger city.ledger --out may-grid

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --window 2026-05 --time-zone as-written --ledger city.ledger --out may-2026

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --window 2026-01/2026-07 --windows month --time-zone as-written \
      --ledger city.ledger --out first-half-of-2026

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --window 2026-06 --after may-2026 --ledger city.ledger --out june-2026
    """
    from locentropy.cli.publish_summary import tell, tell_dry_run, warn_of_few
    from locentropy.ledger.ledger import Ledger
    from locentropy.places.public_list import PublicLocations
    from locentropy.publishing.publish import carry_out, check_files, settle
    from locentropy.publishing.request import Request
    from locentropy.release.chain import read_chain
    from locentropy.release.files import marked_target
    from locentropy.release.statement import About
    from locentropy.visits.visits import Visits

    _check_ledger(ledger, no_ledger=no_ledger, dry_run=dry_run)
    selection = selecting.selection
    chosen = where.read_like(reading).chosen_or(selection, provenance)
    said = dict(words.given)
    planned: Plan | None = None
    if plan is None:
        mechanism = using.chosen
    else:
        with _told():
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
    with warnings_told():
        request = Request(
            mechanism,
            chosen,
            place_options.excluded(exclude, reading),
            About(**said),
            entropy_unit,  # type: ignore[arg-type]  # checked by the request itself
            not_private,
            refuse_empty,
            large_epsilon,
            max_std_error,
            window,
            unit,
            cut,
            windows,  # type: ignore[arg-type]
            outline,
            None if after is None else read_chain(after),
            language,
        )
    # Before the list is read, for errors about a list name its columns.
    request.refuse_visits_as_public(Visits(source, table=reading.table))
    listed = request.listed
    formats = _formats(also, csv_for_excel=csv_for_excel)
    check_files(request, formats, saved=True)
    with _told():
        request.chosen.warn_of_exclusions()
    published = request.published
    if planned is not None and published is not None and planned.n_locations not in (None, len(published)):
        warn(f"{plan} expects {planned.n_locations:,} places, and there are {len(published):,}.")
    target = None if to is None else marked_target(to, private=request.guarantee.private)
    hints = _hints(
        request,
        chosen if isinstance(chosen, PublicLocations) else None,
        logged=reading.private_log is not None,
    )
    if dry_run:
        tell_dry_run(request, planned, target, account, as_json=as_json)
        _say(hints)
        return
    for level in request.levels:
        if level.locations is not None:  # a dry run says it among what to expect
            warn_of_few(level.mechanism, len(level.locations), level.part)
    if to is None or target is None:
        raise ParameterError(
            "Publishing needs a directory for the release: --out may; or try it first: --dry-run"
        )
    visits, resources = reading.visits_of(source, window), reading.resources
    _say(hints)  # now: once it is paid for, what it says cannot be changed
    with _told(), progress_bar() as progress:
        release = carry_out(
            request,
            visits,
            out=to,
            also=formats,
            ledger=account,
            resources=resources,
            progress=progress,
            when_open=partial(tell_privacy_unit, private=request.guarantee.private, unit=request.unit),
        )
    ignore_signals()  # it is published: only telling so is left
    try:
        tell(release, target, account, as_json=as_json)
    except OSError:
        note(f"What is published is complete, only telling about it failed: {target}")
        raise
    if listed is None:
        warn_of_few(mechanism, len(release))


def _check_ledger(ledger: Path | None, *, no_ledger: bool, dry_run: bool) -> None:
    """Raise unless it was said whether the release is counted; a dry run may leave that open."""
    if ledger is not None and no_ledger:
        raise ParameterError("--ledger and --no-ledger contradict each other: leave one out.")
    if ledger is None and not no_ledger and not dry_run:
        raise ParameterError(WHICH_LEDGER)


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


def _hints(request: Request, public: PublicLocations | None, *, logged: bool) -> list[str]:
    """What is easily forgotten and would be seen by every reader of the release."""
    from locentropy.publishing.notices import ungrouped_words

    found = []
    if getattr(request.mechanism, "max_users", None) is None:
        found.append(
            "Without --max-users, a public bound on the number of people (such as the city's population), values may "
            "come out larger than any entropy can be."
        )
    if not logged and request.listed is not None and not request.refuse_empty:
        found.append(
            "If no visit is at any of the places, as where ids are written differently in list and visits, what is "
            "published is noise, and only the private log says so: --private-log FILE"
        )
    found += [
        ungrouped_words(places, group, level=bool(request.chosen.level_names))
        for group, places in request.chosen.ungrouped.items()
    ]
    if public is None:
        return found
    if public.provenance == place_options.UNSTATED:
        found.append(
            'The manifest does not say where the list of places comes from. To have it said: --provenance "the '
            "city's register\""
        )
    if request.listed is not None and request.listed.lat is None and public.lat is not None:
        found.append(
            "No columns of the list are called lat and lon, or similar, so the page has no map. If it has coordinates "
            "by other names: --places-lat y --places-lon x; if it has none: --places-lat '' --places-lon ''"
        )
    return found


def _say(hints: list[str]) -> None:
    for hint in hints:
        note(hint)


def _words_with(path: Path, plan: Plan, words: dict[str, Any]) -> dict[str, Any]:
    """Return the words of the options and of the plan together."""
    return words | {
        name: plan_check.agreed(
            path, AboutOptions.option_names.get(name, option_name(name)), words.get(name), known
        )
        for name, known in plan.about.stated().items()
    }


@contextmanager
def _told() -> Iterator[None]:
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
