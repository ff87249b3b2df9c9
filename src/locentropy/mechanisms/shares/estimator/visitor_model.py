"""Who comes to which places: laws of visitors by size of place, fitted to the histograms of the bands.

Visitors of busy places are not those of small ones: they have fewer or more places, and come more or less often. The
histograms say so for each band of the look. A few passes of

    simulate places under the laws so far
    read the looks: the visitor prior, and so what each band is foreseen to hold
    tilt the laws of each band until it holds what was measured

bring both into agreement. Between bands, tilts are interpolated in ln n.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator import octaves
from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES
from locentropy.mechanisms.shares.estimator.heterogeneity import USUAL, learn_heterogeneity
from locentropy.mechanisms.shares.estimator.histogram_smoothing import sizes_of_all, visits_of_all_and_bands
from locentropy.mechanisms.shares.estimator.noise_law import deviation, usual_largest
from locentropy.mechanisms.shares.estimator.simulated_places import simulate_places, visitor_grid
from locentropy.mechanisms.shares.estimator.split_evidence import SplitEvidence, make_cells
from locentropy.mechanisms.shares.estimator.tilts import (
    fit_of_laws,
    fit_tilts,
    size_tilt,
    usual_size_tilt,
    visit_tilt,
)
from locentropy.mechanisms.shares.estimator.visitor_laws import (
    STRATUM,
    USUAL_STRATA,
    VisitorLaws,
    middle_law,
    saturation,
    size_lever,
)
from locentropy.mechanisms.shares.estimator.visitor_prior import (
    WIDTH,
    PresenceBins,
    Total,
    bin_presence,
    learn_visitor_prior,
    likelihood,
)
from locentropy.mechanisms.shares.estimator.visitor_weights import VisitorWeights, Weighing
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.simulated_places import SimulatedPlaces

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

PASSES: Final = 3
SCATTER: Final = (0.63, 1.43)
"""Simulated places differ in ln(presence/n) by these parts of what is learnt: the first, and the second over √n."""
BLUR: Final = WIDTH / 2
"""Standard deviation, as a part of it, by which the presence of a simulated place is blurred: half a bin of looks."""
VISIT_SCATTER: Final = 0.4
"""Standard deviation between places of the tilt of visits, until it is learnt."""
STEEPNESS: Final = (0.12, 0.1)
"""Visits of a user with twice as many places are tilted by this, before anything is seen; and how sure that is."""
MOST_MOVED: Final = 1.6
"""A cell of a law of visits is moved by at most this factor in one pass."""
CLEAR: Final = 4.0
"""Cells with fewer than so many standard deviations are hardly clear of their noise."""
FEWEST_USERS: Final = 0.5
"""In an octave, however little was measured."""
MOST_SPREAD: Final = 3.0
"""There are no more users than were measured and so many standard deviations."""
_TINY: Final = 1e-9
_STEEPNESSES: Final[NDArray[np.float64]] = np.arange(-0.3, 0.4, 0.01)
_OCTAVE: Final[NDArray[np.float64]] = np.arange(SIZE_OCTAVES, dtype=np.float64)


class Fitted(NamedTuple):
    """Simulated places that agree with the histograms, and how common each size is."""

    simulated: SimulatedPlaces
    bins: PresenceBins
    seen: Reals
    """The likelihood of each bin's look at each simulated place: n × copy × bin,"""
    common: Reals
    """and how common each of the copies is: mean 1."""
    prior: Reals
    """The visitor prior: n."""
    laws: VisitorLaws
    heterogeneity: float
    """How much places of one size differ in who comes."""


def fit_visitors(answers: Answers, max_users: int, *, cells: bool = False) -> Fitted:
    """Fit the laws of visitors and the visitor prior to the look, the sizes and the visits."""
    fitting = _Fitting(answers, max_users, cells=cells)
    for _ in range(PASSES):
        fitting.read_looks()
        fitting.fit_sizes()
        fitting.fit_visits()
        fitting.learn_strata()
    fitting.read_looks()
    return fitting.learn_strata()


class _Fitting:
    """The laws as they stand, and the passes that improve them."""

    def __init__(self, answers: Answers, max_users: int, *, cells: bool = False) -> None:
        self.answers, self.max_users, self.covering = answers, max_users, cells
        self.noise = deviation(answers.noise)
        self.grid = visitor_grid(max_users)
        self.log_n = np.log(np.maximum(self.grid, 1))
        self.bins = bin_presence(answers.look, answers.look_scale)
        self.share = octaves.mean_share(answers.cap)
        smooth = sizes_of_all(answers)
        self.users = float(smooth.sum())
        self.told_sizes = self.sizes = smooth / smooth.sum()
        self.told_visits, self.told_bands = visits_of_all_and_bands(answers)
        self.band_visits = self.told_bands
        self.middle = float(self.sizes @ _OCTAVE)
        self.slope = STEEPNESS[0]
        self.clear = 0.5
        self.visit_scatter = VISIT_SCATTER
        self.heterogeneity = USUAL
        self.cells = make_cells(answers, self.bins.bin_of)
        usual = USUAL_STRATA / np.bincount(STRATUM) * COPIES
        self.common = usual[STRATUM]
        nothing = np.zeros(self.grid.size)
        self.size_tilts = self.size_unsure = nothing
        self.visit_middle = np.zeros(1)

    def laws(self) -> VisitorLaws:
        """The laws as they stand, with what is not known of them as scatter between places."""
        steepness: Reals = self.slope * (_OCTAVE - self.middle)
        usual = middle_law(self.told_visits, self.sizes, steepness)
        visits = np.tile(usual, (self.grid.size, 1))
        if len(self.visit_middle) == len(self.band_visits):
            of_band = np.log([middle_law(each, self.sizes, steepness) for each in self.band_visits])
            visits = np.exp(
                np.stack([np.interp(self.log_n, self.visit_middle, each) for each in of_band.T], axis=1)
            )
            visits /= visits.sum(axis=1, keepdims=True)
        scatter = SCATTER[0] + SCATTER[1] / np.sqrt(np.maximum(self.grid, 1))
        scatter *= self.heterogeneity / size_lever(self.sizes, self.share)
        users = np.maximum(self.users * self.told_sizes, FEWEST_USERS)
        rate = self.sizes / self.share * np.exp(size_tilt(self.size_tilts))
        rate /= rate.sum(axis=1, keepdims=True)
        return VisitorLaws(
            sizes=self.sizes,
            usual_visits=usual,
            visits=visits,
            steepness=steepness,
            size_tilts=self.size_tilts,
            size_scatter=np.sqrt(scatter**2 + self.size_unsure**2),
            size_extra=saturation(rate, users, self.grid),
            visit_scatter=self.visit_scatter,
        )

    def read_looks(self) -> Fitted:
        """Simulate places under the laws as they stand, and learn how common each size is."""
        answers = self.answers
        laws = self.laws()
        simulated = simulate_places(laws, self._weighing(), self.max_users)
        seen = self._likelihood(simulated.presence)
        at_n = at_each_n(seen, self.common)
        presence = (simulated.presence * self.common).mean(axis=1)
        largest = float(answers.look.max()) - answers.look_scale * usual_largest(
            answers.noise, answers.look.size
        )
        most = max(largest, 2 * answers.look_scale, 2 * float(presence[1]))
        prior = learn_visitor_prior(
            self.grid, presence, at_n, self.bins.places, self._total(laws), most, cells=self.covering
        )
        # Nobody is at a place twice: no place has more visitors than there are users.
        prior = np.where(self.grid <= self._most_users(), prior, _TINY * prior)
        prior /= prior.sum()
        self.now = Fitted(simulated, self.bins, seen, self.common, prior, laws, self.heterogeneity)
        return self.now

    def _likelihood(self, presence: Reals) -> Reals:
        """The likelihood of each bin's look at each simulated place: n × copy × bin."""
        answers = self.answers
        # Bins have a width and simulated places lie apart: where the noise is finer, it must not choose among them.
        scale = np.hypot(answers.look_scale, BLUR * presence / self.noise)[:, :, None]
        seen = likelihood(presence, self.bins, scale, answers.noise)
        seen *= answers.look_scale / scale
        return seen

    def _weighing(self) -> Weighing:
        return Weighing(self.answers.noise, self.answers.cap, self.answers.many_from, self.clear)

    def _most_users(self) -> float:
        """As many users as there may be, given the noise of the sizes."""
        spread = self.noise * self.answers.sizes_scale * math.sqrt(self.answers.sizes.size)
        return self.users + MOST_SPREAD * spread

    def _total(self, laws: VisitorLaws) -> Total:
        """All presence: the sum of the looks and the histogram of sizes know it, each with its own noise."""
        answers = self.answers
        variance = self.noise**2
        by_look = variance * answers.look_scale**2 * answers.look.size
        other, by_sizes = float(answers.sizes.sum()), variance * answers.sizes_scale**2 * answers.sizes.size
        weights = VisitorWeights.under(laws, self._weighing())
        per_user = 1.0 if answers.noise == "laplace" else weights.presence_per_user(laws)
        if answers.noise == "gaussian":
            other = self.users * per_user
            by_sizes = by_sizes * per_user**2 + (0.15 * other) ** 2
        precision = 1 / by_look + 1 / by_sizes
        best = (float(answers.look.sum()) / by_look + other / by_sizes) / precision
        # Presence is never below what noise could hide, or a fifth of a visitor with one place at each.
        best = max(best, min(0.2 * answers.look.size / answers.cap, precision**-0.5))
        return Total(best, precision**-0.5, other, math.sqrt(by_sizes), per_user)

    def _by_band(self, edges: Reals, held: Reals) -> tuple[Reals, Reals]:
        """What the places of each band hold, as their looks are read now; and the mean ln n of that presence."""
        now = self.now
        band = np.searchsorted(edges, self.bins.middle)
        in_band = band[:, None] == np.arange(edges.size + 1)
        at_n = at_each_n(now.seen, now.common)
        per_bin = self.bins.places / np.maximum(now.prior @ at_n * COPIES, 1e-300)
        weight = np.tensordot(now.seen, in_band * per_bin[:, None], 1)
        weight *= (now.prior[:, None] * now.common)[:, :, None]
        flat = held.reshape(*held.shape[:2], -1)
        by_n = np.matmul(weight.transpose(0, 2, 1), flat)
        mass = by_n.sum(axis=2)
        middle = (self.log_n @ mass) / np.maximum(mass.sum(axis=0), 1e-300)
        middle = np.maximum.accumulate(middle + 1e-6 * np.arange(middle.size))
        return by_n.sum(axis=0).reshape(-1, *held.shape[2:]), middle

    def fit_sizes(self) -> None:
        """Tilt the law of places of each band to its histogram."""
        answers = self.answers
        held, middle = self._by_band(answers.size_edges, self.now.simulated.sizes)
        if len(held) == 1:
            return  # one band is all presence, whose law is known
        # The law of all, changed so that all bands together hold what was measured, where that is clear of its noise.
        ratio = self.told_sizes / np.maximum(held.sum(axis=0) / max(held.sum(), 1e-300), 1e-12)
        ratio = np.clip(ratio, 0.5, 2.0) ** self._clear_cells()
        self.sizes = self.sizes * ratio
        self.sizes = self.sizes / self.sizes.sum()
        self.middle = float(self.sizes @ _OCTAVE)
        current = np.interp(middle, self.log_n[1:], self.size_tilts[1:])
        usual = usual_size_tilt(middle)
        spread = self.noise * answers.sizes_scale
        found = fit_tilts(answers.sizes, spread, held * ratio, current, size_tilt, usual)
        beyond = np.interp(self.log_n, middle, found.mean - usual)
        self.size_tilts = beyond + usual_size_tilt(self.log_n)
        self.size_unsure = np.interp(self.log_n, middle, found.deviation)
        lever = size_lever(self.sizes, self.share)
        self.heterogeneity = learn_heterogeneity(lever * found.own, lever * found.own_deviation)

    def _clear_cells(self) -> Reals:
        """How clear the cells of the sizes of all are of their noise: from 0 to 1."""
        spread = CLEAR * self.noise * self.answers.sizes_scale * math.sqrt(len(self.answers.sizes))
        presence = self.users * self.told_sizes
        clear: Reals = presence**2 / (presence**2 + spread**2)
        return clear

    def fit_visits(self) -> None:
        """Move the laws of visits to the histograms: of users with few and with many places, and of each band."""
        held, self.visit_middle = self._by_band(self.answers.visit_edges, self.now.simulated.visits)
        spread = self.noise * self.answers.visits_scale
        self._fit_slope(held.sum(axis=0), spread * math.sqrt(len(held)))
        # Places differ, and looks select among them: laws are moved until the simulated places hold what was measured.
        law = held.sum(axis=1) + 1e-9
        law /= law.sum(axis=1, keepdims=True)
        moved = self.band_visits * np.clip(self.told_bands / law, 1 / MOST_MOVED, MOST_MOVED)
        self.band_visits = moved / moved.sum(axis=1, keepdims=True)
        self._fit_clear()

    def _fit_slope(self, held: Reals, spread: float) -> None:
        """How much more often those come who have more places."""
        many = self.answers.many_from
        fit = -(((_STEEPNESSES - STEEPNESS[0]) / STEEPNESS[1]) ** 2) / 2
        for noisy, law, part in zip(
            self.answers.visits.sum(axis=0), held, (slice(many), slice(many, None)), strict=True
        ):
            at = self.sizes[part] @ _OCTAVE[part] / max(self.sizes[part].sum(), 1e-9) - self.middle
            foreseen = law / max(law.sum(), 1e-9) + 1e-9
            tilted = foreseen * np.exp(visit_tilt(_STEEPNESSES * at) - visit_tilt(np.array(self.slope * at)))
            fit = fit + fit_of_laws(noisy, spread, tilted)
        weight = np.exp(fit - fit.max())
        self.slope = float(weight @ _STEEPNESSES / weight.sum())

    def learn_strata(self) -> Fitted:
        """How common each kind of split is, from the splits of all places that were asked."""
        evidence = SplitEvidence.fit(self.answers, self.now, self.cells)
        self.common, self.visit_scatter = evidence.commonness()
        self.now = self.now._replace(common=self.common)
        return self.now

    def _fit_clear(self) -> None:
        """The part of all rows at the places that were asked for their split."""
        asked = np.zeros(self.bins.bin_of.size, dtype=bool)
        asked[self.answers.split_at] = True
        at_n = self.now.prior[:, None] * at_each_n(self.now.seen, self.now.common)
        mean = self.grid @ at_n / np.maximum(at_n.sum(axis=0), 1e-300)
        rows = mean[self.bins.bin_of]
        self.clear = float(rows[asked].sum() / max(rows.sum(), 1e-300))


def at_each_n(seen: Reals, weights: Reals) -> Reals:
    """The weighted mean over copies of the likelihood of each bin: n × bin. Weights are by copy, or by n and copy."""
    weights = np.broadcast_to(weights, seen.shape[:2])
    mean: Reals = np.matmul(weights[:, None, :], seen)[:, 0, :] / COPIES
    return mean
