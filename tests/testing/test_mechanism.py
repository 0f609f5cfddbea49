"""The checks of mechanisms hold of this library's, and each fails for one with that mistake."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from riemdp import (
    Euclidean,
    Hyperbolic,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
    TangentLaplace,
    research,
)
from riemdp.testing import check_part

MECHANISMS = [
    RiemannianLaplace(Euclidean(2), 0.3),
    RiemannianGaussian(Sphere(2), 0.3),
    RiemannianLaplace(Hyperbolic(2), 0.3),
    RiemannianGaussian(SPDAffineInvariant(2), 0.3),
    TangentGaussian(Sphere(2), 0.3, base=Sphere(2).origin),
    TangentLaplace(SPDLogEuclidean(2), 0.3, base=np.eye(2)),
]


@pytest.mark.fast(2)
@pytest.mark.parametrize("part", MECHANISMS, ids=str)
def test_the_mechanisms_pass(part):
    check_part(part)


@dataclass(frozen=True)
class Loud(RiemannianGaussian):
    name = "tests.Loud"

    def sample(self, footpoint, size=None, generator=None):
        return research.sample(
            RiemannianGaussian(self.manifold, 1.5 * self.sigma), footpoint, size, generator
        )


@dataclass(frozen=True)
class Quiet(RiemannianGaussian):
    name = "tests.Quiet"

    def sample(self, footpoint, size=None, generator=None):
        return research.sample(
            RiemannianGaussian(self.manifold, 0.3 * self.sigma), footpoint, size, generator
        )


@dataclass(frozen=True)
class Crooked(RiemannianGaussian):
    name = "tests.Crooked"

    def exact_draw(self, ball):
        return RiemannianGaussian(self.manifold, 1.5 * self.sigma).exact_draw(ball)


@dataclass(frozen=True)
class Deaf(RiemannianGaussian):
    name = "tests.Deaf"

    def sample(self, footpoint, size=None, generator=None):
        return super().sample(footpoint, size, np.random.default_rng(5))


@dataclass(frozen=True)
class Boastful(RiemannianGaussian):
    name = "tests.Boastful"

    def privacy(self, sensitivity):
        return super().privacy(0.3 * sensitivity)


@dataclass(frozen=True)
class Backward(RiemannianGaussian):
    name = "tests.Backward"

    def privacy(self, sensitivity):
        return super().privacy(0.1 / sensitivity)


@dataclass(frozen=True)
class Thrifty(RiemannianGaussian):
    name = "tests.Thrifty"

    @classmethod
    def calibrate(cls, manifold, sensitivity, budget, **options):
        found = RiemannianGaussian.calibrate(manifold, sensitivity, budget, **options)
        return cls(found.manifold, 0.9 * found.sigma)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Loud, "distances_follow_the_law"),
        (Loud, "density_is_that_of_the_draws"),
        (Crooked, "distances_follow_the_law"),
        (Quiet, "curve_holds_for_draws"),
        (Deaf, "draws_are_points"),
        (Boastful, "curve_holds_for_draws"),
        (Backward, "curve_falls"),
        (Thrifty, "calibration_keeps_the_budget"),
    ],
)
def test_a_broken_mechanism_is_noticed(kind, expected, failures):
    found = failures(kind(Euclidean(2), 0.3))
    assert expected in found
    assert "document" not in found
