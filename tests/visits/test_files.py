"""Files as people bring them: other encodings, decimal commas, times of their country, workbooks, JSON lines."""

from __future__ import annotations

import gzip
import json
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError, SourceError
from locentropy.places.grid import Grid
from locentropy.visits.queries import exact_profile, open_queries
from locentropy.visits.writing import Writing, check_time_format

HEADER = "Kunde;Ort;Zeit;Breite;Länge"
ROWS = [
    "K-1;Café Müller;31.01.2026 08:00;52,5200;13,4050",
    "K-1;Zoo;01.02.2026 09:30;52,5079;13,3377",
    "K-2;Zoo;01.02.2026 10:00;52,5079;13,3377",
]
BERLIN = Grid(south=52.4, west=13.2, north=52.6, east=13.6, cell=5000)
CON = duckdb.connect()
CON.execute("SET TimeZone = 'UTC'")


def written(folder: Path, *rows: str, name: str = "besuche.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes("".join(f"{row}\r\n" for row in (HEADER, *rows)).encode(encoding))
    return path


def counted(visits: le.Visits, **where: Any) -> dict[Any, int]:
    """Visits by location."""
    with open_queries(visits, first_times=False, **where) as queries:
        profile = queries.exact_profile()
    names = profile.locations.to_pylist()
    found: dict[Any, int] = {}
    for row in profile.to_arrow().to_pylist():
        found[row["location"]] = found.get(row["location"], 0) + row["visits"] * row["users"]
    return {name: found[name] for name in names if name in found}


def first_places(visits: le.Visits) -> dict[Any, int]:
    """Where each user was first: what times are read for."""
    with open_queries(visits) as queries:
        profile = queries.profile(le.private.Bounds(1, 1, keep="first"))
    return {row["location"]: row["users"] for row in profile.to_arrow().to_pylist()}


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "cp850", "mac-roman"])
    @pytest.mark.parametrize("compress", [False, True])
    def test_named_encodings_are_read(self, encoding: str, compress: bool, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, encoding=encoding)
        if compress:
            content = path.read_bytes()
            path = tmp_path / "besuche.csv.gz"
            path.write_bytes(gzip.compress(content))
        assert counted(le.Visits(path, encoding=encoding)) == {"Café Müller": 1, "Zoo": 2}

    @pytest.mark.parametrize(
        ("encoding", "offered"),
        [
            ("cp1252", "cp1252"),
            ("latin-1", "cp1252"),
            ("utf-16", "utf-16"),
            ("utf-16-le", "utf-16-le"),
            ("utf-16-be", "utf-16-be"),
        ],
    )
    def test_others_are_recognised_and_offered(self, encoding: str, offered: str, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, encoding=encoding)
        with pytest.raises(SourceError, match="is not UTF-8 text") as caught:
            counted(le.Visits(path))
        assert f"(--encoding {offered})" in str(caught.value)
        assert "Müller" not in str(caught.value)
        assert counted(le.Visits(path, encoding=offered)) == {"Café Müller": 1, "Zoo": 2}

    def test_bytes_that_cp1252_lacks(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_bytes(b"user,place\n1,\x81\xe4\n")
        with pytest.raises(SourceError, match="--encoding latin-1"):
            counted(le.Visits(path))

    def test_one_broken_line_does_not_make_all_of_it_another_encoding(self, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS * 3)
        path.write_bytes(path.read_bytes() + b"K-3;\xe4;01.02.2026;1;1\r\n")
        with pytest.raises(SourceError, match="UTF-8 text for the most part") as caught:
            counted(le.Visits(path))
        assert "cp1252" not in str(caught.value)

    def test_a_wrong_one(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_bytes(b"user,place\n1,\x81\n")
        with pytest.raises(SourceError, match=r"is not cp1252 text.*--encoding latin-1"):
            counted(le.Visits(path, encoding="cp1252"))

    @pytest.mark.parametrize(
        ("said", "is_in"), [("utf-16", "cp1252"), ("utf-16", "utf-8"), ("cp950", "cp1252")]
    )
    def test_the_right_one_is_offered(self, said: str, is_in: str, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, encoding=is_in)
        with pytest.raises(SourceError, match=rf"is not {said} text.*\(--encoding {is_in}\)"):
            counted(le.Visits(path, encoding=said))

    @pytest.mark.parametrize("name", ["klingon", "base64", "", 7])
    def test_what_is_no_encoding(self, name: Any) -> None:
        with pytest.raises(ParameterError, match="encoding"):
            le.Visits("v.csv", encoding=name)

    def test_the_mark_of_utf8_is_believed(self, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, encoding="utf-8-sig")
        assert (
            counted(le.Visits(path))
            == counted(le.Visits(path, encoding="utf-8-sig"))
            == {"Café Müller": 1, "Zoo": 2}
        )
        with pytest.raises(SourceError, match="begins with the mark of UTF-8"):
            counted(le.Visits(path, encoding="cp1252"))

    def test_only_text_files_have_one(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"user": [1], "place": [1]}), tmp_path / "v.parquet")
        with pytest.raises(ParameterError, match=r"encoding.*text files"):
            counted(le.Visits(tmp_path / "v.parquet", encoding="cp1252"))

    def test_the_copy_is_private_and_goes_away(self, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, encoding="cp1252")
        spill = tmp_path / "spill"
        spill.mkdir()
        modes: list[int] = []

        def look(_: object) -> None:
            [copy] = spill.rglob("utf8-*")
            modes.extend(each.stat().st_mode & 0o777 for each in (copy, copy.parent))

        with open_queries(
            le.Visits(path, encoding="cp1252"), resources=le.Resources(spill=spill), when_open=look
        ):
            pass
        assert modes == [0o600, 0o700]
        assert not list(spill.iterdir())


class TestDecimals:
    def test_a_comma_where_semicolons_separate(self, tmp_path: Path) -> None:
        found = counted(le.Visits(written(tmp_path, *ROWS)), locations=BERLIN)
        path = written(tmp_path, *(row.replace(",", ".") for row in ROWS), name="points.csv")
        assert counted(le.Visits(path), locations=BERLIN) == found
        assert sum(found.values()) == 3

    def test_rows_that_disagree_are_asked_about(self, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, "K-3;Zoo;01.02.2026;52.5079;13,3377")
        with pytest.raises(ColumnError, match=r"--decimal ,") as caught:
            counted(le.Visits(path), locations=BERLIN)
        told = str(caught.value).replace(str(tmp_path), "")
        assert not any(value in told for value in ("52", "13", "K-3"))
        for decimal, kept in ((",", 3), (".", 0)):
            with pytest.raises(BadRowsError, match="'Breite'"):
                counted(le.Visits(path, decimal=decimal), locations=BERLIN)
            visits = le.Visits(path, decimal=decimal, bad_rows="drop")
            with open_queries(visits, locations=BERLIN, refuse_empty=False) as queries:
                assert int(queries.exact_profile().to_arrow()["users"].to_numpy().sum()) == (kept and 3)

    def test_no_row_decides_for_others_where_bad_rows_are_dropped(self, tmp_path: Path) -> None:
        path = written(tmp_path, *ROWS, "K-3;Zoo;01.02.2026;52.5079;13.3377")
        assert sum(counted(le.Visits(path, bad_rows="drop"), locations=BERLIN).values()) == 4

    def test_a_comma_where_tabs_separate(self, tmp_path: Path) -> None:
        """As in what Excel calls "Unicode text"."""
        path = tmp_path / "besuche.txt"
        rows = [HEADER, *ROWS]
        path.write_text("".join(row.replace(";", "\t") + "\n" for row in rows), "utf-16")
        assert sum(counted(le.Visits(path, encoding="utf-16"), locations=BERLIN).values()) == 3
        path.write_text("\n".join(["Ort\tBreite\tLänge", "Zoo\t52,5079\t13,3377"]), "utf-16")
        assert le.PublicLocations(path, encoding="utf-16").load().lat.tolist() == [52.5079]

    def test_elsewhere_only_if_it_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_text("user|lat|lon\n1|52,5|13,4\n")
        with pytest.raises(BadRowsError, match="'lat'"):
            counted(le.Visits(path), locations=BERLIN)
        assert sum(counted(le.Visits(path, decimal=","), locations=BERLIN).values()) == 1

    def test_texts_in_parquet(self) -> None:
        table = pa.table({"user": ["a"], "lat": ["52,5"], "lon": ["13,4"]})
        assert sum(counted(le.Visits(table, decimal=","), locations=BERLIN).values()) == 1

    def test_visits_too(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_text("user;place;visits\n1;a;3,0\n2;a;1.234\n")
        with pytest.raises(BadRowsError, match="'visits'"):
            counted(le.Visits(path))
        path.write_text("user;place;visits\n1;a;3,0\n")
        assert counted(le.Visits(path)) == {"a": 3}

    @pytest.mark.parametrize("mark", ["'", "", ";", 1])
    def test_what_is_no_mark(self, mark: Any) -> None:
        for make in (le.Visits, le.PublicLocations):
            with pytest.raises(ParameterError, match="decimal"):
                make("v.csv", decimal=mark)

    @given(
        st.one_of(
            st.floats(allow_nan=False).map(repr),
            st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
            st.text("0123456789.,-+eE_ ", max_size=12),
        ),
        st.booleans(),
    )
    @example("1.234,5", True)
    @example("1,234.5", True)
    @example(",", True)
    def test_numbers_as_python_reads_them(self, number: str, comma: bool) -> None:
        text = number.replace(".", ",") if comma else number

        def python(text: str) -> float | None:
            try:
                return float(text)
            except ValueError:
                return None

        def engine(decimal: Any) -> float | None:
            sql = Writing(decimal).number_sql("text")
            [found] = CON.execute(f"SELECT {sql} FROM (SELECT ? AS text)", [text]).fetchone() or [None]
            return found

        with_point = python(text)
        with_comma = None if "." in text else python(text.replace(",", "."))
        assert engine(".") == with_point
        assert engine(",") == with_comma
        assert engine(None) == (with_point if with_point is not None else with_comma)


def microseconds(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    difference = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (difference.days * 86_400 + difference.seconds) * 1_000_000 + difference.microseconds


FORMATS = [
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %I:%M %p",
    "%Y%m%d%H%M%S",
    "%d.%m.%y",
    "%d %b %Y, %H:%M:%S.%f",
    "%A, %d %B %Y",
    "%a %d-%b-%y at %H h",
    "%Y-%m-%dT%H:%M:%S%z",
    "100%% on %d.%m.%Y",
    "(%Y) [%m] {%d} it's a \\ day?",
]


class TestTimes:
    def test_day_first(self, tmp_path: Path) -> None:
        rows = [
            "u;late;02.03.2026 08:00;;",
            "u;early;31.01.2026 08:00;;",
            "w;early;1.1.2026, 8:05:59;;",
            "w;late;02.01.2026 00:00;;",
        ]
        assert first_places(le.Visits(written(tmp_path, *rows))) == {"early": 2}

    @pytest.mark.parametrize(
        "time",
        [
            "03/04/2026 08:00",
            "31/01/2026",
            "01.31.2026",
            "31.01.26",
            "31.02.2026",
            "32.01.2026 08:00",
            "31.01.2026 24:00",
        ],
    )
    def test_what_is_not_taken_without_a_word(self, time: str, tmp_path: Path) -> None:
        path = written(tmp_path, f"u;a;{time};;")
        with pytest.raises(BadRowsError, match="--time-format '%d/%m/%Y %H:%M'") as caught:
            first_places(le.Visits(path))
        assert time not in str(caught.value).replace("31/01/2026 08:00", "")

    def test_one_row_does_not_settle_how_others_are_read(self, tmp_path: Path) -> None:
        """A day above 12 in somebody's row would tell which is the day in everybody's."""
        path = written(tmp_path, "u;a;03/04/2026;;", "w;a;31/04/2026;;")
        with pytest.raises(BadRowsError):
            first_places(le.Visits(path))

    def test_a_format_that_is_said(self, tmp_path: Path) -> None:
        rows = ["u;april;01/04/2026 08:00;;", "u;march;02/03/2026 08:00;;"]
        path = written(tmp_path, *rows)
        assert first_places(le.Visits(path, time_format="%d/%m/%Y %H:%M")) == {"march": 1}
        assert first_places(le.Visits(path, time_format="%m/%d/%Y %H:%M")) == {"april": 1}
        table = pa.table(
            {"user": ["u", "u"], "place": ["april", "march"], "time": [row.split(";")[2] for row in rows]}
        )
        assert first_places(le.Visits(table, time_format="%d/%m/%Y %H:%M")) == {"march": 1}

    def test_rows_that_do_not_fit_it_are_bad_rows(self, tmp_path: Path) -> None:
        path = written(tmp_path, "u;a;01/04/2026 08h;;", "u;b;2026-01-01;;", "u;c;1;;")
        with pytest.raises(BadRowsError, match="'Zeit'"):
            first_places(le.Visits(path, time_format="%d/%m/%Y %Hh"))
        assert first_places(le.Visits(path, time_format="%d/%m/%Y %Hh", bad_rows="drop")) == {"a": 1}

    def test_rows_that_disagree_are_asked_about(self, tmp_path: Path) -> None:
        path = written(tmp_path, "u;late;31.01.2026 08:00;;", "u;early;2026-01-30T08:00;;")
        with pytest.raises(ColumnError, match=r"--time-format '%d\.%m\.%Y %H:%M'") as caught:
            first_places(le.Visits(path))
        assert "30" not in str(caught.value).replace(str(tmp_path), "")
        assert first_places(le.Visits(path, bad_rows="drop")) == {"early": 1}, "each row is read by itself"

    def test_numbers_and_dates_still_do_not_mix(self, tmp_path: Path) -> None:
        path = written(tmp_path, "u;late;31.01.2026 08:00;;", "u;early;17;;")
        with pytest.raises(ColumnError, match=r"whole numbers in some rows.*--time-type s"):
            first_places(le.Visits(path))
        assert first_places(le.Visits(path, bad_rows="drop")) == {"early": 1}, "each row is read by itself"
        assert first_places(le.Visits(path, bad_rows="drop", time_type="utc")) == {"late": 1}
        assert first_places(le.Visits(path, bad_rows="drop", time_type="s")) == {"early": 1}

    @pytest.mark.parametrize(
        "wrong",
        [
            "",
            "%H:%M",
            "%d.%m.",
            "%d.%m.%Y %d",
            "%d.%m.%Y %Q",
            "%d.%m.%Y %",
            "%d.%m.%Y %I",
            "%d.%m.%Y %H %p",
            "%d %m %b %Y",
            "%Y-%j",
            7,
        ],
    )
    def test_formats_that_tell_no_day(self, wrong: Any) -> None:
        with pytest.raises(ParameterError, match="time_format"):
            le.Visits("v.csv", time_format=wrong)

    @pytest.mark.parametrize("time_format", FORMATS)
    @settings(max_examples=50)
    @given(moment=st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31), timezones=st.just(UTC)))
    def test_what_python_writes_is_read_as_python_reads_it(self, time_format: str, moment: datetime) -> None:
        text = moment.strftime(time_format)
        assert read_time(text, time_format) == microseconds(datetime.strptime(text, time_format))

    @pytest.mark.parametrize("time_format", FORMATS)
    @settings(max_examples=50)
    @given(data=st.data())
    def test_nothing_is_read_otherwise_than_python_reads_it(self, time_format: str, data: Any) -> None:
        text = datetime(2026, 1, 31, 8, 5).strftime(time_format)
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(text)))
            text = (
                text[:at]
                + data.draw(st.text("0123456789./: -+ampJF", max_size=2))
                + text[at + data.draw(st.integers(0, 2)) :]
            )
        found = read_time(text, time_format)
        if found is not None:
            assert found == microseconds(datetime.strptime(text, time_format))

    @given(
        st.datetimes(datetime(1000, 1, 1), datetime(9999, 1, 1)),
        st.sampled_from(["%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"]),
    )
    def test_day_first_as_python_reads_it(self, moment: datetime, time_format: str) -> None:
        text = moment.strftime(time_format)
        assert read_time(text, None) == microseconds(datetime.strptime(text, time_format))


def read_time(text: str, time_format: str | None) -> int | None:
    check_time_format(time_format)
    sql = Writing(time_format=time_format).time_sql("text")
    [found] = CON.execute(f"SELECT {sql} FROM (SELECT ? AS text)", [text]).fetchone() or [None]
    return found


class TestTheLineThatTellsExcelTheSeparator:
    @pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
    @pytest.mark.parametrize("compress", [False, True])
    def test_it_is_no_row(self, mark: str, compress: bool, tmp_path: Path) -> None:
        path = tmp_path / ("v.csv.gz" if compress else "v.csv")
        text = f"sep={mark}\r\nuser;place\r\n1;a\r\n2;a\r\n".replace(";", mark).encode()
        path.write_bytes(gzip.compress(text) if compress else text)
        assert counted(le.Visits(path)) == {"a": 2}

    def test_with_an_encoding(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_text("SEP=;\r\nuser;place\r\n1;Café\r\n2;Café\r\n", "cp1252")
        assert counted(le.Visits(path, encoding="cp1252")) == {"Café": 2}

    @pytest.mark.parametrize("header", [None, False])
    def test_without_a_header_it_is_a_row(self, header: bool | None, tmp_path: Path) -> None:
        """It may be somebody's, and must not part everybody's rows."""
        path = tmp_path / "v.csv"
        path.write_text("sep=;\nx;y\n1,a\n2,a\n")
        visits = le.Visits(path, columns=["user", "location"], header=header)
        with pytest.raises(ParameterError, match="the first line has 1 fields"):
            counted(visits)
        assert counted(replace(visits, bad_rows="drop")) == {"a": 2}

    def test_of_a_list(self, tmp_path: Path) -> None:
        path = tmp_path / "orte.csv"
        path.write_text("\ufeffsep=;\nOrt;Breite;Länge\nZoo;52,5;13,4\n", "utf-8")
        assert le.PublicLocations(path).load().lat.tolist() == [52.5]

    def test_a_column_of_that_name(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_text("sep=x;user;place\n0;1;a\n")
        assert counted(le.Visits(path)) == {"a": 1}


class TestNames:
    @pytest.mark.parametrize(
        "header",
        [
            "Kunde;Ort;Zeit;Breite;Länge", "Nutzer-ID;Standort;Zeitpunkt;Breitengrad;Längengrad",
            "Kundennummer;Ort;Datum;Breite;Laenge", "utilisateur;lieu;horodatage;latitude;longitude",
            "id_client;Lieu;Date;Latitude;Longitude", "usuario;lugar;fecha;latitud;longitud",
            "ID usuario;Ubicación;Fecha y hora;Latitud;Longitud", "utilizador;local;data;latitude;longitude",
            "usuário;Local;Data;Latitude;Longitude", "utente;luogo;data;latitudine;longitudine",
            "ID_Utente;Luogo;Data e ora;Latitudine;Longitudine",
            "Mitgliedsnummer;Standort-Nr.;Datum und Uhrzeit;geogr. Breite;geogr. Länge",
            "N° client;Endroit;Horodateur;Latitude;Longitude", "Nº cliente;Localización;Marca temporal;Latitud;Longitud",
            "ID do usuário;Localização;Carimbo de data/hora;Latitude;Longitude",
            "Codice cliente;Località;Data;Latitudine;Longitudine",
        ],
    )  # fmt: skip
    def test_usual_columns_in_other_languages(self, header: str, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_text(f"{header}\nu;a;31.01.2026 08:00;52,5;13,4\n")
        columns = header.split(";")
        found: dict[str, str] = {}
        with open_queries(le.Visits(path), when_open=found.update):
            pass
        assert list(found.values()) == columns[:3]
        with open_queries(le.Visits(path), locations=BERLIN, when_open=found.update):
            pass
        assert {found["lat"], found["lon"]} == set(columns[3:])

    def test_a_list_in_portuguese(self, tmp_path: Path) -> None:
        path = tmp_path / "p.csv"
        path.write_text("Local;Latitude;Longitude\na;52,5;13,4\n")
        assert le.PublicLocations(path).load().ids.to_pylist() == ["a"]
        path.write_text("venue;local\na;true\n")
        found = le.PublicLocations(path, publish_columns=["local"]).load()
        assert (found.ids.to_pylist(), list(found.columns)) == (["a"], ["local"])

    def test_words_that_mean_something_else_in_english(self, tmp_path: Path) -> None:
        path = tmp_path / "v.csv"
        path.write_text("user,venue,data,local\nu,a,{},true\n")
        assert counted(le.Visits(path)) == {"a": 1}

    @pytest.mark.parametrize(
        "other", ["Kundennummer", "Karte", "Gerät", "compte", "tarjeta", "cartão", "tessera"]
    )
    def test_the_person_is_asked_for_in_every_language(self, other: str) -> None:
        table = pa.table({"Nutzer": ["u"], "Ort": ["a"], other: ["x"]})
        with pytest.raises(ColumnError, match="which column is the person"):
            counted(le.Visits(table))

    def test_one_column_names_the_option(self, tmp_path: Path) -> None:
        path = tmp_path / "v.tsv"
        path.write_text("user;place\n1;2\n")
        with pytest.raises(ColumnError, match=r"--delimiter ';'"):
            counted(le.Visits(path))
        assert counted(le.Visits(path, delimiter=";")) == {2: 1}


LINES = [
    {"user": "a", "venue": "x", "at": "2026-01-31T08:00:00Z", "n": 1},
    {"user": 7, "venue": "y", "at": "2026-01-31T09:00:00Z", "n": {"m": 1}},
    {"user": "7", "venue": "y", "at": "2026-02-01", "n": None},
]


def lines(folder: Path, *rows: Any, name: str = "v.jsonl") -> Path:
    path = folder / name
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


class TestJsonLines:
    @pytest.mark.parametrize("name", ["v.jsonl", "v.ndjson", "v.json", "v.JSONL", "v.jsonl.gz"])
    def test_read_by_fixed_names(self, name: str, tmp_path: Path) -> None:
        path = lines(tmp_path, *({"location": row["venue"], **row} for row in LINES), name=name)
        assert counted(le.Visits(path)) == {"x": 1, "y": 2}

    def test_names_are_not_looked_for(self, tmp_path: Path) -> None:
        """A key is in somebody's row."""
        with pytest.raises(BadRowsError, match=r"lacks 'user' or 'location'.*--user key"):
            counted(le.Visits(lines(tmp_path, *LINES)))

    def test_times_are_read_where_they_are_named_or_asked_for(self, tmp_path: Path) -> None:
        rows = [{"user": 1, "location": "x", "time": "2026-01-31"}, {"user": 1, "location": "y"}]
        visits = le.Visits(lines(tmp_path, *rows))
        assert counted(visits) == {"x": 1, "y": 1}
        with pytest.raises(BadRowsError, match="'time'"):
            counted(replace(visits, time="time"))
        january = replace(visits, bad_rows="drop").during(le.Window("2026-01", zone="as-written"))
        assert counted(january) == {"x": 1}

    def test_a_line_without_visits_is_one(self, tmp_path: Path) -> None:
        rows = [{"user": 1, "location": "x", "visits": 3}, {"user": 2, "location": "x"}]
        path = lines(tmp_path, *rows, {"user": 3, "location": "x", "visits": None})
        found = le.private.exact_profile(le.Visits(path, bad_rows="drop"))
        assert sorted(found.visits.tolist()) == [1, 3]

    def test_in_a_folder(self, tmp_path: Path) -> None:
        lines(tmp_path, *LINES, name="a.jsonl")
        lines(tmp_path, *LINES, name="b.ndjson.gz")
        assert counted(le.Visits(tmp_path, location="venue", ids="text")) == {"x": 2, "y": 4}

    def test_ids_are_as_they_are_written(self, tmp_path: Path) -> None:
        rows = {"user": 12345678901234567890, "location": "007"}, {"user": 7.0, "location": "007"}
        path = lines(tmp_path, *rows)
        with pytest.raises(ColumnError, match=r"7\.0 or 7e"):
            counted(le.Visits(path))

    def test_odd_keys(self, tmp_path: Path) -> None:
        keys = ['a "quoted" one', "a.b[0]$", "back\\slash", "*", "$.*", "a/b", "~1", "", "#", "ü"]
        path = lines(tmp_path, dict(zip(keys, "0123456789", strict=True)))
        for at in range(len(keys)):
            visits = le.Visits(path, user=keys[at - 2], location=keys[at], time=keys[at - 1])
            assert counted(visits) == {at: 1}

    def test_a_star_is_a_key_like_others(self, tmp_path: Path) -> None:
        """It stood for all values of the line, in their order, and one person was two users."""
        path = lines(tmp_path, {"*": "ann", "location": "x"}, {"location": "x", "*": "ann"})
        assert le.private.exact_profile(le.Visits(path, user="*")).users.tolist() == [1]

    def test_keys_that_some_lines_lack(self, tmp_path: Path) -> None:
        visits = le.Visits(lines(tmp_path, *LINES, {"user": "b", "venue": "z"}), location="venue")
        assert counted(visits) == {"x": 1, "y": 2, "z": 1}
        with pytest.raises(BadRowsError, match="'at'"):
            counted(replace(visits, time="at"))
        assert counted(replace(visits, time="at", bad_rows="drop")) == {"x": 1, "y": 2}

    def test_one_line_more_does_not_decide_where_columns_are_named(self, tmp_path: Path) -> None:
        named = {"user": "user", "location": "venue", "time": "at", "visits": None, "bad_rows": "drop"}
        for odd in ({"visits": 3, "uid": "c"}, [1, 2], "text", {}):
            path = lines(tmp_path, *LINES, odd)
            assert counted(le.Visits(path, **named)) == {"x": 1, "y": 2}

    @pytest.mark.parametrize("odd", ["{", "nonsense", '{"user": 1, "venue": }', "[1]", "7"])
    def test_lines_that_are_no_objects(self, odd: str, tmp_path: Path) -> None:
        path = lines(tmp_path, *LINES)
        path.write_text(path.read_text() + odd + "\n" + json.dumps(LINES[0]) + "\n")
        visits = le.Visits(path, location="venue")
        with pytest.raises(LocentropyError, match="--bad-rows drop") as caught:
            counted(visits)
        assert odd not in str(caught.value).removeprefix(str(path)) or len(odd) == 1
        assert counted(replace(visits, bad_rows="drop")) == {"x": 2, "y": 2}

    @pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe"])
    def test_a_byte_order_mark_is_told(self, mark: bytes, tmp_path: Path) -> None:
        path = lines(tmp_path, *LINES)
        path.write_bytes(mark + path.read_bytes())
        with pytest.raises(SourceError, match="byte order mark"):
            counted(le.Visits(path, location="venue"))
        found = le.Visits(path, location="venue", bad_rows="drop", ids="text")
        assert counted(found) == {"y": 2}, "the line that has it is dropped, and no other"

    def test_cut_gzip(self, tmp_path: Path) -> None:
        path = lines(tmp_path, *LINES * 1000, name="v.jsonl.gz")
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(LocentropyError):
            counted(le.Visits(path))

    def test_no_line_that_can_be_read_is_a_table_without_rows(self, tmp_path: Path) -> None:
        path = lines(tmp_path, 7)
        visits = le.Visits(path, user="user", location="venue", time=None, visits=None, bad_rows="drop")
        with open_queries(visits, refuse_empty=False) as queries:
            assert len(queries.exact_profile().locations) == 0

    def test_options_of_text_files(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="delimiter"):
            counted(le.Visits(lines(tmp_path, *LINES), delimiter=";"))

    def test_a_list_of_places(self, tmp_path: Path) -> None:
        path = lines(
            tmp_path, {"place": "x", "lat": 52.5, "lon": 13.4, "kind": "bar"}, {"place": "y", "floors": 3}
        )
        found = le.PublicLocations(path, publish_columns=["floors"]).load()
        assert found.ids.to_pylist() == ["x", "y"]
        assert found.columns["floors"].to_pylist() == [None, 3]


class TestWorkbooks:
    def write(self, path: Path, rows: list[list[Any]], *, sheets: tuple[str, ...] = ("Besuche",)) -> Path:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        book.remove(book.active)
        for sheet in sheets:
            page = book.create_sheet(sheet)
            for row in rows:
                page.append(row)
        book.save(path)
        return path

    ROWS: ClassVar = [
        ["Kunde", "Ort", "Zeit", "Breite", "Länge", "Notiz"],
        [7, "Café", datetime(2026, 1, 31, 8), 52.52, 13.405, None],
        ["7", "Zoo", datetime(2026, 2, 1, 8), 52.5079, 13.3377, "=1/0"],
        [None, None, None, None, None, None],
        [8, "Zoo", datetime(2026, 2, 1, 8), 52.5079, 13.3377, True],
    ]

    def test_read(self, tmp_path: Path) -> None:
        visits = le.Visits(self.write(tmp_path / "v.xlsx", self.ROWS))
        assert counted(visits) == {"Café": 1, "Zoo": 2}
        assert first_places(visits) == {"Café": 1, "Zoo": 1}, "7 and '7' are one person"
        assert sum(counted(visits, locations=BERLIN).values()) == 3

    def test_several_sheets(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "v.xlsx", self.ROWS, sheets=("Januar", "Februar"))
        with pytest.raises(ParameterError, match=r"Sheets found: 'Januar', 'Februar'.*\(--table 'Januar'"):
            counted(le.Visits(path))
        with pytest.raises(ParameterError, match=r"\(--places-table 'Januar'"):
            le.PublicLocations(path).load()
        assert counted(le.Visits(path, table="Februar")) == {"Café": 1, "Zoo": 2}

    def test_sheets_without_anything_do_not_matter(self, tmp_path: Path) -> None:
        openpyxl = pytest.importorskip("openpyxl")
        path = self.write(tmp_path / "v.xlsx", self.ROWS)
        book = openpyxl.load_workbook(path)
        for name in ("Tabelle2", "Tabelle3"):
            book.create_sheet(name, 0)
        book.save(path)
        assert counted(le.Visits(path)) == {"Café": 1, "Zoo": 2}
        with pytest.raises(SourceError, match="'Tabelle2' is empty"):
            counted(le.Visits(path, table="Tabelle2"))

    def test_ids_that_excel_has_cut(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "v.xlsx", [["user", "place"], [1234567890123456, 1]])
        with pytest.raises(ColumnError, match="decimal numbers"):
            counted(le.Visits(path))

    def test_a_list_of_places(self, tmp_path: Path) -> None:
        path = self.write(
            tmp_path / "v.xlsx", [["Ort", "Name", "Breite", "Länge", "m2"], [1, "Zoo", 52.5, 13.3, 7.5]]
        )
        found = le.PublicLocations(path, publish_columns=["m2"]).load()
        assert found.ids.to_pylist() == [1]
        assert (found.lat.tolist(), found.columns["m2"].to_pylist()) == ([52.5], [7.5])

    def test_without_the_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = self.write(tmp_path / "v.xlsx", self.ROWS)
        monkeypatch.setattr("locentropy.visits.readers.workbooks.find_spec", lambda name: None)
        with pytest.raises(SourceError, match=r"pip install 'locentropy\[excel\]'"):
            counted(le.Visits(path))

    def test_damaged(self, tmp_path: Path) -> None:
        path = tmp_path / "v.xlsx"
        path.write_bytes(b"PK\x03\x04 and nothing more")
        with pytest.raises(SourceError, match="cannot be read as a workbook"):
            counted(le.Visits(path))


@pytest.mark.parametrize("option", [{"decimal": ","}, {"time_format": "%d.%m.%Y"}, {"encoding": "cp1252"}])
def test_warehouses_have_types(option: dict[str, Any]) -> None:
    """On Spark and on any other backend, texts are ids only: each would read them in its own way."""
    table = ibis.memtable(pa.table({"user": ["u"], "place": ["p"]}))
    with pytest.raises(ParameterError, match=f"{next(iter(option))}.*an Ibis table"):
        counted(le.Visits(table, **option))
    pytest.importorskip("pyspark")
    spark = le.Resources(engine="spark")
    with pytest.raises(ParameterError, match=f"{next(iter(option))}.*Spark"):
        exact_profile(le.Visits("visits.parquet", **option), resources=spark)


@pytest.mark.parametrize("encoding", [None, "cp1252", "utf-16"])
@pytest.mark.parametrize("harm", ["cut", "changed"])
def test_damaged_gzip_files(harm: str, encoding: str | None, tmp_path: Path) -> None:
    whole = gzip.compress(
        "".join(f"Käufer {n};Ort {n * 7919}\n" for n in range(500)).encode("cp1252"), mtime=0
    )
    path = tmp_path / "v.csv.gz"
    path.write_bytes(whole[:-30] if harm == "cut" else whole[:40] + b"\xff\0" * 4 + whole[48:])
    with pytest.raises(LocentropyError, match=r"v\.csv\.gz"):
        counted(le.Visits(path, columns=["user", "location"], delimiter=";", encoding=encoding))


class TestLists:
    LIST = "Ort;Bezeichnung;Breite;Länge;Fläche\r\nA1;Café Müller;52,52;13,405;12,5\r\nA2;Zoo;52,5079;13,3377;3\r\n"

    def test_a_german_list(self, tmp_path: Path) -> None:
        path = tmp_path / "orte.csv"
        path.write_bytes(self.LIST.encode("cp1252"))
        with pytest.raises(SourceError, match="--encoding cp1252"):
            le.PublicLocations(path).load()
        found = le.PublicLocations(path, encoding="cp1252", publish_columns=["Fläche"]).load()
        assert found.names.to_pylist() == ["Café Müller", "Zoo"]
        assert found.lat.tolist() == [52.52, 52.5079]
        assert found.columns["Fläche"].to_pylist() == [12.5, 3.0]

    def test_a_broken_byte_in_a_row(self, tmp_path: Path) -> None:
        path = tmp_path / "orte.csv"
        path.write_bytes(b"Ort;Breite\r\nA1;1\r\nCaf\xe9;2\r\n")
        with pytest.raises(SourceError, match="--encoding cp1252"):
            le.PublicLocations(path).load()

    @pytest.mark.parametrize("encoding", [None, "cp1252"])
    def test_fields_that_are_not_parted(self, encoding: str | None, tmp_path: Path) -> None:
        path = tmp_path / "orte.csv"
        path.write_text("Ort;Breite;Länge\nA1;52,5;13,4\n", encoding or "utf-8")
        with pytest.raises(ColumnError, match=r"one column.*\(--places-delimiter ';'\)"):
            le.PublicLocations(path, delimiter=",", encoding=encoding).load()
        path.write_text('"Ort, Stadtteil"\n"A1, Mitte"\n', "utf-8")
        assert le.PublicLocations(path, location="Ort, Stadtteil").load().ids.to_pylist() == ["A1, Mitte"]

    def test_a_decimal_comma_that_is_not_expected(self, tmp_path: Path) -> None:
        path = tmp_path / "orte.csv"
        path.write_text('place,lat,lon\nA1,"52,5","13,4"\n')
        with pytest.raises(BadRowsError, match="--decimal ,"):
            le.PublicLocations(path).load()
        assert le.PublicLocations(path, decimal=",").load().lat.tolist() == [52.5]


def test_what_was_recognised_is_told_before_anything_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, *ROWS, encoding="cp1252")
    with caplog.at_level(logging.INFO, "locentropy.reading"):
        counted(le.Visits(path, encoding="cp1252"), locations=BERLIN)
    assert [record.getMessage() for record in caplog.records] == [
        "Visits: read as cp1252, fields separated by semicolons; columns: user 'Kunde', time 'Zeit', lat 'Breite', lon 'Länge'; "
        "numbers: decimals with a comma or a point; times: ISO 8601, or day first as in 31.01.2026 08:00."
    ]


def test_typed_tables_need_no_telling(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "locentropy.reading"):
        counted(le.Visits(pa.table({"user": [1], "place": [2]})))
    assert not caplog.records
