"""Places drawn from the very model that the inference believes in, and made-up answers: what comes out is then known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from locentropy.core.share_profile import ShareProfile, share
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.estimator import histogram_smoothing
from locentropy.mechanisms.shares.measurements import (
    SIZE_OCTAVES,
    SPLIT_MAX_VISITS,
    TABLE,
    UNIT,
    VISIT_OCTAVES,
    Answers,
    ShareQueries,
)


def bell(middle: float, width: float, cells: int) -> np.ndarray:
    """A smooth law over octaves."""
    law = np.exp(-((np.arange(cells) - middle) ** 2) / (2 * width**2))
    return law / law.sum()


LAWS = np.stack([bell(0.5, 1.0, VISIT_OCTAVES), bell(2.0, 1.5, VISIT_OCTAVES), bell(4.0, 2.0, VISIT_OCTAVES)])
COMMON = (0.5, 0.35, 0.15)
"""Visit laws of places, and how common each is."""
SIZES = bell(2.0, 1.5, SIZE_OCTAVES)


def entropies(place: np.ndarray, visits: np.ndarray, listed: int) -> np.ndarray:
    """The true ones; 0 where nobody was."""
    total = np.maximum(np.bincount(place, visits, listed), 1.0)
    return np.log(total) - np.bincount(place, visits * np.log(visits), listed) / total


def answered(place, visits, presence, listed: int, epsilon: float, seed: int | None) -> Answers:
    """The answers of Shares about rows of (place, visits, presence in lattice points); without noise if no seed."""
    questions = ShareQueries(epsilon)
    asked = (UNIT, questions.largest, SPLIT_MAX_VISITS)
    rows = (place, np.minimum(visits, SPLIT_MAX_VISITS), presence)
    profile = ShareProfile.from_rows(
        pa.array(np.arange(listed)), asked, rows, (presence, presence), (visits, presence)
    )
    noise = Exact() if seed is None else SimulatedNoise(seed)
    return questions.answers(questions.privatize(profile, noise))


def of_people(user, place, visits, listed: int, epsilon: float, seed: int | None) -> Answers:
    """The answers about a table of people."""
    _, row_of, places = np.unique(user, return_inverse=True, return_counts=True)
    presence = share(places[row_of].astype(np.int64), UNIT, ShareQueries(epsilon).largest)
    return answered(place, visits, presence, listed, epsilon, seed)


def of_the_model(draw, crowds: np.ndarray, epsilon: float, seed: int) -> tuple[Answers, np.ndarray]:
    """Answers and true entropies of places with these numbers of visitors, each visitor drawn for itself."""
    place = np.repeat(np.arange(crowds.size), crowds)
    cap = float(ShareQueries(epsilon).cap)
    cell = draw.choice(SIZE_OCTAVES, place.size, p=SIZES)
    places = histogram_smoothing.places(SIZE_OCTAVES, cap, draw.random(place.size), cell)
    reached = np.cumsum(LAWS, axis=1)[draw.choice(len(LAWS), crowds.size, p=COMMON)]
    cell = (draw.random(place.size)[:, None] > reached[place, :-1]).sum(axis=1)
    visits = histogram_smoothing.visits(draw.random(place.size), cell).astype(np.int64)
    presence = np.minimum(ShareQueries(epsilon).largest, UNIT // places.astype(np.int64))
    answers = answered(place, visits, presence, crowds.size, epsilon, seed)
    return answers, entropies(place, visits, crowds.size)


def reordered(answers: Answers, order: np.ndarray) -> Answers:
    """The same answers about the same places, listed in another order."""
    return dataclasses.replace(answers, look=answers.look[order], split=answers.split[order])


def garbage(look, sizes, visits, split, epsilon: float) -> Answers:
    """Any numbers at all, under the noise of a given ε."""
    questions = ShareQueries(epsilon)
    look_scale, profile_scale, split_scale = (scale / UNIT for scale in questions.scales)
    return Answers(
        np.asarray(look, dtype=np.float64),
        np.asarray(sizes, dtype=np.float64),
        np.asarray(visits, dtype=np.float64),
        np.asarray(split, dtype=np.float64),
        look_scale,
        profile_scale,
        split_scale / TABLE.unit,
        float(questions.cap),
    )


class Exact:
    """`Noise` that adds nothing."""

    private = False

    def laplace(self, values, scale):
        return values
