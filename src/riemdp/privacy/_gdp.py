"""Gaussian differential privacy, and the curve of Gaussian noise."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np
import scipy

from riemdp._checks import positive, real, real_array
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp._zero import zero_between
from riemdp.privacy._budget import Budget, check_delta, check_parameter, check_share
from riemdp.privacy._pure import PureDP, gaussian_to_pure, pure_to_gaussian
from riemdp.privacy._rounding import (
    delta_up,
    first_within,
    half_square_up,
    root_of_squares_up,
    root_share_down,
)
from riemdp.privacy._rules import composition, conversion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


# The trade-off between two unit Gaussians ``mu`` apart, with full relative accuracy in the tails.
#
# With ``a = epsilon/mu - mu/2`` and ``b = epsilon/mu + mu/2`` the densities satisfy
# ``exp(epsilon) phi(b) = phi(a)``, so that with Mills' ratio ``R(x) = Phi(-x)/phi(x)``::
#
#     delta = Phi(-a) - exp(epsilon) Phi(-b) = phi(a) [R(a) - R(b)]
#
# and nothing overflows. Where ``mu`` is small next to ``b`` the two ratios nearly cancel; there
# ``R(a) - R(b)`` is integrated from a positive integrand.

#: Relative error allowed for in a ``delta`` that has to be on the safe side: that of the largest
#: exponents, 745 times a few units in the last place, and more.
DELTA_ERROR = 2e-12
#: Relative step towards more privacy taken by the calibrated ``mu``.
_NUDGE = 1e-9
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def gaussian_delta(mu: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Hockey-stick divergence ``delta(epsilon)`` between N(0, 1) and N(mu, 1).

    The exact privacy curve of a Gaussian mechanism with ``mu`` = sensitivity / standard deviation,
    ``delta = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)``. Relative error under
    1e-12 for ``mu`` in [1e-6, 1e3] and ``delta`` down to 1e-300.

    Parameters
    ----------
    mu : array_like
        Distance of the means in standard deviations, positive and finite.
    epsilon : array_like
        Privacy parameter, not negative. Broadcast against ``mu``.

    Returns
    -------
    ndarray, broadcast shape of the arguments

    Raises
    ------
    InvalidParameterError
        If ``mu`` is not positive and finite, or ``epsilon`` negative or NaN.

    References
    ----------
    Balle, Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018, Theorem 8.
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Corollary 2.13.
    """
    mu_array = real_array(mu, "mu")
    epsilon_array = real_array(epsilon, "epsilon")
    if not np.all((mu_array > 0.0) & np.isfinite(mu_array)):
        raise InvalidParameterError("mu must be positive and finite everywhere")
    if not np.all(epsilon_array >= 0.0):
        raise InvalidParameterError("epsilon must be at least 0 everywhere")
    return np.exp(_log_delta(mu_array, epsilon_array))


def gaussian_delta_up(mu: float, epsilon: ArrayLike) -> FloatArray:
    """:func:`gaussian_delta` and up to 2e-12 (relative) more; 0 at ``inf`` only."""
    single: Any = epsilon
    if type(mu) is float and type(single) is float:
        return np.asarray(_single_delta_up(mu, single))
    return _delta_up(mu, epsilon)


@functools.lru_cache(maxsize=256)
def _single_delta_up(mu: float, epsilon: float) -> float:
    """Keep it: calibrations hold one noise after the other against the same budget."""
    return float(_delta_up(mu, epsilon))


def _delta_up(mu: float, epsilon: ArrayLike) -> FloatArray:
    delta = gaussian_delta(mu, epsilon)
    return np.where(np.isinf(real_array(epsilon, "epsilon")), 0.0, delta_up(delta, DELTA_ERROR))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Smallest ``epsilon`` with ``gaussian_delta(mu, epsilon) <= delta``, rounded up.

    Parameters
    ----------
    mu : float
        Positive and finite.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        At least 0, and 0 where ``delta(0)`` is already small enough.

    Raises
    ------
    InvalidParameterError
        If an argument is outside its domain.
    """
    mu = positive(mu, "mu")
    delta = _probability(delta)
    if _safely_under(mu, 0.0, delta):
        return 0.0
    # Phi(-a) <= exp(-a^2/2)/2 for a >= 0, so delta is reached before a = sqrt(2 log(1/delta)).
    upper = (0.5 * mu * mu + mu * math.sqrt(-2.0 * math.log(delta))) * (1.0 + 1e-15)
    if math.isinf(upper):
        return upper
    if _excess(mu, 0.0, delta) <= 0.0:  # the root lies within the error allowance of 0
        epsilon = 0.0
    else:
        epsilon = zero_between(lambda e: _excess(mu, e, delta), 0.0, upper, xtol=1e-300)
    step = max(1e-12 * epsilon, 1e-12 * mu * mu, 5e-324)
    return first_within(lambda e: gaussian_delta_up(mu, e), delta, epsilon, step, upper)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest ``mu`` with ``gaussian_delta(mu, epsilon) <= delta``, rounded down.

    The result is 1e-9 (relative) under the root, and the curve is checked there again, so that a
    Gaussian with standard deviation sensitivity / mu is (epsilon, delta)-private in exact
    arithmetic.

    Parameters
    ----------
    epsilon : float
        Not negative, finite.
    delta : float
        In (0, 1).

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        If an argument is outside its domain.

    References
    ----------
    Balle, Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018, Theorem 9.
    """
    epsilon = real(epsilon, "epsilon")
    if not (0.0 <= epsilon < math.inf):
        raise InvalidParameterError(f"epsilon must be at least 0 and finite, got {epsilon}")
    return _largest_mu(epsilon, _probability(delta))


@functools.lru_cache(maxsize=256)
def _largest_mu(epsilon: float, delta: float) -> float:
    """:func:`gaussian_mu`, kept: the same budget comes again with every mechanism and release."""
    # Two lower bounds: delta <= exp(-a^2/2) solved for mu, and delta <= delta(0) <= mu/sqrt(2 pi).
    depth = -2.0 * math.log(delta)
    lower = max(
        2.0 * epsilon / (math.sqrt(depth + 2.0 * epsilon) + math.sqrt(depth)),
        math.sqrt(2.0 * math.pi) * delta,
    )
    lower *= 1.0 - _NUDGE
    upper = 2.0 * lower
    while _excess(upper, epsilon, delta) < 0.0:
        upper *= 2.0
    log_mu = zero_between(
        lambda m: _excess(math.exp(m), epsilon, delta), math.log(lower), math.log(upper), xtol=1e-14
    )
    mu = math.exp(log_mu)
    step = _NUDGE
    mu *= 1.0 - step
    while not _safely_under(mu, epsilon, delta):  # delta next to 1 hardly moves with mu
        step = min(2.0 * step, 0.5)
        mu *= 1.0 - step
    return mu


def _log_delta(mu: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Log of the hockey-stick divergence."""
    mu, epsilon = np.broadcast_arrays(mu, epsilon)
    a = np.clip(_threshold(mu, epsilon), -1e100, 1e100)  # beyond, delta is 0 or 1 to any precision
    with np.errstate(over="ignore"):
        b = epsilon / mu + 0.5 * mu
    log_phi = -0.5 * a * a - _LOG_SQRT_2PI
    result = np.empty(a.shape)
    small = mu < 0.5 * np.maximum(1.0, b)
    with np.errstate(divide="ignore"):  # a vanishing difference is a delta of 0
        result[small] = log_phi[small] + np.log(_mills_difference(a[small], mu[small]))
    tail = ~small & (a >= 0.0)
    result[tail] = log_phi[tail] + np.log(_mills(a[tail]) - _mills(b[tail]))
    body = ~small & (a < 0.0)
    result[body] = np.log(scipy.special.ndtr(-a[body]) - np.exp(log_phi[body]) * _mills(b[body]))
    return result


def _threshold(mu: FloatArray, epsilon: FloatArray) -> FloatArray:
    """``epsilon/mu - mu/2`` to a few units in the last place.

    ``2 epsilon - mu^2`` cancels at large ``mu``, so the rounding error of the square is recovered
    by Dekker's splitting.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        plain = epsilon / mu - 0.5 * mu
        square = mu * mu
        shifted = 134217729.0 * mu  # 2^27 + 1
        high = shifted - (shifted - mu)
        low = mu - high
        error = ((high * high - square) + 2.0 * high * low) + low * low
        compensated = ((2.0 * epsilon - square) - error) / (2.0 * mu)
    return np.asarray(np.where((mu > 1e-100) & (mu < 1e100), compensated, plain))


def _mills(x: FloatArray) -> FloatArray:
    """Mills' ratio ``Phi(-x)/phi(x)``."""
    return np.asarray(math.sqrt(0.5 * math.pi) * scipy.special.erfcx(x * math.sqrt(0.5)))


def _mills_difference(a: FloatArray, mu: FloatArray) -> FloatArray:
    """``R(a) - R(a + mu) = int_0^inf exp(-a t - t^2/2) (1 - exp(-mu t)) dt`` for small ``mu``."""
    nodes, weights = _legendre()
    # Past the end of the interval the exponential has fallen under exp(-40).
    length = (80.0 / (a + np.sqrt(a * a + 80.0)))[..., None]
    t = length * nodes
    integrand = np.exp(-t * (a[..., None] + 0.5 * t)) * -np.expm1(-mu[..., None] * t)
    return np.asarray(length[..., 0] * (integrand @ weights))


@functools.cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def _excess(mu: float, epsilon: float, delta: float) -> float:
    """``log(delta(epsilon) / delta)``."""
    return float(_log_delta(np.asarray(mu), np.asarray(epsilon))) - math.log(delta)


def _safely_under(mu: float, epsilon: float, delta: float) -> bool:
    """Whether ``delta(epsilon) <= delta`` with room for every rounding error."""
    return bool(gaussian_delta_up(mu, epsilon) <= delta)


def _probability(delta: float) -> float:
    delta = real(delta, "delta")
    if not (0.0 < delta < 1.0):
        raise InvalidParameterError(f"delta must lie strictly between 0 and 1, got {delta}")
    return delta


# Gaussian differential privacy.


@final
@register
@dataclass(frozen=True)
class GDP(Budget):
    """Gaussian differential privacy: at least as hard to tell apart as N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu : float
        Positive and finite.

    Raises
    ------
    InvalidBudgetError
        If ``mu`` is outside its domain.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Definition 2.6.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.GDP(1.0)
    >>> round(float(budget.delta_at(0.5)), 4)
    0.2384
    >>> budget.split(2)
    GDP(mu=0.7071067811865475)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("mu",)
    leaves_open = "a Gaussian satisfies it, and its privacy loss is unbounded"

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_parameter("mu", self.mu))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """See :func:`gaussian_delta`; up to 2e-12 (relative) more, and 0 at ``inf`` only."""
        return gaussian_delta_up(self.mu, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Exact up to rounding, see :func:`gaussian_epsilon`; ``inf`` at ``delta = 0``."""
        return gaussian_epsilon(self.mu, delta) if check_delta(delta) > 0.0 else math.inf

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the curve's ``mu`` is small enough."""
        return curve.mu() <= self.mu

    def part(self, share: Fraction) -> GDP:
        """``mu`` times the root of the share."""
        return GDP(root_share_down(self.mu, check_share(share)))

    def price(self) -> tuple[Fraction]:
        """``mu^2`` (Smith, Thakurta, 2022), exactly."""
        return (Fraction(self.mu) ** 2,)

    def total(self, prices: Sequence[float]) -> GDP | None:
        """Inverse of :meth:`price`."""
        return GDP(math.sqrt(prices[0])) if prices[0] > 0.0 else None

    def largest_epsilon(self) -> float:
        """See :func:`gaussian_to_pure`."""
        return gaussian_to_pure(self.mu)

    def largest_mu(self) -> float:
        """``mu`` itself."""
        return self.mu

    def renyi_rate(self) -> float:
        """``mu^2 / 2``, the Renyi divergence per order, rounded up."""
        return half_square_up(self.mu)


composition(GDP)(lambda parts: GDP(root_of_squares_up(part.mu for part in parts)))
conversion(PureDP, GDP)(lambda pure, _: GDP(pure_to_gaussian(pure.epsilon)))
