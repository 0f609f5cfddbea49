from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp import GDP, ApproxDP, PureDP
from riemdp.auditing._trade_off import claimed_trade_off, measure
from riemdp.privacy import GaussianCurve, LaplaceCurve


def test_measured_curve_lies_within_its_margin(rng):
    mu = 1.0
    for _ in range(5):
        samples = rng.normal(size=(4, 3000)) + np.array([mu, 0.0, mu, 0.0])[:, None]
        curve = measure((samples[0], samples[1]), (samples[2], samples[3]), 0.99)
        low = claimed_trade_off(GDP(mu), np.minimum(curve.fpr + curve.margin, 1.0)) - curve.margin
        high = claimed_trade_off(GDP(mu), np.maximum(curve.fpr - curve.margin, 0.0)) + curve.margin
        assert np.all(curve.fnr >= low)
        assert np.all(curve.fnr <= high)
        assert np.all(np.diff(curve.fpr) >= 0.0)
        assert (curve.fpr[0], curve.fnr[0]) == (0.0, 1.0)
        assert (curve.fpr[-1], curve.fnr[-1]) == (1.0, 0.0)
    assert curve.margin == pytest.approx(math.sqrt(math.log(400.0) / 6000.0))


def test_claimed_curve_of_pure_and_approximate_privacy():
    fpr = np.linspace(0.0, 1.0, 101)
    for claim, delta in [(PureDP(1.0), 0.0), (ApproxDP(1.0, 0.1), 0.1)]:
        expected = np.maximum(
            np.maximum(1.0 - delta - math.e * fpr, (1.0 - delta - fpr) / math.e), 0.0
        )
        found = claimed_trade_off(claim, fpr)
        assert np.all(found <= expected + 1e-9)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_claimed_curve_of_others():
    fpr = np.linspace(0.01, 0.99, 50)
    expected = scipy.stats.norm.cdf(scipy.stats.norm.isf(fpr) - 1.5)
    np.testing.assert_allclose(claimed_trade_off(GDP(1.5), fpr), expected)
    np.testing.assert_allclose(claimed_trade_off(GaussianCurve(1.5), fpr), expected)
    # the Laplace law on the line: fnr of the threshold tests in closed form
    sf = scipy.stats.laplace.sf
    threshold = scipy.stats.laplace.isf(fpr)
    np.testing.assert_allclose(
        claimed_trade_off(LaplaceCurve(1.0), fpr), 1.0 - sf(threshold - 1.0), atol=1e-3
    )
