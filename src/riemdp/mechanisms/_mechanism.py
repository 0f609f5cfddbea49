"""What every additive-noise mechanism can do: draw, and say what it guarantees."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from riemdp._checks import positive, real, shown
from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp._part import Part
from riemdp.manifolds import Ball, Manifold
from riemdp.noise import normal_coordinates
from riemdp.privacy import RaoDP
from riemdp.privacy._rao import check_distance

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from riemdp.noise import DistanceLaw
    from riemdp.privacy import Budget, PrivacyCurve

    FloatArray = NDArray[np.float64]

M = TypeVar("M", bound="Mechanism")


@dataclass(frozen=True)
class Mechanism(Part, sort="mechanism"):
    """A law of noise around a footpoint, with its privacy.

    The footpoint is the exact value of a summary; the draw is what may be published. Neighbouring
    data sets have footpoints at most ``sensitivity`` apart.

    Parameters
    ----------
    manifold : Manifold
        Space of the footpoint.
    sigma : float
        Scale of the noise, in units of geodesic distance; positive and finite.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or ``manifold`` no manifold.
    """

    manifold: Manifold
    sigma: float

    def __post_init__(self) -> None:
        check_manifold(self.manifold)
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma, the noise scale,"))

    @property
    def summary(self) -> str:
        """What the footpoint has to be: ``"frechet-mean"`` or ``"tangent-mean"``."""
        return "frechet-mean"

    @property
    def proven(self) -> bool:
        """Whether it is proved what :meth:`privacy` says, and that draws follow the law."""
        return None not in self.proofs().values()

    @classmethod
    @abstractmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *args: Any,
        **options: Any,
    ) -> Self:
        """Mechanism with the least noise that is proved to satisfy the budget.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
        **options
            Options of the concrete mechanism, by keyword.

        Returns
        -------
        Mechanism
            ``mechanism.satisfies(sensitivity, budget)`` is true; ``sigma`` is rounded towards more
            noise.

        Raises
        ------
        InvalidBudgetError
            If the mechanism cannot satisfy this kind of budget.
        InvalidParameterError
            If ``sensitivity`` is not positive and finite.
        """

    @abstractmethod
    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        r"""Draw around a footpoint.

        Parameters
        ----------
        footpoint : array_like, shape (\*batch, \*point_shape)
        size : int or tuple of int, optional
            Leading axes of the result.
        generator : numpy.random.Generator, optional
            Source of randomness; this process's secure generator by default. A seeded one makes
            the draw predictable, hence not private.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)

        Raises
        ------
        NotOnManifoldError
            If the footpoint is not on the manifold.
        """

    def sample_in_ball(
        self, footpoint: ArrayLike, ball: Ball, generator: np.random.Generator | None = None
    ) -> FloatArray:
        r"""Draw and project the draw onto a public ball, which costs no privacy.

        Parameters
        ----------
        footpoint : array_like, shape (\*batch, \*point_shape)
        ball : Ball
            Chosen without looking at the data.
        generator : numpy.random.Generator, optional
            As in :meth:`sample`.

        Returns
        -------
        ndarray, shape (\*batch, \*point_shape)

        Raises
        ------
        InvalidParameterError
            If the ball belongs to another manifold.
        """
        self._check_ball(ball)
        return self.sample_from_coordinates(normal_coordinates(ball, footpoint), ball, generator)

    def sample_from_coordinates(
        self,
        coordinates: FloatArray,
        ball: Ball,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        r"""Draw as :meth:`sample_in_ball` does, about a footpoint in normal coordinates.

        A mean that was computed in coordinates is used as it is: turning it into a point and back
        would add rounding that no sensitivity accounts for.

        Parameters
        ----------
        coordinates : ndarray, shape (\*batch, dim)
            Normal coordinates of footpoints about the ball's centre, no longer than its radius.
        ball : Ball
            Chosen without looking at the data.
        generator : numpy.random.Generator, optional
            As in :meth:`sample`.

        Returns
        -------
        ndarray, shape (\*batch, \*point_shape)
        """
        return ball.project(self.sample(ball.point(coordinates), generator=generator))

    @abstractmethod
    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        r"""Log density of a draw.

        Parameters
        ----------
        point, footpoint : array_like, shape (..., \*point_shape)
            Broadcast against each other.

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """State what is proved for footpoints at most ``sensitivity`` apart.

        Parameters
        ----------
        sensitivity : float
            Positive and finite.

        Returns
        -------
        PrivacyCurve

        Raises
        ------
        InvalidParameterError
            If ``sensitivity`` is outside its domain.
        """

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy for footpoints at most ``sensitivity`` apart.

        Parameters
        ----------
        sensitivity : float
            Positive and finite.
        distance : {"angle", "parametric"}
            ``"parametric"`` is the length of the footpoint's path in the Fisher metric,
            ``"angle"`` is ``2 arccos`` of the integral of ``sqrt(p q)``, which is never larger.

        Returns
        -------
        RaoDP
            ``theta`` rounded up. It is no epsilon: ``delta_at`` says what it means.

        Raises
        ------
        InvalidParameterError
            If an argument is outside its domain.
        NoConversionError
            For the parametric distance of a mechanism of which only a privacy curve is known.

        References
        ----------
        docs/proofs/rao.md
        """
        return self.privacy(sensitivity).rao(check_distance(distance))

    def satisfies(self, sensitivity: float, budget: Budget) -> bool:
        """Whether the mechanism is proved to lie within a budget.

        Parameters
        ----------
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP

        Returns
        -------
        bool

        Raises
        ------
        InvalidParameterError
            If ``sensitivity`` is outside its domain.
        NoConversionError
            For a budget that the mechanism's privacy curve cannot be held against.
        """
        if isinstance(budget, RaoDP):
            return self.rao(sensitivity, budget.distance).theta <= budget.theta
        return self.privacy(sensitivity).satisfies(budget)

    @property
    @abstractmethod
    def _distance_law(self) -> DistanceLaw:
        """Law of the distance between footpoint and draw."""

    def expected_distance(self) -> float:
        """Mean distance between footpoint and draw, from public numbers only."""
        return self._distance_law.mean()

    def error_quantile(self, q: float) -> float:
        """Distance from the footpoint that a draw exceeds with probability ``1 - q``.

        Parameters
        ----------
        q : float
            In [0, 1].

        Returns
        -------
        float

        Raises
        ------
        InvalidParameterError
            If ``q`` lies outside [0, 1].
        """
        return float(self._distance_law.quantile(real(q, "q")))

    def _check_ball(self, ball: Ball) -> None:
        if not isinstance(ball, Ball):
            raise InvalidParameterError(f"ball must be a riemdp.Ball, got {shown(ball)}")
        if ball.manifold != self.manifold:
            raise InvalidParameterError(
                f"the ball belongs to {ball.manifold}, the mechanism to {self.manifold}"
            )


def check_manifold(manifold: object) -> None:
    """Raise ``InvalidParameterError`` for what is no manifold."""
    if not isinstance(manifold, Manifold):
        raise InvalidParameterError(f"manifold must be a riemdp manifold, got {shown(manifold)}")


def enough_noise(
    build: Callable[[float], M], sigma: float, sensitivity: float, budget: Budget
) -> M:
    """Mechanism at ``sigma`` or the next few floats, where it satisfies the budget.

    Raises
    ------
    NotAttainableError
        If the noise exceeds float64.
    """
    if math.isinf(sigma):
        raise NotAttainableError(
            f"the noise for {budget} at sensitivity {sensitivity:.6g} exceeds float64; choose a "
            "larger budget, a smaller ball, or more data"
        )
    mechanism = build(sigma)
    step = sys.float_info.epsilon
    while not mechanism.satisfies(sensitivity, budget):
        sigma *= 1.0 + step
        step *= 2.0
        mechanism = build(sigma)
    return mechanism
