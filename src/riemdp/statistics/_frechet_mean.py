"""The Fréchet mean, with a certificate for the solver's error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import positive, real_array
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.spaces import Ball, Manifold, check_ball, check_manifold, clip_norm
from riemdp.statistics._records import record_coordinates
from riemdp.statistics.curved import _flat_mean
from riemdp.statistics.curved._mean_solver import check_bound
from riemdp.statistics.curved._solver_of_space import space_solver

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray
    from riemdp.statistics.curved._mean_solver import CertifiedMean


@with_advice
@work("frechet_mean")
def frechet_mean(
    manifold: Manifold,
    points: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    ball: Ball | None = None,
    tol: float = 1e-10,
) -> CertifiedMean:
    r"""Point that minimises the (weighted) mean squared distance to the data.

    Closed form on flat spaces and on the circle, an iteration elsewhere. The solver stops when
    its certificate is at most ``tol``, so the order of the rows changes the result by at most
    ``2 tol``. This is the exact mean, not a private one; see :func:`riemdp.private_mean`.

    Parameters
    ----------
    manifold : Manifold
        Space of the points.
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1.
    weights : array_like, shape (n,), optional
        Nonnegative weights with a positive sum; equal weights by default.
    ball : Ball, optional
        Ball that contains the data. Needed where means are unique in small balls only: on
        spheres, of a radius under that of a hemisphere; on rotations, axes, angles, shapes and
        subspaces, of one under what their classes allow. Ignored on the other manifolds.
    tol : float, default 1e-10
        Largest certified error, in units of geodesic distance.

    Returns
    -------
    CertifiedMean
        With ``value``, ``error_bound`` and ``passes``.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.
    UnsupportedBallError
        Where a ball is needed and none of this manifold is given, or it is too large, or a row
        lies outside it.
    UnsupportedManifoldError
        If no certified mean is known on the manifold.
    ConvergenceError
        If rounding alone exceeds ``tol``.
    InvalidParameterError
        If ``tol`` or the weights are outside their domain.

    References
    ----------
    The certificates are proved in docs/proofs/frechet-mean-certificate.md; uniqueness on spheres:
    Afsari, "Riemannian L^p center of mass", Proc. AMS 139(2), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> space = riemdp.SPDLogEuclidean(2)
    >>> riemdp.frechet_mean(space, [np.eye(2), 4.0 * np.eye(2)]).value.round(12)
    array([[2., 0.],
           [0., 2.]])
    """
    check_manifold(manifold)
    if ball is not None:
        check_ball(ball)
    tol = positive(tol, "tol")
    solver = space_solver(manifold)
    data = solver.validate(manifold, points)
    check_rows(data, manifold)
    normalised = None if weights is None else _shares_of(weights, len(data))
    solver.check_domain(manifold, data, ball)
    found = solver.solve(manifold, data, normalised, ball, tol)
    check_bound(found.error_bound, tol)
    return found


@with_advice
def tangent_mean(ball: Ball, points: ArrayLike) -> FloatArray:
    r"""Mean of the data in the tangent space at the ball's centre, in closed form.

    ``mean_i log(center, x_i)``, a tangent vector; ``exp(center, ...)`` of it is the point it
    stands for. Equal to the Fréchet mean on flat spaces; elsewhere a slightly different summary
    (second order in the radius). Records outside the ball are clipped to it, so that the
    sensitivity :func:`tangent_mean_sensitivity` holds for any input. This is not private.

    Parameters
    ----------
    ball : Ball
        Public ball.
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1.

    Returns
    -------
    ndarray, shape (\*tangent_shape,)
        Tangent vector at ``ball.center``: no point. As a point, and of the same shape as one:
        ``ball.manifold.exp(ball.center, mean)``.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> riemdp.tangent_mean(ball, points).shape  # a tangent vector at the centre
    (3,)
    """
    check_ball(ball)
    data = ball.manifold.validate(points)
    check_rows(data, ball.manifold)
    mean = _flat_mean.stable_mean(record_coordinates(ball, data), None)
    return ball.manifold.tangent_vector(ball.center, clip_norm(mean, ball.radius))


def check_rows(data: FloatArray, manifold: Manifold) -> None:
    r"""Require one leading axis with at least one row.

    Parameters
    ----------
    data : ndarray, shape (n, \*point_shape)
    manifold : Manifold

    Raises
    ------
    NotOnManifoldError
    """
    check_shape_of_rows(data, manifold)
    if len(data) == 0:
        raise NotOnManifoldError("the data are empty: a mean needs at least one row")


def check_shape_of_rows(data: FloatArray, manifold: Manifold) -> None:
    """Require one leading axis, of any length.

    Parameters
    ----------
    data, manifold
        See :func:`check_rows`.

    Raises
    ------
    NotOnManifoldError
    """
    if data.ndim != len(manifold.point_shape) + 1:
        advice = ""
        if data.shape == manifold.point_shape:
            advice = "; one record alone is points[None]"
        elif data.ndim == len(manifold.point_shape) + 2:
            advice = "; several points a record are one of Power(space, copies)"
        raise NotOnManifoldError(
            f"data must have shape (n, {', '.join(map(str, manifold.point_shape))}), "
            f"got rows of shape {data.shape[1:]}{advice}"
        )


def _shares_of(weights: ArrayLike, n: int) -> FloatArray:
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
