import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean_sensitivity,
)
from riemdp.statistics import FrechetMean, answer
from riemdp.statistics.curved import _solvers


def mean_on(ball):
    """What the Fréchet mean asks of records."""
    return next(FrechetMean().queries(ball))


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    return np.array(answer(mean_on(ball), ball, data, tol), dtype=float)


EPS = float(np.finfo(np.float64).eps)

BALLS = [
    (Euclidean(3), 2.0),
    (Sphere(1), 1.5),
    (Sphere(2), 0.3),
    (Sphere(2), 1.5),
    (Sphere(2), 1e-3),
    (Sphere(2), 1.566),
    (Sphere(20, 3.0), 0.7),
    (Hyperbolic(2), 0.1),
    (Hyperbolic(5, -2.0), 2.0),
    (Hyperbolic(3), 8.0),
    (SPDLogEuclidean(4), 3.0),
    (SPDAffineInvariant(3), 0.5),
    (SPDAffineInvariant(3), 2.5),
]


def boundary_points(ball, n, seed):
    """Points on the boundary, most of them at one place: the hardest data for a certificate."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(n, ball.manifold.dim))
    vectors[: n // 2] = vectors[0]
    if seed == 2:
        vectors[n // 2 :] = -vectors[0]
    vectors *= ball.radius / np.linalg.norm(vectors, axis=1, keepdims=True)
    tangent = ball.manifold.tangent_vector(ball.center, vectors)
    return ball.manifold.exp(ball.center, tangent)


@pytest.mark.parametrize(("manifold", "radius"), BALLS)
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_the_solver_reaches_it_anywhere_in_the_ball(manifold, radius, n):
    ball = Ball(manifold, manifold.origin, radius)
    tol = mean_on(ball).tolerance(ball, frechet_mean_sensitivity(ball, n))
    for seed in range(3):
        mean = certified(ball, boundary_points(ball, n, seed), tol)
        assert ball.contains(ball.point(mean))


@pytest.mark.parametrize(("manifold", "radius"), BALLS)
def test_it_costs_little_noise(manifold, radius):
    ball = Ball(manifold, manifold.origin, radius)
    sensitivity = frechet_mean_sensitivity(ball, 1000)
    assert mean_on(ball).tolerance(ball, sensitivity) <= 2e-3 * sensitivity


def test_it_is_a_public_number():
    """Two balls of one radius share it, wherever their centres are."""
    sphere = Sphere(2)
    balls = [Ball(sphere, [0, 0, 1], 0.5), Ball(sphere, [0.6, 0, 0.8], 0.5)]
    assert len({mean_on(ball).tolerance(ball, 0.01) for ball in balls}) == 1


@pytest.mark.parametrize(("radius", "lost"), [(0.1, False), (0.3, False), (0.5, True), (0.7, True)])
def test_the_floor_on_spheres(radius, lost):
    k, dim = 2.0, 5
    x = k * radius
    converted = 16.0 * EPS * (1.0 + x) / k
    parts = (8.0 * math.sqrt(6.0) + _solvers._SUMMATION) * (1.0 + 2.0 * x)
    parts *= 2.0 * x / math.sin(2.0 * x)
    pole = 16.0 * math.pi * math.sqrt(6.0) / math.sin(2.0 * x) ** 2 if lost else 0.0
    wanted = 2.0 * EPS * (parts + pole) * math.tan(x) / (x * k) + 2.0 * converted
    sphere = Sphere(dim, k * k)
    assert _solvers.spherical_floor(Ball(sphere, sphere.origin, radius)) == pytest.approx(
        wanted, rel=1e-12
    )


@pytest.mark.parametrize("radius", [0.1, 1.0, 2.5])
def test_the_floor_on_hyperbolic_spaces(radius):
    k, dim = 3.0, 4
    x = k * radius
    converted = 16.0 * EPS * (1.0 + math.sinh(x)) / k
    parts = 8.0 * math.sqrt(5.0) + _solvers._SUMMATION
    wanted = 2.0 * EPS * parts * (1.0 + 2.0 * x) * math.cosh(x) ** 2 / k + 2.0 * converted
    space = Hyperbolic(dim, -k * k)
    assert _solvers.hyperbolic_floor(Ball(space, space.origin, radius)) == pytest.approx(
        wanted, rel=1e-12
    )


@pytest.mark.parametrize("dim", [2, 7])
def test_beyond_a_right_angle_the_pole_at_the_antipode_is_counted(dim):
    below, above = (
        _solvers.spherical_floor(Ball(Sphere(dim), Sphere(dim).origin, radius))
        for radius in (0.25 * math.pi * (1.0 - 1e-12), 0.25 * math.pi * (1.0 + 1e-12))
    )
    # there sin(2x) = tan(x) = 1; sixteen turns of each of dim + 1 coordinates, in norm
    wanted = 2.0 * EPS * 16.0 * math.pi * math.sqrt(dim + 1.0) / (0.25 * math.pi)
    assert above - below == pytest.approx(wanted, rel=1e-4, abs=0.0)
    ball = Ball(Sphere(dim), Sphere(dim).origin, 1.2)
    sine, tangent = math.sin(2.4), math.tan(1.2)
    rest = _solvers._parts(ball) * 3.4 * 2.4 / sine
    pole = 16.0 * math.pi * math.sqrt(dim + 1.0) / sine**2
    solved = _solvers.spherical_floor(ball) - 2.0 * _solvers.conversion_allowance(ball)
    assert solved == pytest.approx(2.0 * EPS * (rest + pole) * tangent / 1.2, rel=1e-9, abs=0.0)
