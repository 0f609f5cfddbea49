"""The Poisson equation on a net."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from riemdp.manifolds import FloatArray
    from riemdp.noise._net import BallNet

#: Width and cut-off of the kernel of the Laplacian, in covering radii.
_WIDTH = 1.5
_REACH = 3.0


def solve_poisson(net: BallNet, density: FloatArray) -> FloatArray:
    """Solution with mean zero of ``-div grad s = density - mean`` with no flux over the boundary.

    By the weighted graph Laplacian of the nodes, scaled so that it is right for linear functions on
    average. No guarantee rests on its accuracy.

    Parameters
    ----------
    net : BallNet
    density : ndarray, shape (J,)
        Right-hand side at the nodes.

    Returns
    -------
    ndarray, shape (J,)
    """
    volumes, size = net.volumes, len(net.points)
    first, second, dist = net.close_pairs(_REACH * net.covering_radius)
    kernel = np.exp(-np.square(dist / (_WIDTH * net.covering_radius)))
    weight = volumes[first] * volumes[second] * kernel
    total = float(np.sum(volumes))
    # over ordered pairs, sum weight dist^2 = 2 dim volume
    weight *= net.ball.manifold.dim * total / float(np.sum(weight * np.square(dist)))
    row, column = np.concatenate([first, second]), np.concatenate([second, first])
    adjacency = scipy.sparse.csr_matrix((np.tile(weight, 2), (row, column)), shape=(size, size))
    laplacian = scipy.sparse.csgraph.laplacian(adjacency).tocsc()
    load = volumes * (density - np.dot(volumes, density) / total)
    # The constant is free: the first node is held at 0.
    solution = np.zeros(size)
    solution[1:] = scipy.sparse.linalg.spsolve(laplacian[1:, 1:], load[1:])
    return np.asarray(solution - np.dot(volumes, solution) / total)
