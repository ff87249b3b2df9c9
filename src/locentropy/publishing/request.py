"""A request: what is to be published, settled from public things alone before any data is read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from locentropy.core.cell_kinds import OUTLINED_LIST
from locentropy.core.errors import LocentropyError, ParameterError, ReleaseError
from locentropy.core.language import DEFAULT_LANGUAGE
from locentropy.core.levels import PLACE
from locentropy.core.locations import Cells
from locentropy.core.spelling import AS_STORED, Spelling
from locentropy.core.version import __version__
from locentropy.mechanisms.base import require_mechanism
from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.level_parts import concentrated_sum
from locentropy.mechanisms.parameters import written_parameters
from locentropy.mechanisms.select import SelectLocations
from locentropy.places.geo_frames import is_geo_frame
from locentropy.places.map_outline import outline_fingerprint, read_outline
from locentropy.places.public_list import PublicLocations
from locentropy.planning.plans import Plan, plan
from locentropy.privacy.guarantee import PublicInput
from locentropy.privacy.strength import check_large_epsilon
from locentropy.privacy.units import Unit, part_windows
from locentropy.publishing.chosen_locations import THREE_WAYS, ChosenLocations
from locentropy.publishing.publication_file import NO_LEDGER_ID
from locentropy.publishing.requested_levels import requested_levels, stated_parts
from locentropy.release.chain import check_follows
from locentropy.release.statement import About, Statement

if TYPE_CHECKING:
    from locentropy.core.background import Background
    from locentropy.core.locations import Locations
    from locentropy.core.window_split import Period
    from locentropy.core.windows import Window
    from locentropy.ledger.ledger import Ledger
    from locentropy.mechanisms.base import Mechanism
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.publishing.chosen_locations import LocationsChoice
    from locentropy.publishing.publication_file import Identity
    from locentropy.publishing.requested_levels import RequestedLevel
    from locentropy.release.chain import Chain
    from locentropy.release.release import Release
    from locentropy.release.statement import EntropyUnit, LedgerNote
    from locentropy.visits.visits import BadRows, MissingIds, Visits

_CALL = 'publish(visits, Shares(epsilon=1.0), PublicLocations("places.csv"), ledger="city.ledger")'
_WINDOWS = f'{_CALL[:-1]}, window=Window("2026-01/2026-07", zone="as-written"), windows="month")'
_OUTLINE = f'{_CALL[:-1]}, outline="coast.geojson")'
_LARGE = f"{_CALL[:-1]}, large_epsilon=True)".replace("1.0", "12.0")


@dataclass(frozen=True)
class Request:
    """Everything that `publish` is told except the visits. What it reads, a list of places, is public."""

    mechanism: Mechanism
    """What computes the values."""
    locations: LocationsChoice | None
    """Which places are published; None if the mechanism selects them."""
    exclude: PublicLocations | None = None
    """Places never to publish."""
    about: About = field(default_factory=About)
    """The owner's words."""
    entropy_unit: EntropyUnit = "nats"
    """Of the published entropies."""
    not_private: bool = False
    """Must be True exactly if there is no guarantee."""
    refuse_empty: bool = False
    """Whether to refuse if no visit is at any of the places. That a release exists then depends on the data."""

    large_epsilon: bool = False
    """Must be True if ε is above 10. Not part of the identity, because ε is."""
    max_std_error: float | None = None
    """Places with a larger standard error, in nats, get no value."""
    window: Window | None = None
    """Only visits that began in it are read; as the ledger has settled it."""
    unit: Unit = "person"
    """The unit of the ledger that pays."""
    windows: tuple[Window, ...] = ()
    """What the window is cut into, as the ledger has settled them, if places are published in each of several."""
    windows_of: Period | None = None
    """A day, a week or a month each; None if there are none."""
    outline: str | Path | None = None
    """A public map whose outlines are behind the places on the page's map; see `places/map_outline.py`."""
    after: Chain | None = None
    """The earlier releases of the series that this one goes on with; None if there are none."""
    language: str = DEFAULT_LANGUAGE
    """Of the page."""
    without_series: bool = False
    """Whether an attempt that was begun with `after` is finished without it. Not part of the identity: it is that
    attempt."""
    begun_before: bool = False
    """Whether it finishes an attempt of a version that published every column of the list: see `as_begun`."""
    spelling: Spelling = AS_STORED
    """How ids of the visits and of lists are spelled before they are compared."""
    missing_id_words: tuple[str, ...] = ()
    """Further words that stand for a missing user id."""

    def __post_init__(self) -> None:
        require_mechanism(self.mechanism, _CALL)
        _ = self.parts  # raises, with the reason, for a window that straddles periods
        if self.locations is None and self.locations_kind == "public-list":
            raise ParameterError(f"{type(self.mechanism).__name__} was given no places. {THREE_WAYS}")
        _ = self.chosen  # raises for anything but the three ways, and a list to exclude
        if self.windows and (self.locations_kind in ("selection", "by-mechanism") or self.chosen.level_names):
            raise ParameterError(
                "are for a public list, a grid or zones, and for one level: places that are selected from the visits, "
                "and levels, are published one window at a time.",
                parameter="windows",
                value=self.windows_of,
                example=_WINDOWS,
            )
        if self.guarantee.private == self.not_private:
            raise ParameterError(
                "not_private=True (--not-private) is for mechanisms without a guarantee; leave it out."
                if self.not_private
                else f"{type(self.mechanism).__name__} has no privacy guarantee. If that is meant, say so: "
                "not_private=True (--not-private); every file will be marked, and a ledger closed for good."
            )
        if not isinstance(self.refuse_empty, bool):
            raise ParameterError(
                "must be True or False.",
                parameter="refuse_empty",
                example=f"{_CALL[:-1]}, refuse_empty=True)",
            )
        check_large_epsilon(
            self.guarantee.epsilon,
            accepted=self.large_epsilon,
            of="a release",
            example=_LARGE,
        )
        if self.without_series and self.after is None:
            raise ParameterError(
                "finishes an attempt with after (--after), which must be given as it was.",
                parameter="without_series",
            )
        if self.after is not None:
            self._check_after(self.after)
        _ = self._stated  # raises for words that cannot be published

    def _check_after(self, chain: Chain) -> None:
        """Raise unless this release can go on with the series: before anything is read or spent."""
        last = chain.last.directory
        if not self.mechanism.smooths:
            raise ParameterError(
                f"{type(self.mechanism).__name__} cannot use earlier releases (after, --after). Shares can."
            )
        if self.locations_kind in ("selection", "by-mechanism") or self.chosen.level_names or self.windows:
            raise ParameterError(
                "after (--after) is for a public list, a grid or zones, for one window, and for one level."
            )
        try:
            check_follows(chain.last, replace(self, after=None, without_series=False)._stated, self.published)
        except ReleaseError as error:
            raise ParameterError(
                f"after={str(last)!r} (--after {last}): this release cannot follow it: {error}"
            ) from None

    @property
    def series(self) -> Chain | None:
        """The earlier releases that values lean on; None if there are none, or if it is finished without them."""
        return None if self.without_series else self.after

    @property
    def earlier(self) -> tuple[Release, ...]:
        """Those releases, the first first."""
        return () if self.series is None else self.series.releases

    @property
    def _stated(self) -> Statement:
        """What will be said, but for the release's id and its ledger."""
        return self.statement("0" * 32, None, tuned=False)

    @cached_property
    def plan(self) -> Plan:
        """The plan, with its guarantee: the mechanism's, and that of a selection before it."""
        selection = self.locations if isinstance(self.locations, SelectLocations) else None
        return plan(
            self.mechanism,
            locations=self.locations_kind,
            selection=selection,
            attributes=self.chosen.attributes,
            max_std_error=self.max_std_error,
            group=self.chosen.group,
            unit=self.unit,
            levels=self.chosen.level_names,
            publish_columns=self.chosen.publish_columns,
        )

    @property
    def locations_kind(self) -> Any:
        """What plans call this way to choose locations."""
        if self.locations is None:
            return plan(self.mechanism).locations
        if isinstance(self.locations, Cells):
            return self.locations.kind
        kinds = {PublicLocations: "public-list", SelectLocations: "selection"}
        return kinds.get(type(self.locations))

    @cached_property
    def parts(self) -> tuple[Window | None, ...]:
        """What each part of the release reads, and is charged for: one, or one in each period of the ledger's unit."""
        return part_windows(self.unit, self.window, self.windows)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release; per period also that of each part, which is about one."""
        own, public = self.plan.guarantee, list[PublicInput]()
        if self.window is not None:
            public.append(PublicInput("window", str(self.window)))
        if self.windows_of is not None:
            public.append(PublicInput("windows", self.windows_of))
        if self._outline_words is not None:
            public.append(PublicInput("outline", self._outline_words))
        return replace(own, public_inputs=(*own.public_inputs, *public))

    @cached_property
    def charged(self) -> Guarantee:
        """The guarantee as the ledger is charged it: of several levels also ρ, once the list tells their parts."""
        if not self.chosen.level_names:
            return self.guarantee
        return replace(self.guarantee, **concentrated_sum([level.mechanism for level in self.levels]))

    @cached_property
    def chosen(self) -> ChosenLocations:
        """The places, and those that are excluded."""
        return ChosenLocations(self.locations, self.exclude, self.mechanism.uses_attributes, self.spelling)

    @property
    def needs_first_times(self) -> bool:
        """Whether anything that is asked may bound users by what they visited first."""
        selection = self.locations if isinstance(self.locations, SelectLocations) else None
        return self.mechanism.needs_first_times or (selection is not None and selection.bounds.may_need_times)

    @property
    def listed(self) -> Locations | None:
        """The public list, without the excluded places; None where places are selected."""
        return self.chosen.listed

    @cached_property
    def levels(self) -> tuple[RequestedLevel, ...]:
        """What is published at each level, the main one first; a single one, without a name, if there are no levels."""
        return requested_levels(self.mechanism, self.chosen, self.windows, self.unit)

    @cached_property
    def _outline_words(self) -> str | None:
        """What the background is, in the words of a release; only the file's fingerprint is read for it."""
        if self.outline is None:
            return None
        if not isinstance(self.outline, str | Path):
            raise ParameterError("must be the path of a public map.", parameter="outline", example=_OUTLINE)
        return f"lines of a public map with SHA-256 {outline_fingerprint(self.outline)}, cut and simplified"

    @cached_property
    def background(self) -> Background | None:
        """The outlines behind the places on the page's map, from public things alone."""
        if self.outline is None:
            return None
        if self.listed is None:
            raise ParameterError(
                "is the background of the map, and places that are selected from the visits have no map.",
                parameter="outline",
                example=_OUTLINE,
            )
        return read_outline(self.outline, self.listed)

    def refuse_visits_as_public(self, visits: Visits) -> None:
        """Raise ParameterError if the table of visits is given as something public; nothing is read."""
        self.chosen.refuse_visits_as_list(visits)
        if self.outline is not None and PublicLocations(self.outline).is_same_table(
            replace(visits, table=None)
        ):
            raise ParameterError(
                "The outline and the visits are the same file. An outline is drawn on the page as it is, so it must be "
                "public: that of the city or its coast, never lines along which people went.",
                parameter="outline",
                example=_OUTLINE,
            )

    @property
    def published(self) -> Locations | None:
        """The locations of the main level; None where they are selected."""
        return self.levels[0].locations

    def identity(self, ledger: Ledger | None) -> Identity:
        """What makes this request this one, so that a retry can tell that it is the same. Public."""
        parameters = written_parameters(self.mechanism).items()
        kind, named = type(self.mechanism), sorted(self.chosen.publish_columns)
        return {
            "ledger": NO_LEDGER_ID if ledger is None else ledger.read().id,
            # Names of classes outside this package are not ours to keep unique.
            "mechanism": kind.__name__
            if self.mechanism.is_built_in
            else f"{kind.__module__}.{kind.__qualname__}",
            "parameters": ", ".join(f"{name}={value}" for name, value in parameters),
            "places": self._source,
            "provenance": self._provenance,
            "list": _fingerprint(self.listed) if isinstance(self.locations, PublicLocations) else "",
            "excluded": _fingerprint(self.chosen.excluded),
            "unit": self.entropy_unit,
            # Only if they are said: attempts of earlier versions have no such keys, and stay the same requests.
            **({"attributes": json.dumps(self.chosen.attributes)} if self.chosen.attributes else {}),
            **({"columns": json.dumps(self.chosen.columns)} if self.chosen.columns else {}),
            **({"publish_columns": json.dumps(named)} if named and not self.begun_before else {}),
            **({"levels": self.chosen.level_names.written} if self.chosen.level_names else {}),
            **({"ids": str(self.spelling)} if self.spelling.changes else {}),
            **({"missing_id_words": json.dumps(self.missing_id_words)} if self.missing_id_words else {}),
            **({} if self.max_std_error is None else {"max_std_error": repr(self.plan.max_std_error)}),
            **({"refuse_empty": "True"} if self.refuse_empty else {}),
            **({} if self.window is None else {"window": str(self.window)}),
            **({} if self.windows_of is None else {"windows": self.windows_of}),
            **({} if self._outline_words is None else {"outline": self._outline_words}),
            **({} if self.after is None else {"after": self.after.fingerprint}),
            **({} if self.language == DEFAULT_LANGUAGE else {"language": self.language}),
            **{name: str(value) for name, value in asdict(self.about).items()},
        }

    def as_begun(self, earlier: Identity, ledger: Ledger | None) -> Request | None:
        """This request as an attempt with an earlier identity had it; None if that was another one.

        Versions that published every column of a list named none of them in an option. Such an attempt is finished with
        the columns that it began with, whether they are named now or not: what it drew belongs to them.
        """
        if self.identity(ledger) == earlier:
            return self
        if not isinstance(self.locations, PublicLocations) or "publish_columns" in earlier:
            return None
        try:
            columns = self.locations.publish_columns or json.loads(earlier.get("columns", "[]"))
            locations = replace(self.locations, publish_columns=columns)
            before = replace(self, locations=locations, begun_before=True)
            return before if before.identity(ledger) == earlier else None
        except (LocentropyError, TypeError, ValueError):
            return None  # of another list, or no names

    @property
    def _source(self) -> str:
        less = "" if self.exclude is None else ", less places that the owner excluded"
        if isinstance(self.locations, PublicLocations):
            grouped = (
                "" if self.chosen.group is None else f", its places grouped by their {self.chosen.group}"
            )
            if self.chosen.level_names:
                grouped = f", at the levels {', '.join(self.chosen.level_names)}"
            return f"{OUTLINED_LIST if self._has_areas(self.locations) else 'public list'}{grouped}{less}"
        if isinstance(self.locations, Cells):
            return f"{self.locations.described}{less}"
        if isinstance(self.locations, SelectLocations):
            chosen = ", ".join(f"{k}={v}" for k, v in written_parameters(self.locations).items())
            return f"private selection ({chosen}){less}"
        kind = (
            "private selection by the mechanism itself" if self.guarantee.private else "unprotected selection"
        )
        return f"{kind}{less}"

    def _has_areas(self, listed: PublicLocations) -> bool:
        """Whether listed places are areas, and published by themselves: a group is drawn in the middle of its places.

        Only a GeoDataFrame has areas; other lists are not read here, for they may be the visits by mistake.
        """
        if not is_geo_frame(listed.source) or PLACE not in (self.chosen.level_names or (PLACE,)):
            return False
        return self.listed is not None and self.listed.outlines is not None

    @property
    def _provenance(self) -> str:
        if isinstance(self.locations, Cells):
            return self.locations.origin or self._source
        return self.locations.provenance if isinstance(self.locations, PublicLocations) else self._source

    def statement(
        self,
        release_id: str,
        note: LedgerNote | None,
        *,
        tuned: bool,
        bad_rows: BadRows = "fail",
        missing_ids: MissingIds = "drop",
        user_column: str | None = None,
        level: RequestedLevel | None = None,
    ) -> Statement:
        """All that is said about the release, or a level of it; of dropped rows the rule, never their number."""
        part = None if level is None else level.part
        mechanism = self.mechanism if level is None or part is None else level.mechanism
        attributes = self.chosen.attributes if part is None or part.scope == "place" else ()
        parameters = {name: str(value) for name, value in written_parameters(mechanism).items()}
        if bad_rows == "drop":
            parameters["bad_rows"] = bad_rows
        parameters["missing_ids"] = missing_ids
        if self.spelling.changes:
            parameters["ids"] = str(self.spelling)
        if self.missing_id_words:
            parameters["missing_id_words"] = ", ".join(self.missing_id_words)
        return Statement(
            release_id=release_id,
            guarantee=self.guarantee if level is None else self.charged,
            mechanism=type(mechanism).__name__,
            parameters=parameters,
            method=mechanism.method_used,
            built_in=mechanism.is_built_in,
            inference=mechanism.inference,
            inferred_by=__version__,
            estimand=mechanism.estimand,
            locations_source=self._source,
            locations_provenance=self._provenance,
            attributes=attributes,
            grouped_by=self.chosen.group if part is None else part.column,
            levels=() if part is None else stated_parts(self.levels),
            level=None if part is None else part.name,
            max_std_error=self.plan.max_std_error,
            **asdict(self.about),
            software_version=__version__,
            max_users=getattr(mechanism, "max_users", None),
            ledger=note,
            tuned_unaccounted=tuned,
            entropy_unit=self.entropy_unit,
            refuse_empty=self.refuse_empty,
            user_column=user_column,
            expected_error=(
                self.plan.expected if part is None else mechanism.expected_error(Supposed())
            ).summary,
            window=self.window,
            windows=self.windows_of,
            outline=self._outline_words,
            series=None if self.series is None else self.series.note,
            without_series=self.after.note if self.after is not None and self.without_series else None,
            language=self.language,
        )


def _fingerprint(locations: Locations | None) -> str:
    """The fingerprint of a public list: with another list, a retry is another request."""
    if locations is None:
        return ""
    columns = [
        locations.ids,
        locations.names,
        locations.lat,
        locations.lon,
        *locations.attributes.values(),
        *(values.cast(pa.string()) for values in locations.columns.values()),
        *((locations.members.ids, locations.members.group) if locations.members is not None else ()),
    ]
    text = json.dumps([None if column is None else column.tolist() for column in columns])
    return hashlib.sha256(text.encode()).hexdigest()
