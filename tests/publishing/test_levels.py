"""A release of several levels: one spend, one draw, a table for each, and what one person can change of all."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.locations import Locations
from locentropy.mechanisms import level_parts
from locentropy.publishing import publication, publish, requested_levels
from locentropy.publishing.notices import PublishingWarning
from locentropy.publishing.request import Request
from locentropy.release.level_words import NOT_ADDITIVE
from tests.examples import at_night
from tests.mechanisms.shares.recording import Recorder, allowed, loss
from tests.publishing.making import Killed, ledger_in, names

PLACES = pa.table(
    {
        "venue": [f"v{at}" for at in range(24)],
        "lat": np.linspace(40.70, 40.79, 24),
        "lon": np.linspace(-74.00, -73.90, 24),
        "district": [("North", "South", "West")[at % 3] if at < 22 else None for at in range(24)],
        "kind": ["bar", "cafe"] * 12,
    }
)
NAMES = ["place", "district", "city"]
SHARES = le.Shares(1.0, max_users=1000)
MOMENTS = le.Moments(1.0, max_locations=3, max_visits=2, max_users=1000)
"""Estimates in no time, where it does not matter which."""


def listed(**options: Any) -> le.PublicLocations:
    return le.PublicLocations(PLACES, **({"levels": NAMES, "provenance": "the register"} | options))


def crowd(seed: int = 1, people: int = 60) -> list[tuple[int, str]]:
    """Some are at most places of a district, and one is everywhere, three times."""
    draw = random.Random(seed)
    at = PLACES["venue"].to_pylist()
    rows = [(user, draw.choice(at)) for user in range(people) for _ in range(draw.choice([1, 3, 20, 40]))]
    return rows + [(people, place) for place in at for _ in range(3)]


def visits(rows: list[tuple[int, str]]) -> le.Visits:
    return le.Visits(pa.table({"user": [u for u, _ in rows], "venue": [v for _, v in rows]}), user="user")


def published(folder: Path, mechanism: Any = SHARES, ledger: Any = None, **options: Any) -> le.Release:
    return le.publish(visits(crowd()), mechanism, listed(**options), ledger=ledger, out=folder / "out")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> le.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PublishingWarning)
        return published(tmp_path_factory.mktemp("levels"))


@pytest.fixture
def folder(release: le.Release, tmp_path: Path) -> Path:
    return release.save(tmp_path / "copy")


pytestmark = pytest.mark.filterwarnings(
    "ignore::locentropy.publishing.notices.PublishingWarning",
    "ignore::locentropy.publishing.publication.ResumedWarning",
)


# --- what is published --------------------------------------------------------------------------------------------


def test_a_table_for_each_level(release: le.Release, folder: Path) -> None:
    assert {name: len(level) for name, level in release.levels.items()} == {
        "place": 24,
        "district": 3,
        "city": 1,
    }
    assert next(iter(release.levels.values())) is release
    assert names(folder) == sorted(
        [
            "datapackage.json",
            "details.yaml",
            "manifest.yaml",
            "report.html",
            "release.csv",
            "release.parquet",
            "measurements.parquet",
        ]
        + [
            f"{stem}{end}"
            for stem in ("district", "city")
            for end in (".csv", ".parquet", ".measurements.parquet")
        ]
    )
    district = pq.read_table(folder / "district.parquet")
    assert district["location"].to_pylist() == ["North", "South", "West"]
    assert "kind" not in district.column_names, "places of a district differ in it"
    assert release.to_arrow()["district"].to_pylist() == PLACES["district"].to_pylist()
    assert pq.read_table(folder / "city.parquet")["location"].to_pylist() == ["city"]
    assert "place (24), district (3), city (1)" in repr(release)


def test_all_of_it_is_stated(release: le.Release, folder: Path) -> None:
    details = yaml.safe_load((folder / "details.yaml").read_text())
    assert details["guarantee"]["epsilon"] == "1"
    assert [(part["name"], part["consists_of"], part["epsilon"]) for part in details["levels"]] == [
        ("place", "place", "0.54"),
        ("district", "column", "0.27"),
        ("city", "list", "0.19"),
    ]
    assert [level["mechanism"]["parameters"]["epsilon"] for level in details["further_levels"]] == [
        "0.27",
        "0.19",
    ]
    manifest = " ".join((folder / "manifest.yaml").read_text().split())
    assert "This release has 3 levels" in manifest
    assert "docs/proofs/levels.md" in manifest
    assert "Entropy does not add up over levels" in manifest
    page = (folder / "report.html").read_text()
    assert page.count(NOT_ADDITIVE) >= 3, "at every level"
    for level in release.levels.values():
        assert level.statement.guarantee.epsilon == 1, "of the whole release, whichever level one looks at"


def test_it_is_read_back_verified_and_estimated_again(
    release: le.Release, folder: Path, tmp_path: Path
) -> None:
    loaded = le.Release.load(folder)
    for name, level in release.levels.items():
        again = loaded.levels[name]
        assert again.to_arrow().equals(level.to_arrow())
        assert again.statement == level.statement
    report = le.verify(folder)
    assert report.ok, report
    assert [check.name for check in report.checks if "measurements" in check.name] == [
        "measurements",
        "measurements of district",
        "measurements of city",
    ]
    made = loaded.reestimate()
    assert le.verify(made.save(tmp_path / "again")).ok
    assert made.levels["city"].to_arrow().equals(release.levels["city"].to_arrow())


def test_it_is_one_release_without_files_as_well() -> None:
    made = le.publish(visits(crowd()), SHARES, listed(levels={"district": 0.5, "all": 0.5}), ledger=None)
    assert {name: len(level) for name, level in made.levels.items()} == {"district": 3, "all": 1}
    assert [str(part.epsilon) for part in made.statement.levels] == ["1/2", "1/2"]
    with pytest.raises(ReleaseError, match="one level of a release"):
        made.levels["all"].save("nowhere")


@pytest.mark.parametrize(
    "mechanism",
    [
        le.Shares(1.0, delta=1e-8, max_users=1000),
        le.Shares(1.0, counts=0.2, max_locations=3, max_visits=2, max_users=1000),
        MOMENTS,
        le.LimitPTR(1.0, delta=1e-6, max_locations=3, max_visits=2, min_users=20, max_users=1000),
    ],
    ids=["gaussian", "counts", "moments", "limit-ptr"],
)
def test_other_mechanisms(mechanism: Any, tmp_path: Path) -> None:
    made = published(tmp_path, mechanism)
    guarantee = made.statement.guarantee
    assert (guarantee.epsilon, guarantee.delta) == (mechanism.guarantee.epsilon, mechanism.guarantee.delta)
    assert sum((part.delta for part in made.statement.levels), Fraction(0)) == guarantee.delta
    report = le.verify(tmp_path / "out")
    assert report.ok, report


def test_attributes_are_of_places(tmp_path: Path) -> None:
    made = published(tmp_path, le.Shares(0.5, max_users=1000), attributes=["kind"])
    assert [level.statement.attributes for level in made.levels.values()] == [("kind",), (), ()]
    assert le.verify(tmp_path / "out").ok
    with pytest.raises(ParameterError, match="tell about places, and no level is 'place'"):
        le.publish(
            visits(crowd()), SHARES, listed(levels=["district", "city"], attributes=["kind"]), ledger=None
        )


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> le.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PublishingWarning)
        return published(tmp_path_factory.mktemp("moments"), MOMENTS)


@pytest.mark.parametrize("stem", ["district", *at_night("city")])
@pytest.mark.parametrize("end", [".csv", ".parquet", ".measurements.parquet"])
def test_a_changed_or_missing_file_of_a_level_is_found(
    stem: str, end: str, moments: le.Release, tmp_path: Path
) -> None:
    folder = moments.save(tmp_path / "copy")
    path = folder / f"{stem}{end}"
    content = path.read_bytes()
    path.write_bytes(content[:-9] + bytes(9 * [content[-10]]))
    assert not le.verify(folder).ok
    if end != ".csv":  # a table as text is not read
        with pytest.raises(ReleaseError):
            le.Release.load(folder)
    path.unlink()
    assert not le.verify(folder).ok
    path.write_bytes(content)
    assert le.verify(folder).ok
    (folder / "ward.csv").write_text("a\n")
    assert "does not belong to the release" in str(le.verify(folder).checks)


def test_edited_parts_are_found(folder: Path) -> None:
    path = folder / "details.yaml"
    text = path.read_text()
    for old, new in (
        ("epsilon: '0.54'", "epsilon: '0.5'"),
        ("name: city", "name: town"),
        ("consists_of: list", "consists_of: x"),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        assert not le.verify(folder).ok
        with pytest.raises(ReleaseError):
            le.Release.load(folder)


def test_levels_belong_together(release: le.Release) -> None:
    with pytest.raises(ReleaseError, match="in another order"):
        release.with_levels(reversed(release.further))
    with pytest.raises(ReleaseError, match="in another order"):
        release.with_levels(release.further[:1])
    other = replace(release.further[0], measurements=None)
    with pytest.raises(ReleaseError, match="of every level, or of none"):
        release.with_levels([other, release.further[1]])
    statement = release.statement
    with pytest.raises(ParameterError, match="add up to the guarantee"):
        replace(statement, guarantee=le.Guarantee.pure(2))
    with pytest.raises(ParameterError, match="at another epsilon than its part"):
        replace(statement, parameters={**statement.parameters, "epsilon": "1"})
    with pytest.raises(ParameterError, match="one of the levels"):
        replace(statement, level="ward")


# --- one spend, one draw ------------------------------------------------------------------------------------------


def test_one_spend_pays_for_all(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path, epsilon=1)
    made = published(tmp_path, MOMENTS, ledger)
    [spend] = ledger.history()
    assert spend.epsilon == 1
    assert le.verify(tmp_path / "out", ledger).ok
    assert made.statement.ledger is not None
    with pytest.raises(le.LocentropyError, match="budget"):
        le.publish(visits(crowd()), MOMENTS, listed(), ledger=ledger, out=tmp_path / "second")


def test_a_ledger_in_rho_is_charged_the_sum_of_the_levels(tmp_path: Path) -> None:
    """Each level has the ρ of its own (ε, δ); that of the whole would be more, and (ε²/2, δ) is not charged."""
    ledger = le.Ledger.create(tmp_path / "rho.ledger", "riders", 4, "1e-6", composition="concentrated")
    mechanism = le.Shares(1.0, delta=1e-7, max_users=1000)
    made = published(tmp_path, mechanism, ledger)
    request = Request(mechanism, listed())
    parts = [level.mechanism.guarantee.rho for level in request.levels]
    [part] = ledger.read().parts
    assert part.charge.rho == sum(parts) < (mechanism.guarantee.rho or 0)
    assert part.charge.rho_delta == 0
    assert (part.charge.epsilon, part.charge.delta) == (1, Fraction(1, 10**7))
    assert made.statement.guarantee.rho == part.charge.rho
    assert le.verify(tmp_path / "out", ledger).ok


def numbers(measured: Any) -> dict[str, Any]:
    return {name: values.tolist() for name, values in measured.measurements.values.items()}


def test_an_attempt_that_stopped_between_levels_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_in(tmp_path, epsilon=1)
    kept: list[Any] = []
    with monkeypatch.context() as planted:
        keep = publication.keep_measurements

        def stopped(measured: Any, path: Path) -> None:
            keep(measured, path)
            kept.append(numbers(measured))
            if len(kept) == 2:  # both further levels, and not yet the first
                raise Killed

        planted.setattr(publication, "keep_measurements", stopped)
        with pytest.raises(Killed):
            published(tmp_path, MOMENTS, ledger)
    made = published(tmp_path, MOMENTS, ledger)
    assert len(ledger.history()) == 1
    found = [numbers(each.measurements) for each in made.further]
    assert found == kept, "what was drawn is not drawn again"
    assert le.verify(tmp_path / "out", ledger).ok
    assert names(tmp_path) == ["city.ledger", "out"]


def test_another_division_is_another_request(tmp_path: Path) -> None:
    ids = {
        str(Request(SHARES, listed(levels=each)).identity(None))
        for each in (NAMES, NAMES[:2], {"place": 0.5, "all": 0.5})
    }
    assert len(ids) == 3
    assert "levels" not in Request(SHARES, listed(levels=())).identity(None), "as before there were levels"


# --- the guarantee ------------------------------------------------------------------------------------------------


def drawn(rows: list[tuple[int, str]], mechanism: Any, seed: int, *, all_clear: bool) -> list[Any]:
    """What all levels together ask of the noise, through the engine, under one and the same outcome."""
    request = Request(mechanism, listed())
    noise: Any = Recorder(seed, all_clear)
    with le.private.open_queries(visits(rows), locations=request.listed) as queries:
        asked = [level.of(queries) for level in request.levels]
        publish._cross(request, asked, noise)
    found: list[Any] = noise.drawn
    return found


def cost(mechanism: Any, user: int, seed: int = 1, *, all_clear: bool = False) -> Fraction:
    """What leaving out one user costs at all levels together, as a part of what the whole guarantee allows."""
    rows = crowd(people=10)
    one, other = (
        drawn(kept, mechanism, seed, all_clear=all_clear)
        for kept in (rows, [row for row in rows if row[0] != user])
    )
    return loss(one, other) / allowed(mechanism)


@pytest.mark.parametrize("user", [0, 5, 10])
@pytest.mark.parametrize("all_clear", [False, True])
def test_one_user_costs_no_more_than_promised(user: int, all_clear: bool) -> None:
    assert cost(SHARES, user, all_clear=all_clear) <= 1


def test_who_is_everywhere_costs_most_of_it() -> None:
    """The check is not idle: it would see a fifth more."""
    assert cost(SHARES, 10, all_clear=True) > Fraction(8, 10)


def test_the_check_sees_levels_that_each_get_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted, with what refuses it out of the way."""
    monkeypatch.setattr(
        requested_levels, "divided", lambda mechanism, levels, sizes: dict.fromkeys(levels, mechanism)
    )
    assert cost(SHARES, 10, all_clear=True) > 1
    request = Request(SHARES, listed())
    with pytest.raises(ParameterError, match="add up to the guarantee"):
        request.statement("0" * 32, None, tuned=False, level=request.levels[0])


def test_the_check_sees_a_level_read_from_the_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: only districts that somebody visited. Which these are, the absence of one person may change."""

    def visited(self: Any, queries: Any) -> Any:
        found = own(self, queries)
        if self.part.name != "district":
            return found
        there = np.flatnonzero(found.exact_profile().entropy > 0)
        return found.restricted_to(Locations(found.locations.take(pa.array(there))))

    own = requested_levels.RequestedLevel.of
    monkeypatch.setattr(requested_levels.RequestedLevel, "of", visited)
    rows = [(1, "v0"), (2, "v0"), (3, "v1"), (4, "v1")]
    with pytest.raises(ParameterError, match="not opened with the public list"):
        drawn(rows, SHARES, 1, all_clear=True)


def test_levels_are_known_before_any_visit_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("visits were read")

    monkeypatch.setattr(publish, "open_queries", refused)
    request = Request(SHARES, listed())
    assert [len(level.locations or ()) for level in request.levels] == [24, 3, 1]
    assert request.guarantee.epsilon == 1


def test_parts_that_are_rounded_up_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_parts, "_by_rule", lambda whole, levels, sizes: [whole * Fraction(4, 10)] * 3)
    with pytest.raises(ParameterError, match="do not add up to the whole exactly"):
        Request(SHARES, listed())


# --- who reads no levels ------------------------------------------------------------------------------------------


def test_levels_are_not_compared() -> None:
    with pytest.raises(ParameterError, match="compared one at a time"):
        le.evaluate(visits(crowd()), [SHARES], listed(), seeds=1)


def test_levels_need_a_list_and_a_budget() -> None:
    with pytest.raises(ParameterError, match="are columns of a public list"):
        le.plan(SHARES, levels=NAMES, locations="grid")
    none = le.paper.LimitCB(1.0, max_locations=3, max_visits=2, min_users=5, accept_no_guarantee=True)
    with pytest.raises(ParameterError, match="has none to divide"):
        Request(none, listed(), not_private=True)


def test_ungrouped_places_are_told_by_level() -> None:
    with pytest.warns(
        UserWarning, match="2 places of the list have no district, so visits there do not count at that"
    ):
        le.publish(visits(crowd()), SHARES, listed(), ledger=None)
