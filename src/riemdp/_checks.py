"""Checks of plain parameters: one wording of the errors, nothing but numbers gets through."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Largest number of records or dimensions: no array is longer.
LARGEST_COUNT = 2**63 - 1


def shown(value: object) -> str:
    """Text for a message: a scalar or a short string as it is, of all else the type.

    So arrays, which may be data, never get into a message.
    """
    if isinstance(value, int) and abs(value) > LARGEST_COUNT:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str) and len(value) > 40:
        return f"a text of {len(value)} characters"
    if value is None or isinstance(value, (str, numbers.Number, np.bool_)):
        return repr(value)
    return type(value).__name__


def real(
    value: object, name: str, *, error: type[InvalidParameterError] = InvalidParameterError
) -> float:
    """Return a real number as a float; booleans, texts and arrays are none.

    NaN and infinities get through. An array without axes counts as its entry.
    """
    entry = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(entry, (bool, np.bool_)) and isinstance(entry, numbers.Real):
        try:
            return float(entry)
        except OverflowError:  # an integer beyond float64
            raise error(f"{name} must lie in the range of float64, got {shown(entry)}") from None
    raise error(f"{name} must be a real number, got {shown(value)}")


def positive(
    value: object,
    name: str,
    advice: str = "",
    *,
    error: type[InvalidParameterError] = InvalidParameterError,
) -> float:
    """Return a positive finite number as a float; ``advice`` ends the message of the error."""
    number = real(value, name, error=error)
    if not 0.0 < number < math.inf:
        end = f"; {advice}" if advice else ""
        raise error(f"{name} must be positive and finite, got {number}{end}")
    return number


def count(value: object, name: str) -> int:
    """Return a positive integer; booleans and floats are none."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 1 <= value <= LARGEST_COUNT:  # type: ignore[operator]
        raise InvalidParameterError(
            f"{name} must be a positive integer under 2^63, got {shown(value)}"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def is_one_of(value: object, names: tuple[str, ...]) -> bool:
    """Whether a value, which may be of any type, is one of these names."""
    return isinstance(value, str) and value in names


def real_array(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an array of real numbers as float64."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "fiu":
        what = shown(values) if array.ndim == 0 else f"{type(values).__name__} of other things"
        raise InvalidParameterError(f"{name} must hold real numbers, got {what}")
    return array.astype(np.float64, copy=False)
