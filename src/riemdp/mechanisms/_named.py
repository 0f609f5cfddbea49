"""The mechanisms by name: a kind of noise, in a space or its tangent space, of one mean or another.

Each is one row: a class that says its kind, its name and what is proved, and no more.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, final

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved, register
from riemdp.mechanisms._calibration import (
    check_sensitivity,
    enough_noise,
    exceeds_float64,
    isotropic_scales,
    least_noise,
    scaled,
)
from riemdp.mechanisms._mechanism import Mechanism
from riemdp.mechanisms._rao import (
    gaussian_guarantee,
    laplace_guarantee,
    rao_guarantee,
    restricted_laplace_guarantee,
    restricted_laplace_ratio,
)
from riemdp.mechanisms._tangent import TangentMechanism
from riemdp.noise import RadialLaw, family
from riemdp.privacy import (
    affordable_mu,
    check_distance,
    classical_mu,
    on_grid,
    quotient_up,
    root_of_squares_up,
)
from riemdp.spaces import Euclidean, check_manifold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.noise import DistanceLaw, FactorLaw, Family, Kind, Law
    from riemdp.noise.exact import ExactDraw
    from riemdp.privacy import Budget, PrivacyCurve, RaoDP
    from riemdp.spaces import Ball, FloatArray, Manifold


class _OfFamily(Mechanism):
    """Noise of a family at one scale, whose privacy is the family's."""

    kind: ClassVar[Kind]

    @classmethod
    def _noise(cls, manifold: Manifold) -> Family:
        """Return the family: of the space itself, by default."""
        return family(cls.kind, manifold)

    @functools.cached_property
    def _family(self) -> Family:
        return self._noise(self.manifold)

    @classmethod
    def _calibrated(
        cls, manifold: Manifold, sensitivity: float, budget: Budget, **options: Any
    ) -> Self:
        """Mechanism with the least scale of the family that is proved to suffice."""
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build: Callable[[float], Self] = functools.partial(cls, manifold, **options)
        known = cls._noise(manifold)
        form = known.form
        if known.is_flat and known.constant_normaliser and form is not None:
            return build(scaled(_unit_scale(cls.kind, form.dim, budget), sensitivity, budget))
        return least_noise(build, _scales(known, sensitivity, budget), sensitivity, budget)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Curve of the law; see :meth:`Mechanism.privacy`."""
        return self._family.curve(self.sigma, check_sensitivity(sensitivity))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy, exact where the class says so; see :meth:`Mechanism.rao`.

        See docs/proofs/rao.md, claims 2 and 4.
        """
        known = self._family
        sensitivity, distance = check_sensitivity(sensitivity), check_distance(distance)
        if known.potential.is_linear:
            ratio = quotient_up(known.total_shift(sensitivity), self.sigma)
            if not known.constant_normaliser:
                return restricted_laplace_guarantee(ratio, distance)
            return laplace_guarantee(ratio, known.score_dim, distance, flat=known.is_flat)
        if known.is_flat:
            return gaussian_guarantee(quotient_up(sensitivity, self.sigma), distance)
        if known.form is None and distance == "angle":
            return gaussian_guarantee(self.privacy(sensitivity).mu(), distance)
        return rao_guarantee(distance, parametric=known.length(self.sigma, sensitivity))


@functools.lru_cache(maxsize=64)
def _unit_scale(kind: Kind, dim: int, budget: Budget) -> float:
    """Least scale on R^d at sensitivity 1; every other sensitivity has a multiple of it.

    Its inverse lies on the grid that curves are evaluated on.
    """
    space = Euclidean(dim)
    build = functools.partial(MECHANISMS[f"riemannian-{kind}"], space)
    try:
        scales = [
            quotient_up(1.0, on_grid(1.0 / sigma, up=False))
            for sigma in _scales(family(kind, space), 1.0, budget)
        ]
        return least_noise(build, scales, 1.0, budget).sigma
    except ArithmeticError:  # divided by zero, or inf
        raise exceeds_float64(budget, 1.0) from None


def _scales(known: Family, sensitivity: float, budget: Budget) -> list[float]:
    """Scales to try for a budget, ascending; the last one suffices, up to rounding."""
    if known.potential.is_linear:
        if not known.constant_normaliser:
            return [known.total_shift(sensitivity) / restricted_laplace_ratio(budget)]
    elif known.is_flat:
        return [sensitivity / affordable_mu(budget)]
    elif known.form is None:
        return [known.mu_scale(sensitivity, affordable_mu(budget))]
    return isotropic_scales(known, sensitivity, budget)


@dataclass(frozen=True)
class RiemannianMechanism(_OfFamily):
    """Noise of a family around the footpoint itself, along the manifold."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._law.check_drawable()  # refuses what has no law, too

    @classmethod
    def calibrate(cls, manifold: Manifold, sensitivity: float, budget: Budget) -> Self:
        """Mechanism with the least ``sigma`` proved to suffice; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            ApproxDP and GDP are met by the law's own curve, PureDP by its largest privacy loss,
            other definitions through a ``mu`` or a pure epsilon that implies them. Where a bound of
            ``mu``, or a pure epsilon only, is known, that has to imply the budget. The Gaussian has
            a pure epsilon on spheres and circles. Under RaoDP its parametric distance on a curved
            space is ``theta``, which bounds the angle; Laplace noise has the least proved scale.

        Raises
        ------
        InvalidParameterError
            If the sensitivity is not positive, or (Gaussian noise, but for RaoDP) not below the
            largest distance of a sphere.
        NotAttainableError
            On hyperbolic space and affine-invariant matrices, if no scale suffices: wider Laplace
            noise has no normaliser, and wider Gaussian noise does not help. The message names the
            least value of the budget. Also if its draws would take too long.
        UnsupportedManifoldError
            For Gaussian noise on curved spaces beyond dimension 1000, for budgets other than RaoDP.
        """
        return cls._calibrated(manifold, sensitivity, budget)

    def proofs(self) -> dict[str, str | None]:
        """Those of the mechanism, and of its law."""
        return both_proved(super().proofs(), self._family.proofs())

    def exact_draw(self, ball: Ball) -> ExactDraw:
        """See :meth:`Mechanism.exact_draw`."""
        return self._law.exact_draw(ball.reach)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume; see :meth:`Mechanism.log_density`."""
        return self._law.log_density(point, footpoint)

    def added_noise(self, ball: Ball) -> RadialLaw | None:
        """On flat spaces; see :meth:`Mechanism.added_noise`."""
        radial = self._distance_law
        flat = self.manifold.chart is not None and ball.manifold == self.manifold
        known = flat and isinstance(radial, RadialLaw) and radial.upper == math.inf
        return cast("RadialLaw", radial) if known else None

    def factor_law(self, ball: Ball, factor: int) -> FactorLaw:
        """Ask the law, where noise is not added; see :meth:`Mechanism.factor_law`."""
        if len(self.manifold.factors) == 1 or self.added_noise(ball) is not None:
            return super().factor_law(ball, factor)
        return self._law.factor_law(factor)

    @functools.cached_property
    def _law(self) -> Law:
        return self._family.law(self.sigma)

    def distance_law(self, footpoint: FloatArray) -> DistanceLaw:
        """Refuse where only a bound is known; see :meth:`Mechanism.distance_law`."""
        if not self._law.exact_radial:
            raise InvalidParameterError(
                f"the law of the distance on {self.manifold} is known as a bound or approximately "
                "only; give the exact one as law"
            )
        return super().distance_law(footpoint)

    @functools.cached_property
    def _distance_law(self) -> DistanceLaw:
        return self._law.radial


class _InTangentSpace(TangentMechanism, _OfFamily):
    """Noise of the flat family in one tangent space, whatever lies there."""

    @classmethod
    def _noise(cls, manifold: Manifold) -> Family:
        return family(cls.kind, Euclidean(manifold.dim))

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        base: ArrayLike | None = None,
    ) -> Self:
        """Mechanism with the least ``sigma`` proved to suffice; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there; the sensitivity is a norm in the tangent space at the base.
        budget : ApproxDP, GDP, ZCDP, RaoDP or, for Laplace noise, PureDP
            As for the Riemannian mechanism of the kind on R^d.
        base
            Of the class.
        """
        return cls._calibrated(manifold, sensitivity, budget, base=base)


class _GaussianInTangentSpace(_InTangentSpace):
    """Gaussian noise, of which there is a classical calibration too."""

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        base: ArrayLike | None = None,
        method: Literal["analytic", "classical"] = "analytic",
    ) -> Self:
        """Mechanism with the least ``sigma`` for the budget; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there; the sensitivity is a norm in the tangent space at the base.
        budget : ApproxDP, GDP, ZCDP or RaoDP
        base
            Of the class.
        method : {"analytic", "classical"}
            ``"classical"`` is ``sigma = sensitivity sqrt(2 log(1.25/delta)) / epsilon``, for
            ApproxDP with epsilon < 1 only, else an ``InvalidBudgetError``; it has more noise and
            is there for comparison. Any other is an ``InvalidParameterError``.
        """
        sensitivity = check_sensitivity(sensitivity)
        if not is_one_of(method, ("analytic", "classical")):
            raise InvalidParameterError(
                f'method must be "analytic" or "classical", got {shown(method)}'
            )
        if method == "analytic":
            return super().calibrate(manifold, sensitivity, budget, base=base)
        build = functools.partial(cls, manifold, base=base)  # type: ignore[arg-type]
        return enough_noise(build, sensitivity / classical_mu(budget), sensitivity, budget)


@final
@register
@dataclass(frozen=True)
class RiemannianLaplace(RiemannianMechanism):
    """Riemannian Laplace mechanism, density proportional to ``exp(-dist(x, footpoint) / sigma)``.

    Pure ``sensitivity / sigma``-DP: the normaliser is the same at every footpoint of a homogeneous
    space, and the triangle inequality bounds the rest. On spaces of constant curvature its
    (epsilon, delta) curve and ``mu`` are its own, better than what this epsilon implies. Where that
    curve is not computed, beyond dimension 1000, for sensitivities that span a sphere and on
    affine-invariant matrices, :meth:`privacy` is the worst curve with this epsilon. On spaces that
    are not homogeneous the normaliser moves with the footpoint, and epsilon is twice as large.

    Its parametric Rao distance is ``sensitivity / (sigma sqrt(dim))`` exactly, on R^d, spheres and
    hyperbolic spaces alike; ``sensitivity / sigma`` bounds it elsewhere. Its angle is exact on R^d,
    else the lesser of the parametric distance and ``4 arctan(tanh(epsilon / 4))``.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature, or ``SPDAffineInvariant``.
    sigma : float
        Scale, in units of geodesic distance. On hyperbolic space it must stay under
        ``1 / ((dim - 1) sqrt(-curvature))``, on affine-invariant matrices of size k under
        ``sqrt(12 / (k (k^2 - 1)))``.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    NotAttainableError
        If no normaliser exists for this ``sigma``, or a draw would take more than about a minute
        (large matrices).
    UnsupportedManifoldError
        On other manifolds.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3, Theorems 1 and 3; docs/proofs/riemannian-laplace.md,
    docs/proofs/isotropic-curve.md, docs/proofs/affine-invariant-sampler.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.RiemannianLaplace.calibrate(sphere, 0.01, riemdp.GDP(1.0))
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "laplace"
    name: ClassVar[str] = "riemannian-laplace"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-laplace.md"


@final
@register
@dataclass(frozen=True)
class RiemannianGaussian(RiemannianMechanism):
    """Riemannian Gaussian, density proportional to ``exp(-dist(x, footpoint)^2 / (2 sigma^2))``.

    On spaces isometric to R^d exactly ``sensitivity / sigma``-GDP; on spheres, circles and
    hyperbolic spaces its privacy curve is a one-dimensional integral. On spheres and circles it
    has a pure epsilon too. On affine-invariant SPD matrices the curve for size 2 is that of a
    hyperbolic plane, and from size 3 on the mechanism is ``mu``-GDP with
    ``mu = sensitivity / (sigma sqrt(1 - k sigma^2 / 12))``. There and on hyperbolic spaces more
    noise stops helping: see docs/negative_curvature_floor.

    Its parametric Rao distance is ``sensitivity sqrt(E[dist^2] / dim) / sigma^2`` on every space of
    constant curvature. The angle is ``cos(angle/2) = exp(-(sensitivity/sigma)^2 / 8)`` on R^d, else
    bounded by the parametric distance. On affine-invariant matrices of size 2 both are as on the
    hyperbolic plane of curvature -1/2, from size 3 on as on R^d with ``mu`` for
    ``sensitivity/sigma``.

    :meth:`calibrate` raises ``NotAttainableError`` where, however wide the noise, ``mu`` does not
    fall under :func:`riemdp.privacy.gaussian_floor`, ``delta`` not under
    :func:`riemdp.privacy.delta_floor` and the parametric ``theta`` not under
    ``sensitivity (dim - 1) sqrt(-curvature / dim)``. From size 3 of affine-invariant matrices on,
    no ``mu`` under ``sensitivity sqrt(k / 3)`` is proved.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature, or ``SPDAffineInvariant``.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    NotAttainableError
        If a draw would take more than about a minute (large matrices).
    UnsupportedManifoldError
        On other manifolds.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023;
    docs/proofs/riemannian-gaussian.md, docs/proofs/isotropic-curve.md,
    docs/proofs/affine-invariant-gaussian.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.RiemannianGaussian.calibrate(sphere, 0.01, riemdp.GDP(1.0))
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "gaussian"
    name: ClassVar[str] = "riemannian-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-gaussian.md"


@final
@register
@dataclass(frozen=True, eq=False)
class TangentGaussian(_GaussianInTangentSpace):
    """Gaussian noise in the tangent space at a public base point.

    Exactly ``sensitivity / sigma``-GDP, with the exact (epsilon, delta) curve of that. Its
    parametric Rao distance is ``sensitivity / sigma``, its angle ``cos(angle/2) = exp(-that^2/8)``.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Standard deviation of each coordinate of the noise, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data; see :class:`TangentMechanism`.

    Raises
    ------
    InvalidParameterError, NotOnManifoldError
        See :class:`TangentMechanism`.

    References
    ----------
    Utpala, Vepakomma, Miolane, "Differentially Private Fréchet Mean on the Manifold of SPD
    Matrices with log-Euclidean Metric", TMLR 2023 (log-Euclidean SPD).
    Balle, Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.
    docs/proofs/tangent-gaussian.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.TangentGaussian(sphere, 0.01, base=sphere.origin)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "gaussian"
    name: ClassVar[str] = "tangent-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/tangent-gaussian.md"

    @classmethod
    def joint_weight(cls, weights: Sequence[float]) -> float:
        """Root of the sum of squares; see :meth:`Mechanism.joint_weight`.

        Adaptive composition of Gaussian differential privacy: docs/proofs/noisy-steps.md.
        """
        return root_of_squares_up(weights)


@final
@register
@dataclass(frozen=True, eq=False)
class TangentLaplace(_InTangentSpace):
    """Noise of density proportional to ``exp(-|v| / sigma)`` in one public tangent space.

    The K-norm mechanism whose K is the unit ball of the tangent space: direction uniform, length
    Gamma(dim, sigma). Pure ``sensitivity / sigma``-DP by the triangle inequality, on every
    manifold and for every ``sigma``. Its curve is that of the Laplace law on R^d. Its Rao distances
    are exact: ``sensitivity / (sigma sqrt(dim))`` (parametric), the angle by a Matern function.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Scale of the noise's length, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data; see :class:`TangentMechanism`.

    Raises
    ------
    InvalidParameterError, NotOnManifoldError
        See :class:`TangentMechanism`.

    References
    ----------
    Hardt, Talwar, "On the geometry of differential privacy", STOC 2010 (K-norm mechanism);
    docs/proofs/tangent-laplace.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.TangentLaplace(sphere, 0.01, base=sphere.origin)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "laplace"
    name: ClassVar[str] = "tangent-laplace"
    proof: ClassVar[str | None] = "docs/proofs/tangent-laplace.md"


@final
@register
@dataclass(frozen=True, eq=False)
class WrappedGaussian(_GaussianInTangentSpace):
    """The Fréchet mean, with Gaussian noise in the tangent space at a public base point.

    The draw is ``exp_base(log_base(mean) + noise)``. On Hadamard spaces it is exactly
    ``sensitivity / sigma``-GDP at every ``sigma``, with the sensitivity ``2r/n`` of the mean
    itself, since ``log_base`` does not lengthen distances there; under positive curvature the
    sensitivity of the mean is that of its logarithm too.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Standard deviation of each coordinate of the noise, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data; see :class:`TangentMechanism`.

    Raises
    ------
    InvalidParameterError, NotOnManifoldError
        See :class:`TangentMechanism`.

    References
    ----------
    docs/proofs/wrapped-noise.md; for Hadamard spaces also "Exponential-wrapped mechanisms:
    differential privacy on Hadamard manifolds made practical", ICLR 2026.

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.WrappedGaussian(sphere, 0.01, base=sphere.origin)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "gaussian"
    name: ClassVar[str] = "wrapped-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/wrapped-noise.md"
    intrinsic: ClassVar[bool | None] = True


@final
@register
@dataclass(frozen=True, eq=False)
class WrappedLaplace(_InTangentSpace):
    """The Fréchet mean, with Laplace noise in the tangent space at a public base point.

    Density proportional to ``exp(-|v| / sigma)``: pure ``sensitivity / sigma``-DP, with the
    sensitivity of :class:`WrappedGaussian`.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Scale of the noise's length, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data; see :class:`TangentMechanism`.

    Raises
    ------
    InvalidParameterError, NotOnManifoldError
        See :class:`TangentMechanism`.

    References
    ----------
    docs/proofs/wrapped-noise.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.WrappedLaplace(sphere, 0.01, base=sphere.origin)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "laplace"
    name: ClassVar[str] = "wrapped-laplace"
    proof: ClassVar[str | None] = "docs/proofs/wrapped-noise.md"
    intrinsic: ClassVar[bool | None] = True


#: Mechanisms by name, those that a manifold and a scale determine.
MECHANISMS: Mapping[str, type[Mechanism]] = MappingProxyType(
    {
        mechanism.name: mechanism
        for mechanism in (
            RiemannianLaplace,
            RiemannianGaussian,
            TangentGaussian,
            TangentLaplace,
            WrappedGaussian,
            WrappedLaplace,
        )
    }
)
