"""What the two Riemannian mechanisms share: a family of noise at one scale, drawn in some way."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.mechanisms._mechanism import Mechanism
from riemdp.noise import DensityFamily, RadialLaw, family, find_sampler, has_family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, FloatArray, Manifold
    from riemdp.noise import DistanceLaw, FactorLaw, Family, Kind, Law
    from riemdp.noise.exact import ExactDraw
    from riemdp.privacy import PrivacyCurve

SamplerName = Literal["exact", "metropolis"]


def noise(kind: Kind, manifold: Manifold, sampler: str) -> Family:
    """Return the family of noise on a space; of a chain, which needs none, the density alone.

    ``UnsupportedManifoldError`` where no family is known.
    """
    if find_sampler(sampler).knows_law or has_family(kind, manifold):
        return family(kind, manifold)
    return DensityFamily(kind, manifold)


@dataclass(frozen=True)
class RiemannianMechanism(Mechanism):
    """Noise of a family around the footpoint itself, along the manifold."""

    kind: ClassVar[Kind]

    if TYPE_CHECKING:

        @property
        def sampler(self) -> SamplerName:
            """How draws are made."""

    def __post_init__(self) -> None:
        super().__post_init__()
        find_sampler(self.sampler)
        self._law  # noqa: B018 -- refuses what has no law or no draws

    def proofs(self) -> dict[str, str | None]:
        """Those of the mechanism, of its law and of its sampler: a chain has none."""
        chosen = find_sampler(self.sampler)
        law = self._family.proofs() if chosen.knows_law else {}
        return both_proved(super().proofs(), chosen.proofs(), law)

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Exact draws; see :meth:`Mechanism.sample`."""
        return self._law.sample(footpoint, size=size, generator=generator)

    def sample_from_coordinates(
        self, coordinates: FloatArray, ball: Ball, generator: np.random.Generator | None = None
    ) -> FloatArray:
        """Draw and project; see :meth:`Mechanism.sample_from_coordinates`."""
        return self._law.sample_from_coordinates(coordinates, ball, generator=generator)

    def sample_about(
        self, coordinates: FloatArray, ball: Ball, generator: np.random.Generator | None = None
    ) -> FloatArray:
        """Draw in coordinates, where the law does; see :meth:`Mechanism.sample_about`."""
        return self._law.sample_about(coordinates, ball, generator=generator)

    def exact_draw(self, ball: Ball) -> ExactDraw:
        """See :meth:`Mechanism.exact_draw`."""
        return self._law.exact_draw(ball.reach)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume; see :meth:`Mechanism.log_density`."""
        return self._law.log_density(point, footpoint)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Curve of the law; see :meth:`Mechanism.privacy`."""
        return self._family.curve(self.sigma, check_sensitivity(sensitivity))

    def added_noise(self, ball: Ball) -> RadialLaw | None:
        """On flat spaces, not restricted to a ball; see :meth:`Mechanism.added_noise`."""
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
    def _family(self) -> Family:
        return noise(self.kind, self.manifold, self.sampler)

    @functools.cached_property
    def _law(self) -> Law:
        return find_sampler(self.sampler).wrap(self._family.law(self.sigma))

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
