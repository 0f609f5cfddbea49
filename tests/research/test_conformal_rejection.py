from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from riemdp._errors import InvalidBudgetError, InvalidParameterError, NotAttainableError
from riemdp.privacy import PureDP
from riemdp.research import _conformal_rejection
from riemdp.research._conformal_rejection import ConformalRejection
from riemdp.research._net import ball_net
from riemdp.research._net_laplace import normalised
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDLogEuclidean, Sphere


def _factor(manifold):
    return lambda points: 0.3 + np.exp(-20 * manifold.dist(manifold.origin, points) ** 2)


def _law(manifold, epsilon=0.5, sensitivity=0.1, **options):
    ball = Ball(manifold, manifold.origin, 1.0)
    return ConformalRejection(
        ball, _factor(manifold), epsilon, sensitivity, bounds=(0.3, 1.0), **options
    )


MANIFOLDS = [Euclidean(2), Euclidean(5), Sphere(2), Hyperbolic(2), SPDLogEuclidean(2)]


@pytest.mark.fast(2)
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
def test_score_is_lipschitz_and_above_the_smallest_factor(manifold):
    law = _law(manifold, sensitivity=0.1 / manifold.dim)
    rng = np.random.default_rng(0)
    steps = rng.uniform(-0.5, 0.5, size=(3, 500, manifold.dim)) / math.sqrt(manifold.dim)
    steps[1] = steps[0] + rng.normal(size=steps[0].shape) * rng.choice([1e-3, 0.05], (500, 1))
    x, y, z = law.ball.point(steps)
    change = np.abs(law.score(z, x) - law.score(z, y)) / manifold.dist(x, y)
    assert change.max() <= 1.0 + 1e-9  # the root of the upper bound
    assert change.max() > 0.9
    floor = math.sqrt(0.3) * manifold.dist(x, z)
    assert np.all(law.score(z, x) >= floor - 1e-12)
    assert np.all(law.score(z, x) <= manifold.dist(x, z) + 1e-12)


def test_landmarks_make_the_score_smaller_where_the_factor_is_small():
    # outside the middle the factor is .3, and landmarks on the way carry the shorter distance
    line = np.stack([np.linspace(0.3, 0.9, 7), np.zeros(7)], axis=-1)
    x, z = np.array([[0.3, 0.0]]), np.array([[0.9, 0.0]])
    with_few, with_many = _law(Euclidean(2)), _law(Euclidean(2), landmarks=line)
    assert with_few.score(z, x)[0] == pytest.approx(0.6)
    assert with_many.score(z, x)[0] < 0.4


@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2)], ids=str)
def test_density_ratio_by_enumeration(manifold):
    law = _law(manifold)
    net = ball_net(law.ball, 3000)
    power = 0.5 * manifold.dim
    weights = np.log(net.volumes) + power * np.log(
        np.clip(law.conformal_factor(net.points), *law.bounds)
    )
    axis = np.eye(manifold.dim)[0]

    def loss(factor):
        worst = 0.0
        for a, b in ((1.0, 0.9), (0.05, -0.05), (0.1, 0.0), (0.55, 0.45)):
            log_p = []
            for t in (a, b):
                foot = np.broadcast_to(law.ball.point(t * axis), net.points.shape)
                log_p.append(normalised(weights - factor * law.rate * law.score(net.points, foot)))
            worst = max(worst, np.max(np.abs(log_p[0] - log_p[1])))
        return worst

    assert loss(1.0) <= 0.5
    assert loss(2.0) > 0.5


def test_draws_follow_the_density_on_a_line():
    law = _law(Euclidean(1), 1.0, 0.2)
    grid = np.linspace(-1, 1, 20001)[:, None]
    foot = np.array([0.4])

    def pvalue(generator, rate=law.rate):
        factor = np.clip(law.conformal_factor(grid), 0.3, 1.0)
        score = law.score(grid, np.broadcast_to(foot, grid.shape))
        mass = np.sqrt(factor) * np.exp(-rate * score)
        cdf = np.cumsum(mass) / mass.sum()
        draws = law.sample(foot, 20_000, generator)[:, 0]
        return scipy.stats.kstest(draws, lambda x: np.interp(x, grid[:, 0], cdf)).pvalue

    assert any(pvalue(np.random.default_rng(seed)) > 1e-4 for seed in (1, 2))
    assert pvalue(np.random.default_rng(0), rate=1.2 * law.rate) < 1e-4


def test_high_dimension():
    space = Euclidean(9)
    ball = Ball(space, np.zeros(9), 1.0)
    law = ConformalRejection(
        ball, lambda x: np.exp(-np.sum(x**2, axis=-1)), 0.5, 0.002, bounds=(0.6, 1.0)
    )
    draws = law.sample(np.full(9, 0.1), 500, np.random.default_rng(0))
    assert draws.shape == (500, 9)
    assert np.all(ball.contains(draws))
    assert law.acceptance > 1e-4
    assert law.guarantee == PureDP(0.5)
    assert law.proven


def test_hopeless_acceptance_is_refused_beforehand():
    ball = Ball(Euclidean(9), np.zeros(9), 1.0)
    with pytest.raises(NotAttainableError, match="closer together"):
        ConformalRejection(ball, lambda x: np.ones(len(x)), 0.5, 0.002, bounds=(0.1, 10.0))


def accepted_share(law, footpoint):
    """Share of 4000 proposals that are accepted, by simulation."""
    rejection = law._law
    point, coordinates = rejection._checked(footpoint)
    found, _ = rejection._candidates(coordinates, 4000, np.random.default_rng(0))
    logs = rejection.log_acceptance(np.broadcast_to(point, found.shape), found)
    return float(np.sum(np.exp(logs))) / 4000


def test_a_footpoint_far_from_the_landmarks_decides(monkeypatch):
    # the factor is large about the landmarks and small beyond them, where footpoints may lie
    space = Euclidean(9)
    ball = Ball(space, np.zeros(9), 1.0)

    def factor(x):
        return np.where(np.linalg.norm(x, axis=-1) < 0.8, 1.0, 0.2)

    with pytest.raises(NotAttainableError, match="at some footpoint"):
        ConformalRejection(ball, factor, 0.5, 0.002, bounds=(0.2, 1.0))
    monkeypatch.setattr("riemdp.research._conformal_rejection.LEAST_ACCEPTANCE", 0.0)
    law = ConformalRejection(ball, factor, 0.5, 0.002, bounds=(0.2, 1.0))
    far = ball.point(0.999 * np.eye(9)[0])
    # the landmarks, by which it used to be judged
    assert min(accepted_share(law, post) for post in law.landmarks[::9]) > 4e-4
    assert law.acceptance <= 1.5 * accepted_share(law, far) < 1e-6


@pytest.mark.fast(1)
@pytest.mark.parametrize("manifold", [*MANIFOLDS, Euclidean(1), Hyperbolic(3)], ids=str)
def test_acceptance_is_a_lower_bound_for_every_footpoint(manifold):
    ball = Ball(manifold, manifold.origin, 1.0)
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(4, manifold.dim))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    lengths = np.array([0.0, 0.6, 0.95, 1.0])[:, None]
    # the second sensitivity leaves hyperbolic space without a normaliser
    for sensitivity, height in ((0.03, 0.0), (2.0, 0.0), (0.1, 0.75)):
        law = ConformalRejection(
            ball,
            lambda x, h=height: np.where(manifold.dist(manifold.origin, x) < h, 1.0, 0.3),
            0.5,
            sensitivity,
            bounds=(0.3, 1.0),
        )
        shares = [accepted_share(law, ball.point(v)) for v in lengths * directions]
        assert law.acceptance <= 1.3 * min(shares)
        # negative control: four times as much is none with the smallest factor everywhere
        assert 4.0 * law.acceptance > min(shares) or height > 0.0


def test_bad_input_is_refused():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    factor = _factor(Euclidean(2))
    with pytest.raises(InvalidBudgetError, match="epsilon"):
        ConformalRejection(ball, factor, math.inf, 0.1, bounds=(0.3, 1.0))
    with pytest.raises(InvalidParameterError, match="function"):
        ConformalRejection(ball, 1.0, 0.5, 0.1, bounds=(0.3, 1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="ball"):
        ConformalRejection(1.0, factor, 0.5, 0.1, bounds=(0.3, 1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="lie in the ball"):
        _law(Euclidean(2), landmarks=np.array([[2.0, 0.0]]))
    with pytest.raises(InvalidParameterError, match="shape"):
        _law(Euclidean(2), landmarks=np.zeros(2))


@pytest.mark.parametrize("radius", [0.3, 3.0])
def test_landmarks_by_default_lie_half_way_to_the_boundary(radius):
    points = _conformal_rejection._axis_points(Ball(Euclidean(2), np.zeros(2), radius))
    half = 0.5 * radius
    np.testing.assert_allclose(points, half * np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]))


def test_landmarks_are_a_list_of_points():
    with pytest.raises(InvalidParameterError, match=r"shape \(m, \*point_shape\)"):
        _law(SPDLogEuclidean(2), landmarks=np.eye(2))


@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2)], ids=str)
def test_distances_between_landmarks_follow_the_geodesic(manifold):
    ball = Ball(manifold, manifold.origin, 0.8)
    posts = ball.point([[-0.4, 0.1], [0.5, 0.2]])

    def factor(points):
        return 0.6 + 0.3 * ball.coordinates(points)[:, 0]

    law = ConformalRejection(ball, factor, 0.5, 0.05, bounds=(0.3, 1.0), landmarks=posts)
    log = manifold.log(posts[0], posts[1])
    share = np.linspace(0.0, 1.0, 2001)
    way = manifold.exp(posts[0], share[:, None] * log)
    mean = scipy.integrate.trapezoid(np.sqrt(factor(way)), share)
    wanted = manifold.dist(*posts) * mean
    np.testing.assert_allclose(law._between, wanted * (1.0 - np.eye(2)), rtol=1e-6)
