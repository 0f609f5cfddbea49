from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.manifolds import Ball, Euclidean, Hyperbolic, Sphere
from riemdp.noise._net import ball_net
from riemdp.noise._net_poisson import solve_poisson


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
