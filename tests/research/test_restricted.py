"""The Laplace mechanism restricted to a ball."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from riemdp import _errors as errors
from riemdp.auditing import DistanceScore, audit, audit_sampler
from riemdp.mechanisms import RiemannianLaplace
from riemdp.privacy import PureCurve, PureDP, quotient_up
from riemdp.research import RestrictedLaplace
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, Sphere


def center(manifold):
    if isinstance(manifold, Euclidean):
        return np.zeros(manifold.dim)
    point = np.zeros(manifold.dim + 1)
    point[0] = 1.0 / math.sqrt(abs(manifold.curvature))
    return point


def near(manifold, coordinates):
    base = center(manifold)
    return manifold.exp(base, manifold.tangent_vector(base, coordinates))


def scattered(manifold, radius, count=20_000, seed=0):
    """Points around the centre, with some on the geodesic through the neighbours."""
    random = np.random.default_rng(seed)
    coordinates = random.standard_normal((count, manifold.dim))
    coordinates[: count // 10, 1:] = 0.0
    coordinates *= (
        radius * random.random((count, 1)) / np.linalg.norm(coordinates, axis=-1)[:, None]
    )
    return near(manifold, coordinates)


def largest_loss(mechanism, first, second, points):
    return np.max(
        np.abs(mechanism.log_density(points, first) - mechanism.log_density(points, second))
    )


def test_laplace_on_a_ball_of_affine_invariant_matrices():
    manifold = SPDAffineInvariant(3)
    ball = Ball(manifold, np.diag([1.0, 2.0, 3.0]), 1.0)
    mechanism = RestrictedLaplace.calibrate(manifold, 0.3, PureDP(0.5), ball=ball)
    # far beyond sqrt(1/2), where the unrestricted law ends
    assert mechanism.sigma == pytest.approx(1.2)
    with pytest.raises(errors.NotAttainableError, match="normaliser"):
        RiemannianLaplace.calibrate(manifold, 0.3, PureDP(0.2))
    assert mechanism.privacy(0.3) == PureCurve(quotient_up(0.6, mechanism.sigma))
    assert mechanism.rao(0.3, "parametric").theta == pytest.approx(0.25)
    points = mechanism.sample(ball.center, 50, np.random.default_rng(0))
    assert np.all(ball.contains(points))
    assert mechanism.expected_distance() < mechanism.error_quantile(0.99) < 2.0 * ball.radius
    assert (
        audit_sampler(
            mechanism, ball.center, samples=1000, generator=np.random.default_rng(1)
        ).verdict
        == "consistent"
    )
    # negative control: the law of distances of another scale
    found = audit_sampler(
        mechanism,
        ball.center,
        samples=1000,
        law=RestrictedLaplace(manifold, 0.2, ball=ball).distance_law(ball.center),
        generator=np.random.default_rng(1),
    )
    assert found.verdict == "violated"
    # the score of distances is the likelihood ratio up to the normalisers
    pair = ball.point(-0.9 * np.eye(6)[0]), ball.point(0.9 * np.eye(6)[0])
    options = {"score": DistanceScore(manifold, *pair), "samples": 4000}
    for epsilon, verdict in ((3.0, "consistent"), (0.2, "violated")):
        result = audit(
            mechanism, *pair, PureDP(epsilon), generator=np.random.default_rng(2), **options
        )
        assert result.verdict == verdict
    with pytest.raises(errors.UnsupportedManifoldError, match="DistanceScore"):
        mechanism.log_density(*pair)
    with pytest.raises(errors.InvalidParameterError, match="centre"):
        mechanism.distance_law(ball.point(0.5 * np.eye(6)[0]))
    with pytest.raises(errors.NotAttainableError, match="smaller ball"):
        RestrictedLaplace(manifold, 1.0, ball=Ball(manifold, np.eye(3), 25.0))


RESTRICTED = [Euclidean(2), Sphere(2), Hyperbolic(2)]


@pytest.mark.parametrize("manifold", RESTRICTED, ids=str)
def test_restricted_laplace_needs_twice_the_noise(manifold):
    sensitivity, radius = 0.2, 0.5
    ball = Ball(manifold, center(manifold), radius)
    mechanism = RestrictedLaplace.calibrate(manifold, sensitivity, PureDP(2.0), ball=ball)
    assert mechanism.sigma == pytest.approx(0.2)
    assert mechanism.privacy(sensitivity).pure_epsilon() == pytest.approx(2.0)
    axis = np.eye(manifold.dim)[0]
    first, second = near(manifold, 0.3 * axis), near(manifold, 0.499999 * axis)
    points = scattered(manifold, 0.999 * radius)
    loss = largest_loss(mechanism, first, second, points)
    # above what sigma = sensitivity / epsilon would promise: the normaliser's part is real
    assert sensitivity / mechanism.sigma * 1.1 < loss <= 2.0


@pytest.mark.fast(1)
@pytest.mark.parametrize("manifold", RESTRICTED, ids=str)
def test_error_of_the_restricted_laplace_is_a_bound_everywhere(manifold):
    radius = 0.5
    ball = Ball(manifold, center(manifold), radius)
    mechanism = RestrictedLaplace(manifold, 0.3, ball=ball)
    for offset in (0.0, 0.3, 0.5):
        footpoint = near(manifold, offset * np.eye(manifold.dim)[0])
        points = mechanism.sample(footpoint, 5_000, np.random.default_rng(8))
        assert np.all(ball.contains(points))
        dist = manifold.dist(footpoint, points)
        assert np.mean(dist) < mechanism.expected_distance()
        assert np.mean(dist <= mechanism.error_quantile(0.95)) > 0.94
    assert mechanism.error_quantile(1.0) <= 2.0 * radius * (1.0 + 1e-12)
    # the bound has content where the unrestricted law is wide
    assert mechanism.expected_distance() < RiemannianLaplace(manifold, 0.3).expected_distance()


def test_no_error_bound_on_a_ball_that_is_not_convex():
    sphere = Sphere(2)
    mechanism = RestrictedLaplace(sphere, 0.3, ball=Ball(sphere, center(sphere), 2.0))
    assert mechanism.sample(center(sphere), 10).shape == (10, 3)
    with pytest.raises(errors.UnsupportedBallError, match="not convex"):
        mechanism.expected_distance()
    with pytest.raises(errors.UnsupportedBallError, match="not convex"):
        mechanism.error_quantile(0.5)


def test_ball_of_another_manifold():
    with pytest.raises(errors.InvalidParameterError, match="belongs to"):
        RestrictedLaplace(Sphere(2), 0.1, ball=Ball(Euclidean(3), np.zeros(3), 1.0))


def test_the_law_of_the_distance_is_that_of_draws():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8)
    mechanism = RestrictedLaplace(Sphere(2), 0.3, ball=ball)
    law = mechanism.distance_law(ball.center)
    draws = mechanism.sample(ball.center, 5000, np.random.default_rng(0))
    assert stats.kstest(Sphere(2).dist(ball.center, draws), law.cdf).pvalue > 1e-4
    assert law.quantile(1.0) <= 0.8
    with pytest.raises(errors.InvalidParameterError, match="at the ball's centre"):
        mechanism.distance_law(ball.point([1e-3, 0.0]))


def test_it_belongs_to_its_ball_and_has_no_exact_draw():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8)
    mechanism = RestrictedLaplace(Sphere(2), 0.3, ball=ball)
    assert RestrictedLaplace.needed(ball) == {"ball": ball}
    assert mechanism.foreign_to(ball) is None
    other = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    assert "another ball" in mechanism.foreign_to(other)
    assert "Euclidean" in mechanism.foreign_to(Ball(Euclidean(2), [0.0, 0.0], 1.0))
    assert mechanism.proofs() == {"restricted-laplace": "docs/proofs/riemannian-laplace.md"}
    assert mechanism == RestrictedLaplace(Sphere(2), 0.3, ball=ball)
    assert mechanism != RestrictedLaplace(Sphere(2), 0.3, ball=other)
    with pytest.raises(errors.UnsupportedError, match="no exactly rounded draw"):
        mechanism.exact_draw(ball)
