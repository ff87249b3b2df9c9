"""Columns: which column of a table plays which role, by choice, by usual name, or by published format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ColumnError, ColumnProblems, ParameterError
from locentropy.visits import person_column
from locentropy.visits.person_column import normalized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Format:
    """The layout of a published dataset's files."""

    about: str
    """What it is and whom to credit."""

    columns: tuple[str, ...]
    """The names of its columns, in order; those with usual names get their roles by them."""

    encoding: str = "utf-8"

    no_location: str | None = None
    """The location id that stands for "unknown place", read as missing."""


_SNAP: Final = ("user", "time", "lat", "lon", "location")

FORMATS: Final[dict[str, Format]] = {
    "gowalla": Format(
        about="Gowalla check-ins as published by SNAP (Cho, Myers, Leskovec, KDD 2011)",
        columns=_SNAP,
    ),
    "brightkite": Format(
        about="Brightkite check-ins as published by SNAP (Cho, Myers, Leskovec, KDD 2011)",
        columns=_SNAP,
        no_location="0" * 32,
    ),
    "foursquare": Format(
        about="Foursquare check-ins in New York and Tokyo (Yang, Zhang, Zheng, Yu, TSMC 2014)",
        columns=(
            "user", "location", "category_id", "category", "lat", "lon", "offset_minutes", "time",
        ),
        encoding="latin-1",
    ),
}  # fmt: skip


def format_named(name: str) -> Format:
    """The published format of that name."""
    if name not in FORMATS:
        raise ParameterError(
            f"is not one of {', '.join(FORMATS)}. Other text files need no format: name their columns instead.",
            parameter="format",
            value=name,
            example='Visits("checkins.txt", format="gowalla")',
        )
    return FORMATS[name]


# Names are compared in lower case without accents and punctuation: "Check-in time" and "checkin_time" are the same.
# Only unambiguous names are here; "id" or "count" could be anything, so the caller must name such a column.
# English, German, French, Spanish, Portuguese and Italian, in this order.
USUAL_NAMES: Final[dict[str, frozenset[str]]] = {
    "user": person_column.USUAL,
    "location": frozenset(
        "location locationid loc locid venue venueid place placeid poi poiid site siteid spot spotid "
        "ort ortid ortsid ortnr ortsnr ortsnummer standort standortid standortnr standortnummer "
        "lieu lieuid idlieu emplacement endroit localisation lugar lugarid idlugar ubicacion localizacion sitio "
        "localid idlocal localizacao luogo luogoid idluogo localita".split()
    ),
    "time": frozenset(
        "time timestamp datetime date at when ts checkin checkintime checkinat checkintimestamp visittime "
        "visitedat starttime utctime utctimestamp eventtime createdat "
        "zeit zeitpunkt zeitstempel datum datumzeit datumuhrzeit datumunduhrzeit besuchszeit besuchszeitpunkt "
        "ankunftszeit startzeit horodatage horodateur dateheure dateetheure datedevisite "
        "fecha fechahora fechayhora fechadevisita marcadetiempo marcatemporal "
        "datahora dataehora datadavisita carimbodetempo carimbodedatahora dataora dataeora marcatemporale".split()
    ),
    "visits": frozenset(
        "visits visitcount nvisits numvisits numberofvisits "
        "besuche anzahlbesuche besuchszahl visites nbvisites nombrevisites nombredevisites visitas numvisitas "
        "numerovisitas numerodevisitas visite numvisite numerovisite numerodivisite".split()
    ),
    "lat": frozenset(
        "lat latitude breite breitengrad geobreite geogrbreite geografischebreite geographischebreite "
        "latitud latitudine".split()
    ),
    "lon": frozenset(
        "lon lng long longitude lange laenge langengrad laengengrad geolange geolaenge geogrlange geogrlaenge "
        "geografischelange geografischelaenge geographischelange geographischelaenge longitud longitudine".split()
    ),
    "name": frozenset("name title label bezeichnung titel nom libelle nombre nome denominazione".split()),
}

_FALSE_FRIENDS: Final = {"time": "data", "location": "local"}
"""A date and a place in Portuguese and Italian, and other things in English: usual only beside such names."""
_ROMANCE: Final = frozenset(
    "usuario usuarioid idusuario iddousuario utilizador utilizadorid idutilizador iddoutilizador pessoa pessoaid "
    "idpessoa utente utenteid idutente codiceutente nomeutente persona idpersona idcliente iddocliente clienteid "
    "numerocliente numerodocliente codicecliente ncliente nocliente luogo luogoid idluogo localita lugar idlugar "
    "localid idlocal localizacao datahora dataora visitas visite latitudine longitudine nome".split()
)

BY_ID: Final = ("user", "location")
"""The required roles if locations are given by their ids."""
BY_COORDINATES: Final = ("user", "lat", "lon")
"""The required roles if a grid assigns locations by coordinates."""
ROLES: Final = ("user", "location", "time", "visits", "lat", "lon")
"""The roles of columns in a table of visits; lists of places also have "name"."""


class Auto:
    """The type of AUTO, the default of every column option: look for a usual name."""

    def __repr__(self) -> str:
        return "AUTO"


AUTO: Final = Auto()

Choice = str | None | Auto
"""A column's name; None for no column; or AUTO."""


_EXAMPLES: Final = {"user": "member", "location": "shop", "time": "began", "lat": "y", "lon": "x"}
_ENOUGH_USUAL: Final = 2
"""One value of a data row may be a usual name by chance."""

Roles = dict[str, str]
"""The column of each role; roles without a column are left out."""


def resolve_roles(
    choices: Mapping[str, Choice],
    columns: Sequence[str],
    source: str,
    required: Sequence[str] = BY_ID,
    hint: str = "",
    prefix: str = "--",
    problems: ColumnProblems | None = None,
) -> Roles:
    """The column of each role: the one chosen, else the only one with a usual name.

    A user column is taken by its name only where no other column could be the person (person_column.py).

    For error messages: `source` names the table, `hint` is added if a required column has no usual name, and `prefix`
    begins the options that name columns. With `problems`, what is wrong is left to whoever made these.
    """
    told = ColumnProblems()
    named = {role: choice for role, choice in choices.items() if isinstance(choice, str)}
    for role, name in named.items():
        with told.caught():
            _check_exists(role, name, columns, source, hint, prefix)
    _check_distinct(named)
    free = [name for name in columns if name not in named.values()]
    roles: Roles = {}
    for role, choice in choices.items():
        optional = role not in required
        found: str | None = None
        with told.caught():
            if choice is not AUTO:
                found = named.get(role)
            elif role == "user":
                # Names that the caller gave and that are there tell that the first line is a header.
                known = sum(is_usual_name(name) or name in named.values() for name in columns)
                shown = known >= _ENOUGH_USUAL
                found = person_column.find_person(free, source, _listing(columns), prefix, shown=shown)
            else:
                # In a list of places a place is what one looks for, whatever the language of the other columns.
                romance = "user" not in choices or any(normalized(name) in _ROMANCE for name in columns)
                found = _find_by_name(role, free, columns, source, prefix, optional=optional, romance=romance)
            if found is None and not optional:
                raise ColumnError(
                    f"{source}: no {role} column was recognised. {_listing(columns)} "
                    f'Name it, such as {role}="{_EXAMPLES[role]}" ({prefix}{role} {_EXAMPLES[role]}).{hint}'
                )
        if found is not None and found in columns:
            roles[role] = found
    if not told.found:
        with told.caught():
            _check_coordinate_pair(roles, named, columns, source, hint, prefix)
    with told.caught():
        _check_no_clash(roles, columns, source)
    told.leave_to(problems, _listing(columns), hint)
    return roles


def might_be_data_row(columns: Sequence[str]) -> bool:
    """Whether these might be the values of somebody's first visit rather than a header: hardly any name is usual."""
    return bool(columns) and sum(map(is_usual_name, columns)) < _ENOUGH_USUAL


def is_usual_name(name: str) -> bool:
    """Whether a column of this name would get a role by it."""
    return any(normalized(name) in names for names in USUAL_NAMES.values())


def _listing(columns: Sequence[str]) -> str:
    """The columns' names; only their number if they might be somebody's first visit rather than a header."""
    if might_be_data_row(columns):
        usual = [name for name in columns if is_usual_name(name)]
        known = f"of which only {usual[0]!r} has a usual name" if usual else "none with a usual name"
        found = "1 column was" if len(columns) == 1 else f"{len(columns)} columns were"
        return f"{found} found, {known}."
    return f"Columns found: {', '.join(map(repr, columns)) or 'none'}."


def _check_exists(role: str, name: str, columns: Sequence[str], source: str, hint: str, prefix: str) -> None:
    if name not in columns:
        raise ColumnError(
            f"{source}: {role}={name!r} ({prefix}{role} {name}) is not a column. {_listing(columns)}"
            + (hint if might_be_data_row(columns) else "")
        )


def _check_distinct(named: Mapping[str, str]) -> None:
    for role, name in named.items():
        others = [other for other in named if other != role and named[other] == name]
        if others:
            raise ParameterError(
                f"{role}={name!r} and {others[0]}={name!r} name the same column; each role needs a column of its own."
            )


def _find_by_name(
    role: str,
    free: Sequence[str],
    columns: Sequence[str],
    source: str,
    prefix: str,
    *,
    optional: bool,
    romance: bool,
) -> str | None:
    matches = [name for name in free if normalized(name) in USUAL_NAMES[role]]
    if not matches and romance:
        matches = [name for name in free if normalized(name) == _FALSE_FRIENDS.get(role)]
    if len(matches) > 1:
        ignore = f", or {role}=None ({prefix}{role} '') to use none" if optional else ""
        raise ColumnError(
            f"{source}: the {role} column is ambiguous: {' and '.join(map(repr, matches))} have usual names. "
            f"{_listing(columns)} Choose: {role}={matches[0]!r} ({prefix}{role} {matches[0]!r}){ignore}."
        )
    return matches[0] if matches else None


def _check_coordinate_pair(
    roles: Roles, named: Mapping[str, str], columns: Sequence[str], source: str, hint: str, prefix: str
) -> None:
    for role, other in (("lat", "lon"), ("lon", "lat")):
        if role in roles and other not in roles:
            if role in named:
                raise ColumnError(
                    f"{source}: {role}={named[role]!r} is given but no {other} column. {_listing(columns)} "
                    f'Name it too, such as {other}="{_EXAMPLES[other]}" ({prefix}{other} {_EXAMPLES[other]}).'
                    + (hint if might_be_data_row(columns) else "")
                )
            del roles[role]


def _check_no_clash(roles: Roles, columns: Sequence[str], source: str) -> None:
    """Raise if names differ only by case: engines ignore case, so one column would silently stand for both."""
    for role, column in roles.items():
        twins = [name for name in columns if name.lower() == column.lower()]
        if len(twins) > 1:
            raise ColumnError(
                f"{source}: the columns {' and '.join(map(repr, twins))} differ at most by upper and lower "
                f"case, so the {role} column is ambiguous. Rename one of them."
            )
