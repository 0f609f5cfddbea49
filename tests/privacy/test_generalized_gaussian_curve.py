import dataclasses
import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    ApproxDP,
    GaussianCurve,
    GeneralizedGaussianCurve,
    LaplaceCurve,
    pure_to_gaussian,
)
from riemdp.research import GeneralizedGaussian

POWERS = [0.75, 1.5, 3.0, 4.0]
SEPARATIONS = [0.02, 0.3, 1.0, 5.0]
EPSILONS = [0.004, 0.1, 1.0, 4.0, 20.0]


def exact_delta(power, separation, epsilon):
    """F(t) - e^epsilon F(t - s), to thirty digits: nothing of the library's integrals."""
    with mpmath.workdps(45):
        power, s, epsilon = (mpmath.mpf(x) for x in (power, separation, epsilon))

        def beyond(y):  # P(x > y)
            half = mpmath.gammainc(1 / power, abs(y) ** power, regularized=True) / 2
            return half if y >= 0 else 1 - half

        def loss(y):  # at -y
            if y > s:  # far out nothing is left of the difference
                return y**power * mpmath.expm1(power * mpmath.log1p(s / y))
            return abs(y + s) ** power - abs(y) ** power

        def root(low, high):
            rises = loss(high) > epsilon
            for _ in range(160):
                wide = low > 0 and high > 4 * low
                middle = mpmath.sqrt(low * high) if wide else (low + high) / 2
                if (loss(middle) > epsilon) == rises:
                    high = middle
                else:
                    low = middle
            return low

        far = mpmath.mpf(1)
        if power > 1:
            while loss(far) < epsilon:
                far *= 4
            u = root(-s / 2, far)
            if u > 0 and u**power > 800:  # less than any float
                return mpmath.mpf(0)
            return beyond(u) - mpmath.exp(epsilon) * beyond(u + s)
        if epsilon >= s**power:
            return mpmath.mpf(0)
        while loss(far) > epsilon:
            far *= 2
        low, high = -root(mpmath.mpf(0), far), -root(-s / 2, mpmath.mpf(0))
        first = beyond(low) - beyond(high)
        return first - mpmath.exp(epsilon) * (beyond(low - s) - beyond(high - s))


def excesses(curve, law=None):
    """How much more than the exact delta (of another law) is stated, relatively."""
    law, found = law or curve, []
    for epsilon in EPSILONS:
        exact = exact_delta(law.power, law.separation, epsilon)
        if exact > 1e-290:
            found.append(float(mpmath.mpf(float(curve.delta_at(epsilon))) / exact - 1))
    return found


@pytest.mark.fast("0.75", "3.0")
@pytest.mark.parametrize("power", POWERS)
def test_never_under_thirty_digits_and_hardly_over(power):
    for separation in SEPARATIONS[1:3]:
        found = excesses(GeneralizedGaussianCurve(separation, power))
        assert len(found) >= 2
        assert min(found) >= 0.0
        assert max(found) < 5e-11


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.2, *POWERS, 0.98, 1.05, 1.9, 2.3, 12.0, 100.0])
def test_never_under_thirty_digits_on_a_wide_grid(power):
    for separation in (1e-7, *SEPARATIONS, 12.0):
        found = excesses(GeneralizedGaussianCurve(separation, power))
        assert min(found, default=0.0) >= 0.0
        assert max(found, default=0.0) < 2e-10


def test_a_broken_separation_or_power_is_under():
    law = GeneralizedGaussianCurve(0.7, 3.0)
    for change in ({"separation": 0.7 * (1.0 - 1e-9)}, {"power": 3.0 - 1e-8}):
        assert min(excesses(dataclasses.replace(law, **change), law)) < 0.0


@pytest.mark.fast(2)
@pytest.mark.parametrize("power", [0.5, *POWERS])
def test_against_the_integral_of_the_positive_part(power):
    """By adaptive quadrature of (p - e^epsilon q)_+, which knows no set and no root."""
    curve, scale = GeneralizedGaussianCurve(0.8, power), 2.0 * math.gamma(1.0 + 1.0 / power)
    for epsilon in (0.0, 0.3, 0.7):

        def integrand(x, epsilon=epsilon):
            first, second = -(abs(x) ** power), epsilon - abs(x - 0.8) ** power
            return max(math.exp(first) - math.exp(second), 0.0) / scale

        edges = [-2000.0, -50.0, -8.0, -2.0, -0.5, 0.0, 0.05, 0.4]
        exact = sum(
            scipy.integrate.quad(integrand, a, b, limit=200)[0]
            for a, b in itertools.pairwise(edges)
        )
        assert curve.delta_at(epsilon) == pytest.approx(exact, rel=1e-6, abs=1e-9)
        assert curve.delta_at(epsilon) != pytest.approx(exact * 1.01, rel=1e-3, abs=1e-5)


@pytest.mark.fast(1)
@pytest.mark.parametrize("power", [0.75, 3.0])
def test_against_draws_of_the_mechanism(power):
    """Mean of (1 - exp(epsilon - loss))_+ over draws, the loss from the mechanism's densities."""
    mechanism, draws = GeneralizedGaussian(0.5, power), 200_000
    x = mechanism.sample([0.0], draws, np.random.default_rng(5))
    loss = mechanism.log_density(x, [0.0]) - mechanism.log_density(x, [0.3])
    for epsilon in (0.0, 0.2, 0.5):
        gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
        error = 5.0 * float(np.std(gain)) / math.sqrt(draws)
        stated = float(mechanism.privacy(0.3).delta_at(epsilon))
        assert abs(float(np.mean(gain)) - stated) < error
        assert abs(float(np.mean(gain)) - mechanism.privacy(0.33).delta_at(epsilon)) > error


def test_at_powers_one_and_two_it_is_the_closed_curve():
    epsilon = np.array([0.0, 0.01, 0.3, 0.69, 1.0, 5.0])
    for closed, power, s in ((LaplaceCurve(0.7), 1.0, 0.7), (GaussianCurve(1.2), 2.0, 1.2)):
        curve = GeneralizedGaussianCurve(s / math.sqrt(power), power)
        for near in (power * (1.0 - 1e-13), power, power * (1.0 + 1e-13)):
            other = dataclasses.replace(curve, power=near)
            assert other.delta_at(epsilon) == pytest.approx(closed.delta_at(epsilon), rel=1e-9)
            assert near > 2.0 or other.mu() == pytest.approx(closed.mu(), rel=1e-8)


@pytest.mark.fast(2)
@pytest.mark.parametrize("power", [0.4, *POWERS])
def test_delta_falls_is_convex_and_grows_with_the_distance(power):
    epsilon = np.linspace(0.0, 0.9, 40)
    curve = GeneralizedGaussianCurve(0.9, power)
    delta = curve.delta_at(epsilon)
    assert np.all(np.diff(delta) <= 0.0)
    slopes = np.diff(delta) / np.diff(np.exp(epsilon))
    assert np.all(np.diff(slopes) >= -1e-9)
    larger = GeneralizedGaussianCurve(0.91, power).delta_at(epsilon)
    assert np.all(larger > delta)
    assert curve.delta_at(epsilon.reshape(5, 8)).shape == (5, 8)


@pytest.mark.fast("3.0")
@pytest.mark.parametrize("power", POWERS)
def test_epsilon_at_is_the_inverse(power):
    curve = GeneralizedGaussianCurve(0.6, power)
    for delta in (1e-6, 0.01, 0.2):
        epsilon = curve.epsilon_at(delta)
        assert curve.delta_at(epsilon) <= delta
        assert epsilon == 0.0 or curve.delta_at(epsilon * (1.0 - 1e-9)) > delta
    assert curve.epsilon_at(0.9) == 0.0
    assert curve.epsilon_at(0.0) == curve.pure_epsilon()


@pytest.mark.fast(4)
@pytest.mark.parametrize("power", [1.0, 1.2, 1.7, 2.0])
@pytest.mark.parametrize("separation", [0.05, 1.0, 6.0])
def test_mu_is_the_largest_difference_of_quantiles(power, separation):
    """mu >= Phi^-1(F(x)) - Phi^-1(F(x - s)) at every x, with equality at s/2."""
    mu = GeneralizedGaussianCurve(separation, power).mu()

    def quantile(x):
        upper = 0.5 * scipy.special.gammaincc(1.0 / power, np.abs(x) ** power)
        return -np.sign(x) * scipy.special.ndtri(upper)

    x = np.concatenate([np.linspace(-6.0, 12.0, 2001), [0.5 * separation]])
    differences = quantile(x) - quantile(x - separation)
    assert np.max(differences) <= mu <= np.max(differences) * (1.0 + 1e-9)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("power", "separation"), [(0.3, 1.0), (0.75, 5.0), (0.95, 0.1)])
def test_mu_under_power_one_holds_and_a_smaller_one_does_not(power, separation):
    curve = GeneralizedGaussianCurve(separation, power)
    lower, mu = curve.mu_bracket()
    assert lower <= mu <= lower * (1.0 + 1e-5)
    assert mu < 0.9 * pure_to_gaussian(curve.pure_epsilon())
    epsilon = curve.pure_epsilon() * np.linspace(0.0, 0.9999, 100)
    delta = curve.delta_at(epsilon) * (1.0 - 3e-11)
    assert np.all(delta <= GaussianCurve(mu).delta_at(epsilon))
    assert np.any(delta > GaussianCurve(0.999 * mu).delta_at(epsilon))


def test_no_mu_above_power_two():
    """Differences of quantiles grow without bound: no Gaussian pair is as hard to tell apart."""
    curve = GeneralizedGaussianCurve(0.5, 2.2)
    assert curve.mu() == curve.zcdp_rho() == curve.pure_epsilon() == math.inf
    assert curve._guarantees() == ()
    x = np.array([1.0, 3.0, 6.0, 12.0])

    def quantile(x):
        upper = scipy.special.gammaincc(1.0 / 2.2, x**2.2)
        return -scipy.special.ndtri(0.5 * upper)

    differences = quantile(x) - quantile(x - 0.5)
    assert np.all(np.diff(differences) > 0.0)
    assert not curve.satisfies(GDP(50.0))
    assert curve.satisfies(ApproxDP(2.0, 0.1))
    with pytest.raises(errors.NoConversionError):
        curve.rao("angle")


def test_zcdp_holds_for_renyi_divergences_by_quadrature():
    power, s = 1.5, 0.8
    rho = GeneralizedGaussianCurve(s, power).zcdp_rho()
    x = np.linspace(-60.0, 60.0, 400_001)
    first, second = -(np.abs(x) ** power), -(np.abs(x - s) ** power)
    mass = scipy.integrate.trapezoid(np.exp(first), x)
    for order in (1.1, 2.0, 5.0, 9.0):
        moment = scipy.integrate.trapezoid(np.exp(order * first + (1.0 - order) * second), x)
        assert math.log(moment / mass) / (order - 1.0) <= rho * order
    assert math.log(moment / mass) / (order - 1.0) > 0.3 * rho * order


@pytest.mark.fast(
    "1e-300-0.01", "0.001-50.0", "2.5-1.000000001", "1e-300-1000000.0", "1e+300-1e+290"
)
@pytest.mark.parametrize("power", [0.01, 1.0 - 1e-9, 1.0 + 1e-9, 2.0 - 1e-9, 50.0, 1e6, 1e290])
@pytest.mark.parametrize("separation", [1e-300, 1e-3, 2.5, 1e300])
def test_the_corners_of_float64(power, separation):
    curve = GeneralizedGaussianCurve(separation, power)
    epsilon = np.array([0.0, 1e-300, 0.1, 10.0, 1e300, math.inf])
    delta = curve.delta_at(epsilon)
    assert np.all((delta >= 0.0) & (delta <= 1.0))
    assert np.all(np.diff(delta) <= 1e-11 * delta[1:] + 1e-298)
    assert np.array_equal(delta > 0.0, epsilon < curve.pure_epsilon())
    # the length of the middle times the least density there
    if separation < 1.0:
        exact = separation / (2.0 * math.gamma(1.0 + 1.0 / power))
        assert delta[0] >= exact * math.exp(-((0.5 * separation) ** power))
    for allowed in (1e-320, 1e-100, 0.3):
        least = curve.epsilon_at(allowed)
        assert least == math.inf or curve.delta_at(least) <= allowed
        assert least < math.inf or separation == 1e300 or power >= 1e6
    lower, mu = curve.mu_bracket()
    assert 0.0 <= lower <= mu
    assert (mu < math.inf) is (power <= 2.0) or separation == 1e300


@pytest.mark.parametrize("separation", [0.0, -1.0, math.nan, math.inf])
def test_a_separation_outside_its_domain(separation):
    with pytest.raises(errors.InvalidParameterError, match="separation"):
        GeneralizedGaussianCurve(separation, 1.5)


def test_above_the_sharpest_power_the_total_variation_bounds_delta():
    curve = GeneralizedGaussianCurve(0.01, 1e8)
    assert curve.delta_at(0.0) == pytest.approx(0.005, rel=1e-6)
    assert curve.delta_at(3.0) == curve.delta_at(0.0)
    with pytest.raises(errors.InvalidParameterError, match="epsilon"):
        curve.delta_at(-1.0)


@pytest.mark.slow
def test_composed_numerically_it_is_better_than_through_mu():
    pytest.importorskip("dp_accounting")
    curve = GeneralizedGaussianCurve(0.1, 1.5)
    composed = curve.self_compose(10)
    through_mu = GaussianCurve(composed.mu()).delta_at(1.0)
    assert composed.delta_at(1.0) < 0.5 * through_mu
    assert composed.delta_at(1.0) > curve.delta_at(1.0)


@pytest.mark.parametrize(
    ("power", "separation", "epsilon", "exact"),
    [  # a hundred digits of the series, and incomplete gamma functions
        (99746.1897113699, 2.3144175428337955e-8, 0.39498847194625236, 3.97981370104e-85),
        (360322.2073116588, 5.137780295526646e-8, 0.6129408140515336, 4.15235251587e-24),
    ],
)
def test_sharp_edges_are_rounded_up_too(power, separation, epsilon, exact):
    found = float(GeneralizedGaussianCurve(separation, power).delta_at(epsilon))
    assert exact <= found <= 1e4 * exact  # panels on which the rules do not agree are bounded


@pytest.mark.parametrize("separation", [1e100, 1e154, 1e200])
@pytest.mark.parametrize("delta", [1e-6, 0.5])
def test_far_footpoints_have_an_epsilon(separation, delta):
    curve = GeneralizedGaussianCurve(separation, 1.5)
    assert curve.delta_at(curve.epsilon_at(delta)) <= delta
