"""Concentration of the von Mises-Fisher law."""

from __future__ import annotations

import math

import mpmath
import pytest

from riemdp.statistics._directions import concentration, mean_length

DIMS = (2, 3, 4, 10, 100, 1000)
KAPPAS = (1e-12, 1e-3, 0.1, 1.0, 5.0, 30.0, 700.0, 5000.0)


def exact_length(kappa, dim):
    with mpmath.workdps(40):
        x, order = mpmath.mpf(kappa), mpmath.mpf(dim) / 2
        return float(mpmath.besseli(order, x) / mpmath.besseli(order - 1, x))


@pytest.mark.parametrize("dim", DIMS)
def test_the_length_is_a_quotient_of_bessel_functions(dim):
    for kappa in KAPPAS:
        assert mean_length(kappa, dim) == pytest.approx(exact_length(kappa, dim), rel=1e-11)


def test_on_the_sphere_it_is_elementary():
    for kappa in (0.5, 3.0, 40.0, 2e7, 3e9):
        wanted = 1.0 / math.tanh(kappa) - 1.0 / kappa
        assert mean_length(kappa, 3) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("dim", DIMS)
def test_the_concentration_inverts_it(dim):
    for kappa in KAPPAS:
        found = concentration(exact_length(kappa, dim), dim)
        assert found == pytest.approx(kappa, rel=1e-8)


def test_lengths_near_one():
    for gap in (1e-3, 1e-7, 1e-12):
        for dim in (2, 3, 50):
            assert concentration(1.0 - gap, dim) * 2.0 * gap == pytest.approx(dim - 1, rel=0.01)


def test_lengths_of_no_law():
    assert [concentration(length, 3) for length in (0.0, -1.0, math.nan)] == [0.0] * 3
    assert [concentration(length, 3) for length in (1.0, 2.0, math.inf)] == [math.inf] * 3


def test_the_first_approximation_alone_would_not_do():
    """Negative control: that of Banerjee and others is off by percents."""
    length, dim = exact_length(2.0, 3), 3
    rough = length * (dim - length**2) / (1.0 - length**2)
    assert abs(rough / 2.0 - 1.0) > 0.01
