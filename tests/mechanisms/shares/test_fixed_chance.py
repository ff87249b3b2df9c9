"""Scattered numbers: always the same, and as even as chance."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.fixed_chance import fixed_uniforms


def test_the_numbers_are_those_of_splitmix():
    """Its first three for the seed 0, as its authors' program gives them: so on every machine."""
    first = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert fixed_uniforms(3, 0).tolist() == [((each >> 11) + 0.5) * 2.0**-53 for each in first]


@given(count=st.integers(1, 500), more=st.integers(0, 500), stream=st.integers(0, 2**31))
def test_more_numbers_begin_with_the_same_ones(count, more, stream):
    few, many = fixed_uniforms(count, stream), fixed_uniforms(count + more, stream)
    assert (few == many[:count]).all()
    assert (few > 0).all()
    assert (few < 1).all()


@given(stream=st.integers(0, 2**31 - 1), other=st.integers(0, 2**31 - 1))
def test_streams_differ(stream, other):
    if stream != other:
        assert not np.intersect1d(fixed_uniforms(300, stream), fixed_uniforms(300, other)).size


def test_numbers_are_even_and_streams_do_not_know_each_other():
    count = 20_000
    here, there = (fixed_uniforms(count, stream) for stream in (6, 7))
    for numbers in (here, there):
        gap = np.abs(np.sort(numbers) - (np.arange(count) + 0.5) / count).max()
        assert gap < 2.2 / math.sqrt(count)  # chance exceeds this once in 8000
    for pair in ((here, there), (here[1:], here[:-1]), (here[64:], here[:-64])):
        assert abs(np.corrcoef(*pair)[0, 1]) < 4.5 / math.sqrt(count)
