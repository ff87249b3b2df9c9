"""Plans: the numbers against exact distributions and simulation, and the file that carries them."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy import LimitPTR
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.expected_error import (
    SIZES,
    USEFUL_BELOW,
    Row,
    Supposed,
    expected_errors,
    expected_noise,
)
from locentropy.mechanisms.select import SelectLocations
from locentropy.paper import Baseline, Limit, LimitCB, LimitSS
from locentropy.planning import Plan, plan
from locentropy.privacy.noise import LATTICE
from locentropy.release.statement import About
from tests.mechanisms.recording import CrowdQueries, measured

MECHANISMS = [
    Baseline(10.0, max_locations=100, max_visits=1000),
    Limit(1.0, max_locations=5, max_visits=5),
    Limit(5.0, max_locations=5, max_visits=5, max_users=1_000_000),
    LimitSS(1.0, delta=1e-8, max_locations=5, max_visits=5),
    LimitSS(2.0, delta=1e-8, max_locations=5, max_visits=50, split=0.9, max_users=100_000),
    LimitPTR(1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50),
    LimitCB(1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True),
]


def name(mechanism: object) -> str:
    return type(mechanism).__name__


def expected(mechanism: Any) -> Any:
    """The error to expect, with nothing supposed."""
    return mechanism.expected_error(Supposed())


# ---- expected errors


def law(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The discrete Laplace distribution, point by point."""
    points = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    weights = np.exp(-np.abs(points) / scale)
    return points, weights / weights.sum()


@pytest.mark.parametrize("scale", [0.4, 1.0, 7.3, 200.0, 3000.0])
def test_expected_noise_is_that_of_the_exact_distribution(scale: float) -> None:
    points, weights = law(scale)
    expected = float((np.abs(points) * weights).sum()) / LATTICE
    assert expected_noise(np.array([scale]))[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [300_000.0, 1_000_000.0])
@pytest.mark.parametrize(("users", "max_users"), [(1, None), (5, None), (3, 5), (5, 5), (200, 300)])
def test_expected_error_is_the_largest_over_all_entropies(
    scale: float, users: int, max_users: int | None
) -> None:
    at = (np.arange(400_000) + 0.5) / 400_000
    noise = -scale / LATTICE * np.log(at)  # magnitudes at equal steps of probability
    most = math.inf if max_users is None else math.log(max_users)

    def error(entropy: float) -> float:
        above, below = np.minimum(noise, most - entropy), np.minimum(noise, entropy)
        return float(above.mean() + below.mean()) / 2

    largest = max(error(entropy) for entropy in np.linspace(0.0, math.log(users), 41))
    told = expected_errors(np.array([scale]), np.array([users]), max_users)[0]
    assert told == pytest.approx(largest, rel=2e-3)
    assert told >= largest * (1 - 1e-4)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
@pytest.mark.parametrize("users", [1, 4, 60, 1000])
def test_simulated_errors_keep_below_and_reach_the_expected_one(mechanism: object, users: int) -> None:
    """Places where everybody has one visit have the largest entropy, ln n, where the error is largest too."""
    row = expected(mechanism).rows_at([users])[0]
    queries = CrowdQueries([{1: users}] * 20_000)
    found = mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), SimulatedNoise(3)),
        Locations(queries.locations),
    ).entropy
    shown = found[~np.isnan(found)]
    assert len(shown) / len(found) == pytest.approx(row.published, abs=0.02)
    if row.published < 0.1:
        return
    errors = np.abs(shown - math.log(users))
    slack = 5 * errors.std() / math.sqrt(len(errors))
    assert errors.mean() <= row.error + slack + 2**-21
    most = mechanism.max_users
    if most is None or users <= math.sqrt(most):
        assert errors.mean() == pytest.approx(row.error, abs=slack + 2**-21)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_scales_and_chances_are_those_the_mechanism_uses(mechanism: object) -> None:
    sizes = [1, 10, 51, 300, 2000]
    seen = measured(mechanism, [{1: users} for users in sizes])
    for row, scale, chance in zip(expected(mechanism).rows_at(sizes), seen.scales, seen.chances, strict=True):
        assert row.published == pytest.approx(float(chance), rel=1e-12)
        if row.published:
            assert row.noise == pytest.approx(float(expected_noise(np.array([scale]))[0]), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "split", "half"), [(5.0, 0.3, 111), (1.0, 0.5, 221), (0.1, 0.5, 1524)])
def test_limit_ptr_publishes_every_other_place_from(epsilon: float, split: float, half: int) -> None:
    mechanism = LimitPTR(epsilon, delta=1e-8, max_locations=5, max_visits=5, min_users=50, split=split)
    before, at = expected(mechanism).rows_at([half - 1, half])
    assert before.published < 0.5 <= at.published


def test_selection_has_the_curve_of_its_own_budget() -> None:
    selection = SelectLocations(
        0.5, delta=1e-8, max_locations=5
    )  # the curve of Limit-PTR at ε = 1, without its threshold
    before, at = plan(Limit(1.0, max_locations=5, max_visits=5), selection=selection).expected.rows_at(
        [170, 171]
    )
    assert before.published < 0.5 <= at.published


def test_more_epsilon_means_less_error_and_smaller_places() -> None:
    for make in (
        lambda e: Limit(e, max_locations=5, max_visits=5),
        lambda e: LimitSS(e, delta=1e-8, max_locations=5, max_visits=5),
        lambda e: LimitPTR(e, delta=1e-8, max_locations=5, max_visits=5, min_users=20),
    ):
        plans = [plan(make(epsilon)).expected for epsilon in (0.1, 0.5, 1.0, 4.0, 20.0)]
        for less, more in itertools.pairwise(plans):
            assert all(b.error < a.error for a, b in zip(less.rows, more.rows, strict=True))
            assert all(b.published >= a.published for a, b in zip(less.rows, more.rows, strict=True))
            assert (more.useful_from or math.inf) <= (less.useful_from or math.inf)


# ---- what is made of them


def test_verdicts() -> None:
    assert Row(100, 1.0, 0.1, 0.1, 2.3).verdict == "useful"
    assert Row(100, 1.0, 0.1, USEFUL_BELOW, 2.3).verdict == "rough"
    assert Row(2, 1.0, 0.4, 0.4, 0.35).verdict == "worse than a guess"
    assert Row(2, 0.0, 0.1, 0.1, 0.35).verdict == "never published"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_useful_from_is_where_it_begins_for_good(mechanism: object) -> None:
    found = expected(mechanism)
    start = found.useful_from
    if start is None:
        largest = min(2**20, mechanism.max_users or 2**20)
        assert not found.rows_at([largest])[0].useful
        return
    later = found.rows_at([start, start + 1, 2 * start, 50 * start])
    assert all(row.useful and row.published >= 0.5 for row in later)
    if start > 1:
        before = found.rows_at([start - 1])[0]
        assert not before.useful or before.published < 0.5


def test_the_share_of_useful_places_weighs_each_number_alike() -> None:
    mechanism = LimitPTR(5.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50)
    made = plan(mechanism, n_locations=1000, users_per_location=[5, 5, 90, 100_000])
    chance = made.expected.rows_at([90])[0].published
    assert 0 < chance < 1
    assert made.expected.share_useful == pytest.approx((chance + 1) / 4)
    assert made.to_dict()["expected_error"]["n_locations_useful"] == pytest.approx(1000 * (chance + 1) / 4)
    assert plan(mechanism).expected.share_useful is None
    assert plan(mechanism, users_per_location=5).expected.share_useful == 0


def test_the_guarantee_adds_the_selection_up_exactly() -> None:
    made = plan(Limit(0.1, max_locations=5, max_visits=5), selection=("0.2", "1e-8", 20))
    assert made.locations == "selection"
    assert str(made.guarantee.epsilon) == "3/10"
    assert made.guarantee.kind == "approximate"
    known = {each.name: each.value for each in made.guarantee.public_inputs}
    assert "locations" not in known, "the list is not public: it was selected"
    assert known["selection_max_locations"] == "20"
    assert known["max_locations"] == "5"


def test_rows_stop_at_the_largest_number_of_users() -> None:
    assert [
        row.users for row in plan(Limit(1.0, max_locations=5, max_visits=5, max_users=60)).expected.rows
    ] == [
        1,
        2,
        5,
        10,
        20,
        50,
    ]
    assert [row.users for row in plan(Limit(1.0, max_locations=5, max_visits=5)).expected.rows] == list(SIZES)


def test_a_plan_says_what_it_cannot_know() -> None:
    assert "biases" in plan(Limit(1.0, max_locations=5, max_visits=5)).warnings[0]
    assert any(
        "better than a guess" in text for text in plan(Limit(0.01, max_locations=5, max_visits=5)).warnings
    )
    unprotected = plan(LimitCB(1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True))
    assert any("Do not publish" in text for text in unprotected.warnings)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=name)
def test_a_plan_in_words_and_as_json(mechanism: object) -> None:
    made = plan(mechanism, n_locations=14_058, users_per_location=5)
    text = str(made)
    assert "14,058" in text
    assert made.guarantee.explain() in text
    assert len(text.splitlines()) < 25
    answer = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    told = answer["expected_error"]
    assert [row["users"] for row in told["rows"]] == [row.users for row in made.expected.rows]
    assert (told["noise_scale"] is None) == isinstance(mechanism, LimitSS)


@pytest.mark.parametrize(
    ("mechanism", "options", "words"),
    [
        (Limit(1.0, max_locations=5, max_visits=5), {"n_locations": 0}, "n_locations=0"),
        (Limit(1.0, max_locations=5, max_visits=5), {"n_locations": 2.5}, "whole number"),
        (Limit(1.0, max_locations=5, max_visits=5), {"users_per_location": -1}, "users_per_location=-1"),
        (Limit(1.0, max_locations=5, max_visits=5), {"users_per_location": "5"}, "users_per_location='5'"),
        (Limit(1.0, max_locations=5, max_visits=5, max_users=10), {"users_per_location": [3, 11]}, "users_per_location=11"),
        (Limit(1.0, max_locations=5, max_visits=5), {"users_per_location": [1] * 1001}, "1,000"),
        (Limit(1.0, max_locations=5, max_visits=5), {"locations": "venues"}, "public-list, grid, zones, h3, inspire, selection, by-mechanism"),
        (Limit(1.0, max_locations=5, max_visits=5), {"locations": "selection"}, "selection=SelectLocations(epsilon=0.2"),
        (Limit(1.0, max_locations=5, max_visits=5), {"locations": "by-mechanism"}, "limit needs a list"),
        (Limit(1.0, max_locations=5, max_visits=5), {"locations": "grid", "selection": (0.2, 1e-8, 20)}, "only selecting does"),
        (Limit(1.0, max_locations=5, max_visits=5), {"selection": (0.2, 1e-8)}, "(epsilon, delta, max_locations)"),
        (LimitPTR(1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50), {"selection": (0.2, 1e-8, 20)}, "by itself"),
        (LimitSS(1.0, delta=0.6, max_locations=5, max_visits=5), {"selection": (0.2, 0.5, 20)}, "add up"),
        ("limit", {}, "str is not a mechanism"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(mechanism: object, options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError) as raised:
        plan(mechanism, **options)
    assert words in str(raised.value)


def test_no_data_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import locentropy.visits.queries as queries

    def explode(*_: object, **__: object) -> None:
        raise AssertionError("a plan opened data")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(queries, "open_queries", explode)
    monkeypatch.setattr(Path, "open", explode)
    monkeypatch.setattr("builtins.open", explode)
    for mechanism in MECHANISMS:
        made = plan(mechanism, n_locations=10, users_per_location=[1, 100])
        assert made.to_dict()
        assert str(made)


# ---- the plan file

OWNER = ("title", "curator", "intended_use", "region", "description")
lines = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=40)
words = st.none() | lines.map(str.strip).filter(lambda text: text and text.isprintable())
reals = st.floats(min_value=0.01, max_value=50)
budgets = reals | st.integers(1, 20)
small = st.floats(min_value=1e-12, max_value=1e-4)
whole = st.integers(1, 30)
keeps = st.sampled_from([None, "first", "most-visited", "lowest-id"])
bounded = {"max_locations": whole, "max_visits": whole, "keep": keeps}
mechanisms = st.one_of(
    st.builds(Limit, epsilon=budgets, **bounded, max_users=st.none() | st.integers(200, 10**9)),
    st.builds(Baseline, epsilon=budgets, **bounded),
    st.builds(LimitSS, epsilon=reals, delta=small, floor=st.floats(0, 1), **bounded),
    st.builds(LimitPTR, epsilon=reals, delta=small, min_users=st.integers(0, 500), **bounded),
    st.builds(LimitCB, epsilon=budgets, min_users=whole, accept_no_guarantee=st.just(True), **bounded),
)
selections = st.none() | st.builds(
    SelectLocations, epsilon=reals, delta=small, max_locations=whole, keep=keeps
)


@pytest.mark.filterwarnings("ignore::locentropy.mechanisms.parameters.LargeDeltaWarning")  # any δ has a file
@given(st.data())
def test_a_plan_file_holds_the_whole_plan(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    mechanism = data.draw(mechanisms)
    selection = None if isinstance(mechanism, LimitPTR | LimitCB) else data.draw(selections)
    made = plan(
        mechanism,
        n_locations=data.draw(st.none() | st.integers(1, 10**9)),
        users_per_location=data.draw(st.lists(st.integers(0, 200), max_size=5)),
        locations=None if selection else data.draw(st.sampled_from(["public-list", "grid"])),
        selection=selection,
        about=About(**{name: said for name in OWNER if (said := data.draw(words)) is not None}),
    )
    path = tmp_path_factory.getbasetemp() / "plan.yaml"
    made.to_yaml(path)
    again = Plan.from_yaml(path)
    assert again == made
    assert again.guarantee == made.guarantee
    assert type(again.mechanism) is type(made.mechanism)


FILE = """\
version: 1
title: Popularity of venues
mechanism: {name: limit, epsilon: 0.1, max_locations: 5, max_visits: 5}
locations: {kind: selection, epsilon: 0.2, delta: 1e-8, max_locations: 20}
expected: {n_locations: 14058, users_per_location: [1, 5]}
budget: {epsilon: 0.3, delta: 1e-8}
"""


def test_a_plan_file_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(FILE)
    assert Plan.from_yaml(path) == plan(
        Limit(0.1, max_locations=5, max_visits=5), n_locations=14_058, users_per_location=[1, 5], selection=(0.2, 1e-8, 20),
        about=About("Popularity of venues"),
    )  # fmt: skip


def test_a_plan_file_is_short_and_names_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    about = About("Venues", "City of Foo", intended_use="planning")
    plan(
        Limit(1, max_locations=5, max_visits=5), n_locations=400, users_per_location=[1, 5], about=about
    ).to_yaml(str(path))
    assert path.read_text().splitlines() == [
        "# A plan of locentropy: what is to be published, and what it costs. No data was read to make it.",
        "version: 1",
        "title: Venues",
        "curator: City of Foo",
        "intended_use: planning",
        "mechanism:",
        "  name: limit",
        "  epsilon: '1'",
        "  max_locations: 5",
        "  max_visits: 5",
        "locations:",
        "  kind: public-list",
        "  publish_columns: []",
        "expected:",
        "  n_locations: 400",
        "  users_per_location:",
        "  - 1",
        "  - 5",
        "budget:",
        "  epsilon: '1'",
        "  delta: '0'",
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["plan.yaml"]


def changed(old: str, new: str) -> str:
    assert old in FILE
    return FILE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mapping"),
        ("- 1\n", "mapping"),
        ("version: 1\n--- \nversion: 1\n", "YAML"),
        ("version: [1\n", "line 2"),
        ("version: 1\nversion: 1\n", "version is given twice"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "aliases"),
        ("a: &a [*a]\n", "aliases"),
        ("!!python/object/apply:os.system ['true']\n", "tag"),
        ("mechanism: !!python/name:os.system ''\n", "tag"),
        ("[" * 20_000, "nested"),
        ("a: {a: {a: {a: {a: 1}}}}\n", "nested"),
        ("? [a]\n: 1\n", "not a word"),
        ("a: '" + "x" * 70_000 + "'\n", "64 KB"),
        ("\x00", "YAML"),
        (changed("version: 1", "version: 2"), "version must be 1"),
        (changed("title:", "tilte:"), "tilte is not known"),
        (changed("title: Popularity of venues", "title: [a]"), "title must be one line"),
        (changed("title: Popularity of venues", "title: ''"), "title must be one line"),
        (changed("max_visits: 5", "max_visits: 5, max_vists: 5"), "limit takes no parameter 'max_vists'"),
        (changed("max_visits: 5", "max_visits: 5, max_visits: 50"), "mechanism.max_visits is given twice"),
        (changed("max_visits: 5", "max_visits: [5]"), "max_visits must be a single value"),
        (changed("max_visits: 5", "max_visits: 0"), "max_visits=0"),
        (changed(", max_visits: 5", ""), "needs max_visits"),
        (changed("name: limit, ", ""), "name is missing"),
        (changed("name: limit", "name: gauss"), "'gauss'"),
        (changed("epsilon: 0.1", "epsilon: 1e999999999"), "epsilon"),
        (changed("epsilon: 0.1", "epsilon: .inf"), "epsilon"),
        (changed("kind: selection, ", ""), "locations: kind is missing"),
        (changed("kind: selection", "kind: grid"), "only selecting does"),
        (changed("kind: selection, epsilon: 0.2,", "kind: selection,"), "epsilon of the selection is missing"),
        (changed("max_locations: 20", "most: 20"), "locations.most is not known"),
        (changed("locations: {", "place: {"), "place is not known"),
        (changed("n_locations: 14058", "n_locations: many"), "n_locations must be a whole number"),
        (changed("expected: {", "expected: {people: 5, n_users: 5, "), "expected: expected.people is the old name of expected.n_users"),
        (changed("expected: {", "expected: {locations: 14058, "), "expected.locations is the old name of expected.n_locations"),
        (f"{FILE}places: {{kind: grid}}\n", "places is the old name of locations"),
        (f"{FILE}purpose: a\nintended_use: b\n", "purpose is the old name of intended_use"),
        (changed("expected: {n_locations", "expected: {n_place"), "expected.n_place is not known here; known are n_locations, n_users, users_per_location, locations_per_user."),
        (f"{FILE}sector: {'x' * 900}\n", "sector="),
        (changed("n_locations: 14058", "n_locations: ~"), "n_locations must be a whole number"),
        (changed("[1, 5]", "5"), "must be a list"),
        (changed("[1, 5]", "[1, [5]]"), "line 5 is nested"),
        (changed("[1, 5]", "[1, x]"), "users_per_location must be a whole number"),
        (changed("epsilon: 0.3", "epsilon: 0.2"), "epsilon: '0.3'"),
        (changed("budget: {epsilon: 0.3, delta: 1e-8}", ""), "budget is missing"),
        (changed("budget: {epsilon: 0.3, delta: 1e-8}", "budget: none"), "budget is missing"),
    ],
)  # fmt: skip
def test_a_bad_plan_file_is_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(ParameterError) as raised:
        Plan.from_yaml(path)
    assert words in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")
    assert len(str(raised.value)) < 600


def test_a_plan_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    with pytest.raises(ParameterError, match="No such file"):
        Plan.from_yaml(path)
    with pytest.raises(ParameterError, match="directory"):
        Plan.from_yaml(tmp_path)
    path.write_bytes(b"title: \xff\xfe\xfa\n")
    with pytest.raises(ParameterError, match="UTF-8"):
        Plan.from_yaml(path)


def test_a_plan_per_month_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = plan(Limit(1.0, max_locations=5, max_visits=5), n_locations=400, unit="person-month")
    made.to_yaml(tmp_path / "plan.yaml")
    assert Plan.from_yaml(tmp_path / "plan.yaml") == made
    assert "all visits of one user in one calendar month" in str(made)
    assert "gets the sum over these months" in str(made)
    assert made.to_dict()["unit"] == "person-month"
    with pytest.raises(ParameterError, match="person-day"):
        plan(Limit(1.0, max_locations=5, max_visits=5), unit="month")  # type: ignore[arg-type]


def test_a_plan_holds_the_columns_that_are_published(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    made = plan(Limit(1.0, max_locations=5, max_visits=5), publish_columns=["opened", "kind"])
    assert "These columns of the list are published as they are: 'opened', 'kind'." in str(made)
    assert made.to_dict()["locations"]["publish_columns"] == ["opened", "kind"]
    made.to_yaml(path)
    assert Plan.from_yaml(path) == made
    path.write_text(path.read_text().replace("  publish_columns:\n  - opened\n  - kind\n", ""))
    assert Plan.from_yaml(path).publish_columns is None, "of a version that published all, and did not say so"
    Plan.from_yaml(path).to_yaml(tmp_path / "again.yaml")
    assert "publish_columns" not in (tmp_path / "again.yaml").read_text()
    path.write_text(
        path.read_text().replace("kind: public-list", "kind: public-list\n  publish_columns: kind")
    )
    with pytest.raises(ParameterError, match="must be a list of columns"):
        Plan.from_yaml(path)
    for wrong in ("kind", ["entropy"], ["kind", "Kind"], [""]):
        with pytest.raises(ParameterError):
            plan(Limit(1.0, max_locations=5, max_visits=5), publish_columns=wrong)
    with pytest.raises(ParameterError, match="are columns of a public list"):
        plan(Limit(1.0, max_locations=5, max_visits=5), locations="grid", publish_columns=["kind"])
