"""A scale meets its budget, and a thousandth less does not."""

import math

import pytest

from riemdp import _errors as errors
from riemdp.privacy import GDP, KLDP, ZCDP, ApproxDP, PureDP, RaoDP, affordable_epsilon
from riemdp.research import GeneralizedGaussian

POWERS = [0.75, 1.0, 1.3, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("power", [0.55, *POWERS, 30.0])
@pytest.mark.parametrize("distance", ["angle", "parametric"])
@pytest.mark.parametrize("theta", [1e-3, 1.0, 3.0])
def test_calibration_to_theta(power, distance, theta):
    budget = RaoDP(theta, distance=distance)
    mechanism = GeneralizedGaussian.calibrate(0.3, budget, power=power)
    assert mechanism.power == power
    assert theta * (1.0 - 1e-10) <= mechanism.rao(0.3, distance).theta <= theta
    assert not GeneralizedGaussian(0.999 * mechanism.sigma, power).satisfies(0.3, budget)


@pytest.mark.fast(4)
@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("budget", [PureDP(0.5), ApproxDP(0.5, 1e-5), GDP(0.5), ZCDP(0.1)], ids=str)
def test_calibration_to_other_budgets(power, budget):
    if power > 1.0 and isinstance(budget, PureDP):
        with pytest.raises(errors.InvalidBudgetError, match="no pure epsilon"):
            GeneralizedGaussian.calibrate(0.3, budget, power=power)
        return
    mechanism = GeneralizedGaussian.calibrate(0.3, budget, power=power)
    assert mechanism.satisfies(0.3, budget)
    assert not GeneralizedGaussian(0.999 * mechanism.sigma, power).satisfies(0.3, budget)


@pytest.mark.parametrize("budget", [GDP(0.5), ZCDP(0.1), KLDP(0.1)], ids=str)
def test_above_power_two_there_is_no_mu(budget):
    with pytest.raises(errors.InvalidBudgetError, match=r"no mu and no rho; use a power up to 2"):
        GeneralizedGaussian.calibrate(0.3, budget, power=2.5)
    assert not GeneralizedGaussian(1e9, 2.5).satisfies(0.3, GDP(9.0))


@pytest.mark.parametrize("budget", [RaoDP(1e-10, distance="angle"), PureDP(1e-10), PureDP(1e10)])
def test_a_tiny_power_has_no_noise_in_float64(budget):
    with pytest.raises(errors.NotAttainableError, match="leaves float64"):
        GeneralizedGaussian.calibrate(1.0, budget, power=0.02)


@pytest.mark.parametrize("power", [1e200, 1e300])
def test_a_huge_power_is_calibrated(power):
    budget = RaoDP(0.5, distance="angle")
    mechanism = GeneralizedGaussian.calibrate(1.0, budget, power=power)
    assert mechanism.satisfies(1.0, budget)
    # the Fisher information is N^2 / Gamma(1/N), nearly N
    assert mechanism.sigma == pytest.approx(2.0 * math.sqrt(power), rel=1e-9)


def test_calibration_by_keyword():
    by_name = GeneralizedGaussian.calibrate(sensitivity=0.5, budget=PureDP(1.0), power=1.0)
    assert by_name == GeneralizedGaussian.calibrate(0.5, PureDP(1.0), power=1.0)


@pytest.mark.fast(2)
@pytest.mark.parametrize("power", [0.75, 1.5, 3.0, 30.0, 1e8])
@pytest.mark.parametrize("budget", [ApproxDP(0.5, 1e-5), ApproxDP(0.01, 0.01)], ids=str)
def test_calibration_to_epsilon_and_delta_at_every_power(power, budget):
    mechanism = GeneralizedGaussian.calibrate(0.3, budget, power=power)
    assert mechanism.satisfies(0.3, budget)
    assert not GeneralizedGaussian(0.999 * mechanism.sigma, power).satisfies(0.3, budget)


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.3, 0.75])
@pytest.mark.parametrize("budget", [GDP(0.5), ZCDP(0.1), KLDP(0.2)], ids=str)
def test_calibration_under_power_one_is_better_than_by_the_pure_epsilon(power, budget):
    mechanism = GeneralizedGaussian.calibrate(0.3, budget, power=power)
    assert mechanism.satisfies(0.3, budget)
    assert not GeneralizedGaussian(0.999 * mechanism.sigma, power).satisfies(0.3, budget)
    by_pure = GeneralizedGaussian.calibrate(0.3, PureDP(affordable_epsilon(budget)), power=power)
    assert mechanism.sigma < 0.999 * by_pure.sigma


@pytest.mark.fast(2)
@pytest.mark.parametrize("power", [0.01, 1.0 + 1e-9, 2.0 - 1e-9, 50.0, 1e6, 1e290])
@pytest.mark.parametrize("sensitivity", [1e-75, 1e75])
def test_calibration_at_the_corners(power, sensitivity):
    budget = ApproxDP(1.0, 1e-6)
    try:
        mechanism = GeneralizedGaussian.calibrate(sensitivity, budget, power=power)
    except errors.NotAttainableError:
        assert power == 0.01
    else:
        assert mechanism.satisfies(sensitivity, budget)
        assert not GeneralizedGaussian(0.99 * mechanism.sigma, power).satisfies(sensitivity, budget)
