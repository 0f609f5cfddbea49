import math

import mpmath as mp
import numpy as np
import pytest
import scipy

from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import (
    RiemannianGaussian,
    RiemannianLaplace,
    TangentGaussian,
    TangentLaplace,
    _rao,
)
from riemdp.mechanisms._rao import (
    gaussian_angle,
    laplace_angle,
    laplace_ratio,
    pure_angle,
)
from riemdp.noise import fisher_information
from riemdp.privacy import PureDP, RaoDP, affordable_mu
from riemdp.research import RestrictedLaplace
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

SPACES = [
    Euclidean(1),
    Euclidean(3),
    SPDLogEuclidean(2),
    Sphere(1),
    Sphere(2),
    Sphere(3, 4.0),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(3, -0.25),
]
MATRICES = [SPDAffineInvariant(1), SPDAffineInvariant(2), SPDAffineInvariant(3)]


def center(manifold):
    if isinstance(manifold, Euclidean):
        return np.zeros(manifold.dim)
    if isinstance(manifold, (SPDLogEuclidean, SPDAffineInvariant)):
        return np.eye(manifold.k)
    point = np.zeros(manifold.dim + 1)
    point[0] = 1.0 / math.sqrt(abs(manifold.curvature))
    return point


def near(manifold, coordinates):
    base = center(manifold)
    return manifold.exp(base, manifold.tangent_vector(base, coordinates))


def neighbours(manifold, distance):
    half = 0.5 * distance * np.eye(manifold.dim)[0]
    return near(manifold, -half), near(manifold, half)


def measured_angle(mechanism, first, second, seed, draws=50_000):
    """Estimate of the angle from draws under both laws, and its standard error.

    With draws from the mixture, ``1 - BC`` is the mean of ``1 - sech(loss/2)``, a small positive
    number with a small variance where the laws are near.
    """
    random = np.random.default_rng(seed)
    points = np.concatenate(
        [research.sample(mechanism, f, draws // 2, random) for f in (first, second)]
    )
    loss = mechanism.log_density(points, first) - mechanism.log_density(points, second)
    gap = 1.0 - 1.0 / np.cosh(0.5 * loss)
    mean, error = np.mean(gap), np.std(gap) / math.sqrt(draws)
    angle = 4.0 * math.asin(math.sqrt(0.5 * mean))
    return angle, 2.0 * error / math.sqrt(mean)


def test_reference_angles():
    assert laplace_angle(1.0, 1) == pytest.approx(0.8560, abs=5e-5)
    assert gaussian_angle(1.0) == pytest.approx(0.9793, abs=5e-5)
    assert pure_angle(1.0) == pytest.approx(4.0 * math.atan(math.tanh(0.25)), rel=1e-14)


@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 0.3, 1.0, 6.0, 40.0])
@pytest.mark.parametrize("dim", [1, 2, 3, 10, 45, 500])
def test_laplace_angle_against_forty_digits(ratio, dim):
    with mp.workdps(40):
        order, z = mp.mpf(dim) / 2 + 1, mp.mpf(ratio) / 2
        affinity = 2 ** (1 - order) * z**order * mp.besselk(order, z) / mp.gamma(order)
        if dim == 1:
            assert mp.almosteq(affinity, (1 + z) * mp.exp(-z), 1e-35)
        expected = float(2 * mp.acos(affinity))
    value = laplace_angle(ratio, dim)
    assert expected <= value <= expected * (1.0 + 2e-12)
    assert value <= ratio / math.sqrt(dim) * (1.0 + 2e-12)


def test_laplace_angle_by_integration_in_the_plane():
    """The integral of ``sqrt(p q)`` itself, in Cartesian coordinates."""
    ratio = 1.7

    def integrand(y, x):
        return math.exp(-0.5 * (math.hypot(x, y) + math.hypot(x - ratio, y))) / (2.0 * math.pi)

    half, _ = scipy.integrate.dblquad(
        integrand, 0.5 * ratio, 60.0, 0.0, 60.0, epsabs=1e-7, epsrel=1e-7
    )
    assert laplace_angle(ratio, 2) == pytest.approx(2.0 * math.acos(4.0 * half), rel=1e-5)


@pytest.mark.parametrize("distance", ["angle", "parametric"])
@pytest.mark.parametrize("theta", [1e-6, 0.1, 1.0, 3.0, 3.14159])
def test_ratios_invert_the_distances(distance, theta):
    budget = RaoDP(theta, distance=distance)
    flat = laplace_ratio(budget, 3, flat=True)
    assert flat <= laplace_ratio(budget, 3, flat=False) * 8.0
    if distance == "parametric":
        assert affordable_mu(budget) == theta
        assert flat == pytest.approx(theta * math.sqrt(3.0), rel=1e-15)
    else:
        assert gaussian_angle(affordable_mu(budget)) == pytest.approx(theta, rel=1e-11)
        assert laplace_angle(flat, 3) == pytest.approx(theta, rel=1e-11)


@pytest.mark.fast(4)
@pytest.mark.parametrize("manifold", SPACES, ids=str)
@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
def test_angle_is_never_under_what_the_draws_show(kind, manifold):
    sensitivity, sigma = 0.4, 0.5
    mechanism = kind(manifold, sigma)
    first, second = neighbours(manifold, sensitivity)
    claimed = mechanism.rao(sensitivity, "angle").theta
    parametric = mechanism.rao(sensitivity, "parametric").theta
    assert claimed <= parametric
    for seed in (1, 2):
        angle, error = measured_angle(mechanism, first, second, seed)
        if angle - 4.0 * error <= claimed and angle + 4.0 * error >= 0.9 * claimed:
            break
    else:
        pytest.fail(f"measured {angle} +- {error}, claimed {claimed}")
    # half the sensitivity, or half the information, is refuted by the same draws
    assert angle - 4.0 * error > mechanism.rao(0.5 * sensitivity, "angle").theta
    assert angle - 4.0 * error > math.sqrt(0.5) * parametric


@pytest.mark.fast(1)
@pytest.mark.parametrize("manifold", MATRICES, ids=str)
@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
def test_bounds_on_affine_invariant_matrices(kind, manifold):
    """No direction has a larger angle; the sum over directions of the information is known."""
    sensitivity, sigma, k = 0.25, 0.3, manifold.k
    mechanism = kind(manifold, sigma)
    claimed = mechanism.rao(sensitivity, "angle").theta
    parametric = mechanism.rao(sensitivity, "parametric").theta
    assert claimed <= parametric
    spread = np.arange(k) - 0.5 * (k - 1)
    measured = []
    for direction in [np.ones(k), spread, np.eye(k)[0]][: max(1, 2 * k - 2)]:
        half = 0.5 * sensitivity * direction / np.linalg.norm(direction)
        pair = np.diag(np.exp(-half)), np.diag(np.exp(half))
        measured.append(measured_angle(mechanism, *pair, 5))
    assert all(angle - 4.0 * error <= claimed for angle, error in measured)
    largest, error = max(measured)
    # what half the sensitivity has is refuted, and so is dividing by the dimension
    assert largest - 4.0 * error > mechanism.rao(0.5 * sensitivity, "angle").theta / math.sqrt(
        manifold.dim if kind is RiemannianLaplace else 1.0
    )


@pytest.mark.parametrize("kind", [TangentLaplace, TangentGaussian])
@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(3), SPDAffineInvariant(2)], ids=str)
def test_tangent_mechanisms_have_the_flat_values(kind, manifold):
    flat = kind(Euclidean(manifold.dim), 0.3)
    curved = kind(manifold, 0.3, base=center(manifold))
    for distance in ("angle", "parametric"):
        assert curved.rao(0.2, distance) == flat.rao(0.2, distance)


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_closed_forms(manifold):
    root = math.sqrt(manifold.dim)
    laplace = RiemannianLaplace(manifold, 0.4).rao(0.3, "parametric")
    assert laplace.distance == "parametric"
    assert laplace.theta == pytest.approx(0.75 / root, rel=1e-14)
    gaussian = RiemannianGaussian(manifold, 0.4)
    information = fisher_information(gaussian._law.radial)
    expected = 0.3 * math.sqrt(information)
    assert gaussian.rao(0.3, "parametric").theta == pytest.approx(expected, rel=2e-12)


@pytest.mark.fast(6)
@pytest.mark.parametrize("manifold", [*SPACES, *MATRICES], ids=str)
@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
@pytest.mark.parametrize("distance", ["angle", "parametric"])
@pytest.mark.parametrize("theta", [0.6, 1.5, 3.0])
def test_calibration_meets_the_budget_and_wastes_nothing(manifold, kind, distance, theta):
    budget = RaoDP(theta, distance=distance)
    mechanism = kind.calibrate(manifold, 0.3, budget)
    found = mechanism.rao(0.3, distance)
    assert found.distance == distance
    assert theta * (1.0 - 1e-11) <= found.theta <= theta
    assert mechanism.satisfies(0.3, budget)
    assert not kind(manifold, 0.999 * mechanism.sigma).satisfies(0.3, budget)


@pytest.mark.parametrize("kind", [TangentLaplace, TangentGaussian])
@pytest.mark.parametrize("distance", ["angle", "parametric"])
def test_calibration_of_tangent_noise(kind, distance):
    budget = RaoDP(0.8, distance=distance)
    sphere = Sphere(2)
    mechanism = kind.calibrate(sphere, 0.3, budget, base=center(sphere))
    assert 0.8 * (1.0 - 1e-11) <= mechanism.rao(0.3, distance).theta <= 0.8


def test_calibrated_scales_in_closed_form():
    parametric = RaoDP(0.5, distance="parametric")
    laplace = RiemannianLaplace.calibrate(Sphere(4), 0.3, parametric)
    assert laplace.sigma == pytest.approx(0.3 / (0.5 * 2.0), rel=1e-14)
    scale = pytest.approx(0.6 * (1.0 + 2.0**-40), rel=3e-16)
    assert TangentGaussian.calibrate(Euclidean(7), 0.3, parametric).sigma == scale
    assert RiemannianLaplace.calibrate(Euclidean(1), 0.3, parametric).sigma == scale
    angle = TangentGaussian.calibrate(Euclidean(7), 0.3, RaoDP(0.5, distance="angle"))
    separation = 0.3 / angle.sigma
    assert math.exp(-(separation**2) / 8.0) == pytest.approx(math.cos(0.25), rel=1e-13)


def test_theta_is_no_epsilon():
    """A parametric theta of 0.5 leaves a Laplace mechanism with a larger pure epsilon."""
    laplace = RiemannianLaplace.calibrate(Sphere(4), 0.3, RaoDP(0.5, distance="parametric"))
    assert laplace.privacy(0.3).pure_epsilon() == pytest.approx(1.0)
    assert not laplace.satisfies(0.3, PureDP(0.5))


def test_hyperbolic_floor():
    """No Gaussian and no Laplace law on H^d has less than sensitivity (d-1) k / sqrt(d)."""
    manifold, sensitivity = Hyperbolic(3, -4.0), 0.2
    floor = sensitivity * 2.0 * 2.0 / math.sqrt(3.0)
    for kind in (RiemannianGaussian, RiemannianLaplace):
        for distance in ("angle", "parametric"):
            above = RaoDP(1.02 * floor, distance=distance)
            assert kind.calibrate(manifold, sensitivity, above).satisfies(sensitivity, above)
            for share in (0.3, 1.0):
                below = RaoDP(share * floor, distance=distance)
                with pytest.raises(errors.NotAttainableError, match="tangent-gaussian") as caught:
                    kind.calibrate(manifold, sensitivity, below)
                if kind is RiemannianGaussian:
                    assert f"clearly above {floor:.6g}, got" in str(caught.value)


def test_laplace_restricted_to_a_ball():
    for manifold in (Sphere(2), Hyperbolic(2)):
        ball = Ball(manifold, center(manifold), 0.5)
        first, second = near(manifold, [0.1, 0.0]), near(manifold, [0.5, 0.0])
        mechanism = RestrictedLaplace(manifold, 0.3, ball=ball)
        ratio = 0.4 / 0.3
        parametric = mechanism.rao(0.4, "parametric").theta
        assert parametric == pytest.approx(ratio, rel=1e-15)
        claimed = mechanism.rao(0.4, "angle").theta
        assert claimed == min(parametric, pure_angle(2.0 * mechanism.privacy(0.2).epsilon))
        angle, error = measured_angle(mechanism, first, second, 3, draws=20_000)
        assert 0.3 < angle + 4.0 * error < claimed
        for distance in ("angle", "parametric"):
            for theta in (0.01, 1.0, 3.0):
                budget = RaoDP(theta, distance=distance)
                found = RestrictedLaplace.calibrate(manifold, 0.4, budget, ball=ball)
                assert theta * (1.0 - 1e-11) <= found.rao(0.4, distance).theta <= theta


def test_angle_of_pi_allows_everything():
    for call in (
        lambda budget: RiemannianLaplace.calibrate(Sphere(2), 0.3, budget),
        lambda budget: RiemannianLaplace.calibrate(Euclidean(2), 0.3, budget),
        lambda budget: RiemannianGaussian.calibrate(Sphere(2), 0.3, budget),
        lambda budget: TangentGaussian.calibrate(Euclidean(2), 0.3, budget),
    ):
        with pytest.raises(errors.InvalidBudgetError, match="under pi"):
            call(RaoDP(math.pi, distance="angle"))
    assert RiemannianGaussian(Sphere(2), 0.01).rao(3.0, "angle").theta == math.pi


def test_bad_arguments():
    for kind in (RiemannianLaplace, RiemannianGaussian, TangentLaplace, TangentGaussian):
        mechanism = kind(Euclidean(2), 0.3)
        with pytest.raises(errors.InvalidParameterError, match="distance"):
            mechanism.rao(0.3, "hellinger")
        with pytest.raises(errors.InvalidParameterError, match="sensitivity"):
            mechanism.rao(-0.3, "angle")


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("kind", [TangentGaussian, TangentLaplace])
def test_tiny_angles_do_not_underflow(kind, dim):
    budget = RaoDP(1e-170, distance="angle")
    mechanism = kind.calibrate(Euclidean(dim), 1.0, budget)
    assert 0.999e-170 < mechanism.rao(1.0, "angle").theta <= 1e-170


@pytest.mark.parametrize("theta", [1e-300, 1e-160, 1e-12])
def test_a_tiny_angle_is_a_ratio_times_the_square_root_of_the_dimension(theta):
    ratio = _rao.laplace_ratio(RaoDP(theta, distance="angle"), 4, flat=True)
    assert ratio == pytest.approx(2.0 * theta, rel=1e-6)


@pytest.mark.parametrize(("sensitivity", "theta"), [(0.3, 0.4), (0.01, 0.5), (1.0, 2.0)])
def test_a_gaussian_scale_costs_few_integrals(sensitivity, theta, monkeypatch):
    asked = []
    guarantee = _rao.isotropic_guarantee
    monkeypatch.setattr(_rao, "isotropic_guarantee", lambda *a: asked.append(a) or guarantee(*a))
    for dim, curvature, upper in [(2, -1.0, math.inf), (3, 1.0, math.pi)]:
        budget = RaoDP(theta, distance="parametric")
        _rao.isotropic_gaussian_sigma(dim, curvature, upper, sensitivity, budget)
    assert 0 < len(asked) <= 22


@pytest.mark.parametrize(("dim", "theta"), [(30, 3.14), (30, 1.0), (1, 3.14159)])
def test_the_ratio_of_flat_laplace_noise_has_the_angle(dim, theta):
    """At (30, 3.14) twice the first guess is too little."""
    found = laplace_ratio(RaoDP(theta, distance="angle"), dim, flat=True)
    assert laplace_angle(found, dim) == pytest.approx(theta, rel=1e-9)
    assert laplace_angle(found, dim) <= theta * (1.0 + 1e-12)
