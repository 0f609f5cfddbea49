"""The public tolerance of a mean: fixed before the data are seen, part of the sensitivity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import FlatManifold, Hyperbolic, SPDAffineInvariant, Sphere

if TYPE_CHECKING:
    from riemdp.manifolds import Ball

_EPS = float(np.finfo(np.float64).eps)
#: Terms that the solvers' sums over records add in sequence, at most, with a margin.
_SUMMATION = 1000.0


def public_tolerance(ball: Ball, sensitivity: float) -> float:
    """Tolerance for a mean on a public ball, from public numbers only.

    A billionth of the sensitivity where float64 carries that, more where it does not. The
    sensitivity of what is computed is then ``sensitivity + 2 tol``.

    Parameters
    ----------
    ball : Ball
        Public ball.
    sensitivity : float
        Sensitivity of the exact mean on it.

    Returns
    -------
    float
        In units of geodesic distance.

    Notes
    -----
    The floor is a bound of the rounding in the solver's certificate
    (docs/proofs/frechet-mean-certificate.md) for data anywhere in the ball, seen from its centre.
    On affine-invariant matrices in a large ball the worst case is far from any data; the floor is
    then cut at a thousandth of the sensitivity, and data that need more raise
    ``ConvergenceError``.
    """
    return max(_floor(ball, sensitivity), 1e-9 * sensitivity)


def _floor(ball: Ball, sensitivity: float) -> float:
    manifold, radius = ball.manifold, ball.radius
    if isinstance(manifold, FlatManifold) or manifold.dim == 1:
        return 1e-12 * radius
    parts = 8.0 * math.sqrt(manifold.dim + 1.0) + _SUMMATION
    if isinstance(manifold, Sphere):
        k = math.sqrt(manifold.curvature)
        x = k * radius
        # At the largest distance, 2x: weights, and digits lost to the pole at the antipode. The
        # Hessian at the mean is at least x cot x.
        weight = 2.0 * x / math.sin(2.0 * x)
        pole = 16.0 * math.pi * math.sqrt(manifold.dim + 1.0) / math.sin(2.0 * x) ** 2
        lost = pole if x > 0.25 * math.pi else 0.0
        gradient = parts * (1.0 + 2.0 * x) * weight + lost
        return 2.0 * _EPS * gradient * math.tan(x) / (x * k)
    if isinstance(manifold, Hyperbolic):
        k = math.sqrt(-manifold.curvature)
        x = k * radius
        return 2.0 * _EPS * parts * (1.0 + 2.0 * x) * math.cosh(x) ** 2 / k
    if isinstance(manifold, SPDAffineInvariant):
        exponent = min(3.0 * math.sqrt(2.0) * radius, 600.0)
        worst = _EPS * (4.0 * manifold.k**3 * math.exp(exponent) + _SUMMATION * radius)
        return min(worst, max(1e-3 * sensitivity, 1e-11 * radius))
    return 1e-10 * radius
