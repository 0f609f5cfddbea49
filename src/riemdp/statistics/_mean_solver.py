"""How the Fréchet mean is computed and certified: one solver for each class of spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._array_fields import ArrayFields
from riemdp._errors import ConvergenceError, UnsupportedBallError, UnsupportedManifoldError
from riemdp.spaces import Manifold
from riemdp.statistics._exact_mean import ExactMean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import Ball, FloatArray

    #: Weights of records, of sum 1, shape (n,); None where all are equal.
    Shares = FloatArray | None


@dataclass(frozen=True, eq=False)
class CertifiedMean(ArrayFields):
    """A Fréchet mean and the proof of its accuracy. It describes the data: it is not private.

    Attributes
    ----------
    value : ndarray, shape (*point_shape,)
        The mean.
    error_bound : float
        Certified bound of the geodesic distance from ``value`` to the exact mean, at most the
        tolerance that was asked for; it includes an allowance for rounding.
    passes : int
        Passes over the data.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> ball = riemdp.Ball(sphere, [1.0, 0.0, 1.0] / np.sqrt(2.0), 1.0)
    >>> found = riemdp.frechet_mean(sphere, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], ball=ball, tol=1e-9)
    >>> found.value.round(4), found.error_bound <= 1e-9
    (array([0.7071, 0.    , 0.7071]), True)
    """

    value: FloatArray
    error_bound: float
    passes: int

    def __post_init__(self) -> None:
        self._seal()


class MeanSolver(ABC):
    """What is known of the Fréchet mean on the spaces of one class, beyond their geometry.

    Attributes
    ----------
    proof : str or None
        Where it is proved that means are as near as is certified; see :class:`riemdp.Part`. It is
        not inherited.
    isometric : bool
        Whether normal coordinates about any centre keep distances, as on flat spaces.
    """

    proof: ClassVar[str | None] = None
    isometric: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.proof = vars(cls).get("proof")

    @abstractmethod
    def exact(self, manifold: Manifold) -> ExactMean | None:
        """How a mean is computed for a release; None where nobody knows.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        ExactMean or None
        """

    def parts(self, manifold: Manifold) -> tuple[Manifold, ...]:  # noqa: ARG002
        """Return other spaces whose solvers this one uses.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        tuple of Manifold
        """
        return ()

    def validate(self, manifold: Manifold, points: ArrayLike) -> FloatArray:
        r"""Check points as far as :meth:`solve` needs it; see :meth:`Manifold.validate`.

        Parameters
        ----------
        manifold : Manifold
        points : array_like, shape (n, \*point_shape)

        Returns
        -------
        ndarray, shape (n, \*point_shape)
        """
        return manifold.validate(points)

    def check_domain(  # noqa: B027 -- the mean is unique everywhere, by default
        self, manifold: Manifold, data: FloatArray, ball: Ball | None
    ) -> None:
        r"""Refuse data whose mean need not be unique.

        Parameters
        ----------
        manifold : Manifold
        data : ndarray, shape (n, \*point_shape)
        ball : Ball, optional
            That holds the data.

        Raises
        ------
        UnsupportedBallError
        """

    def solve(
        self, manifold: Manifold, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        r"""Return the mean of valid data, in the space itself; see :func:`riemdp.frechet_mean`.

        Parameters
        ----------
        manifold : Manifold
        data : ndarray, shape (n, \*point_shape)
        weights : ndarray, shape (n,), optional
            Of sum 1.
        ball : Ball, optional
            That holds the data.
        tol : float
            What an iteration has to reach; a formula need not.

        Raises
        ------
        UnsupportedManifoldError
            By default.
        """
        del data, weights, ball, tol
        raise unknown_mean(manifold)


def ball_of_mean(manifold: Any, ball: Ball | None, way_out: str = "") -> Ball:
    """Return the ball that data lie in; ``UnsupportedBallError`` where a mean need not be unique.

    ``way_out`` says how a ball is made, if not by a centre and a radius.
    """
    limit = manifold.convexity_radius
    if ball is None or ball.manifold != manifold:
        way_out = way_out or (
            f"Ball(manifold, center, radius) with the data inside it and a radius under {limit:.6g}"
        )
        raise UnsupportedBallError(
            f"on {manifold} the mean is unique only inside a ball: pass ball={way_out}"
        )
    if not ball.radius < limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.6g} must stay under {limit:.6g} for the Fréchet mean to be "
            "unique; choose a smaller ball or the tangent mean"
        )
    return ball


def check_bound(bound: float, tol: float) -> None:
    """Raise ``ConvergenceError`` for a certificate that exceeds the tolerance."""
    if not bound <= tol:
        raise ConvergenceError(
            f"the mean cannot be certified to tol = {tol:.3g}: float64 rounding exceeds it on "
            "these data; scale the data, choose a smaller ball, or allow a larger tol"
        )


def unknown_mean(manifold: Manifold) -> UnsupportedManifoldError:
    """Error for a space whose Fréchet mean nobody can certify."""
    return UnsupportedManifoldError(
        f"no certified Fréchet mean is known for {type(manifold).__name__}; use tangent_mean"
    )
