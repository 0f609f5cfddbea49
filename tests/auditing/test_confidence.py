from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.stats

from riemdp import ApproxDP
from riemdp.auditing._confidence import delta_bound, epsilon_bound, mu_bound, upper_bound
from riemdp.privacy import gaussian_delta


def tail(count, trials, rate):
    """P(at most count successes), in 40 digits."""
    with mpmath.workdps(40):
        p = mpmath.mpf(float(rate))
        return sum(
            mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(count + 1)
        )


@pytest.mark.parametrize("trials", [1, 2, 12, 60, 250])
@pytest.mark.parametrize("alpha", [0.0125, 0.125, 2.5e-5])
def test_upper_bound_is_where_the_tail_is_alpha(trials, alpha):
    for count in sorted({0, 1, trials // 3, trials // 2, trials - 1} - {trials}):
        if count >= trials:
            continue
        bound = float(upper_bound(count, trials, alpha))
        assert tail(count, trials, bound) <= alpha
        assert tail(count, trials, bound * (1.0 - 1e-9)) > alpha


def test_upper_bound_at_the_ends():
    assert upper_bound(7, 7, 0.05) == 1.0
    assert upper_bound(0, 100, 0.05) == pytest.approx(1.0 - 0.05**0.01, rel=1e-9)
    assert upper_bound(0, 10**15, 0.0125) == pytest.approx(math.log(80.0) / 1e15, rel=1e-6)
    assert np.all(np.diff(upper_bound(np.arange(1001), 1000, 0.0125)) > 0.0)


@pytest.mark.parametrize("rate", [0.003, 0.1, 0.5, 0.97])
def test_upper_bound_covers(rate):
    """Exactly, by summing the binomial law, and not by much more than it has to."""
    trials, alpha = 400, 0.0125
    counts = np.arange(trials + 1)
    below = upper_bound(counts, trials, alpha) < rate
    missed = scipy.stats.binom.pmf(counts, trials, rate)[below].sum()
    assert missed <= alpha
    assert rate < 0.01 or missed > 0.3 * alpha


def test_mu_of_gaussian_error_rates():
    for mu in (0.3, 1.0, 4.0):
        for threshold in (-1.0, 0.5, 2.0):
            fpr = scipy.stats.norm.sf(threshold)
            fnr = scipy.stats.norm.cdf(threshold - mu)
            assert mu_bound(fpr, fnr) == pytest.approx(mu, rel=1e-12)
    assert mu_bound(0.6, 0.5) == 0.0
    assert mu_bound(1.0, 0.0) == 0.0
    assert mu_bound(0.0, 1.0) == 0.0
    assert mu_bound(0.0, 0.9) == math.inf


def test_epsilon_and_delta_agree():
    rng = np.random.default_rng(0)
    for fpr, fnr in rng.uniform(0.0, 0.5, (50, 2)):
        for delta in (0.0, 1e-3, 0.1):
            epsilon = float(epsilon_bound(fpr, fnr, delta))
            if epsilon > 0.0:
                assert delta_bound(fpr, fnr, epsilon) == pytest.approx(delta, abs=1e-12)
            assert delta_bound(fpr, fnr, epsilon + 1e-9) <= delta + 1e-12
    assert epsilon_bound(0.0, 0.5) == math.inf
    assert epsilon_bound(0.0, 0.5, 0.4) == math.inf
    assert epsilon_bound(0.0, 0.5, 0.6) == 0.0
    assert epsilon_bound(0.5, 0.0) == math.inf  # the other direction
    assert np.array_equal(delta_bound(0.0, 0.5, [0.0, 1000.0]), [0.5, 0.5])


def test_no_true_pair_is_contradicted():
    """The rates of any event under laws that keep a guarantee give no bound above it."""
    mu = 1.3
    for threshold in np.linspace(-3.0, 4.0, 29):
        fpr, fnr = scipy.stats.norm.sf(threshold), scipy.stats.norm.cdf(threshold - mu)
        epsilon = np.linspace(0.0, 6.0, 61)
        assert np.all(delta_bound(fpr, fnr, epsilon) <= gaussian_delta(mu, epsilon) + 1e-12)
    # randomised response with an extra failure of probability delta
    claim = ApproxDP(1.0, 0.05)
    likely = 0.05 + 0.95 * math.e / (1.0 + math.e)
    fpr = 0.95 / (1.0 + math.e)
    assert epsilon_bound(fpr, 1.0 - likely, claim.delta) <= claim.epsilon + 1e-12
