"""Rao privacy of noise: both distances from the scale, and the scale from a budget.

The parametric distance is the length of the footpoint's path in the Fisher metric; the angle is
``2 arccos`` of the integral of ``sqrt(p q)``. The angle is never larger. Every ``theta`` is
rounded up, every ratio of sensitivity to scale may be a rounding error off and is checked by the
caller. Derivations in docs/proofs/rao.md.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._errors import NotAttainableError, UnsupportedBudgetError
from riemdp._zero import zero_between
from riemdp.noise import RadialLaw, fisher_information
from riemdp.privacy import RaoDP, affordable_epsilon, angle_of_response, angle_of_separation, up

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.privacy import Budget

Distance = Literal["angle", "parametric"]

#: Relative error allowed for in integrals.
_QUADRATURE_ERROR = 1e-12
#: Angles and separations whose squares leave float64: there the angle is taken as the length.
_TINY = 1e-100
#: Scales beyond this multiple of the flat one are not searched.
_WIDEST = 1e12


def rao_guarantee(distance: Distance, *, parametric: float, angle: float = math.inf) -> RaoDP:
    """Guarantee from a bound of each distance; the parametric one bounds the angle too."""
    if distance == "angle":
        return RaoDP(min(parametric, angle, math.pi), distance="angle")
    return RaoDP(parametric, distance=distance)


def gaussian_guarantee(separation: float, distance: Distance) -> RaoDP:
    """Gaussian noise on R^d, ``separation`` standard deviations: ``cos(angle/2) = e^(-s^2/8)``."""
    return rao_guarantee(distance, parametric=separation, angle=gaussian_angle(separation))


def laplace_guarantee(ratio: float, dim: int, distance: Distance, *, flat: bool) -> RaoDP:
    """Laplace noise of scale ``sensitivity / ratio`` on a space of constant curvature.

    The parametric distance is ``ratio / sqrt(dim)`` on every one; the angle is exact on R^d
    (``flat``), else the lesser of that and what pure ``ratio``-DP implies.
    """
    parametric = ratio if dim == 1 else up(ratio / math.sqrt(dim))
    angle = laplace_angle(ratio, dim) if flat else pure_angle(ratio)
    return rao_guarantee(distance, parametric=parametric, angle=angle)


def restricted_laplace_guarantee(ratio: float, distance: Distance) -> RaoDP:
    """Laplace law restricted to a set: Fisher information at most 1/sigma^2, pure 2 ratio-DP."""
    return rao_guarantee(distance, parametric=ratio, angle=pure_angle(2.0 * ratio))


def isotropic_guarantee(law: RadialLaw, sensitivity: float, distance: Distance) -> RaoDP:
    """Noise with a radial law on a space of constant curvature, by its Fisher information."""
    speed = math.sqrt(fisher_information(law))
    return rao_guarantee(distance, parametric=up(sensitivity * speed, _QUADRATURE_ERROR))


def laplace_ratio(budget: RaoDP, dim: int, *, flat: bool) -> float:
    """Sensitivity over scale that Laplace noise may have; see :func:`laplace_guarantee`."""
    root = math.sqrt(dim)
    if budget.distance == "parametric":
        return budget.theta * root
    theta = angle_of(budget)
    if theta < _TINY:
        return theta * root * (1.0 - _QUADRATURE_ERROR)
    least = max(theta * root, pure_epsilon_at_angle(theta))
    if not flat:
        return least
    most = 2.0 * least
    while laplace_angle(most, dim) < theta:
        most *= 2.0
    return _root(lambda ratio: laplace_angle(ratio, dim), theta, 0.5 * least, most)


@functools.singledispatch
def restricted_laplace_ratio(budget: Budget) -> float:
    """Sensitivity over scale; see :func:`restricted_laplace_guarantee`."""
    return 0.5 * affordable_epsilon(budget)


@restricted_laplace_ratio.register(RaoDP)
def _(budget: RaoDP) -> float:
    if budget.distance == "parametric":
        return budget.theta
    theta = angle_of(budget)
    return max(theta, 0.5 * pure_epsilon_at_angle(theta))


def isotropic_gaussian_sigma(
    dim: int, curvature: float, upper: float, sensitivity: float, budget: RaoDP
) -> float:
    """Scale of a Gaussian on a space of constant curvature; see :func:`isotropic_guarantee`.

    The information decreases in sigma, on negative curvature to ``-curvature (dim-1)^2 / dim``. A
    ``theta`` of no scale, or of one too wide to be computed with, is a ``NotAttainableError``.
    """
    wanted = angle_of(budget) if budget.distance == "angle" else budget.theta
    floor = sensitivity * (dim - 1) * math.sqrt(max(0.0, -curvature) / dim)

    def theta(sigma: float) -> float:
        law = RadialLaw("gaussian", dim, curvature, sigma, upper)
        return isotropic_guarantee(law, sensitivity, "parametric").theta

    unattainable = NotAttainableError(
        f"the Fisher information of the Riemannian Gaussian on curvature {curvature:g} and "
        f"dimension {dim} does not fall under {floor / sensitivity:.6g}^2 however large "
        f"sigma is, so that at sensitivity {sensitivity:.6g} theta has to be clearly above "
        f"{floor:.6g}, got {wanted:.6g}; raise theta, lower the sensitivity (more data, a "
        'smaller ball), or use the tangent mechanisms ("tangent-gaussian", '
        '"tangent-laplace"), which have no such limit'
    )
    if wanted <= floor:
        raise unattainable
    low = high = sensitivity / wanted
    while theta(low) < wanted:
        low *= 0.5
    while theta(high) > wanted:
        high *= 2.0
        if high > _WIDEST * low:
            raise unattainable
    return low if low == high else _root(theta, wanted, low, high)


def pure_angle(epsilon: float) -> float:
    """Largest angle of a pair of pure ``epsilon``-DP, ``4 arctan(tanh(epsilon / 4))``."""
    return up(angle_of_response(epsilon))


def gaussian_angle(separation: float) -> float:
    """Angle of two unit Gaussians, ``cos(angle/2) = exp(-separation^2 / 8)``."""
    return up(angle_of_separation(separation))


def laplace_angle(ratio: float, dim: int) -> float:
    """Angle of two Laplace laws ``exp(-|x|/sigma)`` on R^dim, ``ratio`` scales apart.

    ``cos(angle/2)`` is the Matern function ``2^(1-v) z^v K_v(z) / Gamma(v)`` with ``v = dim/2 + 1``
    and ``z = ratio/2``, that is the mean of ``exp(-z^2/(4u))`` under the law Gamma(v) of u. Its
    difference from 1 is integrated from a positive integrand, in ``log(u/v)`` by the trapezoidal
    rule, which converges exponentially.
    """
    if ratio < _TINY:
        return up(ratio / math.sqrt(dim), _QUADRATURE_ERROR)
    order = 0.5 * dim + 1.0
    step = min(0.2, 0.5 / math.sqrt(order))
    # below, the integrand falls like exp((order - 1) x), above faster than a normal density
    start, stop = -1.0 - 40.0 / (order - 1.0), math.sqrt(80.0 / order)
    x = np.arange(start, stop, step)
    weights = np.exp(order * (x - np.expm1(x)))
    quotient = 0.25 * ratio / math.sqrt(order)
    with np.errstate(over="ignore"):
        gap = -np.expm1(-np.square(quotient) * np.exp(-x))
    half_square = 0.5 * float(weights @ gap) / float(np.sum(weights))
    return up(4.0 * math.asin(math.sqrt(min(half_square, 0.5))), _QUADRATURE_ERROR)


def angle_of(budget: RaoDP) -> float:
    """Angle of a budget that forbids something."""
    if budget.theta >= math.pi:
        raise UnsupportedBudgetError(
            "an angle of pi allows any two laws, so there is no least noise for it; use a theta "
            "under pi"
        )
    return budget.theta


def pure_epsilon_at_angle(theta: float) -> float:
    """Inverse of :func:`pure_angle`."""
    return 4.0 * math.atanh(min(math.tan(0.25 * theta), 1.0 - 1e-16))


def _root(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where a monotone function takes a value, searched for in the logarithm."""

    def excess(log: float) -> float:
        return math.log(function(math.exp(log)) / value)

    return math.exp(zero_between(excess, math.log(low), math.log(high), xtol=1e-14, rtol=1e-14))
