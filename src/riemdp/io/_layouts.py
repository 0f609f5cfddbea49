"""How the numbers of a row make a point: orders and units, which nothing in a file tells."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import real_array, shown
from riemdp._errors import InvalidParameterError, NotOnManifoldError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Where the entries of a 3 x 3 matrix are, row by row, in the six numbers of a row.
_TENSORS = {
    "tensor-fsl": (0, 1, 2, 1, 3, 4, 2, 4, 5),  # xx, xy, xz, yy, yz, zz
    "tensor-nifti": (0, 1, 3, 1, 2, 4, 3, 4, 5),  # xx, xy, yy, xz, yz, zz
    "tensor-mrtrix": (0, 3, 4, 3, 1, 5, 4, 5, 2),  # xx, yy, zz, xy, xz, yz
}
#: Name of rows that come from no file.
_NO_FILE = Path("the rows")
_TURN = {"degrees": 360.0, "radians": 2.0 * math.pi}


def layouts() -> list[str]:
    """Return the names that :func:`points_of` knows.

    Examples
    --------
    >>> from riemdp.io import layouts
    >>> "tensor-fsl" in layouts()
    True
    """
    return sorted(_LAYOUTS)


def check_layout(layout: str | None) -> None:
    """Raise ``InvalidParameterError`` for a layout that nobody knows."""
    if layout is not None and layout not in layouts():
        raise InvalidParameterError(
            f"layout must be one of {', '.join(layouts())}, got {shown(layout)}"
        )


def points_of(rows: NDArray[Any], layout: str | None, path: Path = _NO_FILE) -> FloatArray:
    r"""Return points from rows of numbers, each from its own row alone.

    Parameters
    ----------
    rows : ndarray, shape (n, columns) or, without a layout, (n, ...)
    layout : str or None
        ``"tensor-fsl"``
            Six numbers of a symmetric 3 x 3 matrix: xx, xy, xz, yy, yz, zz.
        ``"tensor-nifti"``
            The same in the lower triangle, row by row: xx, xy, yy, xz, yz, zz.
        ``"tensor-mrtrix"``
            The same, diagonal first: xx, yy, zz, xy, xz, yz.
        ``"matrix"``
            k\ :sup:`2` numbers of a k x k matrix, row by row.
        ``"lonlat-degrees"``, ``"lonlat-radians"``
            Longitude and latitude, as a unit vector (x, y, z); the north pole is (0, 0, 1).
        ``"angles-degrees"``, ``"angles-radians"``
            Angles, as angles in radians.
        ``"quaternion-scalar-first"``, ``"quaternion-scalar-last"``
            w, x, y, z or x, y, z, w; as x, y, z, w.
        None
            As they are.
    path : Path, optional
        Where they come from, for messages.

    Returns
    -------
    ndarray, shape (n, \*point_shape)

    Raises
    ------
    InvalidParameterError
        If the rows are no real numbers, there is no such layout, or it takes another number of
        columns.
    NotOnManifoldError
        If a number is not finite, or a longitude or latitude out of range. The message names the
        row and the condition.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.io import points_of
    >>> points_of(np.array([[90.0, 0.0]]), "lonlat-degrees").round(12)
    array([[0., 1., 0.]])
    """
    check_layout(layout)
    numbers = np.array(real_array(rows, "rows"))  # what float64 cannot hold is not finite there
    finite = np.isfinite(numbers)
    _refuse(~np.all(finite, axis=tuple(range(1, finite.ndim))), "a number is not finite", path)
    return numbers if layout is None else _LAYOUTS[layout](numbers, path)


def rows_of(points: FloatArray, layout: str | None) -> FloatArray:
    """Return the rows of numbers, (n, columns), that make points (n, ...).

    For layouts that keep the numbers: those of tensors, of 3 x 3 matrices, and ``"matrix"`` or
    None, row by row.
    """
    if layout in (None, "matrix"):
        return points.reshape(len(points), -1)
    if layout not in _TENSORS or points.shape[1:] != (3, 3):
        raise InvalidParameterError(
            f"points of shape {points.shape[1:]} cannot be written as {shown(layout)}; 3 x 3 "
            f"matrices can, as {', '.join(_TENSORS)}"
        )
    order = _TENSORS[layout]
    turned = np.swapaxes(points, -1, -2)
    if not np.allclose(points, turned, rtol=1e-6, atol=0.0, equal_nan=True):
        raise InvalidParameterError(
            f"points must be symmetric to be written as {shown(layout)}, six numbers each; write "
            "all nine: layout=None"
        )
    return points.reshape(-1, 9)[:, [order.index(column) for column in range(6)]]


def _refuse(wrong: NDArray[np.bool_], said: str, path: Path) -> None:
    if np.any(wrong):
        raise NotOnManifoldError(f"row {np.argmax(wrong)} of {path.name}: {said}")


def _check_columns(rows: FloatArray, columns: int, what: str, path: Path) -> None:
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise InvalidParameterError(
            f"{what} are {columns} numbers each, in a row; records of {path.name} have shape "
            f"{rows.shape[1:]}"
        )


def _tensors(order: tuple[int, ...], rows: FloatArray, path: Path) -> FloatArray:
    _check_columns(rows, 6, "symmetric 3 x 3 matrices", path)
    return rows[:, order].reshape(-1, 3, 3)


def _matrices(rows: FloatArray, path: Path) -> FloatArray:
    size = math.isqrt(rows.shape[1]) if rows.ndim == 2 else 0
    _check_columns(rows, size * size, "square matrices", path)
    return rows.reshape(-1, size, size)


def _unit_vectors(unit: str, rows: FloatArray, path: Path) -> FloatArray:
    _check_columns(rows, 2, "longitude and latitude", path)
    turn = _TURN[unit]
    latitudes = np.abs(rows[:, 1]) > turn / 4.0 * (1.0 + 1e-12)
    _refuse(latitudes, f"its latitude is more than a quarter turn, in {unit}", path)
    _refuse(np.abs(rows[:, 0]) > turn, f"its longitude is more than a turn, in {unit}", path)
    longitude, latitude = (_radians(unit, column, path) for column in rows.T)
    ring = np.cos(latitude)
    return np.stack([ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)], axis=1)


def _radians(unit: str, rows: FloatArray, path: Path) -> FloatArray:  # noqa: ARG001
    return np.radians(rows) if unit == "degrees" else rows


def _quaternions(order: tuple[int, ...], rows: FloatArray, path: Path) -> FloatArray:
    _check_columns(rows, 4, "quaternions", path)
    return rows[:, order]


_LAYOUTS: dict[str, Callable[[FloatArray, Path], FloatArray]] = {
    **{name: functools.partial(_tensors, order) for name, order in _TENSORS.items()},
    "matrix": _matrices,
    **{f"lonlat-{unit}": functools.partial(_unit_vectors, unit) for unit in _TURN},
    **{f"angles-{unit}": functools.partial(_radians, unit) for unit in _TURN},
    "quaternion-scalar-first": functools.partial(_quaternions, (1, 2, 3, 0)),
    "quaternion-scalar-last": functools.partial(_quaternions, (0, 1, 2, 3)),
}
