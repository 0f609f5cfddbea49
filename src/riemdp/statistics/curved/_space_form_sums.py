r"""Sums over records of a ball, on spheres and hyperbolic spaces, with a public bound of rounding.

A record is worked on by itself, in a fixed sequence of sums, differences, products, quotients and
square roots of float64; what it adds is rounded to a public grid, and integers are added. So sums
do not depend on the order of the records, on the parts they come in, or on the processor.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp import _compiled
from riemdp._errors import ConvergenceError
from riemdp.kernel import Sum, added_products, sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from riemdp._compiled import Kernel
    from riemdp.spaces import FloatArray

    #: Numbers of a point, and the vector that records are compared with.
    Place = tuple[float, float, float, FloatArray]

#: Unit roundoff of float64.
_UNIT = 2.0**-53
#: Largest sum of relative errors, and what bounds are raised by for the products of two errors.
_SMALL, _UP = 2.0**-22, 1.0 + 2.0**-20
#: Share by which norms of records and points may exceed the radius.
_ROOM = 2.0**-30
#: Records at a time; those whose integers int64 adds, and bits of these: sums are under ``2^63``.
_TILE, _RUN, _BITS = 8192, 2048, 51
#: What grids round by, in unit roundoffs of the largest number, which is ``2^(_BITS - 1)`` of them.
_GRID = 4.0
#: A number whose sum with one under ``2^51`` in size is rounded to a whole one, by its last bits.
_WHOLE = np.float64(1.5 * 2.0**52)
#: Bits of the lower parts of integers that are multiplied by weights.
_LOW = 31
#: What the rest of a series may be.
_REST = 2.0**-6 * _UNIT
#: Radius that angles are halved to, so that the series of ``L / sin L`` is short.
_NARROW = 0.126
#: How often the least tolerance is what rounding comes to; on spheres, where proved steps end
#: farther from the mean, more often.
_MARGIN, _ON_SPHERES = 32.0, 256.0
#: Radii whose squares are normal numbers, largest angle on hyperbolic spaces, largest dimension.
_LEAST, _MOST, _FAR, _WIDEST = 2.0**-400, 2.0**400, 64.0, 2**20


@dataclass(frozen=True)
class SpaceFormSums:
    """Sums over records in a ball, seen from a point in it, and how far rounding moves them.

    Records and points are normal coordinates about the centre of the ball, orthonormal, in units of
    distance and exact. All attributes are public numbers.

    Attributes
    ----------
    dim : int
        At least 2.
    curvature : float
        Not 0.
    radius : float
        Of the ball. Norms may exceed it by a share of ``2^-30``.

    References
    ----------
    docs/proofs/certified-means.md, "Sums in float64"
    """

    dim: int
    curvature: float
    radius: float

    @property
    def spherical(self) -> bool:
        """Whether the curvature is positive."""
        return self.curvature > 0.0

    @property
    def k(self) -> float:
        """Square root of the size of the curvature."""
        return math.sqrt(abs(self.curvature))

    @functools.cached_property
    def reach(self) -> float:
        """Largest angle between the centre and a record or point."""
        return self.k * self.radius * (1.0 + 2.0 * _ROOM)

    @functools.cached_property
    def _most(self) -> tuple[float, float, float]:
        """Largest ``s`` and ``c`` in the ball, and largest weight ``L / s(L)``."""
        wide = self.reach
        if self.spherical:
            return math.sin(wide), 1.0, 2.0 * wide / math.sin(2.0 * wide)
        return math.sinh(wide), math.cosh(wide), 1.0

    @functools.cached_property
    def errors(self) -> tuple[float, float]:
        """How far rounding takes the gradient and the average of ``a``, at most.

        A distance and a number, inf where nothing is proved. Names are those of the proof.
        """
        if not (
            _LEAST <= self.radius <= _MOST
            and self.dim <= _WIDEST
            and self.reach < (0.5 * math.pi if self.spherical else _FAR)
        ):
            return math.inf, math.inf
        u, d, half, (s, c, weight) = _UNIT, self.dim, 0.5 * self.reach, self._most
        even, odd = math.cosh(half), math.sinh(half) / half  # moduli of the series, in both cases
        e_h = u * (odd + even - 1.0 + 0.5 * (d + 1) * (even - odd)) + _REST
        if self.spherical:
            e_h *= half / math.sin(half)
            share, w = math.tan(half) ** 2, math.sin(half) ** 2
        else:
            share, w = math.tanh(half) ** 2, math.sinh(half) ** 2
        e_w = (d + 3) * u + 2.0 * e_h
        e_e = 0.5 * (e_w * share + u) + u
        e_z = e_h + e_e + 2.0 * u
        e_c = 2.0 * w * e_w + u * c
        if self.spherical:
            e_x = 2.0 * (e_c + e_z * s) / math.cos(self.reach) + (d + 4) * u
        else:
            e_x = e_z * s + (d + 4) * u
        e_arc = e_x + (4 * self._halvings + 2) * u
        if not e_arc + e_w < _SMALL:
            return math.inf, math.inf
        e_a = weight * s * (e_h + e_e + (3.0 + _GRID * math.sqrt(d)) * u)
        e_g = weight * (e_c + (1.0 + _GRID) * u * c)
        gradient = (2.0 * self.reach * e_arc + c * e_a + s * e_g) / self.k
        return gradient * _UP**2, (weight * e_arc + e_g + s * e_a) * _UP**2

    @functools.cached_property
    def floor(self) -> float:
        """Least tolerance that the mean of any records of the ball can be certified to.

        Inf where there is none.
        """
        gradient, average = self.errors
        if not (self.spherical and gradient < math.inf):
            return _MARGIN * gradient
        least = self.reach / math.tan(self.reach)  # of the average of ``a`` at a mean
        tol = _ON_SPHERES * gradient / least
        far = 2.0 * self.reach + self.k * tol
        if not far < math.pi:
            return math.inf
        bend = self.k * (far - math.sin(far) * math.cos(far)) / math.sin(far) ** 2
        if 4.0 * bend * tol > least:
            tol = 0.25 * least / bend
        certain = least - 2.0 * bend * tol - 2.0 * average
        return tol if 3.0 * gradient <= tol * certain else math.inf

    @functools.cached_property
    def grids(self) -> tuple[int, int]:
        """Minus the binary logarithms of the grids of the coordinates and of the last sum."""
        s, c, weight = self._most
        across, along = (_BITS - math.frexp(x * weight * _UP)[1] for x in (s / self.k, c))
        return across, along

    @functools.cached_property
    def _halvings(self) -> int:
        return max(1, math.ceil(math.log2(self.reach / _NARROW)))

    @functools.cached_property
    def _sine(self) -> list[float]:
        """Series of ``sin(s / 2) / (s / 2)`` in ``-(s / 2)^2``."""
        return _series(lambda j: Fraction(1, (2 * j + 2) * (2 * j + 3)), (0.5 * self.reach) ** 2)

    @functools.cached_property
    def _arc(self) -> list[float]:
        """Series of ``L / sin L`` in ``sin(L / 2)^2``."""
        narrow = math.sinh(self.reach / 2**self._halvings)
        return _series(lambda j: Fraction(2 * j + 2, 2 * j + 3), narrow * narrow)

    def sums(
        self, point: FloatArray, records: FloatArray, whole: NDArray[np.int64] | None = None
    ) -> Sum:
        """Add up what records say at a point, as integers in units of the grids.

        Parameters
        ----------
        point : ndarray, shape (dim,)
        records : ndarray, shape (n, dim)
        whole : ndarray of int, shape (n,), optional
            Weights, positive and at most ``2^40``.

        Returns
        -------
        Sum
            Of ``lambda sc x`` and ``lambda c``.

        Raises
        ------
        ConvergenceError
            If a record is outside the ball or not finite.
        """
        total, place = [0] * (self.dim + 1), self._place(point)
        for start in range(0, len(records), _TILE):
            rows = slice(start, start + _TILE)
            integers = self._integers(place, records[rows])
            if whole is None:
                runs = np.add.reduceat(integers, range(0, integers.shape[1], _RUN), axis=1)
                found = [sum(parts) for parts in runs.tolist()]
            else:
                high, low = (
                    added_products(part.T, whole[rows])
                    for part in (integers >> _LOW, integers & (2**_LOW - 1))
                )
                found = [(a << _LOW) + b for a, b in zip(high, low, strict=True)]
            total = [x + y for x, y in zip(total, found, strict=True)]
        return Sum(tuple(total), len(records) if whole is None else sum_of(whole))

    def gradient(self, point: FloatArray, total: Sum) -> tuple[FloatArray, float]:
        """Return minus the gradient at a point, in the frame that is parallel from the centre.

        And the average of ``a``. In float64: what is certified does not rest on it.

        Parameters
        ----------
        point : ndarray, shape (dim,)
        total : Sum

        Returns
        -------
        gradient : ndarray, shape (dim,)
        average : float
        """
        first, last = self.grids
        *vectors, level = (x / total.count for x in total.total)
        mean, level = np.ldexp(vectors, -first), math.ldexp(level, -last)
        sine, cosine, even, _ = self._place(point)
        inner = math.fsum((mean * point).tolist())
        along = sine * cosine * level + 0.5 * self.curvature * sine * sine * inner
        return mean - along * point, even * level + self.curvature * sine * cosine * inner

    def _integers(self, place: Place, records: FloatArray) -> NDArray[np.int64]:
        """Return what records ``(m, dim)`` add, in units of the grids, shape ``(dim + 1, m)``."""
        run = _compiled.kernel("space_form_sums", _same_bits)
        found = None if run is None else self._compiled(run, place, records)
        integers, inside = self._plain(place, records) if found is None else found
        if not inside:
            raise ConvergenceError(
                "the mean cannot be certified: a record is outside the ball or not finite"
            )
        return integers

    def _compiled(
        self, run: Kernel, place: Place, records: FloatArray
    ) -> tuple[NDArray[np.int64], bool] | None:
        """Do the same as :meth:`_plain`, with the same bits; None where it cannot be done."""
        *of_point, vector = place
        numbers = [-0.25 * self.curvature, self.curvature, self._largest, *of_point, *self._scales]
        integers = np.empty((self.dim + 1, len(records)), dtype=np.int64)
        inside = np.empty(1, dtype=bool)
        given = (np.array(x) for x in (vector, [*numbers, self._halvings - 1.0]))
        series = (np.array(x) for x in (self._sine, self._arc))
        done = run(np.ascontiguousarray(records), *given, *series, integers, inside)
        return (integers, bool(inside[0])) if done else None

    def _plain(self, place: Place, records: FloatArray) -> tuple[NDArray[np.int64], bool]:
        """Return the integers, and whether all records are inside, or else they mean nothing."""
        columns = np.ascontiguousarray(records.T)
        with np.errstate(over="ignore", invalid="ignore"):
            square = _squares(columns)
            inside = bool(square.max(initial=0.0) <= self._largest)
            terms = self._terms(place, columns, square)
        first, last = self._scales
        terms[:-1] *= first
        terms[-1] *= last
        terms += _WHOLE
        integers = terms.view(np.int64)
        integers -= _WHOLE.view(np.int64)
        return integers, inside

    @property
    def _largest(self) -> float:
        """Largest square of a norm that is one of a record in the ball."""
        largest = self.radius * (1.0 + _ROOM)
        return largest * largest

    @property
    def _scales(self) -> tuple[float, float]:
        first, last = self.grids
        return 2.0**first, 2.0**last

    def _place(self, point: FloatArray) -> Place:
        """Return :meth:`_functions` of a point, and the vector that records are compared with."""
        sine, cosine, level = (float(x[0]) for x in self._functions(_squares(point[:, None])))
        return sine, cosine, level, sine * cosine * point if self.spherical else point

    def _terms(self, place: Place, columns: FloatArray, square: FloatArray) -> FloatArray:
        """Return what records ``(dim, m)``, with squares of norms, add before it is rounded."""
        sine_v, cosine_v, level_v, vector = place
        sine, cosine, level = self._functions(square)
        sinc = sine * cosine
        each = zip(columns, vector.tolist(), strict=True)
        if self.spherical:
            between = _squares(sinc * x + v for x, v in each)
            between *= self.curvature
            both = level + level_v
            both *= both
            between += both
            between *= 0.25
        else:
            sine *= cosine_v
            cosine *= sine_v
            between = _squares(sine * x - cosine * v for x, v in each)
            between *= -0.25 * self.curvature
            between += 1.0
        weight = self._weights(between)
        found = np.empty((self.dim + 1, columns.shape[1]))
        np.multiply(weight, level, out=found[-1])
        weight *= sinc
        np.multiply(columns, weight, out=found[:-1])
        return found

    def _functions(self, square: FloatArray) -> tuple[FloatArray, ...]:
        """Return ``sin(s / 2) / (s / 2)``, ``cos(s / 2)`` and ``cos s`` of ``|x|^2``."""
        argument = (-0.25 * self.curvature) * square
        sine = _polynomial(self._sine, argument)
        level = sine * sine
        level *= argument
        cosine = np.sqrt(level + 1.0)
        level *= 2.0
        level += 1.0
        return sine, cosine, level

    def _weights(self, between: FloatArray) -> FloatArray:
        """Return ``L / sin L`` by ``cos(L / 2)^2``: angles are halved until a series is short."""
        cosine = np.sqrt(between)
        product = cosine.copy()
        for _ in range(self._halvings - 1):
            cosine *= 0.5
            cosine += 0.5
            np.sqrt(cosine, out=cosine)
            product *= cosine
        cosine *= -0.5
        cosine += 0.5
        weight = _polynomial(self._arc, cosine)
        weight /= product
        return weight


def _same_bits(run: Kernel) -> bool:
    """Whether a kernel has the bits of NumPy on public records."""
    for curvature, dim in ((1.0, 2), (-1.0, 2), (0.25, 3), (-2.0, 5)):
        sums = SpaceFormSums(dim, curvature, 0.9)
        records = np.cos(np.arange(29.0 * dim)).reshape(29, dim) / math.sqrt(dim)
        place = sums._place(records[-1])
        plain, inside = sums._plain(place, 0.5 * records)
        found = sums._compiled(run, place, 0.5 * records)
        if found is None or not (inside and found[1] and np.array_equal(plain, found[0])):
            return False
    return True


def _squares(columns: Iterable[FloatArray]) -> FloatArray:
    """Add squares in sequence."""
    total, *rest = (column * column for column in columns)
    for square in rest:
        total += square
    return total


def _polynomial(coefficients: list[float], x: FloatArray) -> FloatArray:
    """Evaluate by Horner's rule, from the highest power."""
    value = coefficients[0] * x
    for each in coefficients[1:-1]:
        value += each
        value *= x
    value += coefficients[-1]
    return value


def _series(ratio: Callable[[int], Fraction], largest: float) -> list[float]:
    """Return coefficients of a power series, from the highest, whose rest is next to nothing.

    The first is 1, and ``ratio(j)`` the quotient of the one after number j and that, at most 1.
    """
    terms = [Fraction(1), ratio(0)]
    while True:
        following = terms[-1] * ratio(len(terms) - 1)
        step = float(ratio(len(terms) - 1)) * largest
        if step <= 0.5 and 2.0 * float(following) * largest ** len(terms) <= _REST:
            return [float(x) for x in reversed(terms)]
        terms.append(following)
