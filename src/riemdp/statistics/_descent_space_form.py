"""Steps to the mean on spheres and hyperbolic spaces, of records that come a part at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._working_precision import working_precision
from riemdp.kernel import Sum
from riemdp.manifolds import clip_norm
from riemdp.statistics._certified_space_form import Sums
from riemdp.statistics._descent import (
    Descent,
    added_rows,
    check_reached,
    hadamard_steps,
    spherical_steps,
    weight_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

#: Unit roundoff of float64.
_UNIT = 2.0**-53
#: Working precision of the certificate, and the bits of its grid, both relative to the radius.
_PRECISION, _BITS = 160, 110
#: Radius beyond any use, in units of the curvature.
_WIDEST = 64.0
#: Records whose balls are kept at a time.
_CHUNK = 4096


@dataclass(frozen=True)
class Enclosed:
    """Sums of which two integers are known that they lie between, for each coordinate.

    Attributes
    ----------
    below, above : tuple of int
        Of the coordinates, then of the cosines.
    reach : float
        Largest coordinates' norm among the records, rounded up.
    count : int
        Number of records, or the sum of their weights.
    """

    below: tuple[int, ...] = field(repr=False)
    above: tuple[int, ...] = field(repr=False)
    reach: float = field(repr=False)
    count: int

    def __add__(self, other: Enclosed) -> Enclosed:
        below, above = (
            tuple(x + y for x, y in zip(mine, theirs, strict=True))
            for mine, theirs in ((self.below, other.below), (self.above, other.above))
        )
        return Enclosed(below, above, max(self.reach, other.reach), self.count + other.count)


@dataclass(frozen=True)
class SpaceFormDescent(Descent):
    """On spheres and hyperbolic spaces.

    Attributes
    ----------
    dim : int
    curvature : float
    radius : float
    steps : tuple of float

    References
    ----------
    docs/proofs/streamed-frechet-means.md
    """

    dim: int
    curvature: float
    radius: float
    steps: tuple[float, ...] = field(repr=False)

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.zeros(self.dim)

    def seen(
        self,
        records: FloatArray,
        view: FloatArray,
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,
    ) -> Any:
        """In float64, and in balls where the point is certified; see :meth:`Descent.seen`."""
        if last:
            return self._enclosed(records, view, whole)
        rows = logarithms(self.curvature, view, records)
        rows = np.where(np.isfinite(rows), rows, 0.0)
        total = added_rows(rows, self._bits(58), whole)
        return Sum(total, weight_of(len(records), whole))

    def moved(self, point: FloatArray, partial: Sum, number: int) -> FloatArray:
        """Go along the gradient, and into the ball; see :meth:`Descent.moved`."""
        unit = Fraction(2) ** self._bits(58) * partial.count
        along = np.array([[self.steps[number] * float(total / unit) for total in partial.total]])
        found = logarithms(self.curvature, -point, along)[0]  # seen from -point it is a translation
        return clip_norm(found, self.radius) if np.isfinite(found).all() else point

    def certified(
        self, point: FloatArray, view: FloatArray, partial: Enclosed, tol: float
    ) -> tuple[Fraction, ...]:
        """Enclose the gradient; see :meth:`Descent.certified`."""
        del view
        check_reached(self._bound(point, partial, tol), tol)
        return tuple(map(Fraction, point.tolist()))

    def _bound(self, point: FloatArray, partial: Enclosed, tol: float) -> float:
        """Bound the distance to the mean, rounded up, inf where nothing is proved."""
        with working_precision(_PRECISION):
            sums = Sums(self.curvature, point)
            found = [
                _between(low, high, bits)
                for low, high, bits in zip(partial.below, partial.above, self._grids(), strict=True)
            ]
            sums.take(found[:-1], found[-1], partial.reach, partial.count)
            return sums.enclosure().distance(tol)

    def _bits(self, whole: int) -> int:
        """Minus the binary logarithm of a grid of lengths, from the radius alone."""
        return whole - math.frexp(self.radius)[1]

    def _grids(self) -> list[int]:
        return [self._bits(_BITS)] * self.dim + [_BITS]

    def _enclosed(
        self, records: FloatArray, point: FloatArray, whole: NDArray[np.int64] | None
    ) -> Enclosed:
        zero = Enclosed((0,) * (self.dim + 1), (0,) * (self.dim + 1), 0.0, 0)
        cuts = (slice(i, i + _CHUNK) for i in range(0, len(records), _CHUNK))
        parts = (
            self._of_some(records[rows], point, None if whole is None else whole[rows])
            for rows in cuts
        )
        return sum(parts, start=zero)

    def _of_some(
        self, records: FloatArray, point: FloatArray, whole: NDArray[np.int64] | None
    ) -> Enclosed:
        with working_precision(_PRECISION):
            sums = Sums(self.curvature, point)
            sums.add(records, whole)
            found = list(zip([*sums.vectors, sums.cosines], self._grids(), strict=True))
            below = tuple(_floor(x.lower(), bits) for x, bits in found)
            above = tuple(-_floor((-x).lower(), bits) for x, bits in found)
        longest = float(np.linalg.norm(records, axis=-1).max(initial=0.0))
        reach = longest * (1.0 + (self.dim + 8) * _UNIT)
        return Enclosed(below, above, reach, weight_of(len(records), whole))


def space_form_descent(
    dim: int, curvature: float, radius: float, tol: float
) -> SpaceFormDescent | None:
    """Return steps that end within a tolerance of any mean in a ball, None if none are proved to.

    Parameters
    ----------
    dim : int
    curvature : float
        Not 0.
    radius, tol : float

    Returns
    -------
    SpaceFormDescent or None
    """
    k = math.sqrt(abs(curvature))
    if curvature < 0.0 and k * radius > _WIDEST:
        return None
    error = logarithm_error(dim, curvature, radius)
    clipped = (dim + 16.0) * _UNIT * radius
    if curvature > 0.0:
        steps = spherical_steps(k, radius, tol, error=error, moving=2.0 * error + clipped)
    else:
        spread = math.sinh(k * radius) / (k * radius) if k * radius > 1e-9 else 1.0

        def moving(length: float) -> float:
            wide = logarithm_error(dim, curvature, 0.5 * (radius + length))
            return wide + spread * clipped

        steps = hadamard_steps(k, radius, tol, error=error, moving=moving, own=2.0**-60 * tol)
    return None if steps is None else SpaceFormDescent(dim, curvature, radius, steps)


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
        size = 1.0 + (x / math.sin(x) if 0.0 < x < math.pi else math.inf)
    else:
        size = 2.0 * (math.sinh(x) if x < 700.0 else math.inf)
    return (3.0 * dim + 24.0) * _UNIT * size / k


def _floor(number: Any, bits: int) -> int:
    """Return the largest integer that is at most an exact number times ``2^bits``."""
    mantissa, exponent = (int(x) for x in number.man_exp())
    shift = exponent + bits
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def _between(below: int, above: int, bits: int) -> Any:
    """Enclose the numbers from ``below`` to ``above``, in units of ``2^-bits``."""
    from flint import arb

    return (arb(below).union(arb(above))) * arb((1, -bits))
