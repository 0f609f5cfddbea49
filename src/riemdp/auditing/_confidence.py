"""Confidence bounds of error rates, and the privacy loss that two error rates prove.

An event S is decided for the first data set, its complement for the second one. With P and Q the
output laws of the two, ``fpr`` is an upper bound of ``Q(S)`` and ``fnr`` one of ``P(not S)``.
Everything below follows from the two numbers, for S and for its complement, so all of it holds at
once as soon as they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Relative allowance for the rounding of the inverse beta function.
_ROUNDING = 1e-10


def upper_bound(count: ArrayLike, trials: int, alpha: float) -> FloatArray:
    """One-sided Clopper-Pearson upper bound of a probability, rounded up; shape of ``count``.

    The bound lies under the true probability with probability at most ``alpha``: it is where so few
    successes among the trials have probability ``alpha``; 1 where all succeed. Clopper, Pearson,
    "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika
    1934; docs/proofs/auditing.md, claim 1.
    """
    count = np.asarray(count, dtype=np.float64)
    some = np.minimum(count, trials - 1.0)
    bound = scipy.special.betainccinv(some + 1.0, trials - some, alpha)
    bound = np.where(count >= trials, 1.0, np.minimum(bound * (1.0 + _ROUNDING), 1.0))
    return np.asarray(bound)


def mu_bound(fpr: ArrayLike, fnr: ArrayLike) -> FloatArray:
    """Lower bound of ``mu`` in Gaussian differential privacy, at least 0.

    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Definition 2.6;
    docs/proofs/auditing.md, claim 2.
    """
    fpr, fnr = np.asarray(fpr, dtype=np.float64), np.asarray(fnr, dtype=np.float64)
    useful = fpr + fnr < 1.0  # else nothing is shown; quantiles of 0 and 1 have no sum
    ndtri = scipy.special.ndtri
    bound = -ndtri(np.where(useful, fpr, 0.5)) - ndtri(np.where(useful, fnr, 0.5))
    return np.asarray(np.maximum(bound, 0.0))


def epsilon_bound(fpr: ArrayLike, fnr: ArrayLike, delta: float = 0.0) -> FloatArray:
    """Lower bound of ``epsilon`` at a ``delta``, at least 0 and possibly infinite.

    The larger one of the two directions, ``P(S) <= e^eps Q(S) + delta`` and the same for the
    complement with P and Q exchanged. Kairouz, Oh, Viswanath, "The composition theorem for
    differential privacy", IEEE Trans. Inf. Theory 2017, Theorem 2.1; docs/proofs/auditing.md,
    claim 2.
    """
    fpr, fnr = np.asarray(fpr, dtype=np.float64), np.asarray(fnr, dtype=np.float64)
    return np.asarray(np.maximum(_log_ratio(fpr, fnr, delta), _log_ratio(fnr, fpr, delta)))


def delta_bound(fpr: ArrayLike, fnr: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Lower bound of ``delta`` at an ``epsilon``, the larger one of the two directions."""
    fpr, fnr = np.asarray(fpr, dtype=np.float64), np.asarray(fnr, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.exp(np.asarray(epsilon, dtype=np.float64))
        # an infinite factor on a rate of 0 is a product of 0
        first = 1.0 - fnr - np.where(fpr > 0.0, factor * fpr, 0.0)
        second = 1.0 - fpr - np.where(fnr > 0.0, factor * fnr, 0.0)
    return np.asarray(np.maximum(np.maximum(first, second), 0.0))


def _log_ratio(likely: FloatArray, missed: FloatArray, delta: float) -> FloatArray:
    """``log((1 - delta - missed) / likely)``, at least 0."""
    room = 1.0 - delta - missed
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.maximum(room, 0.0)) - np.log(likely)
    return np.where(room > likely, np.maximum(ratio, 0.0), 0.0)
