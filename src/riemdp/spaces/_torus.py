"""Flat tori: several angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count
from riemdp._part import register
from riemdp.spaces._euclidean import Euclidean
from riemdp.spaces._points import as_floats, check_points
from riemdp.spaces._quotient import DiscreteQuotient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._quotient import Arb

#: 2 pi is the sum, up to 2e-35. The first two have 30 bits, so that 2^23 turns of them are exact.
_TURN = (
    float.fromhex("0x1.921fb548p+2"),
    float.fromhex("-0x1.de973dc8p-29"),
    float.fromhex("-0x1.9d9cceba3f91fp-60"),
)
#: Angle beyond which turns are taken off one by one, by the library of C.
_FAR = 1e7
_EPS = float(np.finfo(np.float64).eps)


@final
@register
@dataclass(frozen=True)
class Torus(DiscreteQuotient):
    r"""Tuples of angles, in radians, each up to whole turns.

    Locally R^dim: squared distances are the sums of squares of the angles' differences, each taken
    the shorter way round.

    Parameters
    ----------
    dim : int
        Number of angles, at least 1; points have shape ``(dim,)``. ``Torus(1)`` is a circle of
        radius 1.

    Raises
    ------
    InvalidParameterError
        If ``dim`` is not a positive integer.

    References
    ----------
    docs/proofs/quotients.md, "Angles"

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Torus(2)
    >>> space.dim, space.point_shape
    (2, (2,))
    """

    proof = "docs/proofs/quotients.md"

    injectivity_radius = math.pi  #: Pi, rounded down.

    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", count(self.dim, "dim"))

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(dim,)``."""
        return (self.dim,)

    @property
    def cover(self) -> Euclidean:
        """Angles that count turns."""
        return Euclidean(self.dim)

    @property
    def diameter(self) -> float:
        """``pi sqrt(dim)``, rounded up."""
        return math.pi * math.sqrt(self.dim) * (1.0 + 4.0 * _EPS)

    def lift(self, points: ArrayLike) -> FloatArray:
        """Return the angles in ``(-pi, pi]``; see :meth:`Quotient.lift`."""
        return reduced(as_floats(points))

    def push(self, points: ArrayLike) -> FloatArray:
        """Return the same; see :meth:`Quotient.push`."""
        return reduced(as_floats(points))

    def nearest(self, base: ArrayLike, points: ArrayLike) -> FloatArray:
        """Change each angle by whole turns; see :meth:`Quotient.nearest`."""
        base = as_floats(base)
        return np.asarray(base + reduced(as_floats(points) - base))

    def folded(self, ends: Sequence[Arb]) -> Sequence[Arb] | None:
        """Take off the nearest whole turns; see :meth:`Quotient.folded`."""
        from flint import arb

        turn, found = 2 * arb.pi(), []
        for angle in ends:
            turns = (angle / turn + 0.5).floor().unique_fmpz()
            if turns is None:
                return None
            found.append(angle - turn * turns)
        return found

    def rounding(self, center: FloatArray, radius: float) -> float:  # noqa: ARG002
        """Of angles, which are at most pi."""
        return 8.0 * _EPS * self.diameter

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check angles, and reduce them to ``(-pi, pi]``; see :meth:`Manifold.validate`.

        Any whole turns are taken off, to the accuracy of the float64 angle that is given: that is
        no repair, as angles are points of the circle. Angles in the interval come back as they are.
        """
        array = check_points(points, self.point_shape)
        return reduced(array)


def reduced(angles: FloatArray) -> FloatArray:
    """Return angles in ``(-pi, pi]``, those that lie there bit by bit.

    Each is reduced by itself, as the exact number that it is; NaN where it is not finite.
    """
    away = ~(np.abs(angles) <= math.pi)
    if not away.any():
        return np.where(angles == -math.pi, math.pi, angles)
    far = np.abs(angles) > _FAR
    near = np.where(far, 0.0, angles)
    near = _without(near, np.rint(near / (2.0 * math.pi)))
    # next to half a turn the quotient may have rounded to the other side
    near = _without(near, np.sign(near) * (np.abs(near) > math.pi))
    found = np.where(away, np.clip(near, -math.pi, math.pi), angles)
    found[far] = [_far_angle(x) for x in angles[far].tolist()]
    return np.where(found == -math.pi, math.pi, found)


def _without(angles: FloatArray, turns: FloatArray) -> FloatArray:
    """Take off whole turns, fewer than 2^23 in size."""
    for part in _TURN:
        angles = angles - turns * part
    return angles


def _far_angle(angle: float) -> float:
    """Reduce by the C library, which is as exact there, one by one."""
    if not math.isfinite(angle):
        return math.nan
    return math.atan2(math.sin(angle), math.cos(angle))
