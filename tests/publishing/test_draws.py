"""Draws on disk: made once, used as they were made, and published where they may be."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import locentropy as le
from locentropy.core.errors import LedgerError, LocentropyError, ReleaseError
from locentropy.core.estimates import Measurements
from locentropy.core.files import open_own_file
from locentropy.mechanisms.registry import mechanism_class, mechanism_from, mechanism_names
from locentropy.publishing.draws import DrawJournal, JournaledNoise
from locentropy.publishing.publish import ResumedWarning
from locentropy.release.measurements import KeptMeasurements, measurements_parquet, read_measurements
from locentropy.visits.private_log import write_private_log
from tests.publishing.making import (
    LIMIT,
    MEASURED,
    PAID,
    PLACES,
    Killed,
    Publishing,
    names,
    public,
    visits_in,
)

INFERENCE, PAGE = "locentropy.mechanisms.paper.limit.entropy_estimates", "locentropy.release.files._page"
WRITING, NAMING = "locentropy.release.files._write", "locentropy.publishing.publication.finish"


def values(folder: Path, name: str = "entropy") -> list[int]:
    kept: list[int] = read_measurements(folder / "measurements.parquet").measurements.values[name].tolist()
    return kept


class TestOneDraw:
    """Whatever fails after the noise, a repeat reads the same measurements."""

    @pytest.mark.parametrize("step", [INFERENCE, MEASURED, PAGE, WRITING, NAMING])
    def test_a_failure_between_noise_and_disk(
        self, step: str, again: Publishing, ledger: le.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = []
        for _ in range(3):
            with monkeypatch.context() as patch, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                patch.setattr(step, _dead)
                with pytest.raises(Killed):
                    again()
            [kept] = tmp_path.glob(".may.*.measurements")
            seen.append(read_measurements(kept).measurements.values["entropy"].tolist())
        with pytest.warns(ResumedWarning):
            again()
        assert seen == [values(tmp_path / "may")] * 3
        assert len(ledger.history()) == 1
        assert names(tmp_path) == ["city.ledger", "may"]

    def test_the_visits_are_not_read_again(
        self, cut: Callable[..., None], again: Publishing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cut(MEASURED)
        monkeypatch.setattr("locentropy.publishing.publish.open_queries", _dead)
        with pytest.warns(ResumedWarning, match="not read again"):
            again()

    def test_stages_that_were_drawn_are_given_again(self, tmp_path: Path) -> None:
        """A mechanism that asks adaptively keeps each stage: what a crash cut off is drawn anew, the rest is not."""
        first = np.arange(5, dtype=np.int64)
        journal = DrawJournal(tmp_path / "draws")
        noise = JournaledNoise(journal)
        drawn = noise.laplace(first, 100.0), noise.bernoulli_each(np.full(7, 0.5))
        journal.close()
        whole = (tmp_path / "draws").read_bytes()
        for lost in range(9):
            (tmp_path / "draws").write_bytes(whole[: len(whole) - lost] if lost else whole)
            again = DrawJournal(tmp_path / "draws")
            assert again.release_id == journal.release_id
            assert again.durable == (2 if lost == 0 else 1)
            repeated = JournaledNoise(again)
            assert repeated.laplace(first + 1000, 100.0).tolist() == drawn[0].tolist()
            coins = repeated.bernoulli_each(np.full(7, 0.5))
            assert lost or coins.tolist() == drawn[1].tolist()
            again.close()

    def test_draws_for_other_visits_are_refused(self, tmp_path: Path) -> None:
        journal = DrawJournal(tmp_path / "draws")
        JournaledNoise(journal).laplace(np.arange(5, dtype=np.int64), 1.0)
        with pytest.raises(ReleaseError, match="the table has changed"):
            JournaledNoise(journal).laplace(np.arange(6, dtype=np.int64), 1.0)
        journal.close()

    def test_a_selection_is_not_drawn_again(
        self, ledger: le.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The list is drawn, and then the engine fails: the retry has the same list."""
        visits = visits_in(tmp_path)

        def again() -> None:
            le.publish(visits, LIMIT, selecting, out=tmp_path / "may", ledger=ledger)

        lists: list[list[str]] = []
        selecting = le.SelectLocations(5, delta=1e-4, max_locations=3)
        select = le.SelectLocations.select

        def selected(self: Any, queries: Any, noise: Any) -> Any:
            found = select(self, queries, noise)
            lists.append(found.ids.to_pylist())
            if len(lists) < 4:
                raise Killed
            return found

        monkeypatch.setattr(le.SelectLocations, "select", selected)
        for _ in range(3):
            with pytest.raises(Killed):
                again()
        again()
        assert lists == [lists[0]] * 4
        assert len(ledger.history()) == 1


def _dead(*_: Any, **__: Any) -> Any:
    raise Killed


class TestOneSpend:
    """One spend pays for one draw, also where the record of an attempt was copied."""

    @staticmethod
    def copied(tmp_path: Path) -> Path:
        other = tmp_path.parent / f"{tmp_path.name}-copy"
        other.mkdir()
        for path in tmp_path.glob(".may*"):
            shutil.copy2(path, other / path.name)
        return other

    def test_a_copy_is_refused_a_second_draw(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(PAID)
        for path in tmp_path.glob(".may.*.draws"):
            path.unlink()  # the copy was made after the spend and before any noise
        other = self.copied(tmp_path)
        again()
        with pytest.raises((LedgerError, ReleaseError), match=r"two draws tell more|do not belong together"):
            again(out=other / "may")
        assert not (other / "may").exists()
        assert len(ledger.history()) == 1
        assert len({record.release for record in ledger.releases()}) == 1

    def test_also_when_both_run_at_once(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(PAID)
        for path in tmp_path.glob(".may.*.draws"):
            path.unlink()
        other = self.copied(tmp_path)
        ended: list[object] = []

        def run(out: Path) -> None:
            try:
                ended.append(again(out=out).statement.release_id)
            except LocentropyError as error:
                ended.append(type(error))

        threads = [threading.Thread(target=run, args=(folder / "may",)) for folder in (tmp_path, other)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len([each for each in ended if isinstance(each, str)]) == 1
        assert (tmp_path / "may").exists() != (other / "may").exists()

    def test_the_same_draw_may_be_finished_in_two_places(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        """A copy that holds the measurements is no second draw: it is the same release."""
        cut(MEASURED)
        other = self.copied(tmp_path)
        with pytest.warns(ResumedWarning):
            one, two = again(), again(out=other / "may")
        assert one.statement.release_id == two.statement.release_id
        assert values(tmp_path / "may") == values(other / "may")

    def test_without_files_the_ledger_knows_it_too(self, again: Publishing, ledger: le.Ledger) -> None:
        release = again(out=None)
        [spend] = ledger.history()
        assert [(each.spend, each.release, each.state) for each in ledger.releases()] == [
            (spend.id, release.statement.release_id, state) for state in ("staged", "published")
        ]


class TestPlantedFiles:
    """A file that somebody else made beforehand is not used."""

    @pytest.mark.parametrize("name", [".may.publishing"])
    def test_readable_by_others(
        self, name: str, again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)
        with pytest.raises(ReleaseError, match="other users may read or write it"):
            again()
        assert not ledger.history()
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o644, "left as it was"

    def test_a_second_name(self, again: Publishing, ledger: le.Ledger, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.touch(mode=0o600)
        os.link(elsewhere, tmp_path / ".may.publishing")
        with pytest.raises(ReleaseError, match="second name"):
            again()
        assert not ledger.history()

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
    def test_of_another_user(self, again: Publishing, ledger: le.Ledger, tmp_path: Path) -> None:
        path = tmp_path / ".may.publishing"
        path.touch(mode=0o600)
        os.chown(path, 12345, 12345)
        with pytest.raises(ReleaseError, match="belongs to another user"):
            again()
        assert not ledger.history()

    @pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
    def test_no_plain_file(self, kind: str, again: Publishing, ledger: le.Ledger, tmp_path: Path) -> None:
        path = tmp_path / ".may.publishing"
        {"pipe": os.mkfifo, "link": lambda p: p.symlink_to("/dev/null"), "folder": Path.mkdir}[kind](path)
        with pytest.raises(ReleaseError):
            again()
        assert not ledger.history()

    def test_measurements_that_somebody_else_may_write(
        self, cut: Callable[..., None], again: Publishing, tmp_path: Path
    ) -> None:
        cut(MEASURED)
        [kept] = tmp_path.glob(".may.*.measurements")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        kept.chmod(0o666)
        with pytest.raises(ReleaseError, match="other users may read or write it"):
            again()

    @pytest.mark.parametrize("harm", ["link", "second name", "another user"])
    def test_the_private_log(self, harm: str, tmp_path: Path) -> None:
        log, elsewhere = tmp_path / "log", tmp_path / "elsewhere"
        elsewhere.touch(mode=0o600)
        if harm == "link":
            log.symlink_to(elsewhere)
        elif harm == "second name":
            os.link(elsewhere, log)
        elif os.geteuid() == 0:
            log.touch(mode=0o600)
            os.chown(log, 12345, 12345)
        else:
            pytest.skip("only root can give a file away")
        with pytest.raises(LocentropyError, match="private log"):
            write_private_log(log)
        assert elsewhere.read_text() == ""

    def test_what_is_opened_is_checked_and_not_what_has_the_name(self, tmp_path: Path) -> None:
        handle = open_own_file(tmp_path / "own", create=True)
        assert stat.S_IMODE(os.fstat(handle).st_mode) == 0o600
        os.close(handle)


class TestPublished:
    @pytest.mark.parametrize("name", mechanism_names())
    def test_what_may_be_is_published_and_gives_the_same_release(self, name: str, tmp_path: Path) -> None:
        kind = mechanism_class(name)
        mechanism = mechanism_from(
            name, dict(kind.example) | ({"min_users": 1} if "ptr" in name or "cb" in name else {})
        )
        visits = visits_in(tmp_path)
        private = mechanism.guarantee.private
        made = le.publish(
            visits, mechanism, public(), ledger=None, out=tmp_path / "out", not_private=not private
        )
        folder = next(tmp_path.glob("out*"))
        if name == "limit-cb":
            assert made.measurements is None
            assert not [*folder.glob("measurements*")]
            with pytest.raises(ReleaseError, match="has no measurements"):
                made.reestimate()
            return
        assert made.measurements is not None
        shown = made.to_arrow().filter(pa.compute.is_valid(made.to_arrow()["entropy"]))
        assert made.measurements.measurements.locations.to_pylist() == shown["location"].to_pylist()
        assert (set(made.measurements.scales) == set()) == (name == "limit-ss"), "its scales are private"
        again = made.reestimate()
        assert again.to_arrow().equals(made.to_arrow())
        assert again.statement.release_id == made.statement.release_id
        again.save(tmp_path / "again")
        assert le.verify(folder).ok
        assert le.verify(tmp_path / "again").ok

    def test_without_a_list_nothing_is_said_about_withheld_places(self, tmp_path: Path) -> None:
        mechanism = le.LimitPTR(5, delta=1e-3, max_locations=3, max_visits=2, min_users=3)
        made = le.publish(visits_in(tmp_path), mechanism, ledger=None, out=tmp_path / "out")
        content = (tmp_path / "out" / "measurements.parquet").read_bytes()
        for place in set(PLACES) - set(made.to_arrow()["location"].to_pylist()):
            assert place.encode() not in content
        assert made.reestimate().to_arrow().equals(made.to_arrow())

    def test_in_memory_they_live_in_the_release_and_are_saved(self, tmp_path: Path) -> None:
        made = le.publish(visits_in(tmp_path), LIMIT, public(), ledger=None)
        assert made.measurements is not None
        made.save(tmp_path / "out")
        assert values(tmp_path / "out") == made.measurements.measurements.values["entropy"].tolist()

    def test_values_that_the_measurements_do_not_give_are_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Even where every fingerprint was computed anew."""
        made = le.publish(visits_in(tmp_path), LIMIT, public(), ledger=None)
        table = made.to_arrow()
        at = table.column_names.index("low")
        forged = table.set_column(at, "low", pa.compute.subtract(table["low"], 0.01))
        le.Release(forged, made.statement, made.measurements).save(tmp_path / "forged")
        report = le.verify(tmp_path / "forged")
        assert [check.name for check in report.checks if check.problems] == ["measurements"]

    def test_of_another_inference_it_says_that_it_cannot(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        le.publish(visits_in(tmp_path), LIMIT, public(), ledger=None, out=tmp_path / "out")
        monkeypatch.setattr(le.paper.Limit, "inference", "2")
        report = le.verify(tmp_path / "out")
        assert report.ok
        assert any("version 1 of the inference" in note for note in report.notes)
        assert le.Release.load(tmp_path / "out").reestimate().statement.inference == "2"


class TestFile:
    @given(
        st.lists(st.text(min_size=1, max_size=5), max_size=5, unique=True),
        st.dictionaries(
            st.text("abc", min_size=1, max_size=4),
            arrays(np.int64, array_shapes(max_dims=3, max_side=5)),
            max_size=4,
        ),
        st.booleans(),
    )
    def test_what_is_written_is_read(self, ids: list[str], made: dict[str, Any], private: bool) -> None:
        kept = KeptMeasurements("0" * 32, Measurements(pa.array(ids, pa.string()), made, private), {})
        again = read_measurements(pa.BufferReader(measurements_parquet(kept)))
        assert again.release_id == kept.release_id
        assert again.measurements.private == private
        assert again.measurements.locations.to_pylist() == ids
        assert {name: each.tolist() for name, each in again.measurements.values.items()} == {
            name: each.tolist() for name, each in made.items()
        }

    @given(st.binary(max_size=300))
    def test_anything_else_is_refused(self, content: bytes) -> None:
        with pytest.raises(ReleaseError):
            read_measurements(pa.BufferReader(content))

    @pytest.mark.parametrize(
        ("column", "rows"),
        [
            ("shape", [None, [5]]),
            ("shape", [None, [-1, -4]]),
            ("shape", [None, [2**40, 2**40]]),
            ("values", [None, [1, 2, None, 4]]),
            ("values", [None, None]),
            ("scale", [None, -1.0]),
            ("scale", [None, float("nan")]),
            ("query", ["locations", "locations"]),
            ("query", ["entropy", "locations"]),
            ("locations", [None, None]),
        ],
    )
    def test_hostile_files(self, column: str, rows: list[Any], tmp_path: Path) -> None:
        points = np.arange(4, dtype=np.int64)
        kept = KeptMeasurements(
            "0" * 32, Measurements(pa.array(PLACES), {"entropy": points}, True), {"entropy": 2.0}
        )
        table = pq.read_table(pa.BufferReader(measurements_parquet(kept)))
        at = table.column_names.index(column)
        changed = table.set_column(at, column, pa.array(rows, table.schema.field(column).type))
        pq.write_table(changed, tmp_path / "measurements.parquet")
        with pytest.raises(ReleaseError):
            read_measurements(tmp_path / "measurements.parquet")

    def test_a_format_of_the_future_is_named(self, tmp_path: Path) -> None:
        points = np.arange(4, dtype=np.int64)
        kept = KeptMeasurements("0" * 32, Measurements(pa.array(PLACES), {"entropy": points}, True))
        table = pq.read_table(pa.BufferReader(measurements_parquet(kept)))
        pq.write_table(
            table.replace_schema_metadata({b"locentropy": b'{"format": "locentropy measurements 2"}'}),
            tmp_path / "m.parquet",
        )
        with pytest.raises(ReleaseError, match="a newer version of locentropy may read it"):
            read_measurements(tmp_path / "m.parquet")
