"""Checks of plain parameters."""

from __future__ import annotations

import math
import numbers

import numpy as np

from riemdp import InvalidParameterError


def positive(
    value: object,
    name: str,
    *,
    error: type[InvalidParameterError] = InvalidParameterError,
    finite: bool = True,
) -> float:
    """Return a positive number as a float; booleans, texts and arrays are none."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    number = float(value) if real else math.nan  # type: ignore[arg-type]
    if not number > 0.0 or (finite and number == math.inf):
        raise error(f"{name} must be positive{' and finite' * finite}, got {_shown(value)}")
    return number


def count(value: object, name: str) -> int:
    """Return a positive integer; booleans and floats are none."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1:  # type: ignore[operator]
        raise InvalidParameterError(f"{name} must be a positive integer, got {_shown(value)}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def _shown(value: object) -> str:
    """Text for a message: of all that is no number, the type."""
    return repr(value) if isinstance(value, numbers.Number) else type(value).__name__
