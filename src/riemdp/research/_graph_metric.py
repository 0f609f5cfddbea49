"""What graphs on a net give: distances of a conformal metric, and the Poisson equation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.research._net import BallNet
    from riemdp.spaces import FloatArray

#: Length of the longest edge over the covering radius of the net. From 2 on the graph of a net of
#: a ball is connected; 3 makes shortest paths about 1.5 per cent too long on average.
EDGE_REACH = 3.0
#: Width and cut-off of the kernel of the Laplacian, in covering radii.
_WIDTH = 1.5
_REACH = 3.0


def conformal_graph(
    net: BallNet, factor: FloatArray, *, reach: float | None = None
) -> scipy.sparse.csr_matrix:
    """Graph on the nodes of a net, with edges as long as in the metric ``factor * g``.

    An edge is a geodesic of g; the root of the factor is averaged over its two ends. So no edge is
    longer than its length in g times the root of the largest factor, nor shorter than with the
    least one.

    Parameters
    ----------
    net : BallNet
    factor : ndarray, shape (J,)
        Conformal factor at the nodes, positive and finite.
    reach : float, optional
        Longest edge in units of geodesic distance; three covering radii by default.

    Returns
    -------
    csr_matrix, shape (J, J)
        Symmetric, lengths in units of the conformal metric.

    Raises
    ------
    InvalidParameterError
        If a factor is not positive and finite, or the graph is not connected.
    """
    factor = check_positive(factor, "the conformal factor")
    first, second, dist = net.close_pairs(
        EDGE_REACH * net.covering_radius if reach is None else reach
    )
    root = np.sqrt(factor)
    length = dist * (0.5 * (root[first] + root[second]))
    size = len(net.points)
    graph = _both_ways(size, first, second, length)
    parts = scipy.sparse.csgraph.connected_components(graph, directed=False)[0]
    if parts != 1:
        raise InvalidParameterError(
            f"the graph of {size} nodes falls into {parts} parts; its edges must reach twice the "
            f"covering radius of the net, {2.0 * net.covering_radius:.6g}"
        )
    return graph


def _both_ways(
    size: int, first: NDArray[np.intp], second: NDArray[np.intp], values: FloatArray
) -> scipy.sparse.csr_matrix:
    """Symmetric matrix with values at pairs of nodes."""
    row, column = np.concatenate([first, second]), np.concatenate([second, first])
    return scipy.sparse.csr_matrix((np.tile(values, 2), (row, column)), shape=(size, size))


def check_positive(values: FloatArray, what: str) -> FloatArray:
    """Return the values or raise ``InvalidParameterError`` unless all are positive and finite."""
    if not (np.all(values > 0.0) and np.all(np.isfinite(values))):
        raise InvalidParameterError(
            f"{what} must be positive and finite at every node of the net; clip it, to "
            "[exp(-2), exp(2)] say"
        )
    return values


def graph_distance(graph: scipy.sparse.csr_matrix, nodes: NDArray[np.intp]) -> FloatArray:
    """Lengths of shortest paths from some nodes to all.

    Parameters
    ----------
    graph : csr_matrix, shape (J, J)
    nodes : ndarray of int, shape (m,)

    Returns
    -------
    ndarray, shape (m, J)
    """
    return np.asarray(scipy.sparse.csgraph.dijkstra(graph, directed=True, indices=nodes))


def entered_distance(graph: scipy.sparse.csr_matrix, entry: FloatArray) -> FloatArray:
    """Distances to all nodes from outside the graph, ``min_u (entry[u] + dist(u, .))``.

    Parameters
    ----------
    graph : csr_matrix, shape (J, J)
    entry : ndarray, shape (J,)
        Costs of entering the graph at each node.

    Returns
    -------
    ndarray, shape (J,)
    """
    size = len(entry)
    data = np.concatenate([graph.data, entry])
    column = np.concatenate([graph.indices, np.arange(size, dtype=graph.indices.dtype)])
    last = np.array([len(data)], dtype=graph.indptr.dtype)
    start = np.concatenate([graph.indptr, last])
    extended = scipy.sparse.csr_matrix((data, column, start), shape=(size + 1, size + 1))
    dist = scipy.sparse.csgraph.dijkstra(extended, directed=True, indices=size)
    return np.asarray(dist[:size])


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
    laplacian = scipy.sparse.csgraph.laplacian(_both_ways(size, first, second, weight)).tocsc()
    load = volumes * (density - np.dot(volumes, density) / total)
    # The constant is free: the first node is held at 0.
    solution = np.zeros(size)
    solution[1:] = scipy.sparse.linalg.spsolve(laplacian[1:, 1:], load[1:])
    return np.asarray(solution - np.dot(volumes, solution) / total)
