"""The Fréchet mean with noise in the tangent space at the ball's centre."""

import contextlib

import numpy as np
import pytest

import riemdp
from riemdp import GDP, ApproxDP, Ball, Hyperbolic, PureDP, SPDAffineInvariant, Sphere, research
from riemdp.mechanisms import TangentGaussian, TangentLaplace, WrappedGaussian, WrappedLaplace
from riemdp.statistics import FrechetMean, TangentMean, log_stretch
from riemdp.statistics._footpoint import Footpoint

KINDS = [WrappedGaussian, WrappedLaplace]


def points_in(ball, n, seed=0, spread=0.8):
    generator = np.random.default_rng(seed)
    return ball.point(spread * ball.radius * generator.uniform(-1, 1, (n, ball.manifold.dim)) / 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(3), SPDAffineInvariant(2)], ids=str)
def test_it_releases_the_frechet_mean(kind, manifold):
    ball = Ball(manifold, manifold.origin, 0.9)
    points = points_in(ball, 30)
    release = riemdp.private_mean(points, ball, ApproxDP(1.0, 1e-5), mechanism=kind.name)
    assert release.statistic == FrechetMean()
    assert release.mechanism.name == kind.name
    assert release.proven
    assert riemdp.verify(release).passed
    again = riemdp.Release.from_json(release.to_json())
    assert riemdp.verify(again).passed
    assert again.to_json() == release.to_json()
    # the mean that it is about: that of noise as small as nothing
    exact = riemdp.frechet_mean(manifold, points, ball=ball).value
    close = riemdp.private_mean(points, ball, ApproxDP(1e7, 1e-5), mechanism=kind.name)
    far = 50.0 * close.sigma  # a Laplace draw in 3 dimensions is farther once in 1e18 times
    assert manifold.dist(exact, close.value) < far < 0.1 * manifold.dist(exact, ball.center)


@pytest.mark.parametrize("kind", KINDS)
def test_the_noise_is_that_of_the_tangent_mechanism(kind):
    """The same law about another point: one class for the curve of both."""
    plain = TangentGaussian if kind is WrappedGaussian else TangentLaplace
    manifold = Hyperbolic(2)
    wrapped = kind(manifold, 0.2, base=manifold.origin)
    tangent = plain(manifold, 0.2, base=manifold.origin)
    first, second = (
        research.sample(each, manifold.origin, size=5, generator=np.random.default_rng(0))
        for each in (wrapped, tangent)
    )
    assert np.array_equal(first, second)
    assert wrapped.proof != tangent.proof
    assert wrapped.privacy(0.1).epsilon_at(1e-5) == tangent.privacy(0.1).epsilon_at(1e-5)


def test_where_the_riemannian_gaussian_is_not_attainable():
    """Sensitivity 1 at mu = 1 on H^3: the noise along the manifold keeps a mu of 1.23."""
    ball = Ball(Hyperbolic(3), Hyperbolic(3).origin, 1.0)
    points = points_in(ball, 2)
    with pytest.raises(riemdp.NotAttainableError, match=r"1\.232"):
        riemdp.private_mean(points, ball, GDP(1.0), mechanism="riemannian-gaussian")
    release = riemdp.private_mean(points, ball, GDP(1.0), mechanism="wrapped-gaussian")
    assert release.sigma == pytest.approx(1.0)
    assert release.mechanism.privacy(release.sensitivity).mu() <= 1.0


@pytest.mark.parametrize("radius", [0.3, 1.0, 1.5])
def test_sensitivity_under_positive_curvature(radius):
    """That of the mean; a tolerance counts as much more as the logarithm stretches."""
    ball = Ball(Sphere(2, 4.0), Sphere(2, 4.0).origin, 0.5 * radius)
    release = riemdp.private_mean(
        points_in(ball, 40), ball, PureDP(1.0), mechanism="wrapped-laplace"
    )
    stretch = radius / np.sin(radius)
    exact = np.tan(radius) / 40
    assert 0.0 < release.tol < 1e-6 * exact
    query = next(FrechetMean().queries(ball))
    computed = release.neighbours.sensitivity(query, ball, 40, release.mechanism.metric)
    assert computed == pytest.approx(exact, rel=1e-12)
    assert release.sensitivity - computed == pytest.approx(2.0 * stretch * release.tol, rel=1e-3)
    assert log_stretch(ball) == pytest.approx(stretch)
    assert log_stretch(ball) >= stretch
    assert query.stretch(ball, "distance") == 1.0
    assert next(TangentMean().queries(ball)).stretch(ball, "coordinates") == 1.0


def test_nothing_is_stretched_where_the_curvature_is_not_positive():
    for manifold in (Hyperbolic(3), SPDAffineInvariant(2), Sphere(1)):
        assert log_stretch(Ball(manifold, manifold.origin, 1.4)) == 1.0


def test_balls_beyond_the_convexity_radius_are_refused():
    ball = Ball(Sphere(2), Sphere(2).origin, 1.7)
    with pytest.raises(riemdp.UnsupportedBallError, match="unique"):
        riemdp.private_mean(points_in(ball, 5), ball, GDP(1.0), mechanism="wrapped-gaussian")


def test_the_error_where_no_other_noise_is_left():
    """Affine-invariant matrices of size 8, radius 4, n = 100, mu = .1: 4.8 about the centre."""
    manifold = SPDAffineInvariant(8)
    ball = Ball(manifold, np.eye(8), 4.0)
    noise = WrappedGaussian.calibrate(manifold, 0.08, GDP(0.1), base=np.eye(8))
    generator = np.random.default_rng(0)
    for coordinates, expected in ((np.zeros(36), 4.76), (np.eye(36)[0] * 4.0, 5.47)):
        about = ball.point(coordinates)
        draws = manifold.exp(
            np.eye(8),
            manifold.tangent_vector(
                np.eye(8), coordinates + noise.sigma * generator.normal(size=(400, 36))
            ),
        )
        assert manifold.dist(about, draws).mean() == pytest.approx(expected, rel=0.05)
    assert noise.expected_distance_in(ball) > 5.47


def test_a_stretch_that_shortens_is_refused(monkeypatch):
    ball = Ball(Sphere(2), Sphere(2).origin, 1.0)
    for stretch, refused in ((1.0, False), (0.5, True), (np.inf, True)):
        monkeypatch.setattr(Footpoint, "stretch", lambda *_, stretch=stretch: stretch)
        expected = pytest.raises(riemdp.InvalidParameterError, match="stretch of Footpoint")
        with expected if refused else contextlib.nullcontext():
            riemdp.private_mean(points_in(ball, 5), ball, GDP(1.0), mechanism="wrapped-gaussian")
