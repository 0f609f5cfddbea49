"""Releases on spheres of hundreds of dimensions, as of shapes with many landmarks."""

import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp import private_mean, verify
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.privacy import GDP, ApproxDP, GaussianCurve, IsotropicCurve
from riemdp.spaces import Ball, Sphere

N, RADIUS = 1628, 1.5


def records(manifold):
    random = np.random.default_rng(0)
    points = manifold.origin + 0.05 * random.normal(size=(N, manifold.dim + 1))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_a_proved_release_of_shapes():
    manifold = Sphere(199)
    ball = Ball(manifold, manifold.origin, RADIUS)
    release = private_mean(records(manifold), ball, GDP(1.0), mechanism="riemannian-gaussian")
    assert release.proven
    assert release.guarantee == GDP(1.0)
    assert release.sensitivity == pytest.approx(2.0 * np.tan(RADIUS) / N, rel=3e-6)
    assert verify(release).passed
    # the frame of a wrapped draw is flat, and its noise is a little larger
    wrapped = private_mean(records(manifold), ball, GDP(1.0), mechanism="wrapped-gaussian")
    assert 0.975 < release.expected_distance / wrapped.expected_distance < 0.985
    # the tangent mean moves less with one record in so large a ball
    tangent = private_mean(records(manifold), ball, GDP(1.0))
    assert tangent.mechanism.name == "tangent-gaussian"
    assert tangent.expected_distance == pytest.approx(0.02596, rel=1e-3)
    assert release.expected_distance == pytest.approx(0.2394, rel=1e-3)


@pytest.mark.parametrize("budget", [GDP(1.0), ApproxDP(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("kind", [RiemannianGaussian, RiemannianLaplace])
def test_scales_of_a_thousand_dimensions_are_the_least(kind, budget):
    manifold, sensitivity = Sphere(1000), 2.0 * np.tan(RADIUS) / N
    mechanism = kind.calibrate(manifold, sensitivity, budget)
    assert mechanism.privacy(sensitivity).satisfies(budget)
    assert not kind(manifold, 0.9999 * mechanism.sigma).privacy(sensitivity).satisfies(budget)
    assert isinstance(mechanism.privacy(sensitivity), IsotropicCurve)
    # less noise than the flat formula asks for
    if kind is RiemannianGaussian:
        flat = GaussianCurve(sensitivity / mechanism.sigma)
        assert not flat.satisfies(budget)


def test_beyond_them_the_way_out_is_named():
    with pytest.raises(errors.UnsupportedManifoldError, match=r"dimension 1000.*tangent-gaussian"):
        RiemannianGaussian.calibrate(Sphere(1001), 0.01, GDP(1.0))
