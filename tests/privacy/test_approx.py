import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import ApproxDP


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, 2.0, math.nan, math.inf, "a", None, [1e-6]])
def test_a_delta_outside_its_domain_is_refused(delta):
    with pytest.raises(errors.InvalidBudgetError, match="delta"):
        ApproxDP(1.0, delta)


@given(st.floats(0.01, 30.0), st.floats(1e-9, 0.9), st.floats(0.0, 1.0))
def test_smaller_epsilon_of_an_approximate_guarantee(epsilon, delta, share):
    # the largest 1 - f(a) - e^eps a over the trade-off function f of (epsilon, delta)
    smaller = share * epsilon
    kink = (1.0 - delta) / (1.0 + math.exp(epsilon))
    alpha = np.array([0.0, kink, 1.0 - delta])
    power = 1.0 - np.maximum(
        1.0 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1.0 - delta - alpha)
    )
    brute = np.max(power - math.exp(smaller) * alpha)
    assert ApproxDP(epsilon, delta).delta_at(smaller) == pytest.approx(brute, rel=1e-9)


def test_approximate_guarantee_at_its_corners():
    budget = ApproxDP(1.0, 1e-3)
    assert budget.delta_at(1.0) == 1e-3
    assert budget.delta_at(5.0) == 1e-3
    assert budget.epsilon_at(1e-3) == 1.0
    assert budget.epsilon_at(1e-4) == math.inf
    assert budget.epsilon_at(0.9) == 0.0
    # 1 - (1 - delta)(1 + e^(1/2))/(1 + e)
    expected = 1.0 - 0.999 * (1.0 + math.exp(0.5)) / (1.0 + math.e)
    assert budget.delta_at(0.5) == pytest.approx(expected, rel=1e-13)
