"""What spaces of matrices share: sizes, shapes, the range that float64 holds, the axis of scale."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    InvalidParameterError,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
)

both_metrics = pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])


@pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant, SPDLogCholesky, SPDPower])
def test_sizes(metric):
    space = metric(np.int64(3))
    assert (space.k, space.dim, space.point_shape, space.origin_name) == (3, 6, (3, 3), "identity")
    assert type(space.k) is int
    np.testing.assert_array_equal(space.origin, np.eye(3))
    for wrong in (0, 2.5, "3"):
        with pytest.raises(InvalidParameterError, match="k must be"):
            metric(wrong)


@both_metrics
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_first_extreme_direction_is_that_of_the_trace(metric, k, random_points):
    space = metric(k)
    base = random_points(space, np.random.default_rng(k), (), 1.0)
    found = space.extreme_directions(base)
    assert found.shape == ((1, 1) if k == 1 else (3, space.dim))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    traces = np.abs(found @ space.scale_axis)
    np.testing.assert_allclose(traces, [1.0] if k == 1 else [1.0, 0.0, 0.0], atol=1e-12)


@both_metrics
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e200])
def test_scaled_matrices_are_as_good_as_others(metric, k, scale, random_points):
    space = metric(k)
    p, q = random_points(space, np.random.default_rng(k), (2, 4))
    p_scaled, q_scaled = space.validate(scale * p), space.validate(scale * q)
    np.testing.assert_allclose(space.dist(p_scaled, q_scaled), space.dist(p, q), rtol=1e-11)
    identity = np.linalg.norm(np.log(np.linalg.eigvalsh(p)) + math.log(scale), axis=-1)
    np.testing.assert_allclose(space.dist(np.eye(k), p_scaled), identity, rtol=1e-11)


@pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_largest_matrices_do_not_overflow(metric, k):
    space = metric(k)
    matrix = 1e308 * (np.eye(k) + 0.01)
    matrix[0, -1] *= 1.0 + 1e-9  # has to be symmetrised
    matrix = space.validate(matrix)
    assert np.array_equal(matrix, matrix.T)
    assert space.dist(matrix, matrix) == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite(space.dist(np.eye(k), matrix))
    uneven = np.diag(np.geomspace(1e308, 1e300, k))
    assert space.dist(np.eye(k), uneven) == pytest.approx(np.linalg.norm(np.log(np.diag(uneven))))
    assert np.all(np.isfinite(Ball(space, np.eye(k), 1.0).project(matrix)))


@pytest.mark.parametrize("k", [6, 7, 30])
@pytest.mark.parametrize("space", [SPDLogEuclidean, SPDAffineInvariant])
def test_points_at_any_distance_can_be_validated(space, k):
    """What validation asks for grows with the size of the matrices."""
    space, rng = space(k), np.random.default_rng(0)
    center = np.diag(np.logspace(-1.0, 1.0, k))
    points = space.point(center, 30.0 * rng.normal(size=(20, space.dim)))
    np.testing.assert_array_equal(space.validate(points), points)


@pytest.mark.fast("2", "6")
@pytest.mark.parametrize("k", [2, 6, 30])
def test_points_at_the_edge_may_be_centres(k):
    """As a search of a ball makes them of what it released."""
    space, rng = SPDLogEuclidean(k), np.random.default_rng(1)
    for edge in space.point(np.eye(k), 60.0 * rng.normal(size=(5, space.dim))):
        ball = Ball(space, edge, 0.5)
        points = ball.point(rng.normal(size=(20, space.dim)))
        np.testing.assert_array_equal(space.validate(points), points)
