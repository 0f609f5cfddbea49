"""What an audit has shown: lower bounds, and a verdict on the claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._described import Described
from riemdp.auditing._claims import Claim, excess
from riemdp.auditing._events import CertifiedEvent
from riemdp.auditing._picture import draw_audit
from riemdp.auditing._trade_off import TradeOff
from riemdp.privacy import check_delta, check_epsilon

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

Verdict = Literal["consistent", "violated"]

_MEANS = {
    "consistent": "this pair of data sets and these samples show no violation; that is no proof",
    "violated": "the claim is wrong, but for the probability that the confidence leaves",
}


@dataclass(frozen=True, repr=False)
class AuditResult(Described):
    """What an audit has shown. All lower bounds hold at once, with the stated confidence.

    Parameters
    ----------
    claim : Budget or PrivacyCurve
        The guarantee that was held against the outputs, with its relation between data sets.
    samples : int
        Outputs drawn on each of the two data sets; half of them chose the events.
    confidence : float
        Probability, at least, that every lower bound is one.
    score : str
        Name of the score.
    events : tuple of CertifiedEvent
        The events that tell the data sets apart, with bounds of their error rates.
    trade_off : TradeOff
        Measured error rates of all thresholds, for a figure.

    Notes
    -----
    ``"consistent"`` means that this pair, this score and so many samples show no violation. It is
    no proof of privacy. ``"violated"`` is wrong with probability at most ``1 - confidence``.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> law = riemdp.TangentGaussian(riemdp.Euclidean(1), 1.0)  # GDP(1) at a distance of 1
    >>> result = riemdp.audit(
    ...     law, [1.0], [0.0], riemdp.GDP(0.5), samples=4000, generator=np.random.default_rng(0)
    ... )
    >>> result.verdict, 0.5 < result.mu_lower < 1.0
    ('violated', True)
    """

    claim: Claim
    samples: int
    confidence: float
    score: str
    events: tuple[CertifiedEvent, ...]
    trade_off: TradeOff = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return (
            f"AuditResult({self.verdict!r}, claim={self.claim!r}, mu_lower={self.mu_lower:.4g}, "
            f"pure_epsilon_lower={self.pure_epsilon_lower:.4g}, samples={self.samples}, "
            f"confidence={self.confidence:g}, score={self.score!r})"
        )

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        return f"Audit of {self.claim}: {self.verdict}", [
            ("shown", f"mu >= {self.mu_lower:.4g}, pure epsilon >= {self.pure_epsilon_lower:.4g}"),
            ("samples", f"{self.samples:,} on each of two data sets, score {self.score}"),
            ("confidence", f"{self.confidence:.4g}"),
            ("means", _MEANS[self.verdict]),
        ]

    def plot(self, ax: Any = None) -> Any:
        """Draw on Axes the error rates that were measured, against those that the claim allows.

        No test of a mechanism that keeps the claim has rates under its curve; certified bounds
        there refute it. See :meth:`riemdp.PrivacyCurve.plot`.
        """
        return draw_audit(self, ax)

    @property
    def mu_lower(self) -> float:
        """Lower bound of ``mu`` in Gaussian differential privacy; 0 shows nothing."""
        return max(event.mu_lower() for event in self.events)

    @property
    def pure_epsilon_lower(self) -> float:
        """Lower bound of ``epsilon`` in pure differential privacy."""
        return self.epsilon_lower(0.0)

    @property
    def verdict(self) -> Verdict:
        """``"violated"`` if a lower bound exceeds the claim, else ``"consistent"``."""
        broken = any(excess(self.claim, event.fpr, event.fnr) > 0.0 for event in self.events)
        return "violated" if broken else "consistent"

    def epsilon_lower(self, delta: float) -> float:
        """Lower bound of ``epsilon`` at a ``delta``.

        Parameters
        ----------
        delta : float
            In [0, 1).

        Returns
        -------
        float
            ``inf`` where an exact likelihood ratio shows outputs that only one data set has.

        Raises
        ------
        InvalidParameterError
            If ``delta`` is outside [0, 1).
        """
        delta = check_delta(delta)
        return max(event.epsilon_lower(delta) for event in self.events)

    def delta_lower(self, epsilon: ArrayLike) -> FloatArray:
        """Lower bound of ``delta`` at each ``epsilon``.

        Parameters
        ----------
        epsilon : array_like, shape (...)
            At least 0.

        Returns
        -------
        ndarray, shape (...)

        Raises
        ------
        InvalidParameterError
            If an ``epsilon`` is negative or NaN.
        """
        epsilon = check_epsilon(epsilon)
        return np.asarray(np.max([event.delta_lower(epsilon) for event in self.events], axis=0))
