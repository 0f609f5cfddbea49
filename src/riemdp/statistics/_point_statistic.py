"""Points whose sensitivity the caller declares."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from riemdp._checks import count, positive
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedManifoldError
from riemdp._part import register
from riemdp.statistics._query import Query, Value
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._query import Metric, Partial, Queries


@final
@register
@dataclass(frozen=True)
class PointStatistic(Statistic):
    r"""A point that a function of the records returns, of a sensitivity that the caller declares.

    With it any footpoint can be planned, released and charged for as the theorems about mechanisms
    are stated: for a summary whose neighbours lie at most ``sensitivity`` apart. Nothing tells
    whether they do, so a release with it is unproven unless ``citation`` says where that is proved.

    Parameters
    ----------
    sensitivity : float
        Largest geodesic distance between what the function returns on neighbouring data sets of
        the ball, after projection onto the ball. In units of distance; of the function as it is
        computed, rounding included.
    n : int
        Number of records that the sensitivity is declared for.
    citation : str, default ""
        Where that is proved: a paper, a note or a URL.
    function : callable, optional
        From the records, shape (n, \*point_shape), which lie in the ball, to a point, shape
        (\*point_shape,). Documents leave it out, so a statistic that was read from one can be
        verified, but not released again.

    Raises
    ------
    InvalidParameterError
        If the sensitivity is not positive and finite, or n no positive integer.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Theorem 1, whose summary is any map into the manifold.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean, PureDP, private_statistic
    >>> from riemdp.statistics import PointStatistic
    >>> ball = Ball(Euclidean(1), [0.0], 1.0)
    >>> ages = np.linspace(-1.0, 1.0, 101)[:, None]
    >>> middle = PointStatistic(2.0, 101, function=lambda x: np.median(x, axis=0))
    >>> release = private_statistic(middle, ages, ball, PureDP(1.0), allow_unproven=True)
    >>> release.proven, round(release.mechanism.sigma, 6)
    (False, 2.0)
    """

    sensitivity: float
    n: int
    citation: str = ""
    function: Callable[[FloatArray], ArrayLike] | None = field(
        default=None, repr=False, compare=False, metadata={"written": False}
    )

    name: ClassVar[str] = "point-statistic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        object.__setattr__(self, "n", count(self.n, "n, the number of records,"))
        if not isinstance(self.citation, str):
            raise InvalidParameterError("citation must be a text that says where the proof is")
        if self.function is not None and not callable(self.function):
            raise InvalidParameterError("function must be callable: from records to a point")

    def proofs(self) -> Mapping[str, str | None]:
        """Return the citation, for the declared sensitivity."""
        return {self.name: self.citation or None}

    def queries(self, ball: Ball) -> Queries:
        """Ask for the point; see :meth:`Statistic.queries`."""
        answer = yield _Declared(self)
        return Value(answer.point, ball)


@dataclass(frozen=True, eq=False)
class _Declared(Query):
    """What the function returns of all records, which moves as far as is declared."""

    statistic: PointStatistic

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return what is declared, for that number of records; see :meth:`Query.replace_one`.

        In coordinates only where they are no longer than distances: not on positive curvature.
        """
        stated = self.statistic
        if n != stated.n:
            raise InvalidParameterError(
                f"the sensitivity is declared for n = {stated.n} records, got {n}; declare the one "
                "for this n"
            )
        manifold = ball.manifold
        expands = manifold.curvature_bound <= 0.0 and math.isinf(manifold.injectivity_radius)
        if metric != "distance" and not expands:
            raise UnsupportedManifoldError(
                f"a declared sensitivity is a distance, which on {manifold} bounds no coordinates; "
                "use a Riemannian mechanism"
            )
        return stated.sensitivity

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """Return what coordinates about the centre may lose; see :meth:`Query.tolerance`."""
        return max(1e-9 * sensitivity, 1e-12 * ball.reach, ball.rounding)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> FloatArray:  # noqa: ARG002
        """Call the function; see :meth:`Query.finish`.

        Raises ``InvalidParameterError`` if there is none, or it returned no point of the manifold.
        """
        if self.statistic.function is None:
            raise InvalidParameterError(
                "this statistic was read from a document, which holds no function; give it one"
            )
        found = np.asarray(self.statistic.function(partial))
        if found.shape != ball.manifold.point_shape:
            raise InvalidParameterError(
                f"the function must return one point of shape {ball.manifold.point_shape}, got "
                f"shape {found.shape}"
            )
        try:
            point = ball.manifold.validate(found)
        except NotOnManifoldError as error:
            raise InvalidParameterError(
                f"what the function returned is no point: {error}"
            ) from None
        return ball.coordinates(point)
