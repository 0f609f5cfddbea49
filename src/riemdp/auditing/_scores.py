"""Scores: one number per output, higher where the output is more likely under the data set.

A plain callable ``outputs (N, ...) -> (N,)`` is a score. A score that has to learn has
``fit(first, second)`` instead, which gets the outputs of the choosing half alone, those under the
data set and those under its neighbour, and returns a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from riemdp._checks import plain_array, real_array
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray, Manifold

Score = Callable[[Any], Any]


@runtime_checkable
class LearnedScore(Protocol):
    """A score that is learned from outputs.

    Examples
    --------
    >>> from riemdp.auditing import LearnedScore, LinearScore
    >>> isinstance(LinearScore(), LearnedScore)
    True
    """

    def fit(self, first: Any, second: Any) -> Score:
        """Learn a score from outputs under the data set and under its neighbour.

        Parameters
        ----------
        first, second : Any
            Outputs of the choosing half: what the audited function returned, N of them each.

        Returns
        -------
        callable
            From outputs to scores, shape ``(N,)``, larger for those more likely under the data set.
        """


class HasDensity(Protocol):
    """A law of outputs with a known density."""

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density of outputs given a footpoint, shape of the leading axes."""


@dataclass(frozen=True, eq=False)
class LogLikelihoodRatio:
    """The best score there is: ``log p(output | dataset) - log p(output | neighbour)``.

    Parameters
    ----------
    mechanism : Mechanism
        Anything with ``log_density(points, footpoint)``.
    dataset, neighbour : array_like, shape (*point_shape,)
        The two footpoints.

    Notes
    -----
    A score of ``inf`` is an output that the neighbour cannot have, and the audit takes it as that.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import LogLikelihoodRatio
    >>> law = riemdp.RiemannianLaplace(riemdp.Sphere(2), 0.2)
    >>> north, east = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    >>> score = LogLikelihoodRatio(law, north, east)
    >>> score(np.array([north, east])).round(3)  # the distance over the scale, with either sign
    array([ 7.854, -7.854])
    """

    mechanism: HasDensity
    dataset: Any
    neighbour: Any

    def __call__(self, outputs: Any) -> FloatArray:
        """Score of outputs ``(N, *point_shape)``, shape ``(N,)``."""
        first, second = self.log_densities(outputs)
        impossible = np.isneginf(first) | np.isneginf(second)
        ratio = log_ratio(first, second)
        # a pole of a density makes nothing impossible
        most = np.finfo(np.float64).max
        return np.where(impossible, ratio, np.clip(ratio, -most, most))

    def log_densities(self, outputs: Any) -> tuple[FloatArray, FloatArray]:
        r"""Log densities of outputs at both footpoints.

        Parameters
        ----------
        outputs : array_like, shape (N, \*point_shape)

        Returns
        -------
        first, second : ndarray, shape (N,)
        """
        first = real_array(self.mechanism.log_density(outputs, self.dataset), "log densities")
        second = self.mechanism.log_density(outputs, self.neighbour)
        return first, real_array(second, "log densities")


@dataclass(frozen=True, eq=False)
class DistanceScore:
    """Distance of the output to the neighbour's footpoint minus that to the data set's.

    Parameters
    ----------
    manifold : Manifold
        Space of the outputs, which are validated.
    dataset, neighbour : array_like, shape (*point_shape,)
        What the outputs would be without noise.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import DistanceScore
    >>> north, east = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    >>> score = DistanceScore(riemdp.Sphere(2), north, east)
    >>> score(np.array([north, east])).round(3)
    array([ 1.571, -1.571])
    """

    manifold: Manifold
    dataset: Any
    neighbour: Any

    def __call__(self, outputs: Any) -> FloatArray:
        """Score of outputs ``(N, *point_shape)``, shape ``(N,)``.

        Raises
        ------
        NotOnManifoldError
            If an output is not on the manifold.
        """
        points = self.manifold.validate(outputs)
        near = self.manifold.dist(self.manifold.validate(self.dataset), points)
        return np.asarray(self.manifold.dist(self.manifold.validate(self.neighbour), points) - near)


@dataclass(frozen=True)
class IdentityScore:
    """Outputs that are single numbers, as they are.

    Examples
    --------
    >>> from riemdp.auditing import IdentityScore
    >>> IdentityScore()([0.5, 1.5])
    array([0.5, 1.5])
    """

    def __call__(self, outputs: Any) -> FloatArray:
        """Return the outputs as ``(N,)``."""
        return flat(outputs)[:, 0]


def log_ratio(first: FloatArray, second: FloatArray) -> FloatArray:
    """Difference of log densities; 0 where both call an output impossible, by rounding."""
    with np.errstate(invalid="ignore"):
        ratio = first - second
    return np.where(np.isneginf(first) & np.isneginf(second), 0.0, ratio)


def flat(outputs: Any) -> FloatArray:
    """Numeric outputs as rows, ``(N, entries)``."""
    array = plain_array(outputs, "outputs")
    if array is None or array.dtype.kind not in "fiub" or not array.shape or not len(array):
        raise InvalidParameterError(
            "outputs must be real numbers or arrays of one shape for this score; give "
            "score=FrequencyScore() for labels, or a function of the outputs"
        )
    return array.reshape(len(array), -1).astype(np.float64, copy=False)


def evaluate(score: Score, outputs: Any, number: int) -> FloatArray:
    """Scores of outputs, checked: one real number each, infinite ones allowed."""
    scores = plain_array(score(outputs), "scores")
    if scores is None:
        raise InvalidParameterError("score must return one real number per output, got no array")
    if scores.dtype.kind not in "fiub" or scores.shape != (number,):
        raise InvalidParameterError(
            f"score must return one real number per output, shape ({number},), got "
            f"{scores.dtype} of shape {scores.shape}"
        )
    scores = scores.astype(np.float64, copy=False)
    if np.isnan(scores).any():
        raise InvalidParameterError(
            "score returned NaN; score outputs that are not valid by a number of their own, such "
            "as inf or -inf"
        )
    return scores
