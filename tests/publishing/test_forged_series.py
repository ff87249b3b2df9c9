"""Earlier releases that were forged: what fails because of them fails before the spend, or leaves a way to finish."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import LocentropyError, ParameterError, ReleaseError
from locentropy.core.locations import Locations
from locentropy.mechanisms.shares.estimator import inference as shares_inference
from locentropy.publishing import inference
from locentropy.publishing.invented import InventedNoise, InventedQueries
from locentropy.release.chain import _releases_in, fingerprint_of, read_chain
from locentropy.release.measurements import KeptMeasurements
from tests.examples import at_night
from tests.publishing.forging import forged, forgeries
from tests.publishing.making import MEASURED, PAID, STAGED, Killed
from tests.publishing.test_series import SHARES, listed, new_ledger, publish, spent, window

FORGERIES = dict(forgeries(SHARES, listed().load()))
SOME = (
    "look: missing",
    "look: all the largest",
    "sizes: one row less",
    "visits: turned around",
    "split: a hundred times as long",
    "a query more",
)
SAMPLE = list(FORGERIES)[::20]


@pytest.fixture(scope="module")
def january(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forged")
    new_ledger(folder)
    publish(folder, "2026-01")
    return folder


@pytest.fixture
def folder(january: Path, tmp_path: Path) -> Path:
    shutil.copytree(january, tmp_path / "copy")
    return tmp_path / "copy"


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "forged")


def attempt(folder: Path, name: str) -> bool:
    """Whether a release is published that is to follow a forgery; if not, nothing was spent, and nothing is left."""
    before = forged(folder / "2026-01", folder / "forged", FORGERIES[name])
    refused = ""
    try:
        publish(folder, "2026-02", before)
    except LocentropyError as error:
        refused = str(error)
    assert (spent(folder), left(folder)) == (
        (1, ["2026-01", "city.ledger"]) if refused else (2, ["2026-01", "2026-02", "city.ledger"])
    )
    assert not refused or ("Nothing was spent." in refused and "locentropy verify" in refused)
    assert not le.verify(before).ok
    return not refused


@pytest.mark.parametrize("name", SOME)
def test_a_forgery_that_cannot_be_used_costs_nothing(folder: Path, name: str) -> None:
    assert not attempt(folder, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SAMPLE, *at_night(*(name for name in FORGERIES if name not in SAMPLE))])
def test_whatever_is_forged_is_refused_at_no_cost_or_published(folder: Path, name: str) -> None:
    attempt(folder, name)


def test_a_forgery_is_refused_before_the_visits_are_read(folder: Path) -> None:
    before = forged(folder / "2026-01", folder / "forged", FORGERIES["sizes: empty"])
    with pytest.raises(ReleaseError, match=r"--after .*forged.*earlier releases"):
        le.publish(
            le.Visits(folder / "no-such-file.csv"),
            SHARES,
            listed(),
            window=window("2026-02"),
            after=before,
            ledger=folder / "city.ledger",
            out=folder / "2026-02",
        )


def changed_scales(release: le.Release, by: float) -> KeptMeasurements:
    kept = release.measurements
    assert kept is not None
    scales = {name: scale * by for name, scale in kept.scales.items()}
    return KeptMeasurements(kept.release_id, kept.measurements, scales, kept.user_column, kept.rules)


@pytest.mark.parametrize("by", [1e-300, 1e280])
def test_scales_that_are_forged_are_not_believed(folder: Path, by: float) -> None:
    """They follow from the parameters; what a file says of them is for readers."""
    release = le.Release.load(folder / "2026-01")
    before = replace(release, measurements=changed_scales(release, by)).save(folder / "forged")
    [forged_one], [published] = read_chain(before).measurements, read_chain(folder / "2026-01").measurements
    places = listed().load()
    now = SHARES.measure(InventedQueries(places), places, InventedNoise())
    one, other = (SHARES.estimate_after([each], now, places) for each in (forged_one, published))
    np.testing.assert_array_equal(one.entropy, other.entropy)


@pytest.mark.parametrize(
    "stated",
    [
        {"parameters": {"epsilon": "nan", "delta": "0.0", "max_users": "1000"}},
        {"parameters": {"epsilon": "1e308", "delta": "0.0", "max_users": "1000"}},
        {"parameters": {}},
        {"mechanism": "LimitPTR"},
        {"mechanism": "NoSuchMechanism", "built_in": False},
        {"window": None},
    ],
    ids=str,
)
def test_options_that_are_forged_cost_nothing(folder: Path, stated: dict[str, Any]) -> None:
    release = le.Release.load(folder / "2026-01")
    before = replace(release, statement=replace(release.statement, **stated)).save(folder / "forged")
    with pytest.raises(LocentropyError):
        publish(folder, "2026-02", before)
    assert spent(folder) == 1
    assert left(folder) == ["2026-01", "city.ledger"]


# --- the rehearsal ----------------------------------------------------------------------------------------------------


def test_invented_numbers_are_the_same_whatever_was_visited() -> None:
    """Neither chance nor data has a part in them."""
    places, values = Locations.of(["a", "b", "c"]), np.zeros((3, 4), dtype=np.int64)
    for rule in (SHARES.share_queries.look_rule, SHARES.share_queries.split_rule):
        assert InventedQueries(places).look(rule).tolist() == InventedQueries(places).look(rule).tolist()
    assert InventedNoise().laplace(values, 9.0).tolist() == InventedNoise().laplace(values, 9.0).tolist()
    assert not SHARES.measure(InventedQueries(places), places, InventedNoise()).private


def failing(*_: Any, **__: Any) -> None:
    raise FloatingPointError("a number that is read off the list")


def test_attributes_that_break_the_inference_cost_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares_inference, "attribute_priors", failing)
    with pytest.raises(ReleaseError, match="nothing was spent: is something wrong with the attributes"):
        publish(folder, "2026-02")
    assert spent(folder) == 1
    assert left(folder) == ["2026-01", "city.ledger"]


@pytest.mark.parametrize(("places", "times"), [(["p00", "p01"], 1), (listed(), 2)])
def test_there_is_a_rehearsal_only_where_public_input_enters_the_inference(
    folder: Path, monkeypatch: pytest.MonkeyPatch, places: Any, times: int
) -> None:
    estimated = []

    def counted(self: le.Shares, measurements: Any, locations: Any) -> Any:
        estimated.append(measurements.private)
        return estimate(self, measurements, locations)

    estimate = le.Shares.estimate
    monkeypatch.setattr(le.Shares, "estimate", counted)
    publish(folder, "2026-02", locations=places if times == 2 else le.PublicLocations(places))
    assert estimated == [False, True][-times:]


# --- what fails all the same ------------------------------------------------------------------------------------------


@pytest.fixture
def overflowing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An inference that fails on the real numbers of a series, and not on those of the rehearsal."""
    estimate_after = le.Shares.estimate_after

    def fails(self: le.Shares, earlier: Any, measurements: Any, locations: Any) -> Any:
        if measurements.private:
            raise OverflowError("as numbers were, which are not shown")
        return estimate_after(self, earlier, measurements, locations)

    monkeypatch.setattr(le.Shares, "estimate_after", fails)
    return monkeypatch


def fails_twice(folder: Path) -> None:
    for again in (False, True):
        resumed = pytest.warns(UserWarning, match="earlier attempt") if again else nullcontext()
        with resumed, pytest.raises(ReleaseError, match=r"earlier releases \(OverflowError\)") as error:
            publish(folder, "2026-02", folder / "2026-01")
        assert any("--without-series" in note for note in error.value.__notes__)
        assert "as numbers were" not in str(error.value)
        assert spent(folder) == 2


@pytest.mark.usefixtures("overflowing")
def test_it_is_finished_from_its_own_measurements(folder: Path) -> None:
    fails_twice(folder)
    kept = (folder / ".2026-02.publishing").read_bytes()
    with pytest.warns(UserWarning, match="earlier attempt"):
        release = publish(folder, "2026-02", folder / "2026-01", without_series=True)
    assert b"without" not in kept
    assert spent(folder) == 2
    assert left(folder) == ["2026-01", "2026-02", "city.ledger"]
    assert release.measurements is not None
    alone = SHARES.estimate(release.measurements.measurements, listed().load())
    np.testing.assert_allclose(release.to_arrow()["entropy"].to_numpy(), alone.entropy)
    assert release.statement.series is None
    assert release.statement.without_series is not None
    assert release.statement.without_series.previous == fingerprint_of(folder / "2026-01")
    assert "change" not in release.to_arrow().column_names


@pytest.fixture(scope="module")
def alone(january: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone") / "copy"
    shutil.copytree(january, folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(MEASURED, killed)
        with pytest.raises(Killed):
            publish(folder, "2026-02", folder / "2026-01")
    with pytest.warns(UserWarning, match="earlier attempt"):
        publish(folder, "2026-02", folder / "2026-01", without_series=True, language="en")
    return folder


def killed(*_: Any, **__: Any) -> None:
    raise Killed


def test_it_says_so_in_every_file(alone: Path) -> None:
    words = (
        "was finished without that series: values lean on no earlier release, and no later release can follow"
    )
    manifest = yaml.safe_load((alone / "2026-02" / "manifest.yaml").read_text())
    assert words in manifest["deployment"]["accounting"]["post_processing"]
    details = yaml.safe_load((alone / "2026-02" / "details.yaml").read_text())
    assert words in details["without_series"]["in_words"]
    [page] = (alone / "2026-02").glob("report*.html")
    assert words in page.read_text()
    german = le.Release.load(alone / "2026-02").with_language("de").save(alone.parent / "de")
    [page] = german.glob("report*.html")
    assert "wurde ohne diese Reihe fertiggestellt" in page.read_text()


def test_it_is_verified_with_its_ledger(alone: Path) -> None:
    ledger = le.Ledger.open(alone / "city.ledger")
    for after in (None, alone / "2026-01"):
        report = le.verify(alone / "2026-02", ledger, after=after)
        assert report.ok, report.checks
        assert any("was finished without that series" in note for note in report.notes)
    wrong = le.verify(alone / "2026-02", ledger, after=alone / "2026-02")
    assert [check.name for check in wrong.checks if check.problems] == ["series"]


def test_a_note_that_was_changed_is_found(alone: Path, tmp_path: Path) -> None:
    shutil.copytree(alone / "2026-02", tmp_path / "changed")
    details = tmp_path / "changed" / "details.yaml"
    text = details.read_text()
    details.write_text(text.replace("without_series:\n  series_id:", "without_series:\n  other_id:"))
    assert not le.verify(tmp_path / "changed").ok
    details.write_text(text.replace("\n  number: 2", "\n  number: 3"))
    assert not le.verify(tmp_path / "changed").ok


def test_nothing_follows_it(alone: Path) -> None:
    with pytest.raises(ParameterError, match=r"--after .*2026-02.*nothing follows it"):
        publish(alone, "2026-03", alone / "2026-02")
    assert spent(alone) == 2


# --- attempts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [PAID, MEASURED])
def test_an_attempt_that_was_killed_may_be_finished_without_its_series(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(step, killed)
        with pytest.raises(Killed):
            publish(folder, "2026-02", folder / "2026-01")
    if step == MEASURED:
        with pytest.warns(UserWarning, match="earlier attempt"):
            publish(folder, "2026-02", folder / "2026-01", without_series=True)
    else:
        publish(folder, "2026-02", folder / "2026-01", without_series=True)
    assert spent(folder) == 2
    assert le.verify(folder / "2026-02", le.Ledger.open(folder / "city.ledger")).ok


def test_what_was_paid_for_before_there_was_a_rehearsal_may_be_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = forged(folder / "2026-01", folder / "forged", FORGERIES["sizes: empty"])
    with monkeypatch.context() as patched:
        patched.setattr(PAID, killed)
        patched.setattr(inference, "_rehearse", lambda *_: None)
        with pytest.raises(Killed):
            publish(folder, "2026-02", before)
    with pytest.raises(ReleaseError, match="is not lost: the same call with --without-series"):
        publish(folder, "2026-02", before)
    release = publish(folder, "2026-02", before, without_series=True)
    assert release.statement.without_series is not None
    assert release.statement.without_series.previous == fingerprint_of(before)
    assert spent(folder) == 2


@pytest.mark.parametrize("first", [True, False])
def test_what_is_complete_is_finished_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(MEASURED, killed)
        with pytest.raises(Killed):
            publish(folder, "2026-02", folder / "2026-01")
    with monkeypatch.context() as patched:
        patched.setattr(STAGED, killed)
        with pytest.raises(Killed), pytest.warns(UserWarning, match="earlier attempt"):
            publish(folder, "2026-02", folder / "2026-01", without_series=first)
    with pytest.raises(ParameterError, match="complete, and needs only its name"):
        publish(folder, "2026-02", folder / "2026-01", without_series=not first)
    with pytest.warns(UserWarning, match="earlier attempt"):
        release = publish(folder, "2026-02", folder / "2026-01", without_series=first)
    assert (release.statement.without_series is not None) == first
    assert spent(folder) == 2
    assert left(folder) == ["2026-01", "2026-02", "city.ledger"]


def test_a_release_that_has_not_begun_is_not_published_without_its_series(folder: Path) -> None:
    with pytest.raises(ParameterError, match="none has begun"):
        publish(folder, "2026-02", folder / "2026-01", without_series=True)
    with pytest.raises(ParameterError, match="must be given as it was"):
        publish(folder, "2026-02", without_series=True)
    assert spent(folder) == 1
    assert left(folder) == ["2026-01", "city.ledger"]


@pytest.mark.parametrize("without", [True, False])
def test_what_is_paid_for_is_kept_in_a_directory(folder: Path, without: bool) -> None:
    """An attempt without one could not be finished without its series."""
    with pytest.raises(ParameterError, match="is for a release that is saved"):
        publish(folder, "2026-02", folder / "2026-01", without_series=without, out=None)
    assert spent(folder) == 1


def test_the_identity_of_an_attempt_is_the_same(folder: Path) -> None:
    chain = read_chain(folder / "2026-01")
    request = le.publishing.request.Request(
        SHARES, listed(), window=window("2026-02"), unit="person-month", after=chain
    )
    assert replace(request, without_series=True).identity(None) == request.identity(None)


def test_a_neighbour_that_is_larger_than_a_release_can_be_is_not_read(tmp_path: Path) -> None:
    """A file of holes takes no space, and minutes to read."""
    for name, size in (("small", 100), ("huge", 1 << 30)):
        (tmp_path / name).mkdir()
        with (tmp_path / name / "details.yaml").open("wb") as file:
            file.truncate(size)
    assert [*_releases_in([tmp_path]).values()] == [tmp_path / "small"]
