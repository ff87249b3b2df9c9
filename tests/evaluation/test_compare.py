"""Comparing mechanisms: the numbers are those of the simulated releases, and the owner's ledger knows of it first."""

from __future__ import annotations

import json
import math
import re
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import locentropy as le
from locentropy.cli.main import run
from locentropy.core.bounds import Bounds
from locentropy.core.errors import LedgerError, ParameterError, ReleaseError, SourceError
from locentropy.core.number_format import six_digits
from locentropy.datasets.city import City
from locentropy.evaluation import compare, outcome, private_files
from locentropy.evaluation.candidates import candidates, default_names, labels
from locentropy.evaluation.compare import CONSTANT, POPULATION, Evaluation, Score, Throwaway, evaluate
from locentropy.evaluation.outcome import METRICS, Outcome, Truth, scores
from locentropy.evaluation.plots import PlotsMissingWarning, line_styles, pictures
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.registry import mechanism_names
from locentropy.visits.queries import TableQueries
from tests.publishing.making import LIMIT, PLACES, ledger_in, names, public, visits_in

STRONG = le.paper.Limit(epsilon=20, max_locations=3, max_visits=2)


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city")
    City(people=400, places=60, days=7).write(folder)
    return folder


@pytest.fixture
def visits(tmp_path: Path) -> le.Visits:
    return visits_in(tmp_path)


@pytest.fixture(scope="module")
def compared(city: Path) -> Evaluation:
    several = candidates(["limit", "limit-ss", "limit-ptr"], ["1", "10"], {"min_users": [20]})
    places = le.PublicLocations(city / "places.csv")
    return evaluate(
        le.Visits(city / "visits.parquet"), several, places, seeds=3, throwaway=Throwaway(min_users=20)
    )


class TestNumbers:
    def test_are_those_of_releases_simulated_by_hand(self, visits: le.Visits) -> None:
        found = evaluate(visits, [LIMIT, STRONG], public(), seeds=4)
        listed = le.mechanisms.Locations.of(PLACES)
        with le.private.open_queries(visits, locations=listed) as queries:
            true = queries.exact_profile().entropy
            for mechanism, result in zip((LIMIT, STRONG), found.compared, strict=True):
                by_hand = [
                    float(
                        np.mean(
                            (
                                mechanism.estimate(
                                    mechanism.measure(queries, listed, SimulatedNoise(seed)), listed
                                ).entropy
                                - true
                            )
                            ** 2
                        )
                    )
                    for seed in range(4)
                ]
                assert result.scores["mse"].mean == pytest.approx(np.mean(by_hand))
                assert result.scores["mse"].sd == pytest.approx(np.std(by_hand, ddof=1))
        assert set(found.compared[0].scores) == set(METRICS)
        assert found.compared[0].scores["published"] == Score(1, 0)

    def test_by_users_add_up_to_all(self, compared: Evaluation) -> None:
        users = compared.truth.users
        sizes = [np.count_nonzero((users >= each.low) & (users <= each.high)) for each in compared.octaves]
        for each in compared.compared:
            total = sum(size * row["mse"].mean for size, row in zip(sizes, each.by_users, strict=True))
            assert total / len(users) == pytest.approx(each.scores["mse"].mean)

    def test_intervals_hold_what_they_are_about_and_not_always_the_truth(self, compared: Evaluation) -> None:
        [limit] = [each for each in compared.compared if (each.name, each.epsilon) == ("limit", "10")]
        assert limit.scores["coverage_own"].mean >= 0.9
        assert limit.scores["coverage"].mean < limit.scores["coverage_own"].mean - 0.1, "bounding biases"
        [smooth] = [each for each in compared.compared if (each.name, each.epsilon) == ("limit-ss", "10")]
        assert math.isnan(smooth.scores["coverage"].mean), "no error bars, no coverage"

    def test_a_second_estimate_is_judged_by_itself_and_ranks_nothing(self) -> None:
        true = np.array([1.0, 3.0, 2.0, 0.0] * 3)
        users = np.array([5, 30, 25, 1] * 3)
        truth = Truth(true, users, users >= 20)
        flat = np.ones(12)
        plain, busy = scores(truth, Outcome(flat)), scores(truth, Outcome(flat, busy=true))
        assert plain["mse_busy"] == busy["mse_busy"] == pytest.approx((2**2 + 1**2) / 2)
        assert math.isnan(plain["mse_busy_of_entropy_busy"])
        assert busy["mse_busy_of_entropy_busy"] == 0
        assert plain["top_10"] == busy["top_10"]

    def test_throwaway_is_the_same_places_for_all(self, visits: le.Visits) -> None:
        found = evaluate(visits, [LIMIT], public(), seeds=2, throwaway=Throwaway(1, 1, 3))
        with le.private.open_queries(visits, locations=le.mechanisms.Locations.of(PLACES)) as queries:
            kept = queries.profile(Bounds(1, 1)).user_counts >= 3
            true = queries.exact_profile().entropy
        assert 0 < kept.sum() < len(kept)
        assert found.truth.crowded.tolist() == kept.tolist()
        value = true.mean()
        assert found.references[0].scores["mse_throwaway"].mean == pytest.approx(
            np.mean((true[kept] - value) ** 2)
        )

    def test_the_same_each_time(self, visits: le.Visits) -> None:
        first, second = (evaluate(visits, [LIMIT], public(), seeds=2) for _ in range(2))
        assert private_files.contents(first) == private_files.contents(second)

    def test_one_seed_has_no_deviation(self, visits: le.Visits) -> None:
        assert math.isnan(evaluate(visits, [LIMIT], public(), seeds=1).compared[0].scores["mse"].sd)


class TestReferences:
    def test_the_best_constant_has_the_variance_for_error(self, compared: Evaluation) -> None:
        constant = compared.references[0]
        assert constant.label == CONSTANT
        assert constant.scores["mse"].mean == pytest.approx(np.var(compared.truth.entropy))
        assert constant.scores["bias"].mean == pytest.approx(0)

    def test_the_population_mean_is_over_places_off_the_list_too(self, visits: le.Visits) -> None:
        found = evaluate(visits, [LIMIT], le.PublicLocations(["bar", "pier"]), seeds=1)
        everywhere = le.private.exact_profile(visits).entropy
        assert [each.label for each in found.references] == [CONSTANT, POPULATION]
        published = found.references[1].example.entropy
        assert published == pytest.approx(everywhere.mean())
        assert found.references[0].scores["mse"].mean < found.references[1].scores["mse"].mean


class TestPlaces:
    def test_a_grid_is_read_once(self, city: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        reads, asked = [], []
        opening, profile = outcome.open_queries, TableQueries.profile
        monkeypatch.setattr(outcome, "open_queries", lambda *a, **k: reads.append(1) or opening(*a, **k))
        monkeypatch.setattr(
            TableQueries, "profile", lambda self, bounds: asked.append(bounds) or profile(self, bounds)
        )
        table = le.Visits(city / "visits.parquet")
        import pyarrow.parquet as pq

        lat, lon = (pq.read_table(city / "visits.parquet")[name].to_numpy() for name in ("lat", "lon"))
        grid = le.Grid(lat.min() - 0.01, lon.min() - 0.01, lat.max() + 0.01, lon.max() + 0.01, cell=2000)
        found = evaluate(table, candidates(["limit", "limit-ss"], ["1", "2"]), grid, seeds=3)
        assert len(found.truth.entropy) == grid.rows * grid.columns
        assert [each.label for each in found.references] == [CONSTANT]
        assert len(reads) == 1
        assert asked == [Bounds(5, 5)], "one profile for all mechanisms, ε and seeds of the same bounds"

    def test_selected_places_and_those_that_a_mechanism_selects(self, city: Path) -> None:
        table = le.Visits(city / "visits.parquet")
        mechanisms = [
            le.paper.Limit(5, max_locations=5, max_visits=5),
            le.LimitPTR(5, delta=1e-6, max_locations=5, max_visits=5, min_users=10),
        ]
        found = evaluate(table, mechanisms, le.SelectLocations(1, delta=1e-6, max_locations=5), seeds=2)
        for each in found.compared:
            assert 0 < each.scores["published"].mean < 1
            there = ~np.isnan(each.example.entropy)
            assert found.truth.users[there].min() > found.truth.users.min()
            assert each.scores["mse"].mean > each.scores["mse_published"].mean
        alone = evaluate(table, mechanisms[1:], None, seeds=2)
        assert repr(alone.compared[0].scores) == repr(found.compared[1].scores), "it needs no selection"

    def test_a_selection_that_finds_nothing(self, visits: le.Visits) -> None:
        found = evaluate(visits, [LIMIT], le.SelectLocations(0.01, delta=1e-9, max_locations=5), seeds=2)
        assert found.compared[0].scores["published"].mean == 0
        assert math.isnan(found.compared[0].scores["mse_published"].mean)
        assert found.best() == (), "to withhold every place is no advice"

    def test_values_are_put_at_their_own_places(self, visits: le.Visits) -> None:
        """Numbers as ids come back as texts, in another order."""
        rows = "uid,venue\n" + "".join(
            f"{user},{place}\n" for place in (2, 10, 9) for user in range(9 * place)
        )
        table = visits_in(Path(visits.source).parent, rows)
        strong = le.paper.Limit(1000, max_locations=3, max_visits=2)
        found = evaluate(table, [strong], le.SelectLocations(50, delta=1e-3, max_locations=3), seeds=1)
        assert found.compared[0].scores["mse"].mean < 0.01

    @pytest.mark.filterwarnings("ignore::locentropy.publishing.chosen_locations.ExcludeWarning")
    @pytest.mark.parametrize("listed", [True, False])
    def test_excluded_places_are_not_judged(self, listed: bool, visits: le.Visits) -> None:
        mechanism = (
            LIMIT if listed else le.LimitPTR(5, delta=1e-3, max_locations=2, max_visits=2, min_users=1)
        )
        places = public() if listed else None
        found = evaluate(visits, [mechanism], places, seeds=1, exclude=le.PublicLocations(["bar"]))
        assert len(found.truth.entropy) == (3 if listed else 2)


class TestCandidates:
    def test_all_combinations_of_what_each_takes(self) -> None:
        made = candidates(["limit", "limit-ptr"], ["0.5", "1"], {"max_locations": [1, 5], "min_users": [9]})
        assert [each.name for each in made] == ["limit"] * 4 + ["limit-ptr"] * 4
        assert {(each.epsilon, each.max_locations) for each in made} == {(0.5, 1), (0.5, 5), (1, 1), (1, 5)}
        assert {each.min_users for each in made[4:]} == {9}
        assert labels(made)[:5] == [*["limit M=1", "limit M=5"] * 2, "limit-ptr M=1"]
        assert candidates(["limit", "limit"], ["1"]) == [le.paper.Limit(1, max_locations=5, max_visits=5)]

    def test_the_default_is_what_the_registry_has(self) -> None:
        assert {"limit", "limit-ss", "limit-ptr"} <= set(default_names())
        assert [each.name for each in candidates()] == list(default_names())

    def test_nonsense(self) -> None:
        with pytest.raises(ParameterError, match=r"Unknown mechanism 'limits'\. Choose from shares"):
            candidates(["limits"])


class TestBest:
    def test_the_lowest_for_each_epsilon_marked_as_tuned(self, compared: Evaluation) -> None:
        bests = compared.best()
        assert [best.epsilon for best in bests] == ["1", "10"]
        for best in bests:
            group = [each for each in compared.compared if each.epsilon == best.epsilon]
            assert best.error.mean == min(each.scores["mse"].mean for each in group)
            assert best.parameters["epsilon"] == best.epsilon
            assert best.tuned_on_data
            assert "not for publication" in best.warning
            assert best.worse_than_constant == (best.error.mean > np.var(compared.truth.entropy))

    def test_by_another_metric(self, compared: Evaluation) -> None:
        [_, best] = compared.best("mse_published")
        assert best.label == "limit-ptr"
        with pytest.raises(ParameterError, match="mse_throwaway"):
            compared.best("coverage")


class TestLedger:
    def test_later_manifests_say_so(self, visits: le.Visits, tmp_path: Path) -> None:
        book = ledger_in(tmp_path)
        words = "parameters tuned on the data, unaccounted"
        le.publish(visits, LIMIT, public(), ledger=book, out=tmp_path / "before")
        evaluate(visits, [LIMIT], public(), seeds=1, ledger=tmp_path / "city.ledger")
        assert book.tuned_unaccounted
        assert book.history()[0].epsilon == book.read().total.epsilon - book.remaining.epsilon, (
            "spends nothing"
        )
        le.publish(visits, LIMIT, public(), ledger=book, out=tmp_path / "after")
        for folder, said in (("before", False), ("after", True)):
            for file in ("manifest.yaml", "details.yaml"):
                assert (words in " ".join((tmp_path / folder / file).read_text().split())) == said, folder
            assert le.Release.load(tmp_path / folder).statement.tuned_unaccounted == said

    def test_noted_before_anything_is_simulated(
        self, visits: le.Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        book = ledger_in(tmp_path)
        known: list[bool] = []
        simulate = compare.simulate
        monkeypatch.setattr(
            compare, "simulate", lambda *a: known.append(book.tuned_unaccounted) or simulate(*a)
        )
        evaluate(visits, [LIMIT], public(), seeds=2, ledger=book)
        assert known == [True, True]

    def test_what_cannot_be_noted_is_not_done(
        self, visits: le.Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        book = ledger_in(tmp_path)

        def full(*_: object) -> None:
            raise LedgerError("no space")

        monkeypatch.setattr(le.Ledger, "record_evaluation", full)
        monkeypatch.setattr(compare, "simulate", lambda *_: pytest.fail("simulated all the same"))
        with pytest.raises(LedgerError, match="no space"):
            evaluate(visits, [LIMIT], public(), ledger=book)

    def test_what_could_not_be_read_is_not_noted(self, visits: le.Visits, tmp_path: Path) -> None:
        book = ledger_in(tmp_path)
        with pytest.raises(SourceError, match="written alike"):
            evaluate(visits, [LIMIT], le.PublicLocations(["elsewhere"]), ledger=book)
        assert not book.tuned_unaccounted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seeds": 0}, "seeds=0"),
        ({"mechanisms": []}, "nothing to compare"),
        ({"mechanisms": ["limit"]}, "str is not a mechanism"),
        ({"locations": None}, "There are three ways"),
        ({"locations": "places.csv"}, 'PublicLocations\\("places.csv"\\)'),
        ({"exclude": le.PublicLocations(["zoo"])}, "None of the places to exclude"),
        ({"exclude": le.PublicLocations(PLACES)}, "All places"),
    ],
)
def test_refused_before_anything_is_read(change, words: str, tmp_path: Path) -> None:
    call = {"visits": le.Visits(tmp_path / "no.csv"), "mechanisms": [LIMIT], "locations": public(), **change}
    with pytest.raises(ParameterError, match=words):
        evaluate(**call)


@dataclass(frozen=True)
class Own(le.Mechanism):
    """Somebody's own mechanism, which the package does not know: rounded counts of users, and no ε among its parameters."""

    name: ClassVar[str] = "<script>alert(1)</script>"
    method: ClassVar[le.mechanisms.Method] = le.mechanisms.Method(
        "Counts users.", columns=("low", "high"), error_bars="noise"
    )
    example: ClassVar[dict[str, str]] = {}
    step: int = 2

    @property
    def guarantee(self) -> le.Guarantee:
        return le.Guarantee.pure(Fraction(1, 3))

    def measure(self, queries, locations, noise):
        users = queries.exact_profile().user_counts
        return le.mechanisms.Measurements(queries.locations, {"users": users // self.step}, False)

    def estimate(self, measurements, locations):
        value = np.log(np.maximum(measurements.values["users"] * self.step, 1))
        return le.mechanisms.Estimates(
            measurements.locations, value, "bounded", False, low=value, high=value + 1
        )


class TestOwn:
    def test_is_compared_by_what_the_contract_says(self, visits: le.Visits) -> None:
        found = evaluate(visits, [Own(), LIMIT, Own(step=3)], public(), seeds=2)
        own, limit, other = found.compared
        assert (own.name, own.epsilon, own.parameters) == (Own.name, "1/3", {"step": 2})
        assert [own.label, limit.label, other.label] == [f"{Own.name} step=2", "limit", f"{Own.name} step=3"]
        users = found.truth.users
        assert own.example.entropy.tolist() == np.log(np.maximum(users // 2 * 2, 1)).tolist()
        assert own.scores["mse"].sd == 0, "it draws no noise"
        assert math.isnan(own.scores["coverage_own"].mean), "what it bounds nobody knows"
        assert found.epsilons == ["1/3", "0.5"]
        assert [best.epsilon for best in found.best()] == ["1/3", "0.5"]
        drawn = pictures(found)["error-by-epsilon"][1].axes[0]
        assert drawn.get_xticks().tolist() == [1 / 3, 0.5]

    def test_epsilon_is_one_number_however_it_is_written(self, visits: le.Visits) -> None:
        once = [le.paper.Limit(epsilon, max_locations=2, max_visits=2) for epsilon in (1, 1.0)]
        assert evaluate(visits, once, public(), seeds=1).epsilons == ["1"]

    def test_it_must_be_a_mechanism(self, visits: le.Visits) -> None:
        class Almost:
            estimate = Own.estimate

        with pytest.raises(ParameterError, match="Almost is not a mechanism"):
            evaluate(visits, [Almost()], public())  # type: ignore[list-item]

        class Bare(le.Mechanism):
            guarantee, measure, estimate = Own.guarantee, Own.measure, Own.estimate

        with pytest.raises(ParameterError, match=r"Bare must be a dataclass .* @dataclass\(frozen=True\)"):
            evaluate(visits, [Bare()], public())


def test_its_repr_is_short_and_shows_no_exact_value(compared: Evaluation) -> None:
    assert repr(compared) == str(compared)
    assert repr(compared) == (
        "<Evaluation of limit, limit-ss, limit-ptr at ε = 1, 10, 3 seeds: PRIVATE — not for publication>"
    )
    assert "by_users" not in repr(compared.compared[0])


class TestWithoutMatplotlib:
    @pytest.fixture(autouse=True)
    def _missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "matplotlib", None)

    def test_everything_but_pictures_is_written(self, compared: Evaluation, tmp_path: Path) -> None:
        with pytest.warns(PlotsMissingWarning, match=r"pip install 'locentropy\[plots\]'") as warned:
            target = compared.save(tmp_path / "compared")
        assert warned[0].filename == __file__, "it points at the call of save"
        assert names(target) == [f"evaluation-PRIVATE.{ending}" for ending in ("csv", "html", "json")]
        page = (target / "evaluation-PRIVATE.html").read_text()
        assert "<svg" not in page
        assert "pip install &#x27;locentropy[plots]&#x27;" in page
        assert page.count("<table>") == 2

    def test_it_is_evaluated(self, visits: le.Visits) -> None:
        assert evaluate(visits, [LIMIT], public(), seeds=1).best()

    def test_the_command_says_what_is_missing_and_how_to_get_it(
        self, visits: le.Visits, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = Path(visits.source).parent
        (folder / "places.csv").write_text("location\nbar\ncafe\n")
        monkeypatch.chdir(folder)
        monkeypatch.setattr(signal, "signal", lambda *_: None)  # pytest's own stay
        command = (
            "locentropy evaluate visits.csv --places places.csv --mechanism shares --seeds 1 --out compared"
        )
        monkeypatch.setattr(sys, "argv", command.split())
        with pytest.raises(SystemExit) as ended:
            run()
        said = " ".join(capsys.readouterr().err.split())
        assert not ended.value.code, said
        assert "pip install 'locentropy[plots]'" in said
        assert names(folder / "compared-PRIVATE") == [
            f"evaluation-PRIVATE.{ending}" for ending in ("csv", "html", "json")
        ]


def test_nothing_imports_matplotlib_before_pictures_are_drawn(tmp_path: Path) -> None:
    visits_in(tmp_path)
    code = (
        "import sys, locentropy as le\n"
        "found = le.evaluate(le.Visits('visits.csv'), [le.Moments(1, max_locations=2, max_visits=2)], "
        "le.PublicLocations(['bar', 'cafe']), seeds=1)\n"
        "assert 'matplotlib' not in sys.modules\n"
        "found.save('compared')\n"
        "assert 'matplotlib' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


class TestFiles:
    def test_marked_and_for_the_owner_alone(self, compared: Evaluation, tmp_path: Path) -> None:
        target = compared.save(tmp_path / "compared")
        assert target == tmp_path / "compared-PRIVATE"
        assert private_files.marked("at-PRIVATE").name == "at-PRIVATE"
        assert private_files.marked("at-NOT-PRIVATE").name == "at-NOT-PRIVATE-PRIVATE"
        assert stat.S_IMODE(target.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in target.iterdir()} == {0o600}
        drawn = ("coverage", "error-by-epsilon", "error-by-users", "true-and-published")
        assert names(target) == sorted(
            [*(f"{name}-PRIVATE.svg" for name in drawn), *(f"evaluation-PRIVATE.{e}" for e in ("csv", "html", "json"))]
        )  # fmt: skip
        with pytest.raises(ReleaseError, match="already there"):
            compared.save(tmp_path / "compared")

    def test_numbers_are_the_same_everywhere(self, compared: Evaluation) -> None:
        files = private_files.contents(compared)
        answer = json.loads(files["evaluation-PRIVATE.json"], parse_constant=pytest.fail)
        assert answer["not_for_publication"] is True
        mean = compared.compared[0].scores["mse"].mean
        assert answer["compared"][0]["scores"]["mse"]["mean"] == mean
        [head, *lines] = files["evaluation-PRIVATE.csv"].splitlines()
        assert head.startswith("status,candidate,epsilon")
        assert all(line.startswith("PRIVATE: not for publication,") for line in lines)
        assert any(line.split(",")[4:7] == ["all", "mse", repr(mean)] for line in lines)

    def test_the_page_stands_alone(self, visits: le.Visits) -> None:
        found = evaluate(visits, [Own(), LIMIT, STRONG], public(), seeds=2)
        page = private_files.contents(found)["evaluation-PRIVATE.html"]
        assert page.count("<svg") == 4
        assert "<dt>rank corr. (<code>spearman</code>)</dt>" in page, "as the table calls it"
        assert "<title>PRIVATE — not for publication" in page
        assert page.index("not for publication") < page.index("<h1>")
        assert "<script" not in page, "names are text"
        assert "&lt;script&gt;" in page
        links = re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?([^\"')\s>]+)", page)
        assert all(link.startswith(("#", "data:")) for link in links), set(links)
        assert links
        assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
        ids = re.findall(r'<clipPath id="([^"]+)"', page)
        assert len(ids) == len(set(ids)), "clips of one picture do not cut another"

    def test_all_or_nothing(
        self, compared: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written = Path.write_text

        def full(self: Path, text: str, **rest: object) -> int:
            if "evaluation-PRIVATE.html" in self.name:
                raise OSError(28, "No space left on device")
            return written(self, text, **rest)  # type: ignore[arg-type]

        monkeypatch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space"):
            compared.save(tmp_path / "compared")
        assert names(tmp_path) == []

    def test_pictures_say_units_and_that_they_are_private(self, compared: Evaluation) -> None:
        drawn = pictures(compared)
        for _, figure in drawn.values():
            assert "not for publication" in figure.get_suptitle()
            for axis in figure.axes:
                if axis.get_visible():
                    assert axis.get_ylabel() or axis.get_yticklabels()
        errors = drawn["error-by-users"][1].axes
        assert len(errors) == 2, "one panel for each ε"
        assert all("nats²" in axis.get_ylabel() and axis.get_yscale() == "log" for axis in errors)
        lines = {line.get_label(): line.get_color() for line in errors[0].get_lines()}
        assert lines["limit-ss"] == line_styles(["limit-ss"])["limit-ss"].colour

    def test_built_in_mechanisms_always_look_the_same_and_nobody_looks_like_another(self) -> None:
        every = line_styles(mechanism_names())
        assert len({style.colour for style in every.values()}) == len(every)
        for name, style in every.items():
            assert line_styles(["own", name])[name] == style
        several = line_styles(["own", "other", "limit"])
        assert len({style.colour for style in several.values()}) == 3
        many = line_styles([*mechanism_names(), *(f"own {number}" for number in range(20))])
        assert len(set(many.values())) == len(many), "by the marker, where colours run out"


@pytest.mark.parametrize(
    ("value", "written"), [(10_000_000, "10,000,000"), (1234567.8, "1,234,568"), (192.5612, "192.561")]
)
def test_large_numbers_are_written_out(value: float, written: str) -> None:
    assert six_digits(value) == written


def test_bounds_of_counts_are_for_those_who_count() -> None:
    """Shares takes M and C with counts only: chosen for others, they are not its concern."""
    bounds = {"max_locations": [2, 5], "max_visits": [3]}
    assert candidates(["shares"], ["1"], bounds) == [le.Shares(1)]
    counted = candidates(["shares"], ["1"], {"counts": ["0.2"], **bounds})
    assert [getattr(each, "max_locations", None) for each in counted] == [2, 5]
