"""Steps to the mean of affine-invariant records that come a part at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._working_precision import working_precision
from riemdp.kernel import Sum
from riemdp.manifolds import _symmetric, clip_norm
from riemdp.statistics import _certified_affine_invariant as certified
from riemdp.statistics._descent import (
    Descent,
    added_rows,
    check_reached,
    hadamard_steps,
    weight_of,
)
from riemdp.statistics._enclosed_point import PRECISION, exact_matrix, whitening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

#: Root of minus the least sectional curvature.
_K = math.sqrt(0.5)
#: Logarithms are under 128 in norm, so that integers have 62 bits.
_BITS = 54
#: What is lost of a record is counted up to this; more is no proof.
_MOST_LOST = 1.0
#: Corrections of a logarithm, each of which leaves the square of an error.
_CORRECTIONS = 2


@dataclass(frozen=True, eq=False)
class View:
    """A point as records see it.

    Attributes
    ----------
    whitening : ndarray, shape (k, k)
    moved : float
        Bound of the distance between the point and the one that is whitened by it.
    """

    whitening: FloatArray = field(repr=False)
    moved: float = field(repr=False)


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

    def view(self, point: FloatArray) -> View:
        """Whiten by the point; see :meth:`Descent.view`."""
        return View(*whitening(point, self.k))

    def seen(
        self,
        records: tuple[FloatArray, FloatArray],
        view: View,
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,  # noqa: ARG002
    ) -> Sum:
        """Entries of logarithms, what these may be wrong by, and how many are no proof."""
        logs, vectors = records
        entries, lost = certified.logarithms(view.whitening, logs, vectors)
        known = np.isfinite(entries).all(axis=-1) & (lost <= _MOST_LOST)
        known &= np.abs(entries).max(axis=-1, initial=0.0) < 128.0
        entries = np.where(known[:, None], entries, 0.0)
        raised = np.ldexp(np.ceil(np.ldexp(np.where(known, lost, 0.0), _BITS)), -_BITS)
        totals = added_rows(np.concatenate([entries, raised[:, None]], axis=-1), _BITS, whole)
        return Sum((*totals, int((~known).sum())), weight_of(len(logs), whole))

    def moved(self, point: FloatArray, partial: Sum, number: int) -> FloatArray:
        """Go along the gradient, and into the ball; see :meth:`Descent.moved`."""
        along = self.steps[number] * _symmetric.symmetrise(self._gradient(partial))
        found = _displaced(point, along, self.k)
        return clip_norm(found, self.radius) if np.isfinite(found).all() else point

    def certified(
        self, point: FloatArray, view: View, partial: Sum, tol: float
    ) -> tuple[Fraction, ...]:
        """Add what logarithms may be wrong by; see :meth:`Descent.certified`."""
        check_reached(self._bound(view, partial), tol)
        return tuple(map(Fraction, point.tolist()))

    def _bound(self, view: View, partial: Sum) -> float:
        """Bound the distance to the mean, rounded up, inf where nothing is proved."""
        *_, lost, unknown = partial.total
        if unknown:
            return math.inf
        wrong = float(Fraction(lost, partial.count)) * 2.0**-_BITS + self.k * 2.0**-_BITS
        size = float(np.linalg.norm(self._gradient(partial)))
        return (view.moved + size + wrong) * (1.0 + 2.0**-30) + 1e-150

    def _gradient(self, partial: Sum) -> FloatArray:
        unit = partial.count << _BITS
        entries = [total / unit for total in partial.total[: self.k**2]]  # correctly rounded
        return np.array(entries).reshape(self.k, self.k)


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
    error = certified.usual_error(k, radius) + k * 2.0**-_BITS
    moving = 4.0 * 2.0**-53 * radius * math.sinh(_K * radius) / (_K * radius)
    steps = hadamard_steps(_K, radius, tol, error=error, moving=lambda _: moving, own=2.0 * error)
    return None if steps is None else AffineInvariantDescent(k, radius, steps)


def _displaced(point: FloatArray, along: FloatArray, k: int) -> FloatArray:
    """Coordinates of ``e^(S/2) e^along e^(S/2)``, S the matrix with the coordinates of the point.

    Those of float64 are corrected by what is left of the matrix in many digits, so that rounding
    them is all that they are wrong by.
    """
    from flint import arb_mat

    def floats(matrix: Any) -> FloatArray:
        return np.array([[float(x.mid()) for x in row] for row in matrix.table()])

    levels, frame = np.linalg.eigh(_symmetric.unvecd(point, k))
    factor = np.exp(0.5 * levels)[:, None] * (frame.T @ _symmetric.expm(0.5 * along))
    vectors, values, _ = np.linalg.svd(factor)
    found = _symmetric.vecd(_symmetric.compose(2.0 * np.log(values), frame @ vectors))
    if not np.isfinite(found).all():
        return found
    with working_precision(PRECISION):
        root = (exact_matrix(point, k) / 2).exp()
        target = root * arb_mat(along.tolist()).exp() * root
        for _ in range(_CORRECTIONS):
            inverse = (-exact_matrix(found, k) / 2).exp()
            rest = floats(inverse * target * inverse - arb_mat(k, k, 1))
            found = found + _symmetric.vecd(_coordinate_change(found, rest, k))
    return found


def _coordinate_change(point: FloatArray, rest: FloatArray, k: int) -> FloatArray:
    """Change of S that turns ``e^S`` into about ``e^(S/2) (1 + rest) e^(S/2)``."""
    levels, frame = np.linalg.eigh(_symmetric.unvecd(point, k))
    half = 0.5 * (levels[:, None] - levels)
    flat = np.abs(half) < 1e-8
    ratio = np.where(flat, 1.0, np.where(flat, 1.0, half) / np.sinh(np.where(flat, 1.0, half)))
    seen = frame.T @ _symmetric.symmetrise(rest) @ frame
    return np.asarray(_symmetric.symmetrise(frame @ (seen * ratio) @ frame.T))
