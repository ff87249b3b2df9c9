"""The attacks stay within what is promised, come close to it, and see noise that is too small."""

from __future__ import annotations

import numpy as np
import pytest

from locentropy.audit.mutation.checks.of_promises import SURE
from locentropy.audit.statistical.draws import attack_on_draws
from locentropy.audit.statistical.releases import attack_on_releases, promised, town_for
from locentropy.audit.subjects import SELECTION, SURVEY, at_defaults, subject_of
from locentropy.mechanisms.limit import Limit
from locentropy.privacy.noise import OpenDPNoise

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


def test_half_the_noise_is_seen_in_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenDPNoise, "laplace", fainter(0.5))
    assert attack_on_draws(at_defaults("limit"), 40_000).attack.epsilon > 1.0


def test_other_noise_can_be_attacked() -> None:
    """The noise is a parameter, as a library of one's own would be tried."""

    class Silent(OpenDPNoise):
        def laplace(self, values: np.ndarray, scale: float) -> np.ndarray:
            return np.array(values)

    found, *_ = attack_on_draws(at_defaults("limit"), 2000, noise=Silent)
    assert found.epsilon > 4.0


@pytest.mark.parametrize(("name", "least"), [("limit", 0.2), ("limit-ptr", 0.0), (SURVEY, 0.0)])
def test_processes_draw_the_same_way(name: str, least: float) -> None:
    subject = at_defaults(name)
    found, draws, _ = attack_on_draws(subject, 40_000, processes=2, confidence=SURE)
    assert draws == 40_000
    assert least <= found.epsilon <= float(subject.guarantee.epsilon or 0)


def test_few_draws_show_less_than_many() -> None:
    drawn = attack_on_draws(at_defaults("limit"), 40_000, few=2000)
    assert 0.05 < drawn.with_few < drawn.attack.epsilon
    assert attack_on_draws(at_defaults("limit"), 4000).with_few == 0.0


def test_processes_attack_the_mechanism_they_are_given() -> None:
    """And not one of the same name at other parameters."""
    # So strong that 80 releases are told apart without a slip: at 20, one run in twelve shows less than 0.8.
    strong = subject_of("limit", Limit(epsilon=200.0, max_locations=1, max_visits=1))
    assert attack_on_draws(strong, 20_000, processes=2).attack.epsilon > 2.0
    assert attack_on_releases(strong, 80, processes=2)[0].epsilon > 0.8


@pytest.mark.parametrize("name", ["limit", SELECTION, SURVEY])
def test_whole_releases_show_no_more_than_is_promised(name: str) -> None:
    subject = at_defaults(name)
    found, runs = attack_on_releases(subject, 16, processes=1, confidence=SURE)
    assert runs == 16
    assert found.epsilon <= float(promised(subject).epsilon or 0)


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


def test_processes_publish_the_same_way() -> None:
    found, runs = attack_on_releases(at_defaults("limit"), 16, processes=2, confidence=SURE)
    assert runs == 16
    assert found.epsilon <= 1.0


def test_the_price_of_what_follows_a_selection_is_counted() -> None:
    assert float(promised(at_defaults(SELECTION)).epsilon or 0) == pytest.approx(0.3)
    assert promised(at_defaults("limit")) == at_defaults("limit").guarantee


@pytest.mark.parametrize("name", ["shares", "limit", "limit-ptr", SURVEY])
def test_neighbours_differ_in_one_user(name: str) -> None:
    made = town_for(at_defaults(name))
    without = made.without("somebody")
    assert len(made.people) - len(without) == 1
    assert set(without) < set(made.people)
