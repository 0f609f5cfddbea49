"""Finite public nets of a ball, with cells and a proved covering radius."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._checks import LARGEST_COUNT, count
from riemdp._errors import InvalidParameterError
from riemdp.manifolds import Ball, FlatManifold, Sphere
from riemdp.noise._polar import Geometry, constant_curvature
from riemdp.noise._quadrature import gauss_legendre

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds._manifold import FloatArray

#: Largest dimension with nets: the number of nodes grows like (radius / spacing)^dim.
LARGEST_NET_DIM = 3
#: Relative allowance for rounding in covering radii and distances between nodes.
ROUNDING = 1e-9
_QUADRATURE = 16


@dataclass(frozen=True, eq=False)
class BallNet:
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
        the ball has a node within it; rounding of coordinates included.

    References
    ----------
    docs/proofs/conformal-laplace.md
    """

    ball: Ball
    points: FloatArray
    volumes: FloatArray
    covering_radius: float

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
        if isinstance(manifold, FlatManifold):  # saves the charts of all nodes
            offset = self._coordinates - manifold.to_chart(point)
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
        points = np.asarray(points, dtype=np.float64)
        flat = points.reshape(-1, *manifold.point_shape)
        batch = points.shape[: points.ndim - len(manifold.point_shape)]
        if isinstance(manifold, (FlatManifold, Sphere)):  # there the order of distances is kept
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
        if isinstance(manifold, FlatManifold):
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
    """Estimate of the number of nodes that a covering radius takes, from volumes."""
    dim = ball.manifold.dim
    net = ball_net(ball, 200)
    return math.ceil(len(net.points) * (net.covering_radius / covering_radius) ** dim)


def check_net_dim(ball: Ball) -> None:
    """Refuse manifolds without constant curvature and dimensions beyond 3."""
    constant_curvature(ball.manifold)
    if ball.manifold.dim > LARGEST_NET_DIM:
        raise InvalidParameterError(
            f"nets are limited to dimension {LARGEST_NET_DIM}, got {ball.manifold}; a metric that "
            "is known in closed form has ConformalRejection, a public prior PublicPriorLaplace, in "
            "any dimension"
        )


def direction_net(dim: int, angle: float) -> tuple[FloatArray, FloatArray, float]:
    """Net of the unit sphere of R^dim.

    Bands about a pole, each with a net of its own sphere of directions.

    Parameters
    ----------
    dim : int
        Dimension of the space around the sphere.
    angle : float
        Covering radius to reach, in radians.

    Returns
    -------
    directions : ndarray, shape (J, dim)
        Unit vectors.
    shares : ndarray, shape (J,)
        Shares of the sphere's area in their cells; they add up to one.
    covering_angle : float
        Upper bound of the angle between a direction and the node of its cell.
    """
    angle = min(angle, 0.5 * math.pi)
    if dim == 1:
        return np.array([[1.0], [-1.0]]), np.full(2, 0.5), 0.0
    if dim == 2:
        turns = max(2, math.ceil(math.pi / angle))
        turn = 2.0 * math.pi * np.arange(turns) / turns
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        return circle, np.full(turns, 1.0 / turns), math.pi / turns
    bands = max(2, math.ceil(math.pi * math.sqrt(dim - 1) / (2.0 * angle)))
    half = 0.5 * math.pi / bands
    parts, shares, worst = [], [], 0.0
    round_unit = Geometry(1, 1.0)
    for band in range(bands):
        latitude = (2 * band + 1) * half
        wanted = _angle_for(round_unit, latitude, half, angle)
        ring, ring_shares, covered = direction_net(dim - 1, wanted)
        column = np.full((len(ring), 1), math.cos(latitude))
        parts.append(np.concatenate([column, math.sin(latitude) * ring], axis=-1))
        area = _shell(round_unit, dim - 1, latitude - half, latitude + half)
        shares.append(area * ring_shares)
        worst = max(worst, _corner(round_unit, latitude, half, covered))
    share = np.concatenate(shares)
    return np.concatenate(parts), share / math.fsum(share), worst


def _build(ball: Ball, shells: int) -> BallNet:
    geometry, dim = Geometry.of(ball.manifold), ball.manifold.dim
    half = ball.radius / geometry.unit / (2 * shells + 1)
    coordinates = [np.zeros((1, dim))]
    area = 2.0 * math.pi ** (0.5 * dim) / math.gamma(0.5 * dim)
    volumes = [np.array([area * _shell(geometry, dim, 0.0, half)])]
    worst = half
    for shell in range(1, shells + 1):
        distance = 2.0 * half * shell
        wanted = _angle_for(geometry, distance, half, math.sqrt(dim) * half)
        directions, shares, covered = direction_net(dim, wanted)
        coordinates.append(distance * directions)
        inner, outer = distance - half, distance + half
        volumes.append(area * _shell(geometry, dim, inner, outer) * shares)
        worst = max(worst, _corner(geometry, distance, half, covered))
    points = ball.point(np.concatenate(coordinates) * geometry.unit)
    points.flags.writeable = False
    return BallNet(
        ball=ball,
        points=points,
        volumes=np.concatenate(volumes) * geometry.unit**dim,
        covering_radius=worst * geometry.unit * (1.0 + ROUNDING) + _rounding(ball),
    )


def _size(ball: Ball, shells: int, limit: int) -> int:
    """Count the nodes of a net with so many shells, at most a little beyond the limit."""
    geometry, dim = Geometry.of(ball.manifold), ball.manifold.dim
    half = ball.radius / geometry.unit / (2 * shells + 1)
    total = 1
    for shell in range(shells, 0, -1):
        wanted = _angle_for(geometry, 2.0 * half * shell, half, math.sqrt(dim) * half)
        total += _direction_count(dim, wanted)
        if total > limit:
            break
    return total


def _direction_count(dim: int, angle: float) -> int:
    """Count the nodes of :func:`direction_net`."""
    angle = min(angle, 0.5 * math.pi)
    if dim == 1:
        return 2
    if dim == 2:
        return max(2, math.ceil(math.pi / angle))
    bands = max(2, math.ceil(math.pi * math.sqrt(dim - 1) / (2.0 * angle)))
    half = 0.5 * math.pi / bands
    latitudes = ((2 * band + 1) * half for band in range(bands))
    rings = (_angle_for(Geometry(1, 1.0), latitude, half, angle) for latitude in latitudes)
    return sum(_direction_count(dim - 1, ring) for ring in rings)


def _corner(geometry: Geometry, distance: float, half: float, angle: float) -> float:
    """Largest distance from (distance, 0) to a cell of this half width and angle (<= pi/2).

    At a fixed angle the distance to a point that moves along a geodesic ray is quasi-convex, and
    it grows with the angle, so that the farthest point is one of two corners.
    """
    corners = (distance - half, distance + half)
    return max(_side(geometry, distance, end, angle) for end in corners)


def _side(geometry: Geometry, a: float, b: float, angle: float) -> float:
    """Third side of a triangle: ``s(c/2)^2 = s((a-b)/2)^2 + s(a) s(b) sin(angle/2)^2``."""
    square = _s(geometry, 0.5 * (a - b)) ** 2
    square += max(_s(geometry, a) * _s(geometry, b), 0.0) * math.sin(0.5 * angle) ** 2
    return 2.0 * _inverse_s(geometry, math.sqrt(square))


def _angle_for(geometry: Geometry, distance: float, half: float, reach: float) -> float:
    """Largest angle, at most pi/2, at which a cell's corners lie within ``reach``."""
    room = _s(geometry, 0.5 * reach) ** 2 - _s(geometry, 0.5 * half) ** 2
    ends = (max(distance - half, 0.0), distance + half)
    spread = _s(geometry, distance) * max(_s(geometry, end) for end in ends)
    if room >= 0.5 * spread:
        return 0.5 * math.pi
    return 2.0 * math.asin(math.sqrt(room / spread))


def _shell(geometry: Geometry, dim: int, inner: float, outer: float) -> float:
    """Integral of ``s(r)^(dim-1)`` between two radii."""
    node, weight = gauss_legendre(_QUADRATURE)
    radius = inner + 0.5 * (outer - inner) * (1.0 + node)
    values = np.maximum(geometry.s(radius), 0.0) ** (dim - 1)
    return float(0.5 * (outer - inner) * np.dot(weight, values))


def _s(geometry: Geometry, x: float) -> float:
    return float(geometry.s(np.asarray(x)))


def _inverse_s(geometry: Geometry, value: float) -> float:
    if geometry.sign == 0:
        return value
    return math.asin(min(value, 1.0)) if geometry.sign > 0 else math.asinh(value)


def _contraction(ball: Ball, points: FloatArray) -> FloatArray:
    """Coordinates in which no two points lie farther apart than on the manifold."""
    manifold = ball.manifold
    if isinstance(manifold, FlatManifold):
        return manifold.to_chart(points)
    if isinstance(manifold, Sphere):
        return points
    return manifold.tangent_coordinates(ball.center, manifold.log(ball.center, points))


def _rounding(ball: Ball) -> float:
    """Allow for what the rounding of coordinates makes of a distance."""
    return 4.0 * ball._rounding
