"""Series: later releases lean on earlier ones, at no cost; what must fit is checked before anything is spent."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from jsonschema import Draft7Validator

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.chain import check_follows, find_earlier, fingerprint_of, read_chain
from tests.publishing.making import MEASURED, Killed
from tests.release.registry_schema import SCHEMA

PLACES = [f"p{number:02}" for number in range(24)]
KINDS = ["cafe" if number % 2 else "park" for number in range(24)]
SHARES = le.Shares(1.0, max_users=1000)
MONTHS = ("2026-01", "2026-02", "2026-03")


def visits() -> le.Visits:
    """Four months in which people go to places by a popularity that lasts."""
    draw = np.random.default_rng(7)
    popular = np.exp(draw.normal(0, 1.0, len(PLACES)))
    user = np.repeat(np.arange(300), 8)
    place = draw.choice(len(PLACES), user.size, p=popular / popular.sum())
    days = draw.integers(0, 120, user.size)
    time = np.datetime64("2026-01-01T12:00") + days.astype("timedelta64[D]")
    columns = {"uid": user, "venue": np.array(PLACES)[place], "time": time.astype("datetime64[us]")}
    return le.Visits(pa.table(columns), user="uid")


def listed(**changed: Any) -> le.PublicLocations:
    columns = {"location": PLACES, "kind": KINDS} | changed
    return le.PublicLocations(pa.table(columns), provenance="the register", attributes=["kind"])


def window(text: str, **cut: str) -> le.Window:
    return le.Window(text, zone="as-written", **cut)


def publish(folder: Path, month: str, after: Any = None, **changed: Any) -> le.Release:
    given: dict[str, Any] = {
        "mechanism": SHARES,
        "locations": listed(),
        "window": window(month),
        "ledger": folder / "city.ledger",
        "out": folder / month,
    } | changed
    return le.publish(visits(), after=after, **given)


def new_ledger(folder: Path) -> le.Ledger:
    return le.Ledger.create(
        folder / "city.ledger", "riders", 1, unit="person-month", person_epsilon=4, zone="as-written"
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("series")
    new_ledger(folder)
    before = None
    for month in MONTHS:
        before = publish(folder, month, before)
    return folder


@pytest.fixture
def series(made: Path, tmp_path: Path) -> Path:
    """A copy of the releases and the ledger, to be spoiled."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def spent(folder: Path) -> int:
    return len(le.Ledger.open(folder / "city.ledger").history())


# --- what is published ----------------------------------------------------------------------------------------------


def test_the_first_release_of_a_series_is_one_of_its_own(made: Path) -> None:
    release = le.Release.load(made / "2026-01")
    assert release.statement.series is None
    assert "change" not in release.to_arrow().column_names


def test_a_later_release_tells_both_values_the_change_and_its_window(made: Path) -> None:
    release = le.Release.load(made / "2026-03")
    table = release.to_arrow()
    assert table.column_names[:4] == ["location", "window_start", "window_end", "kind"]
    assert {str(day) for day in table["window_start"].to_pylist()} == {"2026-03-01"}
    assert {str(day) for day in table["window_end"].to_pylist()} == {"2026-04-01"}
    assert {"entropy_alone", "change", "change_probability"} <= set(table.column_names)
    assert not np.allclose(table["entropy"].to_numpy(), table["entropy_alone"].to_numpy())
    kept = release.measurements
    assert kept is not None
    alone = SHARES.estimate(kept.measurements, listed().load())
    np.testing.assert_allclose(table["entropy_alone"].to_numpy(), alone.entropy)


def test_the_past_costs_nothing(made: Path) -> None:
    ledger = le.Ledger.open(made / "city.ledger")
    assert [(spend.epsilon, spend.delta) for spend in ledger.history()] == [(1, 0)] * 3


def test_details_name_the_series_and_the_release_before(made: Path) -> None:
    first, second, third = (le.Release.load(made / month).statement for month in MONTHS)
    assert second.series is not None
    assert third.series is not None
    assert (second.series.number, third.series.number) == (2, 3)
    assert second.series.series_id == third.series.series_id == first.release_id
    assert third.series.previous == fingerprint_of(made / "2026-02")
    manifest = yaml.safe_load((made / "2026-03" / "manifest.yaml").read_text())
    Draft7Validator(SCHEMA).validate(manifest)
    assert "it costs no budget" in (made / "2026-03" / "manifest.yaml").read_text().replace("\n", " ")


def test_columns_and_names_may_differ_from_release_to_release(series: Path) -> None:
    register = pa.table({"location": PLACES, "name": PLACES[::-1], "kind": KINDS, "opened": [1990] * 24})
    shown = le.PublicLocations(
        register, attributes=["kind"], publish_columns=["opened"], provenance="the register"
    )
    april = publish(series, "2026-04", series / "2026-03", locations=shown)
    assert april.statement.listed_columns == ("opened",)
    (series / "more").mkdir()
    more = new_ledger(series / "more")  # the budget of the first is used up
    may = publish(series, "2026-05", april, ledger=more)
    assert may.statement.listed_columns == ()
    assert "name" not in may.to_arrow().column_names
    for month in ("2026-04", "2026-05"):
        assert le.verify(series / month).ok


def test_bits_are_bits_of_both_values(series: Path) -> None:
    release = publish(series, "2026-04", series / "2026-03", entropy_unit="bits")
    again = release.reestimate().to_arrow()
    for name in ("entropy", "entropy_alone"):
        np.testing.assert_allclose(release.to_arrow()[name].to_numpy(), again[name].to_numpy(), atol=1e-6)
    assert release.to_arrow()["entropy_alone"].to_numpy().max() > np.log2(np.e)


def test_an_interrupted_release_is_finished_with_the_same_past(
    series: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MEASURED, killed)
        with pytest.raises(Killed):
            publish(series, "2026-04", series / "2026-03")
    with pytest.raises(ReleaseError, match="it differs in after"):
        publish(series, "2026-04", None)  # another request than the one that was begun
    with pytest.warns(UserWarning, match="earlier attempt"):
        release = publish(series, "2026-04", series / "2026-03")
    assert release.statement.series is not None
    assert spent(series) == 4
    assert le.verify(series / "2026-04", le.Ledger.open(series / "city.ledger")).ok


# --- what must fit, before anything is spent ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mechanism": replace(SHARES, epsilon=0.5)}, "its epsilon is 0.5"),
        ({"mechanism": replace(SHARES, max_users=2000)}, "its max_users is 2000"),
        ({"locations": listed(location=[*PLACES[1:], "new"])}, "other places"),
        ({"locations": listed(location=PLACES[::-1])}, "other places, or has them in another order"),
        ({"locations": listed(kind=KINDS[::-1])}, "other attributes"),
        ({"locations": le.PublicLocations(PLACES, provenance="the register")}, "attributes"),
        ({"window": window("2026-03-20/2026-03-25")}, "windows of a series follow one another"),
        ({"window": window("2026-01")}, "windows of a series follow one another"),
        ({"window": window("2026-04", weekdays="mon-fri")}, "--weekdays is mon-fri"),
        ({"window": None, "ledger": None}, "--window 2026-05"),
        ({"ledger": None}, "unit of the guarantee is person"),
    ],
)
def test_what_does_not_fit_the_release_before_is_refused_at_no_cost(
    series: Path, changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(ParameterError, match=words) as error:
        publish(series, "2026-04", series / "2026-03", **changed)
    assert "--after" in str(error.value)
    assert spent(series) == 3
    assert not (series / "2026-04").exists()


def test_nothing_protected_is_computed_from_numbers_without_a_guarantee(made: Path) -> None:
    last, following = (le.Release.load(made / month) for month in MONTHS[1:])
    unprotected = replace(
        last,
        statement=replace(last.statement, guarantee=Guarantee.none("simulated noise")),
        table=last.table.append_column("not_private", pa.array(["NOT PRIVATE"] * len(last))),
    )
    with pytest.raises(ReleaseError, match="without a guarantee cannot be part of a series"):
        check_follows(unprotected, following.statement, listed().load())


def test_mechanisms_that_cannot_use_the_past_are_refused(series: Path) -> None:
    limit = le.paper.Limit(epsilon=1.0, max_locations=3, max_visits=2)
    with pytest.raises(ParameterError, match="Shares can"):
        publish(series, "2026-04", series / "2026-03", mechanism=limit, locations=le.PublicLocations(PLACES))
    assert spent(series) == 3


def test_a_release_in_hand_can_be_gone_on_with_only_if_it_has_files(series: Path) -> None:
    kept = publish(series, "2026-04", ledger=None, out=None)
    with pytest.raises(ParameterError, match='For example: after="april"'):
        publish(series, "2026-05", kept, ledger=None, out=None)


def test_measurements_must_be_there_and_whole(series: Path) -> None:
    (series / "2026-02" / "measurements-2026-02.parquet").unlink()
    with pytest.raises(ReleaseError, match=r"measurements-2026-02\.parquet is missing"):
        publish(series, "2026-04", series / "2026-03")
    assert spent(series) == 3


def test_every_earlier_release_must_be_found(series: Path) -> None:
    shutil.move(series / "2026-02", series.parent / "elsewhere")
    with pytest.raises(ReleaseError, match="release 2, whose details have the SHA-256") as error:
        publish(series, "2026-04", series / "2026-03")
    assert "2026-03" in str(error.value)
    assert spent(series) == 3


def test_a_changed_link_is_another_release(series: Path) -> None:
    details = series / "2026-01" / "details.yaml"
    details.write_text(details.read_text().replace("the register", "another"))
    with pytest.raises(ReleaseError, match="release 1 is not beside it"):
        read_chain(series / "2026-03")


# --- verify ---------------------------------------------------------------------------------------------------------


def test_a_whole_chain_is_verified_with_its_ledger(made: Path) -> None:
    report = le.verify(made / "2026-03", le.Ledger.open(made / "city.ledger"))
    assert report.ok, report.checks
    assert [check.name for check in report.checks if "series" in check.name or "ledger" in check.name] == [
        "series",
        "ledger, release 1 (2026-01)",
        "ledger, release 2 (2026-02)",
        "ledger",
    ]
    assert not any("Not all was checked" in note for note in report.notes)


def test_a_missing_link_is_told_and_is_no_problem(series: Path) -> None:
    shutil.rmtree(series / "2026-01")
    report = le.verify(series / "2026-03")
    assert report.ok
    [note] = [note for note in report.notes if "Not all was checked" in note]
    assert "release 1 is not beside it" in note
    assert "release 1 was not read" in note
    assert "entropy_alone was" in note


def test_what_is_missing_is_the_latest_link_that_was_not_found(series: Path, tmp_path: Path) -> None:
    for month in ("2026-02", "2026-03"):
        shutil.copytree(series / month, tmp_path / "two" / month)
    found = find_earlier(
        le.Release.load(tmp_path / "two" / "2026-03").statement, tmp_path / "two" / "2026-03"
    )
    assert [each.statement.window.text for each in found.releases if each.statement.window] == ["2026-02"]
    assert found.missing == 1
    shutil.copytree(series / "2026-03", tmp_path / "one" / "2026-03")
    report = le.verify(tmp_path / "one" / "2026-03")
    assert report.ok
    assert any("releases 1 to 2 were not read" in note for note in report.notes)


def test_links_elsewhere_are_found_by_after(series: Path) -> None:
    away = series.parent / "archive"
    away.mkdir()
    for month in MONTHS[:2]:
        shutil.move(series / month, away / month)
    assert not le.verify(series / "2026-03", after=away / "2026-02").notes[1:]
    assert le.verify(series / "2026-03", after=away / "2026-02").ok
    wrong = le.verify(series / "2026-03", after=away / "2026-01")
    assert [check.name for check in wrong.checks if check.problems] == ["series"]


def test_values_that_the_past_does_not_give_are_found(series: Path) -> None:
    """A release that is consistent in itself, with smoothed values that are not those of the chain."""
    last = le.Release.load(series / "2026-03")
    for name in ("entropy", "entropy_alone", "change_probability"):
        values = last.table[name].to_numpy()
        # Where nothing changed, every probability is next to 0, and so is a hundredth less of it.
        column = pa.array(1 - values if name == "change_probability" else values * 0.99)
        table = last.table.set_column(last.table.column_names.index(name), name, column)
        if name == "entropy":
            visitors = pa.array(np.exp(column.to_numpy()))
            table = table.set_column(
                table.column_names.index("effective_visitors"), "effective_visitors", visitors
            )
        replace(last, table=table).save(series / f"changed-{name}")
        report = le.verify(series / f"changed-{name}")
        problems = [problem for check in report.checks for problem in check.problems]
        assert any(problem.startswith(f"{name} is not what the measurements give") for problem in problems)


def test_changes_that_the_past_does_not_give_are_found(series: Path) -> None:
    last = le.Release.load(series / "2026-03")
    changed = pa.array(["closed", *last.table["change"].to_pylist()[1:]])
    table = last.table.set_column(last.table.column_names.index("change"), "change", changed)
    replace(last, table=table).save(series / "changed")
    problems = [problem for check in le.verify(series / "changed").checks for problem in check.problems]
    assert "change is not what the measurements give." in problems


def test_a_release_in_no_series_has_no_release_before(made: Path) -> None:
    report = le.verify(made / "2026-01", after=made / "2026-02")
    assert [check.name for check in report.checks if check.problems] == ["series"]


def test_reestimation_needs_the_whole_chain(made: Path, tmp_path: Path) -> None:
    last = le.Release.load(made / "2026-03")
    again = last.reestimate()
    shutil.copytree(made / "2026-03", tmp_path / "2026-03")
    with pytest.raises(ReleaseError, match="release 3 of a series"):
        le.Release.load(tmp_path / "2026-03").reestimate()
    np.testing.assert_allclose(again.table["entropy"].to_numpy(), last.table["entropy"].to_numpy(), atol=1e-6)
