"""The measured trade-off between the two error rates, with a band for the whole curve."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import real_array
from riemdp.auditing._claims import Claim
from riemdp.auditing._events import candidates
from riemdp.privacy import GDP, GaussianCurve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Epsilons of a claimed trade-off curve.
_GRID = np.linspace(0.0, 30.0, 1201)


@dataclass(frozen=True, eq=False)
class TradeOff(ArrayFields):
    """Error rates of the tests "score at least t" on the certifying half.

    Parameters
    ----------
    fpr, fnr : ndarray, shape (K,)
        Measured rates: the event under the neighbour, its complement under the data set.
    margin : float
        All true rates lie within this of the measured ones at once, with the audit's confidence
        (Dvoretzky-Kiefer-Wolfowitz). It is a band to look at: verdicts use Clopper-Pearson bounds.

    References
    ----------
    Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of
    Probability 1990.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> law = riemdp.TangentGaussian(riemdp.Euclidean(1), 1.0)
    >>> result = riemdp.audit(
    ...     law, [1.0], [0.0], riemdp.GDP(1.0), samples=2000, generator=np.random.default_rng(0)
    ... )
    >>> curve = result.trade_off
    >>> curve.fpr.shape == curve.fnr.shape, f"{curve.margin:.3f}"
    (True, '0.047')
    """

    fpr: FloatArray
    fnr: FloatArray
    margin: float

    def __post_init__(self) -> None:
        self._seal()


def measure(
    chosen: tuple[FloatArray, FloatArray],
    certifying: tuple[FloatArray, FloatArray],
    confidence: float,
) -> TradeOff:
    """Trade-off at thresholds from the choosing half, on the certifying half."""
    thresholds = candidates(*chosen)
    first, second = np.sort(certifying[0]), np.sort(certifying[1])
    fnr = np.searchsorted(first, thresholds, side="left") / len(first)
    fpr = 1.0 - np.searchsorted(second, thresholds, side="left") / len(second)
    trials = min(len(first), len(second))
    margin = math.sqrt(math.log(4.0 / (1.0 - confidence)) / (2.0 * trials))
    order = np.lexsort((-fnr, fpr))
    ends = (np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    return TradeOff(
        np.concatenate([ends[0][:1], fpr[order], ends[0][1:]]),
        np.concatenate([ends[1][:1], fnr[order], ends[1][1:]]),
        margin,
    )


def claimed_trade_off(claim: Claim, fpr: ArrayLike) -> FloatArray:
    """Least false negative rate that a claim leaves at a false positive rate.

    Parameters
    ----------
    claim : Budget or PrivacyCurve
    fpr : array_like, shape (...)
        In [0, 1].

    Returns
    -------
    ndarray, shape (...)
        The largest ``1 - delta(epsilon) - e^epsilon fpr`` and ``e^-epsilon (1 - delta - fpr)``
        over a grid of ``epsilon``, so slightly too small off the grid.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Proposition 2.5.

    Examples
    --------
    >>> from riemdp import GDP
    >>> from riemdp.auditing import claimed_trade_off
    >>> claimed_trade_off(GDP(1.0), [0.05]).round(3)
    array([0.74])
    """
    return _trade_off(claim, real_array(fpr, "fpr"))


@functools.singledispatch
def _trade_off(claim: Claim, fpr: FloatArray) -> FloatArray:
    delta = np.asarray(claim.delta_at(_GRID))
    with np.errstate(over="ignore"):
        first = 1.0 - delta - np.exp(_GRID) * fpr[..., None]
    second = np.exp(-_GRID) * (1.0 - delta - fpr[..., None])
    return np.asarray(np.maximum(np.max(np.maximum(first, second), axis=-1), 0.0))


@_trade_off.register(GaussianCurve)
def _(claim: GaussianCurve, fpr: FloatArray) -> FloatArray:
    import scipy

    return np.asarray(scipy.special.ndtr(-scipy.special.ndtri(fpr) - claim.separation))


@_trade_off.register(GDP)
def _(claim: GDP, fpr: FloatArray) -> FloatArray:
    return _trade_off(GaussianCurve(claim.mu), fpr)
