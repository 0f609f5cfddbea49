import math

import numpy as np
import pytest
from scipy import stats

from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.noise import AffineInvariantLaw, IsotropicLaw, SpaceForm, family
from riemdp.noise._spaces import LARGEST_DIM, has_curve, isotropic_curve
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    AffineInvariantGaussianCurve,
    ApproxDP,
    GaussianCurve,
    IsotropicCurve,
    LaplaceCurve,
    PureCurve,
    PureDP,
    delta_floor,
    gaussian_delta,
    gaussian_floor,
)
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

KINDS = {"laplace": RiemannianLaplace, "gaussian": RiemannianGaussian}


def pair_of(k, distance, direction):
    """Two matrices at a distance, along a diagonal direction."""
    half = 0.5 * distance * np.asarray(direction) / np.linalg.norm(direction)
    return np.diag(np.exp(-half)), np.diag(np.exp(half))


def directions(k):
    single = np.full(k, -1.0)
    single[0] = k - 1.0
    return [np.arange(k) - 0.5 * (k - 1), single, np.ones(k)]


def losses(mechanism, first, second, draws, seed):
    points = research.sample(mechanism, first, draws, np.random.default_rng(seed))
    return mechanism.log_density(points, first) - mechanism.log_density(points, second)


def growth_of(manifold):
    return family("laplace", manifold).growth


def test_which_spaces_are_flat():
    for kind in KINDS:
        for manifold in (Euclidean(3), Hyperbolic(1), SPDAffineInvariant(1), SPDLogEuclidean(2)):
            assert family(kind, manifold).is_flat
        for manifold in (Sphere(1), Sphere(2), SPDAffineInvariant(2)):
            assert not family(kind, manifold).is_flat


def test_space_forms():
    forms = {
        ("laplace", Sphere(2, 4.0)): SpaceForm(2, 4.0, 0.5 * math.pi),
        ("gaussian", SPDAffineInvariant(1)): SpaceForm(1, 0.0, math.inf),
        ("gaussian", SPDAffineInvariant(2)): SpaceForm(2, -0.5, math.inf),
        ("laplace", SPDAffineInvariant(2)): None,
        ("gaussian", SPDAffineInvariant(3)): None,
    }
    for (kind, manifold), form in forms.items():
        assert family(kind, manifold).form == form


def test_laws():
    assert isinstance(family("laplace", Sphere(2)).law(0.1), IsotropicLaw)
    assert isinstance(family("laplace", SPDAffineInvariant(2)).law(0.1), AffineInvariantLaw)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_curves_in_the_largest_dimension(kind, sign):
    manifold = Sphere(LARGEST_DIM) if sign > 0.0 else Hyperbolic(LARGEST_DIM)
    known = family(kind, manifold)
    curve = isotropic_curve(known, 5e-4, 1e-3)
    assert 0.0 < curve.delta_at(0.1) < 1.0
    assert curve.mu() < math.inf
    assert has_curve(known, 1e-3)
    higher = family(kind, type(manifold)(LARGEST_DIM + 1))
    assert not has_curve(higher, 1e-3)
    with pytest.raises(errors.UnsupportedManifoldError, match=f"dimension {LARGEST_DIM}, not"):
        isotropic_curve(higher, 5e-4, 1e-3)


def test_affine_invariant_matrices_with_the_curve_of_a_space_form():
    def curve(kind, manifold):
        return isotropic_curve(family(kind, manifold), 0.3, 0.1)

    plane = curve("gaussian", Hyperbolic(2, -0.5))
    assert curve("gaussian", SPDAffineInvariant(2)) == plane != curve("gaussian", Hyperbolic(2))
    assert curve("laplace", SPDAffineInvariant(1)).dim == 1
    for kind, k in (("laplace", 2), ("gaussian", 3)):
        assert not has_curve(family(kind, SPDAffineInvariant(k)), 0.1)
        with pytest.raises(errors.UnsupportedManifoldError, match="pure epsilon"):
            curve(kind, SPDAffineInvariant(k))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_the_laplace_law_exists_under_the_growth_of_volume_only(k):
    growth = growth_of(SPDAffineInvariant(k))
    half_sum = np.arange(k) - 0.5 * (k - 1)
    assert growth == pytest.approx(np.linalg.norm(half_sum), rel=1e-14)
    # along the worst ray the log of the density of the eigenvalues grows above it, falls below it
    rays = np.array([200.0, 400.0])[:, None] * half_sum / np.linalg.norm(half_sum)
    first, second = np.triu_indices(k, 1)
    gaps = 0.5 * np.abs(rays[:, first] - rays[:, second])
    log_volume = np.sum(gaps + np.log1p(-np.exp(-2.0 * gaps)), axis=1)
    for factor, sign in ((0.99, -1.0), (1.01, 1.0)):
        low, high = log_volume - np.array([200.0, 400.0]) * growth / factor
        assert math.copysign(1.0, high - low) == sign
    assert growth_of(Hyperbolic(3, -4.0)) == 4.0
    assert growth_of(Sphere(3)) == growth_of(SPDAffineInvariant(1)) == 0.0


@pytest.mark.parametrize("k", [2, 3, 10])
def test_the_existence_limit_of_the_laplace_law_is_named(k):
    manifold, limit = SPDAffineInvariant(k), math.sqrt(12.0 / (k * (k * k - 1)))
    for call in (
        lambda: RiemannianLaplace(manifold, 1.000001 * limit),
        lambda: RiemannianLaplace.calibrate(manifold, 0.5, PureDP(0.49 / limit)),
        lambda: RiemannianLaplace.calibrate(manifold, 0.5, ApproxDP(0.49 / limit, 1e-6)),
    ):
        with pytest.raises(errors.NotAttainableError, match=f"{limit:.6g}"):
            call()
    with pytest.raises(errors.NotAttainableError) as caught:
        RiemannianLaplace.calibrate(manifold, 0.5, PureDP(0.49 / limit))
    message = str(caught.value)
    assert f"At sensitivity 0.5 {PureDP(0.49 / limit)}" in message
    assert f"pure epsilon above {0.5 / limit:.6g}" in message
    assert "tangent-laplace" in message
    assert "smaller ball" in message
    found = RiemannianLaplace.calibrate(manifold, 0.5, PureDP(0.75 / limit))
    assert found.sigma == pytest.approx(limit / 1.5, rel=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 10, 30])
@pytest.mark.parametrize(
    "budget",
    [PureDP(1.0), ApproxDP(1.0, 1e-6), GDP(1.0), ZCDP(0.5), RDP(4.0, 1.0), KLDP(0.5)],
    ids=str,
)
@pytest.mark.parametrize("kind", list(KINDS.values()))
def test_calibrated_noise_is_enough_and_hardly_more(kind, budget, k):
    manifold, sensitivity = SPDAffineInvariant(k), 0.003
    if kind is RiemannianGaussian and isinstance(budget, PureDP):
        with pytest.raises(errors.InvalidBudgetError, match=r"no pure epsilon.*RiemannianLaplace"):
            kind.calibrate(manifold, sensitivity, budget)
        return
    mechanism = kind.calibrate(manifold, sensitivity, budget)
    assert mechanism.satisfies(sensitivity, budget)
    assert not kind(manifold, mechanism.sigma * 0.9999).satisfies(sensitivity, budget)
    assert not mechanism.satisfies(1.001 * sensitivity, budget)


def test_kinds_of_curves():
    def curve(kind, k):
        return KINDS[kind](SPDAffineInvariant(k), 0.2).privacy(0.1)

    assert curve("laplace", 1) == LaplaceCurve(0.5)
    assert curve("laplace", 2) == curve("laplace", 6) == PureCurve(0.5)
    assert curve("gaussian", 1) == GaussianCurve(0.5)
    assert curve("gaussian", 2) == IsotropicCurve("gaussian", 2, -0.5, 0.2, 0.1)
    assert curve("gaussian", 3) == AffineInvariantGaussianCurve(3, 0.2, 0.1)
    assert curve("gaussian", 3).mu() == pytest.approx(0.5 / math.sqrt(1.0 - 3 * 0.04 / 12.0))


def test_two_by_two_matrices_are_calibrated_by_the_curve_and_not_by_mu():
    budget = ApproxDP(1.0, 1e-6)
    found = RiemannianGaussian.calibrate(SPDAffineInvariant(2), 0.3, budget)
    plane = RiemannianGaussian.calibrate(Hyperbolic(2, -0.5), 0.3, budget)
    assert found.sigma == plane.sigma
    assert found.privacy(0.3).satisfies(budget)
    assert GaussianCurve(found.privacy(0.3).mu()).delta_at(1.0) > 1e-6


def test_floors_of_the_gaussian_are_named_with_the_space():
    two, ten = SPDAffineInvariant(2), SPDAffineInvariant(10)
    for budget, floor in [
        (GDP(0.55), gaussian_floor(2, -0.5, 1.0)),
        (ApproxDP(0.1, 1e-6), float(delta_floor(2, -0.5, 1.0, 0.1))),
    ]:
        with pytest.raises(errors.NotAttainableError, match=r"SPDAffineInvariant\(k=2\)") as caught:
            RiemannianGaussian.calibrate(two, 1.0, budget)
        assert f"tends to {floor:.6g}, not to 0" in str(caught.value)
        assert "tangent-gaussian" in str(caught.value)
    assert RiemannianGaussian.calibrate(two, 1.0, GDP(0.57)).sigma > 3.0
    least = 0.1 * math.sqrt(10.0 / 3.0)
    for budget in (GDP(0.99 * least), ApproxDP(0.01, 1e-6)):
        with pytest.raises(errors.NotAttainableError, match=f"{least:.6g}; .*tangent-gaussian"):
            RiemannianGaussian.calibrate(ten, 0.1, budget)
    assert RiemannianGaussian.calibrate(ten, 0.1, GDP(1.001 * least)).satisfies(0.1, GDP(0.183))


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [2, 3])
def test_delta_of_draws_is_at_most_what_is_claimed(k):
    # the hockey-stick divergence by the exact log ratio, in the worst directions and the flat one
    sensitivity, sigma, draws = 0.5, 0.4, 50_000
    mechanism = RiemannianGaussian(SPDAffineInvariant(k), sigma)
    claimed, mu = mechanism.privacy(sensitivity), mechanism.privacy(sensitivity).mu()
    short = mechanism.privacy(0.9 * sensitivity)
    for direction in directions(k):
        loss = losses(mechanism, *pair_of(k, sensitivity, direction), draws, 3)
        for epsilon in (0.0, 0.5, 2.0):
            excess = np.maximum(0.0, -np.expm1(epsilon - loss))
            error = 4.0 * np.std(excess) / math.sqrt(draws)
            assert np.mean(excess) <= claimed.delta_at(epsilon) + error
            assert np.mean(excess) <= gaussian_delta(mu, epsilon) + error
            # a sensitivity said to be nine tenths of what it is, or a tenth more noise, is refuted
            assert np.mean(excess) - error > short.delta_at(epsilon)
    if k == 2:
        worst = losses(mechanism, *pair_of(2, sensitivity, [1.0, -1.0]), draws, 4)
        excess = np.maximum(0.0, -np.expm1(-worst))
        assert np.mean(excess) == pytest.approx(
            claimed.delta_at(0.0), abs=4.0 * np.std(excess) / math.sqrt(draws)
        )


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 4])
def test_the_flat_formula_is_refuted_where_the_noise_is_wide(k):
    sensitivity = sigma = 1.0
    mechanism = RiemannianGaussian(SPDAffineInvariant(k), sigma)
    loss = losses(mechanism, *pair_of(k, sensitivity, directions(k)[0]), 50_000, 5)
    right = stats.norm.ppf(np.mean(loss > 0.0))
    error = 4.0 * 1.3 / math.sqrt(50_000)
    assert 2.0 * right - 2.0 * error > sensitivity / sigma
    assert 2.0 * right <= mechanism.privacy(sensitivity).mu() + 2.0 * error
    # in the direction of the trace it is right
    loss = losses(mechanism, *pair_of(k, sensitivity, np.ones(k)), 50_000, 6)
    assert 2.0 * stats.norm.ppf(np.mean(loss > 0.0)) == pytest.approx(1.0, abs=2.0 * error)


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [2, 5])
def test_the_loss_of_the_laplace_law_is_epsilon_and_not_less(k):
    sensitivity, sigma = 0.3, 0.1
    mechanism = RiemannianLaplace(SPDAffineInvariant(k), sigma)
    epsilon = mechanism.privacy(sensitivity).pure_epsilon()
    assert epsilon == pytest.approx(3.0)
    first, second = pair_of(k, sensitivity, directions(k)[0])
    loss = losses(mechanism, first, second, 20_000, 1)
    assert np.max(np.abs(loss)) <= epsilon * (1.0 + 1e-9)
    beyond = pair_of(k, 3.0 * sensitivity, directions(k)[0])[0]
    loss = mechanism.log_density(beyond, first) - mechanism.log_density(beyond, second)
    assert loss == pytest.approx(epsilon, rel=1e-9)
    narrow = RiemannianLaplace(SPDAffineInvariant(k), 0.9 * sigma)
    loss = narrow.log_density(beyond, first) - narrow.log_density(beyond, second)
    assert loss > epsilon


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_distances_of_draws_follow_the_error_law(kind, k):
    manifold = SPDAffineInvariant(k)
    sigma = 0.3 if kind == "gaussian" or k == 1 else 0.4 / growth_of(manifold)
    mechanism = KINDS[kind](manifold, sigma)
    footpoint = np.diag(np.linspace(1.0, 1e3, k))
    for seed in (11, 12):
        points = research.sample(mechanism, footpoint, 20_000, np.random.default_rng(seed))
        dist = manifold.dist(footpoint, points)
        if stats.kstest(dist, mechanism._distance_law.cdf).pvalue > 1e-4:
            break
    else:
        pytest.fail("distances do not follow the law")
    error = 4.0 * np.std(dist) / math.sqrt(dist.size)
    assert np.mean(dist) == pytest.approx(mechanism.expected_distance(), abs=error)
    share = np.mean(dist <= mechanism.error_quantile(0.95))
    assert share == pytest.approx(0.95, abs=4.0 * math.sqrt(0.05 * 0.95 / dist.size))
    wider = KINDS[kind](manifold, 1.05 * sigma)
    assert abs(np.mean(dist) - wider.expected_distance()) > error


def test_what_cannot_be_drawn_is_refused_before_anything_is_drawn():
    large = SPDAffineInvariant(30)
    slow = 0.985 / growth_of(large)
    with pytest.raises(errors.NotAttainableError, match="seconds"):
        RiemannianLaplace(large, slow)
    with pytest.raises(errors.NotAttainableError, match="seconds"):
        RiemannianLaplace.calibrate(large, 0.1, PureDP(0.1 / slow))
    small = SPDAffineInvariant(2)
    for build in (
        lambda: RiemannianLaplace(small, 0.99 * math.sqrt(2.0)),
        lambda: RiemannianGaussian(small, 30.0),
    ):
        with pytest.raises(errors.NotAttainableError, match=r"too far for float64.*tangent-laplac"):
            build()
    # a line has room for everything that is a number
    assert RiemannianGaussian(SPDAffineInvariant(1), 30.0).sigma == 30.0


@pytest.mark.fast(
    "gaussian-2",
    "gaussian-4",
)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_hardly_any_wide_draw_is_farther_than_is_said(kind, k):
    for share in (0.7, 0.9):
        sigma = share / growth_of(SPDAffineInvariant(k)) if kind == "laplace" else 8.0 * share
        law = AffineInvariantLaw(kind, SPDAffineInvariant(k), sigma)
        assert law.radial.sf(law._farthest()) < 1e-9
        assert law.radial.sf(0.2 * law._farthest()) > 1e-9


def test_directions_that_share_the_information():
    assert family("laplace", Sphere(3)).score_dim == 3
    assert family("laplace", SPDAffineInvariant(3)).score_dim == 1
