import math

import mpmath
import numpy as np
import pytest

from riemdp.privacy import _isotropic_quadrature as quadrature
from riemdp.privacy._isotropic_quadrature import log_integrals


@pytest.mark.parametrize("apply", [apply for group in quadrature._RULES for apply in group])
def test_every_rule_takes_square_roots_at_the_ends(apply):
    zero, one = np.zeros(1), np.ones(1)
    value = apply(quadrature.Cut(0.25 * one, zero, one, lambda t, top: 0.5 * np.log(t) + 0.0 * top))
    assert math.exp(value[0]) == pytest.approx(2.0 / 3.0 * (1.0 - 0.125), rel=1e-12)
    value = apply(quadrature.Cut(zero, zero, one, lambda t, top: 0.5 * np.log(t * top)))
    # panels are no better at the ends than their shortest one
    assert math.exp(value[0]) == pytest.approx(math.pi / 8.0, rel=1e-12)


def integrate(log_integrand, span, depth=42.0):
    """All in one interval, the logarithm a function of the distance to the lower end."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value, agree = log_integrals(
            np.array([span]), depth, lambda _: lambda t, top: log_integrand(t) + 0.0 * top
        )
    return value[0], bool(agree[0])


@pytest.mark.parametrize("width", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize("depth", [42.0, 200.0])
def test_peaks_are_located(width, depth):
    value, agree = integrate(lambda t: -0.5 * ((t - 3.0) / width) ** 2, 10.0, depth)
    assert agree
    # e^-36 on either side is cut off
    assert value == pytest.approx(math.log(width * math.sqrt(2.0 * math.pi)), abs=1e-13)


def test_peaks_take_the_trapezoids(monkeypatch):
    calls = []

    def even(cut):
        calls.append(cut.span.size)
        return whole(cut)

    whole = quadrature._even
    monkeypatch.setattr(quadrature, "_even", even)
    monkeypatch.setattr(quadrature, "_RULES", ())
    assert integrate(lambda t: -0.5 * ((t - 3.0) / 0.1) ** 2, 10.0)[1]
    assert calls == [1]
    # powers of the distance to an end do not
    assert not integrate(lambda t: 8.0 * np.log(t) - 0.5 * t**2, 10.0)[1]
    assert calls == [1]
    # too few steps are seen
    monkeypatch.setattr(quadrature, "_STEPS", 16)
    assert not integrate(lambda t: -0.5 * ((t - 3.0) / 0.1) ** 2, 10.0)[1]


@pytest.mark.parametrize("scale", [1e-2, 1e-4, 1e-6])
def test_a_second_scale_at_the_lower_end(scale):
    value, agree = integrate(lambda t: -t + np.log(t / (t + scale)), 60.0)
    exact = 1.0 - scale * mpmath.exp(scale) * mpmath.e1(scale)
    assert agree
    assert value == pytest.approx(float(mpmath.log(exact)), abs=1e-11)


def test_what_no_rule_settles_is_reported():
    # the control: a step inside
    value, agree = integrate(lambda t: np.where(t < math.sqrt(2.0), 0.0, -1.0), 3.0)
    assert not agree
    assert math.isfinite(value)
    # the rows that agree are not held up by others
    found = log_integrals(
        np.full(2, 3.0),
        42.0,
        lambda rows: lambda t, _: np.where(t < math.sqrt(2.0), 0.0, -1.0 * (rows == 1)[:, None]),
    )
    assert found[1].tolist() == [True, False]
    assert found[0][0] == pytest.approx(math.log(3.0), abs=1e-13)


def test_an_integrand_that_vanishes():
    value, agree = integrate(lambda t: np.full_like(t, -np.inf), 1.0)
    assert agree
    assert value == -math.inf
