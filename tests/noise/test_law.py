"""What a law can do by default."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    UnsupportedManifoldError,
)
from riemdp.noise import IsotropicLaw, Law, family
from riemdp.noise.exact import AffineInvariantDraw, FlatDraw, SpaceFormDraw


class Still(Law):
    """Noise that does not move."""

    kind, manifold, sigma = "laplace", Sphere(2), 1.0
    radial = None

    def sample(self, footpoint, size=None, generator=None):
        return np.broadcast_to(footpoint, (*(size or ()), *np.shape(footpoint)))


def test_what_is_not_known_is_refused_by_name():
    law = Still()
    with pytest.raises(UnsupportedError, match="no exactly rounded draw of the laplace law"):
        law.exact_draw()
    law.check_drawable()
    with pytest.raises(UnsupportedManifoldError, match="density of the laplace law on Sphere"):
        law.log_density(law.manifold.origin, law.manifold.origin)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("manifold", "draw"),
    [
        (Euclidean(3), lambda kind: FlatDraw(kind, 3, 0.2)),
        (SPDLogEuclidean(2), lambda kind: FlatDraw(kind, 3, 0.2)),
        (Hyperbolic(1, -4.0), lambda kind: FlatDraw(kind, 1, 0.2)),
        (SPDAffineInvariant(1), lambda kind: FlatDraw(kind, 1, 0.2)),
        (Sphere(1, 4.0), lambda kind: SpaceFormDraw(kind, 1, 4.0, 0.2)),
        (Sphere(3, 4.0), lambda kind: SpaceFormDraw(kind, 3, 4.0, 0.2)),
        (Hyperbolic(2, -0.5), lambda kind: SpaceFormDraw(kind, 2, -0.5, 0.2)),
        (SPDAffineInvariant(3), lambda kind: AffineInvariantDraw(kind, 3, 0.2, reach=2.5)),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_exact_draws_are_those_of_the_law(kind, manifold, draw):
    assert family(kind, manifold).law(0.2).exact_draw(2.5) == draw(kind)
    ball = Ball(manifold, manifold.origin, 0.7)
    found = {"laplace": RiemannianLaplace, "gaussian": RiemannianGaussian}[kind](manifold, 0.2)
    again = family(kind, manifold).law(0.2).exact_draw(ball.reach)
    assert found.exact_draw(ball) == again


def test_a_law_that_draws_in_another_way_has_no_exact_draw():
    class Louder(IsotropicLaw):
        def sample(self, footpoint, size=None, generator=None):
            return footpoint

    class Same(IsotropicLaw):
        pass

    with pytest.raises(UnsupportedError):
        Louder("laplace", Sphere(2), 0.2).exact_draw()
    assert Same("laplace", Sphere(2), 0.2).exact_draw() == SpaceFormDraw("laplace", 2, 1.0, 0.2)
