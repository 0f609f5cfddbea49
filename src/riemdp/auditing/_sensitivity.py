"""Whether a summary moves more than its claimed sensitivity between neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import positive, real
from riemdp._errors import InvalidParameterError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.auditing._search import search_pair
from riemdp.spaces import Ball, check_ball

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import FloatArray

#: Rounding that distances are forgiven, relative to the claim and to the ball's radius.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-13


@dataclass(frozen=True, eq=False)
class SensitivityAudit(ArrayFields):
    """The largest move of a summary that a search has found.

    Parameters
    ----------
    claimed : float
        The sensitivity that was held against it.
    largest : float
        Largest distance found between the summaries of neighbours, ``inf`` for one that is NaN. No
        confidence level: the pair is the proof.
    dataset, neighbour : ndarray, shape (n, *point_shape)
        The pair, made up by the search; under add-remove the neighbour has one record less.
    evaluations : int
        Pairs that were tried.
    allowance : float
        What rounding is forgiven, and the caller's tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import audit_sensitivity
    >>> ball = riemdp.Ball(riemdp.Euclidean(1), [0.0], 1.0)
    >>> result = audit_sensitivity(
    ...     lambda points: points.mean(axis=0), ball, 5, 0.4, generator=np.random.default_rng(0)
    ... )
    >>> result.verdict, round(result.largest, 3), result.dataset.shape
    ('consistent', 0.4, (5, 1))
    """

    claimed: float
    largest: float
    dataset: FloatArray = field(repr=False)
    neighbour: FloatArray = field(repr=False)
    evaluations: int
    allowance: float

    def __post_init__(self) -> None:
        self._seal()

    @property
    def verdict(self) -> Literal["consistent", "violated"]:
        """``"violated"`` if a summary moved by more than the claim and the allowance."""
        broken = not self.largest <= self.claimed + self.allowance
        return "violated" if broken else "consistent"


@with_advice
@work("audit_sensitivity")
def audit_sensitivity(
    summary: Callable[[FloatArray], Any],
    ball: Ball,
    n: int,
    claimed: float,
    *,
    adjacency: str = "replace-one",
    distance: Callable[[Any, Any], Any] | None = None,
    tolerance: float = 0.0,
    restarts: int = 8,
    steps: int = 60,
    generator: np.random.Generator | None = None,
) -> SensitivityAudit:
    """Look for neighbouring data sets whose summaries are farther apart than claimed.

    Parameters
    ----------
    summary : callable
        ``summary(points (n, *point_shape)) -> point``.
    ball : Ball
        Public ball that holds the records.
    n : int
        Number of records, of the larger data set.
    claimed : float
        Sensitivity, positive and finite.
    adjacency : {"replace-one", "add-remove"}
        Under which it is claimed: whether one record is replaced, or removed.
    distance : callable, optional
        ``distance(a, b)`` of two summaries; the manifold's by default.
    tolerance : float, default 0.0
        Public tolerance by which each summary may differ from the exact one; twice it is forgiven.
    restarts, steps : int
        Random starts and moves of the search, see :func:`riemdp.auditing.search_pair`.
    generator : numpy.random.Generator, optional
        Of the search.

    Returns
    -------
    SensitivityAudit

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import audit_sensitivity
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> result = audit_sensitivity(
    ...     lambda points: points.mean(axis=0), ball, 10, 0.1, generator=np.random.default_rng(0)
    ... )
    >>> result.verdict  # it is 0.2
    'violated'
    """
    check_ball(ball)
    claimed = positive(claimed, "claimed, the sensitivity,")
    tolerance = real(tolerance, "tolerance")
    if not 0.0 <= tolerance < np.inf:
        raise InvalidParameterError(f"tolerance must be at least 0 and finite, got {tolerance}")
    apart = ball.manifold.dist if distance is None else distance

    def moved(dataset: FloatArray, neighbour: FloatArray) -> float:
        distance = float(apart(summary(dataset), summary(neighbour)))
        return math.inf if math.isnan(distance) else distance  # no summary is a violation

    worst = search_pair(
        moved, ball, n, adjacency=adjacency, restarts=restarts, steps=steps, generator=generator
    )
    allowance = 2.0 * tolerance + _RELATIVE * claimed + _ABSOLUTE * ball.radius
    return SensitivityAudit(
        claimed, worst.value, worst.dataset, worst.neighbour, worst.evaluations, allowance
    )
