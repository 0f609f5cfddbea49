"""Events of the form "the score is large": chosen on one half of the samples, counted on another.

A quarter of the error probability goes to each of the four error rates that are bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp.auditing._claims import Claim, excess, is_one_number, tail_delta
from riemdp.auditing._confidence import delta_bound, epsilon_bound, mu_bound, upper_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Thresholds that are tried: evenly spread ranks, and ranks near either end.
_BODY, _TAIL = 200, 40


@dataclass(frozen=True)
class Event:
    """Outputs whose score is at least (or above) a threshold, or all others.

    Parameters
    ----------
    threshold : float
        Possibly infinite.
    strict : bool
        Whether the score has to be above the threshold.
    reverse : bool
        Whether the event is the complement.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.auditing import Event
    >>> Event(threshold=1.0).contains(np.array([0.5, 1.0, 2.0]))
    array([False,  True,  True])
    >>> Event(threshold=1.0, reverse=True).contains(np.array([0.5, 1.0, 2.0]))
    array([ True, False, False])
    """

    threshold: float
    strict: bool = False
    reverse: bool = False

    def contains(self, scores: FloatArray) -> NDArray[np.bool_]:
        """Whether outputs with these scores belong to the event.

        Parameters
        ----------
        scores : ndarray, shape (N,)

        Returns
        -------
        ndarray of bool, shape (N,)
        """
        inside = scores > self.threshold if self.strict else scores >= self.threshold
        return np.asarray(inside != self.reverse)


@dataclass(frozen=True)
class CertifiedEvent:
    """An event with upper bounds of its error rates.

    Parameters
    ----------
    event : Event
    fpr : float
        Upper bound of its probability under the neighbour.
    fnr : float
        Upper bound of its complement's probability under the data set.

    Examples
    --------
    >>> from riemdp.auditing import CertifiedEvent, Event
    >>> event = CertifiedEvent(Event(0.0), fpr=0.1, fnr=0.2)
    >>> f"{event.epsilon_lower(1e-6):.4f}"  # log(0.8 / 0.1)
    '2.0794'
    """

    event: Event
    fpr: float
    fnr: float

    def mu_lower(self) -> float:
        """Lower bound of ``mu``."""
        return float(mu_bound(self.fpr, self.fnr))

    def epsilon_lower(self, delta: float) -> float:
        """Lower bound of ``epsilon`` at a ``delta``. See :meth:`AuditResult.epsilon_lower`."""
        return float(epsilon_bound(self.fpr, self.fnr, delta))

    def delta_lower(self, epsilon: FloatArray) -> FloatArray:
        """Lower bound of ``delta`` at each ``epsilon``. See :meth:`AuditResult.delta_lower`."""
        return delta_bound(self.fpr, self.fnr, epsilon)


def choose(
    first: FloatArray, second: FloatArray, claim: Claim, alpha: float, *, exact: bool
) -> tuple[Event, Event]:
    """Choose, by scores (N,) of the choosing half, the events that show the most.

    One has the largest ``mu`` (or, for a claim of another kind than GDP, PureDP and ApproxDP, the
    clearest violation), the other one the largest ``epsilon`` at the claim's ``delta``. ``alpha``
    is the error probability of each rate's bound; ``exact`` says whether an infinite score means
    that the other data set cannot have the output.
    """
    thresholds = candidates(first, second)
    events = [Event(float(t)) for t in thresholds]
    if thresholds[0] == -math.inf:
        events.append(Event(-math.inf, strict=True))
    if not exact:  # the likelihood ratio is known to point the right way
        events += [Event(event.threshold, event.strict, reverse=True) for event in events]
    fpr, fnr = _rates(events, first, second, alpha, exact=exact)
    delta = tail_delta(claim)
    middle, tail = mu_bound(fpr, fnr), epsilon_bound(fpr, fnr, delta)
    if not is_one_number(claim):
        middle = excess(claim, fpr, fnr)
    return events[int(np.argmax(middle))], events[int(np.argmax(tail))]


def certify(
    events: tuple[Event, ...], first: FloatArray, second: FloatArray, alpha: float, *, exact: bool
) -> tuple[CertifiedEvent, ...]:
    """Bound the error rates of events by samples that had no part in choosing them."""
    fpr, fnr = _rates(list(events), first, second, alpha, exact=exact)
    return tuple(
        CertifiedEvent(event, float(a), float(b))
        for event, a, b in zip(events, fpr, fnr, strict=True)
    )


def candidates(first: FloatArray, second: FloatArray) -> FloatArray:
    """Thresholds to try: scores at ranks that thin out towards the middle."""
    scores = np.sort(np.concatenate([first, second]))
    last = len(scores) - 1
    body = np.linspace(0, last, _BODY)
    tail = np.geomspace(1, last + 1, _TAIL) - 1
    ranks = np.unique(np.concatenate([body, tail, last - tail]).astype(np.int64))
    return np.unique(scores[ranks])


def _rates(
    events: list[Event], first: FloatArray, second: FloatArray, alpha: float, *, exact: bool
) -> tuple[FloatArray, FloatArray]:
    """Upper bounds of both error rates of every event."""
    first, second = np.sort(first), np.sort(second)
    missed, wrong = np.empty(len(events)), np.empty(len(events))
    for row, event in enumerate(events):
        side: Literal["left", "right"] = "right" if event.strict else "left"
        below = np.searchsorted(first, event.threshold, side=side)
        below_second = np.searchsorted(second, event.threshold, side=side)
        inside = len(second) - below_second
        missed[row] = len(first) - below if event.reverse else below
        wrong[row] = below_second if event.reverse else inside
    fpr, fnr = upper_bound(wrong, len(second), alpha), upper_bound(missed, len(first), alpha)
    if exact:
        for row, event in enumerate(events):
            if event == Event(math.inf):
                fpr[row] = 0.0
            if event == Event(-math.inf, strict=True):
                fnr[row] = 0.0
    return fpr, fnr
