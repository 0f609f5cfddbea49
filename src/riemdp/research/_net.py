"""Finite public nets of a ball, with cells and a proved covering radius."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._array_fields import ArrayFields
from riemdp._checks import LARGEST_COUNT, count
from riemdp._errors import InvalidParameterError
from riemdp.noise._polar import constant_curvature
from riemdp.research._directions import (
    angle_within,
    direction_count,
    direction_net,
    farthest_corner,
    shell_volume,
)
from riemdp.research._polar import Geometry
from riemdp.spaces import Ball, as_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import FloatArray, Manifold

#: Largest dimension with nets: the number of nodes grows like (radius / spacing)^dim.
LARGEST_NET_DIM = 3
#: Relative allowance for rounding in covering radii and distances between nodes.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class BallNet(ArrayFields):
    r"""Points that come near every point of a ball.

    The centre, and rings on geodesic spheres about it. Each node has a cell, a block in polar
    coordinates; the cells are a partition of the ball up to their common boundaries.

    Attributes
    ----------
    ball : Ball
        What is covered.
    points : ndarray, shape (J, \*point_shape)
        Nodes, all in the ball.
    volumes : ndarray, shape (J,)
        Riemannian volumes of the cells.
    covering_radius : float
        Upper bound of the distance between a point of a cell and its node, so that every point of
        the ball has a node within it; rounding of coordinates included, and points that are
        outside by no more than ``Ball.contains`` forgives.

    References
    ----------
    docs/proofs/conformal-laplace.md
    """

    ball: Ball
    points: FloatArray
    volumes: FloatArray
    covering_radius: float

    def __post_init__(self) -> None:
        self._seal()

    @functools.cached_property
    def _coordinates(self) -> FloatArray:
        return _contraction(self.ball, self.points)

    @functools.cached_property
    def _tree(self) -> scipy.spatial.cKDTree:
        return scipy.spatial.cKDTree(self._coordinates)

    def distances(self, point: FloatArray) -> FloatArray:
        r"""Geodesic distances from a point to all nodes.

        Parameters
        ----------
        point : ndarray, shape (\*point_shape,)

        Returns
        -------
        ndarray, shape (J,)
        """
        manifold = self.ball.manifold
        if (chart := manifold.chart) is not None:  # saves the charts of all nodes
            offset = self._coordinates - chart.to_chart(point)
            return np.asarray(np.linalg.norm(offset, axis=-1))
        return manifold.dist(point, self.points)

    def nearest(self, points: ArrayLike) -> NDArray[np.intp]:
        r"""Nearest nodes of points.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the ball.

        Returns
        -------
        ndarray of int, shape (...)
        """
        manifold = self.ball.manifold
        points = as_floats(points)
        flat = points.reshape(-1, *manifold.point_shape)
        batch = points.shape[: points.ndim - len(manifold.point_shape)]
        if manifold.chart is not None or _is_round(manifold):  # the order of distances is kept
            return np.asarray(self._tree.query(_contraction(self.ball, flat))[1]).reshape(batch)
        reach = self.covering_radius
        close = self._tree.query_ball_point(_contraction(self.ball, flat), reach)
        nodes = np.empty(len(flat), dtype=np.intp)
        for i, candidates in enumerate(close):
            chosen = np.asarray(candidates if candidates else range(len(self.points)), np.intp)
            dist = manifold.dist(flat[i], self.points[chosen])
            nodes[i] = chosen[np.argmin(dist)]
        return nodes.reshape(batch)

    def close_pairs(self, reach: float) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
        """All pairs of distinct nodes at most ``reach`` apart, each once, and their distances.

        Pairs farther by rounding may be among them; none nearer is missing.

        Parameters
        ----------
        reach : float
            In units of geodesic distance.

        Returns
        -------
        first, second : ndarray of int, shape (pairs,)
        dist : ndarray, shape (pairs,)
        """
        reach = reach * (1.0 + ROUNDING) + _rounding(self.ball)
        pairs = self._tree.query_pairs(reach, output_type="ndarray")
        first, second = pairs[:, 0], pairs[:, 1]
        manifold = self.ball.manifold
        if manifold.chart is not None:
            offset = self._coordinates[first] - self._coordinates[second]
            dist = np.asarray(np.linalg.norm(offset, axis=-1))
        else:
            dist = manifold.dist(self.points[first], self.points[second])
        near = dist <= reach
        return first[near], second[near], dist[near]


def ball_net(ball: Ball, nodes: int) -> BallNet:
    """Quasi-uniform net of a ball with at most so many nodes.

    Parameters
    ----------
    ball : Ball
        Ball of a manifold of constant curvature and dimension at most 3.
    nodes : int
        Upper limit of the number of nodes; the net has a few per cent fewer.

    Returns
    -------
    BallNet

    Raises
    ------
    InvalidParameterError
        If the dimension exceeds 3 or there are too few nodes for one shell about the centre.
    UnsupportedManifoldError
        If the curvature is not constant.

    References
    ----------
    docs/proofs/conformal-laplace.md
    """
    check_net_dim(ball)
    nodes = count(nodes, "nodes")
    low, high = 1, nodes
    least = _size(ball, low, LARGEST_COUNT)
    if least > nodes:
        raise InvalidParameterError(
            f"nodes must be at least {least} on {ball.manifold}, got {nodes}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        if _size(ball, middle, nodes) <= nodes:
            low = middle
        else:
            high = middle
    return _build(ball, low)


def nodes_for(ball: Ball, covering_radius: float) -> int:
    """Estimate of the number of nodes that a covering radius takes, from volumes; at most 2^63."""
    dim = ball.manifold.dim
    net = ball_net(ball, 200)
    if net.covering_radius >= LARGEST_COUNT * covering_radius:
        return LARGEST_COUNT
    wanted = len(net.points) * (net.covering_radius / covering_radius) ** dim
    return min(math.ceil(wanted), LARGEST_COUNT)


def check_net_dim(ball: Ball) -> None:
    """Refuse manifolds without constant curvature and dimensions beyond 3."""
    constant_curvature(ball.manifold)
    if ball.manifold.dim > LARGEST_NET_DIM:
        raise InvalidParameterError(
            f"nets are limited to dimension {LARGEST_NET_DIM}, got {ball.manifold}; a metric that "
            "is known in closed form has ConformalRejection, a public prior PublicPriorLaplace, in "
            "any dimension"
        )


def _build(ball: Ball, shells: int) -> BallNet:
    geometry, dim = Geometry.of(ball.manifold), ball.manifold.dim
    half = ball.radius / geometry.unit / (2 * shells + 1)
    coordinates = [np.zeros((1, dim))]
    area = 2.0 * math.pi ** (0.5 * dim) / math.gamma(0.5 * dim)
    volumes = [np.array([area * shell_volume(geometry, dim, 0.0, half)])]
    worst = half
    for shell in range(1, shells + 1):
        distance = 2.0 * half * shell
        wanted = angle_within(geometry, distance, half, math.sqrt(dim) * half)
        directions, shares, covered = direction_net(dim, wanted)
        coordinates.append(distance * directions)
        inner, outer = distance - half, distance + half
        volumes.append(area * shell_volume(geometry, dim, inner, outer) * shares)
        worst = max(worst, farthest_corner(geometry, distance, half, covered))
    points = ball.point(np.concatenate(coordinates) * geometry.unit)
    points.flags.writeable = False
    reach = worst * geometry.unit
    return BallNet(
        ball=ball,
        points=points,
        volumes=np.concatenate(volumes) * geometry.unit**dim,
        # with the points outside the ball that Ball.contains forgives
        covering_radius=reach + ROUNDING * (reach + ball.radius) + _rounding(ball),
    )


def _size(ball: Ball, shells: int, limit: int) -> int:
    """Count the nodes of a net with so many shells, at most a little beyond the limit."""
    geometry, dim = Geometry.of(ball.manifold), ball.manifold.dim
    half = ball.radius / geometry.unit / (2 * shells + 1)
    total = 1
    for shell in range(shells, 0, -1):
        wanted = angle_within(geometry, 2.0 * half * shell, half, math.sqrt(dim) * half)
        total += direction_count(dim, wanted)
        if total > limit:
            break
    return total


def _contraction(ball: Ball, points: FloatArray) -> FloatArray:
    """Coordinates in which no two points lie farther apart than on the manifold."""
    manifold = ball.manifold
    if manifold.chart is not None:
        return manifold.chart.to_chart(points)
    if _is_round(manifold):
        return points
    return manifold.tangent_coordinates(ball.center, manifold.log(ball.center, points))


def _is_round(manifold: Manifold) -> bool:
    """Whether it is a sphere or a circle."""
    return Geometry.of(manifold).sign > 0


def _rounding(ball: Ball) -> float:
    """Allow for what the rounding of coordinates makes of a distance."""
    return 4.0 * ball.rounding
