"""Visit laws: a family that holds the profile, and ways for a place to differ from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.simulated_places import visit_laws
from locentropy.mechanisms.shares.measurements import VISIT_OCTAVES

from .made_up import bell

WILD = st.lists(st.floats(1e-9, 1.0), min_size=VISIT_OCTAVES, max_size=VISIT_OCTAVES).map(
    lambda weights: np.array(weights) / sum(weights)
)


@given(profile=WILD)
def test_laws_and_how_common_they_are_add_up_to_one(profile):
    found = visit_laws(profile)
    assert (found.laws >= 0).all()
    assert found.laws.sum(axis=1) == pytest.approx(1)
    assert (found.common > 0).all()
    assert found.common.sum() == pytest.approx(1)
    assert found.laws.shape == (found.common.size, VISIT_OCTAVES)


@given(profile=WILD)
def test_the_profile_itself_is_one_of_the_laws_and_among_the_commonest(profile):
    found = visit_laws(profile)
    off = np.abs(found.laws - profile).sum(axis=1)
    assert off.min() < 1e-12
    assert found.common[off.argmin()] >= np.median(found.common)


@given(middle=st.floats(0, 5), width=st.floats(0.7, 2.5))
def test_together_the_laws_look_like_the_profile(middle, width):
    """Half the distance in ℓ₁ is how many visitors would have to be moved."""
    profile = bell(middle, width, VISIT_OCTAVES)
    found = visit_laws(profile)
    together = found.common @ found.laws
    assert np.abs(together - profile).sum() / 2 < 0.2
    octave = np.arange(VISIT_OCTAVES)
    assert together @ octave == pytest.approx(profile @ octave, abs=0.5)


@given(middle=st.floats(1, 4), width=st.floats(0.8, 2))
def test_places_may_come_more_or_less_often_than_all(middle, width):
    profile = bell(middle, width, VISIT_OCTAVES)
    octave = np.arange(VISIT_OCTAVES)
    means = visit_laws(profile).laws @ octave
    assert means.min() < profile @ octave - 0.5
    assert means.max() > profile @ octave + 0.5
