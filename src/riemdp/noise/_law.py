"""What every law of noise can do, at one scale and around any footpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp.noise._polar import normal_coordinates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp._potential import Kind
    from riemdp.manifolds import Ball, FloatArray, Manifold
    from riemdp.noise._generator import Size, Source
    from riemdp.noise.exact._draw import ExactDraw


#: Methods that draw, in float64 or exactly.
_DRAWS = frozenset(
    {"sample", "sample_in_ball", "sample_from_coordinates", "sample_about", "exact_draw"}
)


def draws_otherwise(kind: type[Any]) -> bool:
    """Whether the exact draw of a class is not that of the class that it takes its draws from.

    What draws in another way has no exact draw, unless it says so itself.

    Parameters
    ----------
    kind : type
        Of laws or of mechanisms.
    """
    first = next(base for base in kind.__mro__ if not _DRAWS.isdisjoint(vars(base)))
    return "exact_draw" not in vars(first)


class DistanceLaw(Protocol):
    """Law of the distance between footpoint and draw."""

    def mean(self) -> float:
        """Mean distance."""

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Distance that a draw exceeds with probability ``1 - q``.

        Parameters
        ----------
        q : array_like, shape (...)
            Probabilities in [0, 1].

        Returns
        -------
        ndarray, shape (...)

        Raises
        ------
        InvalidParameterError
            If one lies outside [0, 1].
        """


@runtime_checkable
class FactorLaw(DistanceLaw, Protocol):
    """Law of the distance in one factor of a product."""

    def mean_square(self) -> float:
        """Mean squared distance."""


class Law(ABC):
    """Noise around any footpoint of a space, at one scale.

    Attributes
    ----------
    kind : str
        Key of its family.
    manifold : Manifold
        Space of the footpoints and of the draws.
    sigma : float
        Scale, in units of geodesic distance.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.noise import family
    >>> law = family("gaussian", riemdp.Sphere(2)).law(0.5)
    >>> f"{law.radial.mean():.4f}"  # expected distance from the footpoint
    '0.6007'
    >>> law.sample([0.0, 0.0, 1.0], (5,), np.random.default_rng(0)).shape
    (5, 3)
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if draws_otherwise(cls):
            cls.exact_draw = Law.exact_draw  # type: ignore[method-assign]

    if TYPE_CHECKING:
        # fields of each class
        @property
        def kind(self) -> Kind:
            """Key of its family."""

        @property
        def manifold(self) -> Manifold:
            """Space of the footpoints and of the draws."""

        @property
        def sigma(self) -> float:
            """Scale, in units of geodesic distance."""

    @property
    def exact_radial(self) -> bool:
        """Whether :attr:`radial` is the very law of the distance, which draws are held against."""
        return True

    @property
    @abstractmethod
    def radial(self) -> DistanceLaw:
        """Law of the distance between footpoint and draw, or one of longer distances."""

    @abstractmethod
    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        r"""Draw points about footpoints.

        Parameters
        ----------
        footpoint : array_like, shape (\*batch, \*point_shape)
            Footpoints on the manifold.
        size : int or tuple of int, optional
            Leading axes: so many draws for each footpoint.
        generator : numpy.random.Generator, optional
            Source of randomness; a new secure generator by default.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)

        Raises
        ------
        NotOnManifoldError
            If a footpoint is not on the manifold.
        NotAttainableError
            If a draw lies so far out that float64 has no coordinates for it.
        """

    def sample_in_ball(
        self, footpoint: ArrayLike, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        r"""Draw points and project them onto a public ball along geodesics from its centre.

        The same law as ``ball.project(self.sample(footpoint))``.

        Parameters
        ----------
        footpoint : array_like, shape (\*batch, \*point_shape)
            Footpoints in the ball.
        ball : Ball
            Public ball of the same manifold.
        size, generator
            As in :meth:`sample`.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)

        Raises
        ------
        InvalidParameterError
            If the ball belongs to another manifold.
        UnsupportedBallError
            If a footpoint lies outside the ball.
        """
        if ball.manifold != self.manifold:
            raise InvalidParameterError(
                f"the ball must belong to {self.manifold}, got a ball of {ball.manifold}"
            )
        return self.sample_from_coordinates(
            normal_coordinates(ball, footpoint), ball, size, generator
        )

    def sample_from_coordinates(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        r"""Draw about footpoints in normal coordinates, and project the draws onto the ball.

        A footpoint that was computed in coordinates is then used as it is: turning it into a
        point and back would add rounding that no sensitivity accounts for.

        Parameters
        ----------
        coordinates : ndarray, shape (\*batch, dim)
            Normal coordinates of footpoints about the ball's centre, no longer than its radius.
        ball : Ball
            Public ball of the same manifold.
        size, generator
            As in :meth:`sample`.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)
        """
        points = ball.point(coordinates)
        return ball.project(self.sample(points, size=size, generator=generator))

    def sample_about(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        r"""Draw as :meth:`sample_from_coordinates` does, and leave the draws where they are.

        Parameters
        ----------
        coordinates, ball, size, generator
            As there.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)
            Where float64 does not hold them, moved as :meth:`Manifold.point` does, if the class
            draws in coordinates.
        """
        return self.sample(ball.point(coordinates), size=size, generator=generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        r"""Log density with respect to the Riemannian volume.

        Parameters
        ----------
        point, footpoint : array_like, shape (..., \*point_shape)
            Points of the manifold; leading axes broadcast.

        Returns
        -------
        ndarray, shape (...)

        Raises
        ------
        UnsupportedManifoldError
            Where it is not known.
        """
        del point, footpoint
        raise UnsupportedManifoldError(
            f"the density of the {self.kind} law on {self.manifold} is not known"
        )

    def exact_draw(self, reach: float | None = None) -> ExactDraw:  # noqa: ARG002
        """How ideal draws of the law are rounded to a public grid, exactly.

        Parameters
        ----------
        reach : float, optional
            Length of coordinates that no footpoint exceeds, public. The time of a draw may rest
            on it, and nothing else.

        Returns
        -------
        ExactDraw
            About the centre of any ball, in normal coordinates.

        Raises
        ------
        UnsupportedError
            Where there is no proved way; by default.
        """
        raise UnsupportedManifoldError(
            f"no exactly rounded draw of the {self.kind} law on {self.manifold} is known"
        )

    def check_drawable(self) -> None:  # noqa: B027 -- nothing to check by default
        """Raise ``NotAttainableError`` if draws take too long or leave float64."""

    def factor_law(self, factor: int) -> FactorLaw:  # noqa: ARG002
        """Law of the distance in one factor of a product.

        Parameters
        ----------
        factor : int
            Index among ``manifold.factors``.

        Returns
        -------
        FactorLaw

        Raises
        ------
        UnsupportedManifoldError
            By default, where there are several, or :attr:`radial` is a bound.
        """
        radial: object = self.radial
        known = len(self.manifold.factors) == 1 and self.exact_radial
        if known and isinstance(radial, FactorLaw):
            return radial
        raise UnsupportedManifoldError(
            f"the {self.kind} law of the distance in one factor, {self.manifold}, is not known, or "
            "as a bound only"
        )


class RestrictedLaw(Law):
    """A law restricted to a public ball; :attr:`radial` bounds the distance at every footpoint."""

    def sample_about(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw in the ball: there is nothing to project; see :meth:`Law.sample_about`."""
        return self.sample_from_coordinates(coordinates, ball, size, generator)

    @property
    @abstractmethod
    def about_center(self) -> DistanceLaw:
        """Law of the distance about the ball's centre."""
