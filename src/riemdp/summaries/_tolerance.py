"""The public tolerance of a mean: fixed before the data are seen, part of the sensitivity."""

from __future__ import annotations

import math

import numpy as np

from riemdp._errors import UnsupportedManifoldError
from riemdp.manifolds import (
    Ball,
    DiscreteQuotient,
    FlatManifold,
    Hyperbolic,
    Product,
    SPDAffineInvariant,
    Sphere,
)
from riemdp.summaries._clipped_affine_invariant_mean import worst_allowance

_EPS = float(np.finfo(np.float64).eps)
#: Terms that the solvers' sums over records add in sequence, at most, with a margin.
_SUMMATION = 1000.0


def public_tolerance(ball: Ball, sensitivity: float, summary: str = "frechet-mean") -> float:
    """Tolerance for a mean on a public ball, from public numbers only.

    A billionth of the sensitivity where float64 carries that, more where it does not. The
    sensitivity of what is computed is then ``sensitivity + 2 tol``.

    Parameters
    ----------
    ball : Ball
        Public ball.
    sensitivity : float
        Sensitivity of the exact mean on it.
    summary : {"frechet-mean", "tangent-mean"}, default "frechet-mean"
        Which mean.

    Returns
    -------
    float
        In units of geodesic distance; at least :func:`tolerance_floor`.
    """
    return max(tolerance_floor(ball, summary), 1e-9 * sensitivity)


def tolerance_floor(ball: Ball, summary: str = "frechet-mean") -> float:
    """Least tolerance that every data set in a public ball can be certified to.

    Parameters
    ----------
    ball : Ball
        Public ball.
    summary : {"frechet-mean", "tangent-mean"}, default "frechet-mean"
        Which mean.

    Returns
    -------
    float
        In units of geodesic distance.

    Notes
    -----
    A bound of the rounding in the solver's certificate (docs/proofs/frechet-mean-certificate.md)
    for data anywhere in the ball, seen from its centre. Under it, whether a solver succeeds would
    depend on the data.
    """
    manifold, radius = ball.manifold, ball.radius
    if isinstance(manifold, DiscreteQuotient) and summary == "frechet-mean":
        return tolerance_floor(manifold.lifted(ball), summary)
    if is_average(ball, summary):
        return max(1e-12 * radius, 8.0 * _EPS * _size(ball))
    terms = 8.0 * math.sqrt(manifold.dim + 1.0) + _SUMMATION
    if isinstance(manifold, Sphere):
        k = math.sqrt(manifold.curvature)
        x = k * radius
        # At the largest distance, 2x: weights, and digits lost to the pole at the antipode. The
        # Hessian at the mean is at least x cot x.
        weight = 2.0 * x / math.sin(2.0 * x)
        pole = 16.0 * math.pi * math.sqrt(manifold.dim + 1.0) / math.sin(2.0 * x) ** 2
        lost = pole if x > 0.25 * math.pi else 0.0
        gradient = terms * (1.0 + 2.0 * x) * weight + lost
        return 2.0 * _EPS * gradient * math.tan(x) / (x * k) + 2.0 * conversion_allowance(ball)
    if isinstance(manifold, Hyperbolic):
        k = math.sqrt(-manifold.curvature)
        x = k * radius
        solved = 2.0 * _EPS * terms * (1.0 + 2.0 * x) * math.cosh(x) ** 2 / k
        return solved + 2.0 * conversion_allowance(ball)
    if isinstance(manifold, SPDAffineInvariant):
        return 2.0 * worst_allowance(manifold.k, radius)
    if isinstance(manifold, Product):
        parts = zip(manifold.spaces, manifold.split(ball.center), strict=True)
        floors = [tolerance_floor(Ball(space, center, radius)) for space, center in parts]
        return math.sqrt(len(floors)) * max(floors) * (1.0 + 1e-14)
    raise UnsupportedManifoldError(
        f"no certified Fréchet mean is known for {type(manifold).__name__}; use tangent_mean"
    )


def is_average(ball: Ball, summary: str) -> bool:
    """Whether a mean is an average of coordinates, which needs no solver.

    Parameters
    ----------
    ball : Ball
        Public ball.
    summary : {"frechet-mean", "tangent-mean"}
        Which mean.

    Returns
    -------
    bool
    """
    flat = isinstance(ball.manifold, FlatManifold) or ball.manifold.dim == 1
    return flat or summary == "tangent-mean"


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


def _size(ball: Ball) -> float:
    """Size of the coordinates that records are subtracted from.

    Of a ball that is tiny next to it few digits of a record are left.
    """
    manifold = ball.manifold
    if isinstance(manifold, FlatManifold):
        return float(np.linalg.norm(manifold.to_chart(ball.center)))
    if manifold.constant_curvature is None:
        return 0.0  # records are seen from the centre before any are subtracted
    return float(np.linalg.norm(ball.center))
