"""The one root finder, against that of SciPy and on what is hard for it."""

import math

import numpy as np
import pytest
import scipy.optimize

from riemdp._errors import ConvergenceError
from riemdp._zero import zero_between

FUNCTIONS = [
    (lambda x: x**3 - 2.0 * x - 5.0, 2.0, 3.0),
    (lambda x: math.cos(x) - x, 0.0, 1.0),
    (lambda x: math.exp(-x) - 1e-9, 0.0, 700.0),
    (lambda x: math.atan(1e6 * (x - 0.3)), -1.0, 1.0),
    (lambda x: (x - 1.0) ** 9, 0.0, 2.7),
    (lambda x: -math.inf if x <= 0.0 else math.log(x), 0.0, 5.0),
    (lambda x: x - 1e-280, 0.0, 1.0),
    (lambda x: -1.0 if x < 1.0 / 3.0 else 1.0, 0.0, 1.0),
]


@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_it_finds_what_scipy_finds(case):
    function, low, high = FUNCTIONS[case]
    calls = []

    def counted(x):
        calls.append(x)
        return function(x)

    found = zero_between(counted, low, high, xtol=1e-300)
    step = 8.0 * np.finfo(float).eps * abs(found) + 1e-299
    assert function(found) == 0.0 or function(found - step) * function(found + step) <= 0.0
    assert len(calls) < 1200
    assert zero_between(function, high, low, xtol=1e-12) == pytest.approx(found, abs=1e-3)
    if case < 4:
        expected = scipy.optimize.brentq(function, low, high, xtol=1e-14)
        assert found == pytest.approx(expected, rel=1e-13)
        assert len(calls) < 60


def test_an_almost_straight_function_takes_few_evaluations():
    calls = []

    def function(x):
        calls.append(x)
        return 1.7 * x - 0.4 + 1e-3 * x * x

    found = zero_between(function, 0.0, 1.0, xtol=1e-10)
    assert abs(function(found)) < 1e-9
    assert len(calls) <= 7


@pytest.mark.parametrize("function", [lambda x: x + 1.0, lambda _: math.nan])
def test_there_has_to_be_a_change_of_sign(function):
    with pytest.raises(ConvergenceError):
        zero_between(function, 0.0, 1.0, xtol=1e-9)


def test_roots_at_the_ends():
    assert zero_between(lambda x: x, 0.0, 1.0, xtol=1e-9) == 0.0
    assert zero_between(lambda x: x - 1.0, 0.0, 1.0, xtol=1e-9) == 1.0
