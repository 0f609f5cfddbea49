"""Quantiles of the largest eigenvalue of a symmetric Gaussian matrix."""

from __future__ import annotations

import math
from functools import lru_cache

from riemdp._checks import count, real, shown
from riemdp._errors import InvalidParameterError

#: Where scaled values are divided, before squares of them overflow.
_LARGE = 1e100
_LOG_LARGE = math.log(_LARGE)
#: What quantiles are rounded up by, as a share.
_UP = 1e-9


def largest_eigenvalue_quantile(dim: int, beta: float) -> float:
    """Bound that the largest eigenvalue of symmetric Gaussian noise exceeds seldom.

    The noise is a symmetric matrix with ``Var<N, H> = |H|_F^2``: independent normal entries, of
    standard deviation 1 on the diagonal and ``1 / sqrt(2)`` off it. Its largest eigenvalue exceeds
    the bound with probability ``beta``, in (0, 0.05], at most. It is the level at which the mean
    number of eigenvalues above, slightly over-stated, is ``beta``: the quantile itself but for the
    chance of two eigenvalues above it. See Mehta, "Random matrices", 3rd ed., Elsevier 2004,
    section 7.2, and docs/proofs/confidence-regions.md.
    """
    size, probability = count(dim, "dim"), real(beta, "beta")
    if not 0.0 < probability <= 0.05:
        raise InvalidParameterError(f"beta must lie in (0, 0.05], got {shown(beta)}")
    return _quantile(size, probability)


@lru_cache(maxsize=256)
def _quantile(dim: int, beta: float) -> float:
    from scipy.optimize import brentq

    edge, target = math.sqrt(2.0 * dim), math.log(beta)

    def excess(level: float) -> float:
        return log_mean_number_above(dim, level) - target

    width = 1.0
    while excess(edge + width) > 0.0:
        width *= 2.0
    # At the edge itself the number is more than 0.07.
    return float(brentq(excess, edge, edge + width, xtol=1e-12)) * (1.0 + _UP)


def log_mean_number_above(dim: int, level: float) -> float:
    """Logarithm of a bound for the mean number of eigenvalues above a level t.

    It is ``c_d F_{d-1}(t) + sum_{j < d-1} A_j(t)`` with ``F_j`` and ``A_j`` the integrals beyond t
    of the Hermite function ``phi_j`` and of its square: every term is positive, since t is at least
    ``sqrt(2 d)``, beyond the zeros of these functions.
    """
    from scipy.special import erfcx

    t, root_pi = level, math.sqrt(math.pi)
    # Of phi_j and F_j the factor exp(-t^2 / 2) is left out, of A_j its square; log_scale is what
    # the first two were divided by since.
    before, value, log_scale = 0.0, root_pi**-0.5, 0.0
    tail_before, tail = 0.0, root_pi**-0.5 * math.sqrt(0.5 * math.pi) * float(erfcx(t / 2.0**0.5))
    square, squares = 0.5 * float(erfcx(t)), 0.0
    for j in range(dim - 1):
        squares += square
        up = math.sqrt(0.5 * (j + 1))
        following = (t * value - math.sqrt(0.5 * j) * before) / up
        next_tail = (value + math.sqrt(0.5 * j) * tail_before) / up
        square += following * value / (2.0 * up)
        before, value, tail_before, tail = value, following, tail, next_tail
        if value > _LARGE:
            before, value = before / _LARGE, value / _LARGE
            tail_before, tail = tail_before / _LARGE, tail / _LARGE
            square, squares = square / _LARGE / _LARGE, squares / _LARGE / _LARGE
            log_scale += _LOG_LARGE
    first = _log_front(dim) + math.log(tail) + log_scale - 0.5 * t * t
    if squares == 0.0:
        return first
    second = math.log(squares) + 2.0 * log_scale - t * t
    return max(first, second) + math.log1p(math.exp(-abs(first - second)))


def _log_front(dim: int) -> float:
    """Logarithm of ``c_d``: ``sqrt(d/2) I_d / 2`` for even d and ``1 / I_{d-1}`` for odd d.

    ``I_j``, the integral of ``phi_j`` over the line, is ``I_0 = sqrt(2) pi^(1/4)`` and
    ``I_j = sqrt((j-1)/j) I_{j-2}``.
    """
    log_integral = 0.25 * math.log(math.pi) + 0.5 * math.log(2.0)
    log_integral += 0.5 * math.fsum(math.log1p(-1.0 / j) for j in range(2, dim + 1, 2))
    if dim % 2:
        return -log_integral
    return 0.5 * math.log(0.5 * dim) + math.log(0.5) + log_integral
