"""Sensitivity of the means: how far they move when one record of the ball is replaced."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._checks import count, is_one_of, positive, scale, shown
from riemdp._errors import InvalidParameterError, UnsupportedBallError, UnsupportedManifoldError
from riemdp._zero import zero_between
from riemdp.spaces import Ball, check_ball

if TYPE_CHECKING:
    from collections.abc import Callable

SensitivityBound = Literal["exact", "theorem", "tight"]

_N = "n, the number of points,"
#: Each formula below loses a few units in the last place; results are pushed up by this much,
#: and so is the angle kr, which the steep functions of it would magnify.
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


def frechet_mean_sensitivity(ball: Ball, n: int, bound: SensitivityBound = "exact") -> float:
    r"""Largest geodesic distance between the Fréchet means of neighbouring data in a ball.

    Neighbours are two sets of ``n`` points of the ball that differ in one point. With r the
    radius and k the square root of the curvature, the bound is :math:`2r/n` on flat spaces, on
    spaces of nonpositive curvature and on the circle, :math:`\min(2r, 2\tan(kr)/(kn))` on spheres
    of dimension two and more, and wherever no sectional curvature exceeds :math:`k^2`.

    Parameters
    ----------
    ball : Ball
        Public ball that holds the data. On spheres and the circle its radius must be under
        :math:`\pi/(2k)`, where the Fréchet mean is unique; in general under that and under half
        the injectivity radius.
    n : int
        Number of points, at least 1; public.
    bound : {"exact", "theorem", "tight"}, default "exact"
        Which bound. ``"exact"`` is the smallest proved one, and no smaller constant holds for
        all n. The others are larger and there for comparison on spheres, where they need a
        radius under :math:`\pi/(4k)`: ``"theorem"`` is
        :math:`2r(2-h)/(nh)`, :math:`h = 2kr\cot(2kr)` (Reimherr et al., Theorem 2),
        ``"tight"`` is the same argument with the exact diameter of the ball seen from its
        boundary, :math:`\max_\gamma (4/k)\arctan(\tan(kr)\cos\gamma)\sin\gamma / (nh)`.
        All three are the same number wherever the curvature is not positive.

    Returns
    -------
    float
        Bound in units of geodesic distance, at most 2r, rounded up.

    Raises
    ------
    InvalidParameterError
        If ``ball`` is no ball, ``n`` not a positive integer (under 2^63) or ``bound`` unknown;
        or a radius or the bound is not between 1e-75 and 1e75.
    UnsupportedBallError
        If the ball is too large for the bound.
    UnsupportedManifoldError
        For ``"theorem"`` and ``"tight"`` on a manifold of varying positive curvature.

    References
    ----------
    docs/proofs/frechet-mean-sensitivity.md. ``"theorem"``: Reimherr, Bharath, Soto, "Differential
    Privacy over Riemannian Manifolds", NeurIPS 2021, Theorem 2.

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> ball = riemdp.Ball(sphere, sphere.origin, 1.0)
    >>> round(riemdp.frechet_mean_sensitivity(ball, 1000), 6)  # 2 tan(1) / 1000
    0.003115
    """
    check_ball(ball)
    n = count(n, _N)
    if not is_one_of(bound, ("exact", "theorem", "tight")):
        raise InvalidParameterError(
            f"bound must be 'exact', 'theorem' or 'tight', got {shown(bound)}; "
            "'exact' is the smallest and the default"
        )
    return _moved(_frechet, ball, n, bound)


def weighted_frechet_mean_sensitivity(ball: Ball, share: float) -> float:
    """Largest distance between the weighted Fréchet means of neighbouring data in a ball.

    Weights are public and belong to places: neighbours differ in one point, whose weight stays.
    With the largest weight over the sum of all, or more, in (0, 1], in the place of 1 / n it is
    :func:`frechet_mean_sensitivity`: ``2 r share`` where no curvature is positive, and else
    ``min(2r, 2 share tan(kr) / k)``; a geodesic distance, rounded up. See
    docs/proofs/neighbours.md, "Weights".
    """
    check_ball(ball)
    return _moved(_frechet, ball, alike(share), "exact")


def alike(share: float) -> float:
    """Return how many records of one weight have this share each: ``1 / share``, rounded down.

    Raises ``InvalidParameterError`` if the share is not in (0, 1].
    """
    share = positive(share, "share, the largest weight over the sum of all,")
    if not share <= 1.0:
        raise InvalidParameterError(
            f"share, the largest weight over the sum of all, must be at most 1, got {share:.6g}"
        )
    found = 1.0 / share
    return found if Fraction(found) * Fraction(share) <= 1 else math.nextafter(found, 0.0)


def _moved(move: Callable[..., float], ball: Ball, *arguments: float | str) -> float:
    """Return a sensitivity, where float64 carries the radii and it: the roundings of the module."""
    for part in (ball, *ball.parts):
        scale(part.reach, "the radius of the ball")
    return scale(move(ball, *arguments), "the sensitivity")


def _frechet(ball: Ball, n: float, bound: str) -> float:
    """Return it for so many records of one weight, not necessarily a whole number."""
    if ball.parts[0] is not ball:
        found = _of_parts(ball, lambda part: _frechet(part, n, bound))
        fits = ball.radius * (1.0 + 2.0 * _ROUNDING) < ball.manifold.convexity_radius
        return min(found, _of_ball(ball, n, bound)) if fits else found
    return _of_ball(ball, n, bound)


def _of_ball(ball: Ball, n: float, bound: str) -> float:
    """Return it for a ball about all factors."""
    manifold, diameter = ball.manifold, 2.0 * ball.radius
    _check_radius(ball, 0.5, "the Fréchet mean to be unique")
    if manifold.curvature_bound <= 0.0:
        return min(diameter, _round_up(diameter / n))
    if bound != "exact" and manifold.constant_curvature is None:
        raise UnsupportedManifoldError(
            f"bound={bound!r} is for constant curvature, which {type(manifold).__name__} has not; "
            "bound='exact' is smaller, and holds"
        )
    k = math.sqrt(manifold.curvature_bound)
    angle = k * ball.radius * (1.0 + _ROUNDING)
    if bound == "exact":
        constant = _exact_constant(angle)
    else:
        _check_radius(ball, 0.25, f"bound={bound!r}, which bound='exact' does not ask for")
        constant = _theorem_constant(angle) if bound == "theorem" else _tight_constant(angle)
    return min(diameter, _round_up(constant / (k * n)))


def tangent_mean_sensitivity(ball: Ball, n: int) -> float:
    """Largest distance between the tangent means of neighbouring data in a ball.

    The tangent mean is the average of the logarithms at the ball's centre. It moves by at most
    2r/n in the norm of that tangent space, whatever the curvature, for every radius that
    :class:`riemdp.Ball` allows.

    Parameters
    ----------
    ball : Ball
        Public ball that holds the data.
    n : int
        Number of points, at least 1; public.

    Returns
    -------
    float
        2r/n in units of length of the tangent space, rounded up.

    Raises
    ------
    InvalidParameterError
        If ``ball`` is no ball or ``n`` not a positive integer (under 2^63); or a radius or the
        result is not between 1e-75 and 1e75.

    References
    ----------
    docs/proofs/frechet-mean-sensitivity.md, last section.

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> ball = riemdp.Ball(sphere, sphere.origin, 1.0)
    >>> round(riemdp.tangent_mean_sensitivity(ball, 1000), 6)  # 2 / 1000
    0.002
    """
    check_ball(ball)
    return _moved(_tangent, ball, count(n, _N))


def _tangent(ball: Ball, n: float) -> float:
    whole = min(2.0 * ball.reach, _round_up(2.0 * ball.reach / n))
    if ball.parts[0] is ball:
        return whole
    return min(whole, _of_parts(ball, lambda part: _tangent(part, n)))


def log_stretch(ball: Ball) -> float:
    """Most that the logarithm at a ball's centre lengthens short distances inside the ball.

    ``x / sin(x)`` at ``x = kr`` where the curvature is at most ``k^2 > 0``, else 1: Rauch's
    comparison.

    Parameters
    ----------
    ball : Ball
        Of radius under ``pi / k``.

    Returns
    -------
    float
        Rounded up.

    References
    ----------
    docs/proofs/wrapped-noise.md
    """
    if ball.parts[0] is not ball:
        return max(map(log_stretch, set(ball.parts)))
    curvature = ball.manifold.curvature_bound
    if curvature <= 0.0 or ball.manifold.dim == 1:
        return 1.0
    # Clipped coordinates may be a rounding of their norm longer than the radius.
    longer = 1.0 + _ROUNDING + ball.manifold.dim * float(np.finfo(np.float64).eps)
    angle = math.sqrt(curvature) * scale(ball.reach, "the radius of the ball") * longer
    return _round_up(angle / math.sin(angle))


def _of_parts(ball: Ball, move: Callable[[Ball], float]) -> float:
    """Root of the sum of squares of what the means of the factors move by."""
    moves = [(move(part), number) for part, number in Counter(ball.parts).items()]
    return _round_up(math.sqrt(math.fsum(number * moved**2 for moved, number in moves)))


def _check_radius(ball: Ball, share: float, purpose: str) -> None:
    """Require a radius under this share of twice the convexity radius (no limit where inf).

    The float of the limit may lie above it by rounding, so the last few floats are refused too.
    """
    manifold = ball.manifold
    whole = 2.0 * manifold.convexity_radius
    if not whole > 0.0:
        raise UnsupportedBallError(
            f"no ball of {manifold} is known to have one Fréchet mean; align the records to a "
            'public template, QuotientBall(..., mean="aligned"), or take the tangent mean'
        )
    limit = share * whole
    if not ball.radius * (1.0 + 2.0 * _ROUNDING) < limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.9g} must stay under {limit:.9g} on {manifold} for {purpose}; "
            "choose a smaller ball, or the tangent mean, which allows any radius under "
            f"{manifold.injectivity_radius:.9g}"
        )


def _exact_constant(angle: float) -> float:
    """Constant of the exact bound, Delta = constant / (k n)."""
    return 2.0 * math.tan(angle)


def _theorem_constant(angle: float) -> float:
    """``2x (2 - h) / h``, ``h = 2x cot(2x)``, with h rounded down."""
    h = _hessian_bound(angle)
    return 2.0 * angle * (2.0 / h - 1.0)


def _tight_constant(angle: float) -> float:
    """``max_u 4 atan(tan(x) u) sqrt(1 - u^2) / h``.

    The logarithm of the objective is concave in u, so the one zero of its derivative is the
    maximum; an error of 1e-12 there is lost in the rounding.
    """
    slope = math.tan(angle)

    def derivative(u: float) -> float:
        """Return the derivative of the objective times a positive factor."""
        return slope * (1.0 - u * u) / (1.0 + (slope * u) ** 2) - u * math.atan(slope * u)

    u = zero_between(derivative, 0.0, 1.0, xtol=1e-12)
    half_width = 2.0 * math.atan(slope * u) * math.sqrt((1.0 - u) * (1.0 + u))
    return float(2.0 * half_width / _hessian_bound(angle))


def _hessian_bound(angle: float) -> float:
    """``2x cot(2x)`` rounded down: the least eigenvalue at distances up to 2x."""
    return 2.0 * angle / math.tan(2.0 * angle) * (1.0 - _ROUNDING)


def _round_up(value: float) -> float:
    return math.nextafter(value * (1.0 + _ROUNDING), math.inf)
