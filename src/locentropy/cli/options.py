"""Options that several commands share, and the visits they describe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli.console import note_reading, printable
from locentropy.core.errors import ParameterError
from locentropy.core.language import languages

if TYPE_CHECKING:
    import locentropy.core.windows as core_windows
    from locentropy.visits.engines.base import Resources
    from locentropy.visits.visits import Visits

_COLUMNS = "Columns (usual names are recognised)"
_READING = "Reading"
_WINDOW = "Window of time"
_RESOURCES = "Resources"
_ROLES = ("user", "location", "time", "visits", "lat", "lon")

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="CSV, TSV, JSON lines, gzip of these, or Parquet file; a folder or 'pattern*' of them; a workbook; a "
        "DuckDB database.",
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
    str | None,
    typer.Option(
        "--table",
        help="The table of a DuckDB database, or the sheet of a workbook.",
        rich_help_panel=_READING,
    ),
]
Views = Annotated[
    bool,
    typer.Option(
        "--views",
        help="Read views as well as tables. A view is a query, so only for databases of your own.",
        rich_help_panel=_READING,
    ),
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
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="What separates the fields of a text file: ',' ';' '|' or tab. Default: as in its header; without one a "
        "tab in .tsv files, else a comma. Holds for a list of places too.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="The encoding of a text file, such as cp1252. Default: UTF-8. Holds for a list of places too.",
        rich_help_panel=_READING,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        help="The decimal mark, '.' or ','. Default: a point, and where semicolons or tabs separate a comma as well. "
        "Holds for a list of places too.",
        rich_help_panel=_READING,
    ),
]
TimeFormat = Annotated[
    str | None,
    typer.Option(
        "--time-format",
        help="How times are written, as for strptime: '%d/%m/%Y %H:%M'. Default: ISO 8601, whole numbers, and "
        "31.01.2026 08:00 are recognised.",
        rich_help_panel=_READING,
    ),
]
BadRows = Annotated[
    str,
    typer.Option(
        "--bad-rows", help="What to do about rows that break a rule: fail, drop.", rich_help_panel=_READING
    ),
]
MissingIds = Annotated[
    str,
    typer.Option(
        "--missing-ids",
        help="What to do about rows whose user id is empty, nan, NULL, None, NA or n/a: drop, keep.",
        rich_help_panel=_READING,
    ),
]
Ids = Annotated[
    str,
    typer.Option(
        "--ids",
        help="How ids of people and places are compared: as-they-are; or text (as they are written), and with that "
        "trim (without blanks at the ends) and fold (capitals as small letters): text,trim,fold.",
        rich_help_panel=_READING,
    ),
]
MissingIdWords = Annotated[
    str | None,
    typer.Option(
        "--missing-id-words",
        help="Further words that programs write where a user id is missing, with commas between: GAST,TEST. They are "
        "published, so never the id of a person.",
        rich_help_panel=_READING,
    ),
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
Window = Annotated[
    str | None,
    typer.Option(
        "--window",
        help="Only visits that began in 2026-05, 2026-W21, 2026-05-03, or 2026-01/2026-07 (without the last).",
        rich_help_panel=_WINDOW,
    ),
]
Windows = Annotated[
    str | None,
    typer.Option(
        "--windows",
        help="Cut the window into these, and publish every place in each: month, week, day.",
        rich_help_panel=_WINDOW,
    ),
]
After = Annotated[
    Path | None,
    typer.Option(
        "--after",
        metavar="DIR",
        help="The latest release of a series to go on with: values lean on it and those before it, at no cost.",
        rich_help_panel=_WINDOW,
        show_default=False,
    ),
]
WithoutSeries = Annotated[
    bool,
    typer.Option(
        "--without-series",
        help="Finish an attempt with --after that has spent and fails because of the earlier releases.",
        rich_help_panel=_WINDOW,
    ),
]
Weekdays = Annotated[
    str | None,
    typer.Option("--weekdays", help="Of the window: mon-fri, or sat,sun.", rich_help_panel=_WINDOW),
]
Hours = Annotated[
    str | None,
    typer.Option(
        "--hours", help="Of the window: 07-10 (from 7 up to 10), or 07-10,16-19.", rich_help_panel=_WINDOW
    ),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        help="By whose clock: Europe/Berlin; or as-written, for times without a zone. Default: the ledger's.",
        rich_help_panel=_WINDOW,
    ),
]
TimeType = Annotated[
    str | None,
    typer.Option(
        "--time-type",
        help="What times are if their type does not say: local (no zone; what the clock there showed); utc (no zone; "
        "in UTC); s, ms, us, ns (since 1970).",
        rich_help_panel=_WINDOW,
    ),
]
Period = Annotated[
    str | None,
    typer.Option("--period", help="A release in every day, week or month; numbers are about one of them."),
]
Language = Annotated[
    str, typer.Option("--language", help=f"Language of the page: {', '.join(languages())}.", metavar="CODE")
]
OtherLanguage = Annotated[
    str | None,
    typer.Option(
        "--language",
        help=f"Draw the page in this language: {', '.join(languages())}. Without it, as it was.",
        metavar="CODE",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@dataclass(frozen=True)
class Reading:
    """How a table of visits is read, and by what."""

    user: User = None
    location: Location = None
    time: Time = None
    visits: VisitCount = None
    lat: Lat = None
    lon: Lon = None
    table: Table = None
    views: Views = False
    format: Format = None
    header: Header = None
    columns: Columns = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    time_format: TimeFormat = None
    bad_rows: BadRows = "fail"
    missing_ids: MissingIds = "drop"
    missing_id_words: MissingIdWords = None
    ids: Ids = "as-they-are"
    window: Window = None
    weekdays: Weekdays = None
    hours: Hours = None
    time_zone: TimeZone = None
    time_type: TimeType = None
    private_log: PrivateLog = None
    memory: Memory = None
    threads: Threads = None
    spill: Spill = None
    engine: Engine = "duckdb"

    def window_by(self, zone: str | None = None) -> core_windows.Window | None:
        """Return the window that the options describe; `zone` is that of the ledger, if it has one."""
        from locentropy.cli.error_format import restated
        from locentropy.core.windows import Window

        if self.window is None:
            for name in ("weekdays", "hours", "time_zone"):
                if getattr(self, name) is not None:
                    option = name.replace("_", "-")
                    raise ParameterError(f"--{option} is about a window: --window 2026-05 says which one.")
            return None
        chosen = self.time_zone or zone
        if chosen is None:
            raise ParameterError(
                "A window needs a clock: --time-zone Europe/Berlin; and --time-type local or utc for times that are "
                "written without a zone."
            )
        with restated(names={"zone": "time_zone"}):
            return Window(self.window, zone=chosen, weekdays=self.weekdays, hours=self.hours)

    def visits_of(self, source: str, window: core_windows.Window | None = None) -> Visits:
        """Return the visits that the options describe, in the window if one is given, else in their own."""
        from locentropy.visits.columns import AUTO
        from locentropy.visits.private_log import write_private_log
        from locentropy.visits.visits import Visits

        if self.private_log is not None:
            write_private_log(self.private_log)
        note_reading()
        # Not given: look for a usual name. Given as '': there is none.
        chosen: dict[str, Any] = {
            role: AUTO if name is None else (name or None)
            for role, name in ((role, getattr(self, role)) for role in _ROLES)
        }
        # Checked by Visits itself.
        rules: dict[str, Any] = {
            name: getattr(self, name) for name in ("bad_rows", "encoding", "decimal", "time_format")
        }
        columns = None if self.columns is None else tuple(name.strip() for name in self.columns.split(","))
        time_type: Any = self.time_type
        return Visits(
            source,
            **chosen,
            **rules,
            **self.id_rules,
            table=self.table,
            views=self.views,
            format=self.format,
            header=self.header,
            columns=columns,
            delimiter=delimiter_named(self.delimiter),
            time_type=time_type,
            window=window or self.window_by(),
        )

    @property
    def id_rules(self) -> dict[str, Any]:
        """How ids are compared, and which are missing; checked by Visits itself."""
        words = () if self.missing_id_words is None else self.missing_id_words.split(",")
        return {"ids": self.ids, "missing_ids": self.missing_ids, "missing_id_words": words}

    @property
    def of_lists(self) -> dict[str, str | None]:
        """What holds for a list of places too."""
        return {"delimiter": self.delimiter, "encoding": self.encoding, "decimal": self.decimal}

    @property
    def resources(self) -> Resources:
        """The resources that the options describe."""
        return resources_from(self.memory, self.threads, self.spill, self.engine)

    @property
    def words(self) -> list[str]:
        """The options again, for another command that reads the same visits."""
        said = []
        for name in (
            *_ROLES,
            "table",
            "views",
            "format",
            "header",
            "columns",
            "delimiter",
            "encoding",
            "decimal",
            "time_format",
            "bad_rows",
            "missing_ids",
            "missing_id_words",
            "ids",
            "window",
            "weekdays",
            "hours",
            "time_zone",
            "time_type",
            "engine",
        ):
            value, option = getattr(self, name), name.replace("_", "-")
            if value == getattr(Reading, name):
                continue
            if isinstance(value, bool):
                said.append(f"--{option}" if value else f"--no-{option}")
            else:
                said += [f"--{option}", value]
        return said


def delimiter_named(name: str | None) -> str | None:
    """The separator that an option names; a tab is hard to type."""
    return "\t" if name in ("tab", r"\t") else name


def resources_from(
    memory: str | None, threads: int | None, spill: Path | None, engine: str = "duckdb"
) -> Resources:
    """Return the resources that the options describe."""
    from locentropy.visits.engines.base import Resources

    chosen: Any = engine  # checked by Resources itself
    return Resources(memory=memory, threads=threads, spill=spill, engine=chosen)


def shown(location: object) -> str:
    """Return an id or name as a table shows it: without markup, and without control characters."""
    from rich.markup import escape

    return escape(printable(str(location)))
