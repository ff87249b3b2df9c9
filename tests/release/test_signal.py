"""Signal: a release that is noise alone says so, by the known law of its noise."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.core.language import words_in
from locentropy.privacy.noise_sums import SURE, chance_below, deviation, sum_weights, usual_most
from locentropy.release.signal import Signal, signal_of, signal_words
from tests.cli.running import in_process as locentropy
from tests.publishing.invented import DATA
from tests.release.test_previous import PAID_BY

PLACES = [f"p{number}" for number in range(12)]
SHARES = le.Shares(1.0, max_users=1000)
MOMENTS = le.Moments(1.0, max_locations=3, max_visits=3)
GAUSSIAN = replace(SHARES, delta=1e-6)
LAWS = [SHARES, GAUSSIAN, MOMENTS, replace(MOMENTS, max_visits=1)]
MECHANISMS = [MOMENTS, SHARES, pytest.param(GAUSSIAN, marks=pytest.mark.slow), replace(MOMENTS, max_visits=1)]


def visits(people: int = 400, prefix: str = "p") -> le.Visits:
    """Two places for each person; by another prefix, none of them is on the list."""
    user = np.repeat(np.arange(people), 2)
    place = (user + np.tile([0, 5], people)) % len(PLACES)
    days = np.datetime64("2026-05-01T12:00") + (user % 60).astype("timedelta64[D]")
    ids = [f"{prefix}{number}" for number in place]
    return le.Visits(pa.table({"user": user, "location": ids, "time": days.astype("datetime64[us]")}))


def publish(read: le.Visits, mechanism: Any, out: Path | None = None, **given: Any) -> le.Release:
    places = given.pop("places", le.PublicLocations(PLACES, provenance="the register"))
    return le.publish(read, mechanism, places, ledger=given.pop("ledger", None), out=out, **given)


# --- the law: exact, whatever is drawn ------------------------------------------------------------------------------


def gamma_difference_above(draws: int, at: float) -> float:
    """A sum of Laplace draws of scale 1 is the difference of two gamma variables, whose law is a finite sum."""
    found, poisson = 0.0, math.exp(-at)
    for arrived in range(draws):
        left = draws - arrived
        # That `left` more come before `draws` of the other kind, by fair coins.
        coins = sum(math.comb(left - 1 + other, other) * 0.5 ** (left + other) for other in range(draws))
        found += poisson * (1 - coins)
        poisson *= at / (arrived + 1)
    return found


@pytest.mark.parametrize("draws", [1, 2, 3, 7, 20, 60])
def test_the_law_is_that_of_sums_of_laplace_noise(draws: int) -> None:
    for at in (-3.0, 0.0, 1.0, 3.0, 4.5):
        found = 1 - chance_below(sum_weights("laplace", (1 / math.sqrt(2 * draws),), draws), at)
        expected = gamma_difference_above(draws, abs(at) * math.sqrt(2 * draws))
        assert found == pytest.approx(expected if at >= 0 else 1 - expected, abs=1e-7)


def test_noise_alone_is_above_the_limit_with_the_probability_that_is_told() -> None:
    for draws in (1, 2, 5, 40):
        most = usual_most("laplace", (7.0,), draws)
        assert gamma_difference_above(draws, most / 7.0) == pytest.approx(1 - SURE, abs=1e-8)


def test_the_limit_is_as_many_deviations_as_is_told() -> None:
    assert usual_most("laplace", (3.0,), 1) / deviation("laplace", (3.0,), 1) == pytest.approx(4.18, abs=0.01)
    assert usual_most("laplace", (3.0,), 100_000) / deviation("laplace", (3.0,), 100_000) == pytest.approx(
        3, abs=1e-4
    )
    assert usual_most("gaussian", (3.0,), 5) == pytest.approx(3 * 3.0 * math.sqrt(5))
    assert pytest.approx(0.99865, abs=1e-5) == SURE


@pytest.mark.parametrize("mechanism", LAWS, ids=str)
@pytest.mark.parametrize("places", [1, 2, 12])
def test_the_false_alarms_of_a_release_of_noise_are_as_rare_as_is_told(mechanism: Any, places: int) -> None:
    """The exact law of the very integers: discrete noise of the mechanism's own scale, on a coarser lattice."""
    listed = le.mechanisms.Locations.of(PLACES[:places])
    shape = (places, 2) if isinstance(mechanism, le.Moments) else (places,)
    name = "sums" if isinstance(mechanism, le.Moments) else "look"
    nothing = le.mechanisms.Measurements(listed.ids, {name: np.zeros(shape, dtype=np.int64)}, private=True)
    found, presence = signal_of(mechanism, nothing, listed), mechanism.presence(nothing, listed)
    assert found is not None
    assert found.value == 0
    scales = [abs(weight) * presence.scale for weight in presence.weights if weight]
    step = found.deviation / 400
    cells = np.arange(-(2**14), 2**14) * step
    law = np.ones(1)
    for scale in scales * places:
        one = np.exp(-np.abs(cells) / scale if presence.noise == "laplace" else -((cells / scale) ** 2) / 2)
        law = convolved(law, one / one.sum())
    # A cell stands for what is rounded to it.
    above = law[law.size // 2 :][np.arange(law.size - law.size // 2) * step > found.threshold].sum()
    assert above == pytest.approx(1 - SURE, rel=0.02)


def convolved(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    if one.size == 1:
        return other
    size = other.size
    both = np.fft.irfft(np.fft.rfft(one, 2 * size) * np.fft.rfft(other, 2 * size), 2 * size)
    return both[size // 2 : size // 2 + size]


# --- releases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_people_are_a_signal(mechanism: Any) -> None:
    there = publish(visits(), mechanism).signal
    assert there is not None
    assert there.present
    assert there.value == pytest.approx(800 if there.of == "visits" else 400, abs=12 * there.deviation + 300)


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that is the same every time: no verdict depends on a draw."""
    from locentropy.privacy.noise import OpenDPNoise
    from locentropy.publishing.invented import InventedNoise

    for name in ("laplace", "gaussian"):
        drawn = getattr(InventedNoise(), name)
        monkeypatch.setattr(OpenDPNoise, name, lambda self, values, scale, drawn=drawn: drawn(values, scale))


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_noise_alone_says_so_in_every_file(mechanism: Any, tmp_path: Path) -> None:
    release = publish(visits(prefix="0p"), mechanism, tmp_path / "release")
    assert release.signal is not None
    assert not release.signal.present
    assert "NO SIGNAL" in repr(release)
    words = "These numbers contain no signal: the published"
    manifest = yaml.safe_load((tmp_path / "release" / "manifest.yaml").read_text())
    assert words in manifest["deployment"]["basic"]["description"]
    details = yaml.safe_load((tmp_path / "release" / "details.yaml").read_text())
    assert words in details["table"]["signal"]["in_words"]
    page = (tmp_path / "release" / "report.html").read_text()
    assert words in page
    assert not any(said in page for said in words_in("en").texts["useful.differences"].values())
    report = le.verify(tmp_path / "release")
    assert report.ok, report.checks
    assert any(words in note for note in report.notes)
    assert le.Release.load(tmp_path / "release").signal == release.signal


def test_a_signal_is_stated_and_nothing_is_warned_of(tmp_path: Path) -> None:
    release = publish(visits(), MOMENTS, tmp_path / "release")
    assert "NO SIGNAL" not in repr(release)
    assert "no signal" not in (tmp_path / "release" / "report.html").read_text()
    assert "no signal" not in (tmp_path / "release" / "manifest.yaml").read_text()
    stated = yaml.safe_load((tmp_path / "release" / "details.yaml").read_text())["table"]["signal"]
    assert stated["value"] > stated["threshold"]
    assert release.statement.signal == release.signal


@pytest.mark.parametrize("name", ["value", "deviation", "threshold"])
def test_what_is_stated_is_computed_again(tmp_path: Path, name: str) -> None:
    release = publish(visits(), MOMENTS)
    assert release.signal is not None
    changed = {
        "value": -3.0,
        "deviation": release.signal.deviation * 1.01,
        "threshold": release.signal.threshold * 1.01,
    }
    signal = replace(release.signal, **{name: changed[name]})
    replace(release, statement=replace(release.statement, signal=signal)).save(tmp_path / "changed")
    report = le.verify(tmp_path / "changed")
    assert [check.problems for check in report.checks if check.problems] == [
        ("What is said of the signal is not what the measurements give.",)
    ]


def test_it_is_the_same_after_the_estimates_were_made_anew(tmp_path: Path) -> None:
    release = publish(visits(), MOMENTS)
    assert release.reestimate().statement.signal == release.statement.signal


def test_a_release_that_does_not_state_it_has_it_on_reading(tmp_path: Path) -> None:
    release = publish(visits(), MOMENTS)
    silent = replace(release, statement=replace(release.statement, signal=None))
    assert silent.signal == release.signal
    saved = silent.save(tmp_path / "silent")
    assert le.verify(saved).ok
    assert le.Release.load(saved).signal == release.signal


@pytest.mark.parametrize("name", PAID_BY)
def test_releases_of_version_0_1_kept_no_measurements_and_tell_nothing(name: str) -> None:
    release = le.Release.load(DATA / name)
    assert release.measurements is None
    assert release.signal is None


def test_other_mechanisms_do_not_tell() -> None:
    assert publish(visits(), le.paper.Limit(1.0, max_locations=3, max_visits=3)).signal is None


# --- windows and levels ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("monthly", [False, True])
@pytest.mark.parametrize("mechanism", [MOMENTS, pytest.param(SHARES, marks=pytest.mark.slow)], ids=str)
def test_every_window_has_its_own(tmp_path: Path, monthly: bool, mechanism: Any) -> None:
    ledger = None
    if monthly:
        ledger = le.Ledger.create(
            tmp_path / "a.ledger", "riders", 1, unit="person-month", person_epsilon=4, zone="as-written"
        )
    window = le.Window("2026-05/2026-08", zone="as-written")
    release = publish(
        visits(4000), mechanism, tmp_path / "out", window=window, windows="month", ledger=ledger
    )
    assert release.signal is not None
    assert [each.present for each in release.signal.windows] == [
        True,
        True,
        False,
    ]  # nobody was there in July
    assert release.signal.present
    assert sum(each.value for each in release.signal.windows) == pytest.approx(release.signal.value, rel=1e-6)
    assert le.verify(tmp_path / "out", ledger).ok
    [page] = (tmp_path / "out").glob("report*.html")
    assert page.read_text().count("These numbers contain no signal") == 1  # on the page of July
    manifest = (tmp_path / "out" / "manifest.yaml").read_text().replace("\n", " ")
    assert "The numbers of one window contain no signal: 2026-07 (" in " ".join(manifest.split())
    assert le.Release.load(tmp_path / "out").signal == release.signal


@pytest.mark.usefixtures("noise")
def test_every_level_has_its_own(tmp_path: Path) -> None:
    table = pa.table({"location": PLACES, "district": ["north", "south"] * 6})
    places = le.PublicLocations(table, levels=["place", "district"], provenance="the register")
    release = publish(visits(prefix="x"), MOMENTS, tmp_path / "out", places=places)
    for level in release.levels.values():
        assert level.signal is not None
        assert not level.signal.present
    notes = le.verify(tmp_path / "out").notes
    assert [note.split(":")[0] for note in notes if "no signal" in note] == ["Level place", "Level district"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("These numbers contain no signal") >= 2


# --- words ----------------------------------------------------------------------------------------------------------


def test_the_words_are_plain() -> None:
    release = publish(visits(), MOMENTS)
    told = Signal("presence", -19.3, 56.6, 171.0)
    words = signal_words(told, release.statement)
    assert words.startswith("These numbers contain no signal: the published presence is −19 ± 57.")
    german = signal_words(replace(told, deviation=5.66, value=-1.93), release.statement, words_in("de"))
    assert german.startswith(
        "Diese Zahlen enthalten kein Signal: Die veröffentlichte Anwesenheit ist −1,9 ± 5,7."
    )
    assert signal_words(replace(told, value=171.1), release.statement) == ""


@pytest.mark.parametrize(
    "wrong",
    [
        ("presence", math.inf, 1.0, 3.0),
        ("people", 1.0, 1.0, 3.0),
        ("visits", 1.0, 0.0, 3.0),
        ("visits", 1.0, 3.0, 3.0),
    ],
)
def test_a_signal_that_none_can_be_is_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="signal must be"):
        Signal(*wrong)


# --- the screen -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize(("prefix", "silent"), [("p", False), ("0p", True)])
def test_the_screen_says_it_after_publishing(tmp_path: Path, prefix: str, silent: bool) -> None:
    pq.write_table(visits(prefix=prefix).source, tmp_path / "visits.parquet")
    (tmp_path / "places.csv").write_text("location\n" + "\n".join(PLACES))
    asked = (
        "--mechanism",
        "moments",
        "--epsilon",
        1,
        "--max-locations",
        3,
        "--max-visits",
        3,
        "--user",
        "user",
    )
    done = locentropy(
        "publish",
        tmp_path / "visits.parquet",
        *("--places", tmp_path / "places.csv", "--no-ledger", "--json", "--out", tmp_path / "out"),
        *asked,
    )
    assert done.returncode == 0, done.stderr
    assert ("These numbers contain no signal: the published number of visits is" in done.stderr) == silent
    assert json.loads(done.stdout)["signal"]["present"] != silent
