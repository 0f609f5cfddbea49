from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from riemdp._radial_profile import Profile
from riemdp.noise._quadrature import RadialTable, gauss_legendre


def _hyperbolic_laplace_mass(m: int, a: mpmath.mpf) -> mpmath.mpf:
    """``int_0^inf sinh(r)^m exp(-a r) dr`` in closed form (a beta function)."""
    half = mpmath.mpf(1) / 2
    return half ** (m + 1) * mpmath.beta((a - m) * half, m + 1)


@pytest.mark.parametrize("dim", [2, 3, 9, 20, 50, 1000])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
def test_hyperbolic_laplace_in_closed_form(dim: int, share: float):
    m = dim - 1
    sigma = share / m
    profile = Profile("laplace", m, -1, sigma, math.inf)
    table = RadialTable.of(profile)
    with mpmath.workdps(40):
        a = 1 / mpmath.mpf(sigma)
        mass = mpmath.log(_hyperbolic_laplace_mass(m, a))
        mean = (mpmath.digamma((a + m) / 2 + 1) - mpmath.digamma((a - m) / 2)) / 2
        variance = (mpmath.polygamma(1, (a - m) / 2) - mpmath.polygamma(1, (a + m) / 2 + 1)) / 4
        assert math.log(table.mass) + profile.log_peak == pytest.approx(float(mass), rel=1e-13)
        assert table.moment(1) == pytest.approx(float(mean), rel=1e-12)
        assert table.moment(2) == pytest.approx(float(mean**2 + variance), rel=1e-12)


@pytest.mark.parametrize("power", [0, 1, 2, 8, 49])
def test_flat_tails_are_incomplete_gammas(power: int):
    # the table against closed forms, both tails down to 1e-200
    table = RadialTable.of(Profile("laplace", power, 0, 1.0, math.inf))
    r = np.concatenate(
        [np.logspace(-3.5, 0, 8) * (power + 1), np.linspace(1.5, 8, 8) * (power + 9)]
    )
    with mpmath.workdps(40):
        low = [mpmath.gammainc(power + 1, 0, x, regularized=True) for x in r]
        high = [mpmath.gammainc(power + 1, x, mpmath.inf, regularized=True) for x in r]
    np.testing.assert_allclose(table.cdf(r), np.array(low, dtype=float), rtol=1e-12)
    np.testing.assert_allclose(table.sf(r), np.array(high, dtype=float), rtol=1e-12)


def test_sphere_of_dimension_two_is_elementary():
    # int sin r exp(-r/s) has an antiderivative
    sigma = 0.7
    table = RadialTable.of(Profile("laplace", 1, 1, sigma, math.pi))
    a = 1 / sigma
    r = np.linspace(0.01, 3.1, 50)
    total = 1 + math.exp(-a * math.pi)
    below = (1 - np.exp(-a * r) * (np.cos(r) + a * np.sin(r))) / total
    np.testing.assert_allclose(table.cdf(r), below, rtol=1e-11)
    np.testing.assert_allclose(table.sf(r), 1 - below, rtol=1e-10, atol=1e-14)


def test_quantile_inverts_both_tails():
    table = RadialTable.of(Profile("gaussian", 8, -1, 0.5, math.inf))
    small = np.logspace(-30, np.log10(0.5), 200)
    np.testing.assert_allclose(table.cdf(table.quantile(small)), small, rtol=1e-11)
    high = 1.0 - np.logspace(-14, -0.31, 50)
    np.testing.assert_allclose(table.sf(table.quantile(high)), 1.0 - high, rtol=1e-11)


def test_outside_the_table():
    table = RadialTable.of(Profile("laplace", 2, 0, 1.0, 5.0))
    outside = np.array([-1.0, 0.0, 5.0, 9.0])
    np.testing.assert_allclose(table.cdf(outside), [0, 0, 1, 1], rtol=1e-15)
    np.testing.assert_allclose(table.sf(outside), [1, 1, 0, 0], rtol=1e-15)


def test_gauss_legendre_integrates_polynomials():
    points, weights = gauss_legendre(24)
    assert weights @ points**46 == pytest.approx(2 / 47, rel=1e-13)
