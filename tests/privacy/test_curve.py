import math

import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    ZCDP,
    ApproxDP,
    Budget,
    GaussianCurve,
    PrivacyCurve,
    PureCurve,
    PureDP,
    gaussian_mu,
    pure_to_gaussian,
)


@pytest.mark.parametrize("delta", [5e-324, 1e-310, 1e-20, 0.5, 1.0 - 1e-9, 1.0 - 2.0**-53])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-6, 1.0, 100.0])
def test_the_calibrated_curve_satisfies_its_budget(epsilon, delta):
    budget = ApproxDP(epsilon, delta)
    assert GaussianCurve(gaussian_mu(epsilon, delta)).satisfies(budget)
    assert PureCurve(epsilon).satisfies(budget)


@pytest.mark.parametrize("curve", [GaussianCurve(1.0), PureCurve(1.0)])
@pytest.mark.parametrize("bad", ["x", None, [None], True, -1.0, math.nan])
def test_bad_arguments_raise_named_errors(curve, bad):
    with pytest.raises(errors.InvalidParameterError, match="epsilon must"):
        curve.delta_at(bad)
    with pytest.raises(errors.InvalidParameterError, match="delta must"):
        curve.epsilon_at(bad)
    with pytest.raises(errors.NoConversionError, match="against ndarray"):
        curve.satisfies(np.array([271828.0]))


ONE_AND_MORE = math.nextafter(1.0, 2.0)


@pytest.mark.parametrize(
    ("curve", "tight", "short"),
    [
        (PureCurve(1.0), PureDP(1.0), PureDP(math.nextafter(1.0, 0.0))),
        (PureCurve(1.0), ApproxDP(1.0, 1e-300), ApproxDP(0.999, 1e-6)),
        (PureCurve(1.0), GDP(pure_to_gaussian(1.0)), GDP(1.231)),
        (PureCurve(1.0), ZCDP(0.5), ZCDP(0.4999)),
        (GaussianCurve(1.0), GDP(1.0), GDP(math.nextafter(1.0, 0.0))),
        (GaussianCurve(1.0), ZCDP(0.5), ZCDP(math.nextafter(0.5, 0.0))),
        # xi is no part of rho: the divergence of a large order is the larger one
        (GaussianCurve(1.0), ZCDP(0.5, 0.2), ZCDP(0.4, 0.2)),
        (GaussianCurve(gaussian_mu(1.0, 1e-6)), ApproxDP(1.0, 1e-6), ApproxDP(1.0, 0.999e-6)),
        (GaussianCurve(1.0), GDP(ONE_AND_MORE), PureDP(1e300)),
    ],
)
def test_satisfies(curve, tight, short):
    assert curve.satisfies(tight)
    assert not curve.satisfies(short)


def test_a_definition_that_says_nothing_about_curves_is_refused():
    class Other(Budget):
        def delta_at(self, epsilon):
            return np.zeros_like(epsilon)

        def epsilon_at(self, delta):
            return 0.0 * delta

    with pytest.raises(errors.UnsupportedBudgetError, match=r"Other.*PureDP, ApproxDP or GDP"):
        GaussianCurve(1.0).satisfies(Other())


class OnlyNumbers(PrivacyCurve):
    """A curve that knows a mu and a pure epsilon."""

    def __init__(self, mu, pure):
        self.numbers = mu, pure

    def delta_at(self, epsilon):
        return np.ones_like(epsilon)

    def epsilon_at(self, delta):
        return math.inf * (1.0 - delta)

    def mu(self):
        return self.numbers[0]

    def mu_bracket(self):
        return 0.0, self.numbers[0]

    def pure_epsilon(self):
        return self.numbers[1]

    def zcdp_rho(self):
        return math.inf


def test_angle_of_a_curve():
    assert GaussianCurve(1.0).rao("angle").theta == pytest.approx(0.9793, abs=5e-5)
    assert PureCurve(1.0).rao("angle").theta == pytest.approx(4 * math.atan(math.tanh(0.25)))
    gaussian, pure = GaussianCurve(0.5).rao("angle"), PureCurve(0.4).rao("angle")
    assert OnlyNumbers(0.5, math.inf).rao("angle").theta == pytest.approx(gaussian.theta)
    assert OnlyNumbers(math.inf, 0.4).rao("angle").theta == pytest.approx(pure.theta)
    assert OnlyNumbers(0.5, 0.4).rao("angle").theta == pytest.approx(pure.theta)
    with pytest.raises(errors.NoConversionError, match="no angle is proved"):
        OnlyNumbers(math.inf, math.inf).rao("angle")
    with pytest.raises(errors.NoConversionError, match="ask the mechanism"):
        GaussianCurve(1.0).rao("parametric")
    with pytest.raises(errors.InvalidParameterError, match="distance"):
        GaussianCurve(1.0).rao("length")
