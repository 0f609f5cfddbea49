"""Lines in a tangent space: how records move with a number that belongs to each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import real, real_array
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.kernel import Line, Vector
from riemdp.spaces import clip_norm
from riemdp.statistics._sums import SumStatistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._seen import View

#: The variance of a covariate that lies in [-1, 1] is taken to be at least so many standard
#: deviations of its noise; where that is not known, at least the second number.
_DEVIATIONS, _FLOOR = 2.0, 0.01
#: Largest covariate, and one over the narrowest range.
_FARTHEST = 1e140
#: A public design whose standard deviation is under this part of its range is no design of a line.
_NARROW = 1e-6
#: Documents list a public design, so that there is an end to it.
_LONGEST = 100_000


@dataclass(frozen=True)
class Design(Vector):
    """``g (x) v``, g the public row of a record, of two numbers and at most 1 long."""

    def rows(self, vectors: FloatArray, beside: NDArray[Any] | None = None) -> NDArray[np.int64]:
        """Return rows of integers; see :meth:`Shape.rows`."""
        first, second = np.hsplit(np.asarray(beside), 2)
        return super().rows(np.concatenate([first * vectors, second * vectors], axis=-1))


@final
@register
@dataclass(frozen=True)
class TangentRegression(SumStatistic):
    """Line in the tangent space at the centre, by least squares on a real covariate.

    A record at the covariate t is modelled as the point whose normal coordinates are
    ``b_0 + b_1 t``. Points and covariates are private: sums of points, sums of points times
    covariates, and the mean and the mean square of the covariates are released together, of which
    the last two cost no noise (Gaussian noise), and the line is solved for afterwards.

    With a ``design`` the covariates are public and not protected at all, and the coefficients
    themselves are released. Neighbours then differ in the point of one record:
    :class:`ReplacePoint`.

    Parameters
    ----------
    low, high : float
        Public range of the covariate. Values outside count as the nearer end.
    design : sequence of float, default ()
        Public covariates of the records, in any order, in the range; at most 100,000.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain, or the design says nothing about a slope.

    References
    ----------
    docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import TangentRegression
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> records = riemdp.Records(points, covariates=np.linspace(20.0, 80.0, 500))  # ages
    >>> line = TangentRegression(20.0, 80.0)
    >>> release = riemdp.private_statistic(line, records, ball, riemdp.GDP(1.0))
    >>> release.value.coefficients.shape
    (2, 2)
    """

    name: ClassVar[str] = "tangent-regression"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"
    takes: ClassVar[tuple[str, ...]] = ("covariates",)

    low: float
    high: float
    design: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        low, high = real(self.low, "low"), real(self.high, "high")
        if not (max(abs(low), abs(high)) <= _FARTHEST and 0.5 * (high - low) >= 1.0 / _FARTHEST):
            raise InvalidParameterError(
                f"low must be less than high by {2.0 / _FARTHEST:g} or more, and both at most "
                f"{_FARTHEST:g} in size, got {low} and {high}; change the unit of the covariate"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "design", self._checked_design())

    def _checked_design(self) -> tuple[float, ...]:
        found = real_array(self.design, "design")
        if found.ndim != 1 or len(found) > _LONGEST:
            raise InvalidParameterError(
                f"design must be a sequence of at most {_LONGEST} numbers, since a release lists "
                f"them, got shape {found.shape}; leave it out where the covariates are private"
            )
        if not np.all((found >= self.low) & (found <= self.high)):
            raise InvalidParameterError(
                f"every value of the design must lie between low = {self.low} and high = "
                f"{self.high}"
            )
        if len(found) and not np.std(self._scaled(found)) > _NARROW:
            raise InvalidParameterError(
                "the design varies too little for a slope: its standard deviation must be over "
                f"{_NARROW:g} times half the range"
            )
        return tuple(found.tolist())

    @property
    def by_place(self) -> tuple[str, ...]:  # type: ignore[override]
        """Covariates, where there is a design; see :attr:`Statistic.by_place`."""
        return ("covariates",) if self.design else ()

    @property
    def _middle(self) -> float:
        return self.low + 0.5 * (self.high - self.low)

    def _scaled(self, covariates: FloatArray) -> FloatArray:
        """Return covariates with the range as [-1, 1], clipped to it."""
        half = 0.5 * (self.high - self.low)
        with np.errstate(over="ignore"):
            return np.clip((covariates - self._middle) / half, -1.0, 1.0)

    def shape(self, dim: int) -> Vector | Line:
        """``(v, s v, s, sqrt(2) s^2)``, s the scaled covariate; see :meth:`SumStatistic.shape`.

        With a public design ``g (x) v``, g the row of the record, at most 1 long.
        """
        return Design(2 * dim) if self.design else Line(dim)

    @property
    def beside(self) -> Callable[[Records], NDArray[Any]]:
        """Scaled covariates, or rows of a public design; see :attr:`SumStatistic.beside`."""
        return self._beside

    def _beside(self, records: Records) -> FloatArray:
        scaled = self._scaled(np.asarray(records.covariates, dtype=np.float64))
        return self._rows(scaled[:, None]) if self.design else scaled

    def check_size(self, n: int) -> None:
        """``n`` has to be that of a public design; see :meth:`Statistic.check_size`."""
        if self.design and n != len(self.design):
            raise InvalidParameterError(
                f"the design is one of {len(self.design)} records, not of n = {n}"
            )

    def _basis(self) -> tuple[float, float, float, float]:
        """Mean and standard deviation of the scaled design, and how its rows are scaled.

        Rows are ``(1, a u)``, u in standard deviations from the mean, at most U. Of all ``a`` the
        mean square of the noise of fitted values is least for ``a^2 = 1 / U``, and the longest row
        is ``sqrt(1 + U)`` then.
        """
        scaled = self._scaled(np.array(self.design))
        mean, spread = float(np.mean(scaled)), float(np.std(scaled))
        farthest = float(np.max(np.abs(scaled - mean))) / spread
        return mean, spread, 1.0 / math.sqrt(farthest), math.sqrt(1.0 + farthest)

    def _rows(self, scaled: FloatArray) -> FloatArray:
        """Rows of the design, divided by the longest of them; shape (m, 2)."""
        mean, spread, factor, longest = self._basis()
        second = factor * ((scaled - mean) / spread)
        return clip_norm(np.concatenate([np.ones_like(scaled), second], axis=-1) / longest, 1.0)

    def _with_count(self, parts: Mapping[str, Any], relative: float) -> FloatArray:
        """Return deviations of coefficients whose level is as noisy as the number of records too.

        An error E of the number acts like one of -E times the line at the middle of the range in
        the sum of the points.
        """
        (n, total), (_, squares) = parts["gram"]
        line, middle = parts["coefficients"], self._middle
        # the Gram matrix of (1, t), solved for the row of the middle, where scaled covariates are 0
        solved = np.array([squares - middle * total, n * middle - total])
        solved /= n * squares - total * total
        moved = relative * solved[:, None] * (line[0] + middle * line[1])
        return np.asarray(np.hypot(parts["coefficients_sd"], np.abs(moved)))

    def check_chunk(self, records: Records) -> FloatArray | None:
        """Return the covariates of some, where they are public; see :meth:`Statistic.check_chunk`.

        Of all records together there are no more than the design has.
        """
        super().check_chunk(records)
        return np.asarray(records.covariates, dtype=np.float64) if self.design else None

    def check_chunks(self, noted: Sequence[Any]) -> None:
        """Require the public design, in any order; see :meth:`Statistic.check_chunks`."""
        design = np.sort(np.array(self.design))
        if self.design and not np.array_equal(np.sort(np.concatenate(noted)), design):
            raise InvalidParameterError("the covariates are not those of the public design")

    def absent(self) -> Mapping[str, object]:
        """Return the middle of the range; see :meth:`Statistic.absent`."""
        return {"covariates": self._middle}

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Covariates at either end, and some between; see :meth:`Statistic.typical_extras`."""
        share = np.clip(generator.uniform(-0.5, 1.5, size=size), 0.0, 1.0)
        return {"covariates": self.low + share * (self.high - self.low)}

    def parts(
        self, view: View, features: FloatArray, deviation: float, relative: float
    ) -> Mapping[str, Any]:
        """Return the coefficients of the line; see :meth:`SumStatistic.parts`.

        ``coefficients``, shape (2, dim): intercept, at the covariate 0, and slope, in normal
        coordinates about the base and per unit of the covariate; ``coefficients_sd``, of the same
        shape, standard deviations of their noise, to first order where covariates are private;
        ``gram``, shape (2, 2), the mean of ``(1, t)^T (1, t)`` that was solved with; ``base`` and
        ``clip``, where records were seen from and the length they were shortened to. What is solved
        with has a variance of the covariate of at least twice its noise. After a first round that
        clipped many records the standard deviations are those of noise alone, and too small for
        what clipping did.
        """
        dim = view.ball.manifold.dim
        lines = features[: 2 * dim].reshape(2, dim)
        solve = self._public if self.design else self._private
        mean, spread, line, covariance = solve(lines, features[2 * dim :], deviation)
        # from the scaled covariate to that of the records
        half = 0.5 * (self.high - self.low)
        scale = np.array([[1.0, -self._middle / half], [0.0, 1.0 / half]])
        variances = np.einsum("ij,jkd,ik->id", scale, covariance, scale)
        back = np.array([[1.0, 0.0], [self._middle, half]])
        gram = back @ np.array([[1.0, mean], [mean, mean**2 + spread]]) @ back.T
        found = {
            "coefficients": scale @ line * view.unit,
            "coefficients_sd": np.sqrt(variances) * view.unit,
            "gram": gram,
            "base": view.base_point,
            "clip": view.unit,
        }
        if relative:
            found["coefficients_sd"] = self._with_count(found, relative)
        return found

    def _public(
        self, lines: FloatArray, rest: FloatArray, deviation: float
    ) -> tuple[float, float, FloatArray, FloatArray]:
        """Mean and variance of the scaled covariate, the line in it, and the noise of that.

        The last is the covariance of level and slope, shape (2, 2, dim).
        """
        del rest  # what it would be is public
        mean, spread, factor, longest = self._basis()
        slope = 1.0 / (factor * spread)
        scale = longest * np.array([[1.0, -mean * slope], [0.0, slope]])
        covariance = np.repeat(
            (deviation * deviation * scale @ scale.T)[..., None], lines.shape[-1], -1
        )
        return mean, spread**2, scale @ lines, covariance

    def _private(
        self, lines: FloatArray, rest: FloatArray, deviation: float
    ) -> tuple[float, float, FloatArray, FloatArray]:
        """Return the same, with a Gram matrix that is noisy too."""
        weights = np.array([1.0, Line(lines.shape[-1]).weight])
        mean, square = np.clip(rest / weights, [-1.0, 0.0], 1.0).tolist()
        first, second = 1.0 / np.square(weights)
        # of the noise of the difference, to first order
        noise_of_spread = deviation * math.sqrt(second + 4.0 * mean**2 * first)
        least = _FLOOR if math.isnan(deviation) else max(_DEVIATIONS * noise_of_spread, _NARROW)
        spread = max(square - mean**2, least)
        inverse = np.array([[mean**2 + spread, -mean], [-mean, 1.0]]) / spread
        line = inverse @ lines
        # an error E of the Gram matrix acts like one of -E times the line in the sums
        level, slope = line
        noise = np.array(
            [
                [1.0 + first * slope**2, first * level * slope],
                [first * level * slope, 1.0 + first * level**2 + second * slope**2],
            ]
        )
        covariance = deviation**2 * np.einsum("ij,jkd,lk->ild", inverse, noise, inverse)
        return mean, spread, line, covariance
