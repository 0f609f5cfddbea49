"""The generalised Gaussian mechanism on R^dim, between Laplace, Gaussian and uniform."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, final

import numpy as np

from riemdp._checks import count, positive
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnsupportedError,
    UnsupportedManifoldError,
)
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.mechanisms._mechanism import Mechanism
from riemdp.mechanisms._rao import gaussian_guarantee, laplace_guarantee, pure_angle, rao_guarantee
from riemdp.noise import resolve_generator
from riemdp.privacy import (
    GaussianCurve,
    GeneralizedGaussianCurve,
    PureCurve,
    RaoDP,
    check_distance,
    up,
)
from riemdp.research._generalized_gaussian_scale import (
    ERROR,
    affordable_ratio,
    check_information,
    speed,
    speed_error,
)
from riemdp.research._polar import leading_axes
from riemdp.research._power_law import PowerLaw
from riemdp.spaces import Euclidean, Manifold

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget, PrivacyCurve
    from riemdp.spaces import FloatArray

#: Least exponent: at scale 1 a draw exceeds 1e242 with probability 1e-30.
LEAST_POWER = 0.01


@final
@dataclass(frozen=True)
class GeneralizedGaussian(Mechanism):
    """Generalised Gaussian mechanism, density ``exp(-|x - footpoint|^power / sigma^power)``.

    Power 1 is the Laplace mechanism, power 2 the Gaussian with standard deviation
    ``sigma / sqrt(2)``; towards infinity the law becomes uniform on an interval, or a ball.

    Parameters
    ----------
    sigma : float
        Scale, in units of the data; positive and finite.
    power : float
        Exponent N; finite, at least 0.01. On the line the Fisher information is finite above 1/2
        only.
    dim : int, default 1
        Dimension of the space, with the Euclidean length for ``|x|``.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    Notes
    -----
    On the line it has a privacy curve at every power, pure ``(sensitivity / sigma)^power``-DP up
    to power 1, and Gaussian and zero-concentrated DP up to power 2 and not above. In more
    dimensions :meth:`privacy` knows powers up to 1 (the pure epsilon) and 2; for others it
    refuses. :meth:`rao` holds wherever the Fisher information is finite.

    References
    ----------
    Liu, "Generalized Gaussian mechanism for differential privacy", IEEE Trans. Knowledge and Data
    Engineering 2018; Soto, Rao differential privacy, Section 4.3 (with scale ``sigma^power`` where
    ``sigma`` is printed); docs/proofs/generalized-gaussian.md, and docs/proofs/rao.md, claim 5.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.research import GeneralizedGaussian
    >>> law = GeneralizedGaussian(sigma=2.0, power=1.5)
    >>> f"{law.privacy(1.0).delta_at(1.0):.5f}"
    '0.00406'
    >>> law.sample([0.0], (5,), np.random.default_rng(0)).shape
    (5, 1)
    """

    manifold: Manifold = field(init=False, repr=False)
    sigma: float
    power: float
    dim: int = 1

    name: ClassVar[str] = "generalized-gaussian"
    choices: ClassVar[tuple[str, ...]] = ("power",)
    proof: ClassVar[str | None] = "docs/proofs/generalized-gaussian.md"

    def __repr__(self) -> str:
        dim = "" if self.dim == 1 else f", dim={self.dim}"
        return f"GeneralizedGaussian(sigma={self.sigma!r}, power={self.power!r}{dim})"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", count(self.dim, "dim"))
        object.__setattr__(self, "manifold", Euclidean(self.dim))
        super().__post_init__()
        object.__setattr__(self, "power", _checked_power(self.power))

    @classmethod
    def calibrate(  # type: ignore[override]  # its manifold is that of a dimension
        cls, sensitivity: float, budget: Budget, *, power: float, dim: int = 1
    ) -> Self:
        """Mechanism of a given power with the least ``sigma`` that is proved to suffice.

        Parameters
        ----------
        sensitivity : float
            Largest difference between the footpoints of neighbouring data sets.
        budget : RaoDP, PureDP, ApproxDP, GDP or ZCDP
            On the line: ApproxDP at every power, PureDP up to power 1, GDP, ZCDP and what follows
            from them up to power 2. In more dimensions these up to power 1 and at power 2. RaoDP
            where the Fisher information is finite (the angle at powers up to 1, too).
        power : float
            Positive and finite.
        dim : int, default 1

        Returns
        -------
        GeneralizedGaussian

        Raises
        ------
        InvalidBudgetError, InvalidParameterError, NotAttainableError
            See :meth:`Mechanism.calibrate`. No scale suffices for a parametric RaoDP budget at
            powers up to 1/2, where the Fisher information is infinite, or where the noise leaves
            float64.
        """
        sensitivity = check_sensitivity(sensitivity)
        power, dim = _checked_power(power), count(dim, "dim")
        ratio = affordable_ratio(budget, power, dim)
        if not 0.0 < ratio < math.inf:
            raise NotAttainableError(
                f"the noise for {budget} at power {power:g} leaves float64; choose a power nearer "
                "to 1"
            )
        return enough_noise(
            lambda sigma: cls(sigma, power, dim), sensitivity / ratio, sensitivity, budget
        )

    @classmethod
    def calibrate_on(  # type: ignore[override]
        cls, manifold: Manifold, sensitivity: float, budget: Budget, *, power: float | None = None
    ) -> Self:
        """:meth:`calibrate` on a Euclidean space; the power has to be named."""
        if power is None:
            raise UnsupportedError(
                "which power? Name it: GeneralizedGaussian.with_options(power=1.5)"
            )
        if manifold != Euclidean(manifold.dim):
            raise UnsupportedManifoldError(
                f"the generalised Gaussian is a law on Euclidean(dim), not on {manifold}; use "
                '"tangent-gaussian" or "tangent-laplace"'
            )
        return cls.calibrate(sensitivity, budget, power=power, dim=manifold.dim)

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw about footpoints; see :func:`riemdp.research.sample`.

        ``sigma V G^(1/power)`` with V uniform in the unit ball and G of law Gamma(1 + dim/power):
        then ``(|V| G^(1/power))^power`` is Gamma(dim/power), and no power of an underflowing
        number is taken.
        """
        generator = resolve_generator(generator)
        points = self.manifold.validate(footpoint)
        shape = (*leading_axes(size), *points.shape)
        if self.dim == 1:
            uniform = 2.0 * generator.random(shape) - 1.0
        else:
            normal = generator.standard_normal(shape)
            length = np.linalg.norm(normal, axis=-1, keepdims=True)
            uniform = normal / length * generator.random(length.shape) ** (1.0 / self.dim)
        gammas = (*shape[:-1], 1)
        gamma = np.asarray(generator.standard_gamma(1.0 + self.dim / self.power, gammas))
        return np.asarray(points + self.sigma * uniform * gamma ** (1.0 / self.power))

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density; see :meth:`Mechanism.log_density`."""
        dist = self.manifold.dist(self.manifold.validate(footpoint), self.manifold.validate(point))
        with np.errstate(over="ignore"):  # an infinite power is a density of 0
            depth = (dist / self.sigma) ** self.power
        return np.asarray(-depth - self._distance_law.log_normaliser())

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Return the exact curve on the line, that of a pure epsilon or of a Gaussian elsewhere.

        A :class:`PureCurve` at ``(sensitivity / sigma)^power`` at power 1, and up to it in more
        dimensions; a :class:`GaussianCurve` at power 2. In more than one dimension other powers
        above 1 are an ``UnsupportedError``.
        """
        ratio = check_sensitivity(sensitivity) / self.sigma
        if self.power == 2.0:
            return GaussianCurve(up(math.sqrt(2.0) * ratio, ERROR))
        if self.power == 1.0 or (self.dim > 1 and self.power < 1.0):
            return PureCurve(up(ratio**self.power, ERROR))
        if self.dim > 1:
            raise UnsupportedError(
                f"no privacy curve is available at power {self.power:g} in dimension {self.dim}, "
                "only up to power 1, at power 2 and on the line; rao(sensitivity, "
                '"angle") holds at every power, and its delta_at gives (epsilon, delta)'
            )
        return GeneralizedGaussianCurve(max(ratio, 5e-324), self.power)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``(sensitivity / sigma) sqrt(N^2 Gamma((d - 2)/N + 2) / (d Gamma(d/N)))`` with
        the power N and the dimension d; on the line at powers up to 1/2 it is infinite, a
        ``NotAttainableError``. Angle: exact at powers 1 and 2, else bounded by the parametric
        distance and, up to power 1, by what pure DP implies.
        """
        ratio = check_sensitivity(sensitivity) / self.sigma
        distance = check_distance(distance)
        if self.power == 1.0:
            return laplace_guarantee(up(ratio, ERROR), self.dim, distance, flat=True)
        if self.power == 2.0:
            return gaussian_guarantee(up(math.sqrt(2.0) * ratio, ERROR), distance)
        if distance == "parametric":
            check_information(self.power, self.dim)
        angle = (
            pure_angle(self.privacy(sensitivity).pure_epsilon()) if self.power < 1.0 else math.pi
        )
        parametric = up(ratio * speed(self.power, self.dim), speed_error(self.power, self.dim))
        return rao_guarantee(distance, parametric=parametric, angle=angle)

    @functools.cached_property
    def _distance_law(self) -> PowerLaw:
        return PowerLaw(self.sigma, self.power, self.dim)


def _checked_power(power: float) -> float:
    power = positive(power, "power, the exponent of the density,")
    if power < LEAST_POWER:
        raise InvalidParameterError(
            f"power must be at least {LEAST_POWER:g}, got {power:.6g}: draws of a smaller one "
            "would leave float64; choose a power nearer to 1"
        )
    return power
