from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError
from riemdp.research._graph_metric import (
    conformal_graph,
    entered_distance,
    graph_distance,
    solve_poisson,
)
from riemdp.research._net import ball_net
from riemdp.spaces import Ball, Euclidean, Hyperbolic, Sphere


def _net(manifold, nodes=600):
    return ball_net(Ball(manifold, manifold.origin, 1.0), nodes)


@pytest.mark.parametrize(
    "manifold", [Euclidean(2), Euclidean(3), Sphere(2), Hyperbolic(2)], ids=str
)
def test_without_a_factor_shortest_paths_are_a_little_longer_than_geodesics(manifold):
    net = _net(manifold)
    graph = conformal_graph(net, np.ones(len(net.points)))
    found = graph_distance(graph, np.arange(40))
    exact = manifold.dist(net.points[:40, None], net.points[None])
    assert np.all(found >= exact - 1e-12)
    far = exact > 4 * net.covering_radius
    assert np.mean(found[far] / exact[far]) < 1.06
    assert np.max(found[far] / exact[far]) < 1.2


def test_against_a_metric_with_a_known_distance():
    # exp(2x)|dz|^2 is flat: (x, y) -> exp(x) (cos y, sin y) is an isometry to the plane
    net = ball_net(Ball(Euclidean(2), np.zeros(2), 0.6), 4000)
    graph = conformal_graph(net, np.exp(2 * net.points[:, 0]))
    image = np.exp(net.points[:, :1]) * np.stack(
        [np.cos(net.points[:, 1]), np.sin(net.points[:, 1])], axis=-1
    )
    found = graph_distance(graph, np.array([0]))[0]
    inside = np.linalg.norm(net.points, axis=-1) < 0.45  # paths bend, but stay in the ball
    exact = np.linalg.norm(image - image[0], axis=-1)
    far = inside & (exact > 0.1)
    np.testing.assert_allclose(found[far], exact[far], rtol=0.06)


def test_edges_lie_between_the_extreme_factors():
    net = _net(Sphere(2))
    factor = np.exp(np.random.default_rng(0).uniform(-2, 2, len(net.points)))
    graph = conformal_graph(net, factor)
    row, column = graph.nonzero()
    edge = np.asarray(graph[row, column]).ravel()
    plain = Sphere(2).dist(net.points[row], net.points[column])
    assert np.all(edge <= plain * math.sqrt(factor.max()) * (1 + 1e-12))
    assert np.all(edge >= plain * math.sqrt(factor.min()) * (1 - 1e-12))
    assert abs(graph - graph.T).max() == 0.0


def test_entering_takes_the_cheapest_node():
    net = _net(Euclidean(2), 200)
    graph = conformal_graph(net, 1.0 + net.points[:, 0] ** 2)
    entry = np.random.default_rng(1).uniform(0, 2, len(net.points))
    entry[7] = 0.0  # entering at a node costs nothing, and is not taken for a missing edge
    every = graph_distance(graph, np.arange(len(net.points)))
    found = entered_distance(graph, entry)
    np.testing.assert_allclose(found, np.min(entry[:, None] + every, axis=0), atol=1e-12)
    assert found[7] == 0.0


def test_bad_factors_and_disconnected_graphs_are_refused():
    net = _net(Euclidean(2), 200)
    for bad in (0.0, -1.0, math.inf, math.nan):
        factor = np.ones(len(net.points))
        factor[3] = bad
        with pytest.raises(InvalidParameterError, match="positive and finite"):
            conformal_graph(net, factor)
    with pytest.raises(InvalidParameterError, match="parts"):
        conformal_graph(net, np.ones(len(net.points)), reach=0.5 * net.covering_radius)
    conformal_graph(net, np.ones(len(net.points)), reach=2.0 * net.covering_radius)


def test_against_a_solution_on_the_line():
    # -s'' = cos(pi x) on [-1, 1] with s' = 0 at both ends
    net = ball_net(Ball(Euclidean(1), np.zeros(1), 1.0), 1000)
    x = net.points[:, 0]
    found = solve_poisson(net, np.cos(math.pi * x))
    np.testing.assert_allclose(found, np.cos(math.pi * x) / math.pi**2, atol=0.01 / math.pi**2)


@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2), Hyperbolic(2)], ids=str)
def test_dense_places_get_large_values_and_the_mean_is_zero(manifold):
    net = ball_net(Ball(manifold, manifold.origin, 1.0), 1500)
    away = manifold.dist(manifold.origin, net.points)
    found = solve_poisson(net, np.exp(-50 * away**2))
    assert np.dot(net.volumes, found) == pytest.approx(0.0, abs=1e-9)
    assert found[0] == found.max()
    assert np.corrcoef(found, away)[0, 1] < -0.7


def test_a_cluster_in_the_plane_against_radial_integration():
    # -(1/r)(r s')' = f - mean f, integrated outwards
    net = ball_net(Ball(Euclidean(2), np.zeros(2), 1.0), 4000)
    r = np.linspace(1e-6, 1.0, 20001)
    step = r[1] - r[0]
    f = np.exp(-20 * r**2)
    f = f - 2 * np.sum(f * r) * step
    flux = -np.cumsum(f * r) * step / r
    s = np.cumsum(flux) * step
    s -= 2 * np.sum(s * r) * step
    away = np.linalg.norm(net.points, axis=-1)
    found = solve_poisson(net, np.exp(-20 * away**2))
    np.testing.assert_allclose(found, np.interp(away, r, s), atol=0.06 * (s.max() - s.min()))
