"""`locentropy entropy`: the exact, not private, entropy of every location."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from locentropy.cli import disclosure, options, place_options
from locentropy.cli.console import out, progress_bar, warn
from locentropy.cli.option_groups import with_option_groups
from locentropy.cli.place_options import PlaceOptions
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from locentropy.core.locations import Cells, Locations
    from locentropy.core.visit_profile import VisitProfile

NOT_PRIVATE: Final = "NOT PRIVATE"
NOTED: Final = "computed exact entropies"
_ON_SCREEN: Final = 10
WARNING: Final = (
    f"{NOT_PRIVATE}: these are exact values, computed without noise. They give away who was where. "
    "Do not publish them."
)


@with_option_groups
def entropy(
    source: options.Input,
    *,
    where: PlaceOptions,
    provenance: place_options.Provenance = None,
    reading: options.Reading,
    max_locations: Annotated[
        int | None, typer.Option("--max-locations", help="M: bound each user to this many locations.")
    ] = None,
    max_visits: Annotated[
        int | None, typer.Option("--max-visits", help="C: bound each user to this many visits per location.")
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", help="Which locations bounding keeps: first, most-visited, lowest-id."),
    ] = None,
    ledger: disclosure.Ledger = None,
    entropy_unit: Annotated[
        str, typer.Option("--entropy-unit", help="Unit of the entropy: nats, bits.")
    ] = "nats",
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write all locations to this CSV or Parquet file; its name will say not-private."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, help="How many locations to show. Default: 10 on screen, with --json all."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    r"""Compute the exact entropy of every location. NOT PRIVATE: for the owner of the data, not for publication.

    Examples:

      locentropy entropy checkins.parquet --ledger city.ledger

      locentropy entropy loc-gowalla_totalCheckins.txt.gz --format gowalla \
      --out gowalla.csv

      locentropy entropy 'days/*.csv' --user uid --location venue \
      --bad-rows drop --top 20

      locentropy entropy checkins.parquet --zones districts.geojson \
      --zone-id name
    """
    from locentropy.ledger.ledger import Ledger
    from locentropy.visits.queries import open_queries

    chosen = _places(where.read_like(reading), provenance)
    bounds = _bounds(max_locations, max_visits, keep)
    target = None if to is None else disclosure.marked(to, (".csv", ".parquet"))
    scale = _nats_per(entropy_unit)
    book = None if ledger is None else Ledger.open(ledger)
    visits = reading.visits_of(source)
    with (
        progress_bar() as progress,
        open_queries(
            visits,
            locations=chosen,
            resources=reading.resources,
            progress=progress,
            first_times=bounds is not None and bounds.may_need_times,
        ) as queries,
    ):
        profile = queries.exact_profile() if bounds is None else queries.profile(bounds)
        users = int(queries.locations_per_user().sum())
        progress("Sorting", None)
    if book is not None:
        book.record_evaluation(NOTED)  # before anybody knows a value
    values = _values(profile, entropy_unit, scale)
    if target is not None:
        disclosure.write_private(target, partial(_write, values))
    if as_json:
        out.print_json(json.dumps(_as_json(values.slice(0, top), users, entropy_unit)))
    else:
        _show(values, users, entropy_unit, top or _ON_SCREEN)
    warn(WARNING)
    disclosure.tell_recorded(ledger)


def _places(where: PlaceOptions, provenance: str | None) -> Locations | Cells | None:
    """The public places whose entropy is computed; None for all places of the visits."""
    if where.levels is not None:
        raise ParameterError(
            "--levels is for a release. Exact values of a level are those of its groups: --group-by district.",
            example="locentropy entropy checkins.parquet --places places.csv --group-by district",
        )
    chosen = where.chosen(provenance)
    from locentropy.places.public_list import PublicLocations

    return chosen.load() if isinstance(chosen, PublicLocations) else chosen


def _bounds(max_locations: int | None, max_visits: int | None, keep: str | None) -> Any:
    from locentropy.core.bounds import Bounds

    if max_locations is None and max_visits is None and keep is None:
        return None
    if max_locations is None or max_visits is None:
        raise ParameterError(
            "Bounds need both numbers; without bounds, values are exact.",
            example="Bounds(max_locations=5, max_visits=5)",
        )
    return Bounds(max_locations, max_visits, keep)  # type: ignore[arg-type]  # checked by Bounds itself


def _nats_per(unit: str) -> float:
    units = {"nats": 1.0, "bits": 0.6931471805599453}
    if unit not in units:
        raise ParameterError(
            "is not one of nats, bits.",
            parameter="entropy_unit",
            value=unit,
            example='entropy(entropy_unit="bits")',
        )
    return units[unit]


def _values(profile: VisitProfile, unit: str, scale: float) -> pa.Table:
    """Every location, the most popular first; each row says that it is not private."""
    import pyarrow as pa

    table = pa.table(
        {
            "location": profile.locations,
            f"exact_entropy_{unit}": profile.entropy / scale,
            "exact_users": profile.user_counts,
            "exact_visits": profile.visit_counts,
            "status": pa.array([NOT_PRIVATE] * len(profile), pa.dictionary(pa.int8(), pa.string())),
        },
        metadata={"warning": WARNING},
    )
    return table.sort_by([(f"exact_entropy_{unit}", "descending"), ("location", "ascending")])


def _write(values: pa.Table, target: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    if target.suffix == ".csv":
        status = values["status"].cast(pa.string())
        pa.csv.write_csv(values.set_column(values.num_columns - 1, "status", status), target)
    else:
        pa.parquet.write_table(values, target)


def _as_json(values: pa.Table, users: int, unit: str) -> dict[str, Any]:
    rows = values.drop_columns(["status"]).to_pylist()
    return {"private": False, "warning": WARNING, "unit": unit, "users": users, "locations": rows}


def _show(values: pa.Table, users: int, unit: str, top: int) -> None:
    from rich.table import Table

    shown = Table(title=f"The most popular places — exact, {NOT_PRIVATE}")
    shown.add_column("location")
    for heading in (f"entropy ({unit})", "users", "visits"):
        shown.add_column(heading, justify="right")
    for row in values.slice(0, top).to_pylist():
        numbers = (
            f"{row[f'exact_entropy_{unit}']:.4f}",
            f"{row['exact_users']:,}",
            f"{row['exact_visits']:,}",
        )
        shown.add_row(options.shown(row["location"]), *numbers)
    out.print(shown)
    visits = int(values["exact_visits"].to_numpy().sum())
    out.print(f"{len(values):,} locations, {users:,} users, {visits:,} visits.")
