"""Noise in one tangent space: the tangent Gaussian and Laplace mechanisms."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
)
from riemdp.manifolds import FlatManifold
from riemdp.manifolds._ball import clip_norm
from riemdp.manifolds._manifold import check_broadcast
from riemdp.mechanisms._calibration import (
    affordable_epsilon,
    affordable_mu,
    check_sensitivity,
    classical_mu,
)
from riemdp.mechanisms._mechanism import Mechanism, enough_noise
from riemdp.mechanisms._rao import gaussian_guarantee, laplace_guarantee, laplace_ratio
from riemdp.noise import IsotropicLaw, RadialLaw, isotropic_vectors
from riemdp.noise._polar import leading_axes
from riemdp.privacy import GaussianCurve, LaplaceCurve, PureCurve, RaoDP
from riemdp.privacy._rounding import quotient_up

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, Manifold
    from riemdp.manifolds._manifold import FloatArray
    from riemdp.privacy import Budget


@dataclass(frozen=True, eq=False)
class TangentMechanism(Mechanism):
    """Spherical noise added to ``log_base(footpoint)`` in the tangent space at a public point.

    The draw is ``exp_base(log_base(footpoint) + noise)``, a function of the noisy tangent vector,
    so its privacy is that of the vector. **Sensitivities are norms in the tangent space**: the
    largest ``|log_base(f1) - log_base(f2)|`` over neighbouring footpoints, which is what the
    tangent mean at the same base has. On a flat space every tangent space is the whole space, no
    base is needed and norms are geodesic distances.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Scale of the noise, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data. Required on curved spaces, on the
        circle and on ``Hyperbolic(1)``; without effect on flat spaces.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or a required base is missing.
    NotOnManifoldError
        If the base is not one point of the manifold.
    """

    base: FloatArray | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base is None:
            if not isinstance(self.manifold, FlatManifold):
                raise InvalidParameterError(
                    f'"{self.name}" needs base=, a public point of {self.manifold} (such as the '
                    "centre of the ball); only flat spaces do without"
                )
            return
        base = np.array(self.manifold.validate(self.base))
        if base.shape != self.manifold.point_shape:
            raise NotOnManifoldError(
                f"base must be one point of shape {self.manifold.point_shape}, got {base.shape}"
            )
        base += 0.0  # -0.0 becomes 0.0: the hash goes by the bytes
        base.flags.writeable = False
        object.__setattr__(self, "base", base)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[functools.partial[Self], tuple[Manifold, float]]:
        # Built anew, so that the base is read-only again.
        return functools.partial(type(self), base=self.base), (self.manifold, self.sigma)

    @property
    def _key(self) -> tuple[Manifold, float, bytes | None]:
        return self.manifold, self.sigma, None if self.base is None else self.base.tobytes()

    @property
    def summary(self) -> str:
        """``"frechet-mean"`` on flat spaces, where both means agree, else ``"tangent-mean"``."""
        return "frechet-mean" if isinstance(self.manifold, FlatManifold) else "tangent-mean"

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """``exp_base(log_base(footpoint) + noise)``; see :meth:`Mechanism.sample`.

        Raises
        ------
        NotAttainableError
            If a draw lies so far out that float64 has no coordinates for it.
        CutLocusError
            If a footpoint is the antipode of the base on a sphere.
        """
        if self._flat_law is not None:
            return self._flat_law.sample(footpoint, size=size, generator=generator)
        with np.errstate(over="ignore", invalid="ignore"):
            points = self._point(self._noisy_coordinates(footpoint, size, generator))
        if not np.all(np.isfinite(points)):
            raise NotAttainableError(
                f"a draw with sigma = {self.sigma:g} lies too far out for float64 coordinates on "
                f"{self.manifold}; use a smaller sigma (more data, a smaller ball, a larger "
                "budget), or release into a public ball"
            )
        return points

    def sample_from_coordinates(
        self,
        coordinates: FloatArray,
        ball: Ball,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw and project; see :meth:`Mechanism.sample_from_coordinates`.

        Where the ball's centre is the base, the noisy tangent vector is shortened to the radius
        before the exponential: no wrapping around a sphere, no overflow.
        """
        if self._flat_law is not None:
            return self._flat_law.sample_from_coordinates(coordinates, ball, generator=generator)
        if np.array_equal(self._base, ball.center):
            shape = coordinates.shape[:-1]
            noisy = coordinates + isotropic_vectors(self._distance_law, shape, generator)
            return ball.point(clip_norm(noisy, ball.radius))
        return super().sample_from_coordinates(coordinates, ball, generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density of the noisy tangent vector at ``log_base(point)``.

        With respect to Lebesgue measure of the tangent space at the base, not Riemannian volume
        (they agree on flat spaces). On a sphere vectors beyond the injectivity radius wrap
        around; the density is that of the shortest vector alone.
        """
        if self._flat_law is not None:
            return self._flat_law.log_density(point, footpoint)
        first, second = self._coordinates(point), self._coordinates(footpoint)
        check_broadcast(first, second, 1)
        gap = first - second
        ratio = np.linalg.norm(gap, axis=-1) / self.sigma
        penalty = ratio if self._distance_law.kind == "laplace" else 0.5 * np.square(ratio)
        return np.asarray(-penalty - self._distance_law.log_normaliser())

    def expected_distance(self) -> float:
        """Mean length of the noise in the tangent space at the base.

        It is the mean distance between footpoint and draw on flat spaces and an upper bound of it
        on nonnegatively curved ones (Rauch); on negatively curved spaces the distance is longer.
        """
        return super().expected_distance()

    def error_quantile(self, q: float) -> float:
        """Quantile of the noise's length; see :meth:`expected_distance`."""
        return super().error_quantile(q)

    @property
    @abstractmethod
    def _kind(self) -> Literal["laplace", "gaussian"]:
        """Which radial law the noise has."""

    @functools.cached_property
    def _distance_law(self) -> RadialLaw:
        return RadialLaw(kind=self._kind, dim=self.manifold.dim, curvature=0.0, sigma=self.sigma)

    @functools.cached_property
    def _flat_law(self) -> IsotropicLaw | None:
        """The same law on a flat space, where the tangent space is the space itself."""
        if not isinstance(self.manifold, FlatManifold):
            return None
        return IsotropicLaw(self._kind, self.manifold, self.sigma)

    @property
    def _base(self) -> FloatArray:
        assert self.base is not None  # checked at construction off flat spaces
        return self.base

    def _coordinates(self, points: ArrayLike) -> FloatArray:
        """Orthonormal coordinates of ``log_base``."""
        tangent = self.manifold.log(self._base, self.manifold.validate(points))
        return self.manifold.tangent_coordinates(self._base, tangent)

    def _noisy_coordinates(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None,
        generator: np.random.Generator | None,
    ) -> FloatArray:
        exact = self._coordinates(footpoint)
        shape = (*leading_axes(size), *exact.shape[:-1])
        return exact + isotropic_vectors(self._distance_law, shape, generator)

    def _point(self, coordinates: FloatArray) -> FloatArray:
        tangent = self.manifold.tangent_vector(self._base, coordinates)
        return self.manifold.exp(self._base, tangent)


@dataclass(frozen=True, eq=False)
class TangentGaussian(TangentMechanism):
    """Gaussian noise in the tangent space at a public base point.

    Exactly ``sensitivity / sigma``-GDP, with the exact (epsilon, delta) curve of that.

    Parameters
    ----------
    manifold : Manifold
    sigma : float
        Standard deviation of each coordinate of the noise, in units of geodesic distance.
    base : array_like, shape (*point_shape,), optional
        Public base point, chosen without looking at the data. Required on curved spaces, on the
        circle and on ``Hyperbolic(1)``; without effect on flat spaces.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or a required base is missing.
    NotOnManifoldError
        If the base is not one point of the manifold.

    References
    ----------
    Utpala, Vepakomma, Miolane, "Differentially Private Fréchet Mean on the Manifold of SPD
    Matrices with log-Euclidean Metric", TMLR 2023 (log-Euclidean SPD).
    Balle, Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.
    docs/proofs/tangent-gaussian.md
    """

    name: ClassVar[str] = "tangent-gaussian"

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
        """Mechanism with the least ``sigma`` for the budget.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest norm, in the tangent space at the base, between the footpoints of neighbouring
            data sets.
        budget : ApproxDP, GDP, ZCDP or RaoDP
        base : array_like, shape (*point_shape,), optional
            Public base point, required off flat spaces.
        method : {"analytic", "classical"}
            ``"classical"`` is ``sigma = sensitivity sqrt(2 log(1.25/delta)) / epsilon``, for
            ApproxDP with epsilon < 1 only; it has more noise and is there for comparison.

        Returns
        -------
        TangentGaussian

        Raises
        ------
        InvalidBudgetError
            For a pure epsilon, or an epsilon of 1 or more with ``method="classical"``.
        InvalidParameterError
            If ``sensitivity`` is not positive and finite, or ``method`` unknown.
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
        return gaussian_guarantee(quotient_up(check_sensitivity(sensitivity), self.sigma), distance)

    @property
    def _kind(self) -> Literal["gaussian"]:
        return "gaussian"


@dataclass(frozen=True, eq=False)
class TangentLaplace(TangentMechanism):
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
        Public base point, chosen without looking at the data. Required on curved spaces, on the
        circle and on ``Hyperbolic(1)``; without effect on flat spaces.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or a required base is missing.
    NotOnManifoldError
        If the base is not one point of the manifold.

    References
    ----------
    Hardt, Talwar, "On the geometry of differential privacy", STOC 2010 (K-norm mechanism);
    docs/proofs/tangent-laplace.md
    """

    name: ClassVar[str] = "tangent-laplace"

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        base: ArrayLike | None = None,
    ) -> Self:
        """Mechanism with ``sigma = sensitivity / epsilon``.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest norm, in the tangent space at the base, between the footpoints of neighbouring
            data sets.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            PureDP, ApproxDP, GDP and ZCDP are met through a pure epsilon that implies them:
            epsilon itself of (epsilon, delta), whose delta stays unused, ``sqrt(2 rho)`` of zCDP,
            and the largest one that implies mu-GDP. Under RaoDP ``sigma`` is
            ``sensitivity / (theta sqrt(dim))`` (parametric), or where the exact angle is theta.
        base : array_like, shape (*point_shape,), optional
            Public base point, required off flat spaces.

        Returns
        -------
        TangentLaplace

        Raises
        ------
        InvalidBudgetError, InvalidParameterError
            See :meth:`Mechanism.calibrate`.
        """
        sensitivity = check_sensitivity(sensitivity)
        if isinstance(budget, RaoDP):
            ratio = laplace_ratio(budget, manifold.dim, flat=True)
        else:
            ratio = affordable_epsilon(budget)
        return enough_noise(
            lambda sigma: cls(manifold, sigma, base=base),  # type: ignore[arg-type]
            sensitivity / ratio,
            sensitivity,
            budget,
        )

    def privacy(self, sensitivity: float) -> PureCurve | LaplaceCurve:
        """Pure DP at ``sensitivity / sigma``; the sensitivity is a norm in the tangent space.

        In one dimension the mechanism's own curve, else the worst one with this epsilon.
        """
        curve = LaplaceCurve if self.manifold.dim == 1 else PureCurve
        return curve(quotient_up(check_sensitivity(sensitivity), self.sigma))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Exact: ``sensitivity / (sigma sqrt(dim))`` (parametric), the angle by a Matern function.

        See docs/proofs/rao.md, claims 2 and 4.
        """
        ratio = quotient_up(check_sensitivity(sensitivity), self.sigma)
        return laplace_guarantee(ratio, self.manifold.dim, distance, flat=True)

    @property
    def _kind(self) -> Literal["laplace"]:
        return "laplace"
