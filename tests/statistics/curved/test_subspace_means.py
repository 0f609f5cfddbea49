"""Fréchet means of shapes and subspaces: in both arithmetics, and as the spaces measure them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, ConvergenceError, UnsupportedBallError, frechet_mean
from riemdp.spaces import Grassmann, PlanarShapes, clip_norm
from riemdp.statistics import FrechetMean, Prepared, answer
from riemdp.statistics.curved import _certified_grassmann
from riemdp.statistics.curved._certified_grassmann import Subspaces, certificate
from riemdp.statistics.curved._mean_solver import shortened
from riemdp.statistics.curved._solver_of_space import is_solved, mean_solver


def mean_on(ball):
    """What the Fréchet mean asks of records."""
    return next(FrechetMean().queries(ball))


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    return np.array(answer(mean_on(ball), ball, data, tol), dtype=float)


SPACES = [
    (PlanarShapes(3), Subspaces(1, 1, planar=True)),
    (PlanarShapes(5), Subspaces(3, 1, planar=True)),
    (Grassmann(2, 4), Subspaces(2, 2)),
    (Grassmann(3, 4), Subspaces(1, 3)),
    (Grassmann(1, 4), Subspaces(3, 1)),
    (Grassmann(2, 5), Subspaces(3, 2)),
]
ids = [str(manifold) for manifold, _ in SPACES]


@pytest.mark.parametrize(("manifold", "space"), SPACES, ids=ids)
def test_a_solver_certifies_with_the_curvature_of_the_space(manifold, space):
    assert mean_solver(manifold).seen(manifold) == space
    assert space.curvature == manifold.curvature_bound


def some_ball(manifold, radius):
    """About a point that no axis singles out."""
    rng = np.random.default_rng(manifold.dim)
    around = Ball(manifold, manifold.origin, 0.7)
    return Ball(manifold, around.point(0.3 * rng.normal(size=manifold.dim)), radius)


def some_points(ball, n, length):
    vectors = np.random.default_rng(8).normal(size=(n, ball.manifold.dim)) + 0.3
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    return ball.manifold.validate(Ball(ball.manifold, ball.center, length).point(vectors))


@pytest.mark.parametrize(("manifold", "space"), SPACES, ids=ids)
@pytest.mark.parametrize("radius", [0.2, 0.7])
def test_its_gradient_vanishes_as_the_space_measures_it(manifold, space, radius):
    del space
    ball = some_ball(manifold, radius)
    points = some_points(ball, 9, radius)
    weights = np.arange(1.0, 10.0)
    found = frechet_mean(manifold, points, weights, ball=ball)
    logs = manifold.tangent_coordinates(found.value, manifold.log(found.value, points))
    gradient = weights @ logs / weights.sum()
    assert np.linalg.norm(gradient) <= found.error_bound + 1e-13
    assert found.error_bound <= 1e-10
    assert np.linalg.norm(weights[::-1] @ logs) > 1e-3


@pytest.mark.parametrize(("manifold", "space"), SPACES, ids=ids)
def test_exact_means_are_certified_where_noise_is_added(manifold, space):
    ball = some_ball(manifold, 0.4)
    points = np.concatenate([some_points(ball, 8, 0.3), some_points(ball, 3, 0.6)])
    query = mean_on(ball)
    tol = query.tolerance(ball, query.replace_one(ball, len(points), "distance"))
    found = answer(query, ball, points, tol)
    assert all(isinstance(x, Fraction) for x in found)
    point, records = np.array([float(x) for x in found]), shortened(ball, points)
    assert certificate(space, point, records, tol) <= tol
    assert certificate(space, point + 1e-6, records, 1e-5) > tol
    assert (np.linalg.norm(records, axis=1) <= 0.4).all()
    assert is_solved(manifold)
    assert mean_solver(manifold).exact(manifold).floor(ball) <= 1e-12


@pytest.mark.parametrize("manifold", [PlanarShapes(4), Grassmann(2, 4)], ids=str)
def test_radii_up_to_a_quarter_of_pi(manifold):
    for radius, works in ((0.783, True), (0.786, False)):
        ball = Ball(manifold, manifold.origin, radius)
        points = some_points(ball, 5, 0.5)
        if works:
            assert frechet_mean(manifold, points, ball=ball, tol=1e-5).error_bound <= 1e-5
        else:
            with pytest.raises(UnsupportedBallError, match=r"0\.786 must stay under 0\.785398"):
                frechet_mean(manifold, points, ball=ball)


def test_data_outside_and_no_ball_are_refused():
    manifold = PlanarShapes(4)
    ball = Ball(manifold, manifold.origin, 0.3)
    points = np.concatenate([some_points(ball, 2, 0.2), some_points(ball, 1, 0.4)])
    with pytest.raises(UnsupportedBallError, match="row 2 lies outside"):
        frechet_mean(manifold, points, ball=ball)
    with pytest.raises(UnsupportedBallError, match="only inside a ball"):
        frechet_mean(manifold, points)
    with pytest.raises(ConvergenceError, match="cannot be certified"):
        frechet_mean(manifold, points[:2], ball=ball, tol=1e-15)


@pytest.mark.parametrize("manifold", [PlanarShapes(4), Grassmann(2, 4)], ids=str)
def test_chunks_make_the_whole(manifold):
    ball = some_ball(manifold, 0.5)
    points = some_points(ball, 9, 0.6)
    query = mean_on(ball)
    first, second = (Prepared(ball, rows).summary(query) for rows in (points[:4], points[4:]))
    found = query.finish(ball, query.merge(first, second), 1e-9)
    np.testing.assert_allclose(
        np.array(found, dtype=float), certified(ball, points, 1e-9), atol=1e-12
    )
    assert np.linalg.norm(np.array(found, dtype=float)) <= ball.radius


@pytest.mark.parametrize("manifold", [PlanarShapes(4), Grassmann(2, 4)], ids=str)
def test_the_tolerance_is_public_and_small(manifold):
    for radius in (1e-4, 0.4, 0.78):
        ball = Ball(manifold, manifold.origin, radius)
        tolerance = mean_on(ball).tolerance(ball, 2.0 * radius / 100.0)
        assert tolerance <= max(1e-5 * radius / 50.0, 1e-13)
    assert math.isinf(
        mean_solver(manifold).exact(manifold).floor(Ball(manifold, manifold.origin, 0.8))
    )


def test_equal_records_are_their_own_mean():
    ball = some_ball(Grassmann(2, 5), 0.7)
    record = clip_norm(np.full((1, 6), 0.2), 0.6)
    points = ball.point(np.repeat(record, 7, axis=0))
    found = frechet_mean(ball.manifold, points, ball=ball)
    np.testing.assert_allclose(ball.coordinates(found.value), record[0], atol=1e-10)


@pytest.mark.parametrize("manifold", [PlanarShapes(5), Grassmann(2, 4)], ids=str)
def test_rounding_of_records_and_of_the_mean_is_part_of_the_bound(manifold, monkeypatch):
    def exact(*given, **options):
        return *refined(*given, **options)[:1], 0.0, 1

    refined = _certified_grassmann.refined
    monkeypatch.setattr(_certified_grassmann, "refined", exact)
    ball = some_ball(manifold, 0.6)
    found = frechet_mean(manifold, some_points(ball, 9, 0.5), ball=ball)
    # the records', magnified by the inverse of the Hessian, and the mean's own
    assert found.error_bound >= 2.0 * manifold.rounding(ball.center, ball.radius)
