"""Effects of nested levels: the two passes give what the whole normal model gives."""

from __future__ import annotations

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator.effect_tree import EffectTree, Information, nested_in

FINE = np.array([0, 1, 2, 3, 4, 4, 5, 0, 2, 2])
MIDDLE = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1, 1])
COARSE = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0])


def test_levels_that_lie_in_one_are_nested():
    assert nested_in(FINE, MIDDLE).tolist() == [0, 0, 1, 1, 2, 2]
    assert nested_in(MIDDLE, FINE) is None


def test_nested_attributes_share_a_tree_whatever_their_order():
    crossed = np.arange(10) % 2
    first, second = EffectTree.forest([FINE, crossed, COARSE, MIDDLE])
    assert (first.attributes, first.sizes) == ((1,), (2,))
    assert (second.attributes, second.sizes) == ((2, 3, 0), (2, 3, 6))
    assert second.leaf_of is FINE


@pytest.mark.parametrize("seed", range(5))
def test_two_passes_solve_the_whole_model(seed):
    draw = np.random.default_rng(seed)
    (tree,) = EffectTree.forest([COARSE, MIDDLE, FINE])
    variances = draw.uniform(0.01, 0.3, 3)
    precision, weighted = draw.uniform(0, 2, 10), draw.normal(size=10)
    of_sums = Information(draw.uniform(0, 2, 3), draw.normal(size=3))
    values = tree.posterior([None, of_sums, tree.gathered(precision, weighted)], variances)

    # All effects together, as one normal vector.
    levels = [COARSE, MIDDLE, FINE]
    blocks = [np.eye(int(each.max()) + 1)[each] for each in levels]
    design = np.concatenate(blocks, axis=1)
    above = [
        np.stack([design[np.flatnonzero(each == at)[0]] for at in range(each.max() + 1)]) for each in levels
    ]
    for depth in range(3):
        above[depth][:, sum(block.shape[1] for block in blocks[: depth + 1]) :] = 0
    prior = np.diag(
        1 / np.concatenate([np.full(b.shape[1], v) for b, v in zip(blocks, variances, strict=True)])
    )
    information = prior + design.T @ (precision[:, None] * design)
    information += above[1].T @ (of_sums.precision[:, None] * above[1])
    right = design.T @ weighted + above[1].T @ of_sums.weighted
    covariance = np.linalg.inv(information)
    for found, of_levels in zip(values, above, strict=True):
        np.testing.assert_allclose(found.mean, of_levels @ covariance @ right, atol=1e-10)
        np.testing.assert_allclose(found.variance, np.diag(of_levels @ covariance @ of_levels.T), atol=1e-10)
