"""What an exact draw returns, and what goes into it: exact numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, kind_of, positive, shown
from riemdp._errors import InvalidParameterError
from riemdp.noise.exact._bits import enclosures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

    Ball = Any

#: Finest and coarsest grid, and most bits of a starting precision.
_FINEST, _MOST_PRECISION = 4096, 1 << 16
#: Bits of integers and of the grid's step whose product is a normal float64.
_SHORT = 500


@dataclass(frozen=True)
class Rounded:
    """Coordinates on a public grid: ``integers[i] * 2^-grid``.

    Parameters
    ----------
    integers : tuple of int
        One for each coordinate.
    grid : int
        Minus the binary logarithm of the grid's step.

    Examples
    --------
    >>> from riemdp.noise.exact import Rounded
    >>> Rounded((3, -8), grid=4).values()
    array([ 0.1875, -0.5   ])
    """

    integers: tuple[int, ...]
    grid: int

    @property
    def longest(self) -> int:
        """Length in bits of the longest of the integers."""
        if not self.integers:
            return 0
        low, high = min(self.integers), max(self.integers)
        return max(-low, high).bit_length()

    def values(self) -> FloatArray:
        """Return the coordinates as the nearest float64, shape ``(dim,)``.

        Raises
        ------
        OverflowError
            If one lies beyond the range of float64.
        """
        integers: NDArray[Any] = np.array(self.integers, dtype=object)
        return rounded_values(
            integers.astype(float) if self.longest <= _SHORT else integers, self.grid
        )


def rounded_values(integers: NDArray[Any], grid: int) -> FloatArray:
    """Return the nearest float64 of integers times ``2^-grid``."""
    if integers.dtype != object and abs(grid) <= _SHORT:  # a power of two rounds nothing
        return np.asarray(np.ldexp(integers.astype(np.float64), -grid))
    unit = Fraction(2) ** -grid
    found = [float(int(n) * unit) for n in integers.flat]
    return np.array(found).reshape(integers.shape)


def default_grid(sigma: float) -> int:
    """Return the grid that is ``2^-40`` of the noise's scale, up to a factor of two.

    Rounding adds at most ``(sigma 2^-40)^2 dim / 12`` to the mean squared error, and a coordinate
    within 4000 scales of the centre is a float64.

    Parameters
    ----------
    sigma : float
        Scale of the noise.

    Returns
    -------
    int
        ``40 - floor(log2(sigma))``.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.

    Examples
    --------
    >>> from riemdp.noise.exact import default_grid
    >>> default_grid(1.0)
    40
    """
    return 41 - math.frexp(positive(sigma, "sigma, the noise scale,"))[1]


def exact_numbers(values: Sequence[Any], dim: int) -> list[Fraction]:
    """Return coordinates as the rational numbers they are; a float is one.

    Raises ``InvalidParameterError`` if there are not ``dim`` of them, or one is not finite. No
    coordinate is told.
    """
    if not isinstance(values, Iterable):
        raise InvalidParameterError(
            f"footpoint must be a sequence of {dim} numbers, got {kind_of(values)}"
        )
    found = [_exact(value) for value in values]
    if len(found) != dim:
        raise InvalidParameterError(
            f"footpoint must have {dim} coordinates, as the space has dimensions, got {len(found)}"
        )
    return found


def _exact(value: object) -> Fraction:
    if type(value) is Fraction:
        return value
    if isinstance(value, bool) or not isinstance(value, (numbers.Rational, float, np.floating)):
        raise InvalidParameterError(
            f"footpoint must hold integers, fractions or floats, got {kind_of(value)}"
        )
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    try:
        return Fraction(*value.as_integer_ratio())
    except (OverflowError, ValueError):
        raise InvalidParameterError("footpoint must hold finite numbers") from None


def ball_of(number: Fraction) -> Ball:
    """Enclose a rational number at the working precision."""
    arb, _ = enclosures()
    numerator = arb(number.numerator)
    return numerator if number.denominator == 1 else numerator / number.denominator


def check_grid(grid: object) -> int:
    """Return the grid or raise ``InvalidParameterError``."""
    whole = isinstance(grid, (int, np.integer)) and not isinstance(grid, bool)
    if not whole or not -_FINEST <= grid <= _FINEST:  # type: ignore[operator]
        raise InvalidParameterError(
            f"grid must be an integer between -{_FINEST} and {_FINEST}, minus the binary "
            f"logarithm of the step, got {shown(grid)}; default_grid(sigma) is one"
        )
    return int(grid)  # type: ignore[call-overload, no-any-return]


def check_precision(precision: object) -> int:
    """Return the starting precision or raise ``InvalidParameterError``."""
    bits = count(precision, "precision")
    if not 2 <= bits <= _MOST_PRECISION:
        raise InvalidParameterError(
            f"precision must be between 2 and {_MOST_PRECISION} bits, got {bits}; it is only what "
            "a draw begins with, 128 is right for nearly all"
        )
    return bits
