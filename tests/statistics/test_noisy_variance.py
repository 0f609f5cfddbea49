"""The worst case of a chi-squared test with a noisy variance: quadrature and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

from riemdp.statistics._regions import calibrated, worst_tail

CASES = [(1, 0.35, 0.05), (1, 30.0, 0.05), (6, 0.7, 0.05), (6, 5.0, 1e-3), (21, 1.4, 0.02)]


def tail(dim, statistic, variance, *, inflation, noise, floor):
    """Probability at one variance, by the midpoint rule."""
    g = np.linspace(-9, 9, 8_001)
    g = 0.5 * (g[1:] + g[:-1])
    weights = np.exp(-0.5 * g * g)
    denominator = np.maximum(variance + noise * g + inflation, floor)
    tails = scipy.special.chdtrc(dim, statistic * denominator / variance)
    return float(weights @ tails / weights.sum())


def variances(noise, floor):
    near, far = np.geomspace(1.0, 5.0, 25), np.geomspace(5.0, 1e4 * max(1.0, noise / floor), 15)
    return floor * np.concatenate([near, far])


@pytest.mark.fast(1)
@pytest.mark.parametrize(("dim", "noise", "alpha"), CASES)
def test_calibrated_is_valid_for_all_variances_and_no_wider_than_needed(dim, noise, alpha):
    floor = 0.3
    critical, inflation = calibrated(dim, alpha, noise=noise * floor, floor=floor)
    found = [
        tail(dim, critical, v, inflation=inflation, noise=noise * floor, floor=floor)
        for v in variances(noise, floor)
    ]
    assert max(found) <= alpha
    less = [
        tail(dim, critical, v, inflation=0.85 * inflation, noise=noise * floor, floor=floor)
        for v in variances(noise, floor)
    ]
    assert max(less) > alpha  # negative control: the inflation is needed
    assert inflation < scipy.stats.norm.isf(alpha) * noise * floor


@pytest.mark.parametrize("statistic", [0.5, 4.0, 30.0])
def test_worst_tail_is_the_largest(statistic):
    arguments = {"inflation": 0.2, "noise": 0.9, "floor": 0.5}
    found = worst_tail(4, statistic, **arguments)
    each = [tail(4, statistic, v, **arguments) for v in np.geomspace(0.5, 5e3, 100)]
    assert max(each) <= found <= max(each) * 1.01


def test_little_noise_leaves_the_chi_squared_law():
    found = worst_tail(3, 7.0, inflation=0.0, noise=1e-7, floor=1.0)
    assert found == pytest.approx(scipy.stats.chi2.sf(7.0, 3), rel=1e-4)
    critical, inflation = calibrated(3, 0.05, noise=1e-6, floor=1.0)
    assert critical == pytest.approx(scipy.stats.chi2.isf(0.05, 3), rel=1e-3)
    assert inflation <= 1e-6


def test_units_do_not_matter():
    first = calibrated(5, 0.03, noise=0.4, floor=0.2)
    second = calibrated(5, 0.03, noise=0.4e-40, floor=0.2e-40)
    assert second == pytest.approx((first[0], first[1] * 1e-40), rel=1e-9)


def test_simulated_probability():
    rng = np.random.default_rng(8)
    dim, noise, floor = 6, 1.3, 1.0
    critical, inflation = calibrated(dim, 0.05, noise=noise, floor=floor)
    for v in (1.0, 2.0, 6.0):
        noisy = np.maximum(v + noise * rng.normal(size=100_000) + inflation, floor)
        rejected = int((rng.chisquare(dim, size=100_000) * v > critical * noisy).sum())
        assert scipy.stats.binomtest(rejected, 100_000, 0.05, alternative="greater").pvalue > 1e-4


@pytest.mark.parametrize("noise", [1e-8, 1e-3, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("alpha", [0.5, 1e-9])
def test_extreme_numbers(noise, alpha):
    critical, inflation = calibrated(400, alpha, noise=noise, floor=1.0)
    assert math.isfinite(critical)
    assert 0.0 <= inflation < 8.0 * noise
