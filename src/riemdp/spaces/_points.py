"""Points of a space: shapes, norms, units and what is checked of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from riemdp._checks import real_array
from riemdp._errors import InvalidParameterError, NotOnManifoldError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


# Norms of vectors: in chunks, beyond the range of squares, and clipped.

#: Entries of an array that are worked on at once where temporary arrays should stay in the cache.
CHUNK_ENTRIES = 16384
#: Coordinates up to which squares are added column by column.
_COLUMNS = 16


def square_norm(array: FloatArray, metric: FloatArray | None = None) -> FloatArray:
    """Sum of squares over the last axis, each times an entry of ``metric`` where it is given.

    By products in the cache, several times faster than ``einsum``.
    """
    width = array.shape[-1]
    flat = array.reshape(-1, width)
    result, metric = np.empty(len(flat)), np.ones(width) if metric is None else metric
    step = max(1, CHUNK_ENTRIES // width)
    for start in range(0, len(flat), step):
        block = flat[start : start + step]
        np.dot(block * block, metric, out=result[start : start + step])
    return result.reshape(array.shape[:-1])


def squares(vectors: FloatArray) -> FloatArray:
    """Squares of norms over the last axis; few coordinates column by column.

    That is several times faster than along rows.

    Parameters
    ----------
    vectors : ndarray, shape (..., d)

    Returns
    -------
    ndarray, shape (...)
    """
    width = vectors.shape[-1]
    if not 0 < width <= _COLUMNS:
        return np.asarray(np.square(vectors).sum(axis=-1))
    total = np.square(vectors[..., 0])
    for i in range(1, width):
        total = total + np.square(vectors[..., i])
    return np.asarray(total)


def all_within(values: FloatArray, middle: float, deviation: float) -> bool:
    """Whether no value, of any number of them, is farther from ``middle`` or NaN.

    By the extremes alone: rounding is monotone, so this is what a look at every value says.
    """
    if not values.size:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        lowest, highest = values.min(), values.max()
        return bool(middle - lowest <= deviation and highest - middle <= deviation)


def long_norm(vectors: FloatArray) -> FloatArray:
    """Norm over the last axis, also where the squares overflow float64."""
    with np.errstate(over="ignore"):
        length = np.asarray(np.linalg.norm(vectors, axis=-1))
    if not np.isinf(length).any():
        return length
    largest = np.abs(vectors).max(axis=-1)
    unit = np.where(np.isfinite(largest) & (largest > 0.0), largest, 1.0)
    with np.errstate(over="ignore"):
        longer = largest * np.linalg.norm(vectors / unit[..., None], axis=-1)
    return np.asarray(np.where(np.isinf(length) & np.isfinite(largest), longer, length))


def clip_norm(vectors: FloatArray, radius: float) -> FloatArray:
    """Shorten vectors ``(..., d)`` to at most ``radius``; shorter ones stay as they are.

    Each is scaled by a power of two first, which changes no digit, so that squares neither overflow
    nor vanish.

    Parameters
    ----------
    vectors : ndarray, shape (..., d)
    radius : float

    Returns
    -------
    ndarray, shape (..., d)
    """
    if vectors.ndim == 2 and vectors.flags.c_contiguous and vectors.size > CHUNK_ENTRIES:
        return _clip_rows(vectors, radius)
    return _clip(vectors, radius)


def in_units(vectors: FloatArray, length: float | FloatArray) -> FloatArray:
    """Divide vectors ``(n, dim)`` by a length that they have at most, up to rounding.

    And by ``1 + (dim + 8) 2^-52``, which is more than rounding takes: so no quotient is longer than
    1 as a real number, which would not count.

    Parameters
    ----------
    vectors : ndarray, shape (n, dim)
    length : float, or ndarray, shape (n, 1)

    Returns
    -------
    ndarray, shape (n, dim)
    """
    return np.asarray(vectors / (length * (1.0 + (vectors.shape[-1] + 8.0) * 2.0**-52)))


def finite_in_units(vectors: FloatArray, length: float) -> FloatArray:
    """Do what :func:`in_units` does; vectors that are not finite become zero."""
    finite = np.isfinite(vectors).all(axis=-1, keepdims=True)
    return in_units(np.where(finite, vectors, 0.0), length)


def _clip(vectors: FloatArray, radius: float) -> FloatArray:
    """:func:`clip_norm` of all vectors at a time."""
    with np.errstate(all="ignore"):
        doubtful = ~_surely_inside(vectors, radius)
        if not doubtful.any():
            return np.asarray(vectors)
        some = vectors[doubtful]
        exponent = np.frexp(np.abs(some).max(axis=-1, keepdims=True))[1]
        scaled = np.ldexp(some, -exponent)
        norm = np.sqrt(squares(scaled))[..., None]
        outside = np.ldexp(norm, exponent) > radius
        if not outside.any():
            return np.asarray(vectors)
        shortened = scaled * (radius / np.where(outside, norm, 1.0))
    found = np.array(vectors)
    found[doubtful] = np.where(outside, shortened, some)
    return found


def _surely_inside(vectors: FloatArray, radius: float) -> NDArray[np.bool_]:
    """Whether vectors are shorter by more than rounding of plain squares explains."""
    if not 1e-140 < radius < 1e140:
        return np.zeros(vectors.shape[:-1], dtype=bool)
    limit = (radius * (1.0 - 1e-6)) ** 2
    return np.asarray(squares(vectors) <= limit)  # not of NaN


def _clip_rows(vectors: FloatArray, radius: float) -> FloatArray:
    """:func:`clip_norm` of many rows, some at a time, whose temporary arrays stay in the cache."""
    step = max(1, CHUNK_ENTRIES // vectors.shape[-1])
    found = vectors
    for start in range(0, len(vectors), step):
        rows = vectors[start : start + step]
        clipped = _clip(rows, radius)
        if clipped is not rows:
            found = np.array(vectors) if found is vectors else found
            found[start : start + step] = clipped
    return np.asarray(found)


# Distances in the units of those who measured the records.

#: Units that covariances and tensors are often in by mistake; see :attr:`Manifold.other_units`.
OF_MATRICES = (
    "covariances in microvolts squared are 1e12 times those in volts squared, diffusion tensors in "
    "mm^2/s a thousandth of those in um^2/ms"
)
#: By how much fractional anisotropy changes at most for each unit of distance.
_ANISOTROPY = math.sqrt(2.0 / 3.0)
#: Logarithm up to which a factor is said as a percentage, and that of the largest one.
_AS_PERCENT, _LARGEST = math.log(2.0), 700.0


class Unit(ABC):
    """What distances are said in by those who measured the records, and how.

    Attributes
    ----------
    label : str
        What an axis in this unit is called.

    Examples
    --------
    >>> import riemdp
    >>> unit = riemdp.Sphere(2).unit(0.5)
    >>> unit.label, unit.said(0.5)
    ('degrees', '28.6 degrees')
    """

    label: ClassVar[str]

    @abstractmethod
    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return geodesic distances in this unit.

        Parameters
        ----------
        distance : array_like, shape (...)

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def back(self, value: FloatArray | float) -> FloatArray:
        """Return the geodesic distances that are so much in this unit.

        Parameters
        ----------
        value : array_like, shape (...)

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def said(self, distance: float) -> str:
        """Say a distance in words, to follow its number in brackets.

        Parameters
        ----------
        distance : float

        Returns
        -------
        str
        """

    def short(self, distance: float) -> str:
        """Say it in few words, as pictures have room for; by default those of :meth:`said`.

        Parameters
        ----------
        distance : float

        Returns
        -------
        str
        """
        return self.said(distance)


@dataclass(frozen=True)
class Degrees(Unit):
    """Degrees of an angle.

    Parameters
    ----------
    per_distance : float, default 1.0
        Radians for each unit of geodesic distance.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.spaces import Degrees
    >>> degrees = Degrees()
    >>> float(degrees.of(np.pi)), degrees.said(0.1)
    (180.0, '5.73 degrees')
    """

    label = "degrees"

    per_distance: float = 1.0

    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return distances in degrees; see :meth:`Unit.of`."""
        return np.asarray(np.degrees(self.per_distance * np.asarray(distance)))

    def back(self, value: FloatArray | float) -> FloatArray:
        """Inverse of :meth:`of`."""
        return np.asarray(np.radians(value) / self.per_distance)

    def said(self, distance: float) -> str:
        """As in ``"1.5 degrees"``; see :meth:`Unit.said`."""
        return f"{math.degrees(self.per_distance * distance):.3g} degrees"


@dataclass(frozen=True)
class _Eigenvalues(Unit):
    """The largest change of eigenvalues that is possible at a distance.

    With ``anisotropy``, for matrices of size 3, how far that may differ is said too.
    """

    form: ClassVar[tuple[str, str]]

    anisotropy: bool = False

    def said(self, distance: float) -> str:
        """As in ``"that far, eigenvalues differ by at most 5 %"``; see :meth:`Unit.said`."""
        said = f"that far, eigenvalues differ by {self.form[0].format(float(self.of(distance)))}"
        most = _ANISOTROPY * distance
        if not (self.anisotropy and most < 1.0):  # 1 is all it can differ
            return said
        return f"{said}, fractional anisotropy by at most {most:.3g}"

    def short(self, distance: float) -> str:
        """As in ``"eigenvalues: 5 %"``; see :meth:`Unit.short`."""
        return f"eigenvalues: {self.form[1].format(float(self.of(distance)))}"


class EigenvaluePercent(_Eigenvalues):
    """Change of eigenvalues in percent."""

    label = "eigenvalues differ by at most, in %"
    form = "at most {:.3g} %", "{:.3g} %"

    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return ``100 (e^distance - 1)``; see :meth:`Unit.of`."""
        with np.errstate(over="ignore"):
            return np.asarray(100.0 * np.expm1(distance))

    def back(self, value: FloatArray | float) -> FloatArray:
        """Inverse of :meth:`of`."""
        return np.asarray(np.log1p(np.maximum(np.asarray(value) / 100.0, -0.99)))


class EigenvalueFactor(_Eigenvalues):
    """Change of eigenvalues as a factor."""

    label = "eigenvalues differ by a factor of at most"
    form = "a factor of at most {:.3g}", "factor {:.3g}"

    def of(self, distance: FloatArray | float) -> FloatArray:
        """Return ``e^distance``; see :meth:`Unit.of`."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(distance))

    def back(self, value: FloatArray | float) -> FloatArray:
        """Inverse of :meth:`of`."""
        return np.asarray(np.log(np.maximum(value, 1e-300)))


def eigenvalues(distance: float, k: int) -> Unit | None:
    """Return how far eigenvalues of k x k matrices may differ, by the distance of their logarithms.

    By Weyl's inequality each logarithm of an eigenvalue differs by at most the distance of two
    matrices, log-Euclidean or affine-invariant. Of size 3 fractional anisotropy is said too: it
    moves by at most sqrt(2/3) for each unit of distance (docs/proofs/anisotropy.md). None where the
    factor at the largest distance is too large for float64.
    """
    if not distance <= _LARGEST:
        return None
    unit = EigenvaluePercent if distance <= _AS_PERCENT else EigenvalueFactor
    return unit(anisotropy=k == 3)


# Checks on points that all manifolds share.

T = TypeVar("T", bound=np.generic)

#: Relative deviation from a manifold's defining condition that ``validate`` mends per record: 1e-4,
#: so that points that were computed in float32 pass. It is the same for every type of numbers.
VALIDATION_TOLERANCE = 1e-4
#: Condition that :func:`raise_first` names where a matrix has an eigenvalue that is not positive.
NOT_POSITIVE_DEFINITE = "is not positive definite in float64"


def with_axes(values: NDArray[T], shape: tuple[int, ...]) -> NDArray[T]:
    """Append axes of length 1, as many as points or tangent vectors of this shape have."""
    return values.reshape(*values.shape, *(1 for _ in shape))


def as_floats(values: ArrayLike) -> FloatArray:
    """Return points, vectors or coordinates as a plain float64 array; nothing else is checked.

    Every public method starts with it: arithmetic on another library's containers would follow
    that library, which may align rows by labels.

    Parameters
    ----------
    values : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    NotOnManifoldError
        If they are not real numbers, or masked.
    """
    return real_array(values, "points or coordinates", error=NotOnManifoldError)


def check_points(points: ArrayLike, point_shape: tuple[int, ...]) -> FloatArray:
    r"""Check shape and finiteness; return float64 points.

    Parameters
    ----------
    points : array_like, shape (..., \*point_shape)
    point_shape : tuple of int

    Returns
    -------
    ndarray, shape (..., \*point_shape)

    Raises
    ------
    NotOnManifoldError
    """
    array = check_shape(points, point_shape)
    check_finite(array, len(point_shape))
    return array


def check_finite(array: FloatArray, rank: int) -> None:
    """Check that the points, whose shape has ``rank`` axes, have finite entries."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    if not np.isfinite(total):  # one cheap pass; a finite sum proves finite entries
        axes = tuple(range(array.ndim - rank, array.ndim))
        raise_first(
            np.asarray(~np.isfinite(array).all(axis=axes)), "has entries that are NaN or infinite"
        )


def check_shape(points: ArrayLike, point_shape: tuple[int, ...]) -> FloatArray:
    """Check the shape; return float64 points."""
    array = real_array(points, "points", error=NotOnManifoldError)
    rank = len(point_shape)
    if array.ndim < rank or array.shape[array.ndim - rank :] != point_shape:
        raise NotOnManifoldError(
            f"points must have shape (..., {_spell(point_shape)}), got {array.shape}"
            f"{advice_on_shape(array.shape, point_shape)}"
        )
    return array


def check_broadcast(point: FloatArray, footpoint: FloatArray, rank: int) -> None:
    r"""Check that the leading axes of points, whose shape has ``rank`` axes, broadcast.

    Parameters
    ----------
    point, footpoint : ndarray, shape (..., \*point_shape)
    rank : int

    Raises
    ------
    InvalidParameterError
    """
    axes = [array.shape[: array.ndim - rank] for array in (point, footpoint)]
    try:
        np.broadcast_shapes(*axes)
    except ValueError:
        raise InvalidParameterError(
            f"the leading axes {axes[0]} of the points and {axes[1]} of the footpoints do not "
            "broadcast against each other"
        ) from None


def raise_first(bad: NDArray[np.bool_], condition: str, first_row: int = 0) -> None:
    """Raise ``NotOnManifoldError`` for the first bad row, if there is one.

    Parameters
    ----------
    bad : ndarray of bool, shape (...)
    condition : str
        What a row must not do, to follow "row 3 ": no coordinates.
    first_row : int, default 0
        Number of the first of these rows in the data they were cut from.

    Raises
    ------
    NotOnManifoldError
    """
    if not bad.any():
        return
    if bad.ndim == 0:
        where = "the point"
    else:
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        index = (index[0] + first_row, *index[1:])
        where = f"row {index[0] if len(index) == 1 else index}"
    raise NotOnManifoldError(f"{where} {condition}")


def advice_on_shape(shape: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Say, to follow a message, what makes points of shape ``wanted`` of an array of another one.

    Empty where nothing is known.
    """
    last = shape[1:]
    if len(last) == 1 and len(wanted) > 1 and last[0] == math.prod(wanted):
        return f"; flattened points: points.reshape(-1, {_spell(wanted)})"
    if len(wanted) in (2, 3) and wanted[-1] == wanted[-2]:
        return _advice_on_matrices(last, wanted)
    if wanted == (3,) and (2,) in (last, shape):
        return (
            "; longitude and latitude become unit vectors by "
            'riemdp.io.points_of(rows, "lonlat-degrees")'
        )
    if wanted == (2,) and last == ():
        return "; angles become unit vectors (cos, sin): numpy.stack([cos(a), sin(a)], axis=-1)"
    if wanted == (1,) and last == ():
        return "; one number a record needs an axis: points[:, None]"
    size = shape[-1] if shape else 0
    if wanted == (size + 1,) and size > 2 and len(shape) <= 2:
        return (
            f"; vectors of {size} entries are points of Sphere({size - 1}), Hyperbolic({size - 1}) "
            f"or Euclidean({size})"
        )
    return ""


def _advice_on_matrices(last: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Say what to do with matrices of another size or number, rows of shape ``last``."""
    k = wanted[-1]
    half = k * (k + 1) // 2
    if len(last) == 3 and len(wanted) == 2 and half == last[-1]:
        return (
            "; of images take the voxels of a public mask: each a record, or all of them one point "
            "of Power(space, voxels)"
        )
    if last == (*wanted[:-2], half):
        return (
            "; half of the entries of symmetric matrices, in an order that has to be said: "
            "riemdp.io.points_of(rows, layout) knows several"
        )
    if len(wanted) == 3 and last[1:] == wanted[1:]:
        return f"; for {last[0]} points a record take Power(space, {last[0]})"
    if len(last) == len(wanted) == 2 and last[0] == k:
        return "; of time series take covariances first, such as pyriemann's Covariances"
    if len(last) == len(wanted) == 2 and last[0] == last[1]:
        return f"; for matrices of size {last[0]} take a space of that size"
    return ""


def _spell(shape: tuple[int, ...]) -> str:
    return ", ".join(str(n) for n in shape)
