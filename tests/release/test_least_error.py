"""What is taken where nobody names a mechanism."""

import numpy as np
import pytest

import riemdp
from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.mechanisms import TangentGaussian, TangentLaplace
from riemdp.release import offer
from riemdp.release._least_error import least_error
from riemdp.statistics import TangentMean, mean_for


def ball_of(manifold, radius=0.6):
    return Ball(manifold, manifold.origin, radius)


def test_least_error_never_mixes_summaries():
    """On the sphere the tangent Laplace is a little better, but it is another summary."""
    ball = ball_of(Sphere(2), 1.4)
    chosen, reason = least_error(mean_for, ball, 100, PureDP(1.0))
    statistic = mean_for(ball.manifold, TangentLaplace.metric)
    tangent = offer(statistic, TangentLaplace, ball, 100, PureDP(1.0))
    assert tangent.mechanism.expected_distance() < chosen.mechanism.expected_distance()
    assert chosen.mechanism.name == "riemannian-laplace"
    assert "tangent" not in reason


def test_least_error_falls_back_to_the_tangent_mean():
    for ball, n in [(ball_of(SPDAffineInvariant(30), 3.0), 2), (ball_of(Hyperbolic(3), 2.0), 2)]:
        chosen, reason = least_error(mean_for, ball, n, PureDP(1.0))
        assert chosen.statistic == TangentMean()
        assert "no mechanism for the Fréchet mean" in reason


def test_nothing_available_says_why(monkeypatch):
    import types

    from riemdp.release import _named

    only = types.MappingProxyType({"tangent-gaussian": TangentGaussian})
    monkeypatch.setattr(_named, "MECHANISMS", only)
    with pytest.raises(riemdp.NotAttainableError, match="tangent-gaussian: "):
        least_error(mean_for, ball_of(Euclidean(2)), 10, PureDP(1.0))


@pytest.mark.parametrize("n", [1, 2, 10**6, 10**12])
def test_any_n(n):
    ball = ball_of(SPDLogEuclidean(2))
    chosen, _ = least_error(mean_for, ball, n, PureDP(1.0))
    assert np.isfinite(chosen.mechanism.sigma)
    assert chosen.sensitivity >= 2 * ball.radius / n
