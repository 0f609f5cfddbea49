import math

import numpy as np
import pytest
from scipy import integrate, stats

from riemdp import _errors as errors
from riemdp.auditing import DistanceScore, audit, audit_sampler
from riemdp.manifolds import (
    Ball,
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace
from riemdp.noise import MetropolisLaw, family
from riemdp.noise._spaces import LARGEST_DIM
from riemdp.privacy import (
    GDP,
    ZCDP,
    ApproxDP,
    IsotropicCurve,
    PureCurve,
    PureDP,
    RaoDP,
    affordable_epsilon,
    delta_floor,
    gaussian_floor,
    quotient_up,
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
    points = mechanism.sample(first, draws, np.random.default_rng(3))
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
        points = mechanism.sample(footpoint, 20_000, np.random.default_rng(seed))
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
    assert RiemannianLaplace.calibrate(manifold, 0.1, PureDP(0.39), ball=ball).sigma > 0.5


@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
def test_other_manifolds_name_what_works(kind, bumpy):
    with pytest.raises(errors.UnsupportedManifoldError, match=r"tangent-gaussian.*tangent-laplace"):
        kind(bumpy(2), 0.1)
    with pytest.raises(errors.UnsupportedManifoldError, match=r"tangent-gaussian.*tangent-laplace"):
        kind.calibrate(bumpy(2), 0.1, GDP(1.0))


def test_chains_on_other_manifolds(bumpy):
    laplace = RiemannianLaplace.calibrate(bumpy(2), 0.1, PureDP(0.5), sampler="metropolis")
    assert laplace.sigma == 0.4  # nobody says that the normaliser does not move
    assert laplace.privacy(0.1) == PureCurve(0.5)
    assert laplace.rao(0.1, "parametric").theta == 0.25
    for distance in ("angle", "parametric"):
        budget = RaoDP(0.5, distance=distance)
        found = RiemannianLaplace.calibrate(bumpy(2), 0.1, budget, sampler="metropolis")
        assert found.satisfies(0.1, budget)
        assert found.rao(0.1, distance).theta == pytest.approx(0.5)
    gaussian = RiemannianGaussian(bumpy(2), 0.2, sampler="metropolis")
    pole = bumpy(2).origin
    for call in (
        lambda: gaussian.privacy(0.1),
        lambda: RiemannianGaussian.calibrate(bumpy(2), 0.1, GDP(1.0), sampler="metropolis"),
        gaussian.expected_distance,
        laplace.expected_distance,
        lambda: gaussian.log_density(pole, pole),
    ):
        with pytest.raises(errors.UnsupportedManifoldError, match="law is known"):
            call()


class Interval(Manifold):
    """The interval from -1 to 1 as another library might add it: it is not homogeneous."""

    dim, point_shape, tangent_shape = 1, (1,), (1,)
    curvature_bound, constant_curvature, injectivity_radius = 0.0, None, math.inf
    origin = np.zeros(1)

    def exp(self, base, tangent):  # reflected at the ends
        turned = np.mod(np.add(base, tangent) + 1.0, 4.0)
        return 1.0 - np.abs(turned - 2.0)

    def log(self, base, point):
        return np.subtract(point, base)

    def dist(self, a, b):
        return np.abs(np.subtract(a, b))[..., 0]

    def tangent_vector(self, base, coordinates):
        return np.asarray(coordinates)

    tangent_coordinates = tangent_vector

    def validate(self, points):
        return np.asarray(points, dtype=float)


def test_a_normaliser_that_moves_costs_twice_the_loss():
    """Reimherr, Bharath and Soto, Theorem 1 beyond homogeneous spaces, on an interval."""
    sensitivity = sigma = 0.1
    mechanism = RiemannianLaplace(Interval(), sigma, sampler="metropolis")
    claim = mechanism.privacy(sensitivity)
    assert claim == PureCurve(2.0)
    grid = np.linspace(-1.0, 1.0, 20_001)

    def density(foot):
        height = np.exp(-np.abs(grid - foot) / sigma)
        return height / integrate.simpson(height, x=grid)

    first, second = density(1.0), density(0.9)
    true = np.max(np.log(first / second))
    assert true == pytest.approx(1.49, abs=5e-3)
    assert sensitivity / sigma < true < 2.0
    generator = np.random.default_rng(0)
    mass = [integrate.cumulative_simpson(p, x=grid, initial=0.0) for p in (first, second)]
    chain = MetropolisLaw("laplace", Interval(), sigma, steps=100)
    draws = chain.sample([[1.0], [0.9]], 4000, generator)[..., 0]
    for found, each in zip(draws.T, mass, strict=True):
        assert stats.kstest(np.interp(found, grid, each), "uniform").pvalue > 1e-4

    class Exact:
        def sample(self, footpoint, size, generator):
            inverse = mass[int(footpoint[0] < 0.95)]
            return np.interp(generator.random(size), inverse, grid)

    for epsilon, verdict in ((2.0, False), (sensitivity / sigma, True)):
        found = audit(Exact(), [1.0], [0.9], PureDP(epsilon), samples=200_000, generator=generator)
        assert (found.verdict == "violated") is verdict


def test_a_changed_sphere_is_not_taken_for_homogeneous():
    class Dented(Sphere):
        pass

    mechanism = RiemannianLaplace(Dented(2), 0.2)
    assert mechanism.privacy(0.1) == PureCurve(1.0)
    assert not mechanism.proven
    assert RiemannianLaplace.calibrate(Dented(2), 0.1, PureDP(1.0)).sigma == 0.2
    assert RiemannianLaplace(Sphere(2), 0.2).privacy(0.1).epsilon_at(0.0) == pytest.approx(0.5)


def test_a_chain_is_calibrated_like_the_law_it_approaches():
    for budget in (GDP(0.5), ApproxDP(0.5, 1e-6)):
        exact, chain = (
            RiemannianLaplace.calibrate(Sphere(2), 0.1, budget, sampler=sampler)
            for sampler in ("exact", "metropolis")
        )
        assert chain.sigma == exact.sigma
        assert chain.sampler == "metropolis"


def test_laplace_on_a_ball_of_affine_invariant_matrices():
    manifold = SPDAffineInvariant(3)
    ball = Ball(manifold, np.diag([1.0, 2.0, 3.0]), 1.0)
    mechanism = RiemannianLaplace.calibrate(manifold, 0.3, PureDP(0.5), ball=ball)
    # far beyond sqrt(1/2), where the unrestricted law ends
    assert mechanism.sigma == pytest.approx(1.2)
    with pytest.raises(errors.NotAttainableError, match="normaliser"):
        RiemannianLaplace.calibrate(manifold, 0.3, PureDP(0.2))
    assert mechanism.privacy(0.3) == PureCurve(quotient_up(0.6, mechanism.sigma))
    assert mechanism.rao(0.3, "parametric").theta == pytest.approx(0.25)
    assert mechanism.proven
    points = mechanism.sample(ball.center, 50, np.random.default_rng(0))
    assert np.all(ball.contains(points))
    assert mechanism.expected_distance() < mechanism.error_quantile(0.99) < 2.0 * ball.radius
    assert (
        audit_sampler(
            mechanism, ball.center, samples=1000, generator=np.random.default_rng(1)
        ).verdict
        == "consistent"
    )
    # negative control: the law of distances of another scale
    found = audit_sampler(
        mechanism,
        ball.center,
        samples=1000,
        law=RiemannianLaplace(manifold, 0.2, ball=ball).distance_law(ball.center),
        generator=np.random.default_rng(1),
    )
    assert found.verdict == "violated"
    # the score of distances is the likelihood ratio up to the normalisers
    pair = ball.point(-0.9 * np.eye(6)[0]), ball.point(0.9 * np.eye(6)[0])
    options = {"score": DistanceScore(manifold, *pair), "samples": 4000}
    for epsilon, verdict in ((3.0, "consistent"), (0.2, "violated")):
        result = audit(
            mechanism, *pair, PureDP(epsilon), generator=np.random.default_rng(2), **options
        )
        assert result.verdict == verdict
    with pytest.raises(errors.UnsupportedManifoldError, match="DistanceScore"):
        mechanism.log_density(*pair)
    with pytest.raises(errors.InvalidParameterError, match="centre"):
        mechanism.distance_law(ball.point(0.5 * np.eye(6)[0]))
    with pytest.raises(errors.NotAttainableError, match="smaller ball"):
        RiemannianLaplace(manifold, 1.0, ball=Ball(manifold, np.eye(3), 25.0))


def test_no_law_on_a_ball_where_none_is_known():
    manifold = SPDAffineInvariant(2)
    with pytest.raises(errors.UnsupportedManifoldError, match="without a ball"):
        family("gaussian", manifold).restricted(Ball(manifold, np.eye(2), 1.0), 0.1)


RESTRICTED = [Euclidean(2), Sphere(2), Hyperbolic(2)]


@pytest.mark.parametrize("manifold", RESTRICTED, ids=str)
def test_restricted_laplace_needs_twice_the_noise(manifold):
    sensitivity, radius = 0.2, 0.5
    ball = Ball(manifold, center(manifold), radius)
    mechanism = RiemannianLaplace.calibrate(manifold, sensitivity, PureDP(2.0), ball=ball)
    assert mechanism.sigma == pytest.approx(0.2)
    assert mechanism.privacy(sensitivity).pure_epsilon() == pytest.approx(2.0)
    axis = np.eye(manifold.dim)[0]
    first, second = near(manifold, 0.3 * axis), near(manifold, 0.499999 * axis)
    points = scattered(manifold, 0.999 * radius)
    loss = largest_loss(mechanism, first, second, points)
    # above what sigma = sensitivity / epsilon would promise: the normaliser's part is real
    assert sensitivity / mechanism.sigma * 1.1 < loss <= 2.0


@pytest.mark.fast(1)
@pytest.mark.parametrize("manifold", RESTRICTED, ids=str)
def test_error_of_the_restricted_laplace_is_a_bound_everywhere(manifold):
    radius = 0.5
    ball = Ball(manifold, center(manifold), radius)
    mechanism = RiemannianLaplace(manifold, 0.3, ball=ball)
    for offset in (0.0, 0.3, 0.5):
        footpoint = near(manifold, offset * np.eye(manifold.dim)[0])
        points = mechanism.sample(footpoint, 5_000, np.random.default_rng(8))
        assert np.all(ball.contains(points))
        dist = manifold.dist(footpoint, points)
        assert np.mean(dist) < mechanism.expected_distance()
        assert np.mean(dist <= mechanism.error_quantile(0.95)) > 0.94
    assert mechanism.error_quantile(1.0) <= 2.0 * radius * (1.0 + 1e-12)
    # the bound has content where the unrestricted law is wide
    assert mechanism.expected_distance() < RiemannianLaplace(manifold, 0.3).expected_distance()


def test_no_error_bound_on_a_ball_that_is_not_convex():
    sphere = Sphere(2)
    mechanism = RiemannianLaplace(sphere, 0.3, ball=Ball(sphere, center(sphere), 2.0))
    assert mechanism.sample(center(sphere), 10).shape == (10, 3)
    with pytest.raises(errors.UnsupportedBallError, match="not convex"):
        mechanism.expected_distance()
    with pytest.raises(errors.UnsupportedBallError, match="not convex"):
        mechanism.error_quantile(0.5)


def test_ball_of_another_manifold():
    with pytest.raises(errors.InvalidParameterError, match="belongs to"):
        RiemannianLaplace(Sphere(2), 0.1, ball=Ball(Euclidean(3), np.zeros(3), 1.0))


def test_a_projected_draw_is_the_projection_of_a_draw():
    manifold = Hyperbolic(2)
    ball = Ball(manifold, center(manifold), 0.4)
    footpoint = near(manifold, np.array([0.3, 0.0]))
    for kind in (RiemannianLaplace, RiemannianGaussian):
        mechanism = kind(manifold, 0.3)
        direct = mechanism.sample_in_ball(
            np.broadcast_to(footpoint, (20_000, 3)), ball, np.random.default_rng(1)
        )
        plain = ball.project(mechanism.sample(footpoint, 20_000, np.random.default_rng(2)))
        for axis in (1, 2):
            assert stats.ks_2samp(direct[:, axis], plain[:, axis]).pvalue > 1e-4


def test_noise_beyond_float64_on_a_sphere_is_not_attainable():
    with pytest.raises(errors.NotAttainableError):
        RiemannianLaplace.calibrate(Sphere(2), 1e75, PureDP(1e-240))


def test_shapes_that_do_not_broadcast_are_named():
    mechanism = RiemannianLaplace(Sphere(2), 1.0)
    with pytest.raises(errors.InvalidParameterError):
        mechanism.log_density(np.tile([0, 0, 1.0], (2, 1)), np.tile([0, 0, 1.0], (3, 1)))


def test_the_law_of_the_distance_is_that_of_draws():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8)
    for inside in (ball, None):
        mechanism = RiemannianLaplace(Sphere(2), 0.3, ball=inside)
        law = mechanism.distance_law(ball.center)
        draws = mechanism.sample(ball.center, 5000, np.random.default_rng(0))
        found = ball.manifold.dist(ball.center, draws)
        assert stats.kstest(found, law.cdf).pvalue > 1e-4
        assert (law.quantile(1.0) <= 0.8) == (mechanism.ball is not None)
    away = ball.point([1e-3, 0.0])
    assert mechanism.distance_law(away) == law
    with pytest.raises(errors.InvalidParameterError, match="at the ball's centre"):
        RiemannianLaplace(Sphere(2), 0.3, ball=ball).distance_law(away)
