"""Steps to the mean of affine-invariant records that come a part at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp._working_precision import working_precision
from riemdp.spaces import _symmetric, clip_norm
from riemdp.statistics import _certified_affine_invariant as certified
from riemdp.statistics._clipped_affine_invariant_mean import displaced
from riemdp.statistics._descent import Descent, check_reached, hadamard_steps
from riemdp.statistics._enclosed_point import PRECISION, exact_matrix, whitening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.kernel import Sum
    from riemdp.spaces import FloatArray

#: Root of minus the least sectional curvature.
_K = math.sqrt(0.5)
#: Corrections of a logarithm, each of which leaves the square of an error.
_CORRECTIONS = 2


@dataclass(frozen=True)
class AffineInvariantDescent(Descent):
    """On affine-invariant matrices.

    Attributes
    ----------
    k : int
    radius : float
    steps : tuple of float

    References
    ----------
    docs/proofs/streamed-frechet-means.md
    """

    k: int
    radius: float
    steps: tuple[float, ...] = field(repr=False)

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.zeros(self.k * (self.k + 1) // 2)

    def view(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Whiten by the point; see :meth:`Descent.view`."""
        return whitening(point, self.k)

    def seen(
        self,
        records: tuple[FloatArray, FloatArray],
        view: tuple[FloatArray, float],
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,  # noqa: ARG002
    ) -> Sum:
        """Entries of logarithms, what these may be wrong by, and how many are no proof."""
        return certified.added(*certified.seen_from(view[0], *records), whole)

    def moved(self, point: FloatArray, partial: Sum, number: int) -> FloatArray:
        """Go along the gradient, and into the ball; see :meth:`Descent.moved`."""
        found = _displaced(point, self.steps[number] * certified.gradient(partial, self.k))
        return clip_norm(found, self.radius) if np.isfinite(found).all() else point

    def certified(
        self, point: FloatArray, view: tuple[FloatArray, float], partial: Sum, tol: float
    ) -> tuple[Fraction, ...]:
        """Add what logarithms may be wrong by; see :meth:`Descent.certified`."""
        check_reached(certified.bound(view[1], partial, self.k), tol)
        return tuple(map(Fraction, point.tolist()))


def affine_invariant_descent(k: int, radius: float, tol: float) -> AffineInvariantDescent | None:
    """Return steps that end within a tolerance of any mean in a ball, None if none are proved to.

    Parameters
    ----------
    k : int
    radius, tol : float

    Returns
    -------
    AffineInvariantDescent or None
    """
    error = certified.usual_error(k, radius)
    moving = 4.0 * 2.0**-53 * radius * math.sinh(_K * radius) / (_K * radius)
    steps = hadamard_steps(_K, radius, tol, error=error, moving=lambda _: moving, own=2.0 * error)
    return None if steps is None else AffineInvariantDescent(k, radius, steps)


def _displaced(point: FloatArray, along: FloatArray) -> FloatArray:
    """Correct what :func:`displaced` returns by what is left of the matrix in many digits.

    So rounding coordinates is all that they are wrong by.
    """
    from flint import arb_mat

    k, found = len(along), displaced(point, along)
    if not np.isfinite(found).all():
        return found
    with working_precision(PRECISION):
        root = (exact_matrix(point, k) / 2).exp()
        target = root * arb_mat(along.tolist()).exp() * root
        for _ in range(_CORRECTIONS):
            inverse = (-exact_matrix(found, k) / 2).exp()
            left = inverse * target * inverse - arb_mat(k, k, 1)
            rest = np.array([[float(x.mid()) for x in row] for row in left.table()])
            found = found + _symmetric.vecd(_coordinate_change(found, rest))
    return found


def _coordinate_change(point: FloatArray, rest: FloatArray) -> FloatArray:
    """Change of S that turns ``e^S`` into about ``e^(S/2) (1 + rest) e^(S/2)``."""
    levels, frame = np.linalg.eigh(_symmetric.unvecd(point, len(rest)))
    half = 0.5 * (levels[:, None] - levels)
    ratio = np.divide(half, np.sinh(half), out=np.ones_like(half), where=np.abs(half) > 1e-8)
    seen = frame.T @ _symmetric.symmetrise(rest) @ frame
    return _symmetric.symmetrise(frame @ (seen * ratio) @ frame.T)
