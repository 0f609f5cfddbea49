"""Noise in one public tangent space."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedError,
)
from riemdp.mechanisms._mechanism import Mechanism
from riemdp.noise import IsotropicLaw, hinge_distance, potential
from riemdp.spaces import Euclidean, check_broadcast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from riemdp.noise import DistanceLaw, Kind, RadialLaw
    from riemdp.noise.exact import ExactDraw
    from riemdp.spaces import Ball, FloatArray


@dataclass(frozen=True, eq=False)
class TangentMechanism(ArrayFields, Mechanism):
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

    kind: ClassVar[Kind]

    base: FloatArray | None = field(default=None, kw_only=True, repr=False)

    metric: ClassVar[Literal["distance", "coordinates"]] = "coordinates"
    options: ClassVar[Mapping[str, Callable[[Ball], Any]]] = MappingProxyType(
        {"base": lambda ball: ball.center}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base is None:
            if self.manifold.chart is None:
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
        base.flags.writeable = False
        object.__setattr__(self, "base", base)

    @classmethod
    def needed(cls, ball: Ball) -> dict[str, Any]:
        """Return the base, off flat spaces: the centre; see :meth:`Mechanism.needed`."""
        return {"base": ball.center} if ball.manifold.chart is None else {}

    def foreign_to(self, ball: Ball) -> str | None:
        """Say whether the base is another point than the centre; see :meth:`Mechanism.foreign_to`.

        On flat spaces it has no effect.
        """
        if (problem := super().foreign_to(ball)) is not None:
            return problem
        if self.needed(ball) and not np.array_equal(self._base, ball.center):
            return (
                "the base of a tangent mechanism must be the centre of the ball, about which its "
                "sensitivity is measured"
            )
        return None

    def exact_draw(self, ball: Ball) -> ExactDraw:
        """Draw in the tangent space at the centre, which has to be the base.

        See :meth:`Mechanism.exact_draw`.
        """
        if (problem := self.foreign_to(ball)) is not None:
            raise UnsupportedError(problem)
        return self._law.exact_draw(ball.reach)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density of the noisy tangent vector at ``log_base(point)``.

        With respect to Lebesgue measure of the tangent space at the base, not Riemannian volume
        (they agree on flat spaces). On a sphere vectors beyond the injectivity radius wrap
        around; the density is that of the shortest vector alone.
        """
        if self.manifold.chart is not None:
            return self._law.log_density(point, footpoint)
        first, second = self._coordinates(point), self._coordinates(footpoint)
        check_broadcast(first, second, 1)
        gap = first - second
        penalty = potential(self.kind).energy(np.linalg.norm(gap, axis=-1) / self.sigma)
        return np.asarray(-penalty - self._distance_law.log_normaliser())

    def expected_distance(self) -> float:
        """Mean length of the noise in the tangent space at the base.

        It is the mean distance between footpoint and draw on flat spaces and an upper bound of it
        on nonnegatively curved ones (Rauch); on negatively curved spaces the distance is longer.
        """
        return super().expected_distance()

    def expected_distance_in(self, ball: Ball) -> float:
        """Bound for footpoints on the boundary; see :meth:`Mechanism.expected_distance_in`.

        Under negative curvature a geodesic hinge is no wider than that of the same sides and angle
        in the curvature that bounds it from below. Where no bound of the curvature is known it is
        the length of the noise in the tangent space.
        """
        floor = self.manifold.curvature_floor
        if floor >= 0.0 or floor == -math.inf:
            return self.expected_distance()
        return hinge_distance(self._distance_law, math.sqrt(-floor), ball.reach)

    def added_noise(self, ball: Ball) -> RadialLaw | None:
        """Where the base is the ball's centre; see :meth:`Mechanism.added_noise`."""
        return self._distance_law if self.foreign_to(ball) is None else None

    def error_quantile(self, q: float) -> float:
        """Quantile of the noise's length; see :meth:`expected_distance`."""
        return super().error_quantile(q)

    def distance_law(self, footpoint: FloatArray) -> DistanceLaw:
        """Refuse where only a bound is known; see :meth:`Mechanism.distance_law`."""
        if not self._law.exact_radial:
            raise InvalidParameterError(
                f"noise may leave {self.manifold} and is moved back, so that its length is a bound "
                "of the distance only; give the law of the distance as law"
            )
        return super().distance_law(footpoint)

    @functools.cached_property
    def _distance_law(self) -> RadialLaw:
        return self._law.radial

    @functools.cached_property
    def _law(self) -> IsotropicLaw:
        """Noise in the tangent space: on a flat space in the space itself."""
        return IsotropicLaw(
            self.kind, self.manifold.chart or Euclidean(self.manifold.dim), self.sigma
        )

    @property
    def _base(self) -> FloatArray:
        assert self.base is not None  # checked at construction off flat spaces
        return self.base

    def _coordinates(self, points: ArrayLike) -> FloatArray:
        """Orthonormal coordinates of ``log_base``."""
        tangent = self.manifold.log(self._base, self.manifold.validate(points))
        return self.manifold.tangent_coordinates(self._base, tangent)
