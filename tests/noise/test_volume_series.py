from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from riemdp._errors import NotAttainableError
from riemdp.noise._volume_series import (
    growth_rate,
    log_mean_volume,
    log_order_constant,
    volume_weights,
)
from riemdp.research._affine_invariant_draw import log_order_probability
from riemdp.research._sinh_envelope import log_volume


def pfaffian(k: int, sigma: float) -> float:
    """Log of Pf[erf(sigma (j - i)/2)], in as many digits as cancel."""
    pairs = k * (k - 1) // 2
    with mpmath.workdps(60 + int(pairs * max(0.0, 1.0 - math.log10(sigma)))):
        size = k + k % 2
        levels = [mpmath.erf(mpmath.mpf(sigma) * m / 2) for m in range(k)]
        matrix = mpmath.matrix(size, size)
        for i in range(size):
            for j in range(i):
                entry = mpmath.mpf(1) if i == k else levels[i - j]
                matrix[j, i], matrix[i, j] = entry, -entry
        return mpmath.log(mpmath.det(matrix)) / 2


@pytest.mark.fast("2-0.0001", "4-1.0", "7-5.0", "11-2.0")
@pytest.mark.parametrize(
    ("k", "sigma"),
    [
        (2, 1e-4),
        (2, 5.0),
        (3, 1e-3),
        (3, 0.3),
        (3, 12.0),
        (4, 1.0),
        (5, 0.1),
        (5, 3.0),
        (6, 0.5),
        (7, 5.0),
        (10, 0.3),
        (10, 1.0),
        (11, 2.0),
        (20, 1.0),
        (30, 0.3),
        (30, 2.0),
        (30, 3.0),
    ],
)
def test_mean_volume_against_the_pfaffian(k, sigma):
    with mpmath.workdps(40):
        s = mpmath.mpf(sigma)
        oracle = s**2 * k * (k * k - 1) / 24 + pfaffian(k, sigma)
        oracle -= k * (k - 1) / 2 * mpmath.log(s)
    expected = float(oracle - mpmath.mpf(log_order_constant(k)))
    # the constant is a sum of float64 logarithms of factorials
    assert log_mean_volume(k, sigma**2) == pytest.approx(expected, rel=1e-12, abs=2e-13 * k * k)


def test_the_constant_is_a_mean_vandermonde():
    x = np.random.default_rng(1).standard_normal((400_000, 3))
    a, b, c = x.T
    product = np.abs((a - b) * (a - c) * (b - c))
    error = 4.0 * product.std() / math.sqrt(len(x))
    assert abs(product.mean() / 6.0 - math.exp(log_order_constant(3))) < error / 6.0


def _gaussian_volumes(k: int, sigma: float, size: int) -> np.ndarray:
    matrices = np.random.default_rng(k).standard_normal((size, k, k))
    matrices = 0.5 * sigma * (matrices + np.swapaxes(matrices, -1, -2))
    return np.exp(log_volume(np.linalg.eigvalsh(matrices)))


@pytest.mark.fast(1)
@pytest.mark.parametrize(("k", "sigma"), [(2, 0.8), (3, 0.6), (5, 0.4)])
def test_mean_volume_against_plain_monte_carlo(k, sigma):
    volumes = _gaussian_volumes(k, sigma, 50_000)
    error = 4.0 * volumes.std() / math.sqrt(volumes.size)
    mean = math.exp(log_mean_volume(k, sigma**2))
    assert abs(volumes.mean() - mean) < error
    # a scale 5 % off is noticed
    assert abs(volumes.mean() - math.exp(log_mean_volume(k, (1.05 * sigma) ** 2))) > error


def test_small_variances_follow_the_expansion():
    # log J = sum x_ij^2 / 24 + ..., and the mean over pairs of (x_i - x_j)^2 is known
    for k in (2, 3, 10, 30):
        slope = log_mean_volume(k, 1e-8) / 1e-8
        assert slope == pytest.approx(k * (k - 1) * (k + 2) / 48.0, rel=2e-5)


@pytest.mark.parametrize(
    ("k", "sigma"), [(2, 0.1), (2, 4.0), (3, 1.0), (5, 2.0), (10, 0.5), (10, 6.0), (30, 0.3)]
)
def test_weights_are_the_power_series(k, sigma):
    q = sigma**2
    first, weights = volume_weights(k, q)
    n = first + np.arange(weights.size)
    assert weights.sum() == pytest.approx(1.0, abs=1e-14)
    deviation = math.sqrt(weights @ np.square(n - weights @ n)) + 1e-3
    for factor in np.exp(np.array([-1.0, -0.3, 0.3]) / max(deviation, 1.0)):
        ratio = math.exp(log_mean_volume(k, factor * q) - log_mean_volume(k, q))
        clear = weights > 1e-14
        assert weights[clear] @ factor ** n[clear].astype(float) == pytest.approx(ratio, rel=1e-9)
    assert max(weights[-1], weights[0] if first else 0.0) < 1e-13


@pytest.mark.parametrize("k", [2, 3, 7, 20])
def test_the_order_probability_is_one_for_wide_drifts(k):
    assert log_order_probability(k, 40.0**2) == pytest.approx(0.0, abs=1e-8)
    assert log_order_probability(k, 0.5) < -0.2
    assert math.isfinite(log_order_probability(k, 1e-8))
    assert growth_rate(1) == 0.0


def test_absurd_variances_are_refused():
    with pytest.raises(NotAttainableError, match="smaller sigma"):
        volume_weights(30, 1e8)
