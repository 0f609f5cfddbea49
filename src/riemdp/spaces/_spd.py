"""What spaces of symmetric positive definite matrices share, whatever their metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count
from riemdp._errors import UnsupportedBallError
from riemdp.spaces import _symmetric
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._pictures import draw_ellipses
from riemdp.spaces._points import OF_MATRICES, as_floats, eigenvalues

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray, Unit

_EPS = float(np.finfo(np.float64).eps)
#: Half the range of log-eigenvalues that float64 holds in one matrix, with a margin.
REACH = 15.0
#: Least ratio of eigenvalues of a point, in units of k eps, if that is more than e^-30: twice what
#: ``validate`` asks for.
_LEAST = 64.0


class SPDManifold(Manifold):
    """Symmetric positive definite k x k matrices: a class adds its metric, and the field ``k``."""

    origin_name = "identity"
    other_units = OF_MATRICES

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", count(self.k, "k"))

    @property
    def dim(self) -> int:
        """``k (k + 1) / 2``."""
        return self.k * (self.k + 1) // 2

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(k, k)``."""
        return (self.k, self.k)

    @property
    def origin(self) -> FloatArray:
        """The identity, shape ``(k, k)``."""
        return np.eye(self.k)

    def draw(self, ax: Any, point: FloatArray, radius: float) -> Any:
        """As ellipses, for k = 2 and 3; see :meth:`Manifold.draw`."""
        return draw_ellipses(ax, self, point, radius)

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check symmetry and positive definiteness; see :meth:`Manifold.validate`."""
        return _symmetric.check_definite(points, self.k)

    def _log_eigh(self, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Log-eigenvalues and eigenvectors of points."""
        return _symmetric.log_eigh(as_floats(points))


class LogarithmicSPD(SPDManifold):
    """Symmetric positive definite matrices with a metric that compares eigenvalues by ratios."""

    def unit(self, distance: float) -> Unit | None:
        """Relative change of eigenvalues; see :meth:`Manifold.unit`."""
        return eigenvalues(distance, self.k)

    @property
    def scale_axis(self) -> FloatArray:
        """Where the logarithm of the determinant grows; see :attr:`Manifold.scale_axis`."""
        return _symmetric.vecd(np.eye(self.k)) / math.sqrt(self.k)

    def extreme_directions(self, base: ArrayLike) -> FloatArray:
        """Return that of the trace, and traceless ones; see :meth:`Manifold.extreme_directions`.

        Along the trace the affine-invariant metric is flat, across it most curved.
        """
        base = self.validate(base)
        trace = self.tangent_coordinates(base, self.log(base, math.e * base))
        trace = trace / np.linalg.norm(trace)
        if self.dim == 1:
            return trace[None]
        axes = np.eye(self.dim)
        traceless = axes - np.outer(axes @ trace, trace)
        lengths = np.linalg.norm(traceless, axis=1)
        first, last = np.flatnonzero(lengths > 0.1)[[0, -1]]
        return np.stack([trace, traceless[first] / lengths[first], traceless[last] / lengths[last]])


def least_ratio(k: int) -> float:
    """Least ratio of eigenvalues of a k x k matrix that float64 holds and validation passes.

    Of correlation matrices, whose largest is about 1, the least eigenvalue is held against it.
    """
    return max(math.exp(-2.0 * REACH), _LEAST * k * _EPS)


def half_range(k: int) -> float:
    """Half the range of log-eigenvalues of a k x k matrix that float64 holds and validation passes.

    From k = 7 on it is less than :data:`REACH`.
    """
    return min(REACH, -0.5 * math.log(_LEAST * k * _EPS))


def log_condition(matrices: FloatArray) -> FloatArray:
    """Logarithm of the condition number of symmetric positive definite matrices, shape (...)."""
    values = np.linalg.eigvalsh(matrices)
    return np.asarray(np.log(values[..., -1] / np.maximum(values[..., 0], 1e-300)))


def check_condition(spread: float, limit: float) -> None:
    """Refuse a centre whose range of log-eigenvalues is wider than float64 holds about it."""
    if spread > limit:
        raise UnsupportedBallError(
            f"the condition of the centre, e^{spread:.3g}, must be at most e^{limit:.3g}: "
            "float64 does not hold the matrices about it; choose other units for the "
            "coordinates, or the affine-invariant metric"
        )


def distance_rounding(center: FloatArray, radius: float) -> float:
    """Error that rounding explains of distances from the centre of a ball of matrices."""
    spread = float(log_condition(center)) + math.sqrt(2.0) * radius
    return 4.0 * len(center) * _EPS * math.exp(min(spread, 2.0 * REACH))
