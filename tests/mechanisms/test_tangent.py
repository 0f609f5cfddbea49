import math

import numpy as np
import pytest
from scipy import stats

from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import TangentGaussian, TangentLaplace
from riemdp.privacy import ApproxDP, PureDP, gaussian_delta
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

SPACES = [
    Euclidean(3),
    SPDLogEuclidean(2),
    Sphere(2),
    Sphere(2, 4.0),
    Hyperbolic(2),
    Hyperbolic(1),
    SPDAffineInvariant(2),
]
CURVED = [manifold for manifold in SPACES if not isinstance(manifold, (Euclidean, SPDLogEuclidean))]
every_space = pytest.mark.parametrize("manifold", SPACES, ids=str)
every_curved = pytest.mark.parametrize("manifold", CURVED, ids=str)
both = pytest.mark.parametrize("kind", [TangentGaussian, TangentLaplace])


def hockey_stick(mechanism, first, second, epsilon, seed):
    """Monte Carlo mean and error of the hockey-stick divergence between two laws of draws."""
    points = research.sample(mechanism, first, 50_000, np.random.default_rng(seed))
    loss = mechanism.log_density(points, first) - mechanism.log_density(points, second)
    excess = np.maximum(0.0, -np.expm1(epsilon - loss))
    return np.mean(excess), 4.0 * np.std(excess) / math.sqrt(excess.size)


@pytest.mark.fast(1)
@every_space
def test_gaussian_draws_have_exactly_the_curve(manifold, base_of, neighbours):
    sensitivity, sigma = 0.2, 0.15
    mechanism = TangentGaussian(manifold, sigma, base=base_of(manifold))
    first, second = neighbours(manifold, sensitivity)
    curve = mechanism.privacy(sensitivity)
    assert curve.mu() == pytest.approx(sensitivity / sigma)
    for epsilon in (0.0, 1.0, 2.0):
        mean, error = hockey_stick(mechanism, first, second, epsilon, 21)
        if abs(mean - curve.delta_at(epsilon)) > error:
            mean, error = hockey_stick(mechanism, first, second, epsilon, 22)
        assert mean == pytest.approx(float(curve.delta_at(epsilon)), abs=error)
        # the same draws break the claim of half the sensitivity, and half the noise the claim
        assert mean > mechanism.privacy(0.5 * sensitivity).delta_at(epsilon) + error
        less = TangentGaussian(manifold, 0.5 * sigma, base=base_of(manifold))
        mean, error = hockey_stick(less, first, second, epsilon, 23)
        assert mean > curve.delta_at(epsilon) + error


@pytest.mark.fast(3)
@every_space
def test_laplace_density_ratio_is_epsilon_and_not_less(manifold, base_of, near, neighbours):
    sensitivity, sigma = 0.3, 0.4
    mechanism = TangentLaplace(manifold, sigma, base=base_of(manifold))
    epsilon = mechanism.privacy(sensitivity).pure_epsilon()
    assert epsilon == pytest.approx(0.75)
    first, second = neighbours(manifold, sensitivity)
    random = np.random.default_rng(2)
    spread = random.uniform(-0.7, 0.7, (20_000, manifold.dim))
    spread[:2000, 1:] = 0.1  # on the line through the two tangent vectors
    points = near(manifold, spread)

    def largest(law):
        return np.max(np.abs(law.log_density(points, first) - law.log_density(points, second)))

    assert largest(mechanism) <= epsilon * (1.0 + 1e-9)
    assert largest(TangentLaplace(manifold, 0.5 * sigma, base=base_of(manifold))) > epsilon
    assert largest(mechanism) > 1.9 * mechanism.privacy(0.5 * sensitivity).pure_epsilon()


@pytest.mark.fast(3)
@every_space
@both
def test_noise_in_the_tangent_space_follows_the_error_law(
    kind, manifold, base_of, near, coordinates_of
):
    mechanism = kind(manifold, 0.1, base=base_of(manifold))
    centre = 0.2 * np.ones(manifold.dim)
    footpoint = near(manifold, centre)
    for seed in (31, 32):
        points = research.sample(mechanism, footpoint, 20_000, np.random.default_rng(seed))
        noise = coordinates_of(manifold, points) - centre
        length = np.linalg.norm(noise, axis=-1)
        if stats.kstest(length, mechanism._distance_law.cdf).pvalue > 1e-4:
            break
    else:
        pytest.fail("the noise does not follow the radial law")
    error = 4.0 * np.std(length) / math.sqrt(length.size)
    assert np.mean(length) == pytest.approx(mechanism.expected_distance(), abs=error)
    share = np.mean(length <= mechanism.error_quantile(0.95))
    assert share == pytest.approx(0.95, abs=4.0 * math.sqrt(0.05 * 0.95 / length.size))
    spread = np.std(noise, axis=0) / math.sqrt(noise.shape[0])
    assert np.all(np.abs(np.mean(noise, axis=0)) < 5.0 * spread)


def test_error_in_closed_form(base_of):
    base = base_of(Sphere(2))
    assert TangentLaplace(Sphere(2), 0.2, base=base).expected_distance() == pytest.approx(0.4)
    gaussian = TangentGaussian(Sphere(2), 0.2, base=base)
    assert gaussian.expected_distance() == pytest.approx(0.2 * math.sqrt(math.pi / 2.0))


def test_distance_against_the_length_of_the_noise(base_of, near):
    # no longer on the sphere, longer on hyperbolic space
    for manifold, sign in ((Sphere(2), -1.0), (Hyperbolic(2), 1.0)):
        mechanism = TangentGaussian(manifold, 0.3, base=base_of(manifold))
        footpoint = near(manifold, np.array([0.8, 0.0]))
        points = research.sample(mechanism, footpoint, 50_000, np.random.default_rng(6))
        dist = manifold.dist(footpoint, points)
        gap = np.mean(dist) - mechanism.expected_distance()
        assert sign * gap > 4.0 * np.std(dist) / math.sqrt(dist.size)


def test_log_density_is_that_of_the_tangent_vector(base_of, near):
    manifold = Sphere(2)
    mechanism = TangentGaussian(manifold, 0.3, base=base_of(manifold))
    first, second = np.array([0.1, 0.2]), np.array([-0.3, 0.4])
    expected = stats.multivariate_normal(first, 0.09 * np.eye(2)).logpdf(second)
    found = mechanism.log_density(near(manifold, second), near(manifold, first))
    assert found == pytest.approx(expected, rel=1e-12)
    laplace = TangentLaplace(manifold, 0.3, base=base_of(manifold))
    found = laplace.log_density(near(manifold, second), near(manifold, first))
    length = math.hypot(0.4, 0.2)
    assert found == pytest.approx(-length / 0.3 - math.log(2 * math.pi * 0.09), rel=1e-12)


def test_analytic_against_classical():
    budget = ApproxDP(0.5, 1e-6)
    analytic = TangentGaussian.calibrate(Euclidean(2), 1.0, budget)
    classical = TangentGaussian.calibrate(Euclidean(2), 1.0, budget, method="classical")
    assert classical.sigma == pytest.approx(math.sqrt(2 * math.log(1.25e6)) / 0.5, rel=1e-14)
    assert analytic.sigma < 0.81 * classical.sigma
    assert classical.privacy(1.0).satisfies(budget)
    # less noise than the analytic amount breaks the budget
    assert gaussian_delta(1.0 / (0.999 * analytic.sigma), 0.5) > 1e-6
    with pytest.raises(errors.InvalidBudgetError, match="epsilon < 1 only"):
        TangentGaussian.calibrate(Euclidean(2), 1.0, ApproxDP(1.0, 1e-6), method="classical")
    with pytest.raises(errors.InvalidParameterError, match="analytic"):
        TangentGaussian.calibrate(Euclidean(2), 1.0, budget, method="magic")


def test_reference_scale(base_of):
    base = base_of(SPDAffineInvariant(2))
    mechanism = TangentGaussian.calibrate(
        SPDAffineInvariant(2), 1.0, ApproxDP(1.0, 1e-6), base=base
    )
    assert mechanism.sigma == pytest.approx(4.224678889, rel=2e-9)
    with pytest.raises(errors.InvalidBudgetError, match="TangentLaplace or RiemannianLaplace"):
        TangentGaussian.calibrate(SPDAffineInvariant(2), 1.0, PureDP(1.0), base=base)
