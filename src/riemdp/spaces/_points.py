"""Checks on points that all manifolds share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from riemdp._checks import real_array
from riemdp._errors import InvalidParameterError, NotOnManifoldError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

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
