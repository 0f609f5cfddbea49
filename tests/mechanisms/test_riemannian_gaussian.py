import math

import numpy as np
import pytest
from scipy import stats

from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import RiemannianGaussian
from riemdp.noise._spaces import LARGEST_DIM
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    GaussianCurve,
    IsotropicCurve,
    PureDP,
    delta_floor,
    gaussian_floor,
)
from riemdp.privacy._affine_invariant_curve import AffineInvariantGaussianCurve
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

CURVED = [Sphere(1), Sphere(2), Sphere(3, 4.0), Hyperbolic(2), Hyperbolic(3, -0.25)]


def neighbours(manifold, distance):
    """Two points at a distance."""
    base = manifold.origin
    step = distance * np.eye(manifold.dim)[0]
    return base, manifold.exp(base, manifold.tangent_vector(base, step))


@pytest.mark.parametrize("manifold", [Euclidean(2), SPDLogEuclidean(2), Hyperbolic(1)], ids=str)
def test_gaussian_is_gaussian_where_the_space_is_flat(manifold):
    mechanism = RiemannianGaussian.calibrate(manifold, 0.1, ApproxDP(1.0, 1e-6))
    assert mechanism.sigma == pytest.approx(0.4224678889, rel=2e-9)
    assert isinstance(mechanism.privacy(0.1), GaussianCurve)
    assert RiemannianGaussian.calibrate(manifold, 0.1, GDP(2.0)).sigma == pytest.approx(0.05)
    with pytest.raises(errors.InvalidBudgetError, match="RiemannianLaplace"):
        RiemannianGaussian.calibrate(manifold, 0.1, PureDP(1.0))


@pytest.mark.fast(2)
@pytest.mark.parametrize("manifold", CURVED, ids=str)
@pytest.mark.parametrize(
    "budget", [ApproxDP(1.0, 1e-6), GDP(0.7), ZCDP(0.1), RDP(8.0, 0.5), KLDP(0.1)], ids=str
)
def test_calibrated_noise_is_enough_and_hardly_more(manifold, budget):
    mechanism = RiemannianGaussian.calibrate(manifold, 0.2, budget)
    assert mechanism.satisfies(0.2, budget)
    assert not RiemannianGaussian(manifold, mechanism.sigma * 0.9999).satisfies(0.2, budget)
    assert not mechanism.satisfies(0.21, budget)


@pytest.mark.parametrize(
    ("manifold", "budget", "sigma"),
    [
        (Sphere(2), GDP(1.0), 0.86602276842),
        (Hyperbolic(2), GDP(1.0), 1.25632249795),
        (Sphere(2), ApproxDP(1.0, 1e-6), 1.60796925545),
        (Sphere(9), ApproxDP(1.0, 1e-6), 1.36038761925),
        (Sphere(2), PureDP(0.5), math.sqrt(2.0 * math.pi - 1.0)),
        (Sphere(1), PureDP(0.5), math.sqrt(2.0 * math.pi - 1.0)),
    ],
    ids=str,
)
def test_known_scales(manifold, budget, sigma):
    found = RiemannianGaussian.calibrate(manifold, 1.0, budget).sigma
    assert sigma * (1.0 - 1e-11) <= found <= sigma * (1.0 + 3e-9)


@pytest.mark.fast(3)
@pytest.mark.parametrize("manifold", CURVED, ids=str)
def test_draws_have_the_privacy_that_is_claimed(manifold):
    # the hockey-stick divergence estimated from draws is delta, by the densities alone
    sensitivity, sigma, draws = 0.5, 0.4, 50_000
    mechanism = RiemannianGaussian(manifold, sigma)
    first, second = neighbours(manifold, sensitivity)
    points = research.sample(mechanism, first, draws, np.random.default_rng(3))
    loss = mechanism.log_density(points, first) - mechanism.log_density(points, second)
    curve = mechanism.privacy(sensitivity)
    assert isinstance(curve, IsotropicCurve)
    for epsilon in (0.0, 0.5, 2.0):
        excess = np.maximum(0.0, -np.expm1(epsilon - loss))
        error = 4.0 * np.std(excess) / math.sqrt(draws)
        assert np.mean(excess) == pytest.approx(curve.delta_at(epsilon), abs=error)
    assert np.mean(np.maximum(0.0, -np.expm1(-loss))) > mechanism.privacy(0.9 * 0.5).delta_at(0.0)


def test_pure_epsilon_is_the_largest_loss_on_the_sphere():
    manifold, sensitivity = Sphere(2), 0.7
    mechanism = RiemannianGaussian.calibrate(manifold, sensitivity, PureDP(0.8))
    first, second = neighbours(manifold, sensitivity)
    points = research.sample(mechanism, first, 20_000, np.random.default_rng(0))
    points[0] = -second  # the antipode
    loss = mechanism.log_density(points, first) - mechanism.log_density(points, second)
    assert 0.8 * (1.0 - 1e-9) < np.max(np.abs(loss)) <= 0.8 * (1.0 + 1e-12)
    assert np.all(mechanism.privacy(sensitivity).delta_at([0.8, 1.0]) == 0.0)


def test_unattainable_budgets_name_the_floor():
    manifold = Hyperbolic(3)
    for budget, floor in [
        (GDP(1.0), gaussian_floor(3, -1.0, 1.0)),
        (ApproxDP(0.5, 1e-6), delta_floor(3, -1.0, 1.0, 0.5)),
    ]:
        with pytest.raises(errors.NotAttainableError, match="tangent-gaussian") as caught:
            RiemannianGaussian.calibrate(manifold, 1.0, budget)
        assert f"tends to {floor:.6g}, not to 0" in str(caught.value)
        assert "smaller ball" in str(caught.value)
    # above the floor it works, and a sensitivity ten times smaller has another floor
    assert RiemannianGaussian.calibrate(manifold, 1.0, GDP(1.3)).satisfies(1.0, GDP(1.3))
    assert RiemannianGaussian.calibrate(manifold, 0.1, GDP(1.0)).sigma < 0.2
    # just above it the search ends, too
    with pytest.raises(errors.NotAttainableError, match="tangent-gaussian"):
        RiemannianGaussian.calibrate(
            Hyperbolic(3), 4.0, GDP(gaussian_floor(3, -1.0, 4.0) * (1.0 + 1e-12))
        )


def test_what_has_no_curve_is_named():
    with pytest.raises(errors.InvalidParameterError, match=r"below 3\.14159"):
        RiemannianGaussian.calibrate(Sphere(2), 3.2, GDP(1.0))
    with pytest.raises(errors.InvalidParameterError, match=r"below 1\.5708"):
        RiemannianGaussian(Sphere(2, 4.0), 1.0).privacy(1.6)
    high = Sphere(LARGEST_DIM + 1)
    for call in (
        lambda: RiemannianGaussian(high, 0.1).privacy(0.1),
        lambda: RiemannianGaussian.calibrate(high, 0.1, ApproxDP(1.0, 1e-6)),
    ):
        with pytest.raises(errors.UnsupportedManifoldError, match=r"RiemannianLaplace.*TangentGau"):
            call()
    with pytest.raises(errors.InvalidBudgetError, match="no pure epsilon"):
        RiemannianGaussian.calibrate(Hyperbolic(2), 0.1, PureDP(1.0))


def test_wide_noise_on_a_sphere_is_uniform():
    # sigma many times the sphere: draws stay exact, and nearly uniform
    mechanism = RiemannianGaussian.calibrate(Sphere(2), 1.0, GDP(1e-3))
    assert mechanism.sigma > 30.0
    points = research.sample(mechanism, [0.0, 0.0, 1.0], 50_000, np.random.default_rng(2))
    assert stats.kstest(points[:, 2], stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-4
    angle = np.arctan2(points[:, 1], points[:, 0])
    assert stats.kstest(angle, stats.uniform(-math.pi, 2.0 * math.pi).cdf).pvalue > 1e-4
    narrow = RiemannianGaussian(Sphere(2), 2.0)
    points = research.sample(narrow, [0.0, 0.0, 1.0], 50_000, np.random.default_rng(2))
    assert stats.kstest(points[:, 2], stats.uniform(-1.0, 2.0).cdf).pvalue < 1e-4


def test_flat_formula_would_be_wrong_on_curved_spaces():
    # P(closer to the first footpoint) on H^2: the exact curve is worse than sensitivity / sigma
    manifold, sigma, sensitivity = Hyperbolic(2), 1.0, 1.0
    first, second = neighbours(manifold, sensitivity)
    points = research.sample(
        RiemannianGaussian(manifold, sigma), first, 50_000, np.random.default_rng(4)
    )
    right = np.mean(manifold.dist(first, points) < manifold.dist(second, points))
    flat = stats.norm.cdf(0.5 * sensitivity / sigma)
    assert right > flat + 4.0 * math.sqrt(0.25 / 50_000)
    assert right == pytest.approx(stats.norm.cdf(0.5 * 1.161223865), abs=4 * math.sqrt(0.25 / 5e4))


@pytest.mark.parametrize("budget", [ApproxDP(1.0, 1e-6), GDP(1.0), PureDP(1.0)], ids=str)
@pytest.mark.parametrize("sensitivity", [math.pi, 7.0])
def test_a_sensitivity_beyond_the_sphere_is_refused(budget, sensitivity):
    for manifold in (Sphere(1), Sphere(2)):
        with pytest.raises(errors.InvalidParameterError, match=r"sensitivity must be below 3\.14"):
            RiemannianGaussian.calibrate(manifold, sensitivity, budget)


def test_matrices_of_size_two_have_the_exact_curve_and_larger_ones_a_bound():
    small, large = (RiemannianGaussian(SPDAffineInvariant(k), 0.3) for k in (2, 3))
    assert type(small.privacy(0.1)) is IsotropicCurve
    assert type(large.privacy(0.1)) is AffineInvariantGaussianCurve
    for k in (2, 3):
        mechanism = RiemannianGaussian.calibrate(SPDAffineInvariant(k), 0.1, GDP(0.5))
        assert mechanism.privacy(0.1).mu() <= 0.5
        assert mechanism.privacy(0.1 * (1.0 + 1e-6)).mu() > 0.5


def test_an_angle_where_only_mu_is_known():
    mechanism = RiemannianGaussian(SPDAffineInvariant(3), 0.3)
    mu = mechanism.privacy(0.25).mu()
    angle = 2.0 * math.acos(math.exp(-(mu**2) / 8.0))
    assert mechanism.rao(0.25, "angle").theta == pytest.approx(angle, rel=1e-12)
    parametric = mechanism.rao(0.25, "parametric")
    assert parametric.distance == "parametric"
    assert parametric.theta == pytest.approx(mu, rel=1e-9)
