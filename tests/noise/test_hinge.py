"""Noise in a tangent space, seen as a distance under negative curvature."""

import numpy as np
import pytest

from riemdp.noise import IsotropicLaw, hinge_distance
from riemdp.research._isotropic import isotropic_vectors
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDAffineInvariant


def radial(kind, dim, sigma):
    return IsotropicLaw(kind, Euclidean(dim), sigma).radial


def drawn(manifold, noise, length, direction=0, n=4_000):
    """Mean distance of the end of a vector and of that with noise, by draws."""
    ball = Ball(manifold, manifold.origin, 1.0)
    first = np.zeros(manifold.dim)
    first[direction] = length
    second = first + isotropic_vectors(noise, (n,), np.random.default_rng(1))
    distances = manifold.dist(ball.point(first), ball.point(second))
    return distances.mean(), distances.std() / np.sqrt(n)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("dim", "curvature"), [(2, -1.0), (2, -0.25), (9, -1.0), (1, -1.0)])
@pytest.mark.parametrize("length", [0.5, 2.0])
def test_it_is_the_distance_in_constant_curvature(kind, dim, curvature, length):
    noise = radial(kind, dim, 0.6 / dim if kind == "laplace" else 0.3)
    found = hinge_distance(noise, np.sqrt(-curvature), length)
    mean, error = drawn(Hyperbolic(dim, curvature), noise, length)
    assert abs(found - mean) < 4.0 * error + 0.02 * mean
    # half of the curvature would be told apart, where there is any
    if dim > 1 and length == 2.0:
        other = hinge_distance(noise, np.sqrt(-4.0 * curvature), length)
        assert abs(other - mean) > 4.0 * error + 0.02 * mean


def test_it_bounds_that_of_more_curved_spaces_and_grows_with_the_length():
    noise = radial("gaussian", 6, 0.4)
    found = [hinge_distance(noise, np.sqrt(0.5), length) for length in (1e-6, 0.5, 1.0, 2.0, 4.0)]
    assert found == sorted(found)
    for direction in (0, 3):
        mean, error = drawn(SPDAffineInvariant(3), noise, 2.0, direction)
        assert mean < found[3] + 4.0 * error
    assert found[0] == pytest.approx(drawn(Hyperbolic(6, -0.5), noise, 0.0)[0], rel=0.02)


def test_long_sides_stay_finite():
    for sigma in (1e6, 1e150, 1e300):
        noise = radial("gaussian", 3, sigma)
        assert hinge_distance(noise, 1.0, 2.0) == pytest.approx(noise.mean(), rel=0.02)
    assert np.isfinite(hinge_distance(radial("gaussian", 3, 1e6), 1.0, 1e5))
