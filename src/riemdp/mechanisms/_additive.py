"""What the two Riemannian mechanisms share: a family of noise at one scale."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.mechanisms._mechanism import Mechanism
from riemdp.noise import RadialLaw, family

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.noise import DistanceLaw, FactorLaw, Family, Kind, Law
    from riemdp.noise.exact import ExactDraw
    from riemdp.privacy import PrivacyCurve


@dataclass(frozen=True)
class RiemannianMechanism(Mechanism):
    """Noise of a family around the footpoint itself, along the manifold."""

    kind: ClassVar[Kind]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._law.check_drawable()  # refuses what has no law, too

    def proofs(self) -> dict[str, str | None]:
        """Those of the mechanism, and of its law."""
        return both_proved(super().proofs(), self._family.proofs())

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
    def _family(self) -> Family:
        return family(self.kind, self.manifold)

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
