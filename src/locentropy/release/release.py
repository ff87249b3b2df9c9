"""Release: the only type that writers and reports of published data accept.

It is made from `Estimates`, which only a mechanism makes, from the public list of locations, and from a `Statement`.
It reads the named fields of these and nothing else, so nothing but columns and the statement is published.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.estimates import COUNTS
from locentropy.core.language import check_language
from locentropy.core.window_split import split
from locentropy.privacy.guarantee import exact_text
from locentropy.release.columns import MOST_NATS, WINDOW, check_table, row_ids
from locentropy.release.error_rule import too_uncertain
from locentropy.release.outlines import has_outlines
from locentropy.release.signal import Signal, signal_in
from locentropy.release.statement import NOT_PRIVATE, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from locentropy.core.background import Background
    from locentropy.core.estimates import Estimates
    from locentropy.core.locations import Locations
    from locentropy.release.measurements import KeptMeasurements

    Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table fit to be published and what is said about it. Made by `Release.of`, read back by `Release.load`."""

    table: pa.Table
    """The published columns; see `columns.py`."""
    statement: Statement
    """What is said about it."""
    measurements: KeptMeasurements | None = None
    """The noisy integers that it was computed from, where these may be published; see `measurements.py`."""
    outlines: pa.Array | None = None
    """The outline of each place, as well-known binary, where places are zones or cells of a public map."""
    further: tuple[Release, ...] = ()
    """The further levels of a release that has several; see `levels`."""
    earlier: tuple[Release, ...] = ()
    """Earlier releases of its series, the first first, where they were read as well; see `chain.py`."""
    background: Background | None = None
    """The outlines behind the places on the page's map, if the owner gave some; of the first level only."""
    directory: Path | None = None
    """Where it was read from."""

    def __post_init__(self) -> None:
        check_table(self.table, self.statement)
        outlined = has_outlines(self.statement)
        if outlined != (self.outlines is not None):
            raise ReleaseError(
                "Zones, cells and listed areas are published with outlines, and other places without."
            )
        if self.outlines is not None and len(self.outlines) != len(self.table):
            raise ReleaseError("There must be one outline for each place.")
        if self.measurements is not None:
            _check_measurements(self.measurements, self.table, self.statement)
        if self.further:
            _check_levels(self)

    @classmethod
    def of(
        cls,
        estimates: Estimates,
        locations: Locations | None,
        statement: Statement,
        measurements: KeptMeasurements | None = None,
    ) -> Release:
        """The release of these estimates; names, coordinates and further columns come from the public list.

        Estimates without a guarantee (simulated noise, a mechanism that has none) are refused, unless the statement
        says so as well; then every part of the release is marked.
        """
        if statement.private and not estimates.private:
            raise ReleaseError(
                "These estimates are not private (simulated noise, or a mechanism without a guarantee), but the "
                'statement has a guarantee. Say so: Statement(..., guarantee=Guarantee.none("simulated noise"))'
            )
        if statement.estimand != estimates.estimand:
            raise ReleaseError(
                f"The statement is about the {statement.estimand} entropy, the estimates about the "
                f"{estimates.estimand} one."
            )
        if locations is not None and not locations.ids.equals(estimates.locations):
            raise ReleaseError("The estimates are not those of this list of locations, in its order.")
        if statement.attributes != (() if locations is None else locations.attribute_names):
            raise ReleaseError("The statement names other attributes than the list of locations has.")
        further = () if locations is None else tuple(locations.columns)
        statement = replace(statement, leans_on=estimates.leans_on, listed_columns=further)
        columns = _places(estimates.locations, locations, statement) | _values(estimates, statement)
        if not statement.private:
            columns["not_private"] = pa.array([NOT_PRIVATE] * len(estimates), pa.string())
        outlines = None if locations is None else locations.outlines
        return cls(pa.table(columns), statement, measurements, outlines)

    def with_earlier_found(self) -> Release:
        """The same, with the earlier releases of its series if all are beside the directory that it was read from."""
        from locentropy.release.chain import find_earlier

        if self.earlier or self.directory is None:
            return self
        found = find_earlier(self.statement, self.directory.absolute())
        return self if found.missing is not None else self.with_earlier(found.releases)

    def with_earlier(self, earlier: Iterable[Release]) -> Release:
        """The same, with the earlier releases of its series."""
        return self._with(earlier=tuple(earlier))

    def with_background(self, background: Background | None) -> Release:
        """The same, with these outlines behind the places on the page's map."""
        return self._with(background=background)

    def with_language(self, language: str) -> Release:
        """The same, with its page in this language: "en", "de"; all other files stay in English."""
        check_language(language)
        return replace(
            self,
            statement=replace(self.statement, language=language),
            further=tuple(level.with_language(language) for level in self.further),
        )

    def with_levels(self, further: Iterable[Release]) -> Release:
        """The release of this level and further ones."""
        levels = tuple(further)
        return replace(self, further=levels) if levels else self._with(further=())

    def _with(self, **parts: Any) -> Release:
        """The same with other parts that no check is about: checking the table of a large release takes its time."""
        other = copy(self)
        vars(other).update(parts)
        return other

    @property
    def levels(self) -> Mapping[str, Release]:
        """Every level by its name, the main one, which is this, first; none if there is one level only."""
        every = (self, *self.further)
        return MappingProxyType(
            {each.statement.level: each for each in every if each.statement.level is not None}
        )

    @classmethod
    def load(cls, directory: str | Path) -> Release:
        """A release from its directory; ReleaseError if a file is missing, damaged or not what it should be."""
        from locentropy.release.reading import read

        try:
            levels, background = read(directory)
            first, *further = (
                cls(found.table, found.statement, found.measurements, found.outlines) for found in levels
            )
            whole = first.with_levels(further).with_background(background)
            return whole._with(directory=Path(directory))
        except LocentropyError as error:
            raise ReleaseError(f"{directory}: {error}") from None

    def save(self, directory: str | Path, *, also: Sequence[str] = (), language: str | None = None) -> Path:
        """Write all files, or none; the directory must not exist, or be empty. Returns where they are.

        Without a guarantee, `NOT-PRIVATE` is added to the directory's name. `also` asks for the table in further
        formats: "geojson", "gpkg" (GeoPackage), and CSV for Excel, "excel-comma" or "excel-point" by the decimal mark
        of the country. `language` is that of the page, "en" or "de"; None leaves it as it is.
        """
        from locentropy.release.files import save

        if len(self.levels) != len(self.statement.levels):
            raise ReleaseError(
                "This is one level of a release. Save the whole release, or this level's table: to_arrow()."
            )

        return save(self if language is None else self.with_language(language), directory, also)

    def reestimate(self) -> Release:
        """Compute the release anew from its measurements, with the inference of this version. Costs no budget.

        The measurements, and with them the release's id and guarantee, stay the same; the statement says which version
        inferred the values. ReleaseError if the release has no measurements, or its mechanism is not installed.
        """
        from locentropy.release.reestimate import reestimated

        return reestimated(self)

    @property
    def signal(self) -> Signal | None:
        """Whether these numbers, added up, are more than noise, in all and in each window; of a level, its own.

        `release.signal.present` is False where they are not: `value` is then no larger than `threshold`, which noise
        alone stays below with probability 99.86 %. None for mechanisms that do not tell; Shares and Moments do.
        """
        return signal_in(self)

    def __repr__(self) -> str:
        """In short; `to_arrow` has the table, `statement` all that is said about it."""
        guarantee = self.statement.guarantee
        if guarantee.epsilon is None:
            stated = NOT_PRIVATE
        else:
            stated = f"ε = {exact_text(guarantee.epsilon)}, δ = {exact_text(guarantee.delta)}"
        places = _counted(self.statement, len(self))
        if self.further:
            places = ", ".join(f"{name} ({len(each):,})" for name, each in self.levels.items())
        signal = self.signal
        none = "" if signal is None or signal.present else ", NO SIGNAL"
        return f"<Release {self.statement.title!r}: {places}, {stated}, entropy in {self.statement.entropy_unit}{none}>"

    def _repr_html_(self) -> str:
        """In a notebook: the promise, the first places, and the page with its map."""
        from locentropy.release.report.notebook import shown

        return shown(self)

    def __len__(self) -> int:
        """The number of locations."""
        return int(self.table.num_rows)

    @property
    def too_uncertain(self) -> NDArray[np.bool_]:
        """The places without a value because of the rule for uncertain rows, and not because they are withheld."""
        none: NDArray[np.bool_] = self.table["entropy"].is_null().to_numpy()
        if self.statement.max_std_error is None:
            return np.zeros(len(self), dtype=bool)
        if self.measurements is None:
            return none
        measured = self.measurements.measurements.locations.cast(pa.string())
        known: NDArray[np.bool_] = pc.is_in(row_ids(self.table), value_set=measured).to_numpy(
            zero_copy_only=False
        )
        return none & known

    def to_arrow(self) -> pa.Table:
        """The published table; null where a value is withheld."""
        return self.table

    def to_pandas(self) -> Any:
        """The published table as a pandas DataFrame; NaN where a value is withheld."""
        if find_spec("pandas") is None:
            raise ReleaseError(
                "to_pandas needs pandas, which is not installed: pip install pandas. Without it: to_arrow()"
            )
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The published table as a Polars DataFrame; null where a value is withheld."""
        if find_spec("polars") is None:
            raise ReleaseError(
                "to_polars needs Polars, which is not installed: pip install polars. Without it: to_arrow()"
            )
        import polars

        return polars.from_arrow(self.table)

    def to_geopandas(self) -> Any:
        """The published table as a GeoDataFrame in degrees (WGS 84): points, or the outlines of zones and cells."""
        if find_spec("geopandas") is None:
            raise ReleaseError(
                "to_geopandas needs GeoPandas, which is not installed: pip install geopandas. Without it: to_arrow(), "
                "or release.parquet, which is a GeoParquet file"
            )
        if "lat" not in self.table.column_names:
            raise ReleaseError("The places of this release have no coordinates. Without them: to_pandas()")
        import geopandas

        from locentropy.release.exports import geometry_of

        shapes = geopandas.GeoSeries.from_wkb(geometry_of(self).to_pylist(), crs="EPSG:4326")
        return geopandas.GeoDataFrame(self.to_pandas(), geometry=shapes)


def _counted(statement: Statement, rows: int) -> str:
    """How many places there are, in how many windows."""
    windows = 1 if statement.windows is None else len(split(statement.window, statement.windows))
    many = f"{rows // windows:,} {'place' if rows == windows else 'places'}"
    return many if windows == 1 else f"{many} in {windows:,} windows"


def _places(ids: pa.Array, locations: Locations | None, statement: Statement) -> dict[str, pa.Array]:
    """Ids, and what the public list knows about them."""
    # A plain copy: an encoded array may carry values that none of its rows has.
    paired = None if locations is None else locations.in_windows
    if paired is not None:
        ids = paired.ids
    columns = {"location": ids if pa.types.is_integer(ids.type) else ids.cast(pa.string())}
    if paired is not None:
        columns |= dict(zip(WINDOW, paired.dates(), strict=True))
    elif statement.series is not None and statement.window is not None:
        dates = (statement.window.start, statement.window.end)
        columns |= {
            name: pa.array([day] * len(ids), pa.date32()) for name, day in zip(WINDOW, dates, strict=True)
        }
    if locations is None:
        return columns
    if locations.names is not None:
        columns["name"] = locations.names.cast(pa.string())
    if locations.lat is not None and locations.lon is not None:
        columns |= {"lat": _column(locations.lat), "lon": _column(locations.lon)}
    return columns | dict(locations.attributes) | dict(locations.columns)


def _values(estimates: Estimates, statement: Statement) -> dict[str, pa.Array]:
    """Entropy and what follows from it; error bars, the second estimate and counts if the mechanism gave them."""
    per_nat = 1.0 / math.log(2.0) if statement.entropy_unit == "bits" else 1.0
    left_out = too_uncertain(estimates, statement.max_std_error)
    entropy = np.where(left_out, np.nan, estimates.entropy)
    columns = {
        "entropy": _column(entropy * per_nat),
        "effective_visitors": _column(np.exp(np.minimum(entropy, MOST_NATS))),
    }
    for name in ("std_error", "low", "high", "entropy_busy"):
        if (values := getattr(estimates, name)) is not None:
            columns[name] = _column(np.where(left_out, np.nan, values) * per_nat)
    if statement.series is not None and estimates.change is not None:
        columns |= _of_series(estimates, left_out, per_nat)
    for name in COUNTS:  # the rule for uncertain rows is about entropies
        if (values := getattr(estimates, name)) is not None:
            columns[name] = _column(values)
    return columns


def _of_series(estimates: Estimates, left_out: NDArray[np.bool_], per_nat: float) -> dict[str, pa.Array]:
    """What a series tells besides. The rule for uncertain rows is about all that is said of a place."""
    assert estimates.entropy_alone is not None and estimates.change_probability is not None  # noqa: S101, PT018
    return {
        "entropy_alone": _column(np.where(left_out, np.nan, estimates.entropy_alone) * per_nat),
        "change": pa.array(estimates.change, pa.string(), mask=left_out | np.isnan(estimates.entropy)),
        "change_probability": _column(np.where(left_out, np.nan, estimates.change_probability)),
    }


def _column(values: Reals) -> pa.Array:
    """Numbers; NaN becomes null."""
    return pa.array(values, pa.float64(), from_pandas=True)


def _check_levels(release: Release) -> None:
    """Raise unless these are the levels of one release, each once and in order."""
    every = (release, *release.further)
    stated = release.statement
    if [each.statement.level for each in every] != [part.name for part in stated.levels]:
        raise ReleaseError("The levels are others than those that are stated, or in another order.")
    for each in release.further:
        same = ("release_id", "guarantee", "levels", "entropy_unit", "user_column")
        if each.further or any(getattr(each.statement, name) != getattr(stated, name) for name in same):
            raise ReleaseError("The levels are not those of one release.")
        if (each.measurements is None) != (release.measurements is None):
            raise ReleaseError("Measurements are published of every level, or of none.")


def _check_measurements(kept: KeptMeasurements, table: pa.Table, statement: Statement) -> None:
    """Raise unless these are measurements that a release with this table and statement may have."""
    if kept.release_id != statement.release_id:
        raise ReleaseError("The measurements are those of another release.")
    if statement.private and not kept.measurements.private:
        raise ReleaseError("The measurements are not private, but the statement has a guarantee.")
    measured = kept.measurements.locations.cast(pa.string())
    ids, has_value = row_ids(table), pc.is_valid(table["entropy"]).combine_chunks()
    if statement.max_std_error is not None:  # places that were measured may be too uncertain to have a value
        has_value = pc.or_(has_value, pc.is_in(ids, value_set=measured))
    if not measured.equals(ids.filter(has_value)):
        raise ReleaseError("The measurements are about other locations than those that have a value.")
