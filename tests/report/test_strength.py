from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from riemdp import GDP, KLDP, ZCDP, ApproxDP, PureDP, UnsupportedBudgetError
from riemdp.report._strength import epsilon_at, largest_true_positive_rates, percent_up, up

RATES = np.array([1e-3, 0.01, 0.05, 0.2, 0.5, 0.9])


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 4.0])
def test_of_gaussian_privacy_it_is_the_best_test_between_two_normal_laws(mu):
    exact = norm.cdf(norm.ppf(RATES) + mu)
    found = largest_true_positive_rates(GDP(mu), RATES)
    assert np.all(found >= exact)
    assert found == pytest.approx(exact, rel=2e-3)
    # a bound for a smaller guarantee would be too small
    assert np.any(largest_true_positive_rates(GDP(0.9 * mu), RATES) < exact)


@pytest.mark.parametrize(
    ("guarantee", "epsilon", "delta"),
    [(PureDP(1.0), 1.0, 0.0), (PureDP(0.01), 0.01, 0.0), (ApproxDP(0.5, 1e-6), 0.5, 1e-6)],
)
def test_of_epsilon_and_delta_it_is_the_closed_form(guarantee, epsilon, delta):
    exact = np.minimum(
        np.exp(epsilon) * RATES + delta, 1.0 - np.exp(-epsilon) * (1.0 - delta - RATES)
    )
    found = largest_true_positive_rates(guarantee, RATES)
    assert np.all(found >= exact)
    assert found == pytest.approx(exact, rel=1e-6, abs=1e-9)


def test_what_says_nothing_of_tests():
    class Silent:
        def epsilon_at(self, delta):
            raise UnsupportedBudgetError("none")

    assert largest_true_positive_rates(Silent(), RATES) is None
    assert epsilon_at(Silent(), 1e-6) is None
    assert epsilon_at(GDP(1.0), 0.0) is None
    found = largest_true_positive_rates(KLDP(0.1), RATES)
    assert np.all(found >= RATES)
    assert np.all(found <= 1.0)


def test_epsilons_are_those_of_the_guarantee():
    assert epsilon_at(PureDP(1.0), 1e-6) == pytest.approx(1.0, abs=1e-5)
    assert epsilon_at(GDP(1.0), 1e-6) == GDP(1.0).epsilon_at(1e-6)
    assert epsilon_at(ZCDP(0.1), 1e-5) > 0.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.1, "0.1"),
        (0.12340001, "0.1235"),
        (0.1234, "0.1234"),
        (1e-6, "1e-6"),
        (12345.0, "1.235e+4"),
        (9999.5, "1e+4"),
        (math.inf, "infinite"),
    ],
)
def test_numbers_are_rounded_up(value, text):
    assert up(value) == text


def test_rounding_up_is_never_down():
    for value in np.random.default_rng(0).uniform(1e-8, 50.0, 500):
        assert float(up(value)) >= value
        assert float(up(value)) <= value * (1.0 + 1.1e-3)
        assert float(percent_up(value / 50.0).removesuffix(" %")) >= 2.0 * value - 1e-12


def test_shares_in_percent():
    assert percent_up(0.135915) == "13.6 %"
    assert percent_up(0.136) == "13.6 %"
    assert percent_up(0.1360001) == "13.7 %"
    assert percent_up(1.0) == "100 %"
