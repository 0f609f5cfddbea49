"""Means of clipped records, and their tolerances, by the name of a summary: as in version 0.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp.statistics._means import TangentMean
from riemdp.statistics._solver_of_space import average, mean_solver

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._mean_solver import MeanSolver


def clipped_frechet_mean(ball: Ball, data: FloatArray, tol: float) -> FloatArray:
    r"""Fréchet mean of the data after each record is clipped to the ball, in coordinates.

    What happens to a record alone (clipping, whitening by the centre, logarithms on flat spaces)
    needs no accuracy for privacy: it is done first, so that rounding matters only in what
    follows. The result stays in coordinates, where noise is added.

    Parameters
    ----------
    ball : Ball
        Public ball.
    data : ndarray, shape (n, \*point_shape)
        Validated points.
    tol : float
        Public tolerance of the mean.

    Returns
    -------
    ndarray, shape (dim,)
        Normal coordinates about the ball's centre, no longer than its radius.

    Raises
    ------
    ConvergenceError
        If rounding alone exceeds ``tol``.
    """
    return _clipped_mean(mean_solver(ball.manifold), ball, data, tol)


def clipped_tangent_mean(ball: Ball, data: FloatArray, tol: float) -> FloatArray:
    """Tangent mean of the data after each record is clipped to the ball, in coordinates.

    Parameters
    ----------
    ball, data, tol
        See :func:`clipped_frechet_mean`.

    Returns
    -------
    ndarray, shape (dim,)
        Normal coordinates about the ball's centre, no longer than its radius.

    Raises
    ------
    ConvergenceError
        If the rounding of a sum of this many records exceeds ``tol``.
    """
    return _clipped_mean(average(ball.manifold), ball, data, tol)


def _clipped_mean(solver: MeanSolver, ball: Ball, data: FloatArray, tol: float) -> FloatArray:
    return solver.mean(ball, solver.records(ball, data), tol)


def public_tolerance(ball: Ball, sensitivity: float, summary: str = "frechet-mean") -> float:
    """Tolerance for a mean on a public ball, from public numbers only.

    A billionth of the sensitivity where float64 carries that, more where it does not. The
    sensitivity of what is computed is then ``sensitivity + 2 tol``.

    Parameters
    ----------
    ball : Ball
        Public ball.
    sensitivity : float
        Sensitivity of the exact mean on it.
    summary : {"frechet-mean", "tangent-mean"}, default "frechet-mean"
        Which mean.

    Returns
    -------
    float
        In units of geodesic distance; at least :func:`tolerance_floor`.
    """
    return max(tolerance_floor(ball, summary), 1e-9 * sensitivity)


def tolerance_floor(ball: Ball, summary: str = "frechet-mean") -> float:
    """Least tolerance that every data set in a public ball can be certified to.

    A bound of the rounding in the solver's certificate (docs/proofs/frechet-mean-certificate.md)
    for data anywhere in the ball, seen from its centre. Under it, whether a solver succeeds would
    depend on the data.

    Parameters
    ----------
    ball, summary
        See :func:`public_tolerance`.

    Returns
    -------
    float
        In units of geodesic distance.
    """
    return _solver_of(ball, summary).floor(ball)


def is_average(ball: Ball, summary: str) -> bool:
    """Whether a mean is an average of coordinates, which needs no solver.

    Parameters
    ----------
    ball, summary
        See :func:`public_tolerance`.

    Returns
    -------
    bool
    """
    return not _solver_of(ball, summary).certifies


def _solver_of(ball: Ball, summary: str) -> MeanSolver:
    return (average if summary == TangentMean.name else mean_solver)(ball.manifold)
