"""Weights of records that are not private, made shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import real_array
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.manifolds import FloatArray


def shares_of(weights: ArrayLike, n: int) -> FloatArray:
    """Divide weights ``(n,)`` by their sum; they are not negative, and the sum is positive.

    Raises ``InvalidParameterError`` for others.
    """
    array = real_array(weights, "weights", booleans=True)
    if array.shape != (n,):
        raise InvalidParameterError(f"weights must have shape ({n},), got {array.shape}")
    bad = ~(np.isfinite(array) & (array >= 0.0))
    if bad.any():
        raise InvalidParameterError(
            f"weights must be finite and not negative; row {int(np.argmax(bad))} is not"
        )
    largest = float(array.max())
    if largest == 0.0:
        raise InvalidParameterError("weights must have a positive sum; all are zero")
    shares = array / largest  # now no sum of them can overflow
    return np.asarray(shares / math.fsum(shares))
