import itertools
import math

import numpy as np
import pytest
import scipy
from scipy import stats

from riemdp import _errors as errors
from riemdp.mechanisms import RiemannianLaplace, TangentGaussian
from riemdp.privacy import (
    GDP,
    ApproxDP,
    GaussianCurve,
    PureCurve,
    PureDP,
    RaoDP,
)
from riemdp.research import GeneralizedGaussian
from riemdp.research._generalized_gaussian import PowerLaw
from riemdp.spaces import Euclidean

POWERS = [0.75, 1.0, 1.3, 2.0, 3.0, 4.0]


def density(mechanism, x, footpoint=0.0):
    return math.exp(mechanism.log_density(np.array([x]), np.array([footpoint])))


def integral(function, *, end=80.0, points=(0.0,)):
    edges = [-end, *sorted(points), end]
    return sum(
        scipy.integrate.quad(function, a, b, limit=400, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(edges)
    )


@pytest.mark.fast(3)
@pytest.mark.parametrize("power", POWERS)
def test_information_against_numerical_integration(power):
    """Mean square of the numerical derivative of the log density."""
    mechanism, sigma = GeneralizedGaussian(0.6, power), 0.6
    assert integral(lambda x: density(mechanism, x)) == pytest.approx(1.0, rel=1e-9)
    step = 1e-6

    # x = v^4 (half the line) opens the cusp that the score has at 0 under power 1
    def integrand(v):
        x = v**4
        gap = np.array([[x + step * x], [x - step * x]])
        high, low = mechanism.log_density(gap, np.zeros(1))
        score = (high - low) / (2.0 * step * x)
        return 2.0 * score**2 * density(mechanism, x) * 4.0 * v**3

    measured = scipy.integrate.quad(integrand, 1e-9, 80.0**0.25, limit=400)[0]
    information = PowerLaw(sigma, power).fisher_information()
    assert information == pytest.approx(measured, rel=1e-6)
    assert 0.5 * information != pytest.approx(measured, rel=0.1)
    theta = mechanism.rao(0.3, "parametric").theta
    assert theta == pytest.approx(0.3 * math.sqrt(measured), rel=1e-6)


@pytest.mark.fast(2)
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("sensitivity", [0.05, 0.5, 2.0])
def test_angle_against_numerical_integration(power, sensitivity):
    mechanism = GeneralizedGaussian(0.6, power)
    affinity = integral(
        lambda x: math.sqrt(density(mechanism, x) * density(mechanism, x, sensitivity)),
        points=(0.0, 0.5 * sensitivity, sensitivity),
    )
    exact = 2.0 * math.acos(affinity)
    claimed = mechanism.rao(sensitivity, "angle").theta
    assert exact <= claimed + 1e-6
    if power in (1.0, 2.0):
        assert claimed == pytest.approx(exact, abs=1e-6)
    assert exact > mechanism.rao(0.5 * sensitivity, "angle").theta or claimed == math.pi


@pytest.mark.fast(2)
@pytest.mark.parametrize("power", [0.3, 0.75, 1.0, 2.0, 4.0, 60.0])
def test_draws_follow_the_law(power):
    mechanism = GeneralizedGaussian(0.7, power)
    reference = stats.gennorm(power, loc=1.5, scale=0.7)
    for seed in (3, 4):
        draws = mechanism.sample([1.5], 50_000, np.random.default_rng(seed))
        assert draws.shape == (50_000, 1)
        if stats.kstest(draws[:, 0], reference.cdf).pvalue > 1e-4:
            break
    else:
        pytest.fail("draws do not follow the law")
    wrong = stats.gennorm(power, loc=1.5, scale=0.9)
    assert stats.kstest(draws[:, 0], wrong.cdf).pvalue < 1e-4
    grid = np.linspace(-1.0, 3.0, 9)
    logs = mechanism.log_density(grid[:, None], [1.5])
    assert logs == pytest.approx(reference.logpdf(grid), rel=1e-12)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 5.0])
def test_error_law(power):
    mechanism = GeneralizedGaussian(0.7, power)
    end = float(mechanism.error_quantile(1.0 - 1e-13))
    mean = scipy.integrate.quad(lambda x: 2.0 * x * density(mechanism, x), 0.0, end, limit=200)[0]
    assert mechanism.expected_distance() == pytest.approx(mean, rel=1e-7)
    for q in (0.01, 0.5, 0.95, 0.9999):
        reference = stats.gennorm(power, scale=0.7).ppf(0.5 + 0.5 * q)
        assert mechanism.error_quantile(q) == pytest.approx(reference, rel=1e-9)
    with pytest.raises(errors.InvalidParameterError, match="probabilities"):
        mechanism.error_quantile(1.5)


def test_batches_and_balls():
    mechanism = GeneralizedGaussian(0.1, 3.0)
    assert mechanism.manifold == Euclidean(1)
    assert mechanism.sample(np.zeros((2, 1)), (4, 3)).shape == (4, 3, 2, 1)
    assert mechanism.log_density(np.zeros((5, 1, 1)), np.zeros((3, 1))).shape == (5, 3)
    assert repr(mechanism) == "GeneralizedGaussian(sigma=0.1, power=3.0)"
    assert mechanism == GeneralizedGaussian(0.1, 3)
    assert mechanism != GeneralizedGaussian(0.1, 2.0)


@pytest.mark.parametrize("power", [0.3, 0.75, 1.0])
def test_pure_epsilon_up_to_power_one(power):
    """The largest privacy loss on a fine grid, reached at a footpoint."""
    mechanism = GeneralizedGaussian(0.6, power)
    grid = np.concatenate([np.linspace(-3.0, 3.0, 6001), [0.0, 0.4]])[:, None]
    loss = np.abs(mechanism.log_density(grid, [0.0]) - mechanism.log_density(grid, [0.4]))
    epsilon = mechanism.privacy(0.4).pure_epsilon()
    assert isinstance(mechanism.privacy(0.4), PureCurve) is (power == 1.0)
    assert 0.999999 * epsilon < np.max(loss) <= epsilon
    assert np.max(loss) > mechanism.privacy(0.2).pure_epsilon()


def test_special_powers_are_the_known_mechanisms():
    laplace, gaussian = GeneralizedGaussian(0.6, 1.0), GeneralizedGaussian(0.6, 2.0)
    line = Euclidean(1)
    for distance in ("angle", "parametric"):
        same = RiemannianLaplace(line, 0.6).rao(0.4, distance).theta
        assert laplace.rao(0.4, distance).theta == pytest.approx(same, rel=1e-12)
        same = TangentGaussian(line, 0.6 / math.sqrt(2.0)).rao(0.4, distance).theta
        assert gaussian.rao(0.4, distance).theta == pytest.approx(same, rel=1e-12)
    assert isinstance(gaussian.privacy(0.4), GaussianCurve)
    assert gaussian.privacy(0.4).mu() == pytest.approx(0.4 / 0.6 * math.sqrt(2.0), rel=1e-12)


@pytest.mark.parametrize("power", [1.5, 3.0])
def test_above_power_one_there_is_no_pure_epsilon(power):
    assert GeneralizedGaussian(0.6, power).privacy(0.3).pure_epsilon() == math.inf
    with pytest.raises(errors.InvalidBudgetError, match="no pure epsilon"):
        GeneralizedGaussian.calibrate(0.3, PureDP(1.0), power=power)


def test_infinite_information_up_to_power_one_half():
    mechanism = GeneralizedGaussian(0.6, 0.5)
    assert PowerLaw(0.6, 0.5).fisher_information() == math.inf
    with pytest.raises(errors.NotAttainableError, match="above 1/2"):
        mechanism.rao(0.3, "parametric")
    with pytest.raises(errors.NotAttainableError, match="above 1/2"):
        GeneralizedGaussian.calibrate(0.3, RaoDP(1.0, distance="parametric"), power=0.4)
    budget = RaoDP(1.0, distance="angle")
    assert GeneralizedGaussian.calibrate(0.3, budget, power=0.4).satisfies(0.3, budget)


@pytest.mark.parametrize("power", [0.0, -1.0, math.nan, math.inf])
def test_power_outside_its_domain(power):
    with pytest.raises(errors.InvalidParameterError, match="power"):
        GeneralizedGaussian(0.5, power)
    with pytest.raises(errors.InvalidParameterError, match="power"):
        GeneralizedGaussian.calibrate(0.3, RaoDP(1.0, distance="angle"), power=power)


@pytest.mark.parametrize("bad", ["1", "a", True, None, [1.0], np.ones(2), 10**400, 0.0, math.inf])
def test_a_power_that_is_no_positive_number_is_refused(bad):
    with pytest.raises(errors.InvalidParameterError, match="power"):
        GeneralizedGaussian(1.0, bad)


def test_a_density_that_underflows_is_zero():
    assert GeneralizedGaussian(1.0, 1000.0).log_density([30.0], [0.0]) == -math.inf


@pytest.mark.parametrize("power", [0.0099, 0.001, 1e-300])
def test_a_power_whose_law_leaves_float64_is_refused(power):
    with pytest.raises(errors.InvalidParameterError, match=r"at least 0.01, got .* nearer to 1"):
        GeneralizedGaussian(0.5, power)
    with pytest.raises(errors.InvalidParameterError, match=r"at least 0.01"):
        GeneralizedGaussian.calibrate(0.5, PureDP(1.0), power=power)


def test_the_least_power_stays_in_float64():
    mechanism = GeneralizedGaussian(1.0, 0.01)
    assert mechanism.expected_distance() < 1e217
    assert mechanism.error_quantile(1.0 - 1e-15) < 1e240
    assert 100.0 * math.log10(scipy.special.gammainccinv(101.0, 1e-30)) < 243.0


# In more dimensions.


@pytest.mark.fast(2)
@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("power", [0.4, 1.0, 1.5, 3.0])
def test_lengths_and_information_in_more_dimensions(power, dim):
    mechanism = GeneralizedGaussian(0.7, power, dim)
    assert mechanism.manifold == Euclidean(dim)
    law = PowerLaw(0.7, power, dim)
    area = 2.0 * math.pi ** (0.5 * dim) / math.gamma(0.5 * dim)

    def density(r):
        point = np.zeros(dim)
        point[0] = r
        log_density = float(mechanism.log_density(point, np.zeros(dim)))
        return area * r ** (dim - 1) * math.exp(log_density)

    def mean(function):  # r = v^4 opens the cusp at the footpoint
        end = float(law.quantile(1.0 - 1e-15)) ** 0.25
        return scipy.integrate.quad(
            lambda v: function(v**4) * density(v**4) * 4.0 * v**3, 0.0, end, limit=400
        )[0]

    assert mean(lambda r: 1.0) == pytest.approx(1.0, rel=1e-8)
    assert mechanism.expected_distance() == pytest.approx(mean(lambda r: r), rel=1e-8)
    slope = power / 0.7**power
    information = mean(lambda r: (slope * r ** (power - 1.0)) ** 2) / dim
    assert law.fisher_information() == pytest.approx(information, rel=1e-7)
    theta = mechanism.rao(0.2, "parametric").theta
    assert theta == pytest.approx(0.2 * math.sqrt(information), rel=1e-6)
    assert mechanism.rao(0.2, "angle").theta <= theta


def test_a_law_in_more_dimensions_is_the_known_one():
    for distance in ("angle", "parametric"):
        same = RiemannianLaplace(Euclidean(3), 0.6).rao(0.4, distance).theta
        found = GeneralizedGaussian(0.6, 1.0, 3).rao(0.4, distance).theta
        assert found == pytest.approx(same, rel=1e-12)
        same = TangentGaussian(Euclidean(3), 0.6 / math.sqrt(2.0)).rao(0.4, distance).theta
        found = GeneralizedGaussian(0.6, 2.0, 3).rao(0.4, distance).theta
        assert found == pytest.approx(same, rel=1e-12)
    near = GeneralizedGaussian(0.6, 1.0 + 1e-9, 3).rao(0.4, "parametric").theta
    assert near == pytest.approx(0.4 / 0.6 / math.sqrt(3.0), rel=1e-7)


@pytest.mark.parametrize("power", [0.4, 3.0])
def test_draws_in_more_dimensions(power):
    mechanism = GeneralizedGaussian(0.7, power, 3)
    for seed in (3, 4):
        draws = mechanism.sample([1.0, 0.0, 0.0], (2, 10_000), np.random.default_rng(seed))
        noise = draws.reshape(-1, 3) - [1.0, 0.0, 0.0]
        length = np.linalg.norm(noise, axis=1)
        gamma = stats.gamma(3.0 / power)
        values = [stats.kstest((length / 0.7) ** power, gamma.cdf).pvalue]
        values += [
            stats.kstest(noise[:, i] / length, "uniform", (-1.0, 2.0)).pvalue for i in (0, 2)
        ]
        if min(values) > 1e-4:
            break
    else:
        pytest.fail("draws do not follow the law")
    assert stats.kstest((length / 0.7) ** power, stats.gamma(2.0 / power).cdf).pvalue < 1e-4


def test_privacy_in_more_dimensions():
    """The pure epsilon up to power 1, reached at a footpoint; the Gaussian; else none."""
    mechanism = GeneralizedGaussian(0.6, 0.5, 2)
    points = np.random.default_rng(1).normal(size=(20_000, 2))
    points[0] = 0.0
    loss = mechanism.log_density(points, [0.0, 0.0]) - mechanism.log_density(points, [0.3, 0.0])
    epsilon = mechanism.privacy(0.3).pure_epsilon()
    assert np.max(np.abs(loss)) == pytest.approx(epsilon, rel=1e-12)
    assert np.max(np.abs(loss)) <= epsilon
    assert GeneralizedGaussian(0.6, 2.0, 2).privacy(0.3) == GeneralizedGaussian(0.6, 2.0).privacy(
        0.3
    )
    with pytest.raises(errors.UnsupportedError, match=r"no privacy curve .* in dimension 2"):
        GeneralizedGaussian(0.6, 1.5, 2).privacy(0.3)
    for budget in (ApproxDP(1.0, 1e-5), GDP(1.0)):
        with pytest.raises(errors.InvalidBudgetError, match=r"in dimension 2 .* RaoDP only"):
            GeneralizedGaussian.calibrate(0.3, budget, power=1.5, dim=2)
    for budget in (PureDP(1.0), GDP(1.0), RaoDP(0.4, distance="parametric")):
        power = 0.5 if isinstance(budget, PureDP) else 2.0
        found = GeneralizedGaussian.calibrate(0.3, budget, power=power, dim=2)
        assert found.satisfies(0.3, budget)
        assert not GeneralizedGaussian(0.999 * found.sigma, power, 2).satisfies(0.3, budget)
    assert repr(found) == f"GeneralizedGaussian(sigma={found.sigma}, power=2.0, dim=2)"
    with pytest.raises(errors.InvalidParameterError, match="dim"):
        GeneralizedGaussian(0.6, 1.5, 0)
