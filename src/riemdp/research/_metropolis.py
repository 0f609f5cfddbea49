"""Metropolis chains for the Riemannian Laplace and Gaussian laws, on any manifold."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from riemdp._checks import count, positive
from riemdp._errors import NotAttainableError, NotOnManifoldError
from riemdp._potential import Kind, potential
from riemdp.mechanisms import (
    Mechanism,
    RiemannianGaussian,
    RiemannianLaplace,
    check_sensitivity,
)
from riemdp.noise import family, has_family, resolve_generator
from riemdp.noise._polar import check_onto
from riemdp.noise._rules import no_law
from riemdp.privacy import PureCurve, quotient_up
from riemdp.research._polar import leading_axes

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.noise import DistanceLaw
    from riemdp.noise._generator import Size, Source
    from riemdp.privacy import Budget, PrivacyCurve, RaoDP
    from riemdp.spaces import FloatArray, Manifold

#: Step of a random walk in units of the target's deviation, times sqrt(dim): the usual optimum.
_STEP = 2.38
_TARGETS: dict[str, type[RiemannianLaplace | RiemannianGaussian]] = {
    "laplace": RiemannianLaplace,
    "gaussian": RiemannianGaussian,
}


@final
@dataclass(frozen=True)
class Metropolis(Mechanism):
    """Approximate draws by a Metropolis chain that needs nothing but ``exp`` and ``dist``.

    The target has density proportional to ``exp(-U(dist(x, footpoint)))`` in Riemannian volume,
    as of :class:`riemdp.RiemannianLaplace` and :class:`riemdp.RiemannianGaussian`; privacy,
    density and distances are those of that law. **A chain that has not converged is not the law**,
    nothing here tells whether it has, and no guarantee is proved of it. It is there for comparison,
    and for spaces without an exact sampler.

    Each draw is the last state of its own chain, which starts at the footpoint. A step proposes
    ``exp_x(v)`` with ``v`` Gaussian in the tangent space at the state ``x``, and accepts with
    probability ``min(1, exp(U(x) - U(y)))``.

    Parameters
    ----------
    manifold : Manifold
        Any manifold.
    sigma : float
        Scale, in units of geodesic distance.
    kind : {"laplace", "gaussian"}, default "laplace"
    steps : int, default 10000
        Steps of each chain.
    proposal_scale : float, optional
        Standard deviation of each coordinate of ``v``. By default 2.38 times that of the law on
        flat space, over ``sqrt(dim)``, at most half the injectivity radius and, on constant
        negative curvature, ``1/k``. Choose less where most proposals are refused.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        If the Laplace law has no normaliser at this ``sigma`` (constant negative curvature, and
        the affine-invariant metric). Of other manifolds it is not known.

    Notes
    -----
    The proposal is symmetric, so the Hastings factor is one, on every complete manifold: its
    density at y is a sum over all geodesics from x to y of the Gaussian density of the length over
    the Jacobian of the exponential map along the geodesic, and a geodesic run backwards has the
    same length and Jacobian. (Let A and B be the matrix Jacobi fields along it with A(0) = 0,
    A'(0) = I, B(1) = 0, B'(1) = -I. The Wronskian A'^T B - A^T B' is constant: B(0) = A(1)^T, so
    the determinants agree.) Wrapping around a sphere is covered: no proposal is cut off.

    In many dimensions a chain can stay at its start for longer than any run: there the density of
    the Laplace law peaks, and a proposal at the typical distance is accepted with a probability of
    about ``exp(-sqrt(dim))``. What it returns then is the footpoint itself.

    Hyperboloid coordinates at a distance r from the origin have rounding of about
    ``1e-16 exp(k r) / k`` across; results from beyond ``k r`` of 20 or 30 mean little.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023, section
    4.1, who refuse proposals beyond the injectivity radius.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.research import Metropolis
    >>> law = Metropolis(riemdp.Sphere(2), 0.3, "gaussian", steps=50)
    >>> law.sample([0.0, 0.0, 1.0], (5,), np.random.default_rng(0)).shape
    (5, 3)
    """

    kind: Kind = "laplace"
    steps: int = 10_000
    proposal_scale: float | None = None

    name: ClassVar[str] = "metropolis"
    choices: ClassVar[tuple[str, ...]] = ("kind", "steps", "proposal_scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        potential(self.kind)
        check_onto(self.manifold, "proposals are no longer symmetric: draw from the law itself")
        object.__setattr__(self, "steps", count(self.steps, "steps"))
        if self.proposal_scale is not None:
            scale = positive(self.proposal_scale, "proposal_scale")
            object.__setattr__(self, "proposal_scale", scale)
        # a Laplace law that volume outgrows is refused, where the growth is known
        if has_family(self.kind, self.manifold):
            known = family(self.kind, self.manifold)
            if math.isfinite(known.scale_limit):
                known.law(self.sigma)

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        kind: Kind = "laplace",
        **options: Any,
    ) -> Self:
        """Mechanism at the scale of the law itself, where that is known; else by bisection.

        See :meth:`Mechanism.calibrate`.
        """
        potential(kind)
        if has_family(kind, manifold):
            sigma = _TARGETS[kind].calibrate(manifold, sensitivity, budget).sigma
            return cls(manifold, sigma, kind, **options)
        return super().calibrate(manifold, sensitivity, budget, kind=kind, **options)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Curve of the law; see :meth:`Mechanism.privacy`.

        Where no law is known by the triangle inequality, with a normaliser that moves;
        ``UnsupportedManifoldError`` where the largest privacy loss is unbounded.
        """
        if has_family(self.kind, self.manifold):
            return self._target.privacy(sensitivity)
        moved = quotient_up(2.0 * check_sensitivity(sensitivity), self.sigma)
        epsilon = potential(self.kind).triangle_epsilon(moved)
        if math.isinf(epsilon):
            raise no_law(self.kind, self.manifold)
        return PureCurve(epsilon)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao distance of the law; see :meth:`Mechanism.rao`."""
        if has_family(self.kind, self.manifold):
            return self._target.rao(sensitivity, distance)
        return super().rao(sensitivity, distance)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density of the law that is approximated; see :meth:`Mechanism.log_density`."""
        return self._target.log_density(point, footpoint)

    @functools.cached_property
    def _target(self) -> Mechanism:
        """The law itself; ``UnsupportedManifoldError`` where none is known."""
        return _TARGETS[self.kind](self.manifold, self.sigma)

    @property
    def _distance_law(self) -> DistanceLaw:
        return self._target._distance_law

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Run one chain per draw, return their last states; see :func:`riemdp.research.sample`."""
        generator = resolve_generator(generator)
        points = self.manifold.validate(footpoint)
        state = np.broadcast_to(points, (*leading_axes(size), *points.shape)).copy()
        for _ in range(self.steps):
            state = self._step(points, state, generator)
        return state

    def _step(
        self, footpoint: FloatArray, state: FloatArray, generator: np.random.Generator
    ) -> FloatArray:
        """One step of every chain."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                proposal = self._propose(state, generator)
                rise = self._potential(footpoint, proposal) - self._potential(footpoint, state)
        except (NotOnManifoldError, np.linalg.LinAlgError):
            raise self._too_far() from None
        if not np.all(np.isfinite(rise)):
            raise self._too_far()
        # -log of a uniform number is exponential
        accepted = rise < generator.standard_exponential(rise.shape)
        axes = len(self.manifold.point_shape)
        return np.where(accepted[(..., *(None,) * axes)], proposal, state)

    def _propose(self, state: FloatArray, generator: np.random.Generator) -> FloatArray:
        batch = state.shape[: state.ndim - len(self.manifold.point_shape)]
        vectors = self._scale() * generator.standard_normal((*batch, self.manifold.dim))
        return self.manifold.exp(state, self.manifold.tangent_vector(state, vectors))

    def _potential(self, footpoint: FloatArray, points: FloatArray) -> FloatArray:
        if has_family(self.kind, self.manifold):  # which may add up several distances
            return family(self.kind, self.manifold).energy(self.sigma, points, footpoint)
        return potential(self.kind).energy(self.manifold.dist(footpoint, points) / self.sigma)

    def _scale(self) -> float:
        if self.proposal_scale is not None:
            return self.proposal_scale
        dim, curvature = self.manifold.dim, self.manifold.constant_curvature
        deviation = self.sigma * math.sqrt(potential(self.kind).spread(dim))
        scale = min(_STEP * deviation / math.sqrt(dim), 0.5 * self.manifold.injectivity_radius)
        if curvature is not None and curvature < 0.0:
            scale = min(scale, 1.0 / math.sqrt(-curvature))
        return scale

    def _too_far(self) -> NotAttainableError:
        return NotAttainableError(
            f"a chain for the {self.kind} law with sigma = {self.sigma:g} went too far out for "
            f"float64 coordinates on {self.manifold}; use a smaller sigma (more data, a smaller "
            "ball, a larger budget) or a smaller proposal_scale"
        )
