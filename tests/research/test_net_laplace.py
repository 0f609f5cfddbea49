from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.stats

from riemdp._errors import (
    InvalidBudgetError,
    InvalidParameterError,
    NotAttainableError,
    UnsupportedBallError,
)
from riemdp.privacy import PureDP
from riemdp.research import _net_laplace
from riemdp.research._conformal_calibration import drawn_error, lipschitz_rate
from riemdp.research._net import ball_net
from riemdp.research._net_laplace import (
    NetLaplace,
    evaluated,
    integer_weights,
    normalised,
    public_net,
)
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDLogEuclidean, Sphere


def _law(manifold, epsilon, sensitivity, nodes, spread=1.0):
    """A factor that waves between exp(-spread) and exp(spread)."""
    ball = Ball(manifold, manifold.origin, 1.0)
    net = ball_net(ball, nodes)
    away = manifold.dist(manifold.origin, net.points)
    return NetLaplace(ball, net, np.exp(spread * np.cos(4 * away)), epsilon, sensitivity)


# a large sensitivity is calibrated exactly, a small one by the Lipschitz constant
SNAPPED = [
    (Euclidean(2), 0.4, 500),
    (Euclidean(2), 0.4, 900),
    (Euclidean(3), 0.6, 900),
    (Sphere(2), 0.4, 900),
    (Hyperbolic(2), 0.5, 900),
]
LIPSCHITZ = [
    (Euclidean(2), 0.02, 500),
    (Euclidean(2), 0.02, 900),
    (Euclidean(3), 0.06, 900),
    (Sphere(2), 0.02, 900),
    (SPDLogEuclidean(2), 0.06, 900),
]


def _losses(law, first, second, rate=1.0):
    """Largest log ratio over all nodes, for pairs of footpoints, at a multiple of the rate."""
    penalised = [
        normalised(law._log_weights - rate * law.rate * law.score(points))
        for points in (first, second)
    ]
    return np.max(np.abs(penalised[0] - penalised[1]), axis=-1)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("manifold", "sensitivity", "nodes"), SNAPPED, ids=str)
def test_snapped_footpoints_by_enumeration(manifold, sensitivity, nodes):
    law = _law(manifold, 0.5, sensitivity, nodes)
    assert law.snapped
    # every pair of nodes to which footpoints within the sensitivity of each other may be moved
    first, second, _ = law.net.close_pairs(sensitivity + 2 * law.net.covering_radius)
    log_p = law.log_probabilities(law.nodes)
    worst = 0.0
    for start in range(0, len(first), 2000):
        part = slice(start, start + 2000)
        worst = max(worst, np.max(np.abs(log_p[first[part]] - log_p[second[part]])))
    assert worst <= 0.5
    assert worst > 0.498  # and nothing is given away
    doubled = normalised(law._log_weights - 2 * law.rate * law.score(law.nodes))
    part = slice(0, len(first), max(1, len(first) // 4000))
    assert np.max(np.abs(doubled[first[part]] - doubled[second[part]])) > 0.5


@pytest.mark.fast(1)
@pytest.mark.parametrize(("manifold", "sensitivity", "nodes"), SNAPPED[:1] + LIPSCHITZ, ids=str)
def test_any_neighbouring_footpoints_by_enumeration(manifold, sensitivity, nodes):
    epsilon = 0.5 if sensitivity > 0.1 else 0.1
    law = _law(manifold, epsilon, sensitivity, nodes)
    assert law.snapped == (sensitivity > 0.1)
    rng = np.random.default_rng(0)
    dim = manifold.dim
    steps = rng.normal(size=(300, dim))
    steps *= rng.random((300, 1)) ** (1 / dim) / np.linalg.norm(steps, axis=-1, keepdims=True)
    x = law.ball.point(steps)
    move = rng.normal(size=(300, dim))
    move *= sensitivity * (1 - 1e-9) / np.linalg.norm(move, axis=-1, keepdims=True)
    y = law.ball.project(manifold.exp(x, manifold.tangent_vector(x, move)))
    assert np.all(manifold.dist(x, y) <= sensitivity)
    assert np.max(_losses(law, x, y)) <= epsilon


@pytest.mark.fast(1)
@pytest.mark.parametrize(("manifold", "sensitivity", "nodes"), LIPSCHITZ, ids=str)
def test_twice_the_lipschitz_rate_is_too_much(manifold, sensitivity, nodes):
    # towards the boundary the normaliser falls, and one of the draws is the footpoint itself
    law = _law(manifold, 0.1, sensitivity, nodes, spread=0.0)
    assert not law.snapped
    x = law.nodes[-1]
    away = manifold.dist(manifold.origin, x)
    y = manifold.exp(x, manifold.log(x, manifold.origin) * sensitivity * (1 - 1e-9) / away)
    assert _losses(law, x[None], y[None])[0] <= 0.1
    assert _losses(law, x[None], y[None], rate=2.0)[0] > 0.1


@pytest.mark.fast(1)
@pytest.mark.parametrize(("manifold", "sensitivity", "nodes"), LIPSCHITZ, ids=str)
def test_lipschitz_constant_of_the_score_over_random_pairs(manifold, sensitivity, nodes):
    law = _law(manifold, 0.1, sensitivity, nodes, spread=2.0)
    rng = np.random.default_rng(3)
    steps = rng.uniform(-0.5, 0.5, size=(2, 300, manifold.dim))
    steps[1] = steps[0] + rng.normal(size=steps[0].shape) * rng.choice([1e-3, 0.1], (300, 1))
    x, y = law.ball.point(steps)
    change = np.max(np.abs(law.score(x) - law.score(y)), axis=-1)
    slope = np.max(change / manifold.dist(x, y))
    bound = math.sqrt(law.factor.max())
    assert slope <= bound * (1 + 1e-9)
    assert slope > 0.9 * bound


def _drawn_loss(log_p, first, second):
    """Largest log ratio of the probabilities with which nodes are drawn, exactly."""
    worst = 0.0
    weights = {row: integer_weights(log_p[row]) for row in {*first.tolist(), *second.tolist()}}
    masses = {row: sum(values) for row, values in weights.items()}
    for u, v in zip(first.tolist(), second.tolist(), strict=True):
        # log(1 + x) of an exact ratio's small difference from 1
        ratios = [
            Fraction(a * masses[v] - b * masses[u], b * masses[u])
            for a, b in zip(weights[u], weights[v], strict=True)
        ]
        worst = max(worst, *(abs(math.log1p(float(x))) for x in (min(ratios), max(ratios))))
    return worst


@pytest.mark.fast(1)
@pytest.mark.parametrize("epsilon", [1e-3, 5e-11, 2e-12])
def test_a_tiny_epsilon_by_enumeration_of_what_is_drawn(epsilon):
    law = _law(Euclidean(2), epsilon, 0.4, 500)
    assert law.snapped
    first, second, _ = law.net.close_pairs(0.4 + 2 * law.net.covering_radius)
    log_p = law.log_probabilities(law.nodes)
    losses = np.max(np.abs(log_p[first[::50]] - log_p[second[::50]]), axis=-1)
    largest = 50 * np.argsort(losses)[-20:]  # the exact loss of the pairs that have most
    worst = _drawn_loss(log_p, first[largest], second[largest])
    assert 0.8 * epsilon < worst <= epsilon

    # negative control: sums of float64 probabilities miss by more than is allowed for
    def error(drawn):
        return np.max(np.abs(np.log(drawn) - log_p[0]))

    allowed = drawn_error(law._log_weights, law.rate * np.max(law.score(law.nodes[0])))
    cumulative = np.cumsum(np.exp(log_p[0]))
    weights = np.array(integer_weights(log_p[0]), dtype=float)
    assert error(weights / weights.sum()) < 0.1 * allowed
    assert error(np.diff(cumulative, prepend=0.0) / cumulative[-1]) > allowed


def test_what_rounding_may_cost_is_taken_off_epsilon():
    law = _law(Euclidean(2), 2e-12, 0.02, 500, spread=0.0)
    error = drawn_error(law._log_weights, law.rate * np.max(law.score(law.nodes[0])))
    assert error > 0.005 * law.epsilon
    assert not law.snapped
    assert law.rate <= lipschitz_rate(law.epsilon - error, 1.0, 0.02)


def test_an_epsilon_under_the_rounding_is_refused():
    with pytest.raises(NotAttainableError, match=r"epsilon = 1e-14 .* at least .* larger epsilon"):
        _law(Euclidean(2), 1e-14, 0.4, 500)


def test_integer_weights_keep_the_digits_of_small_probabilities():
    log_p = np.array([-0.1, -50.0, -400.0, -1e5])
    weights = integer_weights(log_p)
    for weight, log in zip(weights, [*log_p[:3], -1000.0], strict=True):
        exact = mpmath.exp(mpmath.mpf(log) - mpmath.mpf(log_p[0]))
        assert abs(mpmath.mpf(weight) / weights[0] / exact - 1) < 1e-12


def test_a_constant_factor_gives_the_plain_laplace_on_the_net():
    law = _law(Sphere(2), 0.1, 0.02, 500, spread=0.0)
    foot = law.ball.point(np.array([0.3, 0.1]))
    np.testing.assert_allclose(law.score(foot), Sphere(2).dist(foot, law.nodes), atol=1e-12)
    expected = normalised(np.log(law.net.volumes) - law.rate * Sphere(2).dist(foot, law.nodes))
    np.testing.assert_allclose(law.log_probabilities(foot), expected, atol=1e-12)
    assert law.rate == pytest.approx(0.1 / (2 * 0.02))


def holds(pvalue):
    """Whether a p-value exceeds 1e-4, with one retry on a fresh seed."""
    return any(pvalue(np.random.default_rng(seed)) > 1e-4 for seed in (20211, 20212))


def test_draws_follow_the_probabilities():
    for sensitivity, epsilon in ((0.4, 0.8), (0.05, 0.3)):
        law = _law(Euclidean(2), epsilon, sensitivity, 150)
        foot = np.array([0.31, -0.2])
        probability = np.exp(law.log_probabilities(foot))
        assert probability.sum() == pytest.approx(1.0)
        index = {tuple(node): i for i, node in enumerate(law.nodes.tolist())}

        def pvalue(generator, law=law, foot=foot, probability=probability, index=index):
            draws = law.sample(foot, 20_000, generator)
            counts = np.bincount(
                [index[tuple(z)] for z in draws.tolist()], minlength=len(probability)
            )
            rare = probability * 20_000 < 5
            pooled = [np.append(a[~rare], a[rare].sum()) for a in (counts, 20_000 * probability)]
            keep = pooled[1] > 0
            return scipy.stats.chisquare(
                pooled[0][keep], pooled[1][keep] * pooled[0].sum() / pooled[1][keep].sum()
            ).pvalue

        assert holds(pvalue)


def test_shapes():
    law = _law(SPDLogEuclidean(2), 0.5, 0.6, 300)
    feet = law.ball.point(np.array([[0.0, 0.1, 0.0], [0.2, 0.0, 0.0]]))
    assert law.nodes.shape == (len(law.factor), 2, 2)
    assert law.log_probabilities(feet).shape == (2, len(law.nodes))
    assert law.log_probabilities(feet[0]).shape == (len(law.nodes),)
    assert law.sample(feet, (3, 1), np.random.default_rng(0)).shape == (3, 1, 2, 2, 2)
    assert law.sample(feet[0]).shape == (2, 2)
    assert law.sample(feet, 0).shape == (0, 2, 2, 2)
    assert law.expected_distance(feet).shape == (2,)
    assert law.proven
    assert law.guarantee == PureDP(0.5)


def test_no_draw_is_infinitely_unlikely_and_huge_rates_do_not_overflow():
    law = _law(Euclidean(2), 30.0, 2.0, 500)
    log_p = law.log_probabilities(np.zeros(2))
    assert np.all(np.isfinite(log_p))
    assert log_p.min() < -15


def test_expected_distance_against_draws():
    law = _law(Euclidean(2), 0.5, 0.1, 500)
    foot = np.array([0.2, 0.2])
    draws = law.sample(foot, 20_000, np.random.default_rng(0))
    assert np.mean(np.linalg.norm(draws - foot, axis=-1)) == pytest.approx(
        float(law.expected_distance(foot)), rel=0.02
    )


@pytest.mark.fast(1)
@pytest.mark.parametrize("sensitivity", [0.4, 0.03])
def test_a_prior_on_the_net(sensitivity):
    epsilon = 0.5 if sensitivity > 0.1 else 0.2
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    net = ball_net(ball, 500)
    prior = np.exp(-6 * np.sum((net.points - 0.3) ** 2, axis=-1))
    law = NetLaplace(ball, net, np.ones(len(prior)), epsilon, sensitivity, prior=prior)
    foot = np.array([0.2, 0.1])
    if not law.snapped:
        expected = np.log(net.volumes * prior) - law.rate * np.linalg.norm(
            law.nodes - foot, axis=-1
        )
        np.testing.assert_allclose(law.log_probabilities(foot), normalised(expected), atol=1e-10)
    angle = np.linspace(0, 2 * np.pi, 60)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    x, y = 0.95 * circle, (0.95 - 0.999 * sensitivity) * circle
    assert np.max(_losses(law, x, y)) <= epsilon


def test_a_larger_region_than_the_ball():
    ball = Ball(Euclidean(2), np.zeros(2), 0.5)
    region = Ball(Euclidean(2), np.array([0.1, 0.0]), 0.8)
    net = public_net(ball, region, 400)
    law = NetLaplace(ball, net, np.ones(len(net.points)), 0.5, 0.2)
    assert np.linalg.norm(law.nodes, axis=-1).max() > 0.6
    with pytest.raises(UnsupportedBallError, match="contain the ball"):
        public_net(ball, Ball(Euclidean(2), np.array([0.4, 0.0]), 0.8), 400)
    with pytest.raises(InvalidParameterError, match="region"):
        public_net(ball, Ball(Sphere(2), Sphere(2).origin, 1.0), 400)


def test_bad_input_is_refused_by_name():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    net = ball_net(ball, 200)
    ones = np.ones(len(net.points))
    with pytest.raises(InvalidBudgetError, match="epsilon"):
        NetLaplace(ball, net, ones, 0.0, 0.1)
    with pytest.raises(InvalidParameterError, match="sensitivity"):
        NetLaplace(ball, net, ones, 0.5, -1.0)
    with pytest.raises(InvalidParameterError, match="positive and finite"):
        NetLaplace(ball, net, -ones, 0.5, 0.2)
    with pytest.raises(InvalidParameterError, match="shape"):
        NetLaplace(ball, net, ones[:-1], 0.5, 0.2)
    with pytest.raises(NotAttainableError, match=r"covering radius .* about [0-9]+ nodes"):
        NetLaplace(ball, net, ones, 0.5, 0.002)
    with pytest.raises(UnsupportedBallError, match="ball"):
        NetLaplace(ball, net, ones, 0.5, 0.2).sample(np.array([1.5, 0.0]))
    with pytest.raises(InvalidParameterError, match="function"):
        evaluated(3.0, net, "prior")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="one number"):
        evaluated(lambda points: 1.0 + points**2, net, "prior")
    with pytest.raises(InvalidParameterError, match="prior must be positive"):
        NetLaplace(ball, net, ones, 0.5, 0.2, prior=0.0 * ones)


@pytest.mark.parametrize("weights", [[1, 1], [3, 2**200], [2**7 - 1] * 5])
def test_a_draw_takes_64_bits_more_than_the_weights_have(weights):
    asked = []

    class Source:
        def bytes(self, size):
            asked.append(size)
            return bytes(size)

    assert _net_laplace._drawn(weights, 3, Source()) == [0, 0, 0]
    bits = 8 * sum(asked) / 3
    assert sum(weights).bit_length() + 64 <= bits < sum(weights).bit_length() + 64 + 8


def test_the_rounding_allowance_knows_the_largest_score(monkeypatch):
    reach = []

    def seen(log_weights, rise):
        reach.append(rise)
        return drawn_error(log_weights, rise)

    monkeypatch.setattr(_net_laplace, "drawn_error", seen)
    law = _law(Sphere(2), 0.2, 0.02, 300)
    rate = lipschitz_rate(0.2, math.sqrt(float(np.max(law.factor))), 0.02)
    largest = float(np.max(law.score(law.nodes)))
    assert 2.0 * rate * largest <= reach[0] <= 6.0 * rate * largest
