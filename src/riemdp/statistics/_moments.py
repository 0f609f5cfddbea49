"""Means with their second moments, and what is read off released ones."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import count, is_one_of, positive, real, real_array, shown
from riemdp._errors import InsufficientSamplesError, InvalidParameterError
from riemdp._part import register
from riemdp.kernel import Moment
from riemdp.statistics._sums import SumStatistic, symmetric_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray
    from riemdp.statistics._seen import View


# Mean and second moment of one release, as inference takes them.

_EPS = float(np.finfo(np.float64).eps)
#: Relative asymmetry of a matrix that is taken for rounding.
_ASYMMETRY = 1e-9


@dataclass(frozen=True, eq=False)
class ReleasedMoments(ArrayFields):
    """Noisy mean and second moment of n vectors of bounded length, as they were released.

    ``mean = v + sigma Z`` and ``second_moment = M + N`` with v and M the mean of the records'
    coordinates and of their outer products, and Z, N independent Gaussian noise: nothing here holds
    for noise of another law. Neither may have been projected, clipped or shrunk after the noise.

    Parameters
    ----------
    mean : array_like, shape (d,)
        Normal coordinates about the base.
    second_moment : array_like, shape (d, d)
        Symmetric, about the same base, not centred.
    sigma : float
        Standard deviation of the noise in a coordinate of the mean.
    sigma_second : float
        That of the noise in a diagonal entry of the second moment; off the diagonal it is
        ``sigma_second / sqrt(2)``.
    n : int
        Number of records, public.
    reach : float
        Length that the records' coordinates were clipped to.
    released_base : bool, optional
        Whether the base or the length came from an earlier release about the same records.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_moments(points, ball, riemdp.GDP(1.0), second="matrix")
    >>> moments = release.released_moments()
    >>> moments.dim, moments.mean.shape
    (2, (2,))
    """

    mean: FloatArray
    second_moment: FloatArray
    sigma: float
    sigma_second: float
    n: int
    reach: float
    released_base: bool = False

    def __post_init__(self) -> None:
        mean = _finite(self.mean, "mean")
        if mean.ndim != 1 or not len(mean):
            raise InvalidParameterError(f"mean must have shape (d,), got {mean.shape}")
        second, d = _finite(self.second_moment, "second_moment"), len(mean)
        if second.shape != (d, d):
            raise InvalidParameterError(
                f"second_moment must have shape {(d, d)}, as the mean has {d} coordinates, got "
                f"{second.shape}"
            )
        if np.abs(second - second.T).max() > _ASYMMETRY * np.abs(second).max():
            raise InvalidParameterError("second_moment must be symmetric")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "second_moment", 0.5 * second + 0.5 * second.T)
        for name in ("sigma", "sigma_second", "reach"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        object.__setattr__(self, "n", count(self.n, "n"))
        self._seal()

    @property
    def dim(self) -> int:
        """Number d of coordinates."""
        return len(self.mean)

    @property
    def rounding(self) -> float:
        """Allowance for rounding in eigenvalues and quadratic forms of the covariance."""
        size = float(np.linalg.norm(self.second_moment) + self.mean @ self.mean)
        return 4.0 * (self.dim + 4) * _EPS * size

    def degrees_of_freedom(self) -> int:
        """``n - 1``, what a covariance of the records is divided by to be that of their mean.

        Raises
        ------
        InsufficientSamplesError
            If there is only one record.
        """
        if self.n < 2:
            raise InsufficientSamplesError(
                "the spread of the records needs at least 2 of them, got 1; the distribution-free "
                "region needs none"
            )
        return self.n - 1

    def variance_noise(self) -> float:
        """Return the standard deviation of the noise in :meth:`variance_along`."""
        return self.sigma_second / self.degrees_of_freedom()

    def variance_along(self, directions: ArrayLike, allowance: float) -> FloatArray:
        """Noisy upper bound of the variance of the released mean along directions.

        Parameters
        ----------
        directions : array_like, shape (..., d)
            Unit vectors.
        allowance : float
            What the noise in a coordinate of the mean is not to exceed, in units of ``sigma``.

        Returns
        -------
        ndarray, shape (...)
            ``(u'Su - max(|u'c| - allowance sigma, 0)^2) / (n - 1) + sigma^2`` with c the mean and
            S the second moment. It may be negative.
        """
        u = np.asarray(directions, dtype=np.float64)
        second = np.einsum("...i,ij,...j->...", u, self.second_moment, u)
        along = np.maximum(np.abs(u @ self.mean) - allowance * self.sigma, 0.0)
        spread = (second - along**2 + self.rounding) / self.degrees_of_freedom()
        return np.asarray(spread + self.sigma**2)

    def centred(self, allowance: float) -> tuple[FloatArray, float]:
        """Matrix and number whose sum is above the records' covariance, but for the matrix' noise.

        Parameters
        ----------
        allowance : float
            What the noise of the mean is not to exceed, in units of ``sigma``.

        Returns
        -------
        tuple of (ndarray, float)
            ``S - cc' / (1 + k)`` and ``t^2 / k``, with ``k = sqrt(d) t / |c|``, c the mean, S the
            second moment and ``t = allowance sigma``.
        """
        step, root = allowance * self.sigma, math.sqrt(self.dim)
        length = float(np.linalg.norm(self.mean))
        share = length / (length + root * step)
        matrix = self.second_moment - share * np.outer(self.mean, self.mean)
        return matrix, step * length / root + self.rounding


def check_level(level: object) -> float:
    """Return ``1 - level``, the probability of a miss.

    ``InvalidParameterError`` if the level is not under 1 by at least 1e-9, and positive.
    """
    value = real(level, "level")
    if not 0.0 < value <= 1.0 - 1e-9:
        raise InvalidParameterError(
            f"level must lie in (0, 1 - 1e-9], as 0.95 does, got {shown(level)}"
        )
    return 1.0 - value


def _finite(values: ArrayLike, name: str) -> FloatArray:
    array = real_array(values, name)
    if not np.isfinite(array).all():
        raise InvalidParameterError(f"{name} must be finite")
    return array


# Mean and second moment in one release, of which the second costs no noise.


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
