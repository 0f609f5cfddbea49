"""Configurations of landmarks in the plane, and unit vectors that stand for their shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import plain_array, real_entries
from riemdp._errors import NotOnManifoldError
from riemdp.spaces._points import raise_first

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray

    ComplexArray = NDArray[np.complex128]

#: A configuration this small, relative to its largest coordinate, is a point and rounding errors.
_ONE_PLACE = 1e-12
#: A landmark of a configuration of norm 1 that counts as one at the centre.
_CENTRE = 1e-8


def landmark_pairs(landmarks: ArrayLike) -> FloatArray:
    """Return landmarks as pairs of real numbers; nothing is checked but that they are numbers.

    Parameters
    ----------
    landmarks : array_like, shape (..., k) of complex numbers, or (..., k, 2) of real ones

    Returns
    -------
    ndarray, shape (..., k, 2)

    Raises
    ------
    NotOnManifoldError
        If they are no numbers, or masked.
    """
    name = "landmarks"
    array = plain_array(landmarks, name, error=NotOnManifoldError)
    if array is None or array.dtype.kind != "c":
        array = real_entries(landmarks, name, error=NotOnManifoldError)
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        array = array.astype(np.complex128, copy=False)
    return np.stack([array.real, array.imag], axis=-1)


def complex_landmarks(pairs: FloatArray) -> ComplexArray:
    """Return pairs of real numbers as complex numbers.

    Parameters
    ----------
    pairs : ndarray, shape (..., k, 2)

    Returns
    -------
    ndarray, shape (..., k)
    """
    return np.ascontiguousarray(pairs).view(np.complex128)[..., 0]


def preshape_of(pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return unit vectors of configurations in Helmert's basis, and how large these were.

    Configurations are finite, shape ``(..., k, m)``. The vectors, shape ``(..., m (k - 1))``, hold
    one dimension after the other (real parts, then imaginary parts) of the centred configurations
    in an orthonormal basis; zero if all landmarks are at one place. The size, shape ``(...)``, is
    the norm of the centred configuration in units of a power of two, which is over its largest
    coordinate and at most twice that: under :data:`_ONE_PLACE` it is one of rounding errors.
    """
    parts = np.ascontiguousarray(np.swapaxes(pairs, -1, -2))
    count = parts.shape[-1]
    # by a power of two, which changes no digit: squares neither overflow nor vanish
    largest = np.abs(parts).max(axis=(-1, -2), keepdims=True)
    scaled = np.ldexp(parts, -np.frexp(largest)[1])
    centred = scaled - scaled[..., :1]
    j = np.arange(1.0, count)
    before = np.cumsum(centred, axis=-1)[..., :-1]
    found = (j * centred[..., 1:] - before) / np.sqrt(j * (j + 1.0))
    flat = np.ascontiguousarray(found.reshape(*found.shape[:-2], parts.shape[-2] * (count - 1)))
    size = np.sqrt(np.einsum("...i,...i->...", flat, flat))
    return flat / np.where(size > 0.0, size, 1.0)[..., None], size


def checked_preshape(pairs: FloatArray) -> FloatArray:
    """Return unit vectors of configurations that have a shape; see :func:`preshape_of`.

    Parameters
    ----------
    pairs : ndarray, shape (..., k, m)
        k landmarks, finite.

    Returns
    -------
    ndarray, shape (..., m (k - 1))

    Raises
    ------
    NotOnManifoldError
        If a row has all its landmarks at one place: within 1e-12 of its largest coordinate.
    """
    found, size = preshape_of(pairs)
    raise_first(
        np.asarray(size <= _ONE_PLACE), "has all its landmarks at one place, which has no shape"
    )
    return found


def centred_landmarks(rows: FloatArray) -> FloatArray:
    """Return centred configurations ``(..., m, k)``, as they are turned, of unit vectors.

    These are those of :func:`preshape_of` in rows, one for each dimension: ``(..., m, k - 1)``.
    """
    j = np.arange(1.0, rows.shape[-1] + 1.0)
    steps = rows / np.sqrt(j * (j + 1.0))
    found = np.zeros((*rows.shape[:-1], rows.shape[-1] + 1))
    found[..., 1:] = j * steps
    found[..., :-1] -= np.cumsum(steps[..., ::-1], axis=-1)[..., ::-1]
    return found


def landmarks_of(preshape: FloatArray) -> FloatArray:
    """Return configurations of unit vectors, centred, and turned the same for all phases.

    Parameters
    ----------
    preshape : ndarray, shape (..., 2 k - 2)
        As :func:`preshape_of` returns them.

    Returns
    -------
    ndarray, shape (..., k, 2)
        The first landmark that is not at the centre is real and positive.
    """
    found = centred_landmarks(preshape.reshape(*preshape.shape[:-1], 2, preshape.shape[-1] // 2))
    x, y = found[..., 0, :], found[..., 1, :]
    modulus = np.sqrt(x * x + y * y)
    first = leading_landmark(modulus)[..., None]
    length, cosine, sine = (np.take_along_axis(part, first, -1) for part in (modulus, x, y))
    length = np.where(length > 0.0, length, 1.0)
    cosine, sine = cosine / length, sine / length
    turned = np.stack([x * cosine + y * sine, y * cosine - x * sine], axis=-1)
    np.put_along_axis(turned[..., 1], first, 0.0, -1)
    return turned


def leading_landmark(modulus: FloatArray) -> NDArray[np.intp]:
    """Return which landmark is made real: the first that is not at the centre.

    By distances from the centre, ``(..., k)``, in configurations of norm 1.
    """
    return np.asarray(np.argmax(modulus > _CENTRE, axis=-1))
