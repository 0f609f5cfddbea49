"""What a claimed guarantee says about two error rates, and how many samples refute it at best."""

from __future__ import annotations

import bisect
import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import InsufficientSamplesError, InvalidParameterError
from riemdp.auditing._confidence import delta_bound, epsilon_bound, mu_bound, upper_bound
from riemdp.privacy import GDP, ApproxDP, Budget, GaussianCurve, PrivacyCurve, PureCurve, PureDP

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

Claim = Budget | PrivacyCurve

#: Confidence bounds that hold together: false positives and negatives, of two events.
BOUNDS = 4
#: Allowance for the rounding of a claimed delta.
_ROUNDING = 1e-11
#: Epsilons at which a claimed curve is held against the error rates.
_GRID = 400
#: The grid ends here at the latest, as ``e^epsilon`` has to be squared.
_MOST_EPSILON = 300.0
#: More samples are never asked for.
_MOST = 2**60


def error_probability(confidence: float) -> float:
    """Share of the error probability that each bound gets."""
    return (1.0 - confidence) / BOUNDS


@functools.singledispatch
def excess(claim: Claim, fpr: ArrayLike, fnr: ArrayLike) -> FloatArray:
    """By how much upper bounds of error rates, shape (...), break a claim: positive where they do.

    The excess of ``mu`` (GDP) or ``epsilon`` (PureDP, ApproxDP). Of other claims, the largest
    excess of ``delta`` over a grid of ``epsilon``, in the units of its sampling error, so that
    events can be compared.
    """
    fpr, fnr = np.asarray(fpr, dtype=np.float64), np.asarray(fnr, dtype=np.float64)
    grid, allowed = _allowed(claim, float(np.max(epsilon_bound(fpr, fnr), initial=0.0)))
    # the direction with the smaller rate under the factor e^epsilon shows more at every epsilon
    low, high = np.minimum(fpr, fnr)[..., None], np.maximum(fpr, fnr)[..., None]
    over = delta_bound(low, high, grid) - allowed
    spread = np.exp(2.0 * grid) * low * (1.0 - low) + high * (1.0 - high) + _ROUNDING
    return np.asarray(np.max(over / np.sqrt(spread), axis=-1))


@excess.register(GDP)
def _(claim: GDP, fpr: ArrayLike, fnr: ArrayLike) -> FloatArray:
    return mu_bound(fpr, fnr) - claim.mu


@excess.register(GaussianCurve)
def _(claim: GaussianCurve, fpr: ArrayLike, fnr: ArrayLike) -> FloatArray:
    return mu_bound(fpr, fnr) - claim.separation


@excess.register(PureDP)
@excess.register(PureCurve)
def _(claim: PureDP | PureCurve, fpr: ArrayLike, fnr: ArrayLike) -> FloatArray:
    return epsilon_bound(fpr, fnr) - claim.epsilon


@excess.register(ApproxDP)
def _(claim: ApproxDP, fpr: ArrayLike, fnr: ArrayLike) -> FloatArray:
    return epsilon_bound(fpr, fnr, claim.delta) - claim.epsilon


def is_one_number(claim: Claim) -> bool:
    """Whether one of the reported bounds, ``mu`` or ``epsilon``, decides about the claim."""
    return excess.dispatch(type(claim)) is not excess.dispatch(object)


@functools.singledispatch
def tail_delta(claim: Claim) -> float:  # noqa: ARG001
    """``delta`` at which the event with the largest ``epsilon`` is looked for.

    Parameters
    ----------
    claim : Budget or PrivacyCurve

    Returns
    -------
    float
        That of an ``ApproxDP``, else 0.
    """
    return 0.0


@tail_delta.register(ApproxDP)
def _(claim: ApproxDP) -> float:
    return claim.delta


@functools.singledispatch
def pure_epsilon(claim: Claim) -> float:
    """Pure epsilon of a claim, ``inf`` where it has none."""
    return claim.epsilon_at(0.0)


@pure_epsilon.register(PrivacyCurve)
def _(claim: PrivacyCurve) -> float:
    return claim.pure_epsilon()


def samples_needed(claim: Claim, confidence: float) -> int:
    """Least number of samples per data set with which the claim can be refuted at all.

    It takes a perfect separation: no error of either kind among the certifying half. A claim that
    forbids nothing that samples could show is an :class:`InvalidParameterError`.
    """
    alpha = error_probability(confidence)

    def refutable(trials: int) -> bool:
        rate = upper_bound(0, trials, alpha)
        return bool(excess(claim, rate, rate) > 0.0)

    high = 1
    while not refutable(high):
        high *= 2
        if high > _MOST:
            raise InvalidParameterError(
                f"no number of samples can refute the claim {claim}; a claim of so large an "
                "epsilon needs riemdp.auditing.audit_density_ratio"
            )
    least = bisect.bisect_left(range(high + 1), True, lo=high // 2 + 1, key=refutable)
    return 2 * least - 1


def check_samples(samples: int, claim: Claim, confidence: float) -> None:
    """Raise ``InsufficientSamplesError`` if the claim cannot be refuted with so few samples."""
    needed = samples_needed(claim, confidence)
    if samples < needed:
        raise InsufficientSamplesError(
            f"with {samples} samples per data set no outcome refutes {claim} at confidence "
            f"{confidence:g}; at least {needed} are needed, and more for a loss near the claim"
        )


def _allowed(claim: Claim, largest: float) -> tuple[FloatArray, FloatArray]:
    """Epsilons up to the largest one that can matter, and the ``delta`` allowed at each."""
    # few different ends, so that a curve made of integrals is not computed again and again
    end = 2.0 ** math.ceil(math.log2(largest)) if 1.0 < largest < _MOST_EPSILON else largest
    end = min(max(end, 1.0), _MOST_EPSILON)
    try:
        return _allowed_up_to(claim, end)
    except TypeError:  # a curve of the caller's that cannot be hashed
        return _allowed_up_to.__wrapped__(claim, end)


@functools.lru_cache(maxsize=32)
def _allowed_up_to(claim: Claim, end: float) -> tuple[FloatArray, FloatArray]:
    grid = np.linspace(0.0, end, _GRID)
    pure = pure_epsilon(claim)
    if math.isfinite(pure) and pure <= _MOST_EPSILON:
        grid = np.append(grid, pure)
    return grid, np.asarray(claim.delta_at(grid)) * (1.0 + _ROUNDING) + _ROUNDING
