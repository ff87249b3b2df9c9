"""Spending for advice: check, read, spend, draw, in this order; and nothing without a ledger."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import BudgetError, LedgerError, LocentropyError, ParameterError, SourceError
from locentropy.core.queries import CachedQueries
from locentropy.evaluation.advice.advisor import advise
from locentropy.evaluation.advice.density import crossover
from locentropy.evaluation.advice.paid_survey import PURPOSE, measure_activity, survey_for
from locentropy.mechanisms.survey import Activity, ActivitySurvey
from locentropy.privacy.noise import OpenDPNoise
from locentropy.visits.queries import TableQueries
from tests.publishing.making import PLACES, ROWS, ledger_in, public, visits_in

SURVEY = ActivitySurvey(epsilon=0.05, max_locations=3, busy_users=4)


@pytest.fixture
def ledger(tmp_path: Path) -> le.Ledger:
    return ledger_in(tmp_path, 2)


@pytest.fixture
def visits(tmp_path: Path) -> le.Visits:
    return visits_in(tmp_path)


def test_spends_once_and_says_what_for(visits: le.Visits, ledger: le.Ledger) -> None:
    found = measure_activity(visits, public(), SURVEY, ledger=ledger)
    assert isinstance(found, Activity)
    assert found.private
    assert found.n_locations == len(PLACES)
    [spend] = ledger.history()
    assert (spend.epsilon, spend.delta, spend.purpose) == (Fraction(5, 100), 0, PURPOSE)
    assert "advice" in spend.purpose
    assert ledger.remaining.epsilon == 2 - Fraction(5, 100)
    assert not ledger.tuned_unaccounted, "it was accounted for"


def test_what_is_found_is_what_is_there(visits: le.Visits, ledger: le.Ledger) -> None:
    """With so much budget that noise all but vanishes, the numbers are those of the table."""
    rows = [line.split(",") for line in ROWS.splitlines()[1:]]
    each = {user: [venue for u, venue in rows if u == user] for user, _ in rows}
    places = [len(set(at)) for at in each.values()]
    most = [max(at.count(venue) for venue in at) for at in each.values()]
    big = le.Ledger.create(
        Path(ledger.path).with_name("big.ledger"), "riders", 10_000, large_epsilon=True, another=True
    )
    found = measure_activity(visits, public(), ActivitySurvey(1000, 3, 4), ledger=big)
    assert list(found.places[:3]) == [places.count(1), places.count(2), 0]
    assert list(found.visits[:3]) == [most.count(1), most.count(2), 0]
    users = [len({u for u, at in each.items() if venue in at}) for venue in PLACES]
    assert found.busy == sum(n >= 4 for n in users)


def test_a_grid(tmp_path: Path, ledger: le.Ledger) -> None:
    rows = "uid,lat,lon\n" + "".join(f"u{at},{40.71 + at / 1000},-74.0\n" for at in range(9))
    grid = le.Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=5000)
    found = measure_activity(visits_in(tmp_path, rows), grid, SURVEY, ledger=ledger)
    assert found.n_locations == len(grid.locations())


class TestNothingIsSpent:
    @pytest.fixture(autouse=True)
    def _nothing(self, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.setattr(OpenDPNoise, "laplace", _must_not)
        yield
        assert not ledger.history()

    def test_over_budget_nothing_is_read(self, tmp_path: Path, ledger: le.Ledger) -> None:
        nowhere = le.Visits(tmp_path / "nowhere.csv")
        with pytest.raises(BudgetError):
            measure_activity(nowhere, public(), ActivitySurvey(3, 3, 4), ledger=ledger)

    def test_nor_if_the_release_would_not_fit_after_it(self, tmp_path: Path, ledger: le.Ledger) -> None:
        nowhere = le.Visits(tmp_path / "nowhere.csv")
        with pytest.raises(BudgetError, match=r"2\.05"):
            measure_activity(nowhere, public(), SURVEY, ledger=ledger, before=le.Guarantee.pure(2))

    def test_bad_data(self, tmp_path: Path, ledger: le.Ledger) -> None:
        for rows in ("uid,venue\nu1,\n", "nothing,here\n1,2\n"):
            with pytest.raises(LocentropyError):
                measure_activity(visits_in(tmp_path, rows), public(), SURVEY, ledger=ledger)
        with pytest.raises(SourceError, match="Nothing was spent"):
            measure_activity(
                visits_in(tmp_path, "uid,venue\nu1,elsewhere\n"),
                public(),
                SURVEY,
                ledger=ledger,
                refuse_empty=True,
            )

    def test_no_ledger(self, visits: le.Visits, ledger: le.Ledger, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="through a ledger"):
            measure_activity(visits, public(), SURVEY, ledger=None)  # type: ignore[arg-type]
        with pytest.raises(LedgerError):
            measure_activity(visits, public(), SURVEY, ledger=tmp_path / "no.ledger")

    def test_no_public_list(self, visits: le.Visits, ledger: le.Ledger) -> None:
        with pytest.raises(ParameterError, match="public"):
            measure_activity(visits, None, SURVEY, ledger=ledger)  # type: ignore[arg-type]

    def test_not_visits(self, ledger: le.Ledger) -> None:
        with pytest.raises(ParameterError, match="which column is what"):
            measure_activity("visits.csv", public(), SURVEY, ledger=ledger)  # type: ignore[arg-type]


def test_the_spend_is_on_disk_before_noise_is_drawn(
    visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = OpenDPNoise.laplace
    seen = []

    def watched(self: OpenDPNoise, values: Any, scale: float) -> Any:
        seen.append(len(ledger.history()))
        return drawn(self, values, scale)

    monkeypatch.setattr(OpenDPNoise, "laplace", watched)
    measure_activity(visits, public(), SURVEY, ledger=ledger)
    assert seen == [1, 1, 1]


def test_what_fails_after_the_spend_says_so(
    visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenDPNoise, "laplace", _must_not)
    with pytest.raises(AssertionError) as raised:
        measure_activity(visits, public(), SURVEY, ledger=ledger)
    assert "ε = 0.05 was spent" in raised.value.__notes__[0]
    assert len(ledger.history()) == 1


def test_every_question_is_asked_before_the_spend(
    visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that gives up does so while that is free of charge."""
    for name in ("profile", "locations_per_user", "largest_visits_per_user"):
        with monkeypatch.context() as patched:
            patched.setattr(CachedQueries, name, _must_not)
            with pytest.raises(AssertionError):
                measure_activity(visits, public(), SURVEY, ledger=ledger)
        assert not ledger.history(), name


def test_no_question_is_asked_after_the_spend(
    visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine has answered it is not asked again: it might give up the second time."""
    asked = []
    for name in ("profile", "locations_per_user", "largest_visits_per_user"):
        real = getattr(TableQueries, name)

        def watched(self: TableQueries, *given: Any, real: Any = real) -> Any:
            asked.append(len(ledger.history()))
            return real(self, *given)

        monkeypatch.setattr(TableQueries, name, watched)
    measure_activity(visits, public(), SURVEY, ledger=ledger)
    assert asked == [0, 0, 0]


class TestSurvey:
    def test_asks_for_the_number_of_the_paper_put_right(self) -> None:
        survey = survey_for(epsilon=5, spend=0.05, delta=1e-8)
        assert (survey.epsilon, survey.max_locations, survey.busy_users) == (0.05, 5, 110)
        wider = survey_for(epsilon=1, spend=0.05, n_users=10_000, locations_per_user=20)
        assert wider.max_locations == 20
        assert wider.busy_users == crossover(1, 1e-8, 20, 5, 50)

    def test_where_there_is_no_such_number(self) -> None:
        assert survey_for(epsilon=1e-5, spend=0.05, delta=1e-12, locations_per_user=100).busy_users == 2**20


def test_advice_from_it(visits: le.Visits, ledger: le.Ledger) -> None:
    found = measure_activity(visits, public(), SURVEY, ledger=ledger.path)
    assert advise(1, activity=found).choice.name == "moments", "four places are a short list"


def _must_not(*_: Any, **__: Any) -> Any:
    raise AssertionError("not now")


def test_a_survey_of_a_month_is_charged_to_it(visits: le.Visits, tmp_path: Path) -> None:
    monthly = le.Ledger.create(tmp_path / "monthly", "riders", 1, unit="person-month", person_epsilon=2)
    with pytest.raises(ParameterError, match="straddles every month"):
        measure_activity(visits, public(), SURVEY, ledger=monthly)
    may = le.Window("2026-05", zone="as-written")
    dated = tmp_path / "dated.csv"
    lines = ROWS.splitlines()
    dated.write_text("\n".join([f"{lines[0]},time", *(f"{line},2026-05-03T08:00:00" for line in lines[1:])]))
    found = measure_activity(le.Visits(dated).during(may), public(), SURVEY, ledger=monthly)
    assert found.n_locations == len(PLACES)
    assert monthly.remaining_in(may).epsilon == 1 - Fraction(5, 100)
