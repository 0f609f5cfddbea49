"""How accurately means can be certified in float64, for every data set in a public ball.

Bounds of the rounding in the solvers' certificates (docs/proofs/frechet-mean-certificate.md) for
data anywhere in the ball, seen from its centre. Under them, whether a solver succeeds would depend
on the data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from riemdp.spaces import Ball

_EPS = float(np.finfo(np.float64).eps)
#: Terms that the solvers' sums over records add in sequence, at most, with a margin.
_SUMMATION = 1000.0


def space_form_floor(ball: Ball) -> float:
    """Least tolerance of the Fréchet mean on a sphere or a hyperbolic space."""
    return (spherical_floor if ball.manifold.curvature_bound > 0.0 else hyperbolic_floor)(ball)


def spherical_floor(ball: Ball) -> float:
    """Least tolerance of the Fréchet mean on a sphere."""
    k = math.sqrt(ball.manifold.curvature_bound)
    x = k * ball.radius
    # At the largest distance, 2x: weights, and digits lost to the pole at the antipode. The
    # Hessian at the mean is at least x cot x.
    weight = 2.0 * x / math.sin(2.0 * x)
    pole = 16.0 * math.pi * math.sqrt(ball.manifold.dim + 1.0) / math.sin(2.0 * x) ** 2
    lost = pole if x > 0.25 * math.pi else 0.0
    gradient = _parts(ball) * (1.0 + 2.0 * x) * weight + lost
    return 2.0 * _EPS * gradient * math.tan(x) / (x * k) + 2.0 * conversion_allowance(ball)


def hyperbolic_floor(ball: Ball) -> float:
    """Least tolerance of the Fréchet mean on hyperbolic space."""
    k = math.sqrt(-ball.manifold.curvature_bound)
    x = k * ball.radius
    solved = 2.0 * _EPS * _parts(ball) * (1.0 + 2.0 * x) * math.cosh(x) ** 2 / k
    return solved + 2.0 * conversion_allowance(ball)


def conversion_allowance(ball: Ball) -> float:
    """Bound of the distance between a point of a ball and what rounding makes of its coordinates.

    On spheres and hyperbolic spaces, where a mean is certified as a point of the ambient space
    and noise is added in coordinates: these are right to a few eps, and the exponential map
    magnifies that on hyperbolic space by ``sinh(kr) / (kr)``.
    """
    k = math.sqrt(abs(ball.manifold.curvature_bound))
    x = k * ball.radius
    length = math.sinh(x) if ball.manifold.curvature_bound < 0.0 else x
    return 16.0 * _EPS * (1.0 + length) / k


def _parts(ball: Ball) -> float:
    return 8.0 * math.sqrt(ball.manifold.dim + 1.0) + _SUMMATION
