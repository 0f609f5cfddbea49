"""Mean and second moment in one release, of which the second costs no noise."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.kernel import Moment
from riemdp.statistics._released_moments import ReleasedMoments
from riemdp.statistics._sums import SumStatistic, symmetric_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.spaces import FloatArray
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
        """``(v, 1.665 |v|^2)``, or ``(v, v v^T / sqrt(2))``; see :meth:`SumStatistic.shape`."""
        return Moment(dim, self.second)

    def parts(
        self, view: View, features: FloatArray, deviation: float, relative: float
    ) -> Mapping[str, Any]:
        """Return mean, second moment and spread; see :meth:`SumStatistic.parts`.

        ``mean``, point of the ball, shape (*point_shape,); ``coordinates``, the same as it was
        drawn, in normal coordinates about the base, shape (dim,); ``second_moment`` about the base,
        a number or shape (dim, dim), with its noise; ``variance``, about the mean and at least 0,
        and for matrices ``covariance``, whose eigenvalues are at least 0; ``base`` and ``clip``,
        where records were seen from and the length they were shortened to; ``mean_sd`` and
        ``second_moment_sd``, standard deviations of the noise of a coordinate and of a number or an
        entry of the diagonal (of the others that over root 2); where the number of records is
        noisy too, of both noises, as root mean squares over coordinates and over the diagonal.
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
            "mean_sd": _both(deviation * view.unit, relative, found["coordinates"]),
            "second_moment_sd": _both(
                deviation / weights[0] * view.unit**2,
                relative,
                np.diag(np.atleast_2d(found["second_moment"])),
            ),
        }

    def moments_in(
        self, view: View, features: FloatArray, deviation: float
    ) -> Callable[[int], ReleasedMoments] | None:
        """Of matrices alone; see :meth:`SumStatistic.moments_in`."""
        if self.second != "matrix":
            return None
        weights = self.shape(view.ball.manifold.dim).weights
        return functools.partial(_moments, view, features, deviation, weights)


def _moments(
    view: View, features: FloatArray, deviation: float, weights: tuple[float, float], n: int
) -> ReleasedMoments:
    dim, unit = view.ball.manifold.dim, view.unit
    return ReleasedMoments(
        features[:dim] * unit,
        symmetric_of(features[dim:], dim, weights) * unit**2,
        deviation * unit,
        deviation / weights[0] * unit**2,
        n,
        unit,
        released_base=not view.is_central,
    )


def _both(deviation: float, relative: float, entries: FloatArray) -> float:
    """Return the deviation of two noises: of the sum, and of the number that divides it."""
    return math.hypot(deviation, relative * root_mean_square(entries))


def root_mean_square(entries: FloatArray) -> float:
    """Root of the mean square of the entries of an array."""
    return math.sqrt(float(np.mean(np.square(entries))))


def nonnegative(matrix: FloatArray) -> FloatArray:
    """Return a symmetric matrix ``(d, d)`` with its negative eigenvalues set to 0."""
    values, vectors = np.linalg.eigh(matrix)
    found = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(0.5 * (found + found.T))
