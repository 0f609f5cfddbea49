"""Which mechanisms a space, a ball, n and a budget allow, from public numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnsupportedBallError,
    UnsupportedError,
)
from riemdp.manifolds import FlatManifold
from riemdp.mechanisms import MECHANISMS, Mechanism, TangentGaussian, TangentLaplace
from riemdp.statistics import (
    frechet_mean_sensitivity,
    is_average,
    public_tolerance,
    tangent_mean_sensitivity,
    tolerance_floor,
)

if TYPE_CHECKING:
    from riemdp.manifolds import Ball
    from riemdp.privacy import Budget

#: Smallest radius of a ball of a release; one over it is the largest.
_LEAST_RADIUS = 1e-140
#: Largest tolerance of a Fréchet mean, as a share of the radius.
_CERTIFIABLE = 1e-3
#: Share of the hemisphere's radius next to its edge that is refused.
_HEMISPHERE_MARGIN = 2e-3


@dataclass(frozen=True)
class Candidate:
    """A mechanism calibrated to a budget on a ball.

    Attributes
    ----------
    mechanism : Mechanism
        Calibrated; ``mechanism.satisfies(sensitivity, budget)``.
    sensitivity : float
        What the calibration used: that of the exact summary plus ``2 tol``.
    tol : float
        Public tolerance of the summary.
    """

    mechanism: Mechanism
    sensitivity: float
    tol: float


def check_accountant(accountant: object) -> None:
    """Refuse what is neither None nor able to be charged."""
    if accountant is not None and not callable(getattr(accountant, "spend", None)):
        raise InvalidParameterError("accountant must have a method spend(guarantee, label)")


def summary_of(mechanism: type[Mechanism], ball: Ball) -> str:
    """Return the summary that a kind of mechanism releases on a ball's space."""
    tangent = issubclass(mechanism, (TangentGaussian, TangentLaplace))
    if tangent and not isinstance(ball.manifold, FlatManifold):
        return "tangent-mean"
    return "frechet-mean"


def computed_sensitivity(
    ball: Ball, n: int, summary: str, tol: float | None
) -> tuple[float, float]:
    """Sensitivity of a summary as computed, ``Delta + 2 tol`` rounded up, and the public ``tol``.

    See docs/proofs/frechet-mean-certificate.md. ``tol=None`` takes :func:`public_tolerance`.

    Raises
    ------
    InvalidParameterError
        If ``tol`` is under :func:`tolerance_floor`.
    UnsupportedBallError
        If the summary has no proved sensitivity on this ball, or cannot be certified there.
    """
    exact = _exact_sensitivity(ball, n, summary)
    floor = tolerance_floor(ball, summary)
    if floor > _CERTIFIABLE * ball.radius and not is_average(ball, summary):
        raise UnsupportedBallError(
            f"in a ball of radius {ball.radius:.6g} on {ball.manifold} rounding may be as large as "
            f"{floor:.3g}, so that a Fréchet mean cannot be certified in float64; choose a smaller "
            "ball (a larger one, if it is tiny) or the tangent mean, which needs no solver"
        )
    if tol is None:
        tol = public_tolerance(ball, exact, summary)
    elif tol < floor:
        raise InvalidParameterError(
            f"tol = {tol:.3g} must be at least {floor:.3g}, what float64 carries for every data "
            "set in this ball: under it, whether the release succeeds would tell of the data; "
            "leave tol out, or choose a smaller ball"
        )
    return with_tolerance(exact, tol), tol


def stated_sensitivity(ball: Ball, n: int, summary: str, tol: float) -> float:
    """``Delta + 2 tol`` of a summary for the ``tol`` that a document states."""
    return with_tolerance(_exact_sensitivity(ball, n, summary), tol)


def with_tolerance(exact: float, tol: float) -> float:
    """``exact + 2 tol``, rounded up."""
    return math.nextafter(exact + 2.0 * tol, math.inf)


def _exact_sensitivity(ball: Ball, n: int, summary: str) -> float:
    if not _LEAST_RADIUS <= ball.radius <= 1.0 / _LEAST_RADIUS:
        raise UnsupportedBallError(
            f"radius {ball.radius:.3g} must lie between {_LEAST_RADIUS:g} and "
            f"{1.0 / _LEAST_RADIUS:g} for a release, so that squares of distances and sums over "
            "the records stay in the range of float64; change the unit of the data"
        )
    if summary == "tangent-mean":
        return tangent_mean_sensitivity(ball, n)
    exact = frechet_mean_sensitivity(ball, n)
    _check_certifiable(ball)
    return exact


def _check_certifiable(ball: Ball) -> None:
    """Refuse caps that nearly fill the hemisphere, from public numbers.

    There the Hessian at the mean may vanish to rounding, and whether a solver can certify its
    result would depend on the data.
    """
    manifold = ball.manifold
    limit = 0.5 * manifold.injectivity_radius * (1.0 - _HEMISPHERE_MARGIN)
    if manifold.curvature_bound > 0.0 and ball.radius > limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.6g} is too near pi/(2 sqrt(curvature)): a Fréchet mean cannot "
            f"be certified in float64 beyond {limit:.6g}; choose a smaller ball or the tangent mean"
        )


def calibrated(
    kind: type[Mechanism], ball: Ball, n: int, budget: Budget, tol: float | None = None
) -> Candidate:
    """Calibrate one kind of mechanism.

    Raises
    ------
    UnsupportedError
        If the mechanism is not available here.
    """
    summary = summary_of(kind, ball)
    sensitivity, used = computed_sensitivity(ball, n, summary, tol)
    options = {"base": ball.center} if summary == "tangent-mean" else {}
    return Candidate(
        kind.calibrate(ball.manifold, sensitivity, budget, **options), sensitivity, used
    )


def least_error(
    ball: Ball, n: int, budget: Budget, tol: float | None = None
) -> tuple[Candidate, str]:
    """Return the mechanism with the least expected distance, and the reason in words.

    Only mechanisms for the Fréchet mean are compared. Where the space has none, those for the
    tangent mean are.

    Raises
    ------
    NotAttainableError
        If no mechanism can satisfy the budget here.
    """
    found: list[Candidate] = []
    problems: list[str] = []
    for summary in ("frechet-mean", "tangent-mean"):
        for name, kind in MECHANISMS.items():
            if summary_of(kind, ball) == summary:
                try:
                    found.append(calibrated(kind, ball, n, budget, tol))
                except UnsupportedError as error:
                    problems.append(f"{name}: {error}")
        if found:
            break
    if not found:
        raise NotAttainableError(
            f"no mechanism satisfies {budget} on {ball.manifold}. " + "; ".join(problems)
        )
    best = min(found, key=lambda c: c.mechanism.expected_distance())
    reason = (
        f"least expected distance ({best.mechanism.expected_distance():.6g}) of "
        + ", ".join(c.mechanism.name for c in found)
        + f" under {budget}"
    )
    if summary == "tangent-mean":
        reason += "; for the tangent mean, since no mechanism for the Fréchet mean is available"
    return best, reason
