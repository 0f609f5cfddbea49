"""Checks of plain parameters: one wording of the errors, nothing but numbers gets through."""

from __future__ import annotations

import itertools
import math
import numbers
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._zarr_arrays import is_zarr, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

#: Largest number of records or dimensions: no array is longer.
LARGEST_COUNT = 2**63 - 1
#: Least radius, sensitivity and noise scale, and one over the largest: fourth powers stay in the
#: range of float64 without losing digits, so that what is said to be rounded up is.
LEAST_SCALE = 1e-75
#: Way out where a noise scale, which follows from a budget, leaves that range.
OTHER_SCALE = "change the unit of the data, or take another budget"


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


def did_you_mean(name: object, known: Sequence[str]) -> str:
    """Name what is known and close to a name, as a question; empty where nothing is."""
    if not isinstance(name, str) or not name:
        return ""
    plain = {each.lower().replace("-", "").replace("_", ""): each for each in reversed(known)}
    asked = name.lower().replace("-", "").replace("_", "")
    near = [each for each in plain if asked and asked in each][::-1]
    if not near:
        import difflib

        near = difflib.get_close_matches(asked, list(plain), n=2)
    return f"did you mean {' or '.join(plain[each] for each in near)}? " if near else ""


def kind_of(value: object) -> str:
    """Text for a message about what may be a record, or have changed places with one: its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}; make one of it, {value.__name__}(...)"
    return "None" if value is None else type(value).__name__


def real(
    value: object, name: str, *, error: type[InvalidParameterError] = InvalidParameterError
) -> float:
    """Return a real number as a float; booleans, texts and arrays are none.

    NaN and infinities get through. An array without axes counts as its entry.
    """
    if type(value) is float:  # nearly all are
        return value
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


def scale(value: object, name: str, advice: str = "change the unit of the data") -> float:
    """Return a radius, sensitivity or noise scale of which float64 holds the fourth power."""
    number = positive(value, name)
    if not LEAST_SCALE <= number <= 1.0 / LEAST_SCALE:
        raise InvalidParameterError(
            f"{name} must lie between {LEAST_SCALE:g} and {1.0 / LEAST_SCALE:g}, so that float64 "
            f"holds its powers, got {number:.6g}; {advice}"
        )
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


def plain_array(
    values: object, name: str, *, error: type[RiemdpError] = InvalidParameterError
) -> NDArray[Any] | None:
    """Return an ndarray: no subclass of it, nor another library's container; None if there is none.

    There is none of rows of different lengths, or where another library refuses. Masked arrays are
    refused, by themselves, in nested sequences, and where a container hands one out: the conversion
    would bring to light what they hide. An array of Zarr is read, with known codecs.
    """
    values = whole(values, name) if is_zarr(values) else values
    try:
        array = None if _hides_a_mask(values) else np.asanyarray(values)
    except (TypeError, ValueError):
        return None
    if array is None or hasattr(array, "mask"):
        raise error(f"{name} must not be a masked array; fill or drop the masked entries first")
    return np.asarray(array)


def real_entries(
    values: object,
    name: str,
    *,
    error: type[RiemdpError] = InvalidParameterError,
    booleans: bool = False,
) -> NDArray[Any]:
    """Return an array of real numbers in the precision it comes in; see :func:`plain_array`."""
    array = plain_array(values, name, error=error)
    if array is None or array.dtype.kind not in ("fiub" if booleans else "fiu"):
        alone = array is not None and array.ndim == 0
        what = kind_of(values) + ("" if alone else " of other things")
        raise error(f"{name} must hold real numbers, got {what}{_way_out(values, array)}")
    return array


def _way_out(values: object, array: NDArray[Any] | None) -> str:
    """Say what makes real numbers of something else, where that is known."""
    if isinstance(values, (str, os.PathLike)):
        return "; read the file first, as with riemdp.io.read_records"
    if array is None:
        return ", which make no array: rows must all have one shape"
    if array.dtype.kind == "c":
        return ": they are complex"
    if array.dtype.kind == "b" and array.ndim > 0:
        return ": they are true or false"
    if array.ndim > 0:
        said = "; if they are numbers, make them such: numpy.asarray(values, dtype=float)"
        return said + (
            "; of files give the pathlib.Path of each" if array.dtype.kind == "U" else ""
        )
    return ""


def real_array(
    values: ArrayLike,
    name: str,
    *,
    error: type[RiemdpError] = InvalidParameterError,
    booleans: bool = False,
) -> NDArray[np.float64]:
    """Return an array of real numbers as float64; see :func:`plain_array`."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    entries = real_entries(values, name, error=error, booleans=booleans)
    with np.errstate(over="ignore"):  # a longer float beyond float64 is infinite
        return entries.astype(np.float64, copy=False)


def probabilities(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return numbers in [0, 1] as float64, of any shape."""
    q = real_array(values, name)
    if not np.all((q >= 0.0) & (q <= 1.0)):
        raise InvalidParameterError(f"{name} must hold probabilities in [0, 1]")
    return q


def _hides_a_mask(values: object) -> bool:
    """Whether a sequence holds a masked array, at any depth."""
    level: list[Any] = [values] if _is_sequence(values) else []
    for _ in range(_MOST_AXES):
        # Axis by axis, so that rows of numbers are passed over at the speed of built-in functions.
        level = list(itertools.chain.from_iterable(level))
        kinds = set(map(type, level))
        if kinds <= _PLAIN:
            return False
        if not kinds <= {list, tuple}:
            level = [part for part in level if type(part) not in _PLAIN]
            arrays = (part for part in level if hasattr(part, "__array__"))
            if any(hasattr(np.asanyarray(part), "mask") for part in arrays):
                return True
            level = [part for part in level if _is_sequence(part)]
    return False


def _is_sequence(values: object) -> bool:
    """Whether NumPy reads an object item by item."""
    return (
        hasattr(type(values), "__getitem__")
        and hasattr(type(values), "__len__")
        and not hasattr(values, "__array__")
        and not isinstance(values, (str, bytes, bytearray, memoryview, dict))
    )


#: What cannot hide a mask, and is common in sequences.
_PLAIN = frozenset({float, int, bool, complex, str, np.float64, np.float32, np.int64})
#: More axes than an array can have.
_MOST_AXES = 65
