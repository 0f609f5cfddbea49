"""Gaussian and Laplace noise in one tangent space: of the tangent mean, and of the Fréchet mean."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, final

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.manifolds import Euclidean, check_manifold
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.mechanisms._isotropic import isotropic_scales, least_noise
from riemdp.mechanisms._rao import gaussian_guarantee, laplace_guarantee
from riemdp.mechanisms._tangent_mechanism import TangentMechanism
from riemdp.noise import family
from riemdp.privacy import (
    GaussianCurve,
    RaoDP,
    affordable_mu,
    check_distance,
    classical_mu,
    quotient_up,
    root_of_squares_up,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.manifolds import Manifold
    from riemdp.noise import Family, Kind
    from riemdp.privacy import Budget, PrivacyCurve


@dataclass(frozen=True, eq=False)
class GaussianInTangentSpace(TangentMechanism):
    """Gaussian noise in one tangent space, whatever lies there."""

    kind: ClassVar[Kind] = "gaussian"

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
        mu = affordable_mu(budget) if method == "analytic" else classical_mu(budget)
        return enough_noise(
            lambda sigma: cls(manifold, sigma, base=base),  # type: ignore[arg-type]
            sensitivity / mu,
            sensitivity,
            budget,
        )

    def privacy(self, sensitivity: float) -> GaussianCurve:
        """Exactly ``sensitivity / sigma``-GDP; the sensitivity is a norm in the tangent space."""
        return GaussianCurve(quotient_up(check_sensitivity(sensitivity), self.sigma))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Exact: ``sensitivity / sigma`` (parametric), ``cos(angle/2) = exp(-that^2 / 8)``."""
        ratio = quotient_up(check_sensitivity(sensitivity), self.sigma)
        return gaussian_guarantee(ratio, check_distance(distance))


@dataclass(frozen=True, eq=False)
class LaplaceInTangentSpace(TangentMechanism):
    """Noise of density proportional to ``exp(-|v| / sigma)`` in one tangent space."""

    kind: ClassVar[Kind] = "laplace"

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
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            As for :meth:`RiemannianLaplace.calibrate` on R^d. Under RaoDP ``sigma`` is
            ``sensitivity / (theta sqrt(dim))`` (parametric), or where the exact angle is theta.
        base
            Of the class.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build = functools.partial(cls, manifold, base=base)  # type: ignore[arg-type]
        scales = isotropic_scales(_noise(manifold), sensitivity, budget)
        return least_noise(build, scales, sensitivity, budget)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Return that of the Laplace law on R^d; the sensitivity is a norm in the tangent space."""
        return _noise(self.manifold).curve(self.sigma, check_sensitivity(sensitivity))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Exact: ``sensitivity / (sigma sqrt(dim))`` (parametric), the angle by a Matern function.

        See docs/proofs/rao.md, claims 2 and 4.
        """
        ratio = quotient_up(check_sensitivity(sensitivity), self.sigma)
        distance = check_distance(distance)
        return laplace_guarantee(ratio, self.manifold.dim, distance, flat=True)


@final
@register
@dataclass(frozen=True, eq=False)
class TangentGaussian(GaussianInTangentSpace):
    """Gaussian noise in the tangent space at a public base point.

    Exactly ``sensitivity / sigma``-GDP, with the exact (epsilon, delta) curve of that.

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
    >>> law.sample(sphere.origin).shape
    (3,)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

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
class TangentLaplace(LaplaceInTangentSpace):
    """Noise of density proportional to ``exp(-|v| / sigma)`` in one public tangent space.

    The K-norm mechanism whose K is the unit ball of the tangent space: direction uniform, length
    Gamma(dim, sigma). Pure ``sensitivity / sigma``-DP by the triangle inequality, on every
    manifold and for every ``sigma``.

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
    >>> law.sample(sphere.origin).shape
    (3,)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    name: ClassVar[str] = "tangent-laplace"
    proof: ClassVar[str | None] = "docs/proofs/tangent-laplace.md"


def _noise(manifold: Manifold) -> Family:
    """Return the Laplace noise of a tangent space."""
    return family("laplace", Euclidean(manifold.dim))
