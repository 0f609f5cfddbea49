"""What the statements of Reimherr, Bharath, Soto (NeurIPS 2021) come to, computed.

Derivations: docs/proofs/statements-reimherr.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise import gauss_legendre
from riemdp.research import RestrictedLaplace
from riemdp.spaces import Ball, Euclidean, Sphere

if TYPE_CHECKING:
    from riemdp.spaces import Manifold
    from riemdp_papers._experiment import FloatArray

#: Nodes in each direction of a quadrature.
NODES = 200


def interval_loss(sensitivity: float, sigma: float) -> float:
    """Largest log ratio of two Laplace laws restricted to [-1, 1], one of them at its end.

    The footpoints are 1 and ``1 - sensitivity``; the ratio is largest at the end itself, where that
    of the normalisers adds to that of the exponentials. It lies between ``sensitivity / sigma`` and
    twice that.
    """
    line = Euclidean(1)
    law = RestrictedLaplace(line, sigma, ball=Ball(line, np.zeros(1), 1.0))
    end = np.ones(1)
    return float(law.log_density(end, end) - law.log_density(end, end - sensitivity))


def circle_means(points: FloatArray) -> FloatArray:
    """All global minimisers, in [-pi, pi), of the sum of squared arc lengths to angles (n,).

    Every local minimiser is the average of the angles with some of them moved by a full turn, hence
    one of ``n`` equally spaced angles, and all of these are tried.
    """
    turns = 2.0 * math.pi * np.arange(len(points)) / len(points)
    tried = _turned(np.mean(points) + turns)
    energy = np.mean(_turned(tried[:, None] - points) ** 2, axis=1)
    return np.sort(tried[energy <= np.min(energy) + 1e-9])


def example_1(n: int) -> tuple[FloatArray, float]:
    """Compute Example 1: ``n - 1`` equally spaced points of the circle, one of them twice.

    Returns the Fréchet means, as angles from the point that is there twice, and the largest
    distance of two of the points.
    """
    points = 2.0 * math.pi * np.arange(n - 1) / (n - 1)
    means = circle_means(np.append(points, 0.0))
    return means, float(np.max(np.abs(_turned(points))))


def hessian_factor(s: float, kappa: float, *, as_printed: bool = False) -> float:
    """``a(s, kappa)`` in the proof of Theorem 2: half the Hessian of ``rho^2`` across.

    As printed it is ``1 / s`` in flat space, where 1 is right.
    """
    if kappa == 0.0:
        return 1.0 / s if as_printed else 1.0
    x = math.sqrt(abs(kappa)) * s
    return x / (math.tan(x) if kappa > 0.0 else math.tanh(x))


def across(s: float, kappa: float, step: float) -> float:
    """Return the same from distances: a second difference of ``rho(gamma(t), q)^2 / 2``.

    ``gamma`` leaves at a right angle the geodesic from ``q`` to a point ``s`` away.
    """
    k = math.sqrt(abs(kappa)) or 1.0
    x, t = k * s, k * step
    if kappa == 0.0:
        side = math.hypot(x, t)
    elif kappa > 0.0:  # right-angled triangles
        side = math.acos(math.cos(x) * math.cos(t))
    else:
        side = math.acosh(math.cosh(x) * math.cosh(t))
    return (side**2 - x**2) / t**2


def lemma_1(radius: float) -> tuple[float, float, float]:
    """Bounds on a distance of logarithms at points of a ball, unit curvature, ``radius < pi / 4``.

    As printed ``2 r (2 - h)``; ``2 r`` times ``2 r / sin 2 r``, which holds on every manifold too;
    and ``2 r`` times the norm of the derivative that the proof names, ``J'(1)`` in place of
    ``J'(0)``: at most 1 across and along, hence ``2 r``.
    """
    s = 2.0 * radius
    h = s / math.tan(s)
    return s * (2.0 - h), s * s / math.sin(s), s * max(1.0, h)


def exit_distance(
    curvature: float, radius: float, offset: float, angle: FloatArray | float
) -> FloatArray:
    """Distance to the boundary of a ball, from a point of it in given directions.

    The point is ``offset`` from the centre; ``angle`` lies between the direction and that of the
    centre. The curvature is -1, 0 or 1, the radius on the sphere under ``pi / 2``.
    """
    cosine = np.cos(angle)
    if curvature == 0.0:
        return np.asarray(
            offset * cosine + np.sqrt(radius**2 - (offset * np.sin(angle)) ** 2), dtype=float
        )
    if curvature > 0.0:
        a, b = math.cos(offset), math.sin(offset) * cosine
        inner = np.minimum(math.cos(radius) / np.hypot(a, b), 1.0)
        return np.asarray(np.arctan2(b, a) + np.arccos(inner))
    a, b = math.cosh(offset), math.sinh(offset) * cosine
    inner = np.maximum(math.cosh(radius) / np.sqrt(a**2 - b**2), 1.0)
    return np.asarray(np.arctanh(b / a) + np.arccosh(inner))


def restricted_mean_square(
    curvature: float, dim: int, sigma: float, radius: float, offset: float = 0.0
) -> float:
    """``E rho(draw, footpoint)^2`` of the Laplace law restricted to a ball (Theorem 3).

    The footpoint is ``offset`` from the centre. The curvature is -1, 0 or 1, the radius on the
    sphere under ``pi / 2``.
    """
    if dim == 1:
        angle, weight = np.array([0.0, math.pi]), np.ones(2)
    else:
        nodes, share = gauss_legendre(NODES)
        angle, weight = 0.5 * math.pi * (nodes + 1.0), 0.5 * math.pi * share
        weight = weight * np.sin(angle) ** (dim - 2)
    moments = _radial_moments(
        curvature, dim, sigma, exit_distance(curvature, radius, offset, angle)
    )
    mass, square = weight @ moments
    return float(square / mass)


def _radial_moments(curvature: float, dim: int, sigma: float, ends: FloatArray) -> FloatArray:
    """Integrals of 1 and ``rho^2`` up to each end, up to one factor; shape (ends, 2).

    The grid is fine about the largest value of the integrand: 40 standard deviations of a gamma
    variable, where that is shorter than the way to the end.
    """
    nodes, share = gauss_legendre(NODES)
    rate = 1.0 / sigma - (dim - 1.0 if curvature < 0.0 else 0.0)
    reach = 2.0 * (dim + 40.0 * math.sqrt(dim)) / rate if rate > 0.0 else math.inf
    pieces = 8
    length = np.minimum(ends, reach)[:, None] / pieces
    rho = np.concatenate(
        [length * (piece + 0.5 * (nodes + 1.0)) for piece in range(pieces)], axis=1
    )
    with np.errstate(divide="ignore"):
        volume = np.log(
            rho if curvature == 0.0 else np.sin(rho) if curvature > 0.0 else np.sinh(rho)
        )
    log = (dim - 1.0) * volume - rho / sigma
    value = np.exp(log - np.max(log)) * np.tile(share, pieces) * length
    return np.stack([np.sum(value, axis=1), np.sum(value * rho**2, axis=1)], axis=1)


def centred_mean_square(sigma: float, radius: float, offset: float) -> float:
    """``E rho(draw, m0)^2`` on a line, which the proof of Theorem 3 computes.

    ``offset`` is the distance of the footpoint from ``m0``.
    """
    line = Euclidean(1)
    law = RestrictedLaplace(line, sigma, ball=Ball(line, np.zeros(1), radius))
    nodes, share = gauss_legendre(NODES)
    total = 0.0
    for low, high in ((-radius, offset), (offset, radius)):
        x = low + 0.5 * (high - low) * (nodes + 1.0)
        density = np.exp(law.log_density(x[:, None], np.full(1, offset)))
        total += 0.5 * (high - low) * float((share * density) @ x**2)
    return total


def sphere_exp(base: FloatArray, v: FloatArray, kappa: float, *, as_printed: bool) -> FloatArray:
    """Exponential map of section 5.2 on the sphere of radius ``1 / sqrt(kappa)``, of a ``v`` not 0.

    As printed it is without ``sqrt(kappa)`` in cosine and sine.
    """
    norm = float(np.linalg.norm(v))
    angle = norm if as_printed else math.sqrt(kappa) * norm
    return np.asarray(math.cos(angle) * base + math.sin(angle) / math.sqrt(kappa) * v / norm)


def sphere_distance(p: FloatArray, q: FloatArray, kappa: float, *, as_printed: bool) -> float:
    """Distance of section 5.2 on the same sphere; printed: the arccosine of the inner product."""
    if as_printed:
        return math.acos(min(max(float(p @ q), -1.0), 1.0))
    unit = math.sqrt(kappa)
    return float(Sphere(len(p) - 1).dist(unit * p, unit * q)) / unit


def convexity_gap(radius: float) -> float:
    """Largest excess of ``rho^2`` over its chord along a pair of geodesics in a cap of S².

    Two meridians cross the equator at right angles, half the radius from the cap's centre, which
    lies on the equator, on either side; they are as close to each other as the squares' sum allows
    further north and south. Positive: ``rho^2`` is not convex in both points together.
    """
    half = 0.5 * radius
    # the meridians stay in the cap: cos r <= cos(latitude) cos(longitude)
    latitude = math.acos(math.cos(radius) / math.cos(half))
    far = 2.0 * math.asin(math.cos(latitude) * math.sin(half))
    return float((2.0 * half) ** 2 - far**2)


def enclosing_radius(radius: float, k: int) -> tuple[float, float]:
    """Radii of Euclidean balls that hold a geodesic ball of matrices of size 1 or 2 about I.

    The first one is about I, by search (Proposition 1 has ``e^r - 1``), the second one about the
    best centre, a multiple of I.
    """
    turn = np.linspace(0.0, 2.0 * math.pi, 4001) if k == 2 else np.array([0.0, math.pi])
    logs = radius * np.stack([np.cos(turn), np.sin(turn)][:k], axis=-1)
    values = np.exp(logs)

    def largest(centre: float) -> float:
        return float(np.max(np.linalg.norm(values - centre, axis=-1)))

    return largest(1.0), min(largest(c) for c in np.linspace(0.0, math.exp(radius), 2001))


def descend(points: FloatArray, sphere: Manifold) -> FloatArray:
    """Gradient descent of supplement A.1: steps of 1/2 until one is shorter than 1e-5."""
    mean = points[0]
    for _ in range(500):
        step = 0.5 * np.mean(sphere.log(mean, points), axis=0)
        mean = sphere.exp(mean, step)
        if np.linalg.norm(step) < 1e-5:
            break
    return np.asarray(mean)


def _turned(angle: FloatArray) -> FloatArray:
    """Angles in [-pi, pi)."""
    return np.asarray((angle + math.pi) % (2.0 * math.pi) - math.pi)
