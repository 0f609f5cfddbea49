"""Which matrices pass as symmetric and positive definite."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import NotOnManifoldError, SPDAffineInvariant, SPDLogEuclidean
from riemdp.manifolds import _symmetric

both_metrics = pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])


@both_metrics
@pytest.mark.parametrize(
    ("dtype", "inside", "beyond"), [(float, 0.9e-6, 1.2e-6), (np.float32, 0.8e-4, 1.3e-4)]
)
def test_validate_symmetrises_small_asymmetry_only(metric, dtype, inside, beyond):
    space = metric(3)
    # Units of wildly different size: the tolerance has to scale with them.
    units = np.diag([1e3, 1.0, 1e-3])
    matrices = np.tile(units @ (np.eye(3) + 0.5) @ units / 1.5, (4, 1, 1))
    near, far = matrices.copy(), matrices.copy()
    near[2, 0, 2] += inside
    far[2, 0, 2] += beyond
    mended = space.validate(near.astype(dtype))
    np.testing.assert_array_equal(mended, np.swapaxes(mended, -1, -2))
    tolerance = 1e-15 if dtype is float else 1e-6
    np.testing.assert_allclose(mended[2, 0, 2], near[2, [0, 2], [2, 0]].mean(), rtol=tolerance)
    with pytest.raises(NotOnManifoldError, match="row 2 is not symmetric") as caught:
        space.validate(far.astype(dtype))
    assert "0.333" not in str(caught.value)


@both_metrics
def test_validate_keeps_symmetric_matrices_bit_by_bit(metric, random_points):
    points = random_points(metric(4), np.random.default_rng(0), 6)
    np.testing.assert_array_equal(metric(4).validate(points), points)


@both_metrics
@pytest.mark.parametrize("k", [1, 2, 3])
def test_validate_refuses_what_is_not_positive_definite(metric, k):
    rng = np.random.default_rng(k)
    good = np.tile(np.eye(k), (5, 1, 1))
    rotation = np.linalg.qr(rng.normal(size=(k, k)))[0]
    for values in (np.linspace(-1.0, 2.0, k), np.linspace(0.0, 1.0, k), np.full(k, -1.0)):
        bad = good.copy()
        bad[3] = _symmetric.symmetrise(rotation * values @ rotation.T)
        if values[0] == 0.0:
            bad[3] -= 1e-13 * np.eye(k)
        with pytest.raises(NotOnManifoldError, match=r"row 3 .*positive"):
            metric(k).validate(bad)
        with pytest.raises(NotOnManifoldError, match=r"the point .*positive"):
            metric(k).validate(bad[3])


@both_metrics
def test_validate_refuses_positive_diagonal_but_indefinite(metric):
    with pytest.raises(NotOnManifoldError, match=r"row \(0, 1\) is not positive definite"):
        metric(2).validate([[np.eye(2), [[1.0, 2.0], [2.0, 1.0]]]])


@pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])
def test_the_largest_asymmetry_is_refused_quietly(metric):
    matrix = np.array([[1e308, 1.7e308], [-1.7e308, 1e308]])
    with pytest.raises(NotOnManifoldError, match="not symmetric"):
        metric(2).validate(matrix)
