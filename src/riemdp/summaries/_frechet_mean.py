"""The Fréchet mean, with a certificate for the solver's error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import positive, real_array
from riemdp._errors import (
    ConvergenceError,
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedBallError,
    UnsupportedManifoldError,
)
from riemdp.manifolds import (
    Ball,
    DiscreteQuotient,
    Euclidean,
    FlatManifold,
    Hyperbolic,
    Manifold,
    Product,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.manifolds._norms import clip_norm
from riemdp.summaries import (
    _affine_invariant_mean,
    _clipped_affine_invariant_mean,
    _flat_mean,
    _space_form_mean,
)
from riemdp.summaries._tolerance import conversion_allowance, is_average

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrechetMean(ArrayFields):
    """A Fréchet mean and the proof of its accuracy. It describes the data: it is not private.

    Attributes
    ----------
    value : ndarray, shape (*point_shape,)
        The mean.
    error_bound : float
        Certified bound of the geodesic distance from ``value`` to the exact mean, at most the
        tolerance that was asked for; it includes an allowance for rounding.
    passes : int
        Passes over the data.
    """

    value: FloatArray
    error_bound: float
    passes: int

    def __post_init__(self) -> None:
        self._seal()


def frechet_mean(
    manifold: Manifold,
    points: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    ball: Ball | None = None,
    tol: float = 1e-10,
) -> FrechetMean:
    r"""Point that minimises the (weighted) mean squared distance to the data.

    Closed form on flat spaces and on the circle, Newton's method elsewhere. The solver stops when
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
        Ball that contains the data. Needed on spheres, where it has to stay inside the open
        hemisphere about its centre (elsewhere the mean need not be unique), and ignored on the
        other manifolds.
    tol : float, default 1e-10
        Largest certified error, in units of geodesic distance.

    Returns
    -------
    FrechetMean
        With ``value``, ``error_bound`` and ``passes``.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.
    UnsupportedBallError
        On spheres, if no ball is given, the ball reaches the hemisphere, or a row lies outside it.
    ConvergenceError
        If rounding alone exceeds ``tol``.
    InvalidParameterError
        If ``tol`` or the weights are outside their domain.

    References
    ----------
    The certificates are proved in docs/proofs/frechet-mean-certificate.md; uniqueness on spheres:
    Afsari, "Riemannian L^p center of mass", Proc. AMS 139(2), 2011.
    """
    if not isinstance(manifold, Manifold):
        raise InvalidParameterError("manifold, the first argument, must be a riemdp manifold")
    if ball is not None and not isinstance(ball, Ball):
        raise InvalidParameterError("ball must be a riemdp.Ball or None")
    tol = positive(tol, "tol")
    if isinstance(manifold, SPDLogEuclidean):
        # The eigenvalues that the mean needs anyway tell whether a row is positive definite.
        data = _flat_mean.check_data(manifold.k, points)
    else:
        data = manifold.validate(points)
    check_rows(data, manifold)
    normalised = None if weights is None else _check_weights(weights, len(data))
    if isinstance(manifold, Sphere):
        _check_ball(manifold, data, ball)
    return solve(manifold, data, normalised, ball=ball, tol=tol)


def solve(
    manifold: Manifold,
    data: FloatArray,
    weights: FloatArray | None,
    *,
    ball: Ball | None,
    tol: float,
) -> FrechetMean:
    """Compute the mean of valid data; see :func:`frechet_mean`."""
    if isinstance(manifold, DiscreteQuotient):
        return _lifted(manifold, data, weights, ball, tol)
    if isinstance(manifold, Sphere) and manifold.dim == 1:
        assert ball is not None
        value, rounding = _flat_mean.circle(ball, data, weights)
        result = FrechetMean(value, rounding, 1)
    elif isinstance(manifold, (Sphere, Hyperbolic)):
        result = FrechetMean(*_space_form_mean.solve(manifold, data, weights, ball, tol))
    elif isinstance(manifold, Euclidean):
        value, rounding = _flat_mean.euclidean(data, weights)
        result = FrechetMean(value, rounding, 1)
    elif isinstance(manifold, SPDLogEuclidean):
        value, rounding = _flat_mean.log_euclidean(data, weights)
        result = FrechetMean(value, rounding, 1)
    elif isinstance(manifold, FlatManifold):
        value, rounding = _flat_mean.euclidean(manifold.to_chart(data), weights)
        result = FrechetMean(manifold.from_chart(value), rounding, 1)
    elif isinstance(manifold, SPDAffineInvariant):
        result = FrechetMean(*_affine_invariant_mean.solve(data, weights, tol))
    else:
        raise UnsupportedManifoldError(
            f"no certified Fréchet mean is known for {type(manifold).__name__}; use tangent_mean"
        )
    _check_bound(result.error_bound, tol)
    return result


def _lifted(
    manifold: DiscreteQuotient,
    data: FloatArray,
    weights: FloatArray | None,
    ball: Ball | None,
    tol: float,
) -> FrechetMean:
    """Mean of the representatives in a ball of the cover (docs/proofs/quotients.md)."""
    if ball is None or ball.manifold != manifold:
        raise UnsupportedBallError(
            f"on {manifold} the mean is unique only inside a ball: pass ball=Ball(manifold, "
            "center, radius) with the data inside it"
        )
    lifted = manifold.lifted(ball)
    if not np.all(ball.contains(data)):
        raise UnsupportedBallError(
            "a row lies outside the ball; clip the data first with ball.project(points), or "
            "choose a larger ball"
        )
    above = solve(manifold.cover, manifold.lift_near(ball, data), weights, ball=lifted, tol=tol)
    return FrechetMean(manifold.push(above.value), above.error_bound, above.passes)


def _check_bound(bound: float, tol: float) -> None:
    if not bound <= tol:
        raise ConvergenceError(
            f"the mean cannot be certified to tol = {tol:.3g}: float64 rounding exceeds it on "
            "these data; scale the data, choose a smaller ball, or allow a larger tol"
        )


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
    manifold = ball.manifold
    if isinstance(manifold, DiscreteQuotient):
        return clipped_frechet_mean(manifold.lifted(ball), manifold.lift_near(ball, data), tol)
    if is_average(ball, "frechet-mean"):
        return clipped_tangent_mean(ball, data, tol)
    if isinstance(manifold, Product):
        return _factor_means(manifold, ball, data, tol)
    if isinstance(manifold, SPDAffineInvariant):
        return _clipped_affine_invariant_mean.clipped_mean(ball, data, tol)
    # What is certified is a point; what noise is added to are its coordinates.
    tol -= conversion_allowance(ball)
    if isinstance(manifold, Hyperbolic):
        # Seen from the centre, coordinates are as small as the ball allows.
        origin = Ball(manifold, manifold.origin, ball.radius)
        moved = origin.point(_record_coordinates(ball, data))
        return origin.coordinates(solve(manifold, moved, None, ball=None, tol=tol).value)
    return ball.coordinates(solve(manifold, ball.project(data), None, ball=ball, tol=tol).value)


def _factor_means(manifold: Product, ball: Ball, data: FloatArray, tol: float) -> FloatArray:
    """Means of the factors, of records that were clipped as a whole."""
    share = tol / math.sqrt(len(manifold.spaces)) * (1.0 - 1e-15)
    parts = zip(
        manifold.spaces,
        manifold.split(ball.center),
        manifold.split(ball.project(data)),
        strict=True,
    )
    means = [
        clipped_frechet_mean(Ball(space, center, ball.radius), part, share)
        for space, center, part in parts
    ]
    return clip_norm(manifold.join_coordinates(means), ball.radius)


def _record_coordinates(ball: Ball, data: FloatArray) -> FloatArray:
    """Clipped coordinates ``(n, dim)``; of a record beyond the range of float64 the centre's."""
    with np.errstate(all="ignore"):
        coordinates = ball.coordinates(data)
    finite = np.isfinite(coordinates).all(axis=-1, keepdims=True)
    return np.where(finite, coordinates, 0.0)


def clipped_tangent_mean(ball: Ball, data: FloatArray, tol: float) -> FloatArray:
    r"""Tangent mean of the data after each record is clipped to the ball, in coordinates.

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
        If the rounding of a sum of this many records exceeds ``tol``.
    """
    _check_bound(_flat_mean.summation_allowance(len(data), ball.radius), tol)
    return clip_norm(_flat_mean.stable_mean(_record_coordinates(ball, data), None), ball.radius)


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
    ndarray, shape (*point_shape,)
        Tangent vector at ``ball.center``.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not on the manifold.
    """
    if not isinstance(ball, Ball):
        raise InvalidParameterError("ball, the first argument, must be a riemdp.Ball")
    data = ball.manifold.validate(points)
    check_rows(data, ball.manifold)
    mean = _flat_mean.stable_mean(_record_coordinates(ball, data), None)
    return ball.manifold.tangent_vector(ball.center, clip_norm(mean, ball.radius))


def check_rows(data: FloatArray, manifold: Manifold) -> None:
    """Require one leading axis with at least one row."""
    if data.ndim != len(manifold.point_shape) + 1:
        raise NotOnManifoldError(
            f"data must have shape (n, {', '.join(map(str, manifold.point_shape))}), "
            f"got {data.shape}"
        )
    if len(data) == 0:
        raise NotOnManifoldError("the data are empty: a mean needs at least one row")


def _check_weights(weights: ArrayLike, n: int) -> FloatArray:
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


def _check_ball(manifold: Sphere, data: FloatArray, ball: Ball | None) -> None:
    if ball is None or ball.manifold != manifold:
        raise UnsupportedBallError(
            "on a sphere the mean is unique only inside a ball: pass ball=Ball(manifold, center, "
            "radius) with the data inside it and a radius under pi/(2 sqrt(curvature))"
        )
    check_hemisphere(ball)
    # One product settles most data; the exact distance decides in doubt.
    lowest = manifold.curvature * float((data @ ball.center).min())
    if lowest > math.cos(math.sqrt(manifold.curvature) * ball.radius):
        return
    outside = ~ball.contains(data)
    if outside.any():
        raise UnsupportedBallError(
            f"row {int(np.argmax(outside))} lies outside the ball; clip the data first with "
            "ball.project(points), or choose a larger ball"
        )


def check_hemisphere(ball: Ball) -> None:
    """Require a ball inside the open hemisphere about its centre, on spheres."""
    limit = 0.5 * ball.manifold.injectivity_radius
    if ball.radius >= limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.6g} must stay under {limit:.6g} = pi/(2 sqrt(curvature)) for "
            "the Fréchet mean to be unique; choose a smaller ball or the tangent mean"
        )
