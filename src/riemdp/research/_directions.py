"""Nets of directions, and the geometry of cells in polar coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise._quadrature import gauss_legendre
from riemdp.research._polar import Geometry

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray

_QUADRATURE = 16


def direction_net(dim: int, angle: float) -> tuple[FloatArray, FloatArray, float]:
    """Net of the unit sphere of R^dim: bands about a pole, each with a net of its own sphere.

    Returns J unit vectors, shape ``(J, dim)``, and the shares of the sphere's area in their cells,
    which add up to one. Last comes an upper bound of the angle, in radians, between a direction and
    the node of its cell; ``angle``, in radians, is the covering radius to reach.
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
        wanted = angle_within(round_unit, latitude, half, angle)
        ring, ring_shares, covered = direction_net(dim - 1, wanted)
        column = np.full((len(ring), 1), math.cos(latitude))
        parts.append(np.concatenate([column, math.sin(latitude) * ring], axis=-1))
        area = shell_volume(round_unit, dim - 1, latitude - half, latitude + half)
        shares.append(area * ring_shares)
        worst = max(worst, farthest_corner(round_unit, latitude, half, covered))
    share = np.concatenate(shares)
    return np.concatenate(parts), share / math.fsum(share), worst


def direction_count(dim: int, angle: float) -> int:
    """Count the nodes of :func:`direction_net`."""
    angle = min(angle, 0.5 * math.pi)
    if dim == 1:
        return 2
    if dim == 2:
        return max(2, math.ceil(math.pi / angle))
    bands = max(2, math.ceil(math.pi * math.sqrt(dim - 1) / (2.0 * angle)))
    half = 0.5 * math.pi / bands
    latitudes = ((2 * band + 1) * half for band in range(bands))
    rings = (angle_within(Geometry(1, 1.0), latitude, half, angle) for latitude in latitudes)
    return sum(direction_count(dim - 1, ring) for ring in rings)


def farthest_corner(geometry: Geometry, distance: float, half: float, angle: float) -> float:
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


def angle_within(geometry: Geometry, distance: float, half: float, reach: float) -> float:
    """Largest angle, at most pi/2, at which a cell's corners lie within ``reach``."""
    room = _s(geometry, 0.5 * reach) ** 2 - _s(geometry, 0.5 * half) ** 2
    ends = (max(distance - half, 0.0), distance + half)
    spread = _s(geometry, distance) * max(_s(geometry, end) for end in ends)
    if room >= 0.5 * spread:
        return 0.5 * math.pi
    return 2.0 * math.asin(math.sqrt(room / spread))


def shell_volume(geometry: Geometry, dim: int, inner: float, outer: float) -> float:
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
