import math

import numpy as np
import pytest
from scipy import stats

from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.noise._spaces import LARGEST_DIM
from riemdp.privacy import (
    GDP,
    ZCDP,
    ApproxDP,
    IsotropicCurve,
    PureCurve,
    PureDP,
    affordable_epsilon,
    delta_floor,
    gaussian_floor,
)
from riemdp.research import RestrictedLaplace
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDLogEuclidean,
    Sphere,
)

LAPLACE_SPACES = [
    Euclidean(3),
    Sphere(2),
    Sphere(3, 4.0),
    Sphere(1),
    Hyperbolic(2),
    Hyperbolic(3, -0.25),
    SPDLogEuclidean(2),
]


def center(manifold):
    if isinstance(manifold, Euclidean):
        return np.zeros(manifold.dim)
    if isinstance(manifold, SPDLogEuclidean):
        return np.eye(manifold.k)
    point = np.zeros(manifold.dim + 1)
    point[0] = 1.0 / math.sqrt(abs(manifold.curvature))
    return point


def near(manifold, coordinates):
    base = center(manifold)
    return manifold.exp(base, manifold.tangent_vector(base, coordinates))


def neighbours(manifold, distance):
    """Two footpoints at a distance, symmetric about the centre."""
    half = 0.5 * distance * np.eye(manifold.dim)[0]
    return near(manifold, -half), near(manifold, half)


def scattered(manifold, radius, count=20_000, seed=0):
    """Points around the centre, with some on the geodesic through the neighbours."""
    random = np.random.default_rng(seed)
    coordinates = random.standard_normal((count, manifold.dim))
    coordinates[: count // 10, 1:] = 0.0
    coordinates *= (
        radius * random.random((count, 1)) / np.linalg.norm(coordinates, axis=-1)[:, None]
    )
    return near(manifold, coordinates)


def largest_loss(mechanism, first, second, points):
    return np.max(
        np.abs(mechanism.log_density(points, first) - mechanism.log_density(points, second))
    )


@pytest.mark.parametrize("manifold", LAPLACE_SPACES, ids=str)
def test_laplace_density_ratio_is_epsilon_and_not_less(manifold):
    sensitivity, sigma = 0.3, 0.4
    mechanism = RiemannianLaplace(manifold, sigma)
    epsilon = mechanism.privacy(sensitivity).pure_epsilon()
    assert epsilon == pytest.approx(0.75)
    first, second = neighbours(manifold, sensitivity)
    points = scattered(manifold, min(1.0, 0.9 * manifold.injectivity_radius))
    loss = largest_loss(mechanism, first, second, points)
    assert loss <= epsilon * (1.0 + 1e-9)
    # half the noise, or a sensitivity said to be half of what it is, breaks the bound
    assert largest_loss(RiemannianLaplace(manifold, 0.5 * sigma), first, second, points) > epsilon
    assert loss > mechanism.privacy(0.5 * sensitivity).pure_epsilon() * 1.9


@pytest.mark.fast(3)
@pytest.mark.parametrize("manifold", LAPLACE_SPACES, ids=str)
def test_laplace_draws_have_the_privacy_that_is_claimed(manifold):
    # The hockey-stick divergence estimated from draws lies under the curve of pure DP.
    sensitivity, sigma, draws = 0.3, 0.2, 50_000
    mechanism = RiemannianLaplace(manifold, sigma)
    first, second = neighbours(manifold, sensitivity)
    points = research.sample(mechanism, first, draws, np.random.default_rng(3))
    loss = mechanism.log_density(points, first) - mechanism.log_density(points, second)
    for epsilon in (0.0, 0.5, 1.0):
        excess = np.maximum(0.0, -np.expm1(epsilon - loss))
        error = 4.0 * np.std(excess) / math.sqrt(draws)
        assert np.mean(excess) < mechanism.privacy(sensitivity).delta_at(epsilon) + error
    claimed = RiemannianLaplace(manifold, 3.0 * sigma).privacy(sensitivity).delta_at(0.0)
    assert np.mean(np.maximum(0.0, -np.expm1(-loss))) > claimed


@pytest.mark.fast(3)
@pytest.mark.parametrize("manifold", LAPLACE_SPACES, ids=str)
@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
def test_distances_of_draws_follow_the_error_law(kind, manifold):
    mechanism = kind(manifold, 0.3)
    footpoint = near(manifold, 0.2 * np.ones(manifold.dim))
    for seed in (11, 12):
        points = research.sample(mechanism, footpoint, 20_000, np.random.default_rng(seed))
        dist = manifold.dist(footpoint, points)
        if stats.kstest(dist, mechanism._distance_law.cdf).pvalue > 1e-4:
            break
    else:
        pytest.fail("distances do not follow the radial law")
    error = 4.0 * np.std(dist) / math.sqrt(dist.size)
    assert np.mean(dist) == pytest.approx(mechanism.expected_distance(), abs=error)
    share = np.mean(dist <= mechanism.error_quantile(0.95))
    assert share == pytest.approx(0.95, abs=4.0 * math.sqrt(0.05 * 0.95 / dist.size))


def test_flat_error_in_closed_form():
    assert RiemannianLaplace(Euclidean(5), 0.2).expected_distance() == pytest.approx(1.0)
    gaussian = RiemannianGaussian(Euclidean(2), 0.2)
    assert gaussian.expected_distance() == pytest.approx(0.2 * math.sqrt(math.pi / 2.0))
    assert gaussian.error_quantile(0.95) == pytest.approx(0.2 * math.sqrt(-2.0 * math.log(0.05)))


def test_calibration_to_each_budget():
    for budget, sigma in [
        (PureDP(0.5), 0.2),
        (ApproxDP(0.5, 1e-6), 0.199937303),
        (ZCDP(0.125, 0.3), 0.155292),
        (GDP(1.0), 0.0742240),
    ]:
        mechanism = RiemannianLaplace.calibrate(Sphere(2), 0.1, budget)
        assert mechanism.sigma == pytest.approx(sigma, rel=1e-4)
        assert mechanism.privacy(0.1).satisfies(budget)
        less = RiemannianLaplace(Sphere(2), mechanism.sigma * (1.0 - 1e-7))
        assert not less.privacy(0.1).satisfies(budget)


@pytest.mark.parametrize("manifold", LAPLACE_SPACES, ids=str)
@pytest.mark.parametrize("budget", [ApproxDP(1.0, 1e-3), GDP(0.8)], ids=str)
def test_own_curve_needs_less_noise_than_pure_epsilon(manifold, budget):
    mechanism = RiemannianLaplace.calibrate(manifold, 0.1, budget)
    through_pure = 0.1 / affordable_epsilon(budget)
    assert mechanism.sigma < through_pure * (1.0 - 1e-4)
    # the curve of any mechanism with this epsilon would not do
    assert not PureCurve(0.1 / mechanism.sigma).satisfies(budget)


def test_without_a_curve_pure_epsilon_is_what_is_stated():
    high = Euclidean(LARGEST_DIM + 1)
    mechanism = RiemannianLaplace.calibrate(high, 0.1, GDP(1.0))
    assert isinstance(mechanism.privacy(0.1), PureCurve)
    assert mechanism.sigma == pytest.approx(0.1 / affordable_epsilon(GDP(1.0)), rel=1e-11)
    sphere = RiemannianLaplace(Sphere(2), 0.5)
    assert isinstance(sphere.privacy(3.14), IsotropicCurve)
    assert isinstance(sphere.privacy(3.15), PureCurve)  # no two points are so far apart


def test_laplace_without_normaliser():
    manifold = Hyperbolic(3, -4.0)  # the limit is 1/(2 * 2)
    assert RiemannianLaplace(manifold, 0.2499).sigma == 0.2499
    with pytest.raises(errors.NotAttainableError, match=r"0\.25"):
        RiemannianLaplace(manifold, 0.25)
    assert RiemannianLaplace.calibrate(manifold, 0.1, PureDP(0.41)).sigma < 0.25
    with pytest.raises(errors.NotAttainableError, match=r"pure epsilon above 0\.4, got 0\.39"):
        RiemannianLaplace.calibrate(manifold, 0.1, PureDP(0.39))
    assert RiemannianLaplace.calibrate(manifold, 0.1, ApproxDP(0.39, 1e-2)).sigma < 0.25
    floor = delta_floor(3, -4.0, 0.1, 0.3)
    with pytest.raises(
        errors.NotAttainableError, match=rf"limit 0\.25, delta tends to {floor:.6g}"
    ):
        RiemannianLaplace.calibrate(manifold, 0.1, ApproxDP(0.3, 0.99 * floor))
    with pytest.raises(errors.NotAttainableError, match=r"limit 0\.25, mu tends to"):
        RiemannianLaplace.calibrate(manifold, 0.1, GDP(0.99 * gaussian_floor(3, -4.0, 0.1)))
    # restricted to a ball there is a normaliser for every sigma
    ball = Ball(manifold, center(manifold), 0.5)
    assert RestrictedLaplace.calibrate(manifold, 0.1, PureDP(0.39), ball=ball).sigma > 0.5


@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
def test_other_manifolds_name_what_works(kind, bumpy):
    with pytest.raises(errors.UnsupportedManifoldError, match=r"tangent-gaussian.*tangent-laplace"):
        kind(bumpy(2), 0.1)
    with pytest.raises(errors.UnsupportedManifoldError, match=r"tangent-gaussian.*tangent-laplace"):
        kind.calibrate(bumpy(2), 0.1, GDP(1.0))


def test_a_changed_sphere_is_not_taken_for_homogeneous():
    class Dented(Sphere):
        pass

    mechanism = RiemannianLaplace(Dented(2), 0.2)
    assert mechanism.privacy(0.1) == PureCurve(1.0)
    assert not mechanism.proven
    assert RiemannianLaplace.calibrate(Dented(2), 0.1, PureDP(1.0)).sigma == 0.2
    assert RiemannianLaplace(Sphere(2), 0.2).privacy(0.1).epsilon_at(0.0) == pytest.approx(0.5)


def test_noise_beyond_float64_on_a_sphere_is_not_attainable():
    with pytest.raises(errors.NotAttainableError):
        RiemannianLaplace.calibrate(Sphere(2), 1e75, PureDP(1e-240))


def test_shapes_that_do_not_broadcast_are_named():
    mechanism = RiemannianLaplace(Sphere(2), 1.0)
    with pytest.raises(errors.InvalidParameterError):
        mechanism.log_density(np.tile([0, 0, 1.0], (2, 1)), np.tile([0, 0, 1.0], (3, 1)))


def test_the_law_of_the_distance_is_that_of_draws():
    mechanism = RiemannianLaplace(Sphere(2), 0.3)
    law = mechanism.distance_law(Sphere(2).origin)
    draws = research.sample(mechanism, Sphere(2).origin, 5000, np.random.default_rng(0))
    assert stats.kstest(Sphere(2).dist(Sphere(2).origin, draws), law.cdf).pvalue > 1e-4
