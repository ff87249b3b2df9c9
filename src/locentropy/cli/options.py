"""Options that several commands share, and the visits they describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from locentropy.visits.engines.engine import Resources
    from locentropy.visits.visits import Visits

_COLUMNS = "Columns (usual names are recognised)"
_READING = "Reading"
_RESOURCES = "Resources"

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="CSV, TSV, gzip of these, or Parquet file; a folder or 'pattern*' of them; a DuckDB database.",
        show_default=False,
    ),
]
Column = str | None
User = Annotated[Column, typer.Option("--user", help="Who.", rich_help_panel=_COLUMNS)]
Location = Annotated[Column, typer.Option("--location", help="Where.", rich_help_panel=_COLUMNS)]
Time = Annotated[Column, typer.Option("--time", help="When; '' for none.", rich_help_panel=_COLUMNS)]
VisitCount = Annotated[
    Column,
    typer.Option("--visits", help="How often, in pre-counted tables; '' for none.", rich_help_panel=_COLUMNS),
]
Lat = Annotated[Column, typer.Option("--lat", help="Latitude; '' for none.", rich_help_panel=_COLUMNS)]
Lon = Annotated[Column, typer.Option("--lon", help="Longitude; '' for none.", rich_help_panel=_COLUMNS)]
Table = Annotated[
    str | None, typer.Option("--table", help="The table of a DuckDB database.", rich_help_panel=_READING)
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="A published format: gowalla, brightkite, foursquare.", rich_help_panel=_READING
    ),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether a text file has a header.", rich_help_panel=_READING),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Names for the columns of a text file without header: a,b,c.",
        rich_help_panel=_READING,
    ),
]
BadRows = Annotated[
    str,
    typer.Option(
        "--bad-rows", help="What to do about rows that break a rule: fail, drop.", rich_help_panel=_READING
    ),
]
Ids = Annotated[
    str,
    typer.Option("--ids", help="Compare ids as-they-are, or as text.", rich_help_panel=_READING),
]
PrivateLog = Annotated[
    Path | None,
    typer.Option(
        "--private-log",
        help="Append private details (rows dropped, …) to this file.",
        rich_help_panel=_READING,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Where visits are counted: duckdb (here), or spark (Parquet, or a table of its catalog).",
        rich_help_panel=_RESOURCES,
    ),
]
Memory = Annotated[
    str | None, typer.Option("--memory", help="Working memory, such as 2GB.", rich_help_panel=_RESOURCES)
]
Threads = Annotated[
    int | None, typer.Option("--threads", help="Number of threads.", rich_help_panel=_RESOURCES)
]
Spill = Annotated[
    Path | None,
    typer.Option("--spill", help="Folder for what does not fit into memory.", rich_help_panel=_RESOURCES),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def visits_from(
    source: str,
    *,
    roles: dict[str, Column],
    table: str | None,
    format: str | None,  # noqa: A002  # the option's name
    header: bool | None,
    columns: str | None,
    bad_rows: str,
    ids: str,
    private_log: Path | None,
) -> Visits:
    """The visits that the options describe."""
    from locentropy.visits.columns import RECOGNISE
    from locentropy.visits.private_log import write_private_log
    from locentropy.visits.visits import Visits

    if private_log is not None:
        write_private_log(private_log)
    # Not given: look for a usual name. Given as '': there is none.
    chosen: dict[str, Any] = {
        role: RECOGNISE if name is None else (name or None) for role, name in roles.items()
    }
    rules: dict[str, Any] = {"bad_rows": bad_rows, "ids": ids}  # checked by Visits itself
    return Visits(
        source,
        **chosen,
        **rules,
        table=table,
        format=format,
        header=header,
        columns=None if columns is None else tuple(name.strip() for name in columns.split(",")),
    )


def resources_from(
    memory: str | None, threads: int | None, spill: Path | None, engine: str = "duckdb"
) -> Resources:
    """The resources that the options describe."""
    from locentropy.visits.engines.engine import Resources

    chosen: Any = engine  # checked by Resources itself
    return Resources(memory=memory, threads=threads, spill=spill, engine=chosen)


def shown(location: object) -> str:
    """An id or name as a table shows it: never as markup."""
    from rich.markup import escape

    return escape(str(location))
