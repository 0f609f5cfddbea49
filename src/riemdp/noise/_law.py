"""What every law of noise can do, at one scale and around any footpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from riemdp._errors import UnsupportedManifoldError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp._potential import Kind
    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.spaces import FloatArray, Manifold


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
    """Noise around any footpoint of a space, at one scale: density, distances, exact draws.

    A subclass with a ``sample`` of its own draws otherwise, and has an exact draw if it says so.

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
    >>> import riemdp
    >>> from riemdp.noise import family
    >>> law = family("gaussian", riemdp.Sphere(2)).law(0.5)
    >>> f"{law.radial.mean():.4f}"  # expected distance from the footpoint
    '0.6007'
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        first = next(base for base in cls.__mro__ if {"sample", "exact_draw"} & vars(base).keys())
        if "exact_draw" not in vars(first):  # it draws otherwise
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
