import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import RDP, gaussian_to_pure, pure_to_gaussian
from riemdp.privacy._pure import response_divergence, response_epsilon

ORDERS = [1.0, 1.0 + 1e-12, 1.001, 1.5, 2.0, 30.0, 1e6]


@pytest.mark.parametrize("order", ORDERS)
def test_divergence_of_randomised_response(order):
    for epsilon in np.geomspace(1e-12, 600.0, 40):
        with mpmath.workdps(120):
            e, shift = mpmath.mpf(float(epsilon)), mpmath.mpf(order) - 1
            exact = e * mpmath.tanh(e / 2)
            if order > 1.0:
                ratio = mpmath.cosh((shift + 0.5) * e) / mpmath.cosh(e / 2)
                exact = mpmath.log(ratio) / shift
        divergence = response_divergence(float(epsilon), order)
        assert divergence == pytest.approx(float(exact), rel=2e-15)


@pytest.mark.parametrize("order", ORDERS)
@given(divergence=st.floats(1e-200, 1e6))
def test_epsilon_of_randomised_response_is_the_inverse(order, divergence):
    epsilon = response_epsilon(divergence, order)
    assert divergence <= response_divergence(epsilon, order) <= divergence * (1.0 + 1e-12)


@pytest.mark.parametrize("order", [1.0 + 1e-15, 1.0 + 1e-9])
@pytest.mark.parametrize("exponent", [-310, -300, -299, -200, -30])
def test_tiny_divergences_near_order_one(order, exponent):
    divergence = 10.0**exponent
    theta = RDP(order, divergence).angle().theta
    # epsilon^2/2 to first order, and the angle is epsilon; floored at 1e-300
    with mpmath.workdps(60):
        exact = mpmath.sqrt(2 * mpmath.mpf(max(divergence, 1e-300)) / mpmath.mpf(order))
    assert exact * (1.0 - 1e-16) <= theta <= exact * (1.0 + 1e-13)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.1, 1.0, 1.999, 2.0, 2.001, 10.0, 50.0, 3e3])
def test_conversions_lie_on_the_safe_side_of_50_digits(exact_kink, epsilon):
    mu = pure_to_gaussian(epsilon)
    # the exact epsilon at this mu is at least the one asked for, by very little
    assert 0 <= exact_kink(mu) / epsilon - 1 < 3e-13
    back = gaussian_to_pure(mu)
    assert 0 <= 1 - back / exact_kink(mu) < 2e-12
    assert pure_to_gaussian(back) <= mu


@pytest.mark.parametrize("convert", [pure_to_gaussian, gaussian_to_pure])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_conversions_refuse_what_is_outside_their_domain(convert, bad):
    with pytest.raises(errors.InvalidParameterError, match="positive and finite"):
        convert(bad)
