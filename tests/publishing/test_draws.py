"""Draws on disk: made once, used as they were made, and published where they may be."""

from __future__ import annotations

import os
import re
import shutil
import stat
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
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
from locentropy.publishing.publication import Publication
from locentropy.publishing.publish import ResumedWarning
from locentropy.release.measurements import KeptMeasurements, measurements_parquet, read_measurements
from locentropy.visits.private_log import write_private_log
from tests.publishing.making import (
    LIMIT,
    MEASURED,
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
        first, coins = np.arange(5, dtype=np.int64), np.full(7, 0.5)
        journal = DrawJournal(tmp_path / "draws", {})
        noise = JournaledNoise(journal)
        drawn = noise.gaussian(first, 100.0), noise.bernoulli_each(coins)
        journal.close()
        path = tmp_path / "draws" / "journal"
        whole = path.read_bytes()
        for lost in range(8):
            path.write_bytes(whole[: len(whole) - lost])
            again = DrawJournal(tmp_path / "draws", {})
            assert again.durable == (1 if lost else 2)
            repeated = JournaledNoise(again)
            assert repeated.gaussian(first, 100.0).tolist() == drawn[0].tolist()
            assert lost or repeated.bernoulli_each(coins).tolist() == drawn[1].tolist()
            again.close()

    @pytest.mark.parametrize(
        "other",
        [
            lambda noise: noise.laplace(np.arange(6, dtype=np.int64), 1.0),
            lambda noise: noise.laplace(np.arange(1, 6, dtype=np.int64), 1.0),
            lambda noise: noise.laplace(np.arange(5, dtype=np.int64), 2.0),
            lambda noise: noise.laplace_each(np.arange(5, dtype=np.int64), np.ones(5)),
            lambda noise: noise.gaussian(np.arange(5, dtype=np.int64), 1.0),
            lambda noise: noise.bernoulli_each(np.full(5, 0.5)),
        ],
    )
    def test_draws_for_something_else_are_refused(self, other: Callable[[Any], Any], tmp_path: Path) -> None:
        journal = DrawJournal(tmp_path / "draws", {"user": "uid"})
        JournaledNoise(journal).laplace(np.arange(5, dtype=np.int64), 1.0)
        with pytest.raises(ReleaseError, match="the table has changed"):
            other(JournaledNoise(journal))
        journal.close()
        with pytest.raises(ReleaseError, match="by other rules"):
            DrawJournal(tmp_path / "draws", {"user": "device"})

    def test_a_damaged_draw_is_not_drawn_again(self, tmp_path: Path) -> None:
        journal = DrawJournal(tmp_path / "draws", {})
        noise = JournaledNoise(journal)
        for _ in range(3):
            noise.laplace(np.arange(5, dtype=np.int64), 1.0)
        journal.close()
        path = tmp_path / "draws" / "journal"
        content = bytearray(path.read_bytes())
        for at in range(len(content) // 4, len(content), len(content) // 9):
            changed = bytearray(content)
            changed[at] ^= 1
            path.write_bytes(changed)
            with pytest.raises(ReleaseError, match=r"was damaged|has changed"):
                _repeat(DrawJournal, tmp_path / "draws")

    def test_nobody_else_can_see_how_large_it_is(self, tmp_path: Path) -> None:
        DrawJournal(tmp_path / "draws", {}).close()
        assert stat.S_IMODE((tmp_path / "draws").stat().st_mode) == 0o700

    def test_coins_of_another_table_name_no_places(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Killed after the coins, and repeated with a table in which every place has one user."""
        mechanism = le.LimitPTR(5, delta=1e-3, max_locations=3, max_visits=2, min_users=2)
        tables = [
            [(user, place) for place in range(20) for user in range(9)],
            [(place, place) for place in range(20)],
        ]
        sources = []
        for number, rows in enumerate(tables):
            path = tmp_path / f"{number}.csv"
            path.write_text("uid,venue\n" + "".join(f"u{user},p{place:02}\n" for user, place in rows))
            sources.append(le.Visits(path, user="uid"))
        with monkeypatch.context() as patch:
            patch.setattr("locentropy.mechanisms.limit_ptr.to_lattice", _dead)
            with pytest.raises(Killed):
                le.publish(sources[0], mechanism, out=tmp_path / "may", ledger=None)
        assert [*tmp_path.glob(".may.*.draws")]
        with pytest.warns(ResumedWarning), pytest.raises(ReleaseError, match="the table has changed"):
            le.publish(sources[1], mechanism, out=tmp_path / "may", ledger=None)
        with pytest.warns(ResumedWarning):
            le.publish(sources[0], mechanism, out=tmp_path / "may", ledger=None)

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResumedWarning)
            for _ in range(3):
                with pytest.raises(Killed):
                    again()
            again()
        assert lists == [lists[0]] * 4
        assert len(ledger.history()) == 1


def _repeat(journal: Any, folder: Path) -> None:
    again = JournaledNoise(journal(folder, {}))
    for _ in range(3):
        again.laplace(np.arange(5, dtype=np.int64), 1.0)


def _dead(*_: Any, **__: Any) -> Any:
    raise Killed


class TestOneSpend:
    """One spend pays for one draw, also where the record of an attempt was copied."""

    @staticmethod
    def copied(tmp_path: Path) -> Path:
        other = tmp_path.parent / f"{tmp_path.name}-copy"
        other.mkdir()
        for path in tmp_path.glob(".may*"):
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, other / path.name)
        return other

    @staticmethod
    def stopped_after(draws: int, again: Publishing, monkeypatch: pytest.MonkeyPatch) -> None:
        """Publish Shares, which draws three times, and stop when so many draws are on disk."""
        append = DrawJournal.append
        made: list[int] = []

        def counting(self: DrawJournal, *given: Any) -> None:
            if len(made) == draws:
                raise Killed
            append(self, *given)
            made.append(1)

        with monkeypatch.context() as patch:
            patch.setattr(DrawJournal, "append", counting)
            with pytest.raises(Killed):
                again(mechanism=le.Shares(0.5))

    @pytest.mark.parametrize("draws", [0, 1, 2])
    def test_a_copy_is_refused_a_second_draw(
        self,
        draws: int,
        again: Publishing,
        ledger: le.Ledger,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self.stopped_after(draws, again, monkeypatch)
        other = self.copied(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again(mechanism=le.Shares(0.5))
            with pytest.raises(
                (LedgerError, ReleaseError), match=r"two draws tell more|do not belong together"
            ):
                again(mechanism=le.Shares(0.5), out=other / "may")
        assert not (other / "may").exists()
        assert len(ledger.history()) == 1
        assert len({record.release for record in ledger.releases()}) == 1

    @pytest.mark.parametrize("draws", [0, 1, 2])
    def test_also_when_both_run_at_once(
        self,
        draws: int,
        again: Publishing,
        ledger: le.Ledger,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Both have drawn before either is in the ledger."""
        self.stopped_after(draws, again, monkeypatch)
        other = self.copied(tmp_path)
        both = threading.Barrier(2, timeout=30)
        record = Publication.record_draw

        def together(self: Publication, book: Any) -> None:
            if not self.target.exists() and self.release_id is not None and self.spend_id not in passed:
                both.wait()
                passed.add(self.spend_id)
            record(self, book)

        passed: set[str] = set()
        monkeypatch.setattr(Publication, "record_draw", together)
        ended: list[object] = []

        def run(out: Path) -> None:
            try:
                ended.append(again(mechanism=le.Shares(0.5), out=out).statement.release_id)
            except LocentropyError as error:
                ended.append(error)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            threads = [threading.Thread(target=run, args=(folder / "may",)) for folder in (tmp_path, other)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        [refused] = [each for each in ended if isinstance(each, LedgerError)]
        assert "another attempt has drawn for the same spend" in refused.__notes__[0]
        assert len([each for each in ended if isinstance(each, str)]) == 1
        assert (tmp_path / "may").exists() != (other / "may").exists()

    def test_a_busy_ledger_is_no_second_draw(
        self, again: Publishing, ledger: le.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody is told to remove a good draw."""

        def busy(*_: Any, **__: Any) -> None:
            raise LedgerError("city.ledger is in use by another process. Try again.")

        with monkeypatch.context() as patch:
            patch.setattr(le.Ledger, "record_release", busy)
            with pytest.raises(LedgerError) as caught:
                again()
        assert not any("remove" in note for note in caught.value.__notes__)

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

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"scales": {"entropy": 0.001}}, "other scales"),
            ({"user_column": "device"}, "another column for the person"),
            ({"rules": {"bad_rows": "fail", "secret": "7"}}, "other rules"),
            ({"extra": {"exact_counts": np.arange(4, dtype=np.int64)}}, "other queries"),
            ({"only": {"other": np.arange(4, dtype=np.int64)}}, "cannot compute estimates|other queries"),
            ({"only": {"entropy": np.zeros((2, 2), dtype=np.int64)}}, "cannot compute estimates"),
            ({"only": {}}, "cannot compute estimates|other queries"),
        ],
    )
    def test_forged_measurements_are_found_and_never_raise(
        self, change: dict[str, Any], words: str, tmp_path: Path
    ) -> None:
        made = le.publish(visits_in(tmp_path), LIMIT, public(), ledger=None)
        kept = made.measurements
        assert kept is not None
        measured = kept.measurements
        if "extra" in change or "only" in change:
            values_ = change.get("only", {**measured.values, **change.get("extra", {})})
            kept = replace(kept, measurements=Measurements(measured.locations, values_, measured.private))
        else:
            kept = replace(kept, **change)
        le.Release(made.table, made.statement, kept).save(tmp_path / "forged")
        report = le.verify(tmp_path / "forged")
        [found] = [check for check in report.checks if check.problems]
        assert found.name == "measurements"
        assert re.search(words, " ".join(found.problems)), found.problems

    def test_a_small_file_that_stands_for_a_huge_one(self, tmp_path: Path) -> None:
        huge = Measurements(pa.array(PLACES), {"entropy": np.zeros(3_000_000, dtype=np.int64)}, True)
        path = tmp_path / "measurements.parquet"
        path.write_bytes(measurements_parquet(KeptMeasurements("0" * 32, huge)))
        with pytest.raises(ReleaseError, match="more than measurements of this release can"):
            read_measurements(path, most_values=1_000_000)

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
