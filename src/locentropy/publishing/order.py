"""An order: what is to be published, settled from public things alone before any data is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from locentropy.core.errors import ParameterError
from locentropy.core.grid import Grid
from locentropy.core.version import __version__
from locentropy.mechanisms.registry import written_parameters
from locentropy.mechanisms.select_locations import SelectLocations
from locentropy.planning.plans import Plan, plan
from locentropy.release.statement import Statement
from locentropy.visits.public_list import PublicLocations

if TYPE_CHECKING:
    from locentropy.core.locations import Locations
    from locentropy.mechanisms.mechanism import Mechanism
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.ledger import Ledger
    from locentropy.release.statement import LedgerNote, Sector, Unit

PlacesChoice = PublicLocations | Grid | SelectLocations
"""The three ways to say which places are published."""

THREE_WAYS = (
    "Which places may be named is a choice that the visits must not make. There are three ways: "
    'PublicLocations("places.csv"), a list that is public anyway (--places places.csv); '
    "Grid(south=…, west=…, north=…, east=…, cell=500), every cell of a public box (--grid S,W,N,E --cell 500); "
    "SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20), a private selection that costs budget "
    "(--select-epsilon 0.2 --select-delta 1e-8 --select-max-locations 20). LimitPTR selects by itself and needs none."
)

_UNSAID = "not stated"


@dataclass(frozen=True)
class About:
    """What the owner of the data says about the release; all of it is published."""

    title: str = "Location entropy"
    """What it is called."""
    curator: str = _UNSAID
    """Who answers for it."""
    description: str = "How evenly the visits of each place are spread over its visitors."
    """What it is about."""
    intended_use: str = _UNSAID
    """What it is for."""
    region: str = _UNSAID
    """Which part of the world it is about."""
    sector: Sector | None = None
    """Technology, Healthcare, Education, Government, Energy or Finance."""
    publication_date: str | None = None
    """When it is published, such as 2026-11-15; none leaves it a draft."""


@dataclass(frozen=True)
class Order:
    """Mechanism, places and words of a release. Reads no visits; what it reads (a list of places) is public."""

    mechanism: Mechanism
    places: PlacesChoice | None
    exclude: PublicLocations | None = None
    about: About = About()
    unit: Unit = "nats"
    not_private: bool = False

    def __post_init__(self) -> None:
        if self.places is None and self.plan_places == "public-list":
            raise ParameterError(f"{type(self.mechanism).__name__} was given no places. {THREE_WAYS}")
        if self.places is not None and not isinstance(self.places, PlacesChoice):
            raise ParameterError(
                f"{type(self.places).__name__} is not a way to say which places. {THREE_WAYS}"
            )
        if self.exclude is not None and not isinstance(self.places, PublicLocations | Grid):
            raise ParameterError(
                "exclude takes places off a public list or a grid; where places are selected privately, leave "
                "visits to them out of the table instead."
            )
        if self.guarantee.private == self.not_private:
            raise ParameterError(
                f"{type(self.mechanism).__name__} promises nothing about anybody's privacy. If that is meant, say so: "
                "not_private=True (--not-private); every file will be marked, and a ledger closed for good."
                if self.not_private is False
                else "not_private=True (--not-private) is for mechanisms without a guarantee; leave it out."
            )

    @cached_property
    def plan(self) -> Plan:
        """The plan, with its guarantee: the mechanism's, and that of a selection before it."""
        selection = self.places if isinstance(self.places, SelectLocations) else None
        return plan(self.mechanism, places=self.plan_places, selection=selection)

    @property
    def plan_places(self) -> Any:
        """How plans call this way to say which places."""
        if self.places is None:
            return plan(self.mechanism).places
        kinds = {PublicLocations: "public-list", Grid: "grid", SelectLocations: "selection"}
        return kinds.get(type(self.places))

    @property
    def guarantee(self) -> Guarantee:
        """What the whole release promises."""
        return self.plan.guarantee

    def listed(self) -> Locations | None:
        """The public list, without the excluded places; None where places are selected."""
        if isinstance(self.places, PublicLocations):
            every = self.places.load()
        elif isinstance(self.places, Grid):
            every = self.places.locations()
        else:
            return None
        return every if self.exclude is None else every.without(self.exclude.load())

    def in_short(self, ledger: Ledger | None) -> dict[str, str]:
        """What makes this order this one, for a retry to know that it is the same. Public."""
        parameters = written_parameters(self.mechanism).items()
        return {
            "ledger": "none" if ledger is None else ledger.read().id,
            "mechanism": type(self.mechanism).__name__,
            "parameters": ", ".join(f"{name}={value}" for name, value in parameters),
            "places": self._source(),
            "unit": self.unit,
        }

    def _source(self) -> str:
        if isinstance(self.places, PublicLocations):
            return "public list"
        if isinstance(self.places, Grid):
            box = self.places
            return (
                f"grid of {box.rows} × {box.columns} square cells of {box.cell:g} m, south {box.south:g}, west "
                f"{box.west:g}, north {box.north:g}, east {box.east:g}"
            )
        if isinstance(self.places, SelectLocations):
            chosen = ", ".join(f"{k}={v}" for k, v in written_parameters(self.places).items())
            return f"private selection ({chosen})"
        return (
            "private selection by the mechanism itself" if self.guarantee.private else "unprotected selection"
        )

    def statement(self, release_id: str, note: LedgerNote | None, *, tuned: bool) -> Statement:
        """All that is said about the release."""
        provenance = self.places.provenance if isinstance(self.places, PublicLocations) else self._source()
        parameters = {name: str(value) for name, value in written_parameters(self.mechanism).items()}
        about = self.about
        return Statement(
            release_id=release_id,
            guarantee=self.guarantee,
            mechanism=type(self.mechanism).__name__,
            parameters=parameters,
            estimand="bounded",
            locations_source=self._source(),
            locations_provenance=provenance,
            title=about.title,
            curator=about.curator,
            description=about.description,
            intended_use=about.intended_use,
            region=about.region,
            software_version=__version__,
            sector=about.sector,
            publication_date=about.publication_date,
            max_users=getattr(self.mechanism, "max_users", None),
            ledger=note,
            tuned_unaccounted=tuned,
            unit=self.unit,
        )
