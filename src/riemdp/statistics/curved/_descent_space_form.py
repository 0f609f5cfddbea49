"""Steps to the mean on spheres and hyperbolic spaces, of records that come a part at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces import clip_norm
from riemdp.statistics.curved._certified_space_form import distance
from riemdp.statistics.curved._descent import (
    Descent,
    check_reached,
    hadamard_steps,
    spherical_steps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.kernel import Sum
    from riemdp.spaces import FloatArray
    from riemdp.statistics.curved._space_form_sums import SpaceFormSums

#: Unit roundoff of float64.
_UNIT = 2.0**-53


@dataclass(frozen=True)
class SpaceFormDescent(Descent):
    """On spheres and hyperbolic spaces.

    Attributes
    ----------
    sums : SpaceFormSums
    steps : tuple of float

    References
    ----------
    docs/proofs/streamed-frechet-means.md
    """

    sums: SpaceFormSums
    steps: tuple[float, ...] = field(repr=False)

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.zeros(self.sums.dim)

    def seen(
        self,
        records: FloatArray,
        view: FloatArray,
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,  # noqa: ARG002
    ) -> Sum:
        """Return the same sums in every pass; see :meth:`Descent.seen`."""
        return self.sums.sums(view, records, whole)

    def moved(self, point: FloatArray, partial: Sum, number: int) -> FloatArray:
        """Go along the gradient, and into the ball; see :meth:`Descent.moved`."""
        gradient, _ = self.sums.gradient(point, partial)
        return moved(self.sums, point, self.steps[number] * gradient)

    def certified(
        self, point: FloatArray, view: FloatArray, partial: Sum, tol: float
    ) -> tuple[Fraction, ...]:
        """Bound the gradient; see :meth:`Descent.certified`."""
        del view
        check_reached(distance(self.sums, point, partial, tol), tol)
        return tuple(map(Fraction, point.tolist()))


def space_form_descent(sums: SpaceFormSums, tol: float) -> SpaceFormDescent | None:
    """Return steps that end within a tolerance of any mean in a ball, None if none are proved to.

    Parameters
    ----------
    sums : SpaceFormSums
    tol : float

    Returns
    -------
    SpaceFormDescent or None
    """
    dim, curvature, radius, k = sums.dim, sums.curvature, sums.radius, sums.k
    error, average = sums.errors
    if not error < math.inf:
        return None
    clipped = (dim + 16.0) * _UNIT * radius
    # once for sums, once for what is made of them, and in the certificate once more
    if curvature > 0.0:
        away = 2.0 * logarithm_error(dim, curvature, radius) + clipped
        steps = spherical_steps(
            k, radius, tol, error=2.0 * error, moving=away, own=(3.0 * error, 3.0 * average)
        )
    else:
        spread = math.sinh(k * radius) / (k * radius) if k * radius > 1e-9 else 1.0

        def moving(length: float) -> float:
            wide = logarithm_error(dim, curvature, 0.5 * (radius + length))
            return wide + spread * clipped

        steps = hadamard_steps(k, radius, tol, error=2.0 * error, moving=moving, own=3.0 * error)
    return None if steps is None else SpaceFormDescent(sums, steps)


def moved(sums: SpaceFormSums, point: FloatArray, step: FloatArray) -> FloatArray:
    """Go a step from a point, and into the ball; stay where float64 does not carry it.

    Parameters
    ----------
    sums : SpaceFormSums
    point, step : ndarray, shape (dim,)
        The step in the frame that is parallel from the centre.

    Returns
    -------
    ndarray, shape (dim,)
    """
    # seen from minus the point it is a translation
    found = logarithms(sums.curvature, -point, step[None])[0]
    return clip_norm(found, sums.radius) if np.isfinite(found).all() else point


def logarithms(curvature: float, point: FloatArray, records: FloatArray) -> FloatArray:
    """Logarithms of records as seen from a point, in the frame that is parallel from the origin.

    In sums and functions of each record by itself: no product with a matrix.

    Parameters
    ----------
    curvature : float
    point : ndarray, shape (d,)
        Normal coordinates about the origin.
    records : ndarray, shape (n, d)
        The same of the records.

    Returns
    -------
    ndarray, shape (n, d)

    References
    ----------
    docs/proofs/certified-means.md, "Spheres and hyperbolic spaces"
    """
    spherical = curvature > 0.0
    k = math.sqrt(abs(curvature))
    even, odd = (np.cos, np.sin) if spherical else (np.cosh, np.sinh)
    t = k * float(np.linalg.norm(point))
    sine, cosine = (math.sin(t), math.cos(t)) if spherical else (math.sinh(t), math.cosh(t))
    half = (math.sin if spherical else math.sinh)(0.5 * t)
    sinc = sine / t if t else 1.0
    turn = 0.5 * curvature * ((half / (0.5 * t)) ** 2 if t else 1.0)
    columns = [np.ascontiguousarray(column) for column in records.T]
    with np.errstate(all="ignore"):
        zero = np.zeros(len(records))
        angles = k * np.sqrt(sum((x * x for x in columns), zero))
        products = sum((x * v for x, v in zip(columns, point.tolist(), strict=True)), zero)
        own = np.where(angles > 0.0, odd(angles) / np.where(angles > 0.0, angles, 1.0), 1.0)
        level = even(angles)
        along = level * sinc + turn * own * products
        across = [k * (own * x - along * v) for x, v in zip(columns, point.tolist(), strict=True)]
        size = np.sqrt(sum((x * x for x in across), zero))
        if spherical:
            between = np.arctan2(size, level * cosine + curvature * sinc * own * products)
        else:
            between = np.arcsinh(size)
        weight = np.where(size > 0.0, between / np.where(size > 0.0, size, 1.0), 1.0) / k
        return np.stack([weight * x for x in across], axis=-1)


def logarithm_error(dim: int, curvature: float, radius: float) -> float:
    """Bound what rounding makes of :func:`logarithms` in a ball; only the number of steps needs it.

    Parameters
    ----------
    dim : int
    curvature : float
    radius : float

    Returns
    -------
    float
        In units of distance.
    """
    k = math.sqrt(abs(curvature))
    x = 2.0 * k * radius
    if curvature > 0.0:
        size = min(x, 1.0) * (1.0 + (x / math.sin(x) if 0.0 < x < math.pi else math.inf))
    else:
        size = 2.0 * (math.sinh(x) if x < 700.0 else math.inf)
    return (3.0 * dim + 24.0) * _UNIT * size / k
