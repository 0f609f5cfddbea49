"""Real projective spaces: axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from riemdp._checks import count
from riemdp._part import register
from riemdp.spaces._points import as_floats
from riemdp.spaces._quotient import AntipodalQuotient, signed
from riemdp.spaces._sphere import Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray


@final
@register
@dataclass(frozen=True)
class ProjectiveSpace(AntipodalQuotient):
    r"""Axes: lines through the origin of R^(dim + 1), as unit vectors up to their sign.

    The distance of two is the angle between them, :math:`\arccos|\langle x, y\rangle| \le \pi/2`.
    A unit vector and its opposite are one point; what is returned has a positive first entry among
    those that are not zero.

    Parameters
    ----------
    dim : int
        Dimension, at least 1; points have shape ``(dim + 1,)``. ``ProjectiveSpace(1)``, the axes of
        the plane, is a circle of length pi.

    Raises
    ------
    InvalidParameterError
        If ``dim`` is not a positive integer.

    References
    ----------
    docs/proofs/quotients.md, "Axes"

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.ProjectiveSpace(2)
    >>> space.dim, space.point_shape
    (2, (3,))
    """

    proof = "docs/proofs/quotients.md"

    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", count(self.dim, "dim"))

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(dim + 1,)``."""
        return (self.dim + 1,)

    @property
    def cover(self) -> Sphere:
        """The unit sphere."""
        return Sphere(self.dim)

    def lift(self, points: ArrayLike) -> FloatArray:
        """Return the unit vector with a positive first entry; see :meth:`Quotient.lift`."""
        return signed(as_floats(points))

    def push(self, points: ArrayLike) -> FloatArray:
        """Return the same; see :meth:`Quotient.push`."""
        return signed(as_floats(points))

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check that vectors have norm 1, and choose a sign; see :meth:`Manifold.validate`."""
        return signed(self.cover.validate(points))
