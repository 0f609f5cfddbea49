import math

import numpy as np
import pytest

from riemdp import Ball, Euclidean, SPDAffineInvariant, Sphere, frechet_mean, plan, private_mean
from riemdp import _errors as errors
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.privacy import GDP, ZCDP, ApproxDP, PureDP, classical_mu


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "x", None, True, [1.0]])
def test_sensitivity_outside_its_domain(bad):
    with pytest.raises(errors.InvalidParameterError, match="sensitivity must be"):
        check_sensitivity(bad)


def test_classical_formula():
    expected = math.sqrt(2.0 * math.log(1.25e6)) / 0.5
    assert 1.0 / classical_mu(ApproxDP(0.5, 1e-6)) == pytest.approx(expected, rel=1e-14)
    for budget in (GDP(1.0), PureDP(0.5), ZCDP(0.5)):
        with pytest.raises(errors.InvalidBudgetError, match='use method="analytic"'):
            classical_mu(budget)
    for epsilon in (1.0, 2.0):
        with pytest.raises(errors.InvalidBudgetError, match="epsilon < 1 only"):
            classical_mu(ApproxDP(epsilon, 1e-6))


def test_noise_grows_by_roundings_until_it_is_enough():
    def build(sigma):
        return RiemannianLaplace(Euclidean(1), sigma)

    least = enough_noise(build, 0.3 * (1.0 - 1e-15), 0.3, PureDP(1.0)).sigma
    assert 0.3 <= least <= 0.3 * (1.0 + 1e-14)
    assert not build(0.3 * (1.0 - 1e-9)).satisfies(0.3, PureDP(1.0))
    with pytest.raises(errors.NotAttainableError, match="exceeds float64"):
        enough_noise(build, math.inf, 0.3, PureDP(1.0))


def test_privacy_that_double_precision_cannot_tell_is_not_attainable():
    """It is about public numbers: a plan lists it."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    noise = RiemannianGaussian(Sphere(2), 1e-9)
    with pytest.raises(errors.ConvergenceError):  # negative control: asked by itself
        noise.satisfies(0.03, GDP(1e9))
    with pytest.raises(errors.NotAttainableError, match="in double precision"):
        enough_noise(lambda sigma: RiemannianGaussian(Sphere(2), sigma), 1e-9, 0.03, GDP(1e9))
    for budget in (GDP(1e6), GDP(1e9)):
        with pytest.raises(errors.NotAttainableError, match="use another budget"):
            RiemannianGaussian.calibrate(Sphere(2), 0.03, budget)
        points = np.tile(ball.center, (50, 1))
        with pytest.raises(errors.NotAttainableError, match="in double precision"):
            private_mean(points, ball, budget, mechanism="riemannian-gaussian")
    compared = ["riemannian-gaussian", "tangent-gaussian"]
    found = plan(Sphere(2), 0.7, 50, GDP(1e6), mechanisms=compared)
    assert "in double precision" in found["riemannian-gaussian"].problem
    assert found.best == found["tangent-gaussian"]


def test_what_data_cause_stays_what_it_is():
    with pytest.raises(errors.ConvergenceError):
        frechet_mean(SPDAffineInvariant(2), [np.eye(2), np.diag([1e3, 1.0])], tol=1e-30)
