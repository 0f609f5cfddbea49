from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidBudgetError,
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    PureDP,
    RiemdpError,
    SPDAffineInvariant,
    Sphere,
    UnprovenMechanismError,
    private_mean,
)
from riemdp.manifolds import Product
from riemdp.noise.exact import FlatDraw
from riemdp.release import _private_ball
from riemdp.release._least_error import least_error
from riemdp.release._private_ball import private_ball, shell_counts

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)


def _cluster(n, spread, seed=0):
    return np.random.default_rng(seed).normal([0.3, -0.2], spread, (n, 2))


@pytest.mark.slow
def test_density_helps_where_the_data_are_dense():
    """At equal total epsilon, a tight cluster of many records is released with less error."""
    rng = np.random.default_rng(1)
    points = _cluster(10_000, 0.03)
    mean = points.mean(axis=0)
    plain, adaptive = [], []
    for _ in range(60):
        ball = private_ball(points, PLANE, 0.1, generator=rng)
        value = private_mean(points, ball, PureDP(0.4), generator=rng).value
        adaptive.append(np.linalg.norm(value - mean))
        value = private_mean(points, PLANE, PureDP(0.5), generator=rng).value
        plain.append(np.linalg.norm(value - mean))
    assert np.mean(adaptive) < 0.5 * np.mean(plain)


def test_the_ball_holds_a_cluster_and_is_the_public_one_for_spread_data():
    rng = np.random.default_rng(2)
    points = _cluster(20_000, 0.05)
    ball = private_ball(points, PLANE, 0.5, generator=rng)
    assert ball.radius < 0.4
    assert np.mean(ball.contains(points)) > 0.99
    spread = np.random.default_rng(0).uniform(-0.7, 0.7, (20_000, 2))
    assert private_ball(spread, PLANE, 0.5, generator=rng) == PLANE
    # too few records for the budget: nothing can be seen through the noise
    assert private_ball(_cluster(50, 0.05), PLANE, 0.1, generator=rng) == PLANE


def test_each_record_is_in_one_shell():
    points = np.concatenate([_cluster(500, 0.3), [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]])
    center = np.array([0.5, 0.0])
    counts = shell_counts(PLANE, center, points)
    assert counts.sum() == len(points)
    dist = np.linalg.norm(points - center, axis=-1)
    assert counts[0] == np.sum(dist > 1.0)
    assert np.sum(counts[:3]) == np.sum(dist > 0.5)
    assert counts[-1] == np.sum(dist <= 2.0**-6)
    for target in ([0.5, 0.0], [-0.9, 0.0], [0.4, 0.1]):
        neighbour = points.copy()
        neighbour[7] = target
        assert np.abs(counts - shell_counts(PLANE, center, neighbour)).sum() in (0.0, 2.0)


def test_half_of_epsilon_for_each_stage(monkeypatch):
    seen = {}

    def spy(wanted, ball, n, budget):
        seen["center"] = budget
        return least_error(wanted, ball, n, budget)

    class Law(FlatDraw):
        def integers(self, bits, ladder, footpoint, grid):
            seen.setdefault("laws", []).append((self.kind, self.dim, self.sigma, *footpoint))
            return super().integers(bits, ladder, footpoint, grid)

    monkeypatch.setattr(_private_ball, "least_error", spy)
    monkeypatch.setattr(_private_ball, "FlatDraw", Law)
    data = _cluster(100, 0.1)
    private_ball(data, PLANE, 0.6, generator=np.random.default_rng(0))
    assert seen["center"] == PureDP(0.3)
    # A replaced record changes two counts by one each: L1 sensitivity 2.
    *_, kinds, dims, scales, counts = (None, *zip(*seen["laws"], strict=True))
    assert set(kinds) == {"laplace"}
    assert set(dims) == {1}
    assert set(scales) == {2 / 0.3}
    assert sum(counts) == 100


def test_noise_of_the_counts_hides_one_record():
    # the output of the second stage at its worst pair: all records at the centre, one moved out
    rng = np.random.default_rng(3)
    here, there = np.zeros((20, 2)), np.zeros((20, 2))
    there[0] = [0.9, 0.0]
    counts = [shell_counts(PLANE, np.zeros(2), data) for data in (here, there)]
    changed = np.flatnonzero(counts[0] != counts[1])
    assert len(changed) == 2

    def event_rates(scale):
        """Probability that both noisy counts fall on the side that gives the record away."""
        rates = []
        for count in counts:
            noisy = count[changed] + rng.laplace(scale=scale, size=(200_000, 2))
            rates.append(np.mean((noisy[:, 0] < 0.5) & (noisy[:, 1] > 19.5)))
        return rates

    def refuted(rates, epsilon):
        """Whether the counts contradict epsilon at p < 1e-4."""
        high, low = max(rates) * 200_000, min(rates) * 200_000
        share = math.exp(epsilon) / (1 + math.exp(epsilon))
        test = scipy.stats.binomtest(int(high), int(high + low), share, alternative="greater")
        return test.pvalue < 1e-4

    assert not refuted(event_rates(2 / 1.0), 1.0)
    assert refuted(event_rates(1 / 1.0), 1.0)


@pytest.mark.parametrize("manifold", [Sphere(2), SPDAffineInvariant(2)], ids=str)
def test_curved_spaces(manifold):
    ball = Ball(manifold, manifold.origin, 0.7)
    steps = np.random.default_rng(0).normal(0.05, 0.02, (5000, manifold.dim))
    found = private_ball(ball.point(steps), ball, 2.0, generator=np.random.default_rng(1))
    assert found.manifold == manifold
    assert found.radius < 0.5 * ball.radius


class Ledger:
    def __init__(self):
        self.spent = []

    def spend(self, guarantee, label):
        self.spent.append(guarantee)
        assert label == "private_ball"


def test_epsilon_is_charged_once():
    ledger = Ledger()
    private_ball(_cluster(100, 0.1), PLANE, 0.3, accountant=ledger)
    assert ledger.spent == [PureDP(0.3)]


def test_bad_input_is_refused():
    points = _cluster(20, 0.1)
    with pytest.raises(InvalidBudgetError, match="epsilon"):
        private_ball(points, PLANE, 0.0)
    with pytest.raises(InvalidParameterError, match="expansion"):
        private_ball(points, PLANE, 1.0, expansion=0.5)
    with pytest.raises(InvalidParameterError, match="accountant"):
        private_ball(points, PLANE, 1.0, accountant=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="ball"):
        private_ball(points, 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(NotOnManifoldError):
        private_ball([[math.nan, 0.0]], PLANE, 1.0)


def test_a_whole_space_is_narrowed_as_any_ball():
    space = Sphere(2)
    points = Ball(space, space.origin, 0.05).point(np.zeros((3000, 2)))
    found = private_ball(points, Ball.whole(space), 5.0, generator=np.random.default_rng(0))
    assert found.radius < 1.0


class Bent(Euclidean):
    """A space that nobody vouches for."""


@pytest.mark.parametrize(
    ("manifold", "radius", "epsilon", "error"),
    [
        (Bent(2), 1.0, 1.0, UnprovenMechanismError),
        (Euclidean(2), 1.0, 1e-310, NotAttainableError),
        (Euclidean(2), 1.0, 5e-324, InvalidBudgetError),
        (Euclidean(2), 1e-200, 1.0, RiemdpError),
        (Euclidean(2), 1e-139, 1e-308, NotAttainableError),
    ],
)
def test_what_public_numbers_decide_is_decided_before_the_charge(manifold, radius, epsilon, error):
    ledger = Ledger()
    with pytest.raises(error):
        private_ball(np.zeros((20, 2)), Ball(manifold, [0, 0], radius), epsilon, accountant=ledger)
    assert ledger.spent == []


@pytest.mark.parametrize(
    ("ball", "far"),
    [
        (Ball.whole(Sphere(2)), [3.1, 3.1, 0.0]),
        (Ball.whole(Product(Sphere(2), Sphere(2))), [3.1, 3.1, 0.0]),
        (Ball(Hyperbolic(2), Hyperbolic(2).exp([1, 0, 0], [0, 7.9, 0]), 1.0), [0.9, 0.9, 0.9]),
    ],
    ids=["sphere", "product", "hyperbolic"],
)
def test_where_there_is_no_ball_about_the_centre_it_is_the_public_one(ball, far):
    steps = np.zeros((300, ball.manifold.dim))
    steps[:, 0] = np.tile(far, 100)
    points, returned = ball.point(steps), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        returned.append(private_ball(points, ball, 5.0, expansion=1.5, generator=rng))
    assert ball in returned
    assert all(found == ball or found.radius < ball.reach for found in returned)


def test_the_centre_is_that_of_a_private_mean():
    points = _cluster(20_000, 0.05)
    mean = private_mean(points, PLANE, PureDP(0.25), generator=np.random.default_rng(2))
    found = private_ball(points, PLANE, 0.5, generator=np.random.default_rng(2))
    assert np.array_equal(found.center, mean.value)


@pytest.mark.parametrize("n", [200, 2000, 20_000])
def test_noise_of_more_shells_is_allowed_for(n):
    """Of empty shells as many are left out as the noise of their sum hides few records of."""
    epsilon, deviation = 0.5, math.sqrt(2.0) * 2.0 / 0.5
    found = _private_ball._dense_radius(1.0, np.zeros(_private_ball._SHELLS), n, epsilon)
    room = [2.0 * deviation * math.sqrt(i + 1.0) <= 0.1 * n for i in range(13)]
    assert room == sorted(room, reverse=True)
    assert found == pytest.approx(2.0 ** (-0.5 * (max(sum(room), 1) - 1)))
