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


def mean_on(ball):
    """What the Fréchet mean asks of records."""
    return next(FrechetMean().queries(ball))


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    return np.array(answer(mean_on(ball), ball, data, tol), dtype=float)


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
