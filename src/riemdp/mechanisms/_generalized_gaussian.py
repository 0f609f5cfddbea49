"""The generalised Gaussian mechanism on the real line, between Laplace, Gaussian and uniform."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, final

import numpy as np
import scipy

from riemdp._checks import positive, real_array, shown
from riemdp._errors import InvalidParameterError, NotAttainableError, UnsupportedBudgetError
from riemdp._part import register
from riemdp.manifolds import Euclidean, Manifold
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.mechanisms._mechanism import Mechanism, enough_noise
from riemdp.mechanisms._rao import (
    angle_of,
    gaussian_guarantee,
    laplace_guarantee,
    laplace_ratio,
    pure_angle,
    pure_epsilon_at_angle,
    rao_guarantee,
)
from riemdp.noise import leading_axes, resolve_generator
from riemdp.privacy import (
    GaussianCurve,
    PureCurve,
    RaoDP,
    affordable_epsilon,
    affordable_mu,
    check_distance,
    up,
)

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.manifolds import FloatArray
    from riemdp.privacy import Budget

#: Least exponent: at scale 1 a draw exceeds 1e242 with probability 1e-30.
LEAST_POWER = 0.01
#: Relative error allowed for in powers and in the Fisher information.
_ERROR = 1e-13


@dataclass(frozen=True)
class PowerLaw:
    """Law of ``|x|`` for the density proportional to ``exp(-|x|^power / sigma^power)``.

    ``(|x| / sigma)^power`` is Gamma with shape ``1 / power``.

    Parameters
    ----------
    sigma, power : float
        Positive and finite.
    """

    sigma: float
    power: float

    def mean(self) -> float:
        """``sigma Gamma(2/power) / Gamma(1/power)``."""
        log_gamma = scipy.special.gammaln
        return self.sigma * math.exp(log_gamma(2.0 / self.power) - log_gamma(1.0 / self.power))

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Distance that a draw exceeds with probability ``1 - q``."""
        q = real_array(q, "q")
        if not np.all((q >= 0.0) & (q <= 1.0)):
            raise InvalidParameterError("q must hold probabilities in [0, 1]")
        shape = 1.0 / self.power
        upper = scipy.special.gammainccinv(shape, 1.0 - q)
        lower = scipy.special.gammaincinv(shape, q)
        return np.asarray(self.sigma * np.where(q > 0.5, upper, lower) ** shape)

    def log_normaliser(self) -> float:
        """Log of ``2 sigma Gamma(1 + 1/power)``."""
        return math.log(2.0 * self.sigma) + float(scipy.special.gammaln(1.0 + 1.0 / self.power))

    def fisher_information(self) -> float:
        """``power^2 Gamma(2 - 1/power) / Gamma(1/power) / sigma^2``; infinite up to power 1/2."""
        if self.power <= 0.5:
            return math.inf
        log_gamma = scipy.special.gammaln
        logs = log_gamma((2.0 * self.power - 1.0) / self.power) - log_gamma(1.0 / self.power)
        return self.power * math.exp(logs) * self.power / self.sigma / self.sigma


@final
@register
@dataclass(frozen=True)
class GeneralizedGaussian(Mechanism):
    """Generalised Gaussian mechanism on R, density ``exp(-|x - footpoint|^power / sigma^power)``.

    Power 1 is the Laplace mechanism, power 2 the Gaussian with standard deviation
    ``sigma / sqrt(2)``; towards infinity the law becomes uniform on an interval.

    Parameters
    ----------
    sigma : float
        Scale, in units of the data; positive and finite.
    power : float
        Exponent N; finite, at least 0.01. The Fisher information is finite above 1/2 only.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    Notes
    -----
    Up to power 1 it is pure ``(sensitivity / sigma)^power``-DP and at power 2 Gaussian DP. For
    other powers :meth:`privacy` refuses: there is no pure epsilon above power 1, and above power 2
    neither Gaussian nor zero-concentrated DP. :meth:`rao` holds for every power above 1/2.

    References
    ----------
    Liu, "Generalized Gaussian mechanism for differential privacy", IEEE Trans. Knowledge and Data
    Engineering 2018; Soto, Rao differential privacy, Section 4.3 (with scale ``sigma^power`` where
    ``sigma`` is printed); docs/proofs/rao.md, claim 5.
    """

    manifold: Manifold = field(init=False, repr=False, default_factory=lambda: Euclidean(1))
    sigma: float
    power: float

    name: ClassVar[str] = "generalized-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/rao.md"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "power", _checked_power(self.power))

    @classmethod
    def calibrate(  # type: ignore[override]  # the line is its only manifold
        cls, sensitivity: float, budget: Budget, *, power: float
    ) -> Self:
        """Mechanism of a given power with the least ``sigma`` that is proved to suffice.

        Parameters
        ----------
        sensitivity : float
            Largest difference between the footpoints of neighbouring data sets.
        budget : RaoDP, PureDP, ApproxDP, GDP or ZCDP
            RaoDP at every power above 1/2 (the angle at every power), PureDP up to power 1, the
            others up to power 1 and at power 2.
        power : float
            Positive and finite.

        Returns
        -------
        GeneralizedGaussian
            ``mechanism.satisfies(sensitivity, budget)`` is true.

        Raises
        ------
        InvalidBudgetError
            If nothing is proved for this power and kind of budget.
        InvalidParameterError
            If ``sensitivity`` or ``power`` is outside its domain.
        NotAttainableError
            For a parametric RaoDP budget at powers up to 1/2, where the Fisher information is
            infinite, or where the noise leaves float64.
        """
        sensitivity = check_sensitivity(sensitivity)
        power = _checked_power(power)
        ratio = _affordable_ratio(budget, power)
        if not 0.0 < ratio < math.inf:
            raise NotAttainableError(
                f"the noise for {budget} at power {power:g} leaves float64; choose a power nearer "
                "to 1"
            )
        return enough_noise(
            lambda sigma: cls(sigma, power),
            sensitivity / ratio,
            sensitivity,
            budget,
        )

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Exact draws; see :meth:`Mechanism.sample`.

        ``sigma V G^(1/power)`` with V uniform on (-1, 1) and G of law Gamma(1 + 1/power): then
        ``(|V| G^(1/power))^power`` is Gamma(1/power), and no power of an underflowing number is
        taken.
        """
        generator = resolve_generator(generator)
        points = self.manifold.validate(footpoint)
        shape = (*leading_axes(size), *points.shape)
        uniform = 2.0 * generator.random(shape) - 1.0
        gamma = np.asarray(generator.standard_gamma(1.0 + 1.0 / self.power, shape))
        return np.asarray(points + self.sigma * uniform * gamma ** (1.0 / self.power))

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density on the line; see :meth:`Mechanism.log_density`."""
        dist = self.manifold.dist(self.manifold.validate(footpoint), self.manifold.validate(point))
        with np.errstate(over="ignore"):  # an infinite power is a density of 0
            depth = (dist / self.sigma) ** self.power
        return np.asarray(-depth - self._distance_law.log_normaliser())

    def privacy(self, sensitivity: float) -> PureCurve | GaussianCurve:
        """Pure DP at ``(sensitivity / sigma)^power`` up to power 1, the Gaussian's at power 2.

        Raises
        ------
        InvalidParameterError
            For other powers, or a sensitivity outside its domain.
        """
        ratio = check_sensitivity(sensitivity) / self.sigma
        if self.power <= 1.0:
            return PureCurve(up(ratio**self.power, _ERROR))
        if self.power == 2.0:
            return GaussianCurve(up(math.sqrt(2.0) * ratio, _ERROR))
        raise InvalidParameterError(
            f"no privacy curve is available at power {self.power:g}, only up to power 1 and at "
            'power 2; rao(sensitivity, "angle") holds at every power, and its delta_at gives '
            "(epsilon, delta)"
        )

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``(sensitivity / sigma) sqrt(N^2 Gamma(2 - 1/N) / Gamma(1/N))`` with the power
        N. Angle: exact at powers 1 and 2, else bounded by the parametric distance and, up to power
        1, by what pure DP implies.

        Raises
        ------
        NotAttainableError
            For the parametric distance at powers up to 1/2, where it is infinite.
        """
        ratio = check_sensitivity(sensitivity) / self.sigma
        distance = check_distance(distance)
        if self.power == 1.0:
            return laplace_guarantee(up(ratio, _ERROR), 1, distance, flat=True)
        if self.power == 2.0:
            return gaussian_guarantee(up(math.sqrt(2.0) * ratio, _ERROR), distance)
        if distance == "parametric":
            _check_information(self.power)
        angle = (
            pure_angle(self.privacy(sensitivity).pure_epsilon()) if self.power < 1.0 else math.pi
        )
        parametric = up(ratio * _speed(self.power), _ERROR)
        return rao_guarantee(distance, parametric=parametric, angle=angle)

    @functools.cached_property
    def _distance_law(self) -> PowerLaw:
        return PowerLaw(self.sigma, self.power)


def _affordable_ratio(budget: Budget, power: float) -> float:
    """Sensitivity over sigma under a budget, up to rounding."""
    if power == 2.0:
        return affordable_mu(budget) / math.sqrt(2.0)
    return _ratio(budget, power)


@functools.singledispatch
def _ratio(budget: Budget, power: float) -> float:
    if power <= 1.0:
        return _root(affordable_epsilon(budget), power)
    raise UnsupportedBudgetError(
        f"the generalised Gaussian of power {power:g} can be calibrated to RaoDP only, got "
        f"{shown(budget)}; use a power up to 1 or power 2"
    )


@_ratio.register(RaoDP)
def _(budget: RaoDP, power: float) -> float:
    if power == 1.0:
        return laplace_ratio(budget, 1, flat=True)
    if budget.distance == "parametric":
        _check_information(power)
        return budget.theta / _speed(power)
    theta = angle_of(budget)
    pure = _root(pure_epsilon_at_angle(theta), power) if power < 1.0 else 0.0
    return max(theta / _speed(power), pure)


def _root(epsilon: float, power: float) -> float:
    """``epsilon^(1 / power)``, infinite beyond float64."""
    try:
        return float(epsilon ** (1.0 / power))
    except OverflowError:
        return math.inf


def _speed(power: float) -> float:
    """Square root of the Fisher information at scale 1; infinite up to power 1/2."""
    return math.sqrt(PowerLaw(1.0, power).fisher_information())


def _check_information(power: float) -> None:
    if power <= 0.5:
        raise NotAttainableError(
            f"the Fisher information of the generalised Gaussian is infinite at power {power:g}; "
            'use a power above 1/2, or the distance "angle"'
        )


def _checked_power(power: float) -> float:
    power = positive(power, "power, the exponent of the density,")
    if power < LEAST_POWER:
        raise InvalidParameterError(
            f"power must be at least {LEAST_POWER:g}, got {power:.6g}: draws of a smaller one "
            "would leave float64; choose a power nearer to 1"
        )
    return power
