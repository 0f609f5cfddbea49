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
from riemdp.mechanisms import TangentGaussian
from riemdp.release import wanted_mean
from riemdp.release._least_error import least_error
from riemdp.release._offer import Terms, expected_distance
from riemdp.statistics import FrechetMean, TangentMean


def ball_of(manifold, radius=0.6):
    return Ball(manifold, manifold.origin, radius)


def test_everything_that_estimates_a_location_is_compared():
    """On the sphere the sensitivity of the Fréchet mean grows without bound, towards pi/2."""
    ball = ball_of(Sphere(2), 1.5)
    chosen, reason = least_error(wanted_mean, Terms(ball, 560, PureDP(1.0)))
    assert chosen.statistic == TangentMean()
    assert chosen.mechanism.expected_distance() == pytest.approx(2 * 2 * 1.5 / 560)
    assert reason == (
        "least expected distance (0.0107143) of riemannian-laplace, riemannian-gaussian, "
        "tangent-laplace, wrapped-laplace under PureDP(epsilon=1.0); it estimates the "
        "tangent-mean. Of the frechet-mean riemannian-laplace has the least, 0.10047"
    )
    only, _ = least_error(lambda *_: FrechetMean(), Terms(ball, 560, PureDP(1.0)))
    assert only.statistic == FrechetMean()
    assert expected_distance(only) == pytest.approx(0.10047, rel=1e-4)


def test_the_frechet_mean_is_taken_where_both_are_as_good():
    for ball, n in [(ball_of(SPDAffineInvariant(30), 3.0), 2), (ball_of(Hyperbolic(3), 2.0), 2)]:
        chosen, reason = least_error(wanted_mean, Terms(ball, n, PureDP(1.0)))
        assert chosen.statistic == FrechetMean()
        assert chosen.mechanism.name == "wrapped-laplace"
        assert "Of the tangent-mean tangent-laplace has the least" in reason
        table = riemdp.plan(ball.manifold, ball.radius, n, PureDP(1.0))
        assert table.best.mechanism == "wrapped-laplace"


def test_nothing_available_says_why(monkeypatch):
    import types

    from riemdp.release import _least_error

    only = types.MappingProxyType({"tangent-gaussian": TangentGaussian})
    monkeypatch.setattr(_least_error, "MECHANISMS", only)
    with pytest.raises(riemdp.NotAttainableError, match="tangent-gaussian: "):
        least_error(wanted_mean, Terms(ball_of(Euclidean(2)), 10, PureDP(1.0)))


@pytest.mark.parametrize("n", [1, 2, 10**6, 10**12])
def test_any_n(n):
    ball = ball_of(SPDLogEuclidean(2))
    chosen, _ = least_error(wanted_mean, Terms(ball, n, PureDP(1.0)))
    assert np.isfinite(chosen.mechanism.sigma)
    assert chosen.sensitivity >= 2 * ball.radius / n
