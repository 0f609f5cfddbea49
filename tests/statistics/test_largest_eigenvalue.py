"""Quantiles of the largest eigenvalue: closed forms, simulation, high precision."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from riemdp import InvalidParameterError
from riemdp.statistics._regions import (
    largest_eigenvalue_quantile,
    log_mean_number_above,
)


def largest(dim, size, seed, off_diagonal=0.5**0.5):
    """Largest eigenvalues of simulated noise."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(size, dim, dim)) * off_diagonal, 1)
    noise = upper + np.swapaxes(upper, 1, 2)
    noise[:, np.arange(dim), np.arange(dim)] = rng.normal(size=(size, dim))
    return np.linalg.eigvalsh(noise)[:, -1]


@pytest.mark.parametrize("beta", [0.05, 2.5e-3, 1e-9])
def test_one_dimension_is_the_normal_law(beta):
    assert largest_eigenvalue_quantile(1, beta) == pytest.approx(scipy.stats.norm.isf(beta), 1e-8)


@pytest.mark.parametrize("beta", [0.05, 2.5e-3, 1e-6])
def test_two_dimensions_in_closed_form(beta):
    # The eigenvalues are s +- rho, s normal of variance 1/2, rho^2 exponential.
    def above(t):
        def density(s):
            return math.exp(-s * s - max(t - s, 0.0) ** 2) / math.sqrt(math.pi)

        return scipy.integrate.quad(density, -10, 10, points=[t], epsabs=1e-14)[0]

    q = largest_eigenvalue_quantile(2, beta)
    assert beta * (1.0 - 2.0 * math.sqrt(beta)) < above(q) <= beta
    assert above(0.95 * q) > beta


def hermite(j, x):
    """Hermite function in high precision, by its definition."""
    size = mpmath.sqrt(mpmath.sqrt(mpmath.pi) * 2**j * mpmath.factorial(j))
    return mpmath.hermite(j, x) * mpmath.exp(-x * x / 2) / size


@pytest.mark.parametrize("dim", [3, 6])
def test_recursions_are_the_integrals(dim):
    t = math.sqrt(2 * dim) + 0.7
    with mpmath.workdps(20):
        span = [t, t + 2, t + 12]
        last = mpmath.quad(lambda x: hermite(dim - 1, x), span)
        squares = sum(mpmath.quad(lambda x, j=j: hermite(j, x) ** 2, span) for j in range(dim - 1))
        if dim % 2:
            front = 1 / mpmath.quad(lambda x: hermite(dim - 1, x), [-12, 0, 12])
        else:
            front = mpmath.sqrt(dim / 2) / 2 * mpmath.quad(lambda x: hermite(dim, x), [-12, 0, 12])
        expected = float(mpmath.log(front * last + squares))
    assert log_mean_number_above(dim, t) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("dim", [2, 5, 12])
def test_share_of_simulated_noise_above(dim):
    found = largest(dim, 20_000, 3)
    for beta in (0.05, 0.01):
        above = int((found > largest_eigenvalue_quantile(dim, beta)).sum())
        assert scipy.stats.binomtest(above, len(found), beta, alternative="greater").pvalue > 1e-4
        # and it is no wasteful bound
        assert (
            scipy.stats.binomtest(above, len(found), 0.9 * beta, alternative="less").pvalue > 1e-4
        )


def test_noise_that_is_not_isotropic_is_above_more_often():
    # negative control: unit variance off the diagonal too
    found = largest(5, 5_000, 3, off_diagonal=1.0)
    assert (found > largest_eigenvalue_quantile(5, 0.05)).mean() > 0.15


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 31, 100, 465, 1500])
def test_it_lies_under_the_bound_by_concentration(dim):
    # An independent proof gives sqrt(2) E|g| + z, larger; the edge of the spectrum is smaller.
    chi_mean = math.sqrt(2) * math.exp(
        scipy.special.gammaln(0.5 * dim + 0.5) - scipy.special.gammaln(0.5 * dim)
    )
    for beta in (0.05, 1e-3, 1e-12):
        q = largest_eigenvalue_quantile(dim, beta)
        assert math.sqrt(2 * dim) < q <= math.sqrt(2) * chi_mean + scipy.stats.norm.isf(beta)
        assert log_mean_number_above(dim, q) <= math.log(beta)


@pytest.mark.parametrize("dim", [400, 2000])
def test_many_dimensions_follow_the_law_of_tracy_and_widom(dim):
    scaled = (
        math.sqrt(2)
        * dim ** (1 / 6)
        * (largest_eigenvalue_quantile(dim, 0.05) - math.sqrt(2 * dim))
    )
    assert scaled == pytest.approx(0.9793, abs=0.06)


def test_at_the_edge_there_is_more_than_the_largest_beta():
    for dim in [*range(1, 60), 500, 3000]:
        assert log_mean_number_above(dim, math.sqrt(2 * dim)) > math.log(0.05)


@pytest.mark.parametrize(
    ("dim", "beta"), [(0, 0.01), (2.0, 0.01), (3, 0.0), (3, 0.06), (3, math.nan)]
)
def test_parameters_outside_their_domain(dim, beta):
    with pytest.raises(InvalidParameterError):
        largest_eigenvalue_quantile(dim, beta)
