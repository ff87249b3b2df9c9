"""Who is the person: one column that could be it is taken by its name, and among several the caller chooses."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import ColumnError, ParameterError
from locentropy.publishing.notices import UserColumnWarning
from locentropy.release.manifest import manifest
from locentropy.visits.columns import AUTO, BY_ID, resolve_roles
from locentropy.visits.person_column import USUAL, could_be_person, normalized
from tests.cli.running import in_process as locentropy
from tests.publishing.making import LIMIT, ledger_in
from tests.release.making import release, statement

OTHERS = (
    "member customer visitor account device subscriber client rider phone imsi msisdn card household Member_ID "
    "customer-no card_number phoneHash accountKey DEVICE_ID hashed_email client_uuid member_id_hash"
).split()
NOT_PEOPLE = ["venue", "time", "user_type", "age", "category", "visits", "comment", "devicetype", "usage"]
PLACES = le.PublicLocations(["bar", "cafe"], provenance="the register")


def trips(**more: list[Any]) -> pa.Table:
    """Each trip has a uid of its own; members make many."""
    rows = 60
    trip = {"uid": [f"t{row}" for row in range(rows)], "venue": ["bar", "cafe"] * (rows // 2)}
    return pa.table({**trip, "member": [f"m{row % 3}" for row in range(rows)], **more})


def roles(columns: list[str], **choices: Any) -> dict[str, str]:
    asked = {"user": AUTO, "location": AUTO, "time": AUTO}
    return resolve_roles(asked | choices, columns, "visits.csv", BY_ID)


class TestChoosing:
    @pytest.mark.parametrize("other", OTHERS)
    @pytest.mark.parametrize("usual", ["uid", "pid", "user_id"])
    def test_two_that_could_be_are_refused(self, usual: str, other: str) -> None:
        with pytest.raises(ColumnError, match="which column is the person") as caught:
            roles([usual, "venue", other])
        said = str(caught.value)
        for name in (usual, other):
            assert f"user={name!r} (--user {name!r})" in said
            assert roles([usual, "venue", other], user=name)["user"] == name

    @pytest.mark.parametrize("name", NOT_PEOPLE)
    def test_other_columns_do_not_disturb(self, name: str) -> None:
        assert not could_be_person(name)
        assert roles(["uid", "lieu", name], location="lieu")["user"] == "uid"

    def test_a_column_with_another_role_is_not_in_question(self) -> None:
        assert roles(["uid", "device", "at"], location="device") == {
            "user": "uid",
            "location": "device",
            "time": "at",
        }

    @pytest.mark.parametrize("name", ["member", "device", "card no"])
    def test_one_without_a_usual_name_is_not_taken(self, name: str) -> None:
        with pytest.raises(ColumnError, match="no user column was recognised"):
            roles([name, "venue", "time"])

    def test_a_row_in_the_place_of_a_header_is_not_told(self) -> None:
        """Words of somebody's first visit: at most those that are usual names of columns."""
        with pytest.raises(ColumnError, match="1 more could be") as caught:
            roles(["uid", "visitor", "Anna's bar"])
        assert "visitor" not in str(caught.value)
        assert "Anna" not in str(caught.value)

    def test_a_column_that_the_caller_named_shows_that_there_is_a_header(self) -> None:
        with pytest.raises(ColumnError, match="'uid' and 'member' could be"):
            roles(["uid", "member", "shop"], location="shop")

    @given(
        usual=st.lists(st.sampled_from(sorted(USUAL)), max_size=2, unique=True),
        others=st.lists(
            st.sampled_from([name for name in OTHERS if normalized(name) not in USUAL]),
            max_size=2,
            unique=True,
        ),
        rest=st.lists(st.sampled_from(NOT_PEOPLE[3:]), max_size=3, unique=True),
        spell=st.sampled_from([str, str.upper, str.title, lambda name: f" {name} ", lambda name: f"_{name}"]),
        data=st.data(),
    )
    def test_at_most_one_is_taken(
        self, usual: list[str], others: list[str], rest: list[str], spell: Any, data: st.DataObject
    ) -> None:
        people = [spell(name) for name in (*usual, *others)]
        columns = data.draw(st.permutations(["location", "time", *people, *rest]))
        if len(usual) == 1 and not others:
            assert roles(columns)["user"] == people[0]
        else:
            with pytest.raises(ColumnError):
                roles(columns)
        if columns:
            chosen = data.draw(
                st.sampled_from([name for name in columns if name not in ("location", "time")] or ["time"])
            )
            free = {} if chosen != "time" else {"time": None}
            assert roles(columns, user=chosen, **free)["user"] == chosen


class TestSources:
    """Every source resolves its columns the same way; Spark is in warehouses/."""

    def sources(self, folder: Path) -> dict[str, Any]:
        table = trips()
        pa.csv.write_csv(table, folder / "visits.csv")
        pa.parquet.write_table(table, folder / "visits.parquet")
        con = duckdb.connect()
        con.register("trips", table)
        warehouse = ibis.duckdb.connect()
        return {
            "csv": folder / "visits.csv",
            "parquet": folder / "visits.parquet",
            "arrow": table,
            "ibis": warehouse.create_table("trips", table),
        }

    @pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "ibis"])
    def test_python(self, kind: str, tmp_path: Path) -> None:
        source = self.sources(tmp_path)[kind]
        ledger = ledger_in(tmp_path)
        with pytest.raises(ColumnError, match="'uid' and 'member' could be"):
            le.publish(le.Visits(source), LIMIT, PLACES, ledger=ledger)
        with pytest.raises(ColumnError, match="which column is the person"):
            le.private.exact_profile(le.Visits(source))
        assert not ledger.history()
        for name in ("member", "uid"):
            made = le.publish(le.Visits(source, user=name), LIMIT, PLACES, ledger=ledger)
            assert made.statement.user_column == name

    def test_command_line(self, tmp_path: Path) -> None:
        self.sources(tmp_path)
        (tmp_path / "places.csv").write_text("location\nbar\ncafe\n")
        ledger_in(tmp_path)
        call = ("publish", "visits.csv", "--epsilon", 1, "--places", "places.csv", "--ledger", "city.ledger")
        done = locentropy(*call, "--out", "may", cwd=tmp_path)
        assert done.returncode == ColumnError.exit_code
        assert "user='member' (--user 'member')" in done.stderr
        done = locentropy(*call, "--out", "may", "--user", "member", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("one id of the column 'member'") == 1
        assert le.Release.load(tmp_path / "may").statement.user_column == "member"


class TestStated:
    def test_every_document_names_it(self, tmp_path: Path) -> None:
        visits = le.Visits(trips(), user="member")
        le.publish(visits, LIMIT, PLACES, ledger=None, out=tmp_path / "may")
        assert le.verify(tmp_path / "may").ok
        words = "one id of the column 'member'"
        stated = yaml.safe_load((tmp_path / "may" / "manifest.yaml").read_text())
        assert words in stated["deployment"]["privacy_loss"]["privacy_unit_details"]
        details = yaml.safe_load((tmp_path / "may" / "details.yaml").read_text())
        assert details["guarantee"]["user_column"] == "member"
        assert "one id of the column &#x27;member&#x27;" in (tmp_path / "may" / "report.html").read_text()

    def test_an_edited_name_does_not_verify(self, tmp_path: Path) -> None:
        le.publish(le.Visits(trips(), user="member"), LIMIT, PLACES, ledger=None, out=tmp_path / "may")
        path = tmp_path / "may" / "details.yaml"
        path.write_text(path.read_text().replace("user_column: member", "user_column: uid"))
        assert not le.verify(tmp_path / "may").ok

    def test_a_release_that_does_not_say(self) -> None:
        assert statement().user_column is None
        assert "under one user id" in str(manifest(statement()))

    @pytest.mark.parametrize(
        "name", ["</script><b>", "a: [b", "'\"\\", "# x", "ß…", "null", "x" * 200, "yes", "- 1", "{{}}"]
    )
    def test_an_odd_name_breaks_nothing(self, name: str, tmp_path: Path) -> None:
        made = release(user_column=name)
        made.save(tmp_path / "may")
        assert le.verify(tmp_path / "may").ok
        assert le.Release.load(tmp_path / "may").statement.user_column == name
        assert "</script><b>" not in (tmp_path / "may" / "report.html").read_text()

    @pytest.mark.parametrize("name", ["two\nlines", "\x1b[31m", "\u202e", "x" * 201, " "])
    def test_a_name_that_cannot_be_published_is_refused_before_the_spend(
        self, name: str, tmp_path: Path
    ) -> None:
        table = pa.table({name: ["a", "b"], "venue": ["bar", "cafe"]})
        ledger = ledger_in(tmp_path)
        with pytest.raises(ColumnError, match="Rename the column"):
            le.publish(le.Visits(table, user=name), LIMIT, PLACES, ledger=ledger)
        assert not ledger.history()

    @pytest.mark.parametrize("name", ["two\nlines", "", "x" * 5000, 7])
    def test_a_statement_with_such_a_name_is_refused(self, name: Any) -> None:
        with pytest.raises(ParameterError, match="user_column"):
            statement(user_column=name)

    def test_a_retry_names_the_column_that_was_measured(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        visits = le.Visits(trips(), user="member")
        call = (visits, LIMIT, PLACES)
        ledger = ledger_in(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr("locentropy.publishing.publish._infer", _fails)
            with pytest.raises(OSError, match="full"):
                le.publish(*call, ledger=ledger, out=tmp_path / "may")
        with pytest.warns(UserWarning, match="not read again"):
            made = le.publish(*call, ledger=ledger, out=tmp_path / "may")
        assert made.statement.user_column == "member"


class TestWarning:
    """Python is told which column is the person where the command line is."""

    def test_a_column_that_was_recognised(self, tmp_path: Path) -> None:
        visits = le.Visits(trips().select(["uid", "venue"]))
        with pytest.warns(UserColumnWarning, match="one id of the column 'uid'. It was recognised") as caught:
            le.publish(visits, LIMIT, PLACES, ledger=ledger_in(tmp_path))
        assert [Path(each.filename) for each in caught] == [Path(__file__)]

    def test_as_an_error_it_spends_nothing(self, tmp_path: Path) -> None:
        ledger = ledger_in(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserColumnWarning)
            with pytest.raises(UserColumnWarning):
                le.publish(le.Visits(trips().select(["uid", "venue"])), LIMIT, PLACES, ledger=ledger)
        assert not ledger.history()

    def test_a_survey_warns_too(self, tmp_path: Path) -> None:
        visits = le.Visits(trips().select(["uid", "venue"]))
        with pytest.warns(UserColumnWarning, match="'uid'"):
            le.private.measure_activity(
                visits, PLACES, le.private.survey_for(1.0, 0.5), ledger=ledger_in(tmp_path)
            )


def _fails(*_: Any, **__: Any) -> Any:
    raise OSError("full")
