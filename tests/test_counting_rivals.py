"""The counts that Shares is measured against are as good as counts can be: a weak rival would flatter us."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def rivals():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import counting_rivals

        return counting_rivals
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.5, 9.864), (1.0, 5.100), (5.0, 1.139)])
def test_gaussian_noise_is_as_small_as_delta_admits(rivals, epsilon, sigma):
    assert rivals.gaussian_deviation(epsilon, 1e-8) == pytest.approx(sigma, abs=1e-3)


@pytest.mark.parametrize("delta", [0.0, 1e-8])
def test_shrinking_a_list_of_busy_and_of_empty_places_halves_the_error(rivals, delta):
    random = np.random.default_rng(1)
    visitors = np.repeat([0, 300], [900, 100])
    noise = random.normal(size=1000) if delta else random.laplace(size=1000)
    noisy, truth = visitors + 20 * noise, np.log(np.maximum(1, visitors))
    off = {
        name: math.sqrt(np.mean((found.entropy - truth) ** 2))
        for name, found in (("count", rivals.counted(noisy)), ("EB", rivals.shrunk(noisy, 20.0, delta)))
    }
    assert off["EB"] < off["count"] / 2
    assert np.all(np.diff(rivals.shrunk(noisy, 20.0, delta).entropy[np.argsort(noisy)]) >= -1e-12)
