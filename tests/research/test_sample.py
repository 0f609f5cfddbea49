"""Draws in float64 of any mechanism or law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from riemdp import (
    Euclidean,
    Hyperbolic,
    PlanarShapes,
    Product,
    QuotientBall,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
    TangentLaplace,
    Torus,
    UnsupportedError,
    research,
)
from riemdp.mechanisms import Mechanism
from riemdp.noise import IsotropicLaw, Law
from riemdp.noise.exact import FlatDraw
from riemdp.privacy import PureCurve
from riemdp.research._sample import exact_sample

MECHANISMS = [
    RiemannianLaplace(Euclidean(2), 0.3),
    RiemannianGaussian(Sphere(2), 0.3),
    RiemannianLaplace(Hyperbolic(2), 0.3),
    RiemannianGaussian(SPDAffineInvariant(2), 0.3),
    TangentGaussian(Sphere(2), 0.3, base=Sphere(2).origin),
    TangentLaplace(SPDLogEuclidean(2), 0.3),
    RiemannianGaussian(Product(Sphere(2), Euclidean(1)), 0.3),
    RiemannianLaplace(Torus(2), 0.3),
    RiemannianGaussian(
        QuotientBall(PlanarShapes(4), PlanarShapes(4).origin, 1.0, mean="aligned").manifold, 0.3
    ),
]


@pytest.mark.fast(3)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_draws_are_those_of_a_release(mechanism):
    """In float64 as by exact draws, about a footpoint that is not the centre."""
    manifold = mechanism.manifold
    foot = manifold.point(manifold.origin, np.full(manifold.dim, 0.1))
    drawn = research.sample(mechanism, foot, 4000, np.random.default_rng(0))
    exact = exact_sample(mechanism, foot, 1000, np.random.default_rng(1))
    assert exact.shape == (1000, *manifold.point_shape)
    mark = manifold.point(manifold.origin, np.full(manifold.dim, 0.4))
    for place in (foot, mark):
        one, other = manifold.dist(place, drawn), manifold.dist(place, exact)
        assert stats.ks_2samp(one, other).pvalue > 1e-4
    # the control: another scale
    options = {} if getattr(mechanism, "base", None) is None else {"base": mechanism.base}
    wide = type(mechanism)(manifold, 1.5 * mechanism.sigma, **options)
    other = manifold.dist(foot, research.sample(wide, foot, 4000, np.random.default_rng(0)))
    assert stats.ks_2samp(manifold.dist(foot, exact), other).pvalue < 1e-6


@dataclass(frozen=True)
class Exact(Mechanism):
    """Of another package, with an exact draw and nothing else."""

    name = "tests.Exact"

    def exact_draw(self, ball):
        return FlatDraw("laplace", 1, self.sigma)

    def log_density(self, point, footpoint):
        return -np.abs(np.subtract(point, footpoint))[..., 0] / self.sigma - np.log(2 * self.sigma)

    def privacy(self, sensitivity):
        return PureCurve(sensitivity / self.sigma)


def test_exact_draws_of_other_packages_are_taken_one_by_one():
    law, generator = Exact(Euclidean(1), 0.5), np.random.default_rng(0)
    draws = research.sample(law, [[0.0], [3.0]], (400, 2), generator)
    assert draws.shape == (400, 2, 2, 1)
    for column, middle in enumerate((0.0, 3.0)):
        found = draws[:, :, column].ravel()
        assert stats.kstest(found, stats.laplace(middle, 0.5).cdf).pvalue > 1e-4

    class Wider(RiemannianLaplace):
        name = "tests.Wider"

        def exact_draw(self, ball):
            return FlatDraw("laplace", 1, 3.0 * self.sigma)

    found = research.sample(Wider(Euclidean(1), 0.5), [0.0], 800, generator)[:, 0]
    assert stats.kstest(found, stats.laplace(0.0, 1.5).cdf).pvalue > 1e-4


def test_a_sample_of_its_own_is_asked_and_takes_the_exact_draw_away():
    @dataclass(frozen=True)
    class Loud(RiemannianGaussian):
        name = "tests.Loud"

        def sample(self, footpoint, size=None, generator=None):
            return np.full((size, 2), 7.0)

    class Mixin:
        def sample(self, footpoint, size=None, generator=None):
            return footpoint

    class Mixed(Mixin, RiemannianGaussian):
        name = "tests.Mixed"

    class Again(Mixed):
        name = "tests.Again"

    for kind in (Mixed, Again):
        with pytest.raises(UnsupportedError):
            kind(Euclidean(2), 1.0).exact_draw(None)

    class Still(Law):
        kind, manifold, sigma, radial = "laplace", Euclidean(2), 1.0, None

        def sample(self, footpoint, size=None, generator=None):
            return np.broadcast_to(footpoint, (size, 2))

    assert np.all(research.sample(Loud(Euclidean(2), 1.0), [0.0, 0.0], 3) == 7.0)
    assert np.all(research.sample(Still(), [1.0, 2.0], 3) == [1.0, 2.0])
    for exact in (lambda: Loud(Euclidean(2), 1.0).exact_draw(None), Still().exact_draw):
        with pytest.raises(UnsupportedError):
            exact()


def test_who_neither_samples_nor_draws_exactly_is_refused():
    @dataclass(frozen=True)
    class Mute(Exact):
        name = "tests.Mute"
        exact_draw = Mechanism.exact_draw

    with pytest.raises(UnsupportedError, match="no exactly rounded draw"):
        research.sample(Mute(Euclidean(1), 0.5), [0.0])


def test_laws_and_leading_axes():
    law = IsotropicLaw("gaussian", Sphere(2), 0.2)
    foot = np.tile(Sphere(2).origin, (3, 1))
    assert research.sample(law, foot, (2, 4), np.random.default_rng(0)).shape == (2, 4, 3, 3)
    assert research.sample(law, foot[0]).shape == (3,)
    grassmann = RiemannianGaussian(Hyperbolic(2), 0.1)
    assert research.sample(grassmann, Hyperbolic(2).origin, 0).shape == (0, 3)
