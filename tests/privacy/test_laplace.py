import math

import mpmath
import numpy as np
import pytest
import scipy.integrate

from riemdp import (
    Ball,
    Euclidean,
    RiemannianLaplace,
    SPDLogEuclidean,
    TangentLaplace,
)
from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    IsotropicCurve,
    LaplaceCurve,
    PureCurve,
    PureDP,
    gaussian_delta,
)
from riemdp.research import RestrictedLaplace


@pytest.mark.parametrize("separation", [1e-3, 0.3, 1.0, 4.0])
def test_delta_is_the_integral(separation):
    curve = LaplaceCurve(separation)
    for epsilon in (0.0, 0.3 * separation, 0.9 * separation):
        integral, _ = scipy.integrate.quad(
            lambda x, e=epsilon: max(
                0.0, 0.5 * math.exp(-abs(x)) - 0.5 * math.exp(e - abs(x - separation))
            ),
            -60.0,
            60.0,
            points=[0.0, 0.5 * (separation - epsilon), separation],
            limit=200,
        )
        assert curve.delta_at(epsilon) == pytest.approx(integral, rel=1e-7, abs=1e-12)
    assert curve.delta_at(separation) == 0.0
    assert curve.delta_at(np.array([1e300, math.inf])).tolist() == [0.0, 0.0]


def test_epsilon_inverts_delta_and_is_rounded_up():
    curve = LaplaceCurve(2.0)
    for delta in (1e-300, 1e-12, 1e-3, 0.5):
        assert curve.delta_at(curve.epsilon_at(delta)) <= delta
    assert curve.epsilon_at(0.0) == 2.0
    assert curve.epsilon_at(0.99) == 0.0
    assert curve.epsilon_at(0.1) == pytest.approx(2.0 + 2.0 * math.log(0.9), rel=1e-14)


@pytest.mark.parametrize(
    ("separation", "mu"),
    [(0.1, 0.1223), (0.5, 0.5618), (1.0, 1.030), (2.0, 1.801), (4.0, 2.987)],
)
def test_mu_of_the_literature(separation, mu):
    assert LaplaceCurve(separation).mu() == pytest.approx(mu, abs=5e-4)


@pytest.mark.parametrize("separation", [1e-8, 0.1, 1.0, 1.999, 2.001, 10.0, 400.0])
def test_mu_is_the_smallest_one(separation):
    curve = LaplaceCurve(separation)
    with mpmath.workdps(250):
        kink = mpmath.erfc(mpmath.mpf(curve.mu()) / (2 * mpmath.sqrt(2)))
        ratio = kink / mpmath.exp(-mpmath.mpf(separation) / 2)
        assert ratio < 1  # mu is rounded up
        assert 1 - ratio < 1e-9
    lower, upper = curve.mu_bracket()
    assert lower < upper == curve.mu()


@pytest.mark.parametrize("separation", [0.1, 1.0, 6.0])
def test_mu_bounds_the_whole_curve_and_a_smaller_one_does_not(separation):
    curve = LaplaceCurve(separation)
    epsilon = np.linspace(0.0, separation, 301)
    assert np.all(gaussian_delta(curve.mu(), epsilon) >= curve.delta_at(epsilon) * (1 - 1e-12))
    assert np.any(gaussian_delta(0.999 * curve.mu(), epsilon) < curve.delta_at(epsilon))
    assert curve.mu() < PureCurve(separation).mu()


def test_other_definitions():
    curve = LaplaceCurve(1.0)
    assert curve.pure_epsilon() == 1.0
    assert curve.zcdp_rho() == 0.5
    assert curve.satisfies(PureDP(1.0))
    assert curve.satisfies(GDP(1.031))
    assert not curve.satisfies(GDP(1.030))
    assert round(curve.rao("angle").theta, 4) == 0.8560


@pytest.mark.parametrize("separation", [1e-6, 0.01, 0.19, 0.21, 3.0, 50.0])
def test_angle_is_rounded_up(separation):
    with mpmath.workdps(40):
        half = mpmath.mpf(separation) / 2
        exact = 2 * mpmath.acos((1 + half) * mpmath.exp(-half))
        assert 0 <= LaplaceCurve(separation).rao("angle").theta / exact - 1 < 1e-11


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_domain(bad):
    with pytest.raises(errors.InvalidParameterError, match="positive and finite"):
        LaplaceCurve(bad)


def test_mechanisms_on_a_line_have_this_curve():
    line = Euclidean(1)
    assert TangentLaplace(line, 2.0).privacy(1.0) == LaplaceCurve(0.5)
    assert RiemannianLaplace(line, 2.0).privacy(1.0) == LaplaceCurve(0.5)
    for other in (Euclidean(2), SPDLogEuclidean(2)):
        own = IsotropicCurve("laplace", other.dim, 0.0, 1.0, 0.5)  # of the ratio alone
        assert TangentLaplace(other, 2.0).privacy(1.0) == own
        assert RiemannianLaplace(other, 2.0).privacy(1.0) == own
    wide = Euclidean(1001)
    assert TangentLaplace(wide, 2.0).privacy(1.0) == PureCurve(0.5)
    assert RiemannianLaplace(wide, 2.0).privacy(1.0) == PureCurve(0.5)
    restricted = RestrictedLaplace(line, 2.0, ball=Ball(line, np.zeros(1), 1.0))
    assert restricted.privacy(1.0) == PureCurve(1.0)
