import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from riemdp.privacy._generalized_gaussian_curve import PowerLosses

CASES = [(0.75, 0.8), (1.5, 0.8), (3.0, 0.8), (1.5, 4.0)]


def gain(power, shift, epsilon):
    """``delta`` by plain quadrature of the positive part of ``p - exp(epsilon) q``."""
    law = stats.gennorm(power)

    def part(x):
        loss = abs(x - shift) ** power - abs(x) ** power
        return float(law.pdf(x)) * max(-math.expm1(epsilon - loss), 0.0)

    ends = [-60.0, -8.0, -2.0, -0.5, 0.0, 0.25 * shift, 0.5 * shift]
    pieces = itertools.pairwise(ends)
    return sum(integrate.quad(part, *piece, limit=400)[0] for piece in pieces)


@pytest.mark.parametrize(("power", "shift"), CASES)
def test_integrals_are_those_of_the_positive_part(power, shift):
    losses = PowerLosses(shift, power)
    epsilon = np.array([0.1, 0.4])
    found = np.exp(losses.log_delta(epsilon))
    wanted = [gain(power, shift, each) for each in epsilon]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    other = np.exp(PowerLosses(1.01 * shift, power).log_delta(epsilon))
    assert np.all(np.abs(other - wanted) > 1e-4 * np.array(wanted))


@pytest.mark.parametrize(("power", "shift"), CASES)
def test_the_middle_and_the_rest_are_everything(power, shift):
    losses, law = PowerLosses(shift, power), stats.gennorm(power)
    assert losses.central() == pytest.approx(2.0 * law.cdf(0.5 * shift) - 1.0, rel=1e-12)
    assert losses.central() + losses.peripheral() == pytest.approx(1.0, rel=1e-14)
    assert losses.mu_at_zero() == pytest.approx(2.0 * stats.norm.ppf(law.cdf(0.5 * shift)))


@pytest.mark.parametrize("power", [1.5, 3.0])
def test_the_tail_bound_holds_where_it_is_stated(power):
    losses = PowerLosses(0.8, power)
    far = losses.loss_at(700.0)
    bound = float(losses.tail(np.array([far]))[0])
    place = -(700.0 ** (1.0 / power))
    assert stats.gennorm(power).cdf(place) <= bound <= math.exp(-690.0)
    assert losses.tail(np.array([0.1])) == 1.0
