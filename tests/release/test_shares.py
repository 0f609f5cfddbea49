"""How several answers are paid for by one budget."""

import math

import pytest

import riemdp
from riemdp import GDP, ApproxDP, PureDP
from riemdp.mechanisms import TangentGaussian, TangentLaplace
from riemdp.release._shares import number_of_answers, ways
from riemdp.statistics import FrechetMean, GeometricMedian, RefinedMean


class Several(FrechetMean.__base__):
    """So many answers, of weight 1, 2, 1, 2, ..."""

    replace_one = FrechetMean.replace_one
    steps = 4

    def answer_weight(self, step):
        return 1.0 + step % 2


def test_gaussian_answers_are_one_of_the_root_of_the_sum_of_squares():
    budget = ApproxDP(1.0, 1e-6)
    (joint, whole), (largest, part) = ways(TangentGaussian, Several(), 4, budget)
    assert whole == budget
    assert joint == pytest.approx(math.sqrt(10.0), rel=1e-12)
    assert joint >= math.sqrt(10.0)
    assert largest == 2.0
    assert part == budget.split(4)


def test_others_get_equal_shares_at_the_largest_weight():
    assert list(ways(TangentLaplace, Several(), 4, PureDP(1.0))) == [(2.0, PureDP(0.25))]


def test_one_answer_gets_all():
    for statistic in (FrechetMean(), RefinedMean(rounds=1)):
        assert list(ways(TangentGaussian, statistic, 1, GDP(1.0))) == [(1.0, GDP(1.0))]
    heavy = type("Heavy", (Several,), {"answer_weight": lambda *_: 3.0})()
    assert list(ways(TangentGaussian, heavy, 1, GDP(1.0))) == [(3.0, GDP(1.0))]


def test_shares_of_a_median_add_up():
    median = GeometricMedian()
    (joint, _), _ = ways(TangentGaussian, median, median.steps, GDP(1.0))
    assert joint == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, 100_001])
def test_numbers_of_answers_that_are_none(steps):
    statistic = Several()
    statistic.steps = steps
    with pytest.raises(riemdp.InvalidParameterError, match="steps"):
        number_of_answers(statistic)


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_weights_that_are_none(weight):
    statistic = type("Odd", (Several,), {"answer_weight": lambda *_: weight})()
    with pytest.raises(riemdp.InvalidParameterError, match="answer_weight"):
        list(ways(TangentGaussian, statistic, 4, GDP(1.0)))
