from __future__ import annotations

import numpy as np
import pytest

from riemdp.research._conformal_calibration import lipschitz_rate, snapped_rate
from riemdp.research._graph_metric import conformal_graph, graph_distance
from riemdp.research._net import ball_net
from riemdp.spaces import Ball, Euclidean, Sphere


def _setting(manifold, nodes):
    net = ball_net(Ball(manifold, manifold.origin, 1.0), nodes)
    factor = np.exp(np.sin(5 * manifold.dist(manifold.origin, net.points)))
    return net, conformal_graph(net, factor), np.log(net.volumes * factor)


def _loss(net, graph, log_weights, rate, reach):
    """Brute force: every pair within reach by distance, every node, no structure used."""
    dist = graph_distance(graph, np.arange(len(net.points)))
    log_p = log_weights - rate * dist
    log_p -= np.log(np.sum(np.exp(log_p), axis=-1, keepdims=True))
    near = net.ball.manifold.dist(net.points[:, None], net.points[None]) <= reach
    return max(np.max(np.abs(log_p[u] - log_p[near[u]])) for u in range(len(log_p)))


@pytest.mark.fast(2)
@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2), Euclidean(3)], ids=str)
def test_exact_calibration_against_brute_force(manifold):
    net, graph, log_weights = _setting(manifold, 300)
    rate = snapped_rate(net, graph, log_weights, 0.7, 0.3)
    reach = 0.3 + 2 * net.covering_radius
    loss = _loss(net, graph, log_weights, rate, reach)
    assert 0.69 < loss <= 0.7
    assert _loss(net, graph, log_weights, 2 * rate, reach) > 0.7
    # negative control: forgetting that snapping moves both footpoints
    tempting = snapped_rate(net, graph, log_weights, 0.7, 0.3 - 2 * net.covering_radius + 1e-3)
    assert _loss(net, graph, log_weights, tempting, reach) > 0.7


def test_exact_calibration_gains_on_a_fine_net():
    # a line, where nets are fine: 1.8 times the rate of the Lipschitz argument
    net = ball_net(Ball(Euclidean(1), np.zeros(1), 1.0), 1000)
    graph = conformal_graph(net, np.ones(len(net.points)))
    rate = snapped_rate(net, graph, np.log(net.volumes), 0.5, 0.05)
    assert 1.0 < rate / lipschitz_rate(0.5, 1.0, 0.05) < 2.0


def test_lipschitz_rate():
    assert lipschitz_rate(0.5, 2.0, 0.1) == pytest.approx(1.25)
    assert lipschitz_rate(0.5, 2.0, 0.1) < 1.25


def test_a_tiny_epsilon_is_not_calibrated_by_rounding_errors():
    # beside large weights a small difference of normalisers is lost; the rate that always holds is
    # taken, though nearly twice it would seem to do
    net, graph, log_weights = _setting(Euclidean(2), 300)
    rate = snapped_rate(net, graph, log_weights + 690.0, 1e-14, 0.3)
    first, second, _ = net.close_pairs(0.3 + 2 * net.covering_radius)
    apart = graph_distance(graph, np.arange(len(net.points)))[first, second].max()
    assert rate * apart / 0.5e-14 == pytest.approx(1.0)
