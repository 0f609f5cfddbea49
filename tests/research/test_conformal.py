from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import riemdp
from riemdp import (
    Ball,
    BudgetExceededError,
    Euclidean,
    Hyperbolic,
    InvalidBudgetError,
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    PureDP,
    SPDLogEuclidean,
    Sphere,
    frechet_mean_sensitivity,
)
from riemdp.research import ConformalLaplace
from riemdp.research import _conformal as _conformal_module
from riemdp.research._net import ball_net
from riemdp.research._net_laplace import NetLaplace, check_rounding
from riemdp.research._records import mean_sensitivity
from riemdp.statistics import FrechetMean

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)
# Exponentials of the C library and of NumPy differ in the last bit; the calibration allows 1e-9.
EPS = 4.0 * float(np.finfo(np.float64).eps)


def _cluster(ball, n, seed=0):
    return ball.point(np.random.default_rng(seed).normal(0.15, 0.1, (n, ball.manifold.dim)))


def _worst(law, sensitivity, rate=1.0):
    """Largest log ratio over the nodes, for pairs of footpoints at most the sensitivity apart."""
    manifold, ball = law.law.ball.manifold, law.law.ball
    rng = np.random.default_rng(4)
    steps = rng.normal(size=(150, manifold.dim))
    steps *= ball.radius * rng.random((150, 1)) / np.linalg.norm(steps, axis=-1, keepdims=True)
    move = rng.normal(size=steps.shape)
    move *= sensitivity * (1 - 1e-9) / np.linalg.norm(move, axis=-1, keepdims=True)
    x = ball.point(steps)
    y = ball.project(manifold.exp(x, manifold.tangent_vector(x, move)))
    weight = [law.law._log_weights - rate * law.law.rate * law.law.score(p) for p in (x, y)]
    log_p = [w - np.log(np.sum(np.exp(w), axis=-1, keepdims=True)) for w in weight]
    return np.max(np.abs(log_p[0] - log_p[1]))


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    "ball",
    [PLANE, Ball(Sphere(2), [0, 0, 1], 0.8), Ball(SPDLogEuclidean(2), np.eye(2), 1.0)],
    ids=lambda ball: str(ball.manifold),
)
@pytest.mark.parametrize("n", [5, 30])
def test_private_factor_spends_both_parts_and_no_more(ball, n):
    points = _cluster(ball, n)
    law = ConformalLaplace.private(
        points, ball, 0.5, 0.1, nodes=900, generator=np.random.default_rng(0)
    )
    sensitivity = frechet_mean_sensitivity(ball, n)
    assert law.guarantee == PureDP(0.5)
    assert law.epsilon_density == pytest.approx(0.1)
    assert law.law.epsilon == pytest.approx(0.4)
    assert law.law.sensitivity >= sensitivity
    assert _worst(law, sensitivity) <= 0.4
    assert math.exp(-2 - EPS) <= law.factor.min() <= law.factor.max() <= math.exp(2 + EPS)
    assert law.proven


def test_twice_the_rate_of_a_private_factor_is_too_much():
    law = ConformalLaplace.private(
        _cluster(PLANE, 4), PLANE, 1.0, nodes=500, generator=np.random.default_rng(0)
    )
    assert law.law.snapped
    net = law.law.net
    first, second, _ = net.close_pairs(law.law.sensitivity + 2 * net.covering_radius)
    weight = law.law._log_weights - 2 * law.law.rate * law.law.score(net.points)
    log_p = weight - np.log(np.sum(np.exp(weight), axis=-1, keepdims=True))
    worst = max(
        np.max(np.abs(log_p[u] - log_p[v])) for u, v in zip(first[::7], second[::7], strict=True)
    )
    assert worst > 0.9
    assert law.epsilon_density == pytest.approx(0.1)


def test_public_factor_from_a_function_and_from_points():
    by_function = ConformalLaplace.public(
        PLANE, lambda points: np.exp(-np.sum(points**2, axis=-1)), 0.5, 0.1, nodes=500
    )
    by_points = ConformalLaplace.public(PLANE, _cluster(PLANE, 300), 0.5, 0.1, 500, cells=50)
    for law in (by_function, by_points):
        assert law.nodes.shape == (len(law.factor), 2)
        assert len(law.nodes) <= 500
        log_p = law.log_probabilities(np.array([0.1, 0.2]))
        assert np.sum(np.exp(log_p)) == pytest.approx(1.0)
        assert _worst(law, 0.1) <= 0.5
        assert law.sample(np.zeros(2), 3, np.random.default_rng(0)).shape == (3, 2)
        assert law.epsilon_density == 0.0
        assert law.guarantee == PureDP(0.5)
    near = by_points.law.net.nearest(np.array([0.15, 0.15]))
    assert by_points.factor[near] > 0.9 * by_points.factor.max()


def test_the_private_factor_depends_on_data_through_the_noisy_counts_alone():
    # with the same noise, two data sets of the same counts have the same law bit by bit
    points = _cluster(PLANE, 30)
    moved = points + 1e-9
    laws = [
        ConformalLaplace.private(
            data, PLANE, 3.0, 2.0, nodes=500, generator=np.random.default_rng(7)
        )
        for data in (points, moved)
    ]
    assert laws[0].factor.max() > 1.1 * laws[0].factor.min()
    assert np.array_equal(laws[0].factor, laws[1].factor)
    fresh = ConformalLaplace.private(points, PLANE, 3.0, 2.0, nodes=500)
    assert not np.array_equal(laws[0].factor, fresh.factor)


@pytest.mark.slow
def test_the_footpoint_is_the_mean_of_projected_records():
    points = _cluster(PLANE, 50)
    neighbour = points.copy()
    neighbour[0] = [40.0, 0.0]
    law = ConformalLaplace.private(points, PLANE, 0.5, generator=np.random.default_rng(0))

    def loss(records):
        feet = [riemdp.frechet_mean(PLANE.manifold, data).value for data in records]
        log_p = law.log_probabilities(np.array(feet))
        return np.max(np.abs(log_p[0] - log_p[1]))

    assert loss([PLANE.project(data) for data in (points, neighbour)]) <= 0.45
    # negative control: one record far outside moves the mean by more than the sensitivity
    assert loss([points, neighbour]) > 0.45


@pytest.mark.parametrize("n", [10, 10**8])
def test_the_sensitivity_contains_the_tolerance_of_the_mean(n):
    ball = Ball(Sphere(2), [0, 0, 1], 0.8)
    assert (
        mean_sensitivity(FrechetMean(), ball, n, "distance")[0]
        >= frechet_mean_sensitivity(ball, n) + 2e-10
    )


def test_an_accountant_that_cannot_be_charged_is_refused():
    with pytest.raises(InvalidParameterError, match="accountant"):
        ConformalLaplace.private(_cluster(PLANE, 30), PLANE, 1.0, nodes=400, accountant=3)  # type: ignore[arg-type]


class Ledger:
    def __init__(self):
        self.spent = []

    def spend(self, guarantee, label):
        self.spent.append((guarantee, label))


def test_the_total_is_charged_once():
    ledger = Ledger()
    ConformalLaplace.private(_cluster(PLANE, 30), PLANE, 1.0, nodes=400, accountant=ledger)
    assert [guarantee for guarantee, _ in ledger.spent] == [PureDP(1.0)]
    with pytest.raises(BudgetExceededError):
        ConformalLaplace.private(
            _cluster(PLANE, 30), PLANE, 1.0, nodes=400, accountant=riemdp.Accountant(PureDP(0.5))
        )


def test_expected_distance_is_that_of_the_law():
    law = ConformalLaplace.public(PLANE, lambda x: np.ones(len(x)), 0.5, 0.1, nodes=500)
    assert law.expected_distance(np.zeros(2)) == law.law.expected_distance(np.zeros(2))


def test_density_does_not_help_in_the_plane():
    """Error at n = 1000, epsilon .5: plain .0080, a public factor about twice that."""
    n, epsilon = 1000, 0.5
    points = np.random.default_rng(0).normal([0.3, 0.2], 0.1, (n, 2))
    mean = points.mean(axis=0)
    sensitivity = frechet_mean_sensitivity(PLANE, n)
    plain = riemdp.RiemannianLaplace.calibrate(PLANE.manifold, sensitivity, PureDP(epsilon))
    assert plain.expected_distance() == pytest.approx(0.008, rel=1e-9)
    # the neighbourhood of the mean is enough of a region: what lies beyond has no mass
    region = Ball(PLANE.manifold, [0.3, 0.2], 0.25)
    inner = Ball(PLANE.manifold, [0.3, 0.2], 0.1)

    def factor(x, sign):
        away = np.linalg.norm(x - mean, axis=-1)
        return np.exp(2 * sign * 0.28 * np.cos(np.minimum(12 * away, np.pi)))

    errors = {}
    for sign in (1, -1):
        law = ConformalLaplace.public(
            inner, lambda x, sign=sign: factor(x, sign), epsilon, sensitivity, 8000, region=region
        )
        errors[sign] = float(law.expected_distance(mean))
    assert 0.0155 < errors[1] < 0.018  # the factor is largest near the data
    assert 0.018 < errors[-1] < 0.03  # published sign


def test_bad_input_is_refused_by_name():
    points = _cluster(PLANE, 30)
    for part in (1.0, 1.5):
        with pytest.raises(InvalidBudgetError, match="epsilon_density"):
            ConformalLaplace.private(points, PLANE, 1.0, part)
    with pytest.raises(NotAttainableError, match="covering radius"):
        ConformalLaplace.private(_cluster(PLANE, 5000), PLANE, 1.0, nodes=100)
    with pytest.raises(InvalidParameterError, match="positive and finite"):
        ConformalLaplace.public(PLANE, lambda x: x[:, 0], 0.5, 0.1)
    with pytest.raises(InvalidParameterError, match="positive and finite"):
        ConformalLaplace.public(PLANE, lambda x: np.full(len(x), math.inf), 0.5, 0.1)
    with pytest.raises(InvalidParameterError, match="dimension 3"):
        ConformalLaplace.public(
            Ball(Euclidean(5), np.zeros(5), 1.0), lambda x: np.ones(len(x)), 0.5, 0.1
        )
    with pytest.raises(InvalidParameterError, match="nodes"):
        ConformalLaplace.public(PLANE, lambda x: np.ones(len(x)), 0.5, 0.1, nodes=2)
    with pytest.raises(NotOnManifoldError, match="row 1"):
        ConformalLaplace.private([[0.0, 0.0], [0.0, math.nan]], PLANE, 1.0)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"sensitivity": math.nan}, InvalidParameterError, "sensitivity must be positive"),
        ({"sensitivity": math.inf}, InvalidParameterError, "sensitivity must be positive"),
        ({"sensitivity": -1}, InvalidParameterError, "sensitivity must be positive"),
        ({"sensitivity": 0.0}, InvalidParameterError, "sensitivity must be positive"),
        ({"sensitivity": "x"}, InvalidParameterError, "sensitivity must be a real number"),
        ({"sensitivity": 1e-75}, NotAttainableError, "takes about 9223372036854775807 nodes"),
        ({"epsilon": 1e300}, NotAttainableError, "takes about 9223372036854775807 nodes"),
        ({"epsilon": 5e-324}, InvalidBudgetError, "epsilon_density"),
        ({"epsilon": 1e-300}, NotAttainableError, "rounding alone"),
        ({"epsilon": 1e-13, "sensitivity": 1.0}, NotAttainableError, "rounding alone"),
    ],
    ids=str,
)
def test_what_public_numbers_decide_is_decided_before_the_charge(options, error, match):
    ledger, options = Ledger(), {"epsilon": 0.5, "nodes": 300, **options}
    with pytest.raises(error, match=match):
        ConformalLaplace.private(_cluster(PLANE, 30), PLANE, accountant=ledger, **options)
    assert ledger.spent == []


@pytest.mark.fast("Euclidean(dim=2)")
@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2), Hyperbolic(3)], ids=str)
def test_what_rounding_allows_it_allows_for_every_factor(manifold):
    ball = Ball(manifold, manifold.origin, 1.0)
    net, spread = ball_net(ball, 200), 4.0
    rng = np.random.default_rng(0)
    signs = [np.full(len(net.points), s) for s in (-1.0, 1.0)]
    signs += [np.sign(rng.normal(size=len(net.points))) for _ in range(6)]

    def allowed(make, *args):
        try:
            make(*args)
        except NotAttainableError:
            return False
        return True

    for epsilon, sensitivity in itertools.product(np.geomspace(1e-14, 1e-12, 5), (1e-11, 1.0)):
        if allowed(check_rounding, net, epsilon, sensitivity, spread):
            for sign in signs:
                assert allowed(NetLaplace, ball, net, np.exp(2 * sign), epsilon, sensitivity)
    # it refuses little else
    assert allowed(check_rounding, net, 1e-12, 1.0, spread)
    assert not allowed(NetLaplace, ball, net, np.exp(2 * signs[-1]), 1e-14, 1.0)


def test_cells_hold_half_the_share_of_the_records(monkeypatch):
    seen = []

    def partition(net, cells, most):
        seen.append(most)
        return _conformal_module._partition_before(net, cells, most)

    monkeypatch.setattr(_conformal_module, "_partition_before", _conformal_module._partition, False)
    monkeypatch.setattr(_conformal_module, "_partition", partition)
    law = ConformalLaplace.private(_cluster(PLANE, 40), PLANE, 0.5, epsilon_density=0.2, nodes=300)
    assert law.epsilon_density == 0.2
    assert seen == [0.5 * 40 * 0.2]


def test_its_text_says_what_it_spends():
    made = ConformalLaplace.public(PLANE, lambda x: np.ones(len(x)), 1.0, 0.5, nodes=100)
    assert "epsilon      1, 0 of it for the density" in str(made)
    assert "sensitivity  0.5" in str(made)
