"""That a release exists does not tell: one person's rows do not decide between a release and an error."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import BadRowsError, ParameterError, SourceError
from locentropy.evaluation.compare import evaluate
from locentropy.mechanisms.survey import ActivitySurvey
from locentropy.privacy.guarantee import exact
from locentropy.private import measure_activity
from locentropy.publishing.chosen_locations import ExcludeWarning
from locentropy.publishing.request import Request
from locentropy.visits.private_log import PRIVATE_LOG
from tests.cli.running import in_process
from tests.publishing.making import LIMIT, Publishing, ledger_in, public, visits_in

EPSILON = 0.01
CLINICS = [f"clinic-{number:02}" for number in range(40)]
SHARES = le.Shares(epsilon=EPSILON)
FIVE = {"max_locations": 5, "max_visits": 5}
MOMENTS = le.Moments(EPSILON, **FIVE)
"""Estimates in no time, where it does not matter which."""
QUICK = ("--mechanism", "moments", "--max-locations", "5", "--max-visits", "5")
"""The same in a command."""
MECHANISMS = [
    SHARES,
    MOMENTS,
    le.paper.Limit(EPSILON, **FIVE),
    le.paper.Baseline(EPSILON, **FIVE),
    le.paper.LimitSS(EPSILON, delta=1e-8, **FIVE),
    le.LimitPTR(EPSILON, delta=1e-8, **FIVE, min_users=5),
]
NOBODY = [(f"u{number}", "elsewhere") for number in range(500)]
ONE_MORE = [*NOBODY, ("ann", "clinic-07")]
EITHER = pytest.mark.parametrize("rows", [NOBODY, ONE_MORE], ids=["nobody there", "one person there"])
EMPTY: list[tuple[str, str]] = []

SURVEY = ActivitySurvey(0.01, 3, 4)


def table(rows: list[tuple[str, str]]) -> le.Visits:
    users, places = ([row[at] for row in rows] for at in (0, 1))
    return le.Visits(
        pa.table({"user": pa.array(users, pa.string()), "location": pa.array(places, pa.string())})
    )


def clinics() -> le.PublicLocations:
    return le.PublicLocations(CLINICS, provenance="the register")


@pytest.fixture
def told() -> Iterator[list[str]]:
    """What the private log is told."""
    found: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    handler = Listening()
    PRIVATE_LOG.addHandler(handler)
    yield found
    PRIVATE_LOG.removeHandler(handler)


class TestPublish:
    @EITHER
    def test_one_person_more_or_less_publishes(
        self,
        rows: list[tuple[str, str]],
        tmp_path: Path,
        told: list[str],
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        ledger = ledger_in(tmp_path)
        release = le.publish(table(rows), SHARES, clinics(), out=tmp_path / "may", ledger=ledger)
        assert release.to_arrow()["location"].to_pylist() == CLINICS
        assert le.verify(tmp_path / "may", ledger).ok
        assert [spend.epsilon for spend in ledger.history()] == [exact("0.01")]
        assert ["No visit is at any of the places" in line for line in told] == [True] * (rows is NOBODY)
        assert capfd.readouterr() == ("", ""), "only the private log is told"

    @pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
    @pytest.mark.parametrize("rows", [EMPTY, NOBODY], ids=["no rows", "nobody there"])
    def test_every_mechanism(self, mechanism: Any, rows: list[tuple[str, str]]) -> None:
        release = le.publish(table(rows), mechanism, clinics(), ledger=None)
        assert len(release) == len(CLINICS)

    @pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
    @pytest.mark.parametrize("rows", [EMPTY, NOBODY[:1]], ids=["no rows", "one person"])
    def test_where_places_are_selected(self, mechanism: Any, rows: list[tuple[str, str]]) -> None:
        chosen = None if mechanism.selects_locations else le.SelectLocations(0.1, delta=1e-9, max_locations=5)
        assert len(le.publish(table(rows), mechanism, chosen, ledger=None)) == 0

    @pytest.mark.parametrize("lat", [0.0, 40.75], ids=["nobody there", "one person there"])
    def test_on_a_grid(self, lat: float, told: list[str]) -> None:
        grid = le.Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=2500)
        visits = le.Visits(pa.table({"user": ["ann"], "lat": [lat], "lon": [-74.0]}))
        assert len(le.publish(visits, MOMENTS, grid, ledger=None)) == grid.rows * grid.columns
        assert ["No visit is in the cells" in line for line in told] == [True] * (lat == 0.0)

    @pytest.mark.parametrize("last", ["", "ann,clinic-07,2026-01-31T08:00:00\n"])
    def test_the_only_row_that_breaks_no_rule(self, last: str, tmp_path: Path, told: list[str]) -> None:
        path = visits_in(tmp_path, f"uid,venue,time\nu1,bar,soon\nu2,bar,later\n{last}").source
        release = le.publish(le.Visits(path, time="time", bad_rows="drop"), MOMENTS, clinics(), ledger=None)
        assert len(release) == len(CLINICS)
        assert any("no row is left" in line for line in told) == (not last)

    @pytest.mark.parametrize("last", ["", "ann,clinic-07\n"])
    def test_the_only_row(self, last: str, tmp_path: Path, told: list[str]) -> None:
        visits = visits_in(tmp_path, f"uid,venue\n{last}")
        assert len(le.publish(visits, MOMENTS, clinics(), ledger=None)) == len(CLINICS)
        assert any("no rows" in line for line in told) == (not last)

    @pytest.mark.parametrize("last", ["", "ann,clinic-07\n"])
    def test_the_only_row_with_a_user_id(self, last: str, tmp_path: Path) -> None:
        visits = visits_in(tmp_path, f"uid,venue\n,bar\n,bar\n{last}")
        assert (
            len(le.publish(le.Visits(visits.source, bad_rows="drop"), MOMENTS, clinics(), ledger=None)) == 40
        )


class TestRefuseEmpty:
    """Asked for, it is refused; then that a release exists tells, and its files say so."""

    def test_refused_at_no_cost(self, tmp_path: Path) -> None:
        ledger = ledger_in(tmp_path)
        for rows in (NOBODY, EMPTY):
            with pytest.raises(SourceError, match=r"No visit is at|no rows"):
                le.publish(
                    table(rows), MOMENTS, clinics(), out=tmp_path / "may", ledger=ledger, refuse_empty=True
                )
        assert not ledger.history()
        assert not (tmp_path / "may").exists()

    @pytest.mark.parametrize("refuse_empty", [False, True])
    def test_every_file_says_so(self, refuse_empty: bool, tmp_path: Path) -> None:
        release = le.publish(
            table(ONE_MORE),
            MOMENTS,
            clinics(),
            out=tmp_path / "may",
            ledger=None,
            refuse_empty=refuse_empty,
        )
        assert release.statement.refuse_empty == refuse_empty
        assert le.Release.load(tmp_path / "may").statement == release.statement
        assert le.verify(tmp_path / "may").ok
        files = {path.name: path.read_text() for path in (tmp_path / "may").glob("*.*ml")}
        assert set(files) == {"manifest.yaml", "details.yaml", "report.html"}
        for text in files.values():
            assert ("(refuse_empty)" in " ".join(text.split())) == refuse_empty
        said = yaml.safe_load(files["manifest.yaml"])["deployment"]["dp_variant"]["unprotected_quantities"]
        assert "with a row that breaks a rule, is refused" in said, "the rows of one person can be the reason"
        assert yaml.safe_load(files["details.yaml"])["refuse_empty"] == refuse_empty

    def test_dropped_rows_refuse_less(self, tmp_path: Path) -> None:
        visits = le.Visits(visits_in(tmp_path).source, bad_rows="drop")
        le.publish(visits, MOMENTS, public(), out=tmp_path / "may", ledger=None)
        said = " ".join((tmp_path / "may" / "manifest.yaml").read_text().split())
        assert "with a row that breaks a rule" not in said
        assert "Rows that break a rule were left out, but a table that cannot be read" in said

    def test_it_belongs_to_the_request_where_it_is_said(self) -> None:
        plain, asking = (
            Request(LIMIT, public(), refuse_empty=asked).identity(None) for asked in (False, True)
        )
        assert "refuse_empty" not in plain, "attempts of earlier versions stay the same requests"
        assert asking == plain | {"refuse_empty": "True"}

    def test_a_retry_must_ask_the_same(self, again: Publishing, cut: Callable[..., None]) -> None:
        cut("locentropy.publishing.publication.Publication.finish", refuse_empty=True)
        with pytest.raises(le.LocentropyError, match="refuse_empty"):
            again()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert again(refuse_empty=True).statement.refuse_empty

    def test_it_is_true_or_false(self) -> None:
        with pytest.raises(ParameterError, match="refuse_empty must be True or False"):
            le.publish(table(NOBODY), MOMENTS, clinics(), ledger=None, refuse_empty="no")  # type: ignore[arg-type]

    def test_releases_of_version_0_1_were_refused(self) -> None:
        old = le.Release.load(Path(__file__).parents[1] / "data" / "previous" / "shares")
        assert old.statement.refuse_empty, "that version did not publish about places without a visit"


class TestSurvey:
    @EITHER
    def test_one_person_more_or_less_is_answered(
        self, rows: list[tuple[str, str]], tmp_path: Path, told: list[str]
    ) -> None:
        ledger = ledger_in(tmp_path)
        found = measure_activity(table(rows), clinics(), SURVEY, ledger=ledger)
        assert found.n_locations == 40
        assert not found.to_dict()["refuse_empty"]
        assert len(ledger.history()) == 1
        assert ["No visit is at any of the places" in line for line in told] == [True] * (rows is NOBODY)

    def test_refused_only_where_that_is_asked_for(self, tmp_path: Path) -> None:
        ledger = ledger_in(tmp_path)
        with pytest.raises(SourceError, match="Nothing was spent"):
            measure_activity(table(NOBODY), clinics(), SURVEY, ledger=ledger, refuse_empty=True)
        assert not ledger.history()
        found = measure_activity(table(ONE_MORE), clinics(), SURVEY, ledger=ledger, refuse_empty=True)
        assert found.to_dict()["refuse_empty"]


class TestCommandLine:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "places.csv").write_text("\n".join(["place", *CLINICS, ""]))
        return tmp_path

    def write(self, folder: Path, rows: list[tuple[str, str]]) -> None:
        lines = [f"{user},{place}" for user, place in rows]
        (folder / "visits.csv").write_text("\n".join(["uid,venue", *lines, ""]))

    def run(self, folder: Path, *options: str) -> Any:
        call = (
            "publish visits.csv --epsilon 0.01 --places places.csv --provenance x --no-ledger --out".split()
        )
        return in_process(*call, "may", *options, cwd=folder)

    def test_the_same_command_does_the_same(self, folder: Path) -> None:
        screens = []
        for rows in (NOBODY, ONE_MORE):
            self.write(folder, rows)
            done = self.run(folder, "--places-lat", "", "--places-lon", "")
            assert done.returncode == 0, done.stderr
            assert "no visit is at" not in done.stderr.lower().replace("if no visit is at", "")
            (folder / "may").rename(folder / f"may-{len(screens)}")
            # Whether noisy numbers are more than noise is said from these numbers, and differs from draw to draw.
            said = [line for line in done.stderr.splitlines() if "no signal" not in line]
            screens.append(said)
        assert screens[0] == screens[1]
        assert "locentropy check" in " ".join(screens[0]), "where to look, whatever the data is"

    def test_the_private_log_tells(self, folder: Path) -> None:
        self.write(folder, NOBODY)
        done = self.run(folder, *QUICK, "--private-log", "log")
        assert done.returncode == 0
        assert "No visit is at any of the places" in (folder / "log").read_text()
        assert "visit is at" not in done.stdout + done.stderr

    def test_refuse_empty(self, folder: Path) -> None:
        self.write(folder, NOBODY)
        refused = self.run(folder, *QUICK, "--refuse-empty")
        assert refused.returncode == 3
        assert "Nothing was spent" in refused.stderr
        self.write(folder, ONE_MORE)
        assert self.run(folder, *QUICK, "--refuse-empty").returncode == 0
        assert "(refuse_empty)" in (folder / "may" / "manifest.yaml").read_text()

    def test_a_survey(self, folder: Path) -> None:
        ledger_in(folder)
        call = "advise visits.csv --places places.csv --epsilon 1 --spend 0.01 --ledger city.ledger".split()
        for rows, options, code in (
            (NOBODY, [], 0),
            (ONE_MORE, [], 0),
            (NOBODY, ["--refuse-empty"], 3),
            (ONE_MORE, ["--refuse-empty"], 0),
        ):
            self.write(folder, rows)
            done = in_process(*call, *options, cwd=folder)
            assert done.returncode == code, done.stderr
        alone = in_process("advise", "--epsilon", "1", "--refuse-empty", cwd=folder)
        assert alone.returncode == 2
        assert "--refuse-empty is about INPUT" in alone.stderr

    def test_exclusions_are_told(self, folder: Path) -> None:
        self.write(folder, ONE_MORE)
        (folder / "less.csv").write_text("place\nclinic-07\nclinik-08\n")
        done = self.run(folder, *QUICK, "--exclude", "less.csv")
        assert done.returncode == 0
        assert "clinik-08" in done.stderr
        assert "clinic-07" not in done.stderr
        (folder / "elsewhere.csv").write_text("place\nelswhere\n")
        call = "publish visits.csv --epsilon 0.01 --select-epsilon 0.1 --select-delta 1e-9".split()
        call += "--select-max-locations 5 --no-ledger --out june --exclude elsewhere.csv".split()
        done = in_process(*call, *QUICK, "--private-log", "log", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "cannot be said here: it is private" in done.stderr
        assert "elswhere'" not in done.stderr
        assert "elswhere'" in (folder / "log").read_text()


class TestExclusions:
    """An id to exclude that is misspelt excludes nothing. Where public information tells, everybody is told."""

    def test_not_on_the_list(self) -> None:
        with pytest.warns(ExcludeWarning, match=r"changes nothing: clinik-07\. Are they spelt") as caught:
            release = le.publish(
                table(ONE_MORE),
                MOMENTS,
                clinics(),
                exclude=le.PublicLocations(["clinik-07", "clinic-08"]),
                ledger=None,
            )
        assert len(release) == 39
        assert caught[0].filename == __file__

    def test_not_on_the_grid(self) -> None:
        grid = le.Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=2500)
        visits = le.Visits(pa.table({"user": ["ann"], "lat": [40.75], "lon": [-74.0]}))
        with pytest.warns(ExcludeWarning, match="changes nothing: 999999"):
            le.publish(visits, MOMENTS, grid, exclude=le.PublicLocations([0, 999999]), ledger=None)

    def test_many_are_not_all_named(self) -> None:
        unknown = [f"x{number}" for number in range(25)]
        with pytest.warns(ExcludeWarning, match=r"x9 and 15 more\."):
            le.publish(
                table(ONE_MORE),
                MOMENTS,
                clinics(),
                exclude=le.PublicLocations([*unknown, CLINICS[0]]),
                ledger=None,
            )

    def test_all_on_the_list(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ExcludeWarning)
            le.publish(
                table(ONE_MORE), MOMENTS, clinics(), exclude=le.PublicLocations(CLINICS[:2]), ledger=None
            )

    @pytest.mark.parametrize("mechanism", [MOMENTS, MECHANISMS[-1]], ids=["a selection", "selects by itself"])
    def test_where_places_are_selected_the_private_log_tells(self, mechanism: Any, told: list[str]) -> None:
        chosen = None if mechanism.selects_locations else le.SelectLocations(0.1, delta=1e-9, max_locations=5)
        said = []
        for visited in ("clinic-07", "clinik-07"):
            with pytest.warns(ExcludeWarning) as caught:
                le.publish(
                    table([*NOBODY, ("ann", visited)]),
                    mechanism,
                    chosen,
                    exclude=le.PublicLocations(["elsewhere", "clinic-07"]),
                    ledger=None,
                )
            said.append([str(each.message) for each in caught])
            assert any("'clinic-07'" in line for line in told) == (visited != "clinic-07")
            assert not any("'elsewhere'" in line for line in told)
        assert said[0] == said[1], "what everybody may see is the same, whatever was visited"
        assert "clinic" not in said[0][0]

    def test_evaluations_too(self) -> None:
        with pytest.warns(ExcludeWarning, match="clinik-07"):
            evaluate(
                table(ONE_MORE),
                [MOMENTS],
                clinics(),
                seeds=1,
                exclude=le.PublicLocations(["clinik-07", "clinic-08"]),
            )


@pytest.mark.parametrize("repeats", [2, 3])
def test_visits_in_the_place_of_a_list(repeats: int, tmp_path: Path) -> None:
    """How often places repeat in them is private."""
    path = tmp_path / "visits.csv"
    path.write_text("uid,venue\n" + "u1,bar\n" * repeats + "u2,cafe\n")
    with pytest.raises(BadRowsError, match="Is this the table of visits") as caught:
        le.PublicLocations(path).load()
    assert str(repeats - 1) not in str(caught.value).removeprefix(str(path))


DATE = "2026-01-31T08:00:00"
USUAL = [("u1", "clinic-01", DATE), ("u2", "clinic-02", DATE)]
ROWS = {
    "no location": ("ann", "", DATE),
    "no time": ("ann", "clinic-07", "soon"),
    "a number as a time": ("ann", "clinic-07", "17"),
    "a decimal id": ("7.0", "clinic-07", DATE),
    "a padded id": (" ann", "clinic-07", DATE),
    "a broken id": ("a\nnn", "clinic-07", DATE),
    "a broken place": ("ann", "clinic\n-07", DATE),
    "a long id": ("a" * 3_000_000, "clinic-07", DATE),
}
LINES = {
    "few fields": b"ann,clinic-07\n",
    "many fields": b"ann,clinic-07,2026-01-31,1\n",
    "an open quotation mark": b'"ann,clinic-07,2026-01-31\n',
    "swallowed rows": b'"ann,clinic-07,2026-01-31\nu9,"clinic-07",2026-01-31\n',
    "not UTF-8": b"a\xffnn,clinic-07,2026-01-31\n",
    "a long line": b"a" * 3_000_000 + b",clinic-07,2026-01-31\nu9,clinic-07,2026-01-31\n",
    "another end of line": b"ann,clinic-07,2026-01-31\r\n",
}
HARDLY = {"bad_rows": "drop", "ids": "text"}
"""The settings of docs/visits.md under which hardly any row decides."""


class TestWhatRowsCanDecide:
    """The table of docs/visits.md: which rows are refused, and under which settings they are not."""

    def refused(self, source: Any, **settings: Any) -> bool:
        try:
            le.publish(le.Visits(source, **settings), LIMIT, clinics(), ledger=None)
        except le.LocentropyError:
            return True
        return False

    def parquet(self, folder: Path, *rows: tuple[str, str, Any], times: pa.DataType) -> Path:
        columns = zip(*rows, strict=True)
        types = (pa.string(), pa.string(), pa.string())
        made = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        if times != pa.string():
            made[2] = pa.array([None if "-" not in row[2] else row[2] for row in rows]).cast(times)
        pq.write_table(
            pa.table(dict(zip(("user", "location", "time"), made, strict=True))), folder / "v.parquet"
        )
        return folder / "v.parquet"

    @pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
    def test_hardly_any_with_these_settings(self, row: tuple[str, str, str], tmp_path: Path) -> None:
        assert not self.refused(self.parquet(tmp_path, *USUAL, row, times=pa.timestamp("us")), **HARDLY)

    @pytest.mark.parametrize("name", [name for name in ROWS if name != "a long id"])
    def test_one_row_without_them(self, name: str, tmp_path: Path) -> None:
        times = pa.string() if "time" in name else pa.timestamp("us")
        path = self.parquet(tmp_path, *USUAL, ROWS[name], times=times)
        assert self.refused(path)
        assert not self.refused(path, **HARDLY)
        assert not self.refused(path, **HARDLY, time=None)

    @pytest.mark.parametrize("name", LINES)
    def test_lines_of_text_files(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / "visits.csv"
        path.write_bytes(
            b"user,location,time\nu1,clinic-01,2026-01-31T08:00\nu2,clinic-02,2026-01-31T08:00\n"
        )
        assert not self.refused(path)
        path.write_bytes(path.read_bytes() + LINES[name] + b"u3,clinic-03,2026-01-31T08:00\n")
        assert self.refused(path)
        assert not self.refused(path, **HARDLY, time=None)

    @pytest.mark.parametrize(
        ("usual", "odd", "said"),
        [
            ("31.01.2026 08:00;52,5", "2026-01-31T08:00;52,5", {"time_format": "%d.%m.%Y %H:%M"}),
            ("2026-01-31T08:00;52,5", "31.01.2026 08:00;52,5", {"time_format": "%Y-%m-%dT%H:%M"}),
            ("31.01.2026 08:00;52,5", "31.01.2026 08:00;52.5", {"decimal": ","}),
            ("31.01.2026 08:00;52.5", "31.01.2026 08:00;52,5", {"decimal": "."}),
            ("31.01.2026 08:00;52.5", "31/01/2026 08:00;52.5", {"time_format": "%d.%m.%Y %H:%M"}),
        ],
    )
    def test_ways_of_writing(self, usual: str, odd: str, said: dict[str, str], tmp_path: Path) -> None:
        """One person who writes otherwise is asked about, or a bad row; and never changes how others are read."""
        path = tmp_path / "visits.csv"
        coordinates = {"lat": "lat", "lon": "lon"}
        lines = [f"u{number};clinic-0{number};{usual};13" for number in range(1, 4)]
        path.write_text("\n".join(["user;location;time;lat;lon", *lines, ""]))
        assert not self.refused(path, **coordinates)
        assert not self.refused(path, **coordinates, **said)
        path.write_text(path.read_text() + f"ann;clinic-07;{odd};13\n")
        assert self.refused(path, **coordinates)
        assert self.refused(path, **coordinates, **said)
        assert not self.refused(path, **coordinates, **HARDLY)
        assert not self.refused(path, **coordinates, **HARDLY, **said)

    def test_the_only_id_that_is_not_a_number(self, tmp_path: Path) -> None:
        (tmp_path / "one.csv").write_text("user,location\n1,clinic-01\n")
        (tmp_path / "other.csv").write_text("user,location\n2,clinic-01\n")
        assert not self.refused(tmp_path)
        (tmp_path / "other.csv").write_text("user,location\n2,clinic-01\nann,clinic-07\n")
        assert self.refused(tmp_path)
        assert not self.refused(tmp_path, ids="text")

    def test_a_first_line_that_looks_like_a_header(self, tmp_path: Path) -> None:
        path = tmp_path / "visits.csv"
        path.write_text("ann,site\nu1,clinic-01\n")
        assert self.refused(path, columns=("user", "location"))
        assert not self.refused(path, columns=("user", "location"), header=False)

    def test_types_of_pandas(self) -> None:
        usual = {"user": [1, 2], "location": ["clinic-01", "clinic-02"]}
        assert not self.refused(pd.DataFrame(usual))
        for mixed in ({"user": [1, "ann"]}, {"location": ["clinic-01", 7]}):  # each value is read by itself
            assert self.refused(pd.DataFrame(usual | mixed))
            assert not self.refused(pd.DataFrame(usual | mixed), **HARDLY)
        floats = pd.DataFrame(
            usual | {"user": [1, None]}
        )  # which pandas makes of all, for one that is missing
        assert self.refused(floats, **HARDLY)
        named = pd.DataFrame(usual | {"user": pd.array([1, None], dtype="Int64")})
        assert not self.refused(named)
