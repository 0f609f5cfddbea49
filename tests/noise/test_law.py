"""What a law can do by default."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Sphere, UnsupportedManifoldError
from riemdp.noise import IsotropicLaw, Law


class Still(Law):
    """Noise that does not move."""

    kind, manifold, sigma = "laplace", Sphere(2), 1.0
    radial = None

    def sample(self, footpoint, size=None, generator=None):
        return np.broadcast_to(footpoint, (*(size or ()), *np.shape(footpoint)))


def test_draws_in_a_ball_are_projected_onto_it():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.3)
    coordinates = np.array([[0.2, 0.0], [0.0, 1.0]])
    draws = Still().sample_from_coordinates(coordinates, ball, (4,))
    assert draws.shape == (4, 2, 3)
    np.testing.assert_allclose(Sphere(2).dist(ball.center, draws[0]), [0.2, 0.3], rtol=1e-12)


def test_what_is_not_known_is_refused_by_name():
    law = Still()
    law.check_drawable()
    with pytest.raises(UnsupportedManifoldError, match="density of the laplace law on Sphere"):
        law.log_density(law.manifold.origin, law.manifold.origin)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_default_agrees_with_the_law_of_the_triangle(kind):
    # the same generator: the polar draw and the plain one are other functions of it, so compare
    # quantiles of the distance from the centre
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    law = IsotropicLaw(kind, Sphere(2), 0.2)
    coordinates = np.tile([0.3, 0.4], (20_000, 1))
    own = law.sample_from_coordinates(coordinates, ball, generator=np.random.default_rng(0))
    plain = Law.sample_from_coordinates(law, coordinates, ball, generator=np.random.default_rng(1))
    levels = np.linspace(0.05, 0.9, 9)
    first, second = (np.quantile(Sphere(2).dist(ball.center, x), levels) for x in (own, plain))
    np.testing.assert_allclose(first, second, atol=0.02)
