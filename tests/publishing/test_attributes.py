"""Public attributes on their way to a release: plan, guarantee, files, and the values computed again from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.estimates import AttributeEffect, Estimates, Measurements
from locentropy.core.locations import Locations
from locentropy.mechanisms.registry import class_called
from locentropy.planning.plans import Plan
from locentropy.publishing.request import Request
from locentropy.release.release import Release
from tests.publishing.making import visits_in

PLACES = pa.table(
    {
        "place": ["bar", "cafe", "park", "pier"],
        "lat": [1.0, 2.0, 3.0, 4.0],
        "lon": [1.0, 2.0, 3.0, 4.0],
        "category": ["=drinks", "=drinks", "outside", None],
        "opened": [1990, 1990, 2001, 2002],
        "lit": [True, False, True, None],
    }
)
NAMES = ("category", "opened", "lit", "coordinates")


@dataclass(frozen=True)
class Leaning(le.Moments):
    """Moments whose values are drawn towards the mean of their category."""

    name: ClassVar[str] = "leaning"
    uses_attributes: ClassVar[bool] = True

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        assert locations is not None
        assert locations.attribute_names == NAMES, "also where values are computed again"
        assert locations.lat is not None
        plain = super().estimate(measurements, locations)
        codes = locations.attributes["category"].dictionary_encode().indices.fill_null(-1).to_numpy()
        means = np.array([plain.entropy[codes == code].mean() for code in codes])
        shift = (means - plain.entropy) / 2
        columns = {name: getattr(plain, name) + shift for name in ("low", "high")}
        effects = (AttributeEffect("category", 0.25), AttributeEffect("coordinates", 0.0))
        return Estimates(
            plain.locations, plain.entropy + shift, plain.estimand, plain.private, plain.std_error, **columns,
            leans_on=effects,
        )  # fmt: skip

    @property
    def is_built_in(self) -> bool:
        return False


LEANING = Leaning(1.0, max_locations=3, max_visits=2, max_users=100)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> le.PublicLocations:
    monkeypatch.setattr(
        "locentropy.release.reestimate.class_called",
        lambda name: Leaning if name == "Leaning" else class_called(name),
    )
    monkeypatch.setattr(
        "locentropy.release.reestimate.parameter_names", lambda name: Leaning.__dataclass_fields__
    )
    pq.write_table(PLACES, tmp_path / "places.parquet")
    return le.PublicLocations(tmp_path / "places.parquet", provenance="the register", attributes=list(NAMES))


def test_they_travel_into_the_release(tmp_path: Path, listed: le.PublicLocations) -> None:
    release = le.publish(visits_in(tmp_path), LEANING, listed, out=tmp_path / "may", ledger=None)
    table = release.to_arrow()
    assert table.column_names[:7] == ["location", "lat", "lon", "category", "opened", "lit", "entropy"]
    assert table.select(["category", "opened", "lit"]).equals(PLACES.select(["category", "opened", "lit"]))
    said = release.statement
    assert said.attributes == NAMES
    assert said.leans_on == (AttributeEffect("category", 0.25), AttributeEffect("coordinates", 0.0))
    assert "attributes = category, opened, lit, coordinates" in str(said.guarantee)
    manifest = " ".join((tmp_path / "may" / "manifest.yaml").read_text().split())
    assert "names, coordinates and attributes" in manifest
    assert "category (it explains 25 % of the spread)" in manifest
    assert "never from the visits" in manifest
    details = yaml.safe_load((tmp_path / "may" / "details.yaml").read_text())
    assert details["locations"]["attributes"] == list(NAMES)
    assert "public list" in details["table"]["columns"]["category"]
    assert (
        (tmp_path / "may" / "release.csv")
        .read_text()
        .splitlines()[1]
        .startswith('"bar",1,1,"=drinks",1990,true,')
    )


def test_values_are_computed_again_from_the_release_alone(tmp_path: Path, listed: le.PublicLocations) -> None:
    release = le.publish(visits_in(tmp_path), LEANING, listed, out=tmp_path / "may", ledger=None)
    (tmp_path / "places.parquet").unlink()
    report = le.verify(tmp_path / "may")
    assert report.ok, report
    assert any("formulas" in note for note in report.notes), "attributes are looked at as well"
    again = Release.load(tmp_path / "may").reestimate()
    assert again.to_arrow().equals(release.to_arrow())
    assert again.statement.leans_on == release.statement.leans_on


@pytest.mark.parametrize("changed", ["category", "explained"])
def test_what_does_not_follow_from_the_measurements_is_found(
    changed: str, tmp_path: Path, listed: le.PublicLocations
) -> None:
    release = le.publish(visits_in(tmp_path), LEANING, listed, ledger=None)
    table, statement = release.to_arrow(), release.statement
    if changed == "category":
        at = table.column_names.index("category")
        table = table.set_column(at, "category", [["=drinks", "outside", "outside", None]])
    else:
        statement = replace(statement, leans_on=(AttributeEffect("category", 0.9),))
    Release(table, statement, release.measurements).save(tmp_path / "edited")
    [problem, *_] = [check for check in le.verify(tmp_path / "edited").checks if check.problems]
    assert problem.name == "measurements"


def test_a_table_without_its_attributes_is_no_release(tmp_path: Path, listed: le.PublicLocations) -> None:
    release = le.publish(visits_in(tmp_path), LEANING, listed, ledger=None)
    for column in ("category", "lat"):
        with pytest.raises(ReleaseError):
            Release(release.to_arrow().drop_columns([column]), release.statement)
    odd = release.to_arrow()
    odd = odd.set_column(odd.column_names.index("opened"), "opened", [pc.cast(odd["opened"], pa.float64())])
    with pytest.raises(ReleaseError, match="opened has type double"):
        Release(odd, release.statement)


def test_they_are_part_of_what_a_retry_must_repeat(listed: le.PublicLocations) -> None:
    def identity(**changes: Any) -> Any:
        places = replace(listed, **changes)
        return Request(le.Shares(epsilon=1.0), places).identity(None)

    usual = identity()
    assert identity() == usual
    assert identity(attributes=["category"]) != usual
    assert identity(attributes=[])["list"] != usual["list"]
    assert "attributes" not in identity(attributes=[]), "requests of earlier versions have no such entry"


class TestPlans:
    def test_said_and_kept(self, tmp_path: Path) -> None:
        made = le.plan(le.Shares(epsilon=1.0), attributes=["coordinates", "category"], n_locations=400)
        assert "with their category and coordinates" in str(made)
        assert made.to_dict()["locations"] == {
            "kind": "public-list",
            "attributes": ["category", "coordinates"],
        }
        assert made.guarantee.epsilon == 1
        made.to_yaml(tmp_path / "plan.yaml")
        assert Plan.from_yaml(tmp_path / "plan.yaml") == made

    @pytest.mark.parametrize(
        ("where", "word"),
        [
            ({"locations": "grid"}, "Nothing else is known of cells"),
            ({"selection": (0.2, 1e-8, 20)}, "there is no list"),
        ],
    )
    def test_only_a_public_list_has_them(self, where: Any, word: str) -> None:
        with pytest.raises(ParameterError, match=word):
            le.plan(le.Shares(epsilon=1.0), attributes=["category"], **where)

    def test_only_where_they_are_used(self, listed: le.PublicLocations) -> None:
        moments = le.Moments(1.0, max_locations=3, max_visits=2)
        with pytest.raises(ParameterError, match="moments, which uses none"):
            Request(moments, listed)
        with pytest.raises(ParameterError, match="moments, which uses none"):
            le.plan(moments, attributes=["category"])

    def test_not_of_places_that_are_left_out(self, listed: le.PublicLocations) -> None:
        with pytest.raises(ParameterError, match="not published, so it has no attributes"):
            Request(le.Shares(epsilon=1.0), listed, exclude=listed)
