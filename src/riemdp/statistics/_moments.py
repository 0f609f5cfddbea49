"""Mean and second moment in one release, of which the second costs no noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.kernel import Moment
from riemdp.statistics._feature_sums import symmetric_of
from riemdp.statistics._released_moments import ReleasedMoments
from riemdp.statistics._sums import SumStatistic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.manifolds import FloatArray
    from riemdp.statistics._seen import View


@final
@register
@dataclass(frozen=True)
class Moments(SumStatistic):
    """Tangent mean and second moment about the centre, jointly.

    With Gaussian noise the mean gets the noise that it would get alone.

    Parameters
    ----------
    second : {"scalar", "matrix"}, default "scalar"
        The mean squared distance to the centre, or the mean of ``v v^T`` in normal coordinates.

    Raises
    ------
    InvalidParameterError
        If ``second`` is neither.

    References
    ----------
    docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import Moments
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(Moments("matrix"), points, ball, riemdp.GDP(1.0))
    >>> release.value.mean.shape, release.value.covariance.shape
    ((2,), (2, 2))
    """

    name: ClassVar[str] = "moments"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"

    second: Literal["scalar", "matrix"] = "scalar"

    def __post_init__(self) -> None:
        if not is_one_of(self.second, ("scalar", "matrix")):
            raise InvalidParameterError(
                f'second must be "scalar" or "matrix", got {shown(self.second)}'
            )

    def shape(self, dim: int) -> Moment:
        """``(v, 1.665 |v|^2)``, or ``(v, v v^T / sqrt(2))``; see :meth:`FeatureSum.shape`."""
        return Moment(dim, self.second)

    def with_count(self, parts: Mapping[str, Any], relative: float) -> Mapping[str, Any]:
        """Root mean squares over coordinates, and entries of the diagonal, of both noises.

        See :meth:`SumStatistic.with_count`.
        """
        mean, second = parts["coordinates"], np.atleast_2d(parts["second_moment"])
        return {
            **parts,
            "mean_sd": math.hypot(parts["mean_sd"], relative * root_mean_square(mean)),
            "second_moment_sd": math.hypot(
                parts["second_moment_sd"], relative * root_mean_square(np.diag(second))
            ),
        }

    def parts(self, view: View, features: FloatArray, deviation: float) -> Mapping[str, Any]:
        """Return mean, second moment and spread; see :meth:`SumStatistic.parts`.

        ``mean``, point of the ball, shape (*point_shape,); ``coordinates``, the same as it was
        drawn, in normal coordinates about the base, shape (dim,); ``second_moment`` about the base,
        a number or shape (dim, dim), with its noise; ``variance``, about the mean and at least 0,
        and for matrices ``covariance``, whose eigenvalues are at least 0; ``base`` and ``clip``,
        where records were seen from and the length they were shortened to; ``mean_sd`` and
        ``second_moment_sd``, standard deviations of the noise of a coordinate and of a number or an
        entry of the diagonal (of the others that over root 2).
        """
        dim = view.ball.manifold.dim
        vector, rest = features[:dim], features[dim:]
        weights = self.shape(dim).weights
        known = 0.0 if math.isnan(deviation) else deviation
        # |vector|^2 is larger by the mean square of its noise
        found: dict[str, Any] = {
            "mean": view.point(vector / max(1.0, float(np.linalg.norm(vector)))),
            "coordinates": vector * view.unit,
        }
        if self.second == "scalar":
            second = float(rest[0]) / weights[0]
            variance = second - float(vector @ vector) + dim * known * known
            found["second_moment"] = second * view.unit**2
        else:
            matrix = symmetric_of(rest, dim, weights)
            centred = matrix - np.outer(vector, vector) + known * known * np.eye(dim)
            variance = float(np.trace(centred))
            found["second_moment"] = matrix * view.unit**2
            found["covariance"] = nonnegative(centred) * view.unit**2
        return {
            **found,
            "variance": min(max(variance, 0.0), 1.0) * view.unit**2,
            "base": view.base_point,
            "clip": view.unit,
            "mean_sd": deviation * view.unit,
            "second_moment_sd": deviation / weights[0] * view.unit**2,
        }

    def moments_in(
        self, view: View, features: FloatArray, deviation: float, n: int, *, released_base: bool
    ) -> ReleasedMoments:
        """Of matrices alone; see :meth:`SumStatistic.moments_in`."""
        if self.second != "matrix":
            return super().moments_in(view, features, deviation, n, released_base=released_base)
        dim, unit = view.ball.manifold.dim, view.unit
        weights = self.shape(dim).weights
        return ReleasedMoments(
            features[:dim] * unit,
            symmetric_of(features[dim:], dim, weights) * unit**2,
            deviation * unit,
            deviation / weights[0] * unit**2,
            n,
            unit,
            released_base=released_base,
        )


def root_mean_square(entries: FloatArray) -> float:
    """Root of the mean square of the entries of an array."""
    return math.sqrt(float(np.mean(np.square(entries))))


def nonnegative(matrix: FloatArray) -> FloatArray:
    """Return a symmetric matrix ``(d, d)`` with its negative eigenvalues set to 0."""
    values, vectors = np.linalg.eigh(matrix)
    found = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(0.5 * (found + found.T))
