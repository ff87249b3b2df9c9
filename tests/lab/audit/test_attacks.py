"""The attacks stay within what is promised, come close to it, and see noise that is too small."""

from __future__ import annotations

import numpy as np
import pytest

from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.noise import OpenDPNoise
from locentropy_lab.audit import attack_draws, attack_releases
from locentropy_lab.audit.attack_draws import attack_on_draws
from locentropy_lab.audit.attack_releases import attack_on_releases, release_guarantee, town_for
from locentropy_lab.audit.confidence import Attack, with_few
from locentropy_lab.audit.mutation.guarantee_checks import SURE
from locentropy_lab.audit.mutation.planting import PredictableNoise
from locentropy_lab.audit.subjects import SELECTION, SURVEY, at_defaults, subject_of
from tests.examples import at_night

HONEST = OpenDPNoise.laplace


def fainter(part: float):
    return lambda self, values, scale: HONEST(self, values, scale * part)


@pytest.mark.parametrize("name", ["shares", "moments", "limit", "limit-ss", "limit-ptr", SELECTION, SURVEY])
def test_draws_show_no_more_than_is_promised(name: str) -> None:
    subject = at_defaults(name)
    found, draws, _ = attack_on_draws(subject, 10_000, confidence=SURE)
    assert draws == 10_000
    assert found.counted == 2 * (draws // 2 - -(-draws // 6))
    assert found.epsilon <= float(subject.guarantee.epsilon or 0)


GAUSSIAN = OpenDPNoise.gaussian


def test_draws_of_gaussian_noise_show_no_more_than_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a fifth of it shows more than (ε, δ) allows."""
    subject = subject_of("shares", Shares(1.0, delta=1e-8))
    assert attack_on_draws(subject, 10_000, confidence=SURE).attack.epsilon <= 1.0
    monkeypatch.setattr(
        OpenDPNoise, "gaussian", lambda self, values, scale: GAUSSIAN(self, values, scale / 5)
    )
    assert attack_on_draws(subject, 40_000, confidence=SURE).attack.epsilon > 1.0


def test_half_the_noise_is_seen_in_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenDPNoise, "laplace", fainter(0.5))
    assert attack_on_draws(at_defaults("limit"), 80_000).attack.epsilon > 1.0


def test_other_noise_can_be_attacked() -> None:
    """The noise is a parameter, as a library of one's own would be tried."""

    class Silent(OpenDPNoise):
        def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
            return np.array(values)

    found, *_ = attack_on_draws(at_defaults("limit"), 2000, noise=Silent)
    assert found.epsilon > 4.0


@pytest.mark.parametrize("name", ["limit", *at_night("limit-ptr")])
def test_processes_draw_the_same_way(name: str) -> None:
    """With noise that anybody can compute again, the same is shown, however many draw."""
    alone, together = (
        attack_on_draws(at_defaults(name), 2000, noise=PredictableNoise, processes=processes, few=500)
        for processes in (1, 2)
    )
    assert alone == together
    assert alone.draws == 2000


def test_attacks_are_as_sure_as_they_are_asked_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = []

    def attack(likely: np.ndarray, other: np.ndarray, delta: float, confidence: float) -> Attack:
        noted.append((likely.shape[-1], other.shape[-1], delta, confidence))
        return Attack(0.0, "", 1)

    def with_few(likely: np.ndarray, other: np.ndarray, runs: int, delta: float, confidence: float) -> float:
        noted.append((likely.shape[-1], runs, delta, confidence))
        return 0.0

    monkeypatch.setattr(attack_draws, "attack", attack)
    monkeypatch.setattr(attack_draws, "with_few", with_few)
    monkeypatch.setattr(attack_releases, "attack", attack)
    subject = at_defaults("limit-ss")
    delta = float(subject.guarantee.delta)
    assert delta > 0
    attack_on_draws(subject, 400, confidence=0.7, few=30)
    attack_on_releases(subject, 8, processes=1, confidence=0.6)
    assert noted == [(200, 200, delta, 0.7), (200, 15, delta, 0.7), (4, 4, delta, 0.6)]


def test_the_rule_for_releases_is_not_trained_by_those_that_are_counted() -> None:
    """Else it would fit them, and the bound would not hold."""
    random = np.random.default_rng(3)
    likely, other = (random.laplace(centre, 1.0, (30, 2, 3)) for centre in (1.0, 0.0))
    changed = likely.copy()
    changed[1::3] += 100.0
    for before, after in zip(
        attack_releases._scores(likely, other), attack_releases._scores(changed, other), strict=True
    ):
        untouched = np.arange(30) % 3 != 1
        assert before[untouched] == pytest.approx(after[untouched])


def test_few_draws_show_less_than_many() -> None:
    random = np.random.default_rng(4)
    likely, other = (random.laplace(centre, 1.0, 20_000) for centre in (1.0, 0.0))
    many, some, few = (with_few(likely, other, runs, 0.0) for runs in (20_000, 1000, 100))
    assert 0.0 < few < some < many < 1.0


@pytest.mark.nightly
def test_processes_attack_the_mechanism_they_are_given() -> None:
    """And not one of the same name at other parameters."""
    # So strong that 80 releases are told apart without a slip: at 20, one run in twelve shows less than 0.8.
    strong = subject_of("limit", Limit(epsilon=200.0, max_locations=1, max_visits=1))
    assert attack_on_draws(strong, 20_000, processes=2).attack.epsilon > 2.0
    assert attack_on_releases(strong, 80, processes=2)[0].epsilon > 0.8


@pytest.mark.parametrize("name", ["limit", SELECTION, SURVEY])
def test_whole_releases_are_told_apart_whatever_they_are(name: str) -> None:
    """So few show nothing, by whatever noise; that thousands keep within what is promised is the audit's."""
    found, runs = attack_on_releases(at_defaults(name), 16, processes=1)
    assert runs == 16
    assert found.counted == 10
    assert found.epsilon == 0.0


def test_almost_no_noise_is_seen_in_whole_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenDPNoise, "laplace", fainter(1e-4))
    found, _ = attack_on_releases(at_defaults("limit"), 80, processes=1)
    assert found.epsilon > 1.0


def test_a_fault_is_planted_in_every_process() -> None:
    """With the same noise every time releases are told apart without a slip; as they are, 80 of them show nothing."""
    found, _ = attack_on_releases(
        at_defaults("limit"), 80, processes=2, fault="the same noise for every release"
    )
    assert found.epsilon > 1.0


def test_the_price_of_what_follows_a_selection_is_counted() -> None:
    assert float(release_guarantee(at_defaults(SELECTION)).epsilon or 0) == pytest.approx(0.3)
    assert release_guarantee(at_defaults("limit")) == at_defaults("limit").guarantee


@pytest.mark.parametrize("name", ["shares", "limit", "limit-ptr", SURVEY])
def test_neighbours_differ_in_one_user(name: str) -> None:
    made = town_for(at_defaults(name))
    without = made.without("somebody")
    assert len(made.people) - len(without) == 1
    assert set(without) < set(made.people)
