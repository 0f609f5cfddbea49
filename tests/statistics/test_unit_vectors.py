"""What counts as a direction."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, SPDLogEuclidean, Sphere
from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp.statistics import DirectionalMoments, Recentred, answer
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")


def directions(n, dim, seed=0):
    found = np.random.default_rng(seed).normal(size=(n, dim))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def vectors_of(ball, points):
    query = DirectionalMoments(1).query(ball)
    return query.vectors(ball, query.prepare(ball, points))


@pytest.mark.parametrize("dim", [2, 3, 10])
def test_the_whole_sphere_is_taken_as_it_is(dim):
    ball, statistic = Ball.whole(Sphere(dim - 1)), DirectionalMoments(1)
    points = directions(7, dim)
    assert statistic.dim(ball) == dim
    assert statistic.query(ball).unit == 1.0
    assert statistic.query(ball).clipped(ball, points).tobytes() == points.tobytes()


def test_the_radius_of_the_sphere_does_not_count():
    points = directions(5, 3)
    for curvature in (0.25, 9.0):
        ball = Ball.whole(Sphere(2, curvature))
        found = vectors_of(ball, points / np.sqrt(curvature))
        assert np.allclose(found, points, rtol=1e-14)


def test_in_a_ball_records_outside_are_projected_first():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    points = directions(20, 3)
    query = DirectionalMoments((1, 2)).query(ball)
    found = vectors_of(ball, points)
    assert np.allclose(found, ball.project(points))
    assert not np.allclose(found, points)
    assert query.replace_one(ball, 20, "distance") == pytest.approx(0.1, rel=1e-11)


def test_what_has_no_direction_counts_as_zero():
    ball = Ball.whole(Sphere(2))
    rows = np.array([[np.nan, 0.0, 1.0], [np.inf, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    found = DirectionalMoments(1).query(ball).prepare(ball, rows)
    assert np.array_equal(found, [[0.0] * 3, [0.0] * 3, [0.0] * 3, [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("manifold", [Euclidean(3), Hyperbolic(2), SPDLogEuclidean(2)], ids=str)
def test_other_spaces_have_none(manifold):
    ball = Ball(manifold, manifold.origin, 1.0)
    with pytest.raises(UnsupportedManifoldError, match="unit vectors, points of a Sphere"):
        DirectionalMoments(1).query(ball)


def test_they_are_seen_from_no_point():
    with pytest.raises(InvalidParameterError, match="normal coordinates"):
        Recentred(DirectionalMoments(1))


@pytest.mark.parametrize("order", [1, 2, (1, 2)], ids=str)
@pytest.mark.parametrize("dim", [1, 2])
def test_it_is_a_statistic(order, dim):
    sphere = Sphere(dim)
    check_part(DirectionalMoments(order), ball=Ball(sphere, sphere.origin, 1.2))


def test_vectors_are_shortened_by_next_to_nothing():
    points = directions(50, 3)
    ball = Ball.whole(Sphere(2))
    for order, wanted in ((1, points.mean(axis=0)), (2, np.mean(points**2, axis=0))):
        found = answer(DirectionalMoments(order).query(ball), ball, points, 0.0)
        assert np.abs(np.array([float(x) for x in found[:3]]) - wanted).max() < 1e-10
